/* octants.c -- see octants.h. */
#include "codec/octants.h"

#include <string.h>

const uint8_t bm_octant_order[BM_OCTANTS] = {0, 1, 2, 4, 3, 5, 6, 7};

void bm_octants_init(struct bm_octants *o, const int64_t n[3])
{
    size_t at = 0;

    for (int d = 0; d < 3; d++)
        o->n[d] = n[d];
    for (int i = 0; i < BM_OCTANTS; i++) {
        int p = bm_octant_order[i];

        o->size[p] = 1;
        for (int d = 0; d < 3; d++) {
            int odd = p >> (2 - d) & 1;

            o->count[p][d] = odd ? n[d] / 2 : (n[d] + 1) / 2;
            o->size[p] *= (size_t)o->count[p][d];
        }
        o->at[p] = at;
        at += o->size[p];
    }
}

#define ROW_FUNCTIONS(type)                                                    \
    static void split_##type(void *even, void *odd, const void *row,           \
                             int64_t n)                                        \
    {                                                                          \
        type *restrict e = even, *restrict o = odd;                            \
        const type *restrict in = row;                                         \
        int64_t pairs = n / 2;                                                 \
                                                                               \
        for (int64_t i = 0; i < pairs; i++) {                                  \
            e[i] = in[2 * i];                                                  \
            o[i] = in[2 * i + 1];                                              \
        }                                                                      \
        if (n & 1)                                                             \
            e[pairs] = in[2 * pairs];                                          \
    }                                                                          \
                                                                               \
    static void merge_##type(void *row, const void *even, const void *odd,     \
                             int64_t n)                                        \
    {                                                                          \
        type *restrict out = row;                                              \
        const type *restrict e = even, *restrict o = odd;                      \
        int64_t pairs = n / 2;                                                 \
                                                                               \
        for (int64_t i = 0; i < pairs; i++) {                                  \
            out[2 * i] = e[i];                                                 \
            out[2 * i + 1] = o[i];                                             \
        }                                                                      \
        if (n & 1)                                                             \
            out[2 * pairs] = e[pairs];                                         \
    }
ROW_FUNCTIONS(uint8_t)
ROW_FUNCTIONS(uint16_t)
ROW_FUNCTIONS(uint32_t)
ROW_FUNCTIONS(uint64_t)

/* By the bytes of a sample. */
static void (*const splits[])(void *, void *, const void *,
                              int64_t) = {[1] = split_uint8_t,
                                          [2] = split_uint16_t,
                                          [4] = split_uint32_t,
                                          [8] = split_uint64_t};
static void (*const merges[])(void *, const void *, const void *,
                              int64_t) = {[1] = merge_uint8_t,
                                          [2] = merge_uint16_t,
                                          [4] = merge_uint32_t,
                                          [8] = merge_uint64_t};

/* Index of the first sample of the row (z, y) of octant p, which may be empty.
 */
static size_t row_at(const struct bm_octants *o, int p, int64_t z, int64_t y)
{
    return (size_t)((z / 2 * o->count[p][1] + y / 2) * o->count[p][2]);
}

void bm_octants_split(const struct bm_octants *o, size_t size, void *sorted,
                      const void *dense)
{
    uint8_t *out = sorted;
    const uint8_t *in = dense;

    for (int64_t z = 0; z < o->n[0]; z++)
        for (int64_t y = 0; y < o->n[1]; y++) {
            int p = (int)(z & 1) << 2 | (int)(y & 1) << 1;
            uint8_t *even = out + (o->at[p] + row_at(o, p, z, y)) * size;
            uint8_t *odd = out + (o->at[p | 1] + row_at(o, p | 1, z, y)) * size;

            splits[size](even, odd, in, o->n[2]);
            in += (size_t)o->n[2] * size;
        }
}

void bm_octants_merge_with(const struct bm_octants *o, size_t size, void *dense,
                           const void *sorted, const void *first)
{
    bm_octants_merge_rows(o, size, dense, sorted, first, (int64_t[2]){0, 0},
                          o->n);
}

void bm_octants_merge_rows(const struct bm_octants *o, size_t size, void *dense,
                           const void *sorted, const void *first,
                           const int64_t *lo, const int64_t *hi)
{
    const uint8_t *in = sorted;
    size_t row = (size_t)o->n[2] * size;

    for (int64_t z = lo[0]; z < hi[0]; z++)
        for (int64_t y = lo[1]; y < hi[1]; y++) {
            uint8_t *out = (uint8_t *)dense + (size_t)(z * o->n[1] + y) * row;
            int p = (int)(z & 1) << 2 | (int)(y & 1) << 1;
            const uint8_t *of = p ? in + o->at[p] * size : first;
            const uint8_t *even = of + row_at(o, p, z, y) * size;
            const uint8_t *odd =
                in + (o->at[p | 1] + row_at(o, p | 1, z, y)) * size;

            merges[size](out, even, odd, o->n[2]);
        }
}
