/* rank_tree.h -- who talks to whom when all ranks do something together: a pure
 * function of who is on which node.
 *
 *     node A: 0 1 2 3      node B: 4 5 6 7      positions
 *
 *             0 ------------------ 4            between nodes, the first of each
 *           / | \                / | \
 *          1  2  3              5  6  7         inside of a node
 *
 * Ranks have positions: those of a node one after the other, nodes in the order
 * of their lowest ranks, so that rank 0 is at position 0, the root. What is
 * below a rank is a run of positions that begins with its own: first the ranks
 * of its node, then, of the first of a node, other nodes. Such a run is cut
 * into at most BM_TREE_PARTS equal parts behind its first; so depths are
 * logarithms, and nobody has many children, however many ranks there are. */
#ifndef BM_RANK_TREE_H
#define BM_RANK_TREE_H

#include "plan/places.h"

#define BM_TREE_PARTS    8
#define BM_TREE_CHILDREN (2 * BM_TREE_PARTS) /* in its node, and of nodes */

/* A rank in the tree. */
struct bm_family {
    int parent; /* -1: it is the root */
    int count;
    int child[BM_TREE_CHILDREN];
    /* Below child i are the positions from begin[i] up to begin[i + 1];
     * begin[0] is the position behind that of the rank itself. */
    int begin[BM_TREE_CHILDREN + 1];
};
void bm_family_of(struct bm_family *out, const struct bm_places *p, int rank);

/* The member of the family that is on the way to a position: a child or, with
 * -1, the parent. Not its own. */
int bm_family_towards(const struct bm_family *f, int position);

#endif
