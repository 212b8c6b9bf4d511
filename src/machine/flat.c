/* flat.c -- "flat": all nodes one link apart, and one from the storage. */
#include "machine/topology.h"

static int hops(const struct bm_topology *t, int from, int to)
{
    (void)t;
    return from != to;
}

static int hops_to_target(const struct bm_topology *t, int node)
{
    (void)t;
    (void)node;
    return 1;
}

/* All the weight but that on the same node. */
static int sums(const struct bm_topology *t, const bouma_allocator *a,
                const int *nodes, const double *weight, size_t count,
                double *out)
{
    struct bm_summand *s = bm_new_raw(a, count, sizeof(*s));
    double all = 0;

    (void)t;
    if (!s)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        s[i] =
            (struct bm_summand){nodes[i], nodes[i], i, weight ? weight[i] : 1};
        all += s[i].weight;
    }
    bm_summands_sort(s, count);
    for (size_t i = 0, end; i < count; i = end) {
        double here = 0;

        for (end = i; end < count && s[end].node == s[i].node; end++)
            here += s[end].weight;
        for (; i < end; i++)
            out[s[i].index] = all - here;
    }
    bm_drop(a, s);
    return BOUMA_OK;
}

const struct bm_topology_kind bm_topology_flat = {
    .name = "flat",
    .hops = hops,
    .hops_to_target = hops_to_target,
    .sums = sums,
};
