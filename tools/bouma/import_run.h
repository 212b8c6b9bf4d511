/* import_run.h -- the two ways of `bouma import`. Both print what they did.
 * Collective. */
#ifndef IMPORT_RUN_H
#define IMPORT_RUN_H

#include "arguments.h"

/* The variables of a grid, in one step. */
int import_grid(struct context *ctx, const struct arguments *args);
/* A set of particles, in one step or one for each frame. */
int import_particles(struct context *ctx, const struct arguments *args);

#endif
