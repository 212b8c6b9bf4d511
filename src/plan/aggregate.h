/* aggregate.h -- which file holds which particles: the aggregation tree over
 * what ranks hold, and its rivals.
 *
 * What is assigned are units: all particles of one rank (or of one block that
 * it handed over), or a part of them, with their bounds and their number. A
 * unit goes to one file as a whole. */
#ifndef BM_AGGREGATE_H
#define BM_AGGREGATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/strict_math.h"
#include "bouma.h"
#include "plan/node_groups.h"

/* Bounds are closed; they may be flat, overlap or be identical. Those that are
 * not finite or not in order (of particles that are all NaN, say) count as the
 * origin. A unit without particles goes nowhere: BM_NO_FILE. */
struct bm_unit {
    double low[3], high[3]; /* axes past ndims are 0 */
    uint64_t count;
    int rank;
};

#define BM_NO_FILE UINT32_MAX

/* Files of a particle set, at most. */
#define BM_AGGREGATE_FILES ((int64_t)1 << 20)

/* Particles of a file, at most: below 2^32, with room for files that are not
 * quite even. Only units that have more exceed it (and what the schemes
 * `single`, `per-rank`, `per-node`, `count` and `aug` put together whatever it is). */
#define BM_AGGREGATE_PARTICLES ((uint64_t)3 << 30)

/* `kdtree` cuts at edges of the units' bounds, `split` between their centres.
 * For files of `split` within a tenth of their mean, no unit may have more than
 * an eighth of the target: particle_router.h.
 *
 * With 'files' there are, if there are as many units with particles,
 * - of `kdtree`: exactly so many;
 * - of `split`, `optimal`, `running`: at most so many, and fewer only where a
 *   unit is so large that others would be nearly empty (`running`: empty);
 * - of `count`: exactly so many;
 * - of `aug`: about so many cells, and no more files than those;
 * `single`, `per-rank` and `per-node` do not ask. More are made if these would have more
 * than BM_AGGREGATE_PARTICLES. */
struct bm_aggregation_spec {
    bouma_assign scheme;
    int ndims;
    int best_axis;   /* 1: the best split of all axes, not of the longest */
    uint64_t bytes;  /* of one particle */
    uint64_t target; /* bytes of a file; 0: bm_aggregate_target() */
    int64_t files;   /* wanted; 0: as many as follow from the target */
    double overfull; /* a leaf may have this times the target... */
    double lopsided; /* ...if the best split's larger side has at least this
                        times the smaller one; 0 in both: 1.5 and 4. With
                        'files' neither is asked. */
    int ranks;
    /* For `per-node`: of these; NULL: they are one group. */
    const struct bm_node_groups *nodes;
};

/* A node of the aggregation tree, in preorder: the left child of an inner node
 * is the next one. Files are numbered in the order of the leaves. */
struct bm_aggregation_node {
    uint32_t right; /* index of the right child; 0: a leaf */
    uint32_t file;  /* of a leaf */
    int axis;       /* -1 of a leaf, and where no plane divides the units (their
                       centres are one): then they are divided by their order */
    double split;   /* units to the left have their centre below or at it */
};

struct bm_aggregation {
    const bouma_allocator *a;
    uint32_t *file; /* [units] */
    int64_t files;
    uint64_t *counts;                  /* [files], particles; none is 0 */
    struct bm_aggregation_node *nodes; /* `kdtree` and `split` only */
    size_t node_count;
};

/* BOUMA_OK, ENOMEM, EINVAL for an unknown scheme, number of axes or rank,
 * ELIMIT for 2^32 units, 2^62 particles, or too many files of `per-rank` and
 * `per-node` (a
 * target or a number of files that asks for too many gives as many as can be).
 * The order of units of equal bounds decides between them, so the same units
 * always give the same files. Without particles there are no files. */
int bm_aggregate(struct bm_aggregation *out, const bouma_allocator *a,
                 const struct bm_aggregation_spec *spec,
                 const struct bm_unit *units, size_t count);
void bm_aggregation_release(struct bm_aggregation *g);

/* Bytes of a file for so many bytes on so many ranks: with few ranks about as
 * many files as ranks, with many of them one for sixteen (paper 002, VI-A2).
 *
 *     ranks           up to 16   64   256   1024   4096 and more
 *     ranks per file         1    2     4      8              16
 *
 * and the square root of ranks/16 between. But a file has no less than 4 MiB
 * (so less than that is one file), and no more than 2 GiB, unless there would
 * be more than BM_AGGREGATE_FILES of them. */
uint64_t bm_aggregate_target(uint64_t bytes, int ranks);

#endif
