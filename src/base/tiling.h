/* tiling.h -- how a grid is cut into patches.
 *
 *     shape 10, edge 4:   |0 1 2 3|4 5 6 7|8 9|
 *
 * Three axes always (see box.h); axes that the grid does not have are 1 long.
 * A patch is known by its linear index (C order over the patches) or by its
 * Morton key; patches at the far borders are smaller. */
#ifndef BM_TILING_H
#define BM_TILING_H

#include <stdint.h>

#include "base/box.h"

#define BM_MAX_EXTENT  ((int64_t)1 << 40)
#define BM_MAX_SAMPLES ((uint64_t)1 << 62)
#define BM_MAX_PATCHES ((int64_t)1 << 31)
#define BM_MAX_LEVELS  32

struct bm_tiling {
    int ndims;
    int64_t shape[3], edge[3], count[3];
    int64_t patches;
};

/* 'shape' and 'edge' have ndims entries. NULL if all is well, else what is
 * wrong with them, as the end of a sentence. */
const char *bm_tiling_init(struct bm_tiling *t, int ndims, const int64_t *shape,
                           const int64_t *edge);

/* The edges of patches, each a power of two: 'wanted', or what is usual where
 * that is 0; those larger than the grid are cut down. Wrong ones stay as they
 * are, for bm_tiling_init() to tell. All have ndims entries, of 1 to 3. */
void bm_tiling_edges(int64_t *edge, int ndims, const int64_t *shape,
                     const int64_t *wanted);

/* The number of levels with which the coarsest keeps at least 64 samples of a
 * whole patch. */
int bm_tiling_levels(const struct bm_tiling *t);

void bm_tiling_at(const struct bm_tiling *t, int64_t patch, int64_t at[3]);
int64_t bm_tiling_index(const struct bm_tiling *t, const int64_t at[3]);
struct bm_box bm_tiling_box(const struct bm_tiling *t, const int64_t at[3]);
struct bm_box bm_tiling_patch_box(const struct bm_tiling *t, int64_t patch);
struct bm_box bm_tiling_domain(const struct bm_tiling *t);
uint64_t bm_tiling_key(const struct bm_tiling *t, int64_t patch);

/* The patch with a key, or -1 if there is none. */
int64_t bm_tiling_find(const struct bm_tiling *t, uint64_t key);

/* The patches that a box meets, as a half-open box of patches. */
struct bm_box bm_tiling_meeting(const struct bm_tiling *t,
                                const struct bm_box *box);

/* The linear indices of all patches in Morton order, into order[patches]. */
void bm_tiling_order(const struct bm_tiling *t, int64_t *order);

/* Where a patch is in that order. */
int64_t bm_tiling_position(const struct bm_tiling *t, int64_t patch);

/* A walk along it, patch by patch, without a list. */
struct bm_tiling_walk {
    int64_t at[3];
    uint64_t key;
};

/* To the patch at a position, and from any but the last to the next one. */
void bm_tiling_walk_from(struct bm_tiling_walk *w, const struct bm_tiling *t,
                         int64_t position);
void bm_tiling_walk_on(struct bm_tiling_walk *w, const struct bm_tiling *t);

#endif
