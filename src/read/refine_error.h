/* refine_error.h -- what a level adds to the next coarser one. */
#ifndef BM_REFINE_ERROR_H
#define BM_REFINE_ERROR_H

#include "base/type.h"
#include "codec/lattice.h"

/* The samples of a box at a level: dense, components side by side. */
struct bm_refined_level {
    struct bm_lattice lattice;
    const void *data;
};

/* The largest difference of the samples of a level from what those of the next
 * coarser one give in their places: between them by linear interpolation along
 * each axis; beyond the outermost by extrapolation. NaN is left out. Infinite if the coarser level has no samples in the box. */
double bm_refine_error(const struct bm_refined_level *fine,
                       const struct bm_refined_level *coarse, bouma_type type,
                       int components);

#endif
