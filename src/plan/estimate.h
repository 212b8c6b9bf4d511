/* estimate.h -- what a write by many ranks would do, from its decomposition
 * alone: the plan of a step with one variable, and what follows from it. */
#ifndef BM_ESTIMATE_H
#define BM_ESTIMATE_H

#include "plan/distribute.h"
#include "plan/placement.h"

struct bm_estimate_task {
    struct bm_tiling tiling; /* see bm_estimate_grid() */
    int ranks;
    int64_t blocks[3]; /* ranks along each of three axes; their product is
                          'ranks' */
    uint64_t sample_bytes;
    int levels; /* see bm_estimate_grid() */
    /* Of a section in the table of a file, and of a chunk but for its key and
     * the sizes of its levels; all is stored 'copies' times. */
    uint64_t section_bytes, row_bytes;
    int copies;
    double ratio;                 /* of raw bytes to stored ones, over all */
    double vary;                  /* of the largest ratio to the smallest; 1 or
                                     more */
    const bouma_options *options; /* complete */
    int64_t most_files;
    struct bm_cost_rule rule; /* its network is NULL if none is known; `cost`
                                 needs one */
};

struct bm_estimate {
    const bouma_allocator *a;
    int *owner;      /* [patches] */
    uint32_t *file;  /* [patches] */
    uint64_t *bytes; /* [patches], as they are stored */
    int64_t files;
    uint64_t *file_bytes;          /* [files], with the tables of chunks */
    int64_t *file_patches;         /* [files] */
    int *writer;                   /* [files] */
    bouma_tier *tier;              /* [files] */
    struct bm_gathering gathering; /* if the network or `place` needs it */
    double byte_hops;              /* if there is a network */
    struct bm_cost *choice;        /* [files], with `cost` */
    int64_t fewest_patches;        /* of any rank */
    struct bm_distribution distribution;
    int64_t moved_messages; /* pairs of ranks, one of which sends parts */
    uint64_t shipped_bytes;
    int64_t shipped_messages;
    int64_t rounds;
    int64_t writers; /* ranks that write a file */
};

/* The grid of a task, cut as a caller's would be who wants such patches (see
 * bm_tiling_edges()), and its levels. NULL if all is well, else what is wrong,
 * as the end of a sentence. */
const char *bm_estimate_grid(struct bm_estimate_task *task, int ndims,
                             const int64_t *shape, const int64_t *patch);
/* Samples of the grid, and of a whole patch. */
uint64_t bm_estimate_samples(const struct bm_estimate_task *task);
uint64_t bm_estimate_patch_samples(const struct bm_estimate_task *task);
/* The patch at some coordinates among all, along the grid's own axes; -1 if
 * there is none. */
int64_t bm_estimate_patch(const struct bm_estimate_task *task,
                          const int64_t *at);

/* BOUMA_OK, ENOMEM, or ELIMIT (too many chunks). Ended by
 * bm_estimate_release(), after a failure too. */
int bm_estimate_make(struct bm_estimate *out, const bouma_allocator *a,
                     const struct bm_estimate_task *task);
void bm_estimate_release(struct bm_estimate *estimate);

/* Fill in what the task says of grid, ranks and blocks. */
void bm_estimate_tell_grid(bouma_plan_report *out,
                           const struct bm_estimate_task *task);

/* The most cube-like blocks: of all ways to write 'ranks' as a product, the one
 * with the smallest surface between blocks. */
void bm_estimate_blocks(int64_t blocks[3], const struct bm_estimate_task *task,
                        int ranks);

/* The block of a rank, the last axis fastest; it may be empty. */
bouma_box bm_estimate_block(const struct bm_estimate_task *task, int64_t rank);

#endif
