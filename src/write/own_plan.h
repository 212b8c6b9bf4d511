/* own_plan.h -- a write plan of what concerns one rank (see plan/local.h): the
 * chunks that it holds parts of or owns, and all chunks of the files that it
 * writes, or that are written by those who write its chunks. No rank knows more,
 * and the files are those of a plan of all chunks, byte for byte.
 *
 * It is for files that are known before sizes are: a number of files with the
 * same number of chunks each, one for each rank, or a single one; and writers
 * that are a formula. Owners tell writers of their chunks, and these tell all
 * owners who feed them. */
#ifndef BM_OWN_PLAN_H
#define BM_OWN_PLAN_H

#include "write/write_job.h"

struct bm_own_plan {
    struct bm_assignment files; /* those that concern this rank; their numbers
                                   in the step are those of fixed files */
    /* Sizes of chunks, in each step: to their writers, and from these to all
     * that feed them. */
    struct bm_route to_writers, from_owners;
    struct bm_route from_writers;
    uint8_t *told; /* [told_count], u64 each, of all chunks in its files */
    size_t told_count;
    struct bm_message *tells; /* [tell_count], all of these bytes */
    size_t tell_count;
};

/* Why there is no such plan with these options and grids; NULL: there is. */
const char *bm_own_plan_refuses(const struct bouma_dataset *ds);

/* Instead of bm_plan_make(): BOUMA_OK; ECOVER on all ranks if blocks do not
 * cover a grid: the plan of all tells where; or another status. *out is NULL
 * without chunks, on all ranks. Collective; one status on all ranks. */
int bm_own_plan_make(struct bm_write_plan **out, struct bm_write_job *job);
void bm_own_plan_free(struct bm_own_plan *own, const bouma_allocator *a);

/* The files of the plan, for a step. BOUMA_OK or ENOMEM. */
int bm_own_plan_files(struct bm_assignment *out,
                      const struct bm_write_plan *plan);

/* Tell bytes[] of this rank's chunks, and learn those of the others. Collective;
 * one status on all ranks, but for ECOMM. */
int bm_own_plan_sizes(struct bm_write_job *job, int rc);

#endif
