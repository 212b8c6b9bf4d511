/* subfile_info.c -- what a manifest tells of each subfile: the variables in it,
 * their chunks, bytes and ranges. See manifest.h. */
#include <string.h>

#include "base/search.h"
#include "layout/front.h"
#include "layout/manifest.h"

void bm_subfile_info_release(struct bm_subfile_info *info,
                             const bouma_allocator *a)
{
    for (size_t i = 0; i < info->count; i++)
        bm_drop(a, info->parts[i].ranges);
    bm_summaries_release(&info->summaries);
    bm_drop(a, info->parts);
    info->parts = NULL;
    info->count = 0;
}

static int part_of(struct bm_part_info *out, const struct bm_section *s,
                   const bouma_allocator *a)
{
    const struct bouma_variable *v = s->variable;
    const struct bm_layout *layout = v->object->layout;
    size_t components = (size_t)v->components;

    out->variable = v->id;
    out->chunks = s->count;
    out->loss = s->loss;
    out->ranges = bm_new(a, components, sizeof(*out->ranges));
    if (!out->ranges)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < s->count; i++) {
        if (layout->chunking) {
            struct bm_box box = bm_chunk_bounds(v->object, s->keys[i]);

            out->bounds = bm_box_join(&out->bounds, &box);
        }
        for (size_t j = 0; j < components; j++)
            bm_range_join(&out->ranges[j], v->type,
                          &s->ranges[i * components + j]);
        for (int k = 0; k < s->levels; k++)
            out->level_bytes[k] += s->sizes[i * (size_t)s->levels + (size_t)k];
    }
    return BOUMA_OK;
}

int bm_subfile_info_of(struct bm_subfile_info *out, const struct bm_head *h,
                       const uint8_t head_hash[16], const bouma_allocator *a)
{
    int rc = BOUMA_OK;

    memset(out, 0, sizeof(*out));
    out->file_bytes = h->file_bytes;
    out->head_bytes = h->head_bytes;
    out->head_offset = h->head_offset;
    memcpy(out->head_hash, head_hash, 16);
    bm_summaries_init(&out->summaries, a);
    out->parts = bm_new(a, h->count, sizeof(*out->parts));
    if (!out->parts)
        return BOUMA_ENOMEM;
    out->count = h->count;
    for (size_t i = 0; i < h->count && !rc; i++)
        rc = part_of(&out->parts[i], &h->sections[i], a);
    return rc ? rc : bm_summaries_copy(&out->summaries, &h->summaries);
}

void bm_part_info_encode(struct bm_buffer *b, const struct bm_part_info *part,
                         const struct bm_schema *schema)
{
    const struct bouma_variable *v = schema->by_id[part->variable];

    bm_put_u32(b, part->variable);
    bm_put_u64(b, part->chunks);
    for (int k = 0; k < bm_pieces(v->object); k++)
        bm_put_u64(b, part->level_bytes[k]);
    bm_put_f64(b, part->loss.largest);
    bm_put_f64(b, part->loss.squares);
    for (int d = 3 - v->object->ndims; d < 3 && v->object->layout->chunking;
         d++) {
        bm_put_i64(b, part->bounds.lo[d]);
        bm_put_i64(b, part->bounds.hi[d]);
    }
    for (int j = 0; j < v->components; j++) {
        bm_put_u64(b, part->ranges[j].nans);
        bm_put_u64(b, part->ranges[j].count);
        bm_range_encode(b, &part->ranges[j], v->type);
    }
}

void bm_subfile_info_encode(struct bm_buffer *b,
                            const struct bm_subfile_info *info,
                            const struct bm_schema *schema)
{
    bm_put_u64(b, info->file_bytes);
    bm_put_u64(b, info->head_bytes);
    bm_put_bytes(b, info->head_hash, 16);
    bm_summaries_encode(b, &info->summaries);
    bm_put_u64(b, info->count);
    for (size_t i = 0; i < info->count; i++)
        bm_part_info_encode(b, &info->parts[i], schema);
}

/* The bounds of a grid's chunks: inside the grid. */
static int decode_bounds(struct bm_part_info *out, struct bm_cursor *c,
                         const struct bm_object *o)
{
    out->bounds = (struct bm_box){{0, 0, 0}, {1, 1, 1}};
    for (int d = 3 - o->ndims; d < 3; d++) {
        out->bounds.lo[d] = bm_get_i64(c);
        out->bounds.hi[d] = bm_get_i64(c);
    }
    return !c->failed && bm_box_inside(&out->bounds, &o->domain) &&
                   bm_box_volume(&out->bounds)
               ? BOUMA_OK
               : BOUMA_EFORMAT;
}

int bm_part_info_decode(struct bm_part_info *out, struct bm_cursor *c,
                        const struct bm_summary_list *summaries,
                        bm_part_limits *limits, const struct bm_schema *schema)
{
    const struct bouma_variable *v;
    const struct bm_summary *summary;
    const struct bm_object *o;
    struct bm_limits chunks, all;
    int rc = BOUMA_OK;

    out->variable = bm_get_u32(c);
    if (c->failed || out->variable >= schema->variables)
        return BOUMA_EFORMAT;
    v = schema->by_id[out->variable];
    o = v->object;
    out->ranges =
        bm_new(schema->a, (size_t)v->components, sizeof(*out->ranges));
    if (!out->ranges)
        return BOUMA_ENOMEM;
    out->chunks = bm_get_u64(c);
    for (int k = 0; k < bm_pieces(o); k++)
        out->level_bytes[k] = bm_get_u64(c);
    summary = bm_summaries_find(summaries, o->number);
    if (bm_loss_decode(&out->loss, c) || !out->chunks ||
        (o->layout->summary && !summary))
        return BOUMA_EFORMAT;
    if (o->layout->chunking)
        rc = decode_bounds(out, c, o);
    limits(o, summary, &chunks, &all);
    if (out->chunks < chunks.least || out->chunks > chunks.most)
        rc = BOUMA_EFORMAT;
    for (int j = 0; j < v->components && !rc; j++) {
        uint64_t nans = bm_get_u64(c), count = bm_get_u64(c), samples;

        if (__builtin_add_overflow(nans, count, &samples) ||
            samples < all.least || samples > all.most ||
            bm_range_decode(&out->ranges[j], c, v->type, nans, samples))
            rc = BOUMA_EFORMAT;
    }
    return rc || c->failed ? BOUMA_EFORMAT : BOUMA_OK;
}

/* Of one file. */
static void limits_of(const struct bm_object *o,
                      const struct bm_summary *summary,
                      struct bm_limits *chunks, struct bm_limits *samples)
{
    *chunks = o->layout->chunks(o, summary);
    *samples = o->layout->samples(o, summary);
}

const struct bm_part_info *
bm_subfile_info_part(const struct bm_subfile_info *info, uint32_t variable)
{
    size_t at = 0;

    BM_BISECT(at, info->count, i, info->parts[i].variable <= variable);
    return at < info->count && info->parts[at].variable == variable
               ? &info->parts[at]
               : NULL;
}

static int has_part(const void *list, uint32_t variable)
{
    return bm_subfile_info_part(list, variable) != NULL;
}

int bm_subfile_info_decode(struct bm_subfile_info *out, struct bm_cursor *c,
                           const struct bm_schema *schema)
{
    struct bm_contents contents = {has_part, NULL, out};
    struct bm_front front = {0};
    const uint8_t *hash;
    size_t count;
    int rc;

    memset(out, 0, sizeof(*out));
    bm_summaries_init(&out->summaries, schema->a);
    out->file_bytes = bm_get_u64(c);
    out->head_bytes = bm_get_u64(c);
    hash = bm_get_bytes(c, 16);
    if (c->failed || out->head_bytes > out->file_bytes / 2)
        return BOUMA_EFORMAT;
    memcpy(out->head_hash, hash, 16);
    rc = bm_summaries_decode(&out->summaries, schema, c);
    if (rc)
        return rc;
    count = bm_get_count(c, 20);
    if (c->failed || count > schema->variables)
        return BOUMA_EFORMAT;
    out->parts = bm_new(schema->a, count, sizeof(*out->parts));
    if (!out->parts)
        return BOUMA_ENOMEM;
    out->count = count;
    for (size_t i = 0; i < count && !rc; i++) {
        rc = bm_part_info_decode(&out->parts[i], c, &out->summaries, limits_of,
                                 schema);
        if (!rc && i && out->parts[i].variable <= out->parts[i - 1].variable)
            rc = BOUMA_EFORMAT;
        if (!rc)
            rc = bm_front_join(&front,
                               schema->by_id[out->parts[i].variable]->object);
    }
    out->head_offset = bm_front_end(front.bytes);
    if (!rc && (!bm_summaries_fit(&out->summaries, &contents) ||
                out->head_offset > out->file_bytes - 2 * out->head_bytes))
        rc = BOUMA_EFORMAT;
    return rc;
}
