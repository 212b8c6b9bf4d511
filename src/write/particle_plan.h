/* particle_plan.h -- which particles go to which file, and who writes it: from
 * what all ranks hold, the same on every rank. */
#ifndef BM_PARTICLE_PLAN_H
#define BM_PARTICLE_PLAN_H

#include "dataset/dataset.h"
#include "plan/aggregate.h"
#include "plan/assign.h"
#include "plan/pieces.h"

/* What one rank sends to one file of a set. */
struct bm_delivery {
    uint32_t file; /* of the set */
    int rank;
    uint64_t count;
    uint64_t first; /* place of the first one in the file's arrays */
};

/* One set of particles of the step. */
struct bm_set_plan {
    struct bouma_grid *set;
    struct bouma_variable **variables; /* [count], present; position first */
    int count;
    uint64_t bytes; /* of one particle */
    uint64_t particles;
    struct bm_unit *units; /* [unit_count], of all ranks, ascending by rank */
    size_t unit_count;
    size_t my_first; /* of this rank's units */
    struct bm_aggregation files;
    int *writer; /* [files.files] */
    uint32_t first_subfile;
    struct bm_delivery *deliveries; /* ascending by file, then rank */
    size_t delivery_count;
    size_t *first_delivery; /* [files.files + 1] */
};

/* The swarms of this rank, cut into units. */
struct bm_swarm_units {
    size_t first; /* unit of the set, counted from my_first */
    size_t count;
    struct bm_pieces pieces; /* count 0: the swarm is one unit */

    /* If it is in pieces, its particles by file: those for files[i] are
     * index[first_index[i]] up to the next. */
    uint32_t *files; /* [file_count], ascending */
    size_t file_count;
    uint64_t *first_index; /* [file_count + 1] */
    uint64_t *index;
};

/* The place of a file in units->files, or -1. */
int64_t bm_swarm_find_file(const struct bm_swarm_units *units, uint32_t file);

struct bm_particle_plan {
    const bouma_allocator *a;
    struct bm_set_plan *sets; /* [set_count] */
    size_t set_count;
    struct bm_swarm_units *swarms; /* [ds->swarm_count] */
    size_t swarm_count;
    bouma_assign scheme;
    int64_t files;
};

/* Which scheme the options mean for particles. */
bouma_assign bm_particle_scheme(bouma_assign assign);

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
