/* cost.h -- who gathers the bytes of a file, and in which memory: placement by
 * the cost of moving them, after Tessier et al. (TAPIOCA), section 4.2.
 *
 * For each rank A of a file's group (the ranks that send to it), and each tier
 * of A's node:
 *
 *     C1 = sum over producers i: latency * hops(i, A) + bytes(i) / bandwidth
 *     C2 =                       latency * hops(A, target) + bytes / bandwidth
 *
 * where latency is the larger one of network and tier, and bandwidth the least
 * on the way. The smallest C1 + C2 is taken, of equal ones the lowest rank.
 *
 * Data to data: no MPI, no file, no clock, no hwloc. What is where comes in as
 * a struct bm_network (made by src/machine, or by a test). */
#ifndef BM_COST_H
#define BM_COST_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "bouma.h"

/* What a memory or storage keeps when the program has ended. */
enum bm_persistence { BM_KEEPS_NOTHING, BM_KEEPS_FOR_JOB, BM_KEEPS };

struct bm_tier {
    bouma_tier kind;
    double latency;    /* seconds */
    double bandwidth;  /* bytes a second */
    uint64_t capacity; /* bytes for all ranks of a node; 0: no limit is known */
    enum bm_persistence persistence;
};

/* The network between ranks, and the target that files are on. */
struct bm_network {
    const void *context;
    /* Links between two ranks; 0: they are on one node. */
    int (*hops)(const void *context, int from, int to);
    int (*hops_to_target)(const void *context, int rank);
    int (*node)(const void *context, int rank); /* 0, 1, ... */
    /* May be NULL. sums[i] = the sum over k of weight[k] * hops(ranks[k],
     * ranks[i]), in less time than that of all pairs; 'weight' NULL: all 1.
     * BOUMA_OK or ENOMEM. */
    int (*sums)(const void *context, const bouma_allocator *a, const int *ranks,
                const double *weight, size_t count, double *sums);
    double latency;   /* seconds, of one link */
    double bandwidth; /* bytes a second, of one link */
    double target_latency, target_bandwidth;
};

#endif
