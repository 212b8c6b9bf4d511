/* own_plan.h -- a write plan of what concerns one rank (see plan/local.h): the
 * chunks that it holds parts of or owns, and all chunks of the files that it
 * writes, or that are written by those who write its chunks. No rank knows more,
 * and the files are those of a plan of all chunks, byte for byte.
 *
 * Writers are a formula. Owners tell writers of their chunks, and these tell all
 * owners who feed them. Where files are known before sizes are (a number of
 * files with the same number of chunks each, one for each rank, or a single
 * one) that is a part of the plan. Where they follow from the sizes of all
 * chunks (`optimal`, `running`, or a number that is not given), the plan has only
 * what a rank holds and encodes. In each step, rank 0 learns all sizes and tells
 * where files end; a second plan is then made of the chunks in files
 * (own_cut.c). */
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
    /* If files follow from sizes: */
    int waits;
    uint64_t *first; /* [grids], the first chunk of each in the step */
    uint64_t chunks; /* of the step */
    struct bm_write_plan *cut; /* of the files of the last step; NULL: none yet.
                                  That one has: */
    uint64_t *bytes;           /* [chunks of the plan], else NULL */
};

/* Why there is no such plan with these options and grids; NULL: there is. */
const char *bm_own_plan_refuses(const struct bouma_dataset *ds);

/* Instead of bm_plan_make(): BOUMA_OK; ECOVER on all ranks if blocks do not
 * cover a grid: the plan of all tells where; or another status. *out is NULL
 * without chunks, on all ranks. Collective; one status on all ranks. */
int bm_own_plan_make(struct bm_write_plan **out, struct bm_write_job *job);
void bm_own_plan_free(struct bm_own_plan *own, const bouma_allocator *a);

/* If files follow from sizes, make the plan of this step's files: job->plan.grids
 * becomes it, with the sizes of its chunks. Those of this rank's own chunks are
 * there. Else nothing happens. Collective; one status on all ranks. */
int bm_own_plan_cut(struct bm_write_job *job, int rc);

/* The files of the plan, for a step. BOUMA_OK or ENOMEM. */
int bm_own_plan_files(struct bm_assignment *out,
                      const struct bm_write_plan *plan);

/* Tell bytes[] of this rank's chunks, and learn those of the others. Collective;
 * one status on all ranks, but for ECOMM. */
int bm_own_plan_sizes(struct bm_write_job *job, int rc);

#endif
