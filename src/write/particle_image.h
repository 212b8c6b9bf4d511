/* particle_image.h -- one plan of particles for all ranks of a node, as
 * plan_image.h has it for grids. */
#ifndef BM_PARTICLE_IMAGE_H
#define BM_PARTICLE_IMAGE_H

#include "write/particle_plan.h"

/* What the first rank of the node knows of the sets, and its arrays of some
 * stages (enum bm_particle_stage), become those of all ranks of the node; only
 * the first need say which. They stay until the next step, but for BM_UNITS,
 * which go with the next call. 'rc' is the status of each; the worst comes out,
 * on all ranks of the node, but for a lack of memory. Collective among these.
 */
int bm_particle_share(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                      int stages, int rc);

#endif
