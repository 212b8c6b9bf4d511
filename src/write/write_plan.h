/* write_plan.h -- who holds, who encodes: the plan of a step up to the point
 * where sizes are known. Every rank computes the same from the same facts; it
 * is kept for the next step, which mostly is alike. */
#ifndef BM_WRITE_PLAN_H
#define BM_WRITE_PLAN_H

#include "dataset/dataset.h"
#include "plan/distribute.h"

/* The blocks in which all ranks together hold some variables of a grid. */
struct bm_decomposition {
    const struct bouma_grid *grid;
    struct bm_block *blocks; /* ascending by rank */
    size_t block_count;
    size_t my_first_block;
    struct bm_partition partition;
    int *owner; /* [patches] */
    struct bm_distribution report;
};

/* The present variables of a grid, and its patches in their order. Chunk
 * first + p * count + j is patch order[p] of variable variables[j]. */
struct bm_plan_grid {
    const struct bouma_grid *grid;
    int64_t *order;
    struct bouma_variable **variables;
    struct bm_decomposition **of; /* [count], of each variable */
    size_t count;
    size_t first;
};

struct bm_write_plan {
    const bouma_allocator *a;
    struct bm_decomposition *decompositions;
    size_t decomposition_count;
    struct bm_plan_grid *grids;
    size_t grid_count;
    size_t chunks;
    int *owner;   /* [chunks] */
    size_t *mine; /* [mine_count], the chunks that this rank encodes */
    size_t mine_count;
    uint64_t raw_bytes, moved_bytes;
};

/* What a chunk is. */
struct bm_chunk {
    struct bouma_variable *variable;
    const struct bm_decomposition *decomposition;
    int64_t patch;
};
struct bm_chunk bm_plan_chunk(const struct bm_write_plan *plan, size_t chunk);

/* The blocks of this rank's puts, as bytes for the others; equal lists of
 * blocks are told once. */
void bm_plan_describe(struct bm_buffer *out, const struct bm_put *puts,
                      size_t count);

/* From the descriptions of all ranks (one after the other, sizes[ranks]). The
 * schema is numbered. Same result and message on all ranks, but for ENOMEM. */
int bm_plan_make(struct bm_write_plan **out, const bouma_allocator *a,
                 const struct bm_schema *schema, bouma_distribute scheme,
                 const struct bm_buffer *all, const size_t *sizes, int ranks,
                 int rank, struct bm_error *error);
void bm_plan_free(struct bm_write_plan *plan);

#endif
