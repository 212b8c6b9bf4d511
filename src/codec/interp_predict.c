/* interp_predict.c -- see interp.h: all that encoder and decoder must do alike,
 * to the last bit. */
#include "codec/interp.h"

#include "codec/clones.h"

#define REAL    float
#define NAME(x) x##_f32
#define ABS     __builtin_fabsf
#define SIGN    __builtin_copysignf
#include "codec/interp_rows.h"
#undef REAL
#undef NAME
#undef ABS
#undef SIGN
#define REAL    double
#define NAME(x) x##_f64
#define ABS     __builtin_fabs
#define SIGN    __builtin_copysign
#include "codec/interp_rows.h"
#undef REAL
#undef NAME
#undef ABS
#undef SIGN

void bm_interp_passes_of(struct bm_passes *p, const int64_t n[3], int coarsest)
{
    int64_t left[3] = {n[0], n[1], n[2]};

    for (p->count = 0; left[0] > 1 || left[1] > 1 || left[2] > 1; p->count++) {
        bm_octants_init(&p->octants[p->count], left);
        for (int d = 0; d < 3; d++)
            left[d] = (left[d] + 1) / 2;
    }
    p->coarsest = coarsest;
    p->root = coarsest < p->count ? coarsest : p->count;
}

void bm_interp_passes(struct bm_passes *p, const struct bm_field *f)
{
    int k = 0;

    while (k + 1 < f->levels && bm_lattice_samples(&f->lattice[k + 1]))
        k++;
    bm_interp_passes_of(p, f->lattice[0].count, k);
}

size_t bm_interp_samples(const struct bm_passes *p, int j)
{
    const int64_t *n = p->octants[j].n;

    return j < p->count ? (size_t)(n[0] * n[1] * n[2]) : 1;
}

/* Samples that the piece of level k holds. */
size_t bm_interp_piece_samples(const struct bm_passes *p, int k)
{
    return k < p->root ? bm_interp_samples(p, k) - bm_interp_samples(p, k + 1)
                       : bm_interp_samples(p, k);
}

/* The bound, and a step a little below twice of it, so that rounding to the
 * sample's type rarely counts. */
struct bm_quantum bm_interp_quantum(const struct bm_field *f, int finer)
{
    static const double quarters[4] = {
        1, 0x1.ae89f995ad3adp-1, 0x1.6a09e667f3bcdp-1, 0x1.306fe0a31b715p-1};
    double bound = f->bound * quarters[finer % 4] / (double)(1 << finer / 4);
    struct bm_quantum q;

    if (f->type == BOUMA_TYPE_F32) {
        q.bound = (double)(float)(bound * (1 - 0x1p-22));
        q.step = (double)(float)(q.bound * (2 - 0x1p-9));
        q.inverse = (double)(float)(1 / q.step);
    } else {
        q.bound = bound * (1 - 0x1p-51);
        q.step = q.bound * (2 - 0x1p-9);
        q.inverse = 1 / q.step;
    }
    return q;
}

/* Whether numbers as small can be trusted. */
int bm_interp_can_quantise(const struct bm_field *f, const struct bm_quantum *q)
{
    double smallest = f->type == BOUMA_TYPE_F32 ? 0x1p-100 : 0x1p-900;

    return q->bound > smallest && q->bound < 1 / smallest;
}

/* ---- prediction --------------------------------------------------------- */

static const uint8_t *octant_data(const struct bm_lookup *l, int p)
{
    return p ? l->sorted + l->octants->at[p] * l->size : l->coarse;
}

/* Which four samples, and which weights. */
struct taps {
    int64_t at[4];
    int place;
};

/* There are 'evens' even samples. */
static inline struct taps taps_at(int64_t j, int64_t evens)
{
    int left = j >= 1, right = j + 2 < evens;
    int64_t from = j - 1;
    struct taps t;

    if (j + 1 >= evens) { /* no right neighbour: at[2] is the left one */
        from = j - 2;
        t.place = j >= 2   ? PLACE_BEYOND_2
                  : j >= 1 ? PLACE_BEYOND_1
                           : PLACE_CONSTANT;
    } else {
        t.place = left && right ? PLACE_MIDDLE
                  : right       ? PLACE_FIRST
                  : left        ? PLACE_LAST
                                : PLACE_FEW;
    }
    for (int i = 0; i < 4; i++) {
        int64_t at = from + i;

        t.at[i] = at < 0 ? 0 : at >= evens ? evens - 1 : at;
    }
    return t;
}

/* A part of a batch: samples that lack the same right neighbours; all columns,
 * or the last one. */
struct part {
    const struct bm_batch *batch;
    int64_t first, rows; /* of the batch */
    int64_t column, n;
    int missing; /* right neighbours, axes as bits */
};

/* What one axis has of a prediction. */
struct share {
    const double (*weight)[4];
    int more; /* add to what other axes gave */
};

/* Row (z, y) of an octant, from sample x on. */
static const uint8_t *row_of(const struct bm_lookup *l, int p, int64_t z,
                             int64_t y, int64_t x)
{
    const int64_t *count = l->octants->count[p];

    return octant_data(l, p) +
           ((z * count[1] + y) * count[2] + x) * (int64_t)l->size;
}

/* Rows without gaps are one row; 'short_of' so many samples at its end. */
static struct bm_strip strip_of(int64_t rows, int64_t n, int64_t in,
                                int64_t out, int64_t short_of)
{
    if (n == in && n == out)
        return (struct bm_strip){1, rows * n - short_of, in, out};
    return (struct bm_strip){rows, n, in, out};
}

/* Axis 2: along the rows themselves. Where rows lie as those of the octant that
 * they are predicted from, they are taken for one row, which is wrong at their
 * ends; these are done again. */
static void predict_along(const struct bm_lookup *l, uint8_t *to,
                          const struct part *part, struct share share)
{
    const struct bm_batch *b = part->batch;
    int from = b->p ^ 1;
    int64_t size = (int64_t)l->size, evens = l->octants->count[from][2];
    int64_t pitch = l->octants->count[b->p][2], end = part->column + part->n;
    const uint8_t *data = row_of(l, from, b->z, b->y + part->first, 0);
    int whole = part->n == pitch && evens > 3;

    for (int64_t j = whole ? 1 : part->column; j < end; j++) {
        struct taps t = taps_at(j, evens);
        struct bm_strip strip = {part->rows, 1, evens, pitch};
        const void *rows[4];

        for (int i = 0; i < 4; i++)
            rows[i] = data + t.at[i] * size;
        if (whole && j == 1) {
            strip.n = evens - 3;
            if (evens == pitch)
                strip = (struct bm_strip){1, part->rows * pitch - 3, 0, 0};
        }
        l->kernels->blend(to + j * size, rows, share.weight[t.place], &strip,
                          share.more);
        if (whole && j == 1)
            j += evens - 4;
    }
    if (whole) { /* the first column */
        struct bm_strip strip = {part->rows, 1, evens, pitch};
        struct taps t = taps_at(0, evens);
        const void *rows[4];

        for (int i = 0; i < 4; i++)
            rows[i] = data + t.at[i] * size;
        l->kernels->blend(to, rows, share.weight[t.place], &strip, share.more);
    }
}

/* Axis 0 or 1: across rows, of which many at once are predicted alike. */
static void predict_across(const struct bm_lookup *l, uint8_t *to,
                           const struct part *part, int axis,
                           struct share share)
{
    const struct bm_batch *b = part->batch;
    int from = b->p ^ (4 >> axis);
    const int64_t *count = l->octants->count[from];
    int64_t size = (int64_t)l->size, pitch = count[2];
    int64_t step = (axis ? pitch : count[1] * pitch) * size;
    int64_t y = b->y + part->first, end = y + part->rows, next;

    for (int64_t first = y; y < end; y = next) {
        const uint8_t *data =
            row_of(l, from, axis ? b->z : 0, axis ? 0 : y, part->column);
        struct taps t = taps_at(axis ? y : b->z, count[axis]);
        struct bm_strip strip;
        const void *rows[4];

        next = end;
        if (axis)
            next = t.place != PLACE_MIDDLE ? y + 1
                   : end < count[1] - 2    ? end
                                           : count[1] - 2;
        for (int i = 0; i < 4; i++)
            rows[i] = data + t.at[i] * step;
        strip = strip_of(next - y, part->n, pitch, pitch, 0);
        l->kernels->blend(to + ((y - first) * pitch + part->column) * size,
                          rows, share.weight[t.place], &strip, share.more);
    }
}

/* Add 'share' of the mean of four samples of octant 'from', at the left and
 * right along two axes, all but 'without', and 'deep' planes further. */
static void add_mean(const struct bm_lookup *l, uint8_t *to,
                     const struct part *part, int from, int without, int deep,
                     double share)
{
    const double weight[4] = {share / 4, share / 4, share / 4, share / 4};
    const struct bm_batch *b = part->batch;
    int first = without == 0 ? 1 : 0, second = without == 2 ? 1 : 2;
    int64_t pitch = l->octants->count[b->p][2];
    struct bm_strip strip = strip_of(
        part->rows, part->n, l->octants->count[from][2], pitch, second == 2);
    const void *rows[4];

    for (int i = 0; i < 4; i++) {
        int64_t at[3] = {b->z + deep, b->y + part->first, part->column};

        at[first] += i >> 1;
        at[second] += i & 1;
        rows[i] = row_of(l, from, at[0], at[1], at[2]);
    }
    l->kernels->blend(to + part->column * (int64_t)l->size, rows, weight,
                      &strip, 1);
}

/* The rows of a part begin at 'to'. */
static void predict_part(const struct bm_lookup *l, uint8_t *to,
                         const struct bm_shares *shares,
                         const struct part *part)
{
    int weights = shares->fitted ? part->missing : 0, more = 0;
    int p = part->batch->p;

    if (!shares->axes[weights])
        for (int64_t r = 0; r < part->rows; r++)
            memset(to + (r * l->octants->count[p][2] + part->column) *
                            (int64_t)l->size,
                   0, (size_t)part->n * l->size);
    for (int axis = 2; axis >= 0; axis--) {
        struct share share = {shares->weight[weights][axis], more};

        if (!(shares->axes[weights] & (4 >> axis)))
            continue;
        if (axis == 2)
            predict_along(l, to, part, share);
        else
            predict_across(l, to, part, axis, share);
        more = 1;
    }
    for (int i = 2; i >= 0; i--)
        if (shares->diagonal[i] != 0 && !(part->missing & ~(4 >> i)))
            add_mean(l, to, part, p & (4 >> i), i, 0, shares->diagonal[i]);
    if (shares->corner != 0 && !part->missing) /* eight, four after four */
        for (int i = 0; i < 2; i++)
            add_mean(l, to, part, 0, 0, i, shares->corner / 2);
}

/* If weights are fitted, the last column has others where it lacks right
 * neighbours. */
static void predict_rows(const struct bm_lookup *l, uint8_t *to,
                         const struct bm_shares *shares,
                         const struct part *part, int last_column)
{
    struct part column = *part;

    predict_part(l, to, shares, part);
    if (!shares->fitted || !last_column)
        return;
    column.column = part->n - 1;
    column.n = 1;
    column.missing |= 1;
    predict_part(l, to, shares, &column);
}

struct bm_batch bm_interp_batch(const struct bm_octants *o, int p, int64_t z,
                                int64_t y, int64_t end)
{
    int64_t n = o->count[p][2], rows = n < BATCH ? BATCH / n : 1;

    return (struct bm_batch){p, z, y, rows < end - y ? rows : end - y};
}

void bm_interp_predict(const struct bm_lookup *l, uint8_t *to,
                       const struct bm_batch *b, const struct bm_shares *shares)
{
    const struct bm_octants *o = l->octants;
    const int64_t *count = o->count[b->p];
    int64_t n = count[2];
    int last_row = b->p & 2 && b->y + b->rows >= o->count[b->p ^ 2][1];
    int last_column = b->p > 1 && b->p & 1 && n >= o->count[b->p ^ 1][2];
    int64_t inner = b->rows - (shares->fitted && last_row);
    struct part part = {b, 0, inner, 0, n, 0};

    if (b->p & 4 && b->z + 1 >= o->count[b->p ^ 4][0])
        part.missing |= 4;
    if (inner)
        predict_rows(l, to, shares, &part, last_column);
    if (inner < b->rows) {
        part.first = inner;
        part.rows = 1;
        part.missing |= 2;
        predict_rows(l, to + inner * n * (int64_t)l->size, shares, &part,
                     last_column);
    }
    if (shares->bend[0] != 0 || shares->bend[1] != 0) {
        const void *bends[2] = {l->bends[0],
                                l->bends[bm_interp_other_axes(o, b->p) - 1]};

        l->kernels->add_bends(to, bends, shares->bend, b->rows * n);
    }
}

void bm_interp_terms(const struct bm_lookup *l, uint8_t *const to[2], int p,
                     int axis, int64_t z, int64_t y)
{
    const struct bm_octants *o = l->octants;
    int from = p ^ (4 >> axis);
    const int64_t *count = o->count[from];
    int64_t n = o->count[p][2], size = (int64_t)l->size, length;
    int64_t step[3] = {count[1] * count[2] * size, count[2] * size, size};
    int64_t at[3] = {z, y, 0};
    const uint8_t *data = octant_data(l, from);

    for (int d = 0; d < 2; d++)
        data += d == axis ? 0 : at[d] * step[d];
    for (int64_t j = 0; j < n; j += length) {
        struct taps t = taps_at(axis == 2 ? j : at[axis], count[axis]);
        const double *const weight[2] = {bm_cubic_weights[t.place],
                                         bm_line_weights[t.place]};
        void *const out[2] = {to[0] + j * size, to[1] + j * size};
        const void *rows[4];

        length = axis < 2 ? n : j == 1 && count[2] > 3 ? count[2] - 3 : 1;
        for (int i = 0; i < 4; i++)
            rows[i] = data + t.at[i] * step[axis];
        l->kernels->blend_both(out, rows, weight, length);
    }
}

/* One column, or all. */
static void bend_columns(const struct bm_lookup *l, uint8_t *bend,
                         const uint8_t *left, const uint8_t *right,
                         int64_t step, const struct bm_strip *strip)
{
    const void *rows[6] = {left - step,  left,  left + step,
                           right - step, right, right + step};

    l->kernels->bend(bend, rows, strip);
}

/* Along 'axis', the one along which the octant is odd being another: 0 where
 * there are no samples on both sides. */
static void bend_beside(uint8_t *bend, const struct bm_lookup *l,
                        const struct bm_batch *b, int axis)
{
    const int64_t *count = l->octants->count[0];
    int64_t n = l->octants->count[b->p][2], size = (int64_t)l->size;
    int64_t step[3] = {count[1] * count[2] * size, count[2] * size, size};
    int odd = b->p == 4 ? 0 : b->p == 2 ? 1 : 2;
    int64_t end = b->y + b->rows, next;

    for (int64_t y = b->y; y < end; y = next) {
        int64_t at[3] = {b->z, y, 0};
        const uint8_t *left = l->coarse + b->z * step[0] + y * step[1];
        int ends = at[odd] + 1 >= count[odd];
        const uint8_t *right = ends && odd < 2 ? left : left + step[odd];
        uint8_t *to = bend + (y - b->y) * n * size;
        int edge = axis < 2 && (at[axis] == 0 || at[axis] + 1 >= count[axis]);
        struct bm_strip strip, column;

        /* As many rows as are alike. */
        next = end;
        if (axis == 1)
            next = edge || end < count[1] ? (edge ? y + 1 : end) : count[1] - 1;
        if (odd == 1 && next >= count[1])
            next = ends ? end : count[1] - 1;
        strip = strip_of(next - y, n, count[2], n, odd == 2 || axis == 2);
        column = (struct bm_strip){next - y, 1, count[2], n};
        if (edge) {
            memset(to, 0, (size_t)((next - y) * n * size));
        } else if (axis == 2) {
            if (strip.rows * strip.n > 1) { /* but for the first and last */
                strip.n--;
                bend_columns(l, to + size, left + size, right + size, size,
                             &strip);
            }
            for (int64_t r = 0; r < next - y; r++) {
                memset(to + r * n * size, 0, (size_t)size);
                memset(to + (r * n + n - 1) * size, 0, (size_t)size);
            }
        } else {
            if (strip.n > 0)
                bend_columns(l, to, left, right, step[axis], &strip);
            if (odd == 2 && n >= count[2]) /* no right neighbour */
                bend_columns(l, to + (n - 1) * size, left + (n - 1) * size,
                             left + (n - 1) * size, step[axis], &column);
        }
    }
}

int bm_interp_bend(const struct bm_lookup *l, const struct bm_batch *b)
{
    int others = 0;

    for (int axis = 0; axis < 3; axis++)
        if (!(b->p & (4 >> axis)) && l->octants->n[axis] > 1)
            bend_beside(l->bends[others++], l, b, axis);
    return others;
}

/* ---- memory ------------------------------------------------------------- */

void bm_interp_lay_out(struct bm_carver *c, struct bm_interp_space *s,
                       struct bm_interp_piece *w, const struct bm_passes *p,
                       int first, size_t size)
{
    size_t n = bm_interp_samples(p, first);
    size_t coarse = first < p->count ? bm_interp_samples(p, first + 1) : 1;
    size_t row = first < p->count ? (size_t)p->octants[first].n[2] : 1;
    size_t batch = row > BATCH ? row : BATCH < n ? BATCH : n;

    s->sorted = bm_carve(c, n * size);
    s->dense[0] = bm_carve(c, coarse * size);
    s->dense[1] = bm_carve(c, coarse * size);
    s->cleaned = bm_carve(c, coarse * size);
    w->symbols = bm_carve(c, n + n / LONG_ROW + 1);
    w->context = bm_carve(c, n + n / LONG_ROW + 1);
    w->batch = bm_carve(c, batch);
    w->contexts.magnitudes = bm_carve(c, n + 64);
    w->contexts.along_row = bm_carve(c, batch * size);
    for (int i = 0; i < 2; i++)
        w->bends[i] = bm_carve(c, batch * size);
    w->contexts.beside = bm_carve(c, batch * sizeof(uint16_t));
    w->contexts.before = bm_carve(c, batch * sizeof(uint16_t));
    w->contexts.expected = bm_carve(c, batch * sizeof(uint16_t));
    w->row = bm_carve(c, batch * size);
    w->codes = bm_carve(c, batch * sizeof(int32_t));
}

void bm_interp_piece_init(struct bm_interp_piece *w, const struct bm_field *f,
                          const bouma_allocator *a)
{
    memset(w, 0, offsetof(struct bm_interp_piece, contexts));
    w->field = f;
    w->kernels = f->type == BOUMA_TYPE_F32 ? &bm_interp_f32 : &bm_interp_f64;
    w->quantum = bm_interp_quantum(f, 0);
    bm_buffer_init(&w->choices, a);
    bm_buffer_init(&w->exact, a);
    bm_buffer_init(&w->where, a);
    bm_buffer_init(&w->coded, a);
}

void bm_interp_piece_release(struct bm_interp_piece *w)
{
    bm_buffer_release(&w->choices);
    bm_buffer_release(&w->exact);
    bm_buffer_release(&w->where);
    bm_buffer_release(&w->coded);
}

/* Put the samples that are kept as they are where they belong: until now, what
 * others are predicted from was there. */
void bm_interp_restore(uint8_t *sorted, const struct bm_buffer *where,
                       const uint8_t *exact, size_t size)
{
    struct bm_cursor c = bm_cursor_of(where->data, where->size);

    for (size_t i = 0; i < where->size / 4; i++)
        memcpy(sorted + bm_get_u32(&c) * size, exact + i * size, size);
}
