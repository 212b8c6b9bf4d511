/* patch_shape.h -- the edges of patches, by the blocks that ranks hold.
 *
 *     64^3 on slabs of 128 x 128 x 8        128 x 128 x 8
 *     +-------+-------+                     +---------------+
 *     |       |       |  8 ranks hold a     |               |  one holds it,
 *     |       |       |  part of each       +---------------+  and nothing
 *     +-------+-------+                     +---------------+  moves
 *
 * What is usual (a cube, or as near to one as the grid is) stays, unless other
 * edges leave clearly more samples where they are, or give work to more ranks.
 * Each is judged by what ranks can tell of their own blocks, and sums of that:
 *
 *     facts of each rank's box  -> reduced ->  a short list of edges
 *     a tally of each on it     -> reduced ->  one of them
 *
 * Whole numbers only, so that all ranks choose the same. Axes are lifted (see
 * box.h). Pure; no memory. */
#ifndef BM_PATCH_SHAPE_H
#define BM_PATCH_SHAPE_H

#include "base/box.h"

struct bm_patch_grid {
    int ndims;
    int64_t shape[3];
    uint64_t most_samples; /* that a patch may have */
    int predicted; /* samples are stored within a tolerance, predicted by others
                      of their patch: the more compact, the fewer bytes */
};

/* Whether a grid has enough samples for a choice. */
int bm_patch_has_choice(const struct bm_patch_grid *g);

/* What is reduced first: the largest of each, but of the last two the sum. */
enum bm_patch_fact {
    BM_PATCH_EXTENT = 0,    /* of a block, along three axes */
    BM_PATCH_ODD = 3,       /* 63 less the zero bits at the end of all borders
                            between blocks, along three axes */
    BM_PATCH_SCATTERED = 6, /* a rank holds something that is no box */
    BM_PATCH_HOLDERS = 7,   /* ranks with samples */
    BM_PATCH_SAMPLES = 8,
    BM_PATCH_FACTS = 9,
    BM_PATCH_FACT_SUMS = 2
};

/* Those of a rank that holds a box of the grid; it may be empty. */
void bm_patch_tell(uint64_t facts[BM_PATCH_FACTS],
                   const struct bm_patch_grid *g, const struct bm_box *box);

/* Edges that are worth a tally; the usual ones are the first. */
#define BM_PATCH_CHOICES 5
struct bm_patch_choices {
    int count;
    int64_t edge[BM_PATCH_CHOICES][3];
};

/* By the facts of all ranks. One alone: there is nothing to choose. */
void bm_patch_list(struct bm_patch_choices *out, const struct bm_patch_grid *g,
                   const uint64_t facts[BM_PATCH_FACTS]);

/* What is reduced then, for each of them. */
struct bm_patch_tally {
    uint64_t patches; /* that a rank assembles; and... */
    uint64_t most;    /* ...samples of those that it holds alone: of both, the
                         largest counts */
    uint64_t stay;    /* of its own samples, those in them: the sum counts */
};

/* That of a rank with a box. Others are taken to have blocks of the same extent
 * beside it, and the one that holds most of a patch to assemble it. */
struct bm_patch_tally bm_patch_count(const struct bm_patch_grid *g,
                                     const int64_t edge[3],
                                     const struct bm_box *box);

/* The best one, as an index; facts[] and tally[] are of all ranks. */
int bm_patch_choose(const struct bm_patch_choices *choices,
                    const struct bm_patch_grid *g,
                    const uint64_t facts[BM_PATCH_FACTS],
                    const struct bm_patch_tally *tally);

/* All of it for ranks that are the cells of a grid: cut[d] has the first sample
 * of each of cells[d] cells along an axis, and the shape behind them. */
void bm_patch_choose_on_grid(int64_t edge[3], const struct bm_patch_grid *g,
                             const int64_t *const cut[3],
                             const int64_t cells[3]);

#endif
