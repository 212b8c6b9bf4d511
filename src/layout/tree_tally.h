/* tree_tally.h -- the bounds of a histogram of particles, from the tree of their
 * file alone: bitmaps tell in which bins each leaf has a value, and its region
 * where its particles are. */
#ifndef BM_TREE_TALLY_H
#define BM_TREE_TALLY_H

#include "layout/particle_summary.h"
#include "plan/histogram.h"

/* What is counted, and what must hold for a particle to be counted. */
struct bm_tree_count {
    int axis;       /* positions along this one; -1: an attribute, */
    uint32_t row;   /* this one */
    double numbers; /* the part of its values that is no NaN */
    /* 'wanted' are bins of the tree. What follows is for the rows of all
     * alternatives, one after the other. */
    const struct bm_tree_query *query;
    const union bm_scalar *least, *most; /* [rows] */
    const uint64_t *nans; /* [rows]: NaN that the file has in them */
};

/* Add the particles of a tree. BOUMA_OK or ENOMEM. */
int bm_tree_tally(struct bm_tally *out, const struct bm_tree *tree,
                  const struct bm_tree_count *count);

/* A tree of one leaf, from a summary: what is known without the tree itself.
 * It lasts as long as the summary, and is not released. */
struct bm_tree_of_one {
    struct bm_tree tree;
    struct bm_tree_node leaf;
};
void bm_tree_of_summary(struct bm_tree_of_one *out,
                        const struct bm_particle_summary *summary,
                        const bouma_allocator *a);

#endif
