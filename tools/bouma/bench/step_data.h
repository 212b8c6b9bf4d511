/* step_data.h -- what a rank has of a step: samples of a block, or particles.
 *
 * A load without particles is a grid, of which every rank has a block of the
 * same size. Particles are anywhere in the block of their rank, of a domain from
 * 0 to 1; their number is the load's. A value follows from where it is, so that
 * any that is lost or swapped shows, whoever reads it: a smooth field, and a
 * little noise. With the load s3d the field has a flame, and noise there alone.
 */
#ifndef STEP_DATA_H
#define STEP_DATA_H

#include <stddef.h>

#include "bouma.h"
#include "load.h"

/* How a step is stored. */
struct step_request {
    int64_t block[3]; /* samples of a rank along z, y, x; of grids */
    bouma_type type;  /* of these: F32 or F64 */
    bouma_grid_spec grid;
    bouma_variable_spec variable; /* of all */
    char hz_template[64];         /* that the grid points to */
};

/* The samples of all ranks along z, y, x. */
void step_shape(const struct step_request *step,
                const struct load_request *load, int64_t shape[3]);
/* Those of a rank. */
bouma_box step_box(const struct step_request *step,
                   const struct load_request *load, int64_t rank);
/* Where the particles of a rank are. */
bouma_bounds step_bounds(const struct load_request *load, int64_t rank);

/* Whether the load has particles; how many a rank has of them; and the
 * variables beside the position, which takes the first three of the load. */
static inline bool step_has_particles(const struct load_request *load)
{
    return load->load->widths != NULL;
}
uint64_t step_particles(const struct load_request *load, int64_t rank);
int step_variables(const struct load_request *load);
/* The type of such a variable: f64, f32 or u16, by its width. */
bouma_type step_type(const struct load_request *load, int variable);

/* The samples of a rank of a variable: a dense array of the type. */
void step_fill_samples(void *data, const struct step_request *step,
                       const struct load_request *load, int64_t rank,
                       int variable);
/* The first sample that is further off than 'tolerance', or their number. */
size_t step_check_samples(const void *data, const struct step_request *step,
                          const struct load_request *load, int64_t rank,
                          int variable, double tolerance);

/* Positions of the particles of a rank: x, y, z of each. */
void step_fill_positions(float *position, const struct load_request *load,
                         int64_t rank, uint64_t count);
/* A variable of particles at these positions: a dense array of its type. */
void step_fill_variable(void *data, const struct load_request *load,
                        int variable, const float *position, uint64_t count);
/* The first particle whose value is not the one of its position, or 'count'. */
uint64_t step_check_variable(const void *data, const struct load_request *load,
                             int variable, const float *position,
                             uint64_t count);

#endif
