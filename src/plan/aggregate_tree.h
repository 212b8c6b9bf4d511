/* aggregate_tree.h -- the parts of the aggregation tree: units as it moves
 * them, the best cut of some of them, and the tree that repeats it. */
#ifndef BM_AGGREGATE_TREE_H
#define BM_AGGREGATE_TREE_H

#include "plan/aggregate.h"

/* A unit with particles. */
struct bm_item {
    double low[3], high[3]; /* finite, in order */
    uint64_t count;         /* not 0 */
    uint32_t unit;
};

/* It counts as where its centre is. Halves first: the sum may be too large. */
static inline double bm_item_centre(const struct bm_item *item, int axis)
{
    return 0.5 * item->low[axis] + 0.5 * item->high[axis];
}

struct bm_weight {
    double key;
    uint64_t weight;
};

/* The bounds of items, and their extents in half. */
struct bm_tree_extent {
    double low[3], high[3], half[3];
};

void bm_items_extent(struct bm_tree_extent *out, const struct bm_item *items,
                     size_t count);

/* ---- one cut ------------------------------------------------------------ */

/* The left side shall have part/of of all particles. */
struct bm_cut_request {
    uint64_t part, of; /* 0 < part < of <= 2^21 */
    int ndims;
    int best_axis;
    int by_centres; /* 1: the centres are the candidates from the start */
};

/* Items whose centre is below or at 'split' along 'axis' are to the left; with
 * axis -1, the first 'left_items' are. Neither side is empty. */
struct bm_cut {
    int axis;
    double split;
    size_t left_items;
    uint64_t left; /* particles */
    uint64_t off,
        off_of; /* how far from the request: off + off_of/of particles */
};

/* The cut nearest to the request, of two or more items that have 'total'
 * particles together; 'scratch' has room for all of them.
 *
 * Candidates are both edges of every item's bounds, along the longest axis of
 * the bounds of all (or along each). Of two that are as near, the longer axis
 * and then the smaller left side wins; edges between the same two centres
 * divide alike, and the nearest to the request is given. Where no edge has
 * centres on both its sides along that axis, the next longest is tried; where
 * none has along any, the centres are the candidates; where all centres are
 * one, the items are divided by their order. With 'by_centres', no edges are
 * tried. */
void bm_cut_best(struct bm_cut *cut, struct bm_weight *scratch,
                 const struct bm_item *items, size_t count, uint64_t total,
                 const struct bm_cut_request *request);

/* The division by order that is nearest to the request. */
void bm_cut_order(struct bm_cut *cut, const struct bm_item *items, size_t count,
                  uint64_t total, const struct bm_cut_request *request);

/* ---- the tree ----------------------------------------------------------- */

/* Fill out->nodes, ->files and ->file[], and move the items about.
 * 'capacity' is the number of particles that a file may have; 'files' is how
 * many are wanted, or 0 (not of `split`, which always gets a number). */
int bm_aggregation_build(struct bm_aggregation *out,
                         const struct bm_aggregation_spec *spec,
                         struct bm_item *items, size_t count, uint64_t capacity,
                         int64_t files);

#endif
