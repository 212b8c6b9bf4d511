/* fabric.h -- switches over switches over nodes: the one structure for fat
 * trees, dragonflies, Slurm's topology and the switches of a machine file.
 *
 * Lengths are in halves of a link, so that a dragonfly is a tree, too: two
 * routers of a group are one link apart, half of it on either side. */
#ifndef BM_FABRIC_H
#define BM_FABRIC_H

#include "base/memory.h"

#define BM_FABRIC_DEPTH 64 /* switches on top of each other, at most */

struct bm_fabric {
    const bouma_allocator *a;
    int switches; /* numbered so that those below one follow it */
    int *parent;  /* [switches + 1]; -1: the top, which is number 0 */
    int *up;      /* half links from a switch to its parent */
    int *reach;   /* half links to the top */
    int *depth;   /* of the top: 0 */

    int nodes;
    int *leaf;   /* [nodes]: the switch of a node */
    int node_up; /* half links from a node to its switch */
    int target;  /* the switch that the storage is on */
};

/* Room for switches and nodes. Set parent[] (-1: none) and up[], leaf[] (-1: on
 * the top) and 'target' (-1: the top), then finish. ENOMEM. */
int bm_fabric_init(struct bm_fabric *t, const bouma_allocator *a, int switches,
                   int nodes, int node_up);

/* A finished tree: a lowest switch has down[0] nodes, one above it down[1] of
 * these switches, ...; up[i] is the length from those of level i to the next.
 * ENOMEM. */
int bm_fabric_init_regular(struct bm_fabric *t, const bouma_allocator *a,
                           const int *down, const int *up, int levels,
                           int node_up);

/* Find a switch that is above itself, or has BM_FABRIC_DEPTH switches above it;
 * -1: there is none, and bm_fabric_finish() may be called. */
int bm_fabric_find_loop(const struct bm_fabric *t);

/* Number the switches from the top. If several tops have nodes, one more switch
 * joins them. ENOMEM. */
int bm_fabric_finish(struct bm_fabric *t);
void bm_fabric_release(struct bm_fabric *t);

/* ---- for the tables of kinds that are trees: see topology.h -------------- */

struct bm_topology;
int bm_fabric_hops(const struct bm_topology *t, int from, int to);
int bm_fabric_hops_to_target(const struct bm_topology *t, int node);
int bm_fabric_sums(const struct bm_topology *t, const bouma_allocator *a,
                   const int *nodes, const double *weight, size_t count,
                   double *sums);

#endif
