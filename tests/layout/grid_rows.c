/* grid_rows.c -- a layout of the tests: every n-th row of a grid of two axes is
 * a chunk, in one piece, with the levels inside it.
 *
 *     rows 0 to 6, 4 chunks:   0 1 2 3 0 1 2
 *
 * Chunks have a stride and one piece whatever the level, as no other layout of
 * the library. All of it is here; the table of layouts has one line more. */
#include <stdio.h>
#include <string.h>

#include "layout/head.h"

struct rows {
    int64_t shape[2];
    int shift; /* 2^shift chunks, each with the rows so far apart */
    int files; /* 0: chunks are in any; else in turn in one of so many */
    int front; /* files begin with a table of all chunks: see fill_front() */
};

/* A test can have chunks looked for in other files than they were put into. */
int grid_rows_file_shift;

static const struct rows *rows_of(const struct bm_object *o)
{
    return o->own;
}

/* ---- schema -------------------------------------------------------------- */

/* spec->patch[0] is the number of chunks, patch[1] that of files, patch[2]
 * whether they have a front. */
static int define(struct bm_object *o, const void *wanted)
{
    const bouma_grid_spec *spec = wanted;
    struct rows *own = bm_new(o->a, 1, sizeof(*own));

    if (!own)
        return bm_fail(o->schema->error, BOUMA_ENOMEM, "grid \"%s\": no memory",
                       o->name);
    o->own = own;
    while (own->shift < 30 && (int64_t)1 << own->shift < spec->patch[0])
        own->shift++;
    if (spec->ndims != 2 || spec->shape[0] < spec->patch[0] ||
        spec->shape[1] < 1 || spec->shape[0] > 1 << 20 ||
        spec->shape[1] > 1 << 20 || spec->patch[0] != 1 << own->shift ||
        spec->levels < 1 || spec->levels > 20 || spec->patch[1] < 0 ||
        spec->patch[1] > spec->patch[0] || spec->patch[1] > 255 ||
        spec->patch[2] < 0 || spec->patch[2] > (spec->patch[1] > 0) ||
        (spec->patch[2] && spec->patch[0] > 1 << 12))
        return bm_fail(o->schema->error, BOUMA_EINVAL,
                       "grid \"%s\" cannot be cut into rows", o->name);
    own->files = (int)spec->patch[1];
    own->front = (int)spec->patch[2];
    o->ndims = 2;
    o->levels = spec->levels;
    o->domain = (struct bm_box){{0, 0, 0}, {1, spec->shape[0], spec->shape[1]}};
    for (int d = 0; d < 2; d++) {
        own->shape[d] = spec->shape[d];
        o->spacing[d] = 1;
    }
    return BOUMA_OK;
}

static void release(struct bm_object *o)
{
    bm_drop(o->a, o->own);
    o->own = NULL;
}

static void encode_schema(struct bm_buffer *b, const struct bm_object *o)
{
    bm_put_i64(b, rows_of(o)->shape[0]);
    bm_put_i64(b, rows_of(o)->shape[1]);
    bm_put_u8(b, (uint8_t)rows_of(o)->shift);
    bm_put_u8(b, (uint8_t)rows_of(o)->files);
    bm_put_u8(b, (uint8_t)rows_of(o)->front);
}

static int decode_schema(struct bm_object *o, struct bm_cursor *c)
{
    bouma_grid_spec spec = {.ndims = o->ndims, .levels = o->levels};
    int shift;

    spec.shape[0] = bm_get_i64(c);
    spec.shape[1] = bm_get_i64(c);
    shift = bm_get_u8(c);
    spec.patch[0] = (int64_t)1 << (shift & 31);
    spec.patch[1] = bm_get_u8(c);
    spec.patch[2] = bm_get_u8(c);
    return c->failed || shift > 30 ? BOUMA_EFORMAT : define(o, &spec);
}

static const char *check_variable(const struct bm_object *o,
                                  const bouma_variable_spec *spec,
                                  int components)
{
    (void)o;
    (void)spec;
    return components > 16 ? "has more components than rows take" : NULL;
}

static int complete(const struct bm_object *o)
{
    return o->own != NULL;
}

static int differs(char *text, size_t bytes, const struct bm_object *mine,
                   const struct bm_object *root, int me)
{
    if (!memcmp(mine->own, root->own, sizeof(struct rows)) &&
        mine->levels == root->levels)
        return 0;
    snprintf(text, bytes, "rank %d has other rows in \"%s\" than rank 0", me,
             mine->name);
    return 1;
}

/* ---- chunks -------------------------------------------------------------- */

static struct bm_footprint footprint(const void *own, int64_t chunk)
{
    const struct rows *r = own;
    int64_t last = r->shape[0] - 1 - chunk;

    return (struct bm_footprint){{0, chunk, 0},
                                 {1, (last >> r->shift) + 1, r->shape[1]},
                                 {0, r->shift, 0}};
}

static void touched(const void *own, const struct bm_box *box, int level,
                    bm_chunk_run each, void *context)
{
    const struct rows *r = own;
    int64_t count = (int64_t)1 << r->shift;
    int64_t first = box->lo[1] & (count - 1);
    int64_t end = first + box->hi[1] - box->lo[1];

    (void)level;
    if (end - first >= count) {
        each(context, 0, count);
        return;
    }
    each(context, first, end < count ? end : count);
    if (end > count)
        each(context, 0, end - count);
}

static uint64_t key_of(const void *own, int64_t chunk)
{
    (void)own;
    return (uint64_t)chunk;
}

static int64_t find(const void *own, uint64_t key)
{
    return key >> ((const struct rows *)own)->shift ? -1 : (int64_t)key;
}

static void order(const void *own, int64_t *out)
{
    for (int64_t i = 0; i < (int64_t)1 << ((const struct rows *)own)->shift;
         i++)
        out[i] = i;
}

static int64_t file_of(const void *own, int64_t chunk)
{
    return (chunk + grid_rows_file_shift) % ((const struct rows *)own)->files;
}

#define CALLS                                                                  \
    .footprint = footprint, .touched = touched, .key = key_of, .find = find,   \
    .order = order

static struct bm_chunking chunking(const struct bm_object *o)
{
    static const struct bm_chunking_functions any = {CALLS},
                                              fixed = {CALLS, .file = file_of};

    return (struct bm_chunking){.calls = rows_of(o)->files ? &fixed : &any,
                                .own = o->own,
                                .count = (int64_t)1 << rows_of(o)->shift};
}

static void info(const struct bm_object *o, bouma_grid_info *out)
{
    struct bm_footprint f = footprint(o->own, 0);

    out->patch[0] = f.count[1];
    out->patch[1] = f.count[2];
}

static uint64_t most_values(const struct bm_object *o)
{
    struct bm_footprint f = footprint(o->own, 0);

    return bm_footprint_samples(&f);
}

static int has_chunk(const struct bm_object *o, const struct bm_summary *s,
                     uint64_t key)
{
    (void)s;
    return find(o->own, key) >= 0;
}

static uint64_t values_of(const struct bm_object *o, const struct bm_summary *s,
                          uint64_t key, uint64_t values[BM_MAX_LEVELS])
{
    struct bm_footprint f = footprint(o->own, (int64_t)key);

    (void)s;
    return values[0] = bm_footprint_samples(&f);
}

static void text_of(char *text, size_t bytes, const struct bm_object *o,
                    uint64_t key)
{
    snprintf(text, bytes, "each %d-th row from row %d on",
             1 << rows_of(o)->shift, (int)key);
}

static struct bm_limits chunks(const struct bm_object *o,
                               const struct bm_summary *s)
{
    (void)s;
    return (struct bm_limits){1, (uint64_t)1 << rows_of(o)->shift};
}

static struct bm_limits samples(const struct bm_object *o,
                                const struct bm_summary *s)
{
    (void)s;
    return (struct bm_limits){0, bm_box_volume(&o->domain)};
}

/* ---- the front of files --------------------------------------------------- */

enum { ENTRY = 12 };

/* For each variable of the grid and each chunk an entry: all files have the
 * same number of bytes. */
static uint64_t front_bytes(const struct bm_object *o)
{
    return rows_of(o)->front
               ? 16 + ENTRY * (((uint64_t)o->count) << rows_of(o)->shift)
               : 0;
}

/* "rows of a grid\r\n", then offset (u64) and size (u32) of each chunk; zero if
 * it is in another file. */
static void fill_front(uint8_t *out, const struct bm_head *h,
                       const struct bm_object *o)
{
    memcpy(out, "rows of a grid\r\n", 16);
    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *s = &h->sections[i];
        uint64_t row = 0;

        while (o->variables[row] != s->variable)
            row++;
        for (size_t k = 0; k < s->count; k++) {
            uint64_t entry = (row << rows_of(o)->shift) + s->keys[k];

            bm_store_u64(out + 16 + ENTRY * entry, s->offsets[k]);
            bm_store_u32(out + 24 + ENTRY * entry, s->sizes[k]);
        }
    }
}

static const struct bm_front_functions front = {front_bytes, fill_front};

/* ---- pieces -------------------------------------------------------------- */

/* A chunk: its samples are [components][rows][columns]. */
struct chunk {
    struct bm_footprint footprint;
    struct bm_lattice lattice;
    size_t size, component; /* bytes of a value; and of all of a component */
    size_t bytes;
    uint8_t *samples;
    const uint8_t *kept; /* or these */
};

enum { STATE, SAMPLES }; /* rooms of the coder */

static int chunk_begin(void **out, struct bm_coder *coder,
                       const struct bouma_variable *v, uint64_t key)
{
    struct chunk *c;

    if (bm_block_grow(coder->a, &coder->room[STATE], sizeof(*c)))
        return BOUMA_ENOMEM;
    *out = c = coder->room[STATE].data;
    memset(c, 0, sizeof(*c));
    c->footprint = footprint(v->object->own, (int64_t)key);
    memcpy(c->lattice.count, c->footprint.count, sizeof(c->lattice.count));
    c->size = bm_variable_value_size(v);
    c->component = (size_t)bm_footprint_samples(&c->footprint) * c->size;
    c->bytes = c->component * (size_t)v->components;
    if (bm_block_grow(coder->a, &coder->room[SAMPLES], c->bytes))
        return BOUMA_ENOMEM;
    c->samples = coder->room[SAMPLES].data;
    return BOUMA_OK;
}

static struct bm_field field_of(const struct chunk *c,
                                const struct bouma_variable *v)
{
    return (struct bm_field){.codec = bm_codec_find((int)v->codec),
                             .type = v->type,
                             .components = v->components,
                             .size = c->size,
                             .levels = 1,
                             .lattice = &c->lattice,
                             .bound = v->bound,
                             .effort = v->effort,
                             .nominal = v->nominal};
}

/* The bytes of the chunk's sample that is sample 'i' of other ones; -1 if it
 * has none. */
static int64_t index_of(const struct chunk *c, const struct bm_footprint *other,
                        const int64_t i[3])
{
    int64_t at[3];

    for (int d = 0; d < 3; d++) {
        int64_t index = other->start[d] + (i[d] << other->shift[d]);
        int64_t from = index - c->footprint.start[d];

        at[d] = from >> c->footprint.shift[d];
        if (from < 0 || at[d] >= c->footprint.count[d] ||
            at[d] << c->footprint.shift[d] != from)
            return -1;
    }
    return (at[1] * c->footprint.count[2] + at[2]) * (int64_t)c->size;
}

/* Copy what the chunk and the others have in common, one way or the other. */
static void copy_common(const struct chunk *c, const struct bouma_variable *v,
                        const struct bm_target *other, int give)
{
    const uint8_t *from = c->kept ? c->kept : c->samples;
    int64_t i[3] = {0, 0, 0};

    for (i[1] = 0; i[1] < other->samples.count[1]; i[1]++)
        for (i[2] = 0; i[2] < other->samples.count[2]; i[2]++) {
            int64_t at = index_of(c, &other->samples, i);
            int64_t step =
                i[1] * other->array.stride[1] + i[2] * other->array.stride[2];

            for (int j = 0; j < v->components && at >= 0; j++) {
                uint8_t *to = bm_array_component(&other->array, j) + step;

                if (give)
                    memcpy(to, from + at, c->size);
                else
                    memcpy(c->samples + at, to, c->size);
                at += (int64_t)c->component;
            }
        }
}

static int encode_begin(struct bm_encoding *e)
{
    int rc = chunk_begin(&e->own, e->coder, e->variable, e->key);

    e->loss = (struct bm_loss){0, 0};
    return rc;
}

static void take(struct bm_encoding *e, const struct bm_memory_part *from)
{
    struct bm_target other = {from->samples, from->array};

    copy_common(e->own, e->variable, &other, 0);
}

static void range_of(const struct chunk *c, const struct bouma_variable *v,
                     struct bm_range *ranges)
{
    const uint8_t *from = c->kept ? c->kept : c->samples;

    memset(ranges, 0, sizeof(*ranges) * (size_t)v->components);
    for (size_t j = 0; j < (size_t)v->components; j++)
        bm_range_add(&ranges[j], v->type, from + j * c->component,
                     c->component / c->size);
}

static int encode_pieces(struct bm_encoding *e, struct bm_buffer *out)
{
    const struct bm_codec *codec = bm_codec_find((int)e->variable->codec);
    struct chunk *c = e->own;
    struct bm_samples in = {c->samples, c->bytes / c->size, c->size};
    struct bm_field f = field_of(c, e->variable);
    size_t room, stored = 0;
    uint8_t *to = e->room;
    int rc;

    range_of(c, e->variable, e->ranges);
    if (codec->encode_field)
        return bm_codec_encode_fields(&e->coder->codec, out, e->sizes, &e->loss,
                                      &f, c->samples);
    room = codec->bound(c->bytes);
    if (!to)
        to = bm_buffer_extend(out, room);
    rc = to ? codec->encode(&e->coder->codec, to, &stored, &in,
                            e->variable->effort)
            : BOUMA_ENOMEM;
    e->sizes[0] = (uint32_t)stored;
    if (!rc && !e->room)
        out->size -= room - stored;
    return rc;
}

static int decode_begin(struct bm_decoding *d, const uint8_t *kept)
{
    int rc = chunk_begin(&d->own, d->coder, d->variable, d->key);

    if (!rc)
        ((struct chunk *)d->own)->kept = kept;
    return rc;
}

static int decode_piece(struct bm_decoding *d, const uint8_t *data,
                        size_t bytes)
{
    const struct bm_codec *codec = bm_codec_find((int)d->variable->codec);
    struct chunk *c = d->own;
    struct bm_samples out = {c->samples, c->bytes / c->size, c->size};
    struct bm_field f = field_of(c, d->variable);

    d->level = 0;
    return codec->decode_field
               ? bm_codec_decode_fields(
                     &d->coder->codec, c->samples, NULL, &f,
                     &(struct bm_coded_level){0, data, bytes})
               : codec->decode(&d->coder->codec, &out, data, bytes);
}

static void ranges_of(const struct bm_decoding *d, struct bm_range *ranges)
{
    range_of(d->own, d->variable, ranges);
}

static size_t sample_bytes(const struct bm_decoding *d, int level)
{
    (void)level; /* finer ones are made of the same piece */
    return ((const struct chunk *)d->own)->bytes;
}

static void keep(const struct bm_decoding *d, uint8_t *to)
{
    const struct chunk *c = d->own;

    memcpy(to, c->kept ? c->kept : c->samples, c->bytes);
}

static void give(const struct bm_decoding *d, const struct bm_target *target)
{
    copy_common(d->own, d->variable, target, 1);
}

const struct bm_layout bm_layout_grid_rows = {
    .kind = BM_GRID,
    .code = 200,
    .pieces = 1,
    .use = BM_FOR_FIELDS,
    .lossy = BOUMA_CODEC_INTERP,
    .define = define,
    .release = release,
    .encode_schema = encode_schema,
    .decode_schema = decode_schema,
    .check_variable = check_variable,
    .complete = complete,
    .differs = differs,
    .most_values = most_values,
    .has_chunk = has_chunk,
    .values = values_of,
    .text = text_of,
    .chunks = chunks,
    .samples = samples,
    .chunking = chunking,
    .info = info,
    .encode_begin = encode_begin,
    .take = take,
    .encode_pieces = encode_pieces,
    .decode_begin = decode_begin,
    .decode_piece = decode_piece,
    .ranges = ranges_of,
    .sample_bytes = sample_bytes,
    .keep = keep,
    .give = give,
    .front = &front,
};
