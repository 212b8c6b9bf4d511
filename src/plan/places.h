/* places.h -- who is on which node.
 *
 * Ranks have positions: those of a node one after the other, ascending; nodes
 * in the order of their lowest ranks, so that rank 0 is at position 0. */
#ifndef BM_PLACES_H
#define BM_PLACES_H

#include <stdint.h>

#include "base/memory.h"
#include "bouma.h"

struct bm_places {
    const bouma_allocator *a;
    int ranks, nodes;
    int *first; /* [nodes + 1], positions */
    /* NULL: the position of a rank is its number, since the ranks of a node
     * follow each other. */
    int *position; /* [ranks] */
    int *rank;     /* [ranks], the other way round */
};

/* From a number for each rank, which those of a node have in common. ENOMEM. */
int bm_places_init(struct bm_places *out, const bouma_allocator *a,
                   const uint64_t *node, int ranks);
/* Of some of these ranks, ascending, which are numbered anew. ENOMEM. */
int bm_places_subset(struct bm_places *out, const struct bm_places *whole,
                     const int *members, int count);
void bm_places_release(struct bm_places *p); /* a zeroed one, too */

static inline int bm_places_position(const struct bm_places *p, int rank)
{
    return p->position ? p->position[rank] : rank;
}
static inline int bm_places_rank(const struct bm_places *p, int position)
{
    return p->rank ? p->rank[position] : position;
}
/* The node of a rank, or of that at a position, as an index of 'first'. */
int bm_places_node(const struct bm_places *p, int rank);
int bm_places_node_at(const struct bm_places *p, int position);

#endif
