/* node_groups.h -- a file for each node, or for every few nodes: which ranks
 * share one.
 *
 * Of N nodes, of which at most K share a file, there are
 *
 *     G = N / K, rounded up
 *
 * groups, and node n is in group n * G / N, rounded down. So groups are runs of
 * nodes; none has more than K, and no two differ by more than one. */
#ifndef BM_NODE_GROUPS_H
#define BM_NODE_GROUPS_H

#include "plan/places.h"

/* It looks at the places. Those without a node (of a program that is alone)
 * stand for one node with all ranks. */
struct bm_node_groups {
    const struct bm_places *places;
    int groups; /* 1 or more */
};

/* 'per_file' is 1 or more. */
struct bm_node_groups bm_node_groups_of(const struct bm_places *places,
                                        int per_file);

/* The group of a rank. */
int bm_node_group(const struct bm_node_groups *g, int rank);

/* The positions of a group's ranks: from *begin up to *end. There must be
 * nodes. */
void bm_node_group_positions(const struct bm_node_groups *g, int group,
                             int *begin, int *end);

/* The places of ranks by what 'node' says of each: a number, 0 or more. BOUMA_OK
 * or ENOMEM. */
int bm_places_ask(struct bm_places *out, const bouma_allocator *a,
                  int (*node)(const void *context, int rank),
                  const void *context, int ranks);

#endif
