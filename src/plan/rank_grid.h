/* rank_grid.h -- who holds which samples, if the ranks' blocks are the cells of
 * a grid: by where its axes are cut, without a list of blocks or of parts. */
#ifndef BM_RANK_GRID_H
#define BM_RANK_GRID_H

#include "base/memory.h"
#include "plan/chunking.h"
#include "plan/distribute.h"
#include "plan/hz_ranks.h"

struct bm_rank_grid {
    const bouma_allocator *a;
    int64_t grid[3];
    int64_t *cut[3]; /* [grid + 1], the first sample of each cell; some may have
                        none */
    int *rank;       /* [cells], the last axis running fastest */
    int ranks;
};

/* BOUMA_OK or ENOMEM. A zeroed struct can be released. */
int bm_rank_grid_init(struct bm_rank_grid *g, const bouma_allocator *a,
                      const struct bm_hz_ranks *ranks);
void bm_rank_grid_release(struct bm_rank_grid *g);

/* The ranks that hold samples of a footprint: along each axis, the cells that
 * have some, and how many. */
struct bm_holders {
    const struct bm_rank_grid *grid;
    struct bm_holders_axis {
        int64_t count;
        int64_t *cell;    /* [count], ascending */
        int64_t *samples; /* [count] */
        int64_t near;     /* where the last search ended */
    } axis[3];
};

/* BOUMA_OK or ENOMEM. A zeroed struct can be released. */
int bm_holders_init(struct bm_holders *h, const struct bm_rank_grid *g);
void bm_holders_release(struct bm_holders *h);

/* Find those of a footprint that has samples; the number of ranks. */
int64_t bm_holders_find(struct bm_holders *h, const struct bm_footprint *f);

/* The i-th of them, and how many samples it holds. */
static inline int bm_holders_rank(const struct bm_holders *h, int64_t i)
{
    const struct bm_holders_axis *z = &h->axis[0], *y = &h->axis[1],
                                 *x = &h->axis[2];
    int64_t row = i / x->count;

    return h->grid->rank[(z->cell[row / y->count] * h->grid->grid[1] +
                          y->cell[row % y->count]) *
                             h->grid->grid[2] +
                         x->cell[i % x->count]];
}

static inline uint64_t bm_holders_samples(const struct bm_holders *h, int64_t i)
{
    const struct bm_holders_axis *z = &h->axis[0], *y = &h->axis[1],
                                 *x = &h->axis[2];
    int64_t row = i / x->count;

    return (uint64_t)z->samples[row / y->count] *
           (uint64_t)y->samples[row % y->count] *
           (uint64_t)x->samples[i % x->count];
}

/* The owners that bm_distribute() finds for such blocks, into owner[chunks]; a
 * bit is set in shared[chunks / 64 + 1], which is all 0, for each chunk that
 * several ranks hold. 'chunking' is of level 0. BOUMA_OK, ENOMEM or EINVAL. */
int bm_rank_grid_distribute(int *owner, uint64_t *shared,
                            const struct bm_rank_grid *g,
                            bouma_distribute scheme,
                            const struct bm_chunking *chunking,
                            struct bm_distribution *report);

static inline int bm_is_shared(const uint64_t *shared, int64_t chunk)
{
    return (int)(shared[chunk >> 6] >> (chunk & 63) & 1);
}

#endif
