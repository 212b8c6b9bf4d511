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

/* Sample 2j + 1 of a line from four of its even samples: by what weights. */
enum { MIDDLE, FEW, FIRST, LAST, BEYOND_2, BEYOND_1, CONSTANT };
static const double cubic_weights[PLACES][4] = {
    {-1. / 16, 9. / 16, 9. / 16, -1. / 16},
    {0, 1. / 2, 1. / 2, 0},
    {0, 3. / 8, 6. / 8, -1. / 8},
    {-1. / 8, 6. / 8, 3. / 8, 0},
    {3. / 8, -10. / 8, 15. / 8, 0},
    {0, -1. / 2, 3. / 2, 0},
    {0, 0, 1, 0}};
static const double line_weights[PLACES][4] = {{0, 1. / 2, 1. / 2, 0},
                                               {0, 1. / 2, 1. / 2, 0},
                                               {0, 1. / 2, 1. / 2, 0},
                                               {0, 1. / 2, 1. / 2, 0},
                                               {0, -1. / 2, 3. / 2, 0},
                                               {0, -1. / 2, 3. / 2, 0},
                                               {0, 0, 1, 0}};

/* The weights where the axes in 'missing' have no right neighbour. */
static void weigh(struct bm_shares *shares, int missing)
{
    double line[3];

    for (int i = 0; i < 3; i++)
        line[i] = shares->line[i];
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++)
            if (axis != i && (missing & 7 & ~(4 >> i)))
                line[axis] += shares->diagonal[i] / 2;
    for (int axis = 0; axis < 3 && missing; axis++)
        line[axis] += shares->corner / 3;
    shares->axes[missing] = 0;
    for (int axis = 0; axis < 3; axis++)
        if (shares->cubic[axis] != 0 || line[axis] != 0)
            shares->axes[missing] |= 4 >> axis;
    for (int axis = 0; axis < 3; axis++)
        for (int place = 0; place < PLACES; place++)
            for (int i = 0; i < 4; i++)
                shares->weight[missing][axis][place][i] =
                    shares->cubic[axis] * cubic_weights[place][i] +
                    line[axis] * line_weights[place][i];
}

static void shares_clear(struct bm_shares *shares)
{
    shares->fitted = 0;
    for (int i = 0; i < 3; i++)
        shares->cubic[i] = shares->line[i] = shares->diagonal[i] = 0;
    shares->corner = shares->bend[0] = shares->bend[1] = 0;
}

void bm_shares_of_axis(struct bm_shares *shares, int axis, double cubic,
                       double line)
{
    shares_clear(shares);
    shares->cubic[axis] = cubic;
    shares->line[axis] = line;
    weigh(shares, 0);
}

void bm_shares_of_choice(struct bm_shares *shares, int choice)
{
    int axes = (choice & 1) + (choice >> 1 & 1) + (choice >> 2 & 1);

    shares_clear(shares);
    for (int axis = 0; axis < 3; axis++)
        if (choice & (4 >> axis))
            (choice & LINEAR ? shares->line : shares->cubic)[axis] = 1. / axes;
    weigh(shares, 0);
}

static int odd_axes(int p)
{
    return (p & 1) + (p >> 1 & 1) + (p >> 2 & 1);
}

/* Axes along which octant p is even and that have more than one sample. */
static int other_axes(const struct bm_octants *o, int p)
{
    int others = 0;

    for (int axis = 0; axis < 3; axis++)
        others += !(p & (4 >> axis)) && o->n[axis] > 1;
    return others;
}

int bm_interp_weights(const struct bm_octants *o, int p)
{
    static const int weights[4] = {0, 1, 4, 9};

    return weights[odd_axes(p)] +
           (bm_is_odd_along_one(p) ? other_axes(o, p) : 0);
}

/* Weights are, for the axes along which p is odd: those of cubics but for the
 * first axis, less what all have alike; of lines; of diagonals, corners, and
 * bends. The first axis's cubic has what is missing from 1. */
static void share(struct bm_shares *shares, const struct bm_octants *o, int p,
                  const int32_t *weights, int32_t whole)
{
    int32_t rest = whole, w;
    int first = p & 4 ? 0 : p & 2 ? 1 : 2;

    shares_clear(shares);
    shares->fitted = 1;
    for (int axis = first + 1; axis < 3; axis++)
        if (p & (4 >> axis)) {
            w = whole / odd_axes(p) + *weights++;
            shares->cubic[axis] = (double)w / WEIGHT_ONE;
            rest -= w;
        }
    for (int axis = first; axis < 3; axis++)
        if (p & (4 >> axis)) {
            w = *weights++;
            shares->line[axis] = (double)w / WEIGHT_ONE;
            rest -= w;
        }
    for (int i = 2; i >= 0; i--)
        if ((p | 4 >> i) == 7 && odd_axes(p & ~(4 >> i)) == 2) {
            w = *weights++;
            shares->diagonal[i] = (double)w / WEIGHT_ONE;
            rest -= w;
        }
    if (p == 7) {
        w = *weights++;
        shares->corner = (double)w / WEIGHT_ONE;
        rest -= w;
    }
    for (int i = 0; bm_is_odd_along_one(p) && i < other_axes(o, p); i++)
        shares->bend[i] = (double)*weights++ / WEIGHT_ONE;
    shares->cubic[first] = (double)rest / WEIGHT_ONE;
    for (int missing = 0; missing < BM_OCTANTS; missing++)
        if (!(missing & ~p))
            weigh(shares, missing);
}

void bm_shares_of_weights(struct bm_shares *shares, const struct bm_octants *o,
                          int p, const int32_t *weights)
{
    share(shares, o, p, weights, WEIGHT_ONE);
}

void bm_shares_of_change(struct bm_shares *shares, const struct bm_octants *o,
                         int p, const int32_t *weights)
{
    share(shares, o, p, weights, 0);
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
        t.place = j >= 2 ? BEYOND_2 : j >= 1 ? BEYOND_1 : CONSTANT;
    } else {
        t.place = left && right ? MIDDLE : right ? FIRST : left ? LAST : FEW;
    }
    for (int i = 0; i < 4; i++) {
        int64_t at = from + i;

        t.at[i] = at < 0 ? 0 : at >= evens ? evens - 1 : at;
    }
    return t;
}

/* What one axis has of a prediction. */
struct share {
    const double (*weight)[4];
    int more; /* add to what other axes gave */
};

/* A part of a row: samples that lack the same right neighbours. */
struct part {
    int p;        /* octant */
    int64_t z, y; /* row */
    int64_t begin, end;
    int missing; /* right neighbours, axes as bits */
};

/* Row (z, y) of an octant, from sample x on. */
static const uint8_t *row_of(const struct bm_lookup *l, int p, int64_t z,
                             int64_t y, int64_t x)
{
    const int64_t *count = l->octants->count[p];

    return octant_data(l, p) +
           ((z * count[1] + y) * count[2] + x) * (int64_t)l->size;
}

/* Axis 2: along the row itself. */
static void predict_along(const struct bm_lookup *l, uint8_t *row,
                          const struct part *part, struct share share)
{
    int from = part->p ^ 1;
    int64_t size = (int64_t)l->size, evens = l->octants->count[from][2];
    const uint8_t *data = row_of(l, from, part->z, part->y, 0);
    int64_t j = part->begin;

    while (j < part->end) {
        struct taps t = taps_at(j, evens);
        int64_t length = j == 1 && evens > 3 ? evens - 3 : 1;
        const void *rows[4];

        for (int i = 0; i < 4; i++)
            rows[i] = data + t.at[i] * size;
        l->kernels->blend(row + j * size, rows, share.weight[t.place], length,
                          share.more);
        j += length;
    }
}

/* Axis 0 or 1: across rows. */
static void predict_across(const struct bm_lookup *l, uint8_t *row,
                           const struct part *part, int axis,
                           struct share share)
{
    int from = part->p ^ (4 >> axis);
    const int64_t *count = l->octants->count[from];
    int64_t size = (int64_t)l->size, pitch = count[2] * size;
    int64_t plane = count[1] * pitch, step = axis ? pitch : plane;
    const uint8_t *data = octant_data(l, from) + part->begin * size +
                          (axis ? part->z * plane : part->y * pitch);
    struct taps t = taps_at(axis ? part->y : part->z, count[axis]);
    const void *rows[4];

    for (int i = 0; i < 4; i++)
        rows[i] = data + t.at[i] * step;
    l->kernels->blend(row + part->begin * size, rows, share.weight[t.place],
                      part->end - part->begin, share.more);
}

/* Add 'share' of the mean of four samples of octant 'from', at the left and
 * right along two axes: all but 'without'. */
static void add_mean(const struct bm_lookup *l, uint8_t *row,
                     const struct part *part, int from, int without,
                     double share)
{
    const double weight[4] = {share / 4, share / 4, share / 4, share / 4};
    int first = without == 0 ? 1 : 0, second = without == 2 ? 1 : 2;
    const void *rows[4];

    for (int i = 0; i < 4; i++) {
        int64_t at[3] = {part->z, part->y, part->begin};

        at[first] += i >> 1;
        at[second] += i & 1;
        rows[i] = row_of(l, from, at[0], at[1], at[2]);
    }
    l->kernels->blend(row + part->begin * (int64_t)l->size, rows, weight,
                      part->end - part->begin, 1);
}

static void predict_part(const struct bm_lookup *l, uint8_t *row,
                         const struct bm_shares *shares,
                         const struct part *part)
{
    int weights = shares->fitted ? part->missing : 0, more = 0;

    if (!shares->axes[weights])
        memset(row + part->begin * (int64_t)l->size, 0,
               (size_t)(part->end - part->begin) * l->size);
    for (int axis = 0; axis < 3; axis++) {
        struct share share = {shares->weight[weights][axis], more};

        if (!(shares->axes[weights] & (4 >> axis)))
            continue;
        if (axis == 2)
            predict_along(l, row, part, share);
        else
            predict_across(l, row, part, axis, share);
        more = 1;
    }
    for (int i = 2; i >= 0; i--)
        if (shares->diagonal[i] != 0 && !(part->missing & ~(4 >> i)))
            add_mean(l, row, part, part->p & (4 >> i), i, shares->diagonal[i]);
    for (int i = 0; i < 2 && shares->corner != 0 && !part->missing; i++) {
        struct part side = *part; /* the eight, four after four */

        side.z += i;
        add_mean(l, row, &side, 0, 0, shares->corner / 2);
    }
}

/* The predictions for row (z, y) of octant p. */
void bm_interp_predict(const struct bm_lookup *l, uint8_t *row, int p,
                       const struct bm_shares *shares, int64_t z, int64_t y)
{
    const struct bm_octants *o = l->octants;
    int64_t n = o->count[p][2];
    struct part part = {p, z, y, 0, n, 0};

    if (p & 4 && z + 1 >= o->count[p ^ 4][0])
        part.missing |= 4;
    if (p & 2 && y + 1 >= o->count[p ^ 2][1])
        part.missing |= 2;
    if (shares->fitted && p > 1 && p & 1 && n >= o->count[p ^ 1][2]) {
        /* The last sample has other weights. */
        part.end = n - 1;
        if (part.end > 0)
            predict_part(l, row, shares, &part);
        part.begin = part.end;
        part.end = n;
        part.missing |= 1;
    }
    predict_part(l, row, shares, &part);
    if (shares->bend[0] != 0 || shares->bend[1] != 0) {
        const uint8_t *a = l->bends[0], *b = l->bends[other_axes(o, p) - 1];
        const void *rows[4] = {a, a, a, b};
        const double weight[4] = {shares->bend[0], 0, 0, shares->bend[1]};

        l->kernels->blend(row, rows, weight, n, 1);
    }
}

/* Along 'axis', the one along which octant p is odd being another: 0 where
 * there are no samples on both sides. */
static void bend_beside(uint8_t *bend, const struct bm_lookup *l, int p,
                        int axis, int64_t z, int64_t y)
{
    const int64_t *count = l->octants->count[0];
    int64_t n = l->octants->count[p][2], size = (int64_t)l->size;
    int64_t step[3] = {count[1] * count[2] * size, count[2] * size, size};
    int64_t at[3] = {z, y, 0};
    int odd = p == 4 ? 0 : p == 2 ? 1 : 2;
    const uint8_t *left = l->coarse + z * step[0] + y * step[1];
    const uint8_t *right = at[odd] + 1 < count[odd] ? left + step[odd] : left;
    int64_t begin = 0, end = n;

    if (axis == 2) {
        begin = 1;
        end = n - 1;
    } else if (at[axis] == 0 || at[axis] + 1 >= count[axis]) {
        end = 0;
    }
    if (begin || end < n)
        memset(bend, 0, (size_t)(n * size));
    while (begin < end) {
        /* The last sample may have no right neighbour. */
        int last = odd == 2 && begin + 1 >= count[2];
        int64_t part = odd == 2 && !last && end >= count[2] ? end - 1 : end;
        const uint8_t *a = left + begin * size;
        const uint8_t *b = last ? a : right + begin * size;
        const void *rows[6] = {a - step[axis], a, a + step[axis],
                               b - step[axis], b, b + step[axis]};

        l->kernels->bend(bend + begin * size, rows, part - begin);
        begin = part;
    }
}

int bm_interp_bend(const struct bm_lookup *l, int p, int64_t z, int64_t y)
{
    int others = 0;

    for (int axis = 0; axis < 3; axis++)
        if (!(p & (4 >> axis)) && l->octants->n[axis] > 1)
            bend_beside(l->bends[others++], l, p, axis, z, y);
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

    s->sorted = bm_carve(c, n * size);
    s->dense[0] = bm_carve(c, coarse * size);
    s->dense[1] = bm_carve(c, coarse * size);
    s->cleaned = bm_carve(c, coarse * size);
    w->symbols = bm_carve(c, n);
    w->context = bm_carve(c, n);
    w->contexts.magnitudes = bm_carve(c, n + 64);
    w->contexts.along_row = bm_carve(c, row * size);
    for (int i = 0; i < 2; i++)
        w->bends[i] = bm_carve(c, row * size);
    for (int i = 0; i < 2; i++)
        w->contexts.logs[i] = bm_carve(c, row);
    w->contexts.beside = bm_carve(c, row * sizeof(uint16_t));
    w->contexts.before = bm_carve(c, row * sizeof(uint16_t));
    w->row = bm_carve(c, row * size);
    w->codes = bm_carve(c, row * sizeof(int32_t));
}

void bm_interp_piece_init(struct bm_interp_piece *w, const struct bm_field *f,
                          const bouma_allocator *a)
{
    memset(w, 0, sizeof(*w));
    w->field = f;
    w->kernels = f->type == BOUMA_TYPE_F32 ? &bm_interp_f32 : &bm_interp_f64;
    w->quantum = bm_interp_quantum(f, 0);
    bm_buffer_init(&w->choices, a);
    bm_buffer_init(&w->exact, a);
    bm_buffer_init(&w->bits, a);
    bm_buffer_init(&w->where, a);
    bm_buffer_init(&w->coded, a);
}

void bm_interp_piece_release(struct bm_interp_piece *w)
{
    bm_buffer_release(&w->choices);
    bm_buffer_release(&w->exact);
    bm_buffer_release(&w->bits);
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
