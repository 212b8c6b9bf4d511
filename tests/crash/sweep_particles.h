/* sweep_particles.h -- a few particles, for the sweeps: particle k of a step
 * has values that follow from both, so a reader knows what it must find. */
#ifndef SWEEP_PARTICLES_H
#define SWEEP_PARTICLES_H

#include "bouma.h"

#define SWEEP_PARTICLES 60 /* of a step, over all ranks */

/* What one handle has defined so far; all NULL at first. */
struct sweep_particles_writer {
    bouma_particles *dust;
    bouma_variable *id, *mass;
};

/* Write one step, of which this rank holds every 'ranks'-th particle, as
 * scenario_write(). Collective. */
int sweep_particles_write(bouma_dataset *ds, struct sweep_particles_writer *w,
                          int64_t step, int rank, int ranks);

/* The number of particles in 'd' (position, id, mass) that are not those of the
 * step, or there twice. */
int sweep_particles_wrong(const bouma_particle_data *d, int64_t step);

/* Ask in several ways; 'wrong' is set if the answer is not right. */
int sweep_particles_ask(bouma_step *step, int64_t number, int *wrong);

/* All particles, in equal shares for all ranks; and those of boxes, one for
 * each rank. Collective. */
int sweep_particles_share(bouma_step *step, int64_t number, int *count,
                          int *wrong);
int sweep_particles_box(bouma_step *step, int64_t number, int rank, int ranks,
                        int *count, int *wrong);

/* Those that are not strays. */
#define SWEEP_PARTICLES_FINITE (SWEEP_PARTICLES - SWEEP_PARTICLES / 20)

#endif
