/* positions.c -- see positions.h. */
#include "plan/positions.h"

#include <math.h>
#include <string.h>

static double load_f32(const uint8_t *p)
{
    float v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static double load_f64(const uint8_t *p)
{
    double v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static void load_axis(struct bm_position_block *b, const struct bm_positions *p,
                      int axis)
{
    int64_t stride = p->stride[axis];
    const uint8_t *base =
        (const uint8_t *)p->axis[axis] + (int64_t)b->first * stride;
    double *at = b->at[axis];

    if (p->type == BOUMA_TYPE_F32 && stride == sizeof(float))
        for (size_t i = 0; i < b->count; i++)
            at[i] = load_f32(base + i * sizeof(float));
    else if (p->type == BOUMA_TYPE_F32)
        for (size_t i = 0; i < b->count; i++)
            at[i] = load_f32(base + (int64_t)i * stride);
    else
        for (size_t i = 0; i < b->count; i++)
            at[i] = load_f64(base + (int64_t)i * stride);
}

void bm_positions_load(struct bm_position_block *b,
                       const struct bm_positions *p, size_t from)
{
    b->count = p->count - from < BM_POSITION_BLOCK ? p->count - from
                                                   : BM_POSITION_BLOCK;
    b->first = from;
    for (int d = 0; d < p->ndims; d++)
        load_axis(b, p, d);
}

static int all_finite(const struct bm_position_block *b, int ndims)
{
    double sum[4] = {0};

    for (int d = 0; d < ndims; d++) {
        size_t i = 0;

        for (; i + 4 <= b->count; i += 4) /* which makes vectors */
            for (int k = 0; k < 4; k++)
                sum[k] += b->at[d][i + k] - b->at[d][i + k];
        for (; i < b->count; i++)
            sum[0] += b->at[d][i] - b->at[d][i];
    }
    return sum[0] + sum[1] + sum[2] + sum[3] == 0;
}

static void widen(double *low, double *high, const double *at, size_t count)
{
    /* Four at a time, which a compiler makes vectors of. */
    double l[4] = {*low, *low, *low, *low}, h[4] = {*high, *high, *high, *high};
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++) {
            l[k] = at[i + k] < l[k] ? at[i + k] : l[k];
            h[k] = at[i + k] > h[k] ? at[i + k] : h[k];
        }
    for (; i < count; i++) {
        l[0] = at[i] < l[0] ? at[i] : l[0];
        h[0] = at[i] > h[0] ? at[i] : h[0];
    }
    for (int k = 0; k < 4; k++) {
        *low = l[k] < *low ? l[k] : *low;
        *high = h[k] > *high ? h[k] : *high;
    }
}

uint64_t bm_positions_bounds(const struct bm_positions *p, double low[3],
                             double high[3])
{
    struct bm_position_block b;
    uint64_t bad = 0;

    memset(b.at, 0, sizeof(b.at));
    for (int d = 0; d < 3; d++) {
        low[d] = d < p->ndims ? INFINITY : 0;
        high[d] = d < p->ndims ? -INFINITY : 0;
    }
    for (size_t from = 0; from < p->count; from += BM_POSITION_BLOCK) {
        bm_positions_load(&b, p, from);
        if (!all_finite(&b, p->ndims)) {
            size_t kept = 0;

            for (size_t i = 0; i < b.count; i++)
                if (bm_positions_finite_at(&b, i)) {
                    for (int d = 0; d < 3; d++)
                        b.at[d][kept] = b.at[d][i];
                    kept++;
                }
            bad += b.count - kept;
            b.count = kept;
        }
        for (int d = 0; d < p->ndims; d++)
            widen(&low[d], &high[d], b.at[d], b.count);
    }
    return bad;
}
