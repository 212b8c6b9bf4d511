/* head.c -- see head.h; docs/format.md has its bytes. */
#include "layout/head.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "codec/codec.h"
#include "layout/chunk_offsets.h"
#include "layout/front.h"
#include "store/index.h"

void bm_head_init(struct bm_head *h, const bouma_allocator *a)
{
    memset(h, 0, sizeof(*h));
    h->a = a;
    bm_summaries_init(&h->summaries, a);
}

void bm_head_release(struct bm_head *h)
{
    if (!h->a)
        return;
    for (size_t i = 0; i < h->count; i++) {
        bm_drop(h->a, h->sections[i].keys);
        bm_drop(h->a, h->sections[i].ranges);
        bm_drop(h->a, h->sections[i].sizes);
        bm_drop(h->a, h->sections[i].hashes);
        bm_drop(h->a, h->sections[i].offsets);
    }
    bm_summaries_release(&h->summaries);
    bm_drop(h->a, h->sections);
    bm_head_init(h, h->a);
}

int bm_head_add_section(struct bm_head *h,
                        const struct bouma_variable *variable, size_t count)
{
    struct bm_section *grown =
                          bm_grow(h->a, h->sections, h->count, sizeof(*grown)),
                      *s;
    size_t levels = (size_t)bm_pieces(variable->object);

    if (!grown)
        return BOUMA_ENOMEM;
    h->sections = grown;
    s = &grown[h->count++];
    memset(s, 0, sizeof(*s));
    s->variable = variable;
    s->count = count;
    s->levels = (int)levels;
    s->summary = bm_summaries_find(&h->summaries, variable->object->number);
    s->keys = bm_new(h->a, count, sizeof(*s->keys));
    s->ranges =
        bm_new(h->a, count * (size_t)variable->components, sizeof(*s->ranges));
    s->sizes = bm_new(h->a, count * levels, sizeof(*s->sizes));
    s->hashes = bm_new(h->a, count * levels, sizeof(*s->hashes));
    s->offsets = bm_new(h->a, count * levels, sizeof(*s->offsets));
    return s->keys && s->ranges && s->sizes && s->hashes && s->offsets
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}

uint64_t bm_section_values(const struct bm_section *s, size_t chunk,
                           uint64_t values[BM_MAX_LEVELS])
{
    const struct bm_object *o = s->variable->object;

    return o->layout->values(o, s->summary, s->keys[chunk], values);
}

void bm_section_text(char *text, size_t bytes, const struct bm_section *s,
                     size_t chunk)
{
    const struct bm_object *o = s->variable->object;

    o->layout->text(text, bytes, o, s->keys[chunk]);
}

/* Whether a section can have a chunk with that key. */
static int has_chunk(const struct bm_section *s, uint64_t key)
{
    const struct bm_object *o = s->variable->object;

    return o->layout->has_chunk(o, s->summary, key);
}

struct bm_section *bm_head_section(const struct bm_head *h, uint32_t variable)
{
    size_t at = 0;

    BM_BISECT(at, h->count, i, h->sections[i].variable->id <= variable);
    return at < h->count && h->sections[at].variable->id == variable
               ? &h->sections[at]
               : NULL;
}

/* Whether a key is in a list that is not empty, and its index. */
static int find_key(const uint64_t *keys, size_t count, uint64_t key,
                    size_t *at)
{
    *at = 0;
    BM_BISECT(*at, count, i, keys[i] <= key);
    return keys[*at] == key;
}

/* Of the two lists, the shorter one is gone through: a step may have many
 * files, and many chunks may be wanted. */
size_t bm_section_common(const struct bm_section *s, const uint64_t *keys,
                         size_t count, size_t *at)
{
    size_t found = 0, index;

    for (size_t i = 0; i < count && count < s->count; i++)
        if (find_key(s->keys, s->count, keys[i], &index))
            at[found++] = index;
    for (size_t i = 0; i < s->count && count && s->count <= count; i++)
        if (find_key(keys, count, s->keys[i], &index))
            at[found++] = i;
    return found;
}

/* ---- arrangement -------------------------------------------------------- */

/* A number of NaN has as many bytes as the samples of a whole chunk need. */
static size_t count_bytes(bouma_type type, uint64_t most)
{
    size_t bytes = 0;

    if (!bm_type_is_float(type))
        return 0;
    for (; most; most >>= 8)
        bytes++;
    return bytes;
}

static size_t nan_bytes(const struct bouma_variable *v)
{
    return count_bytes(v->type, v->object->layout->most_values(v->object));
}

size_t bm_table_row_bytes(bouma_type type, int components, int pieces,
                          uint64_t most)
{
    size_t range = 2 * bouma_type_size(type) + count_bytes(type, most);

    return range * (size_t)components + 4 * (size_t)pieces;
}

size_t bm_head_row_bytes(const struct bouma_variable *v)
{
    return bm_table_row_bytes(v->type, v->components, bm_pieces(v->object),
                              v->object->layout->most_values(v->object));
}

static size_t keys_bytes(const struct bm_section *s)
{
    size_t bytes = 0;

    for (size_t i = 0; i < s->count; i++)
        bytes += bm_varint_bytes(s->keys[i] - (i ? s->keys[i - 1] : 0));
    return bytes;
}

/* But for stored offsets. */
static size_t table_bytes(const struct bm_section *s)
{
    size_t bytes = s->count * bm_head_row_bytes(s->variable) + keys_bytes(s);

    for (size_t i = 0; i < s->count * (size_t)s->levels; i++)
        bytes += bm_varint_bytes(s->sizes[i]);
    return bytes;
}

/* All of a head but its sections and data_offset; 0 if there is no memory. */
static size_t bytes_before_sections(const struct bm_head *h,
                                    const struct bm_schema *schema,
                                    const struct bm_buffer *encoded)
{
    struct bm_buffer b;
    size_t bytes;

    bm_buffer_init(&b, h->a);
    if (!encoded)
        bm_schema_encode(&b, schema);
    bm_summaries_encode(&b, &h->summaries);
    bytes = BM_ENVELOPE_BYTES + 48 + (h->base.epoch ? 8 : 0) + b.size + 8 +
            (encoded ? encoded->size : 0);
    if (b.failed)
        bytes = 0;
    bm_buffer_release(&b);
    return bytes;
}

/* Whether a head with stored offsets fits in front of the data, and not far too
 * much room was left for it. bm_head_bound() is less than 4 times what comes
 * out: a level has at least 5 bytes and at most 18. */
static int offsets_fit(const struct bm_head *h)
{
    uint64_t room = h->data_offset - h->head_offset;

    return !h->summaries.count && h->data_offset % BM_DATA_ALIGNMENT == 0 &&
           h->data_offset >= h->head_offset && room >= h->head_bytes &&
           room <= 4 * h->head_bytes + BM_SPARE_BYTES &&
           h->data_bytes <= BM_MAX_DATA_BYTES;
}

/* What stands before the first head follows from the objects. */
static int find_front(struct bm_front *out, const struct bm_head *h)
{
    int rc = BOUMA_OK;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < h->count && !rc; i++)
        rc = bm_front_join(out, h->sections[i].variable->object);
    return rc;
}

/* 'encoded' is the schema, or NULL. */
static int arrange(struct bm_head *h, const struct bm_schema *schema,
                   const struct bm_buffer *encoded)
{
    size_t before = bytes_before_sections(h, schema, encoded);
    struct bm_front front;

    if (!before)
        return BOUMA_ENOMEM;
    if (find_front(&front, h))
        return BOUMA_EFORMAT;
    h->front_bytes = front.bytes;
    h->head_offset = bm_front_end(front.bytes);
    h->head_bytes = before + (h->has_offsets ? 8 : 0) +
                    (h->front_bytes ? BM_FRONT_RECORD : 0);
    for (size_t i = 0; i < h->count; i++) {
        h->head_bytes += BM_SECTION_BYTES + table_bytes(&h->sections[i]);
        if (h->has_offsets)
            h->head_bytes += bm_chunk_offsets_bytes(h, &h->sections[i]);
    }
    if (h->has_offsets) {
        bm_chunk_offsets_fill(h);
    } else {
        h->data_offset =
            (h->head_offset + h->head_bytes + BM_DATA_ALIGNMENT - 1) /
            BM_DATA_ALIGNMENT * BM_DATA_ALIGNMENT;
        bm_chunk_offsets_derive(h);
    }
    h->file_bytes = h->data_offset + h->data_bytes + h->head_bytes;
    return !h->has_offsets || offsets_fit(h) ? BOUMA_OK : BOUMA_EFORMAT;
}

int bm_head_arrange(struct bm_head *h, const struct bm_schema *schema)
{
    return arrange(h, schema, NULL);
}

int bm_head_bound(uint64_t *out, const struct bm_head *h,
                  const struct bm_schema *schema, uint64_t data_bytes)
{
    uint64_t largest = data_bytes < UINT32_MAX ? data_bytes : UINT32_MAX;
    /* A level lies no further than the data are long from where it would. */
    size_t level = bm_varint_bytes(largest) + bm_varint_bytes(2 * data_bytes);
    struct bm_front front;

    *out = bytes_before_sections(h, schema, NULL);
    if (!*out)
        return BOUMA_ENOMEM;
    if (find_front(&front, h))
        return BOUMA_EFORMAT;
    *out += bm_front_end(front.bytes) + 8 + (front.bytes ? BM_FRONT_RECORD : 0);
    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *s = &h->sections[i];

        *out += BM_SECTION_BYTES + keys_bytes(s) +
                s->count * (bm_head_row_bytes(s->variable) +
                            (size_t)s->levels * level);
    }
    return BOUMA_OK;
}

/* ---- bytes -------------------------------------------------------------- */

/* What the table has besides: a sum. */
enum { HAS_OFFSETS = 1, HAS_BASE = 2 };

void bm_range_encode(struct bm_buffer *b, const struct bm_range *range,
                     bouma_type type)
{
    size_t size = bouma_type_size(type);
    uint8_t *p = bm_buffer_extend(b, 2 * size);

    if (p) {
        bm_scalar_store(p, type, range->low);
        bm_scalar_store(p + size, type, range->high);
    }
}

int bm_range_decode(struct bm_range *range, struct bm_cursor *c,
                    bouma_type type, uint64_t nans, uint64_t samples)
{
    size_t size = bouma_type_size(type);
    const uint8_t *p = bm_get_bytes(c, 2 * size);

    if (!p || nans > samples)
        return BOUMA_EFORMAT;
    range->low = bm_scalar_load(p, type);
    range->high = bm_scalar_load(p + size, type);
    range->nans = nans;
    range->count = samples - nans;
    return bm_range_ordered(range, type) ? BOUMA_OK : BOUMA_EFORMAT;
}

/* How far a value can be off. If the tolerance is that of coefficients, no
 * axis makes more than 3 of the errors of a level, so three of them 27; that is
 * some fifty times what occurs. The arithmetic is that of the type. */
double bm_variable_slack(const struct bouma_variable *v,
                         const struct bm_range *recorded)
{
    double largest = fmax(fabs(recorded->low.f), fabs(recorded->high.f));

    if (!v->nominal)
        return v->bound;
    return v->bound * 27 * v->object->levels +
           largest * (v->type == BOUMA_TYPE_F32 ? 0x1p-15 : 0x1p-44);
}

int bm_variable_may_have(const struct bouma_variable *v,
                         const struct bm_range *range, double low, double high)
{
    double slack = bm_variable_slack(v, range);

    return range->count &&
           bm_scalar_double(range->low, v->type) - slack <= high &&
           bm_scalar_double(range->high, v->type) + slack >= low;
}

int bm_loss_decode(struct bm_loss *loss, struct bm_cursor *c)
{
    loss->largest = bm_get_f64(c);
    loss->squares = bm_get_f64(c);
    return !c->failed && loss->largest >= 0 && loss->squares >= 0
               ? BOUMA_OK
               : BOUMA_EFORMAT;
}

void bm_loss_join(struct bm_loss *loss, const struct bm_loss *other)
{
    if (other->largest > loss->largest)
        loss->largest = other->largest;
    loss->squares += other->squares;
}

static void encode_section(struct bm_buffer *b, const struct bm_head *h,
                           const struct bm_section *s)
{
    const struct bouma_variable *v = s->variable;
    size_t ranges = s->count * (size_t)v->components;
    size_t levels = s->count * (size_t)s->levels;

    bm_put_u32(b, v->id);
    bm_put_f64(b, s->loss.largest);
    bm_put_f64(b, s->loss.squares);
    bm_put_u64(b, s->count);
    for (size_t i = 0; i < s->count; i++)
        bm_put_varint(b, s->keys[i] - (i ? s->keys[i - 1] : 0));
    for (size_t i = 0; i < ranges; i++)
        bm_range_encode(b, &s->ranges[i], v->type);
    for (size_t i = 0; i < ranges; i++)
        bm_put_bytes_of(b, s->ranges[i].nans, nan_bytes(v));
    for (size_t i = 0; i < levels; i++)
        bm_put_varint(b, s->sizes[i]);
    if (h->has_offsets)
        bm_chunk_offsets_encode(b, h, s);
    for (size_t i = 0; i < levels; i++)
        bm_put_u32(b, s->hashes[i]);
}

void bm_head_encode(struct bm_buffer *b, const struct bm_head *h,
                    const struct bm_schema *schema, const uint8_t id[16],
                    uint8_t hash[16])
{
    bm_envelope_reserve(b);
    bm_put_u64(b, h->step);
    bm_put_f64(b, h->time);
    bm_put_u32(b, h->subfile);
    bm_put_u32(b, h->subfiles);
    bm_put_u32(b, h->generation.epoch);
    bm_put_u32(b, h->generation.attempt);
    bm_put_u32(b, (uint32_t)h->order);
    bm_put_u32(b, (h->has_offsets ? HAS_OFFSETS : 0) +
                      (h->base.epoch ? HAS_BASE : 0));
    bm_put_u64(b, h->data_bytes);
    if (h->has_offsets)
        bm_put_u64(b, h->data_offset);
    if (h->base.epoch) {
        bm_put_u32(b, h->base.epoch);
        bm_put_u32(b, h->base.attempt);
    }
    bm_schema_encode(b, schema);
    bm_summaries_encode(b, &h->summaries);
    bm_put_u64(b, h->count);
    for (size_t i = 0; i < h->count; i++)
        encode_section(b, h, &h->sections[i]);
    if (h->front_bytes) {
        bm_put_u64(b, h->front_bytes);
        bm_put_u64(b, h->head_bytes);
    }
    bm_envelope_seal(b, BM_KIND_HEAD, id, hash);
}

/* The columns of one section, each entry checked against the geometry. */
static int decode_columns(struct bm_head *h, struct bm_section *s,
                          struct bm_cursor *c)
{
    const struct bouma_variable *v = s->variable;
    const struct bm_codec *codec = bm_codec_find((int)v->codec);
    size_t components = (size_t)v->components;
    struct bm_cursor bounds, nans;

    for (size_t i = 0; i < s->count; i++) {
        uint64_t more = bm_get_varint(c);

        if (__builtin_add_overflow(more, i ? s->keys[i - 1] : 0, &s->keys[i]) ||
            (i && !more) || !has_chunk(s, s->keys[i]))
            return BOUMA_EFORMAT;
    }
    bounds = *c;
    bm_get_bytes(c, s->count * components * 2 * bm_variable_value_size(v));
    nans = *c;
    bm_get_bytes(c, s->count * components * nan_bytes(v));
    for (size_t i = 0; i < s->count; i++) {
        uint64_t values[BM_MAX_LEVELS], samples;

        samples = bm_section_values(s, i, values);
        for (size_t j = 0; j < components; j++) {
            uint64_t n = bm_get_bytes_of(&nans, nan_bytes(v));

            if (bm_range_decode(&s->ranges[i * components + j], &bounds,
                                v->type, n, samples))
                return BOUMA_EFORMAT;
        }
        for (int k = 0; k < s->levels; k++) {
            size_t at = i * (size_t)s->levels + (size_t)k;
            uint64_t size = bm_get_varint(c);

            s->sizes[at] = (uint32_t)size;
            if (c->failed || size > UINT32_MAX ||
                !codec->plausible((size_t)values[k] *
                                      bm_variable_sample_size(v),
                                  s->sizes[at]))
                return BOUMA_EFORMAT;
        }
    }
    if (h->has_offsets && bm_chunk_offsets_decode(h, s, c))
        return BOUMA_EFORMAT;
    for (size_t i = 0; i < s->count * (size_t)s->levels; i++)
        s->hashes[i] = bm_get_u32(c);
    return c->failed || nans.failed ? BOUMA_EFORMAT : BOUMA_OK;
}

static int has_section(const void *head, uint32_t variable)
{
    return bm_head_section(head, variable) != NULL;
}

/* Whether sections and summaries fit together: an object that has one has all
 * of its chunks here that it tells of. */
static int check_summaries(const struct bm_head *h)
{
    struct bm_contents contents = {has_section, NULL, h};

    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *s = &h->sections[i];
        const struct bm_object *o = s->variable->object;
        struct bm_limits chunks;

        if (!o->layout->summary)
            continue;
        chunks = o->layout->chunks(o, s->summary);
        if (!s->summary || s->count < chunks.least || s->count > chunks.most)
            return BOUMA_EFORMAT;
    }
    return bm_summaries_fit(&h->summaries, &contents) ? BOUMA_OK
                                                      : BOUMA_EFORMAT;
}

static int decode_section(struct bm_head *h, const struct bm_schema *schema,
                          struct bm_cursor *c)
{
    uint32_t id = bm_get_u32(c);
    struct bm_loss loss;
    size_t count;
    int rc = bm_loss_decode(&loss, c);

    if (rc || c->failed || id >= schema->variables ||
        (h->count && id <= h->sections[h->count - 1].variable->id))
        return BOUMA_EFORMAT;
    count = bm_get_count(c, 1 + bm_head_row_bytes(schema->by_id[id]) +
                                (size_t)bm_pieces(schema->by_id[id]->object));
    if (c->failed)
        return BOUMA_EFORMAT;
    rc = bm_head_add_section(h, schema->by_id[id], count);
    if (rc)
        return rc;
    h->sections[h->count - 1].loss = loss;
    return decode_columns(h, &h->sections[h->count - 1], c);
}

/* Pass over the subfile's copy of the schema, which must be the step's own to
 * the byte. */
static int compare_schema(struct bm_cursor *c, const struct bm_schema *schema,
                          const struct bm_buffer *bytes)
{
    const uint8_t *raw;
    struct bm_buffer b;
    int rc = BOUMA_OK;

    bm_buffer_init(&b, schema->a);
    if (!bytes)
        bm_schema_encode(&b, schema);
    bytes = bytes ? bytes : &b;
    raw = bytes->failed ? NULL : bm_get_bytes(c, bytes->size);
    if (bytes->failed)
        rc = BOUMA_ENOMEM;
    else if (!raw || memcmp(raw, bytes->data, bytes->size))
        rc = BOUMA_EFORMAT;
    bm_buffer_release(&b);
    return rc;
}

/* The numbers in front; the derived ones are what they must turn out to be.
 * EVERSION tells what is not known. */
static int decode_front(struct bm_head *h, struct bm_cursor *c,
                        const char *name, struct bm_error *error)
{
    uint32_t has;

    h->step = bm_get_u64(c);
    h->time = bm_get_f64(c);
    h->subfile = bm_get_u32(c);
    h->subfiles = bm_get_u32(c);
    h->generation.epoch = bm_get_u32(c);
    h->generation.attempt = bm_get_u32(c);
    h->order = (bouma_order)bm_get_u32(c);
    has = bm_get_u32(c);
    h->has_offsets = (has & HAS_OFFSETS) != 0;
    h->data_bytes = bm_get_u64(c);
    h->data_offset = h->has_offsets ? bm_get_u64(c) : 0;
    if (has & HAS_BASE) {
        h->base.epoch = bm_get_u32(c);
        h->base.attempt = bm_get_u32(c);
    }
    if (!c->failed &&
        (has > HAS_OFFSETS + HAS_BASE || h->order > BOUMA_ORDER_CHUNK))
        return bm_fail(error, BOUMA_EVERSION,
                       "%s: " BM_NEWER "its order (%d) or how its levels are "
                       "placed (%" PRIu32 ") is not known to this version",
                       name, (int)h->order, has);
    if (has & HAS_BASE &&
        (!h->base.epoch || !bm_generation_is_later(h->generation, h->base)))
        c->failed = 1;
    if (h->step > INT64_MAX || h->subfiles > BM_MAX_SUBFILES ||
        h->subfile >= h->subfiles || h->order < BOUMA_ORDER_LEVEL ||
        h->data_bytes > BM_MAX_DATA_BYTES || h->data_offset > BM_MAX_DATA_BYTES)
        c->failed = 1;
    return BOUMA_OK;
}

/* Summaries and sections, and what is told of a front, which ends the head. */
static int decode_table(struct bm_head *h, const struct bm_schema *schema,
                        struct bm_cursor *c, size_t head_bytes)
{
    int rc = bm_summaries_decode(&h->summaries, schema, c);
    size_t count = rc ? 0 : bm_get_count(c, BM_SECTION_BYTES);
    struct bm_front front;

    for (size_t i = 0; i < count && !rc; i++)
        rc = decode_section(h, schema, c);
    if (!rc)
        rc = check_summaries(h);
    if (!rc)
        rc = find_front(&front, h);
    if (!rc && front.bytes &&
        (bm_get_u64(c) != front.bytes || bm_get_u64(c) != head_bytes))
        rc = BOUMA_EFORMAT;
    if (!rc && (c->failed || bm_cursor_left(c)))
        rc = BOUMA_EFORMAT;
    return rc;
}

/* What follows from the table must be what the head and the file say. */
static int check_arranged(struct bm_head *h, const struct bm_schema *schema,
                          const struct bm_head_bytes *from)
{
    uint64_t data_bytes = h->data_bytes;
    int rc = arrange(h, schema, from->schema);

    if (!rc && (h->data_bytes != data_bytes || h->head_bytes != from->bytes ||
                h->file_bytes != from->file_bytes))
        rc = BOUMA_EFORMAT;
    return rc || !h->has_offsets ? rc : bm_chunk_offsets_check(h);
}

int bm_head_decode(struct bm_head *h, const struct bm_schema *schema,
                   struct bm_schema *own, const struct bm_head_bytes *from,
                   struct bm_error *error)
{
    struct bm_envelope e;
    struct bm_cursor c;
    char text[160];
    struct bm_metadata in = {from->data, from->bytes, from->id, from->name};
    int rc = bm_envelope_open(&e, &c, &in, BM_KIND_HEAD, error);

    if (!rc)
        rc = decode_front(h, &c, from->name, error);
    if (rc)
        return rc;
    if (c.failed)
        rc = BOUMA_EFORMAT;
    else
        rc = schema ? compare_schema(&c, schema, from->schema)
                    : bm_schema_decode(own, &c, from->name, error);
    schema = schema ? schema : own;
    if (!rc)
        rc = decode_table(h, schema, &c, from->bytes);
    if (!rc)
        rc = check_arranged(h, schema, from);
    if (rc == BOUMA_ENOMEM)
        return bm_fail(error, rc, "%s: no memory for its table", from->name);
    if (!rc || rc == BOUMA_EVERSION) /* the schema has told what it is */
        return rc;
    snprintf(text, sizeof(text),
             "the table of chunks is damaged, or the file has not the size "
             "it tells (%" PRIu64 " bytes)",
             from->file_bytes);
    return bm_envelope_fail(&e, from->name, error, text);
}
