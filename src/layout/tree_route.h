/* tree_route.h -- how the values of particles come to the slots of a tree.
 *
 * Where particles were given in no order in space, the value for a slot is in a
 * place that no cache has. So values go to the buckets of the tree's build
 * first, one after the other, and from a bucket, which a cache holds, to their
 * slots. */
#ifndef BM_TREE_ROUTE_H
#define BM_TREE_ROUTE_H

#include "base/memory.h"

struct bm_tree_route {
    /* What the build is asked for beside: the positions in the order of slots,
     * in room for all of them; NULL: those of this axis are not wanted. */
    void *sorted[3];

    uint16_t *cell_of; /* [particles], of the build's cells; NULL: there is no
                          way through buckets, order[p] is the particle */
    size_t particles, parts;
    int shift;        /* from a cell to its bucket */
    uint32_t buckets; /* the last one is of what is not finite */
    uint32_t *ends;   /* [parts][buckets], where a part's values end in each */
};

void bm_tree_route_release(struct bm_tree_route *r, const bouma_allocator *a);

/* Where the 'part'-th of some parts of n particles begins. */
size_t bm_tree_part(size_t n, size_t parts, size_t part);

/* Where the next value of each bucket goes, for a part whose values are brought
 * there in turn. Threads may do parts at the same time. */
#define BM_MOST_BUCKETS 65
void bm_tree_route_begin(const struct bm_tree_route *r, size_t part,
                         uint32_t next[BM_MOST_BUCKETS]);

/* The next n values of a part, from the 'begin'-th of all particles on, of
 * 'size' bytes (1, 2, 4 or 8): slot p gets to[order[p]] when all are there. */
void bm_tree_route_values(const struct bm_tree_route *r,
                          uint32_t next[BM_MOST_BUCKETS], size_t begin,
                          size_t n, void *to, const void *from, size_t size);

#endif
