/* tile_plan.h -- who transforms which tile of a grid that is stored as
 * coefficients (see bm_tile_functions), and the blocks in which ranks have these
 * afterwards. Pure. */
#ifndef BM_TILE_PLAN_H
#define BM_TILE_PLAN_H

#include "plan/distribute.h"

struct bm_tile_plan {
    const bouma_allocator *a;
    struct bm_tiling tiling;
    struct bm_block *given; /* as the ranks have put them */
    size_t given_count;
    size_t my_first_given;
    struct bm_partition partition; /* of tiles, by given blocks */
    int *owner;                    /* [tiles] */
    uint64_t moved_samples;
    /* Each rank's tiles in few boxes, ascending by rank, which the caller may
     * take; and the block that a tile is in. */
    struct bm_block *blocks;
    size_t block_count;
    uint32_t *block_of; /* [tiles] */
};

/* Into a plan that is zero but for the given blocks and 'a', which are its to
 * release, whatever happens. BOUMA_OK, ENOMEM, EINVAL, or
 * ECOVER, with the fault. */
int bm_tile_plan_make(struct bm_tile_plan *p, const bouma_allocator *a,
                      const struct bm_tiling *tiling, bouma_distribute scheme,
                      int ranks, struct bm_cover_fault *fault);
void bm_tile_plan_release(struct bm_tile_plan *p);

#endif
