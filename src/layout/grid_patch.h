/* grid_patch.h -- grids that are cut into patches, each a chunk with its
 * levels: what is this layout's own. */
#ifndef BM_GRID_PATCH_H
#define BM_GRID_PATCH_H

#include "layout/schema.h"

/* 'own' of such a grid. */
struct bm_grid_patch {
    struct bm_tiling tiling;
};

static inline const struct bm_tiling *bm_tiling_of(const struct bm_object *grid)
{
    return &((const struct bm_grid_patch *)grid->own)->tiling;
}

#endif
