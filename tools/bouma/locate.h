/* locate.h -- find the step and the variable that a command names, or say what
 * there is instead. */
#ifndef LOCATE_H
#define LOCATE_H

#include "arguments.h"

/* Where things are looked for. */
struct located_step {
    bouma_dataset *ds;
    bouma_step *step;
    int64_t number;
};

/* The number of the step that --step names: a number, "last", or a negative one
 * that counts from the end, -1 for the last; without --step, the last. -1 if
 * there is no step at all. */
int locate_number(int64_t *number, struct context *ctx, const bouma_dataset *ds,
                  const struct arguments *args);

/* Open the step of option --step, or the last one; *number says which. The
 * caller frees *out. Collective. */
int locate_step(bouma_step **out, int64_t *number, struct context *ctx,
                bouma_dataset *ds, const struct arguments *args);

/* The grid and the variable named "OBJECT/VAR"; they belong to the step. If
 * there are none, these look whether an earlier or a later step has them.
 * Collective. */
int locate_variable(bouma_grid **grid, bouma_variable **variable,
                    struct context *ctx, struct located_step in,
                    const char *name);

/* The same, but "OBJECT" alone will do if it has just one variable. */
int locate_drawable(bouma_grid **grid, bouma_variable **variable,
                    struct context *ctx, struct located_step in,
                    const char *name);

/* The set of particles of that name; it belongs to the step. */
int locate_particles(bouma_particles **out, struct context *ctx,
                     struct located_step in, const char *name);

/* A variable of a set that the step has. */
int locate_particle_variable(bouma_variable **out, struct context *ctx,
                             bouma_particles *particles, const char *name);

/* The variables of particles with their position, which is the first. */
static inline int particle_variable_count(const bouma_particles *particles)
{
    return 1 + bouma_particles_variable_count(particles);
}

static inline bouma_variable *particle_variable(bouma_particles *particles,
                                                int i)
{
    return i ? bouma_particles_variable(particles, i - 1)
             : bouma_particles_position(particles);
}

#endif
