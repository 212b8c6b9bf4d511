/* write_plan.h -- who holds, who encodes: the plan of a step up to the point
 * where sizes are known. The first rank of each node computes the same from the
 * same facts, for all of its node (plan_image.h); it is kept for the next step,
 * which mostly is alike. */
#ifndef BM_WRITE_PLAN_H
#define BM_WRITE_PLAN_H

#include "comm/common.h"
#include "dataset/dataset.h"
#include "plan/chunk_subset.h"
#include "plan/distribute.h"
#include "write/tile_plan.h"

/* The blocks in which all ranks together hold some variables of a grid. If it
 * has tiles, these are the blocks of coefficients, and those that ranks have put
 * are in the plan of tiles. */
struct bm_decomposition {
    const struct bm_object *grid;
    struct bm_tile_plan *tiles; /* NULL: it has none */
    struct bm_block *blocks;    /* ascending by rank */
    size_t block_count;
    size_t my_first_block;
    struct bm_partition partition;
    int *owner; /* [partition.chunking.count] */
    struct bm_distribution report;
};

/* The present variables of a grid, and its chunks in their order. Chunk
 * first + i * count + j of the step is chunk order[i] of variables[j]. */
struct bm_plan_grid {
    const struct bm_object *grid;
    struct bm_chunking chunking;
    struct bm_chunk_subset *subset; /* if it is not all of them, else NULL */
    int64_t *order;
    struct bouma_variable **variables;
    struct bm_decomposition **of; /* [count], of each variable */
    size_t count;
    size_t first;
};

/* Times of chunks are counted in these seconds: 2^32 of them are minutes. */
#define BM_TIME_UNIT 64e-9

/* What the levels of a file had of its bytes. */
struct bm_level_share {
    uint32_t file;
    uint64_t bytes[BM_MAX_LEVELS];
};

/* With `weighted`: what it took to encode each chunk in the last step. */
struct bm_plan_times {
    uint32_t *each; /* [chunks], on the first rank of a node; else NULL */
    int known;      /* they are there; the same on all ranks */
    int pause;      /* steps until owners are sought again */
};

/* With `predict`: the stored bytes of each chunk in the last step; and the
 * levels of the files that this rank wrote. */
struct bm_plan_sizes {
    uint64_t *each;      /* [chunks], on the first rank of a node; else NULL */
    uint8_t *size_bytes; /* [chunks], the same: see table_costs.h */
    int known;           /* they are there; the same on all ranks */
    struct bm_level_share *shares; /* [share_room], ascending by file */
    size_t share_count, share_room;
};

struct bm_write_plan {
    const bouma_allocator *a;
    struct bm_decomposition *decompositions;
    size_t decomposition_count;
    struct bm_plan_grid *grids;
    size_t grid_count;
    size_t chunks;
    uint32_t *file; /* [chunks], as layouts have fixed it: see assign.h; else
                       NULL */
    int64_t fixed_files;
    int *file_grid; /* [fixed_files], the grid whose file it is, in grids[] */
    /* If these are not all fixed files of the step: their numbers there. */
    uint32_t *file_number;   /* [fixed_files], else NULL */
    int64_t all_fixed_files; /* of the step */
    int *owner;              /* [chunks] */
    uint32_t *by_owner;      /* [chunks], ascending by owner, then by number */
    size_t *mine; /* [mine_count], the chunks that this rank encodes */
    size_t mine_count;
    uint64_t raw_bytes, moved_bytes;
    int tiled;            /* some grid has tiles */
    uint64_t tiled_bytes; /* that move to those who transform them */
    int64_t most_patches; /* of any rank; once for variables laid out alike */
    struct bm_plan_times times;
    struct bm_plan_sizes sizes;
    /* What the ranks of the node have in common; and whether the arrays are in
     * there, but for 'mine' and those of times and sizes. They are only read
     * then. */
    struct bm_common common;
    int is_view;
    struct bm_own_plan *own; /* the plan is about what concerns this rank alone,
                                and made so: own_plan.h; else NULL */
    struct bm_common files;  /* what they have in common of a step's files */
};

/* What a chunk is. */
struct bm_chunk {
    struct bouma_variable *variable;
    const struct bm_decomposition *decomposition;
    int64_t number; /* among the chunks of its grid */
    uint64_t key;
};
struct bm_chunk bm_plan_chunk(const struct bm_write_plan *plan, size_t chunk);

/* The blocks of this rank's puts, as bytes for the others; equal lists of
 * blocks are told once. */
void bm_plan_describe(struct bm_buffer *out, const struct bm_put *puts,
                      size_t count);

/* The chunks of which a rank holds parts and which others encode, ascending:
 * *out, which the caller frees. Found by search. BOUMA_OK or ENOMEM. */
int bm_plan_find_sent(const struct bm_write_plan *plan, int rank, size_t **out,
                      size_t *count);

/* What a plan is about, if partitions are planned apart (see split.h): chunks
 * of a group's partitions, or all that no group has for itself. */
struct bm_plan_scope {
    int inside;                   /* 1: the group's */
    const uint8_t *present;       /* [variables]: some rank has blocks of it */
    const uint8_t *const *wanted; /* [objects]: of each partition, whether it is
                                      the group's; NULL: the grid is not cut */
    const int *rank; /* of the group's ranks, their numbers in the dataset */
};

/* The descriptions of all ranks, one after the other. */
struct bm_descriptions {
    const struct bm_buffer *all;
    const size_t *sizes;               /* [ranks] */
    int ranks, rank;                   /* this one */
    const struct bm_plan_scope *scope; /* NULL: the plan is about all chunks */
};

/* A file of the assignment, as a number in the step. */
int64_t bm_plan_file_number(const struct bm_write_plan *plan, int64_t file);

/* The schema is numbered. Same result and message on all ranks, but for ENOMEM.
 */
int bm_plan_make(struct bm_write_plan **out, const bouma_allocator *a,
                 const struct bm_schema *schema, bouma_distribute scheme,
                 const struct bm_descriptions *told, struct bm_error *error);
void bm_plan_free(struct bm_write_plan *plan);

/* Fill in what is this rank's own: mine, and where its blocks begin. Found by
 * search. BOUMA_OK or ENOMEM. */
int bm_plan_find_mine(struct bm_write_plan *plan, int rank);

/* Fill in all that follows from the owners of the decompositions: owner,
 * by_owner, mine, moved_bytes, most_patches. BOUMA_OK or ENOMEM. */
int bm_plan_list_owners(struct bm_write_plan *plan, int ranks, int rank);

/* Find owners anew by plan->times, if ranks have not the same to do with those
 * they have, and take them if that is of use: *changed. The same on all ranks;
 * after ENOMEM the plan can only be freed. */
int bm_plan_balance(struct bm_write_plan *plan, int ranks, int rank,
                    int *changed);

#endif
