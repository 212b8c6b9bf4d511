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
#include "bouma.h"

/* Bounds are closed and finite; they may be flat, overlap or be identical. A
 * unit without particles goes nowhere: BM_NO_FILE. */
struct bm_unit {
    double low[3], high[3]; /* axes past ndims are 0 */
    uint64_t count;
    int rank;
};

#define BM_NO_FILE UINT32_MAX

struct bm_aggregation_spec {
    bouma_assign scheme;
    int ndims;
    int best_axis;   /* 1: the best split of all axes, not of the longest */
    uint64_t bytes;  /* of one particle */
    uint64_t target; /* bytes of a file; 0: bm_aggregate_target() */
    int64_t files;   /* wanted; 0: as many as follow from the target */
    double overfull; /* a leaf may have this times the target... */
    double lopsided; /* ...if the best split's larger side has at least this
                        times the smaller one; 0 in both: 1.5 and 4 */
    int ranks;
};

/* A node of the aggregation tree, in preorder: the left child of an inner node
 * is the next one. Files are numbered in the order of the leaves. */
struct bm_aggregation_node {
    uint32_t right; /* place of the right child; 0: a leaf */
    uint32_t file;  /* of a leaf */
    int axis;
    double split; /* units to the left have their centre below or at it */
};

struct bm_aggregation {
    const bouma_allocator *a;
    uint32_t *file; /* [units] */
    int64_t files;
    uint64_t *counts;                  /* [files], particles */
    struct bm_aggregation_node *nodes; /* `kdtree` and `split` only */
    size_t node_count;
};

/* BOUMA_OK, ENOMEM, EINVAL for an unknown scheme, ELIMIT for too many files.
 * The order of units of equal bounds decides between them, so the same units
 * always give the same files. */
int bm_aggregate(struct bm_aggregation *out, const bouma_allocator *a,
                 const struct bm_aggregation_spec *spec,
                 const struct bm_unit *units, size_t count);
void bm_aggregation_release(struct bm_aggregation *g);

/* Bytes of a file for so many bytes on so many ranks: with few ranks about as
 * many files as ranks, with many of them one for sixteen (paper 002, VI-A2). */
uint64_t bm_aggregate_target(uint64_t bytes, int ranks);

#endif
