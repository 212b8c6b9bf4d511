/* particle_plan.h -- which particles go to which file, and who writes it: from
 * what all ranks hold. The first rank of each node computes it, for all of its
 * node (particle_image.h). */
#ifndef BM_PARTICLE_PLAN_H
#define BM_PARTICLE_PLAN_H

#include "dataset/dataset.h"
#include "plan/aggregate.h"
#include "plan/assign.h"
#include "plan/concern.h"
#include "plan/particle_cut.h"
#include "plan/particle_router.h"

/* What one rank sends to one file of a set. */
struct bm_delivery {
    uint32_t file; /* of the set */
    int rank;
    uint64_t count;
    uint64_t first; /* index of the first one in the file's arrays */
};

/* The arrays of a plan, by the exchanges after which they are there. */
enum bm_particle_stage {
    BM_UNITS = 1,      /* what ranks hold; only while files are made of it */
    BM_FILES = 2,      /* which unit goes to which file */
    BM_DELIVERIES = 4, /* who sends how many there, and who writes it */
};

/* One set of particles of the step. */
struct bm_set_plan {
    struct bm_object *set;
    struct bouma_variable **variables; /* [count], present; position first */
    int count;
    size_t first_block, end_block; /* of this rank, in ds->given.blocks */
    uint32_t first_subfile;
    size_t my_first;    /* of this rank's units */
    uint64_t bytes;     /* of one particle */
    uint64_t particles; /* of all ranks */
    int cut;            /* some of these go to several files */
    size_t unit_count;  /* of all ranks */
    /* BM_UNITS, on the first rank of a node: */
    struct bm_unit *units; /* [unit_count], ascending by rank */
    uint8_t *sampled;      /* [unit_count], whether it is of a sample */
    /* BM_FILES: */
    size_t *first_unit;          /* [ranks + 1] */
    struct bm_aggregation files; /* its counts may be those of samples */
    struct bm_delivery *whole;   /* [whole_count], of units that stay whole,
                                    until all deliveries are there */
    size_t whole_count;
    /* BM_DELIVERIES: */
    uint64_t *counts;               /* [files.files], particles */
    struct bm_assignment placed;    /* of the files: writer and tier */
    struct bm_writers writers;      /* of these */
    struct bm_delivery *deliveries; /* ascending by file, then rank */
    size_t delivery_count;
    size_t *first_delivery; /* [files.files + 1] */
    size_t *by_rank;        /* [delivery_count], ascending by rank, then file */
    uint64_t shipped_bytes; /* that go between ranks */
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
    int views; /* stages whose arrays the ranks of the node have in common */
};

/* Where the particles of a block of particles are. */
void bm_particle_block_positions(struct bm_positions *p,
                                 const struct bm_particle_block *block);

/* The units of all sets, from what ranks hold, on the first rank of each node,
 * which also knows then whether some are to be cut; and, once all ranks know
 * that, with these cut. 'rc' is this rank's status so far, and so is what comes
 * back. Collective. */
int bm_particle_units_find(struct bm_particle_plan *plan,
                           struct bouma_dataset *ds, int rc);
int bm_particle_units_cut(struct bm_particle_plan *plan,
                          struct bouma_dataset *ds, int rc);
/* The variables that the step has: for which given[set->set->count] is not 0.
 * ENOMEM. */
int bm_particle_variables(struct bm_set_plan *set, const bouma_allocator *a,
                          const uint8_t *given);
/* The bytes that a file of a set is to have. */
uint64_t bm_particle_target(const struct bm_set_plan *set,
                            const struct bouma_dataset *ds);

/* Make the plan. 'rc' is this rank's status so far. Collective; ends with one
 * status on all ranks. */
int bm_particle_plan_make(struct bm_particle_plan *plan,
                          struct bouma_dataset *ds, int rc);
void bm_particle_plan_release(struct bm_particle_plan *plan);
/* Give back the arrays of some stages. */
void bm_particle_plan_drop(struct bm_particle_plan *plan, int stages);

/* On the first rank of a node: what goes to a set's files of units that stay
 * whole; and with that, all that goes there, and who writes them. 'told' has a
 * cursor for each rank, with what each has of others, or is NULL if none was
 * cut. */
int bm_deliveries_begin(struct bm_set_plan *set, const bouma_allocator *a);
int bm_deliveries_end(struct bm_particle_plan *plan, size_t number,
                      struct bouma_dataset *ds, struct bm_cursor *told);

/* What a rank sends to a file; NULL: nothing. */
const struct bm_delivery *bm_delivery_of(const struct bm_set_plan *set,
                                         uint32_t file, int rank);
/* The bytes that go between ranks for a file. */
uint64_t bm_delivery_bytes(const struct bm_set_plan *set, uint32_t file);
/* What a rank sends are the deliveries by_rank[*begin] up to by_rank[*end]. */
void bm_deliveries_of_rank(const struct bm_set_plan *set, int rank,
                           size_t *begin, size_t *end);

/* The files come behind those of grids. */
void bm_particle_plan_number(struct bm_particle_plan *plan, uint32_t first);

#endif
