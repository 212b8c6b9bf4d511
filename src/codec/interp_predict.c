/* interp_predict.c -- see interp.h: all that encoder and decoder must do alike,
 * to the last bit. */
#include "codec/interp.h"

#include <math.h>
#include <string.h>

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

void bm_interp_passes(struct bm_passes *p, const struct bm_field *f)
{
    int64_t n[3];
    int k = 0;

    for (int d = 0; d < 3; d++)
        n[d] = f->lattice[0].count[d];
    for (p->count = 0; n[0] > 1 || n[1] > 1 || n[2] > 1; p->count++) {
        bm_octants_init(&p->octants[p->count], n);
        for (int d = 0; d < 3; d++)
            n[d] = (n[d] + 1) / 2;
    }
    while (k + 1 < f->levels && bm_lattice_samples(&f->lattice[k + 1]))
        k++;
    p->coarsest = k;
    p->root = k < p->count ? k : p->count;
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
struct bm_quantum bm_interp_quantum(const struct bm_field *f)
{
    struct bm_quantum q;

    if (f->type == BOUMA_TYPE_F32) {
        q.bound = (double)(float)(f->bound * (1 - 0x1p-22));
        q.step = (double)(float)(q.bound * (2 - 0x1p-9));
        q.inverse = (double)(float)(1 / q.step);
    } else {
        q.bound = f->bound * (1 - 0x1p-51);
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

/* Sample 2j + 1 of a line from its even samples: which four, and by what
 * weights. There are 'evens' of them. */
struct taps {
    int64_t at[4];
    const double *weight;
};

/* Weights of four samples, as many times smaller as there are axes. */
#define SHARES(a, b, c, d)                                                     \
    {                                                                          \
        {a / 1., b / 1., c / 1., d / 1.}, {a / 2., b / 2., c / 2., d / 2.},    \
        {                                                                      \
            a / 3., b / 3., c / 3., d / 3.                                     \
        }                                                                      \
    }
enum { MIDDLE, LINE, FIRST, LAST, BEYOND_2, BEYOND_1, CONSTANT };
static const double weights[7][3][4] = {
    SHARES(-1. / 16, 9. / 16, 9. / 16, -1. / 16),
    SHARES(0, 1. / 2, 1. / 2, 0),
    SHARES(0, 3. / 8, 6. / 8, -1. / 8),
    SHARES(-1. / 8, 6. / 8, 3. / 8, 0),
    SHARES(3. / 8, -10. / 8, 15. / 8, 0),
    SHARES(0, -1. / 2, 3. / 2, 0),
    SHARES(0, 0, 1, 0)};

static inline struct taps taps_at(int64_t j, int64_t evens, int linear,
                                  int axes)
{
    int64_t from = j - 1;
    int kind = LINE;
    struct taps t;

    if (j + 1 >= evens) { /* no right neighbour: at[2] is the left one */
        from = j - 2;
        kind = j >= 2 && !linear ? BEYOND_2 : j >= 1 ? BEYOND_1 : CONSTANT;
    } else if (!linear) {
        int left = j >= 1, right = j + 2 < evens;

        kind = left && right ? MIDDLE : right ? FIRST : left ? LAST : LINE;
    }
    for (int i = 0; i < 4; i++) {
        int64_t at = from + i;

        t.at[i] = at < 0 ? 0 : at >= evens ? evens - 1 : at;
    }
    t.weight = weights[kind][axes - 1];
    return t;
}

/* How a row is predicted along one of its axes. */
struct method {
    int linear, axes;
    int more; /* add to what other axes gave */
};

/* The even samples of a line, or rows of them, from which those between are
 * predicted. */
struct evens {
    const uint8_t *data;
    int64_t count, pitch; /* bytes from one to the next */
};

/* Axis 2: along the row itself. */
static void predict_along(const struct bm_lookup *l, uint8_t *row, int64_t n,
                          struct evens evens, struct method m)
{
    int64_t begin = m.linear ? 0 : 1, j = 0;
    int64_t end = evens.count - (m.linear ? 1 : 2);
    int64_t size = (int64_t)l->size;

    while (j < n) {
        struct taps t = taps_at(j, evens.count, m.linear, m.axes);
        int64_t length = j == begin && begin < end ? end - begin : 1;
        const void *rows[4];

        for (int i = 0; i < 4; i++)
            rows[i] = evens.data + t.at[i] * size;
        /* Lines have weight 0 for the outer samples, wherever they are. */
        if (m.linear && length > 1)
            rows[0] = rows[1], rows[3] = rows[2];
        l->kernels->blend(row + j * size, rows, t.weight, length, m.more);
        j += length;
    }
}

/* Axis 0 or 1: across rows; 'row' comes after row j of the even ones. */
static void predict_across(const struct bm_lookup *l, uint8_t *row, int64_t n,
                           int64_t j, struct evens evens, struct method m)
{
    struct taps t = taps_at(j, evens.count, m.linear, m.axes);
    const void *rows[4];

    for (int i = 0; i < 4; i++)
        rows[i] = evens.data + t.at[i] * evens.pitch;
    l->kernels->blend(row, rows, t.weight, n, m.more);
}

/* The predictions for row (z, y) of octant p. */
void bm_interp_predict(const struct bm_lookup *l, uint8_t *row, int p,
                       int choice, int64_t z, int64_t y)
{
    const struct bm_octants *o = l->octants;
    int64_t n = o->count[p][2], size = (int64_t)l->size;
    struct method m = {.linear = (choice & LINEAR) != 0,
                       .axes = (choice & 1) + (choice >> 1 & 1) +
                               (choice >> 2 & 1)};

    for (int axis = 0; axis < 3; axis++) {
        int bit = 4 >> axis, from = p ^ bit;
        const int64_t *count = o->count[from];
        const uint8_t *source = octant_data(l, from);
        int64_t pitch = count[2] * size, plane = count[1] * pitch;

        if (!(choice & bit))
            continue;
        if (axis == 0)
            predict_across(l, row, n, z,
                           (struct evens){source + y * pitch, count[0], plane},
                           m);
        else if (axis == 1)
            predict_across(l, row, n, y,
                           (struct evens){source + z * plane, count[1], pitch},
                           m);
        else
            predict_along(
                l, row, n,
                (struct evens){source + z * plane + y * pitch, count[2], size},
                m);
        m.more = 1;
    }
}

/* ---- tables ------------------------------------------------------------- */

/* Table for each sample of octant p. 'magnitudes' are sorted as samples are,
 * those of octant 0 not being used. */
void bm_interp_tables(uint8_t *restrict table, const struct bm_octants *o,
                      int p, const uint8_t *magnitudes)
{
    /* Sums of four magnitudes (two odd indices) or six, and up to which. */
    static const uint8_t up_to[2][CONTEXT_TABLES - 1] = {{0, 1, 3, 9, 23, 59},
                                                         {0, 2, 5, 14, 35, 89}};
    const uint8_t *limit = up_to[p == 7];
    int64_t n = o->count[p][2];

    if (p == 1 || p == 2 || p == 4) {
        memset(table, p >> 1, o->size[p]); /* 0, 1, 2 */
        return;
    }
    for (int64_t z = 0; z < o->count[p][0]; z++)
        for (int64_t y = 0; y < o->count[p][1]; y++, table += n) {
            int first = 1;

            for (int axis = 0; axis < 3; axis++) {
                int from = p ^ (4 >> axis);
                const int64_t *count = o->count[from];
                int64_t j[3] = {z, y, 0}, step[3] = {0, 0, 0};
                const uint8_t *a, *b;

                if (!(p & (4 >> axis)))
                    continue;
                step[0] = count[1] * count[2];
                step[1] = count[2];
                step[2] = 1;
                a = magnitudes + o->at[from] + z * step[0] + y * step[1];
                /* The last one may have no right neighbour. */
                b = axis == 2 || j[axis] + 1 < count[axis] ? a + step[axis] : a;
                if (axis == 2 && count[2] <= n) {
                    for (int64_t i = 0; i + 1 < n; i++)
                        table[i] =
                            (uint8_t)((first ? 0 : table[i]) + a[i] + b[i]);
                    table[n - 1] =
                        (uint8_t)((first ? 0 : table[n - 1]) + 2 * a[n - 1]);
                } else if (first) {
                    for (int64_t i = 0; i < n; i++)
                        table[i] = (uint8_t)(a[i] + b[i]);
                } else {
                    for (int64_t i = 0; i < n; i++)
                        table[i] = (uint8_t)(table[i] + a[i] + b[i]);
                }
                first = 0;
            }
            for (int64_t i = 0; i < n; i++) {
                uint8_t sum = table[i];

                table[i] = (uint8_t)(OCTANT_TABLES + (sum > limit[0]) +
                                     (sum > limit[1]) + (sum > limit[2]) +
                                     (sum > limit[3]) + (sum > limit[4]) +
                                     (sum > limit[5]));
            }
        }
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
    w->table = bm_carve(c, n);
    w->magnitudes = bm_carve(c, n + 64);
    w->row = bm_carve(c, row * size);
    w->codes = bm_carve(c, row * sizeof(int32_t));
}

void bm_interp_piece_init(struct bm_interp_piece *w, const struct bm_field *f,
                          const bouma_allocator *a)
{
    memset(w, 0, sizeof(*w));
    w->field = f;
    w->kernels = f->type == BOUMA_TYPE_F32 ? &bm_interp_f32 : &bm_interp_f64;
    w->quantum = bm_interp_quantum(f);
    bm_buffer_init(&w->choices, a);
    bm_buffer_init(&w->exact, a);
    bm_buffer_init(&w->bits, a);
    bm_buffer_init(&w->where, a);
}

void bm_interp_piece_release(struct bm_interp_piece *w)
{
    bm_buffer_release(&w->choices);
    bm_buffer_release(&w->exact);
    bm_buffer_release(&w->bits);
    bm_buffer_release(&w->where);
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
