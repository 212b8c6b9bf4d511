/* hz_lift.h -- wavelet subbands in HZ order. Each character of a template splits
 * the samples that are left into even and odd ones along its axis. HZ order
 * keeps both as they are; with a wavelet, odd samples become details and even
 * ones averages, where they are:
 *
 *     template xyx, 4 x 2 samples    L average, 1, 2, 3 the step that made the
 *                                    detail: the finest character is the first
 *         L 1 3 1
 *         2 1 2 1
 *
 * The detail of a sample has the HZ address of the sample, so each level of HZ
 * order is one subband (Kumar et al., section VI, figure 17).
 *
 * Steps stay inside tiles: boxes of 2^t samples, which the last t characters
 * split. Of coarser levels, the samples are the averages of tiles. Pure. */
#ifndef BM_HZ_LIFT_H
#define BM_HZ_LIFT_H

#include "plan/hz.h"

/* One step: along an axis, of every 2^shift-th sample of each axis. Those with
 * an odd number along 'axis', counted in its own steps, are the details. */
struct bm_lift {
    int axis;
    int shift[3];
};

/* The edges of a tile. */
void bm_hz_tile(int64_t edge[3], const struct bm_hz *hz, int tile_bits);

/* The steps that give level k (every 2^k-th sample of each axis) from its
 * coefficients, the coarsest first; with level 0 these are all, and transform
 * the samples in reverse order. Their number.
 *
 * With a template that halves the axes in turn, they are the first ones of all.
 * With others some are left out that come before others: then level k is as if
 * each axis had been transformed by itself. */
int bm_hz_lifts(struct bm_lift lifts[BM_HZ_BITS], const struct bm_hz *hz,
                int tile_bits, int level);

#endif
