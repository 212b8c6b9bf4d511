/* positions.h -- where particles are, as their owner holds them. */
#ifndef BM_POSITIONS_H
#define BM_POSITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/strict_math.h"
#include "bouma.h"

/* Positions in memory: one array for each axis, 'stride' bytes from particle to
 * particle. Nothing need be aligned. */
struct bm_positions {
    int ndims;
    bouma_type type; /* f32 or f64 */
    const void *axis[3];
    int64_t stride[3];
    size_t count;
};

/* The bounds of all particles whose coordinates are all finite; the number of
 * the others. With none that is finite, low is above high. Axes past ndims are
 * 0. */
uint64_t bm_positions_bounds(const struct bm_positions *positions,
                             double low[3], double high[3]);

/* Particles that are looked at together. */
#define BM_POSITION_BLOCK 256

struct bm_position_block {
    size_t first, count;
    double at[3][BM_POSITION_BLOCK];
};

/* The particles from 'from' on. What is in the axes past ndims stays: 0, if the
 * caller has made it so. */
void bm_positions_load(struct bm_position_block *b,
                       const struct bm_positions *p, size_t from);

/* v - v is 0, or NaN if v is not finite. */
static inline int bm_positions_finite_at(const struct bm_position_block *b,
                                         size_t i)
{
    return b->at[0][i] - b->at[0][i] + (b->at[1][i] - b->at[1][i]) +
               (b->at[2][i] - b->at[2][i]) ==
           0;
}

#endif
