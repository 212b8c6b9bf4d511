/* cost.h -- who gathers the bytes of a file, and in which memory: placement by
 * the cost of moving them, after Tessier et al. (TAPIOCA), section 4.2.
 *
 * For each rank A of a file's group (the ranks that send to it), and each tier
 * of A's node:
 *
 *     C1 = sum over producers i: latency * hops(i, A) + bytes(i) / bandwidth
 *     C2 = latency * hops(A, target) + bytes / bandwidth
 *          + latency of the target
 *
 * In C1 the latency is the larger one of network and tier, the bandwidth the
 * least of network, the producer's DRAM and the tier. A producer on A's own
 * node, A itself too, is one hop away inside the node, where only DRAM and tier
 * count. In C2 the latency is the network's, the bandwidth the least of
 * network, tier and target. (The paper's target has no latency of its own.)
 *
 * That is the paper's, for one file. Where there are several, two more terms
 * keep them out of each other's way; both are 0 for a file that is alone:
 *
 *     links = share * sum over producers i: bytes(i) * hops(i, A) / bandwidth
 *     wait  = bytes that A's node gathers already / bandwidth on to the target
 *             (or into the tier, if that is less) +
 *             bytes that A gathers already / bandwidth inside the node
 *
 * 'links' is the time that the file's bytes take up links that others could
 * use; 'share' is that of other files in the bytes of all. (Of a file that is
 * alone all bytes go over the last link to A, and fewer over each link before
 * it: bytes / bandwidth says all.) 'wait' is for files that are placed already,
 * those with lower numbers, so that files do not pile up on one rank.
 *
 * The smallest sum is taken; of equal ones the lowest rank, of its tiers the
 * first.
 *
 * Data to data: no MPI, no file, no clock, no hwloc. What is where comes in as
 * a struct bm_network (made by src/machine, or by a test). */
#ifndef BM_COST_H
#define BM_COST_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/strict_math.h"
#include "bouma.h"
#include "plan/gathering.h"

/* What a memory or storage keeps when the program has ended. */
enum bm_persistence { BM_KEEPS_NOTHING, BM_KEEPS_FOR_JOB, BM_KEEPS };

struct bm_tier {
    bouma_tier kind;
    double latency;    /* seconds */
    double bandwidth;  /* bytes a second */
    uint64_t capacity; /* bytes for all ranks of a node; 0: no limit is known */
    enum bm_persistence persistence;
};

/* The terms of a cost, as bits, in the order of struct bm_cost. */
enum bm_cost_term {
    BM_COST_GATHER = 1,
    BM_COST_STORE = 2,
    BM_COST_LINKS = 4,
    BM_COST_WAIT = 8,
    BM_COST_TERMS = 4 /* their number */
};

/* The network between ranks, and the target that files are on. All ranks of a
 * node are equally far from those of another. A bandwidth of 0: no limit is
 * known. */
struct bm_network {
    const void *context;
    /* Links between two ranks; 0: they are on one node. */
    int (*hops)(const void *context, int from, int to);
    int (*hops_to_target)(const void *context, int rank);
    int (*node)(const void *context, int rank); /* 0 or more */
    /* May be NULL. sums[i] = the sum over k of weight[k] * hops(ranks[k],
     * ranks[i]), in less time than that of all pairs; 'weight' NULL: all 1.
     * BOUMA_OK or ENOMEM. */
    int (*sums)(const void *context, const bouma_allocator *a, const int *ranks,
                const double *weight, size_t count, double *sums);
    double latency;   /* seconds, of one link */
    double bandwidth; /* bytes a second, of one link */
    double target_latency, target_bandwidth;
    unsigned without; /* enum bm_cost_term: those that do not count */
};

/* What a placement goes by. */
struct bm_cost_rule {
    const struct bm_network *network;
    const struct bm_tier *tiers; /* of each node; at most 32 */
    size_t tier_count;
    bouma_tier only; /* the kind of tier that is wanted; 0: by cost. If there is
                        none, the numbers of DRAM stand for it. */
    int buffers;     /* that a writer has, of... */
    uint64_t buffer_bytes;
    int persist; /* what is gathered stays in the tier: that must keep it, and
                    have room for all bytes of its files */
};

/* What it costs to gather a file by a rank in a tier. */
struct bm_cost {
    int rank, node;
    size_t tier;   /* in tiers[] */
    int fits;      /* there is room in the tier, and it keeps what it must */
    double gather; /* C1, seconds */
    double store;  /* C2 */
    double links, wait;
};

double bm_cost_sum(const struct bm_cost *cost);
/* The name of the i-th term, of BM_COST_TERMS. */
const char *bm_cost_term_name(int i);

/* The cheapest writer and tier of each file, among those that fit; where none
 * does, DRAM (or what 'only' says) on the rank where that would be cheapest,
 * and 'fits' is 0. A file that nobody sends to is written by the rank that
 * `spread` gives it to. 'tier' and 'choice' (each [files]) may be NULL.
 * BOUMA_OK or ENOMEM. */
int bm_place_by_cost(int *writer, bouma_tier *tier, struct bm_cost *choice,
                     const bouma_allocator *a, const struct bm_cost_rule *rule,
                     const struct bm_gathering *gathering);

/* All that can be chosen for 'file', when those before it have been placed: for
 * each rank of its group, ascending, each tier. The caller drops *out. */
int bm_cost_table(struct bm_cost **out, size_t *count, const bouma_allocator *a,
                  const struct bm_cost_rule *rule,
                  const struct bm_gathering *gathering, int64_t file);

/* Bytes times the links that they go over on their way to the writers. */
double bm_byte_hops(const struct bm_network *network,
                    const struct bm_gathering *gathering, const int *writer);

#endif
