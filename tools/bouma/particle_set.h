/* particle_set.h -- the columns of all sources as one set of particles: which
 * of them are the position, and which are other variables. */
#ifndef PARTICLE_SET_H
#define PARTICLE_SET_H

#include "arguments.h"
#include "axes.h"
#include "particles_source.h"

struct particle_set {
    struct particles_source *sources;
    int source_count;
    uint64_t rows;         /* of all processes */
    struct row_range part; /* this process's */
    int ndims;
    bouma_type type; /* of positions: f32 or f64 */
    bool vector;     /* the position is one column, the first */
    struct table_column *axes[MAX_AXES];
    void *converted; /* positions in their type, axis by axis; NULL:
                        as they are in the columns */
    struct table_column **attributes;
    size_t attribute_count;
};

/* Open what the arguments name: SRC... and --column. The caller ends *out with
 * particle_set_release(), after a failure too. */
int particle_set_open(struct particle_set *out, struct context *ctx,
                      const struct arguments *args);
void particle_set_release(struct particle_set *set);

/* Choose columns by --position, --var and --type-of among those of the frame.
 */
int particle_set_choose(struct particle_set *set, struct context *ctx,
                        const struct arguments *args);

/* Of one particle, with the columns that were chosen: bytes of its values, and
 * of those that have to be copied into memory when they are loaded. */
struct particle_bytes {
    uint64_t each, held;
};
struct particle_bytes particle_set_bytes(const struct particle_set *set);

/* Load this process's part of the columns that were chosen. Collective. */
int particle_set_load(struct particle_set *set, struct context *ctx,
                      const struct arguments *args);

/* Go on to the next frame of the sources, one file after the other. */
int particle_set_next(struct particle_set *set, struct context *ctx,
                      bool *found);

/* The frame of a dump that is loaded, or NULL. */
const struct lammps_frame *particle_set_frame(const struct particle_set *set);

/* Where the positions that were loaded lie, and the values of a column; 'parts'
 * has room for an array of each axis. */
bouma_array particle_set_position(const struct particle_set *set, void **parts);
bouma_array particle_set_values(const struct particle_set *set,
                                const struct table_column *column);

#endif
