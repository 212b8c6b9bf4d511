/* wavelet.c -- see wavelet.h. */
#include "codec/wavelet.h"

#include "codec/clones.h"

struct kernels {
    void (*lift)(void *x, const void *a, const void *b, int64_t n, double wa,
                 double wb);
    void (*split_row)(void *low, void *high, const void *row, int64_t n);
    void (*merge_row)(void *row, const void *low, const void *high, int64_t n);
};

#define REAL    float
#define NAME(x) x##_f32
#include "codec/wavelet_rows.h"
#undef REAL
#undef NAME
#define REAL    double
#define NAME(x) x##_f64
#include "codec/wavelet_rows.h"
#undef REAL
#undef NAME

/* A line of n things (rows, planes), 'pitch' bytes apart, of 'm' values. */
struct line {
    uint8_t *at;
    int64_t n, m;
    size_t pitch;
};

static void *thing(const struct line *l, int64_t i)
{
    return l->at + (size_t)i * l->pitch;
}

/* Take the prediction of thing i, which is odd, from it, or add it. */
static void predict(const struct kernels *k, const struct line *l, int64_t i,
                    double sign)
{
    if (i + 1 < l->n)
        k->lift(thing(l, i), thing(l, i - 1), thing(l, i + 1), l->m, sign * 0.5,
                sign * 0.5);
    else if (i >= 3)
        k->lift(thing(l, i), thing(l, i - 1), thing(l, i - 3), l->m, sign * 1.5,
                sign * -0.5);
    else
        k->lift(thing(l, i), thing(l, i - 1), thing(l, i - 1), l->m, sign, 0);
}

/* Add to thing i, which is even, a quarter of the details beside it, or take it
 * away. */
static void update(const struct kernels *k, const struct line *l, int64_t i,
                   double sign)
{
    int64_t left = i > 0 ? i - 1 : i + 1, right = i + 1 < l->n ? i + 1 : i - 1;

    if (l->n > 1)
        k->lift(thing(l, i), thing(l, left), thing(l, right), l->m,
                i > 0 ? sign * 0.25 : 0, i + 1 < l->n ? sign * 0.25 : 0);
}

/* Each even thing as soon as the details beside it are there, and no other
 * needs it. */
static void forward_line(const struct kernels *k, const struct line *l)
{
    if (!(l->n & 1))
        predict(k, l, l->n - 1, -1);
    for (int64_t i = 1; i < l->n; i += 2) {
        if (i + 1 < l->n)
            predict(k, l, i, -1);
        update(k, l, i - 1, 1);
    }
    if (l->n & 1)
        update(k, l, l->n - 1, 1);
}

/* Each odd thing as soon as the even ones beside it are there. */
static void inverse_line(const struct kernels *k, const struct line *l)
{
    for (int64_t i = 0; i < l->n; i += 2) {
        update(k, l, i, -1);
        if (i >= 2)
            predict(k, l, i - 1, 1);
    }
    if (!(l->n & 1))
        predict(k, l, l->n - 1, 1);
}

/* All lines along axis 0, or along axis 1. */
static void along_planes(const struct kernels *k, const struct bm_octants *o,
                         size_t size, uint8_t *dense,
                         void (*go)(const struct kernels *,
                                    const struct line *))
{
    size_t row = (size_t)o->n[2] * size, plane = (size_t)o->n[1] * row;

    /* A row of every plane, so that the lines stay in the fastest cache. */
    for (int64_t y = 0; y < o->n[1] && o->n[0] > 1; y++) {
        struct line l = {dense + (size_t)y * row, o->n[0], o->n[2], plane};

        go(k, &l);
    }
}

static void along_rows(const struct kernels *k, const struct bm_octants *o,
                       size_t size, uint8_t *plane,
                       void (*go)(const struct kernels *, const struct line *))
{
    struct line l = {plane, o->n[1], o->n[2], (size_t)o->n[2] * size};

    if (o->n[1] > 1)
        go(k, &l);
}

static const struct kernels *kernels_of(bouma_type type)
{
    return type == BOUMA_TYPE_F32 ? &kernels_f32 : &kernels_f64;
}

/* Index of the first sample of the row (z, y) in octant p. */
static size_t row_at(const struct bm_octants *o, int p, int64_t z, int64_t y)
{
    return (size_t)((z / 2 * o->count[p][1] + y / 2) * o->count[p][2]);
}

void bm_wavelet_forward(bouma_type type, const struct bm_octants *o,
                        void *sorted, void *dense)
{
    const struct kernels *k = kernels_of(type);
    size_t size = bouma_type_size(type);
    uint8_t *in = dense, *out = sorted;

    along_planes(k, o, size, in, forward_line);
    for (int64_t z = 0; z < o->n[0]; z++) {
        along_rows(k, o, size, in, forward_line);
        for (int64_t y = 0; y < o->n[1]; y++) {
            int p = (int)(z & 1) << 2 | (int)(y & 1) << 1;

            k->split_row(out + (o->at[p] + row_at(o, p, z, y)) * size,
                         out + (o->at[p | 1] + row_at(o, p | 1, z, y)) * size,
                         in, o->n[2]);
            in += (size_t)o->n[2] * size;
        }
    }
}

void bm_wavelet_inverse(bouma_type type, const struct bm_octants *o,
                        void *dense, const void *sorted, const void *coarse)
{
    const struct kernels *k = kernels_of(type);
    size_t size = bouma_type_size(type);
    const uint8_t *in = sorted;
    uint8_t *out = dense;

    for (int64_t z = 0; z < o->n[0]; z++) {
        uint8_t *plane = out;

        for (int64_t y = 0; y < o->n[1]; y++) {
            int p = (int)(z & 1) << 2 | (int)(y & 1) << 1;
            const uint8_t *low = p ? in + o->at[p] * size : coarse;

            k->merge_row(out, low + row_at(o, p, z, y) * size,
                         in + (o->at[p | 1] + row_at(o, p | 1, z, y)) * size,
                         o->n[2]);
            out += (size_t)o->n[2] * size;
        }
        along_rows(k, o, size, plane, inverse_line);
    }
    along_planes(k, o, size, dense, inverse_line);
}
