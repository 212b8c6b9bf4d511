/* topology.h -- distances between the nodes of a machine. A kind of network is
 * one file with a table of functions: flat.c, torus.c, dragonfly.c, fattree.c;
 * the last two, Slurm's switches and those of a machine file are trees. */
#ifndef BM_TOPOLOGY_H
#define BM_TOPOLOGY_H

#include "base/error.h"
#include "machine/fabric.h"

#define BM_TOPOLOGY_AXES 6
#define BM_MOST_NODES    (1 << 22) /* of a modelled or described machine */

struct bm_topology {
    const struct bm_topology_kind *kind;
    int nodes; /* 0: as many as are wanted */

    /* The numbers of a model, "torus:8x8x4"; node = sum of at[d] * stride[d].
     */
    int axes, extent[BM_TOPOLOGY_AXES], stride[BM_TOPOLOGY_AXES];

    int io; /* each 'io' nodes have a gateway to the target; 0: see 'kind' */
    struct bm_fabric tree; /* of kinds that are one */
};

struct bm_topology_kind {
    const char *name;
    int least_axes, most_axes;
    int first_fastest; /* node 1 is beside node 0 along the first axis */
    int io;            /* without the option 'io' */
    /* May be NULL. ENOMEM. */
    int (*make)(struct bm_topology *t, const bouma_allocator *a);
    /* Links between two nodes. */
    int (*hops)(const struct bm_topology *t, int from, int to);
    /* Where there are no gateways; NULL: there always are. */
    int (*hops_to_target)(const struct bm_topology *t, int node);
    /* sums[i] = sum over k: weight[k] * hops(nodes[k], nodes[i]). ENOMEM. */
    int (*sums)(const struct bm_topology *t, const bouma_allocator *a,
                const int *nodes, const double *weight, size_t count,
                double *sums);
};

/* All kinds of networks: a new one adds a line here. */
#define BM_TOPOLOGIES(X)                                                       \
    X(flat)                                                                    \
    X(torus)                                                                   \
    X(dragonfly)                                                               \
    X(fattree)                                                                 \
    X(tree)
#define BM_TOPOLOGIES_ENTRY(name)                                              \
    extern const struct bm_topology_kind bm_topology_##name;
BM_TOPOLOGIES(BM_TOPOLOGIES_ENTRY)
#undef BM_TOPOLOGIES_ENTRY

/* A model as a text tells it: "torus:8x8x4,per=16,io=128". */
struct bm_model {
    const struct bm_topology_kind *kind;
    int axes, extent[BM_TOPOLOGY_AXES];
    int per; /* ranks on a node, which fill nodes in order; 0: not told */
    int io;
};

/* Whether 'text' begins with the name of a kind that can be asked for. */
const struct bm_topology_kind *bm_model_kind(const char *text, size_t bytes);
/* EINVAL, with a message that has the word that is wrong. */
int bm_model_parse(struct bm_model *out, const char *text, size_t bytes,
                   struct bm_error *error);

/* Kind and numbers of nodes of a model, which nothing needs to be released of.
 * EINVAL. */
int bm_topology_shape(struct bm_topology *t, const struct bm_model *model,
                      struct bm_error *error);

/* The same, ready for use. Trees that are not models (bm_topology_tree) are
 * made by who knows their switches. ENOMEM or EINVAL. */
int bm_topology_init(struct bm_topology *t, const struct bm_model *model,
                     const bouma_allocator *a, struct bm_error *error);
void bm_topology_release(struct bm_topology *t);
int bm_topology_hops_to_target(const struct bm_topology *t, int node);

/* ---- sums, for the kinds ------------------------------------------------ */

/* One of the ranks of a sum. */
struct bm_summand {
    int key, node;
    size_t index;
    double weight;
};

/* Sort by key and node; quick if they are sorted already. */
void bm_summands_sort(struct bm_summand *s, size_t count);

#endif
