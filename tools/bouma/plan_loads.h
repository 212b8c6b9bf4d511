/* plan_loads.h -- what ranks hold in a plan, if not equal shares: the options
 * --sizes, --counts and --clustered of bouma plan. */
#ifndef PLAN_LOADS_H
#define PLAN_LOADS_H

#include "arguments.h"
#include "size_grid.h"

struct plan_loads {
    struct size_grid sizes;
    uint64_t *counts; /* [ranks], else NULL */
    int ndims;
};

/* Read what the options name, and set the loads of 'spec', whose ranks and axes
 * are known; with --counts alone also its number of particles. *out must
 * outlive it, and is ended by plan_loads_release(), after a failure too. */
int plan_loads_read(struct plan_loads *out, struct context *ctx,
                    const struct arguments *args, bouma_plan_spec *spec);
void plan_loads_release(struct plan_loads *loads);

#endif
