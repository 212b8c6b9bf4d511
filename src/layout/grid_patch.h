/* grid_patch.h -- grids that are cut into patches, each a chunk with its
 * levels: what is this layout's own. */
#ifndef BM_GRID_PATCH_H
#define BM_GRID_PATCH_H

#include "layout/schema.h"
#include "plan/patch_shape.h"

/* 'own' of such a grid. */
struct bm_grid_patch {
    struct bm_tiling tiling;
    int is_open; /* the caller has left the edges to the library, which has
                    something to choose; as long as they are not... */
    int settled; /* ...they are the usual ones */
};

static inline const struct bm_tiling *bm_tiling_of(const struct bm_object *grid)
{
    return &((const struct bm_grid_patch *)grid->own)->tiling;
}

/* Of a grid of this layout whose edges are left to the library; else NULL. */
struct bm_grid_patch *bm_grid_patch_open(const struct bm_object *o);
/* What edges of such a grid are chosen by. */
struct bm_patch_grid bm_grid_patch_task(const struct bm_object *o);
/* The edges that the other grid has, if this one can have them: 1. The number of
 * levels stays, so the other one must have the same. */
int bm_grid_patch_same(int64_t edge[3], const struct bm_object *o,
                       const struct bm_object *other);
/* Such a grid gets edges, lifted; 1 if they are others than before. */
int bm_grid_patch_settle(const struct bm_object *o, const int64_t edge[3]);

#endif
