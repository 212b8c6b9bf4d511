/* particles_bat.c -- see particles_bat.h. */
#include "layout/particles_bat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout/particle_summary.h"

#define USUAL_CHUNK 8192
#define SMALL_CHUNK 512 /* where regions come before levels */
#define USUAL_LEAF  256
#define POSITION    "position"

/* ---- schema -------------------------------------------------------------- */

static int make_own(struct bm_object *o, uint32_t leaf, uint32_t chunk,
                    int levels, const uint32_t *limit)
{
    struct bm_particles_bat *own = bm_new(o->a, 1, sizeof(*own));

    o->own = own;
    o->levels = levels;
    if (!own || bm_detail_init(&own->detail, o->a, chunk, levels, limit))
        return bm_fail(o->schema->error, BOUMA_ENOMEM,
                       "particles \"%s\": no memory", o->name);
    own->leaf = leaf;
    return BOUMA_OK;
}

/* Files with the levels of a chunk together are for who reads regions: their
 * chunks are small, and nearly all of a chunk is its finest level, in the order
 * of the tree. With many levels there is much to choose from instead. */
static int choose_levels(const struct bm_object *o,
                         uint32_t limit[BM_MAX_LEVELS + 1])
{
    return o->schema->order == BOUMA_ORDER_CHUNK
               ? bm_detail_few(limit, SMALL_CHUNK)
               : bm_detail_usual(limit, USUAL_CHUNK);
}

static int define(struct bm_object *o, const void *wanted)
{
    const bouma_particles_spec *spec = wanted;
    struct bm_error *error = o->schema->error;
    uint32_t limit[BM_MAX_LEVELS + 1];
    int levels = choose_levels(o, limit);

    if (spec->ndims < 1 || spec->ndims > 3)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": ndims is %d; it must be 1 to 3",
                       o->name, spec->ndims);
    if (spec->type && !bm_type_is_float(spec->type))
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": positions must be f32 or f64",
                       o->name);
    if (spec->leaf < 0 || spec->leaf > BM_MAX_LEAF)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": leaf is %d; it must be 1 to %d, or 0 "
                       "for the default",
                       o->name, spec->leaf, BM_MAX_LEAF);
    o->ndims = spec->ndims;
    return make_own(o, spec->leaf ? (uint32_t)spec->leaf : USUAL_LEAF, limit[0],
                    levels, limit);
}

static void release(struct bm_object *o)
{
    struct bm_particles_bat *own = o->own;

    if (own)
        bm_detail_release(&own->detail);
    bm_drop(o->a, own);
    o->own = NULL;
}

static void encode(struct bm_buffer *b, const struct bm_object *o)
{
    const struct bm_particles_bat *own = bm_bat_of(o);

    bm_put_u32(b, own->leaf);
    bm_put_u32(b, own->detail.chunk);
    for (int k = 0; k < o->levels; k++)
        bm_put_u32(b, own->detail.limit[k]);
}

static int decode(struct bm_object *o, struct bm_cursor *c)
{
    uint32_t leaf = bm_get_u32(c), chunk = bm_get_u32(c);
    uint32_t limit[BM_MAX_LEVELS];

    for (int k = 0; k < o->levels; k++)
        limit[k] = bm_get_u32(c);
    return c->failed || leaf < 1 || leaf > BM_MAX_LEAF ||
                   !bm_detail_valid(chunk, o->levels, limit)
               ? BOUMA_EFORMAT
               : make_own(o, leaf, chunk, o->levels, limit);
}

static const char *check_variable(const struct bm_object *o,
                                  const bouma_variable_spec *spec,
                                  int components)
{
    (void)o;
    (void)components;
    return spec->tolerance_kind != BOUMA_TOLERANCE_ABSOLUTE &&
                   spec->tolerance > 0
               ? "has a relative tolerance; particles take an absolute one only"
               : NULL;
}

static int complete(const struct bm_object *o)
{
    return o->count && !strcmp(o->variables[0]->name, POSITION) &&
           bm_type_is_float(o->variables[0]->type) &&
           o->variables[0]->components == o->ndims;
}

static int differs(char *text, size_t bytes, const struct bm_object *mine,
                   const struct bm_object *root, int me)
{
    if (mine->ndims != root->ndims)
        snprintf(text, bytes,
                 "rank %d has particles \"%s\" with %d axes, rank 0 with %d",
                 me, mine->name, mine->ndims, root->ndims);
    else if (bm_bat_of(mine)->leaf != bm_bat_of(root)->leaf)
        snprintf(text, bytes,
                 "rank %d has particles \"%s\" with leaves of %" PRIu32
                 ", rank 0 of %" PRIu32,
                 me, mine->name, bm_bat_of(mine)->leaf, bm_bat_of(root)->leaf);
    else
        return 0;
    return 1;
}

int bm_schema_add_particles(struct bm_schema *schema,
                            struct bouma_particles **out, const char *name,
                            const bouma_particles_spec *spec)
{
    bouma_variable_spec position = {.size = sizeof(position),
                                    .type = spec->type ? spec->type
                                                       : BOUMA_TYPE_F32,
                                    .components = spec->ndims,
                                    .codec = spec->codec,
                                    .codec_level = spec->codec_level,
                                    .unit = spec->unit,
                                    .tolerance = spec->tolerance};
    struct bouma_variable *v;
    struct bm_object *o;
    int rc = bm_schema_add(schema, &o, &bm_layout_particles_bat, name,
                           spec->unit, spec);

    *out = NULL;
    if (rc)
        return rc;
    rc = bm_schema_add_variable(o, &v, POSITION, &position);
    if (rc) {
        bm_schema_remove_last(schema);
        return rc;
    }
    *out = (struct bouma_particles *)o;
    return BOUMA_OK;
}

/* ---- chunks -------------------------------------------------------------- */

static uint64_t most_values(const struct bm_object *o)
{
    return bm_bat_of(o)->detail.chunk;
}

static uint64_t slots_of(const struct bm_summary *s)
{
    return s ? bm_particle_summary_of(s)->count : 0;
}

static int has_chunk(const struct bm_object *o, const struct bm_summary *s,
                     uint64_t key)
{
    return key < bm_particle_summary_chunks(o, slots_of(s));
}

static uint64_t values_of(const struct bm_object *o, const struct bm_summary *s,
                          uint64_t key, uint64_t values[BM_MAX_LEVELS])
{
    return bm_particle_summary_values(
        o, slots_of(s), bm_particle_summary_of(s)->seed, key, values);
}

static void text_of(char *text, size_t bytes, const struct bm_object *o,
                    uint64_t key)
{
    snprintf(text, bytes, "particles from slot %" PRIu64 " on",
             key * bm_bat_of(o)->detail.chunk);
}

static struct bm_limits chunks(const struct bm_object *o,
                               const struct bm_summary *s)
{
    uint64_t n = bm_particle_summary_chunks(o, slots_of(s));

    return (struct bm_limits){n, n};
}

static struct bm_limits samples(const struct bm_object *o,
                                const struct bm_summary *s)
{
    uint64_t n = s ? slots_of(s) : o->particles;

    return (struct bm_limits){n, n};
}

/* ---- decoding ------------------------------------------------------------ */

/* The values of all levels so far, as ranges; and the last level. */
struct decoding {
    uint64_t values[BM_MAX_LEVELS];
    struct bm_range ranges[BM_MAX_COMPONENTS];
};

enum { STATE, VALUES }; /* rooms of the coder */

static int decode_begin(struct bm_decoding *d, const uint8_t *kept)
{
    const struct bm_object *o = d->variable->object;
    struct bm_coder *coder = d->coder;
    struct decoding *own;

    (void)kept; /* pieces do not build on each other */
    if (bm_block_grow(coder->a, &coder->room[STATE], sizeof(*own)))
        return BOUMA_ENOMEM;
    own = d->own = coder->room[STATE].data;
    memset(own->ranges, 0, sizeof(own->ranges));
    values_of(o, d->summary, d->key, own->values);
    d->level = o->levels;
    return BOUMA_OK;
}

static int decode_piece(struct bm_decoding *d, const uint8_t *data,
                        size_t bytes)
{
    const struct bouma_variable *v = d->variable;
    struct bm_block_of_memory *room = &d->coder->room[VALUES];
    struct decoding *own = d->own;
    size_t count = (size_t)own->values[--d->level];
    size_t lane = count * bm_variable_value_size(v);
    int rc;

    if (bm_block_grow(d->coder->a, room, lane * (size_t)v->components))
        return BOUMA_ENOMEM;
    rc = bm_values_decode(&d->coder->codec, room->data, v, count, data, bytes);
    for (int j = 0; j < v->components && !rc; j++)
        bm_range_add(&own->ranges[j], v->type,
                     (uint8_t *)room->data + (size_t)j * lane, count);
    return rc;
}

static size_t sample_bytes(const struct bm_decoding *d, int level)
{
    const struct decoding *own = d->own;
    uint64_t count = 0;

    for (int k = level; k < d->variable->object->levels; k++)
        count += own->values[k];
    return (size_t)count * bm_variable_sample_size(d->variable);
}

static void ranges_of(const struct bm_decoding *d, struct bm_range *ranges)
{
    const struct decoding *own = d->own;

    memcpy(ranges, own->ranges,
           sizeof(*ranges) * (size_t)d->variable->components);
}

const struct bm_layout bm_layout_particles_bat = {
    .kind = BM_PARTICLES,
    .code = 2,
    .use = BM_FOR_LISTS,
    .lossy = BOUMA_CODEC_QUANTISE,
    .define = define,
    .release = release,
    .encode_schema = encode,
    .decode_schema = decode,
    .check_variable = check_variable,
    .complete = complete,
    .differs = differs,
    .most_values = most_values,
    .has_chunk = has_chunk,
    .values = values_of,
    .text = text_of,
    .chunks = chunks,
    .samples = samples,
    .decode_begin = decode_begin,
    .decode_piece = decode_piece,
    .ranges = ranges_of,
    .sample_bytes = sample_bytes,
    .summary = &bm_particle_summary_functions,
    .file_tree = 1,
};
