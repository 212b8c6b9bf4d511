/* own_plan.h -- a write plan of what concerns one rank (see plan/local.h): the
 * chunks that it holds parts of or owns, and all chunks of the files that it
 * writes. No rank knows more, and the files are those of a plan of all chunks,
 * byte for byte.
 *
 * Writers are a formula. Owners tell writers of their chunks. Once sizes are
 * known, a writer tells each owner who feeds it where that one's chunks are in
 * the streams of its files, and how long these are. Where files are known before sizes are (a number of
 * files with the same number of chunks each, one for each rank, or a single
 * one) that is a part of the plan. Where they follow from the sizes of all
 * chunks (`optimal`, `running`, or a number that is not given), the plan has only
 * what a rank holds and encodes. In each step, rank 0 learns all sizes and tells
 * where files end; a second plan is then made of the chunks in files
 * (own_cut.c). */
#ifndef BM_OWN_PLAN_H
#define BM_OWN_PLAN_H

#include "plan/schedule.h"
#include "write/write_job.h"

struct bm_own_plan {
    /* Those that this rank writes, and those of the writers that it feeds; of
     * the latter, its own chunks alone. Their numbers in the step are those of
     * fixed files. */
    struct bm_assignment files;
    /* Sizes of chunks, in each step, from owners to writers. */
    struct bm_route to_writers, from_owners;
    /* What writers tell: where chunks are in the stream of their file, and the
     * bytes of each file. */
    struct bm_route to_feeders, from_writers;
    uint64_t *at;          /* [chunks of the plan] */
    uint64_t *file_bytes;  /* [files] */
    struct bm_slot *slots; /* of the largest file that it writes */
    int *feeder;           /* [feeders], ascending */
    size_t feeders;
    int placed; /* that was told, and does not change if sizes are known */
    /* If files follow from sizes: */
    int waits;
    bouma_assign assign; /* how the files of 'cut' were cut */
    uint64_t *first;     /* [grids], the first chunk of each in the step */
    uint64_t chunks;     /* of the step */
    struct bm_write_plan *cut; /* of the files of the last step; NULL: none yet.
                                  That one has: */
    uint64_t *bytes;           /* [chunks of the plan], else NULL */
};

/* Why there is no such plan with these options and grids; NULL: there is. */
const char *bm_own_plan_refuses(const struct bm_options *o,
                                const struct bm_schema *schema);

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

/* Tell writers bytes[] of this rank's chunks, and learn those of its files.
 * Collective; one status on all ranks, but for ECOMM. */
int bm_own_plan_sizes(struct bm_write_job *job, int rc);

/* With these known: own->at and own->file_bytes, of all files. The same. */
int bm_own_plan_places(struct bm_write_job *job, int rc);

#endif
