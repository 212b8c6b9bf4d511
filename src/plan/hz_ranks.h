/* hz_ranks.h -- ranks of a regular decomposition, and templates that fit them.
 *
 * Ranks are cells of a grid of processes; each holds a box of samples. Either
 * all are of one size (those at the far borders may have less), or as equal as
 * possible: then cell i of n begins at sample i * shape / n.
 *
 *     grid 2 x 3 of blocks of 4 x 4        row-major    column-major    Morton
 *         domain 7 x 12                      0 1 2         0 2 4         0 1 4
 *                                            3 4 5         1 3 5         2 3 5
 *
 * A template conforms to the ranks if each level of its HZ order visits them
 * in ascending order. Then the ranks that hold samples of a file lie between
 * those of its first and its last one, and the files of a level go up the
 * ranks. Such a template has two parts:
 *
 *     zzzyyyxxx zyxzyxzyx
 *     ---------             the prefix numbers the cells as the ranks are
 *               ---------   the suffix takes the samples of a cell in turns
 *
 * (Kumar et al., "Reducing network congestion and synchronization overhead
 * during data aggregation when writing hierarchical data", III-B). A grid of
 * processes that is no power of two lacks some cells that the prefix has;
 * ranks are numbered without gaps on the same order. Pure; no memory. Axes are
 * lifted. */
#ifndef BM_HZ_RANKS_H
#define BM_HZ_RANKS_H

#include "plan/hz.h"

struct bm_hz_ranks {
    int64_t shape[3]; /* samples of the domain */
    int64_t block[3]; /* samples of a rank; 0: they are not all of one size */
    int64_t grid[3];  /* ranks */
    int count;        /* of ranks */
    bouma_rank_order order;
    struct bm_hz prefix; /* over the cells, in the order of ranks */
    int whole;           /* the grid has all cells that the prefix has */
};

/* Blocks of one size, or, if 'block' is NULL, as equal as possible. EINVAL if
 * blocks of so many ranks do not cover the shape, if some number is not
 * positive, or if there are more ranks than an int can have. */
int bm_hz_ranks_init(struct bm_hz_ranks *r, const int64_t shape[3],
                     const int64_t *block, const int64_t grid[3],
                     bouma_rank_order order);

/* The samples of a rank; there may be none. */
struct bm_box bm_hz_ranks_box(const struct bm_hz_ranks *r, int rank);

/* The rank of a cell of the grid, and the cell of a rank. */
int bm_hz_ranks_at(const struct bm_hz_ranks *r, const int64_t cell[3]);
void bm_hz_ranks_cell(const struct bm_hz_ranks *r, int rank, int64_t cell[3]);
/* The rank that holds a sample of the domain. */
int bm_hz_ranks_of_sample(const struct bm_hz_ranks *r, const int64_t index[3]);

/* The template for the ranks, which conforms to them. EINVAL if a block is no
 * power of two along an axis, or if it needs more than BM_HZ_BITS
 * characters. */
int bm_hz_ranks_template(struct bm_hz *hz, const struct bm_hz_ranks *r);
/* The same for blocks of any size: as if they were restructured to the power of
 * two that is at least as large as the largest one. It conforms to ranks that
 * have such blocks; for others it is near. */
int bm_hz_ranks_template_near(struct bm_hz *hz, const struct bm_hz_ranks *r);

/* 1 if a template, which covers the shape, conforms to the ranks. Samples that
 * follow each other on one rank are one visit; padding is none. */
int bm_hz_ranks_conform(const struct bm_hz_ranks *r, const struct bm_hz *hz);

#endif
