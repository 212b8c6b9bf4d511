/* golden_particles.h -- the datasets of tests/golden that have particles; see
 * golden_sets.h. */
#ifndef GOLDEN_PARTICLES_H
#define GOLDEN_PARTICLES_H

#include "bouma.h"

const char *golden_particles_name(int i);
int64_t golden_particles_step(int i, int k);
/* 'options' come with an identity. */
int golden_particles_write(int i, const char *path, bouma_options *options);
int golden_particles_differences(int i, const char *path);

#endif
