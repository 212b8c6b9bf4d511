/* split.h -- ranks that write partitions of grids apart from each other.
 *
 * Ranks with samples of the same partition are a group (see rank_groups.h),
 * with a communicator of its own. A step then is two jobs, through the same
 * stages. First each group writes the files that only its own partitions have
 * samples in: all groups at the same time, and nothing goes from one to
 * another. Then all ranks write what is left: files that several partitions
 * share, other grids, and particles. The step has one manifest, and readers see
 * nothing of it before all is there.
 *
 *     all ranks       describe, split
 *     each group      plan -> distribute -> shape -> assign -> ship
 *     all ranks       one status; plan -> ... -> ship -> store -> commit
 *
 * A group that fails leaves its stages, and all ranks hear of it where they
 * meet. The groups are kept with the plan, as long as that holds. */
#ifndef BM_SPLIT_H
#define BM_SPLIT_H

#include "write/write_job.h"

struct bm_split {
    const bouma_allocator *a;
    struct bm_comm *comm; /* of this rank's group; NULL: all are one */
    int *member;          /* [comm->size]: the group's ranks in the dataset */
    int groups;
    uint8_t *present; /* [variables]: some rank has blocks of it */
    uint8_t **wanted; /* [objects]: see struct bm_plan_scope */
    int objects;
    struct bm_pipe_pool pool;
    struct bm_write_plan *plan; /* of the group's own files */
    struct bm_write_job job;    /* for them, of the step that is written */
};

/* Find the groups of a step that has been described, by the blocks of all
 * ranks. *out is NULL if no grid has partitions. Collective; ends with one
 * status on all ranks. */
int bm_split_make(struct bm_split **out, struct bm_write_job *job);
void bm_split_free(struct bm_split *s); /* accepts NULL */

/* What the plan of a job is about, into 'scope'; NULL: all chunks. */
const struct bm_plan_scope *bm_split_scope(const struct bm_write_job *job,
                                           struct bm_plan_scope *scope);

#endif
