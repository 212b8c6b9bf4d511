/* chunk_plan.h -- which chunk of the benchmark goes to which file, and who
 * writes it: a pure function of all sizes. The first rank of a node makes it,
 * for all of its node.
 *
 * What a rank has of a variable is a chunk. They are in the order in which those
 * of a grid are: ranks along the Morton curve, of each its variables. Files are
 * runs of them. */
#ifndef CHUNK_PLAN_H
#define CHUNK_PLAN_H

#include "comm/common.h"
#include "plan/concern.h"
#include "plan/placement.h"

struct chunk_plan {
    const bouma_allocator *a;
    int ranks, variables;
    int *rank_at;    /* [ranks], along the curve */
    int *position;   /* [ranks], the other way round */
    uint64_t *bytes; /* [ranks * variables] of chunks */
    int *owner;      /* the same: the rank that has it */
    struct bm_assignment files;
    struct bm_writers writers; /* of these */
    int is_view;               /* the arrays are those of the node: */
    struct bm_common common;
};

/* The order, without sizes. A zeroed plan can be released. BOUMA_OK or ENOMEM.
 */
int chunk_plan_init(struct chunk_plan *p, const bouma_allocator *a,
                    const int64_t grid[3], int variables);
void chunk_plan_release(struct chunk_plan *p);

/* The first of a rank's chunks. */
static inline size_t chunk_plan_first(const struct chunk_plan *p, int rank)
{
    return (size_t)p->position[rank] * (size_t)p->variables;
}

/* Files and writers for sizes[ranks][variables]; what was planned before is
 * dropped. BOUMA_OK, ENOMEM, EINVAL or ELIMIT: see bm_assign(). */
int chunk_plan_make(struct chunk_plan *p, const uint64_t *sizes,
                    bouma_assign scheme, int64_t files,
                    const struct bm_place_task *place);

/* The plan of the first rank of the node becomes that of all its ranks, which
 * have released theirs. 'rc' is the status of each; the worst comes out, on all
 * ranks of the node. Collective among these. */
int chunk_plan_share(struct chunk_plan *p, const bouma_allocator *a,
                     struct bm_comm *comm, int variables, int rc,
                     struct bm_error *error);

#endif
