/* pieces_keys.c -- see pieces_keys.h. */
#include "plan/pieces_keys.h"

#include <math.h>
#include <string.h>

/* ---- positions ---------------------------------------------------------- */

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

static void load_axis(struct bm_block *b, const struct bm_positions *p,
                      int axis)
{
    const uint8_t *base = p->axis[axis];
    int64_t stride = p->stride[axis];
    double *at = b->at[axis];

    if (!b->which)
        base += (int64_t)b->first * stride;
    if (b->which && p->type == BOUMA_F32)
        for (size_t i = 0; i < b->count; i++)
            at[i] = load_f32(base + (int64_t)b->which[i] * stride);
    else if (b->which)
        for (size_t i = 0; i < b->count; i++)
            at[i] = load_f64(base + (int64_t)b->which[i] * stride);
    else if (p->type == BOUMA_F32 && stride == sizeof(float))
        for (size_t i = 0; i < b->count; i++)
            at[i] = load_f32(base + i * sizeof(float));
    else if (p->type == BOUMA_F32)
        for (size_t i = 0; i < b->count; i++)
            at[i] = load_f32(base + (int64_t)i * stride);
    else
        for (size_t i = 0; i < b->count; i++)
            at[i] = load_f64(base + (int64_t)i * stride);
}

void bm_block_load(struct bm_block *b, const struct bm_positions *p,
                   const uint32_t *which, size_t from, size_t end)
{
    b->count = end - from < BM_BLOCK ? end - from : BM_BLOCK;
    b->which = which ? which + from : NULL;
    b->first = from;
    for (int d = 0; d < p->ndims; d++)
        load_axis(b, p, d);
}

int bm_block_finite(const struct bm_block *b, int ndims)
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
    struct bm_block b;
    uint64_t bad = 0;

    memset(b.at, 0, sizeof(b.at));
    for (int d = 0; d < 3; d++) {
        low[d] = d < p->ndims ? INFINITY : 0;
        high[d] = d < p->ndims ? -INFINITY : 0;
    }
    for (size_t from = 0; from < p->count; from += BM_BLOCK) {
        bm_block_load(&b, p, NULL, from, p->count);
        if (!bm_block_finite(&b, p->ndims)) {
            size_t kept = 0;

            for (size_t i = 0; i < b.count; i++)
                if (bm_block_finite_at(&b, i)) {
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

/* ---- keys --------------------------------------------------------------- */

void bm_grid_scale(struct bm_grid *g, const double low[3], const double high[3])
{
    for (int d = 0; d < g->ndims; d++) {
        double half = 0.5 * high[d] - 0.5 * low[d];

        g->scale[d] = 1;
        if (half > 0x1p1000)
            g->scale[d] = 0.25;
        else if (half < 0x1p-900 && high[d] > low[d])
            g->scale[d] = 0x1p800;
        g->low[d] = low[d] * g->scale[d];
        g->factor[d] =
            high[d] > low[d]
                ? (double)(1 << g->bits) / (high[d] * g->scale[d] - g->low[d])
                : 0;
    }
}

void bm_grid_init(struct bm_grid *g, int ndims, uint64_t count, uint64_t most)
{
    int bits = count >> (BM_TABLE_BITS + 2) ? BM_TABLE_BITS : 3, sum;

    while (bits < BM_TABLE_BITS && count / most >> (bits - 3))
        bits++;
    bits = (bits + ndims - 1) / ndims * ndims;
    g->ndims = ndims;
    g->table_bits[0] =
        bits <= BM_TABLE_BITS ? bits : BM_TABLE_BITS / ndims * ndims;
    g->levels = 1;
    sum = g->table_bits[0];
    for (; g->levels < BM_TABLE_LEVELS && most >= BM_TABLE_PLENTY;
         g->levels++) {
        g->table_bits[g->levels] = 9 / ndims * ndims;
        sum += g->table_bits[g->levels];
    }
    g->bits = sum / ndims;
    for (int l = 0; l < g->levels; l++)
        g->shift[l] = sum -= g->table_bits[l];
}

/* Bits 0, 1, 2, ... to bits 0, 2, 4, ... and to 0, 3, 6, ... */
static uint32_t spread2(uint32_t v) /* 16 bits */
{
    v = (v | v << 8) & 0x00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f;
    v = (v | v << 2) & 0x33333333;
    return (v | v << 1) & 0x55555555;
}

static uint32_t spread3(uint32_t v) /* 10 bits */
{
    v = (v | v << 16) & 0x030000ff;
    v = (v | v << 8) & 0x0300f00f;
    v = (v | v << 4) & 0x030c30c3;
    return (v | v << 2) & 0x09249249;
}

void bm_grid_keys(uint32_t key[BM_BLOCK], const struct bm_grid *g,
                  const struct bm_block *b)
{
    double top = (1 << g->bits) - 1;
    int32_t place[BM_BLOCK];

    memset(key, 0, BM_BLOCK * sizeof(*key));
    for (int d = 0; d < g->ndims; d++) {
        double scale = g->scale[d], low = g->low[d], factor = g->factor[d];
        const double *at = b->at[d];

        for (size_t i = 0; i < b->count; i++) {
            double v = (at[i] * scale - low) * factor;

            v = v < top ? v : top;
            place[i] = (int32_t)(v > 0 ? v : 0);
        }
        if (g->ndims == 3)
            for (size_t i = 0; i < b->count; i++)
                key[i] = key[i] << 1 | spread3((uint32_t)place[i]);
        else if (g->ndims == 2)
            for (size_t i = 0; i < b->count; i++)
                key[i] = key[i] << 1 | spread2((uint32_t)place[i]);
        else
            for (size_t i = 0; i < b->count; i++)
                key[i] = (uint32_t)place[i];
    }
}
