/* particle_summary.c -- see particle_summary.h; docs/format.md has its bytes.
 */
#include "layout/particle_summary.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

#define FINITE 0x80 /* there are no infinities: beside the type of a row */

void bm_particle_summary_init(struct bm_particle_summary *c,
                              const bouma_allocator *a,
                              const struct bm_object *set)
{
    memset(c, 0, sizeof(*c));
    c->a = a;
    c->set = set;
}

void bm_particle_summary_release(struct bm_particle_summary *c)
{
    if (!c->a)
        return;
    bm_drop(c->a, c->types);
    bm_drop(c->a, c->bins);
    bm_drop(c->a, c->bitmaps);
    memset(c, 0, sizeof(*c));
}

static int make_rows(struct bm_particle_summary *c, uint32_t rows)
{
    c->types = bm_new(c->a, rows, sizeof(*c->types));
    c->bins = bm_new(c->a, rows, sizeof(*c->bins));
    c->bitmaps = bm_new(c->a, rows, sizeof(*c->bitmaps));
    c->rows = rows;
    return c->types && c->bins && c->bitmaps ? BOUMA_OK : BOUMA_ENOMEM;
}

int bm_particle_summary_set_rows(struct bm_particle_summary *c,
                                 struct bouma_variable *const *variables,
                                 int count)
{
    uint32_t rows = 0;

    for (int i = 0; i < count; i++)
        rows += (uint32_t)variables[i]->components;
    if (make_rows(c, rows))
        return BOUMA_ENOMEM;
    rows = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < variables[i]->components; k++)
            c->types[rows++] = variables[i]->type;
    return BOUMA_OK;
}

uint32_t bm_particle_row(const struct bm_object *set,
                         const struct bouma_variable *v, int component)
{
    uint32_t row = (uint32_t)component;

    for (int j = 1; j < set->count && set->variables[j] != v; j++)
        if (set->variables[j]->in_step.present)
            row += (uint32_t)set->variables[j]->components;
    return row;
}

int bm_particle_summary_copy(struct bm_particle_summary *out,
                             const struct bm_particle_summary *c,
                             const bouma_allocator *a)
{
    *out = *c;
    out->a = a;
    if (make_rows(out, c->rows))
        return BOUMA_ENOMEM;
    if (c->rows) {
        memcpy(out->types, c->types, c->rows * sizeof(*c->types));
        memcpy(out->bins, c->bins, c->rows * sizeof(*c->bins));
        memcpy(out->bitmaps, c->bitmaps, c->rows * sizeof(*c->bitmaps));
    }
    return BOUMA_OK;
}

/* ---- bytes -------------------------------------------------------------- */

void bm_particle_summary_encode(struct bm_buffer *b,
                                const struct bm_particle_summary *c)
{
    bm_put_u64(b, c->count);
    bm_put_u64(b, c->strays);
    bm_put_u64(b, c->seed);
    bm_put_u64(b, c->tree_bytes);
    bm_put_u32(b, c->tree_hash);
    for (int d = 0; d < c->set->ndims; d++) {
        bm_put_f64(b, c->low[d]);
        bm_put_f64(b, c->high[d]);
    }
    bm_put_u32(b, c->rows);
    for (uint32_t i = 0; i < c->rows; i++) {
        struct bm_range ends = {c->bins[i].low, c->bins[i].high, 0, 0};
        size_t size = bouma_type_size(c->types[i]);
        uint8_t *p;

        bm_put_u8(
            b, (uint8_t)((int)c->types[i] | (c->bins[i].finite ? FINITE : 0)));
        p = bm_buffer_extend(b, 2 * size);
        if (p) {
            bm_scalar_store(p, c->types[i], ends.low);
            bm_scalar_store(p + size, c->types[i], ends.high);
        }
        bm_put_u32(b, c->bitmaps[i]);
    }
}

static int decode_row(struct bm_particle_summary *c, uint32_t i,
                      struct bm_cursor *in)
{
    int kind = bm_get_u8(in), type = kind & ~FINITE;
    const uint8_t *p;
    union bm_scalar low, high;
    size_t size;

    if (!bm_type_valid(type))
        return BOUMA_EFORMAT;
    c->types[i] = (bouma_type)type;
    size = bouma_type_size(c->types[i]);
    p = bm_get_bytes(in, 2 * size);
    c->bitmaps[i] = bm_get_u32(in);
    if (!p || in->failed)
        return BOUMA_EFORMAT;
    low = bm_scalar_load(p, c->types[i]);
    high = bm_scalar_load(p + size, c->types[i]);
    if (!bm_bins_valid(c->types[i], low, high))
        return BOUMA_EFORMAT;
    bm_bins_init(&c->bins[i], c->types[i], low, high);
    c->bins[i].finite = (kind & FINITE) != 0;
    return BOUMA_OK;
}

/* With at most so many particles. */
static int decode_up_to(struct bm_particle_summary *c, struct bm_cursor *in,
                        uint64_t most)
{
    uint32_t rows;
    int rc;

    c->count = bm_get_u64(in);
    c->strays = bm_get_u64(in);
    c->seed = bm_get_u64(in);
    c->tree_bytes = bm_get_u64(in);
    c->tree_hash = bm_get_u32(in);
    for (int d = 0; d < c->set->ndims; d++) {
        c->low[d] = bm_get_f64(in);
        c->high[d] = bm_get_f64(in);
        if (!isfinite(c->low[d]) || !isfinite(c->high[d]) ||
            c->low[d] > c->high[d])
            return BOUMA_EFORMAT;
    }
    rows = bm_get_u32(in);
    if (in->failed || !c->count || c->count > most || c->strays > c->count ||
        c->tree_bytes >= (uint64_t)1 << 40 || rows > bm_cursor_left(in) / 7)
        return BOUMA_EFORMAT;
    rc = make_rows(c, rows);
    for (uint32_t i = 0; i < rows && !rc; i++)
        rc = decode_row(c, i, in);
    return rc;
}

int bm_particle_summary_decode(struct bm_particle_summary *c,
                               struct bm_cursor *in)
{
    return decode_up_to(c, in, BM_MAX_PARTICLE_SUMMARY);
}

/* Whether two ends of bins are the same number; neither is a NaN. */
static int same(bouma_type type, union bm_scalar a, union bm_scalar b)
{
    return bm_type_is_float(type) ? a.f >= b.f && a.f <= b.f : a.u == b.u;
}

static int is_tree_of(const struct bm_tree *tree,
                      const struct bm_particle_summary *c)
{
    if (tree->leaf != bm_bat_of(c->set)->leaf ||
        tree->count != c->count - c->strays)
        return 0;
    for (int d = 0; d < c->set->ndims && tree->count; d++)
        if (tree->low[d] < c->low[d] || tree->low[d] > c->low[d] ||
            tree->high[d] < c->high[d] || tree->high[d] > c->high[d])
            return 0;
    for (uint32_t i = 0; i < c->rows; i++) {
        uint32_t root =
            tree->node_count ? tree->bitmaps[(size_t)i * tree->node_count] : 0;

        if (!same(c->types[i], tree->bins[i].low, c->bins[i].low) ||
            !same(c->types[i], tree->bins[i].high, c->bins[i].high) ||
            root != c->bitmaps[i])
            return 0;
    }
    return 1;
}

int bm_particle_summary_decode_tree(struct bm_tree *tree,
                                    const struct bm_particle_summary *c,
                                    const uint8_t *data, size_t bytes,
                                    struct bm_codec_state *state)
{
    struct bm_tree_spec spec = {c->set->ndims, c->set->variables[0]->type,
                                (uint32_t)c->count, c->types, c->rows};
    int rc = bm_tree_decode(tree, data, bytes, &spec, state);

    if (!rc && !is_tree_of(tree, c))
        rc = BOUMA_EFORMAT;
    for (uint32_t i = 0; i < c->rows && !rc; i++)
        tree->bins[i].finite = c->bins[i].finite;
    return rc;
}

/* ---- as a summary -------------------------------------------------------- */

static int init(struct bm_summary *s)
{
    const bouma_allocator *a = s->object->a;

    s->own = bm_new(a, 1, sizeof(struct bm_particle_summary));
    if (!s->own)
        return BOUMA_ENOMEM;
    bm_particle_summary_init(s->own, a, s->object);
    return BOUMA_OK;
}

static void release(struct bm_summary *s)
{
    const bouma_allocator *a = s->object->a;

    if (s->own)
        bm_particle_summary_release(s->own);
    bm_drop(a, s->own);
    s->own = NULL;
}

static int copy(struct bm_summary *out, const struct bm_summary *s)
{
    int rc = init(out);

    return rc ? rc : bm_particle_summary_copy(out->own, s->own, s->object->a);
}

static void encode(struct bm_buffer *b, const struct bm_summary *s)
{
    bm_particle_summary_encode(b, s->own);
}

static int decode(struct bm_summary *s, struct bm_cursor *c)
{
    return bm_particle_summary_decode(s->own, c);
}

/* The bins of a row that have all values, and the bitmap in these. */
static void sum_row(struct bm_particle_summary *out, uint32_t row,
                    const struct bm_summary *const *files, size_t count)
{
    struct bm_range all = {{0}, {0}, 0, 0};
    bouma_type type = out->types[row];
    int finite = 1;

    for (size_t i = 0; i < count; i++) {
        const struct bm_particle_summary *c = files[i]->own;
        struct bm_range one = {c->bins[row].low, c->bins[row].high, 1, 0};

        if (c->bitmaps[row]) /* else it has no values, and no range */
            bm_range_join(&all, type, &one);
        finite &= c->bins[row].finite;
    }
    bm_bins_init(&out->bins[row], type, all.low, all.high);
    out->bins[row].finite = finite;
    for (size_t i = 0; i < count; i++) {
        const struct bm_particle_summary *c = files[i]->own;

        out->bitmaps[row] |=
            bm_bins_remap(&c->bins[row], c->bitmaps[row], &out->bins[row]);
    }
}

static void sum_bounds(struct bm_particle_summary *out,
                       const struct bm_particle_summary *c)
{
    int first = out->strays == out->count; /* none of them has a place */

    for (int d = 0; d < c->set->ndims && c->strays < c->count; d++) {
        out->low[d] =
            first || c->low[d] < out->low[d] ? c->low[d] : out->low[d];
        out->high[d] =
            first || c->high[d] > out->high[d] ? c->high[d] : out->high[d];
    }
}

/* EFORMAT: the files differ in their rows. */
static int sum(struct bm_summary *s, const struct bm_summary *const *files,
               size_t count)
{
    struct bm_particle_summary *out = s->own;
    const struct bm_particle_summary *first = files[0]->own;

    if (make_rows(out, first->rows))
        return BOUMA_ENOMEM;
    if (first->rows)
        memcpy(out->types, first->types, first->rows * sizeof(*out->types));
    for (size_t i = 0; i < count; i++) {
        const struct bm_particle_summary *c = files[i]->own;

        if (c->rows != out->rows ||
            (c->rows &&
             memcmp(c->types, out->types, c->rows * sizeof(*c->types))))
            return BOUMA_EFORMAT;
        sum_bounds(out, c);
        out->count += c->count;
        out->strays += c->strays;
    }
    for (uint32_t i = 0; i < out->rows; i++)
        sum_row(out, i, files, count);
    return BOUMA_OK;
}

static int decode_sum(struct bm_summary *s, struct bm_cursor *c, uint32_t files)
{
    const struct bm_particle_summary *sum = s->own;
    int rc = decode_up_to(s->own, c, files * BM_MAX_PARTICLE_SUMMARY);

    return !rc && (sum->seed || sum->tree_bytes || sum->tree_hash)
               ? BOUMA_EFORMAT
               : rc;
}

/* The position is there, and the rows are those of just the variables that
 * are: queries count rows by variables. */
static int fits(const struct bm_summary *s, const struct bm_contents *in)
{
    const struct bm_object *set = s->object;
    const struct bm_particle_summary *c = s->own;
    uint32_t row = 0;

    if (!in->has(in->list, set->variables[0]->id))
        return 0;
    for (int j = 1; j < set->count; j++) {
        const struct bouma_variable *v = set->variables[j];

        if (!in->has(in->list, v->id))
            continue;
        for (int k = 0; k < v->components; k++, row++)
            if (row >= c->rows || c->types[row] != v->type)
                return 0;
    }
    return row == c->rows;
}

/* What is told of the values of one component, beside the ranges of their
 * chunks: these know infinities, and the bounds no strays. */
static int fits_range(const struct bm_contents *in,
                      const struct bouma_variable *v, int component,
                      union bm_scalar low, union bm_scalar high)
{
    struct bm_range all = in->range(in->list, v->id, component);

    if (bm_type_is_float(v->type) && (isinf(all.low.f) || isinf(all.high.f)))
        return 1;
    return !all.count ||
           (same(v->type, all.low, low) && same(v->type, all.high, high));
}

static const char *contradicts(const struct bm_summary *s,
                               const struct bm_contents *in)
{
    const struct bm_object *set = s->object;
    const struct bm_particle_summary *c = s->own;
    uint32_t row = 0;

    for (int d = 0; d < set->ndims && !c->strays; d++)
        if (!fits_range(in, set->variables[0], d,
                        (union bm_scalar){.f = c->low[d]},
                        (union bm_scalar){.f = c->high[d]}))
            return "the bounds of the particles";
    for (int j = 1; j < set->count; j++) {
        const struct bouma_variable *v = set->variables[j];
        int there = in->has(in->list, v->id);

        for (int k = 0; k < v->components && there; k++, row++)
            if (!fits_range(in, v, k, c->bins[row].low, c->bins[row].high))
                return "the range of values of the particles";
    }
    return NULL;
}

static struct bm_index index_of(const struct bm_summary *s)
{
    const struct bm_particle_summary *c = s->own;

    return (struct bm_index){c->tree_bytes, c->tree_hash};
}

static int check_index(const struct bm_summary *s, const uint8_t *data,
                       size_t bytes, struct bm_codec_state *codec)
{
    struct bm_tree tree;
    int rc;

    bm_tree_init(&tree, s->object->a);
    rc = bm_particle_summary_decode_tree(&tree, s->own, data, bytes, codec);
    bm_tree_release(&tree);
    return rc;
}

static void total(struct bm_object *o, const struct bm_summary *s)
{
    o->particles += bm_particle_summary_of(s)->count; /* each below 2^32 */
    o->strays += bm_particle_summary_of(s)->strays;
}

const struct bm_summary_functions bm_particle_summary_functions = {
    .init = init,
    .release = release,
    .copy = copy,
    .encode = encode,
    .decode = decode,
    .sum = sum,
    .decode_sum = decode_sum,
    .fits = fits,
    .contradicts = contradicts,
    .index = index_of,
    .check_index = check_index,
    .index_name = "the tree over the particles",
    .total = total,
};

/* ---- chunks ------------------------------------------------------------- */

uint64_t bm_particle_summary_chunks(const struct bm_object *set, uint64_t slots)
{
    return (slots + bm_bat_of(set)->detail.chunk - 1) /
           bm_bat_of(set)->detail.chunk;
}

uint32_t bm_particle_summary_chunk_slots(const struct bm_object *set,
                                         uint64_t slots, uint64_t chunk)
{
    uint64_t left = slots - chunk * bm_bat_of(set)->detail.chunk;

    return left < bm_bat_of(set)->detail.chunk ? (uint32_t)left
                                               : bm_bat_of(set)->detail.chunk;
}

uint64_t bm_particle_summary_values(const struct bm_object *set, uint64_t slots,
                                    uint64_t seed, uint64_t chunk,
                                    uint64_t values[BM_MAX_LEVELS])
{
    uint32_t here = bm_particle_summary_chunk_slots(set, slots, chunk);
    uint32_t shift = bm_detail_shift(&bm_bat_of(set)->detail, seed, chunk);

    bm_detail_counts(&bm_bat_of(set)->detail, shift, here, values);
    return here;
}

/* ---- values ------------------------------------------------------------- */

static struct bm_list list_of(const struct bouma_variable *v, size_t count)
{
    return (struct bm_list){v->type, count, v->components, v->bound, v->effort};
}

int bm_values_encode(struct bm_codec_state *state, struct bm_buffer *out,
                     const struct bouma_variable *v, const void *values,
                     size_t count)
{
    const struct bm_codec *codec = bm_codec_find((int)v->codec);
    struct bm_list list = list_of(v, count);
    struct bm_samples in = {(void *)values, count * (size_t)v->components,
                            bm_variable_value_size(v)};
    size_t room, stored = 0;
    uint8_t *to;
    int rc;

    if (codec->encode_list)
        return codec->encode_list(state, out, values, &list);
    room = codec->bound(in.count * in.size);
    to = bm_buffer_extend(out, room);
    if (!to)
        return BOUMA_ENOMEM;
    rc = codec->encode(state, to, &stored, &in, v->effort);
    out->size -= room - stored;
    return rc;
}

int bm_values_decode(struct bm_codec_state *state, void *values,
                     const struct bouma_variable *v, size_t count,
                     const uint8_t *in, size_t stored)
{
    const struct bm_codec *codec = bm_codec_find((int)v->codec);
    struct bm_list list = list_of(v, count);
    struct bm_samples out = {values, count * (size_t)v->components,
                             bm_variable_value_size(v)};

    return codec->decode_list
               ? codec->decode_list(state, values, &list, in, stored)
               : codec->decode(state, &out, in, stored);
}
