/* chunk_plan.h -- which chunk of the benchmark goes to which file, and who
 * writes it: a pure function of all sizes.
 *
 * What a rank has of a variable is a chunk. They are in the order in which those
 * of a grid are: ranks along the Morton curve, of each its variables. Files are
 * runs of them. */
#ifndef CHUNK_PLAN_H
#define CHUNK_PLAN_H

#include "plan/placement.h"

struct chunk_plan {
    const bouma_allocator *a;
    int ranks, variables;
    int *rank_at;    /* [ranks], along the curve */
    int *position;   /* [ranks], the other way round */
    uint64_t *bytes; /* [ranks * variables] of chunks */
    int *owner;      /* the same: the rank that has it */
    struct bm_assignment files;
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

#endif
