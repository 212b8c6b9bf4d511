/* particle_refine.h -- a query of particles that is read from coarse to fine. */
#ifndef BM_PARTICLE_REFINE_H
#define BM_PARTICLE_REFINE_H

#include "read/collector.h"

/* What a query wants of a level of detail: up to the quality 'end'. */
struct bm_slice {
    int level;
    double end;
};

struct bouma_particles_refinement {
    struct bouma_step *step;
    struct bm_object *set;
    struct bm_criteria asked; /* of these variables and conditions: */
    bouma_variable **variables;
    struct bm_condition *conditions;
    struct bm_slice slices[BM_MAX_LEVELS];
    int count, next;              /* slices; the next to be read */
    int looked;                   /* what they cost is known: */
    struct bm_particle_look look; /* so much */
    struct bm_draw keys;
    struct bm_collector kept; /* by key: of the last slice, if that has more */
    uint64_t given;           /* than were wanted; so many were given */
    int freed;                /* by its caller */
    int calls;                /* under way: they keep it */
};

/* As many levels as a budget allows, from a refinement that has given nothing
 * yet: their particles that match to 'each', as bm_particle_query() does. The
 * refinement stays as it was. */
struct bm_particle_levels {
    int level; /* the finest; -1: none */
    int complete;
    uint64_t particles; /* of these levels, in chunks that can have matches */
    uint64_t all;       /* of all levels */
    bouma_limit limit;
    uint64_t next_bytes; /* of the next level, as far as is known */
};
struct bm_budget;
int bm_particle_refinement_pass(
    struct bm_particle_levels *out, struct bouma_particles_refinement *r,
    const struct bm_budget *budget,
    int (*each)(void *context, const bouma_batch *batch), void *context);

#endif
