/* particle_plan.h -- which particles go to which file, and who writes it: from
 * what all ranks hold, the same on every rank. */
#ifndef BM_PARTICLE_PLAN_H
#define BM_PARTICLE_PLAN_H

#include "dataset/dataset.h"
#include "plan/aggregate.h"
#include "plan/assign.h"
#include "plan/particle_cut.h"
#include "plan/particle_router.h"

/* What one rank sends to one file of a set. */
struct bm_delivery {
    uint32_t file; /* of the set */
    int rank;
    uint64_t count;
    uint64_t first; /* index of the first one in the file's arrays */
};

/* One set of particles of the step. */
struct bm_set_plan {
    struct bm_object *set;
    struct bouma_variable **variables; /* [count], present; position first */
    int count;
    size_t first_block, end_block; /* of this rank, in ds->given.blocks */
    uint64_t bytes;                /* of one particle */
    uint64_t particles;
    struct bm_unit *units; /* [unit_count], of all ranks, ascending by rank */
    size_t unit_count;
    uint8_t *sampled; /* [unit_count], whether it is of a sample */
    int cut;          /* there are such */
    size_t my_first;  /* of this rank's units */
    struct bm_aggregation files;
    int *writer;      /* [files.files] */
    bouma_tier *tier; /* the same: of the writer's buffers */
    uint32_t first_subfile;
    struct bm_delivery *deliveries; /* ascending by file, then rank */
    size_t delivery_count;
    size_t *first_delivery; /* [files.files + 1] */
};

/* A block of particles of this rank: one unit or, if its particles may go to
 * several files, a sample of them. */
struct bm_particle_block_units {
    size_t first;            /* unit of the set, counted from my_first */
    struct bm_sample sample; /* count 0: the block of particles is one unit */
    struct bm_particle_router router; /* then of no use */
};

struct bm_particle_plan {
    const bouma_allocator *a;
    struct bm_set_plan *sets; /* [set_count] */
    size_t set_count;
    struct bm_particle_block_units *blocks; /* [ds->given.block_count] */
    size_t block_count;
    bouma_assign scheme;
    int64_t files;
};

/* Where the particles of a block of particles are. */
void bm_particle_block_positions(struct bm_positions *p,
                                 const struct bm_particle_block *block);

/* The units of all sets, from what ranks hold; and the bytes that a file of a
 * set is to have. 'rc' is this rank's status so far; only for lack of memory
 * does the status differ between ranks. Collective. */
int bm_particle_units_find(struct bm_particle_plan *plan,
                           struct bouma_dataset *ds, int rc);
uint64_t bm_particle_target(const struct bm_set_plan *set,
                            const struct bouma_dataset *ds);

/* Make the plan. 'rc' is this rank's status so far. Collective; ends with one
 * status on all ranks. */
int bm_particle_plan_make(struct bm_particle_plan *plan,
                          struct bouma_dataset *ds, int rc);
void bm_particle_plan_release(struct bm_particle_plan *plan);

/* The files come behind those of grids. */
void bm_particle_plan_number(struct bm_particle_plan *plan, uint32_t first);

#endif
