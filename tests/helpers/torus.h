/* torus.h -- a network for tests: a torus of three axes, ranks filling its
 * nodes in order; and tiers for it. Distances are counted one by one. */
#ifndef TORUS_H
#define TORUS_H

#include <stdlib.h>

#include "plan/cost.h"

struct torus {
    int edge[3];
    int ranks_a_node;
};

static inline int torus_node(const void *context, int rank)
{
    return rank / ((const struct torus *)context)->ranks_a_node;
}

static inline int torus_between(const struct torus *t, int a, int b)
{
    int hops = 0;

    for (int d = 2; d >= 0; d--) {
        int far = abs(a % t->edge[d] - b % t->edge[d]);

        hops += far < t->edge[d] - far ? far : t->edge[d] - far;
        a /= t->edge[d];
        b /= t->edge[d];
    }
    return hops;
}

static inline int torus_hops(const void *context, int from, int to)
{
    return torus_between(context, torus_node(context, from),
                         torus_node(context, to));
}

/* The target is behind node 0. */
static inline int torus_to_target(const void *context, int rank)
{
    return torus_between(context, torus_node(context, rank), 0) + 1;
}

/* As of a machine of today: 1 us and 10 GB/s a link. */
static inline struct bm_network torus_network(const struct torus *t)
{
    return (struct bm_network){.context = t,
                               .hops = torus_hops,
                               .hops_to_target = torus_to_target,
                               .node = torus_node,
                               .latency = 1e-6,
                               .bandwidth = 10e9,
                               .target_latency = 1e-3,
                               .target_bandwidth = 2e9};
}

static const struct bm_tier torus_tiers[] = {
    {BOUMA_TIER_HBM, 1e-7, 400e9, (uint64_t)16 << 30, BM_KEEPS_NOTHING},
    {BOUMA_TIER_DRAM, 1e-7, 90e9, (uint64_t)192 << 30, BM_KEEPS_NOTHING},
    {BOUMA_TIER_LOCAL, 1e-4, 2e9, (uint64_t)1 << 40, BM_KEEPS_FOR_JOB}};

#endif
