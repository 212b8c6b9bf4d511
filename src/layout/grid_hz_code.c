/* grid_hz_code.c -- blocks of a grid in HZ order, to bytes and back. The samples
 * of a block are brought together in C order, those of the domain only; codecs
 * that know where samples lie take them so. For the others they are put along
 * the curve, if the grid wants that: then a block is filled up to its 2^b
 * samples, whose components lie side by side. */
#include <string.h>

#include "layout/grid_hz.h"
#include "plan/hz_order.h"

struct chunk {
    const struct bouma_variable *variable;
    const struct bm_codec *codec;
    uint64_t key;
    struct bm_footprint samples;
    struct bm_lattice lattice; /* the same, as codecs want it */
    size_t size;               /* bytes of a value */
    size_t component;          /* bytes of all values of a component */
    size_t bytes;              /* of all */
    uint8_t *rows;             /* [components][samples] */
    const uint8_t *read_rows;  /* or these: kept from before, or in a file */
};

enum { STATE, ROWS, FILLED, CURVE }; /* rooms of the coder */

static int chunk_begin(void **out, struct bm_coder *coder,
                       const struct bouma_variable *v, uint64_t key)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(v->object);
    struct chunk *c;

    if (bm_block_grow(coder->a, &coder->room[STATE], sizeof(*c)))
        return BOUMA_ENOMEM;
    *out = c = coder->room[STATE].data;
    memset(c, 0, sizeof(*c));
    c->variable = v;
    c->codec = bm_codec_find((int)v->codec);
    c->key = key;
    c->samples = bm_grid_hz_footprint(own, key);
    memcpy(c->lattice.count, c->samples.count, sizeof(c->lattice.count));
    c->size = bm_variable_value_size(v);
    c->component = (size_t)bm_footprint_samples(&c->samples) * c->size;
    c->bytes = c->component * (size_t)v->components;
    return BOUMA_OK;
}

static int make_rows(struct chunk *c, struct bm_coder *coder)
{
    if (bm_block_grow(coder->a, &coder->room[ROWS], c->bytes))
        return BOUMA_ENOMEM;
    c->rows = coder->room[ROWS].data;
    return BOUMA_OK;
}

/* Whether it is stored along the curve. */
static int is_curved(const struct chunk *c)
{
    return bm_grid_hz_of(c->variable->object)->order == BOUMA_HZ_ORDER_CURVE &&
           !c->codec->encode_field;
}

static struct bm_field field_of(const struct chunk *c)
{
    const struct bouma_variable *v = c->variable;

    /* Coefficients are integers of the same size. */
    bouma_type type = !bm_grid_hz_of(v->object)->wavelet ? v->type
                      : c->size == 4                     ? BOUMA_TYPE_I32
                      : c->size == 8                     ? BOUMA_TYPE_I64
                                                         : v->type;

    return (struct bm_field){.codec = c->codec,
                             .type = type,
                             .components = v->components,
                             .size = c->size,
                             .levels = 1,
                             .lattice = &c->lattice,
                             .bound = v->bound,
                             .effort = v->effort,
                             .nominal = v->nominal};
}

static void find_ranges(const struct chunk *c, const uint8_t *rows,
                        struct bm_range *ranges)
{
    int components = c->variable->components;

    memset(ranges, 0, sizeof(*ranges) * (size_t)components);
    for (int j = 0; j < components; j++)
        bm_range_add(&ranges[j], c->variable->type,
                     rows + (size_t)j * c->component, c->component / c->size);
}

/* ---- samples in memory --------------------------------------------------- */

/* An array of three axes. */
struct array {
    uint8_t *data;
    int64_t stride[3];
};

/* A row of values with strides. The coarser half of an axis is left out of most
 * rows that are copied, and often half of the rest: these strides are known to
 * the compiler. */
#define COPY_ROW(bits)                                                         \
    typedef uint##bits##_t value_##bits                                        \
        __attribute__((aligned(1), may_alias));                                \
    static void copy_row_##bits(uint8_t *restrict to, int64_t to_step,         \
                                const uint8_t *restrict from,                  \
                                int64_t from_step, int64_t n)                  \
    {                                                                          \
        const int64_t size = bits / 8;                                         \
        value_##bits *restrict out = (value_##bits *)(void *)to;               \
        const value_##bits *restrict in =                                      \
            (const value_##bits *)(const void *)from;                          \
                                                                               \
        if (to_step == size && from_step == 2 * size)                          \
            _Pragma("omp simd") for (int64_t k = 0; k < n; k++) out[k] =       \
                in[2 * k];                                                     \
        else if (to_step == size && from_step == 4 * size)                     \
            _Pragma("omp simd") for (int64_t k = 0; k < n; k++) out[k] =       \
                in[4 * k];                                                     \
        else if (to_step == 2 * size && from_step == size)                     \
            for (int64_t k = 0; k < n; k++)                                    \
                out[2 * k] = in[k];                                            \
        else                                                                   \
            for (int64_t k = 0; k < n; k++)                                    \
                memcpy(to + k * to_step, from + k * from_step, bits / 8);      \
    }
COPY_ROW(8)
COPY_ROW(16)
COPY_ROW(32)
COPY_ROW(64)

static void copy_row(uint8_t *to, int64_t to_step, const uint8_t *from,
                     int64_t from_step, int64_t n, size_t size)
{
    if (to_step == (int64_t)size && from_step == (int64_t)size)
        memcpy(to, from, (size_t)n * size);
    else if (size == 4)
        copy_row_32(to, to_step, from, from_step, n);
    else if (size == 8)
        copy_row_64(to, to_step, from, from_step, n);
    else if (size == 2)
        copy_row_16(to, to_step, from, from_step, n);
    else
        copy_row_8(to, to_step, from, from_step, n);
}

/* Rows of a block are short and lie far apart in a caller's array: processors
 * do not see which is next. So it is fetched, some rows before its turn. */
enum { ROWS_AHEAD = 8, LINE = 64, MOST_LINES = 16 };

struct ahead {
    const struct array *array; /* NULL: nothing is fetched */
    int64_t i, j;              /* the row that is next */
    int64_t first, last;       /* bytes behind its start */
};

static struct ahead ahead_of(const struct array *a, const int64_t count[3],
                             size_t size)
{
    int64_t span = (count[2] - 1) * a->stride[2];
    struct ahead f = {a, ROWS_AHEAD / count[1], ROWS_AHEAD % count[1], 0,
                      (int64_t)size - 1};

    *(span < 0 ? &f.first : &f.last) += span;
    if (f.last - f.first > MOST_LINES * LINE ||
        count[0] * count[1] <= ROWS_AHEAD)
        f.array = NULL;
    return f;
}

static inline void fetch_ahead(struct ahead *f, const int64_t count[3])
{
    const int64_t *stride;
    const uint8_t *row;

    if (!f->array || f->i >= count[0])
        return;
    stride = f->array->stride;
    row = f->array->data + f->i * stride[0] + f->j * stride[1];
    for (int64_t at = f->first; at < f->last; at += LINE)
        __builtin_prefetch(row + at);
    __builtin_prefetch(row + f->last);
    if (++f->j == count[1]) {
        f->j = 0;
        f->i++;
    }
}

/* 'far' is the one of the two that is a caller's. */
static void copy_array(const struct array *to, const struct array *from,
                       const struct array *far, const int64_t count[3],
                       size_t size)
{
    struct ahead ahead = ahead_of(far, count, size);

    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = 0; j < count[1]; j++) {
            fetch_ahead(&ahead, count);
            copy_row(to->data + i * to->stride[0] + j * to->stride[1],
                     to->stride[2],
                     from->data + i * from->stride[0] + j * from->stride[1],
                     from->stride[2], count[2], size);
        }
}

/* A component of rows, from one of its samples on, with steps as another
 * lattice wants them. */
static struct array rows_at(const struct chunk *c, uint8_t *rows, int component,
                            const struct bm_footprint *part)
{
    struct array a = {rows + (size_t)component * c->component, {0, 0, 0}};
    int64_t stride = (int64_t)c->size;

    for (int d = 2; d >= 0; d--) {
        int64_t at =
            (part->start[d] - c->samples.start[d]) >> c->samples.shift[d];

        a.data += at * stride;
        a.stride[d] =
            stride * ((int64_t)1 << (part->shift[d] - c->samples.shift[d]));
        stride *= c->samples.count[d];
    }
    return a;
}

/* ---- the curve ----------------------------------------------------------- */

/* A whole block in C order, samples with all their components. */
struct filled {
    struct bm_hz hz;
    enum bm_hz_order order;
    int64_t count[3];
    struct bm_hz_rows rows;
    size_t bytes;
};

static struct filled filled_of(const struct chunk *c)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(c->variable->object);
    struct filled f = {.hz = bm_grid_hz_inside(own, c->key),
                       .order = c->key ? BM_ORDER_Z : BM_ORDER_HZ};

    f.rows.size = bm_variable_sample_size(c->variable);
    f.bytes = f.rows.size;
    for (int d = 2; d >= 0; d--) {
        f.count[d] = (int64_t)1 << f.hz.count[d];
        f.rows.stride[d] = (int64_t)f.bytes;
        f.bytes *= (size_t)f.count[d];
    }
    return f;
}

/* Values beyond the domain are those of the last sample before its end, so that
 * they cost little. */
static void fill_up(const struct filled *f, const int64_t count[3])
{
    const int64_t *stride = f->rows.stride;
    uint8_t *data = f->rows.data;

    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = 0; j < count[1]; j++) {
            uint8_t *row = data + i * stride[0] + j * stride[1];

            for (int64_t k = count[2]; k < f->count[2]; k++)
                memcpy(row + k * stride[2], row + (k - 1) * stride[2],
                       f->rows.size);
        }
    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = count[1]; j < f->count[1]; j++) {
            uint8_t *row = data + i * stride[0] + j * stride[1];

            memcpy(row, row - stride[1], (size_t)stride[1]);
        }
    for (int64_t i = count[0]; i < f->count[0]; i++)
        memcpy(data + i * stride[0], data + (i - 1) * stride[0],
               (size_t)stride[0]);
}

/* The components of rows, to samples with all of them; and back. */
static void mix_components(const struct chunk *c, const struct filled *f,
                           uint8_t *rows, int back)
{
    for (int j = 0; j < c->variable->components; j++) {
        struct array own = rows_at(c, rows, j, &c->samples);
        struct array mixed = {f->rows.data + (size_t)j * c->size, {0, 0, 0}};

        memcpy(mixed.stride, f->rows.stride, sizeof(mixed.stride));
        copy_array(back ? &own : &mixed, back ? &mixed : &own, &own,
                   c->samples.count, c->size);
    }
}

/* Whether rows are what the curve wants, as they are. */
static int is_whole(const struct chunk *c, const struct filled *f)
{
    return c->bytes == f->bytes && c->variable->components == 1;
}

/* The samples along the curve, into out[f.bytes]. */
static int to_curve(struct chunk *c, struct bm_coder *coder, uint8_t *out)
{
    struct filled f = filled_of(c);

    f.rows.data = c->rows;
    if (!is_whole(c, &f)) {
        if (bm_block_grow(coder->a, &coder->room[FILLED], f.bytes))
            return BOUMA_ENOMEM;
        f.rows.data = coder->room[FILLED].data;
        mix_components(c, &f, c->rows, 0);
        fill_up(&f, c->samples.count);
    }
    bm_hz_pack(out, &f.hz, f.order, &f.rows);
    return BOUMA_OK;
}

static int from_curve(struct chunk *c, struct bm_coder *coder,
                      const uint8_t *in)
{
    struct filled f = filled_of(c);

    f.rows.data = c->rows;
    if (!is_whole(c, &f)) {
        if (bm_block_grow(coder->a, &coder->room[FILLED], f.bytes))
            return BOUMA_ENOMEM;
        f.rows.data = coder->room[FILLED].data;
    }
    bm_hz_unpack(&f.rows, &f.hz, f.order, in);
    if (!is_whole(c, &f))
        mix_components(c, &f, c->rows, 1);
    return BOUMA_OK;
}

/* ---- encoding ------------------------------------------------------------ */

int bm_grid_hz_encode_begin(struct bm_encoding *e)
{
    struct chunk *c;
    struct filled f;
    int rc = chunk_begin(&e->own, e->coder, e->variable, e->key);

    if (rc)
        return rc;
    c = e->own;
    e->loss = (struct bm_loss){0, 0};
    if (e->room && !is_curved(c)) {
        c->rows = e->room;
        return BOUMA_OK;
    }
    rc = make_rows(c, e->coder);
    if (rc || !is_curved(c))
        return rc;
    f = filled_of(c); /* so that encoding cannot fail */
    return bm_block_grow(e->coder->a, &e->coder->room[FILLED], f.bytes) ||
                   bm_block_grow(e->coder->a, &e->coder->room[CURVE], f.bytes)
               ? BOUMA_ENOMEM
               : BOUMA_OK;
}

void bm_grid_hz_take(struct bm_encoding *e, const struct bm_memory_part *from)
{
    const struct chunk *c = e->own;

    for (int j = 0; j < e->variable->components; j++) {
        struct array to = rows_at(c, c->rows, j, &from->samples);
        struct array in = {bm_array_component(&from->array, j), {0, 0, 0}};

        memcpy(in.stride, from->array.stride, sizeof(in.stride));
        copy_array(&to, &in, &in, from->samples.count, c->size);
    }
}

int bm_grid_hz_encode(struct bm_encoding *e, struct bm_buffer *out)
{
    struct chunk *c = e->own;
    struct bm_field field = field_of(c);
    struct bm_samples in = {c->rows, c->bytes / c->size, c->size};
    size_t room, stored = 0;
    uint8_t *to = e->room;
    int rc = BOUMA_OK;

    find_ranges(c, c->rows, e->ranges);
    if (c->codec->encode_field)
        return bm_codec_encode_fields(&e->coder->codec, out, e->sizes, &e->loss,
                                      &field, c->rows);
    if (is_curved(c)) {
        struct filled f = filled_of(c);

        in.data = e->room ? e->room : e->coder->room[CURVE].data;
        in.count = f.bytes / c->size;
        rc = to_curve(c, e->coder, in.data);
    }
    room = c->codec->bound(in.count * in.size);
    if (!to && !rc)
        to = bm_buffer_extend(out, room);
    if (!rc)
        rc = to ? c->codec->encode(&e->coder->codec, to, &stored, &in,
                                   e->variable->effort)
                : BOUMA_ENOMEM;
    e->sizes[0] = (uint32_t)stored;
    if (!rc && !e->room)
        out->size -= room - stored;
    return rc;
}

/* ---- decoding ------------------------------------------------------------ */

int bm_grid_hz_decode_begin(struct bm_decoding *d, const uint8_t *kept)
{
    int rc = chunk_begin(&d->own, d->coder, d->variable, d->key);

    if (!rc)
        ((struct chunk *)d->own)->read_rows = kept;
    return rc;
}

/* What is decoded, along the curve or in rows. */
static int decode_values(struct bm_decoding *d, struct chunk *c,
                         const uint8_t *data, size_t bytes)
{
    struct bm_samples out = {c->rows, c->bytes / c->size, c->size};
    int rc;

    if (!is_curved(c))
        return c->codec->decode(&d->coder->codec, &out, data, bytes);
    out.count = filled_of(c).bytes / c->size;
    if (bm_block_grow(d->coder->a, &d->coder->room[CURVE],
                      out.count * out.size))
        return BOUMA_ENOMEM;
    out.data = d->coder->room[CURVE].data;
    rc = c->codec->decode(&d->coder->codec, &out, data, bytes);
    return rc ? rc : from_curve(c, d->coder, out.data);
}

int bm_grid_hz_decode(struct bm_decoding *d, const uint8_t *data, size_t bytes)
{
    struct chunk *c = d->own;
    struct bm_field field = field_of(c);

    d->level = 0;
    if (c->codec->sized && !is_curved(c) &&
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        c->read_rows = data; /* where they are */
        return bytes == c->bytes ? BOUMA_OK : BOUMA_EFORMAT;
    }
    if (make_rows(c, d->coder))
        return BOUMA_ENOMEM;
    c->read_rows = c->rows;
    return c->codec->decode_field
               ? bm_codec_decode_fields(
                     &d->coder->codec, c->rows, NULL, &field,
                     &(struct bm_coded_level){0, data, bytes})
               : decode_values(d, c, data, bytes);
}

size_t bm_grid_hz_sample_bytes(const struct bm_decoding *d, int level)
{
    (void)level; /* finer ones are made of the same piece */
    return ((const struct chunk *)d->own)->bytes;
}

void bm_grid_hz_keep(const struct bm_decoding *d, uint8_t *samples)
{
    const struct chunk *c = d->own;

    memcpy(samples, c->read_rows, c->bytes);
}

void bm_grid_hz_give(const struct bm_decoding *d,
                     const struct bm_target *target)
{
    const struct chunk *c = d->own;
    struct bm_footprint common =
        bm_footprint_common(&c->samples, &target->samples);
    uint8_t *rows;

    if (!bm_footprint_samples(&common))
        return;
    memcpy(&rows, &c->read_rows, sizeof(rows)); /* is only read */
    for (int j = 0; j < d->variable->components; j++) {
        struct array from = rows_at(c, rows, j, &common);
        struct array to = {bm_array_component(&target->array, j), {0, 0, 0}};

        for (int i = 0; i < 3; i++) {
            int64_t at = (common.start[i] - target->samples.start[i]) >>
                         target->samples.shift[i];
            int64_t step = (int64_t)1
                           << (common.shift[i] - target->samples.shift[i]);

            to.data += at * target->array.stride[i];
            to.stride[i] = step * target->array.stride[i];
        }
        copy_array(&to, &from, &to, common.count, c->size);
    }
}

void bm_grid_hz_ranges(const struct bm_decoding *d, struct bm_range *ranges)
{
    const struct chunk *c = d->own;

    find_ranges(c, c->read_rows, ranges);
}
