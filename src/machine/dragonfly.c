/* dragonfly.c -- "dragonfly:GROUPSxROUTERSxNODES": nodes on routers, all
 * routers of a group joined with each other, and all groups. Nodes of one
 * router are 2 links apart, of one group 3, and 5 else: node, router, the
 * router that has the link to the other group, its partner there, router, node.
 * The storage is beyond such a link, 4 from all. */
#include "machine/topology.h"

static int make(struct bm_topology *t, const bouma_allocator *a)
{
    static const int up[2] = {1, 2}; /* halves: see fabric.h */
    const int down[3] = {t->extent[2], t->extent[1], t->extent[0]};

    return bm_fabric_init_regular(&t->tree, a, down, up, 3, 2);
}

const struct bm_topology_kind bm_topology_dragonfly = {
    .name = "dragonfly",
    .least_axes = 3,
    .most_axes = 3,
    .make = make,
    .hops = bm_fabric_hops,
    .hops_to_target = bm_fabric_hops_to_target,
    .sums = bm_fabric_sums,
};
