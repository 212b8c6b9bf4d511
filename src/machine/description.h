/* description.h -- a machine as a text describes it, or Slurm: names of nodes
 * and switches, and how fast things are. Zeros: not told. */
#ifndef BM_DESCRIPTION_H
#define BM_DESCRIPTION_H

#include "base/option.h"
#include "machine/name_table.h"
#include "machine/topology.h"
#include "machine/work_rates.h"
#include "plan/cost.h"

#define BM_MOST_NAMES (1 << 20) /* nodes, and switches, that a text can name */
#define BM_TIERS      3

struct bm_described_node {
    int line;   /* where it is first named */
    int parent; /* its switch; -1: none is told */
    int at;     /* its position in the model; -1: none is told */
    int target; /* links to the storage; -1: not told */
};

struct bm_described_switch {
    int line;   /* where it is first named */
    int parent; /* the switch above; -1: none */
    int filled; /* a line tells what is below it */
};

struct bm_description {
    const bouma_allocator *a;
    struct bm_model model; /* kind NULL: not told */
    int model_line;

    struct bm_name_table node_names, switch_names;
    struct bm_described_node *nodes;
    struct bm_described_switch *switches;
    size_t node_room, switch_room;

    double latency, bandwidth; /* of the network: seconds, bytes a second */
    double target_latency, target_bandwidth;
    unsigned without;  /* terms of costs that do not count */
    uint64_t stripe;   /* bytes of the target's blocks */
    int target_switch; /* -1: the top */
    bouma_transport transport;
    struct bm_tier tiers[BM_TIERS]; /* kind 0: not told; at kind - 1 */
    char local[BM_PATH_BYTES];      /* the directory of the tier 'local' */
    struct bm_work_rates rates;     /* of a processor */
};

void bm_description_init(struct bm_description *d, const bouma_allocator *a);
void bm_description_release(struct bm_description *d);

/* The number of a node or switch by name, new ones with 'line'; -1: no memory,
 * or too many (BM_MOST_NAMES). */
int bm_description_node(struct bm_description *d, const char *name,
                        size_t bytes, int line);
int bm_description_switch(struct bm_description *d, const char *name,
                          size_t bytes, int line);

/* The network: the model, or the tree of the switches. 'd' may have got more
 * nodes than the text names. EINVAL (names line and word) or ENOMEM. */
int bm_description_topology(struct bm_topology *out,
                            const struct bm_description *d,
                            struct bm_error *error);

#endif
