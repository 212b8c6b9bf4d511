/* fattree.c -- "fattree:DOWN1xDOWN2x...": DOWN1 nodes on a switch, DOWN2 of
 * these switches below one of the second level, and so on. Two nodes whose
 * lowest common switch is of level l are 2 l links apart. The storage is one
 * link above the top, as far from all. */
#include "machine/topology.h"

static int make(struct bm_topology *t, const bouma_allocator *a)
{
    static const int up[BM_TOPOLOGY_AXES] = {2, 2, 2, 2, 2, 2};

    return bm_fabric_init_regular(&t->tree, a, t->extent, up, t->axes, 2);
}

const struct bm_topology_kind bm_topology_fattree = {
    .name = "fattree",
    .least_axes = 1,
    .most_axes = BM_TOPOLOGY_AXES,
    .first_fastest = 1,
    .make = make,
    .hops = bm_fabric_hops,
    .hops_to_target = bm_fabric_hops_to_target,
    .sums = bm_fabric_sums,
};
