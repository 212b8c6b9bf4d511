/* particle_cells.h -- particles as a tree of cells, each with some thousand of
 * them: what viewers of points load as they come closer.
 *
 * A cell of depth d is one of 2^d along each axis. It has those particles in its
 * box whose quality is above that of its parent, up to its own; the qualities
 * are such that each cell has about as many. All cells together have each
 * particle with a finite position once. */
#ifndef SERVE_PARTICLE_CELLS_H
#define SERVE_PARTICLE_CELLS_H

#include "bouma.h"
#include "request.h"

/* About as many particles has a cell that has children. */
#define CELL_PARTICLES 10000
/* A cell of this depth has all that is left. */
#define CELL_DEPTH 18
/* Further variables are left out, and those with which a particle would have
 * more values than that. */
#define CELL_COLUMNS 64
#define CELL_VALUES  260

struct cell_tree {
    bouma_particles *particles;
    int ndims;
    double count; /* of particles with a finite position */
    double low[BOUMA_MAX_DIMS], size[BOUMA_MAX_DIMS];
    int last; /* cells of this depth have all that is left */
};

struct cell {
    int depth;
    int64_t at[3]; /* x first; 0 on axes that there are not */
};

/* Between the bounds of the particles, or in a cube around them. */
void cell_tree_init(struct cell_tree *out, bouma_particles *particles,
                    const bouma_particles_info *about, bool cube);

/* "1-0-0-1" (depth first) or "0_0_1" (of 'depth'); false if there is no such
 * cell. Pure. */
bool cell_parse(struct cell *out, const struct cell_tree *tree,
                const char *text);
bool cell_parse_at(struct cell *out, const struct cell_tree *tree, int depth,
                   const char *text);

/* The box of a cell; the outermost ones have no end, so that rounding loses no
 * particle. Pure. */
void cell_box(bouma_bounds *out, const struct cell_tree *tree,
              const struct cell *cell);

/* The quality of a cell, from that of its parent and of about how many
 * particles are in its box. Pure. */
double cell_next_quality(double parent, double count);

/* The qualities of a cell: those above 'from' up to 'to' are in it; from == to
 * if there is nothing. Counts particles in the cells above, up to their
 * qualities. A status of the library. */
int cell_quality(double *from, double *to, const struct cell_tree *tree,
                 const struct cell *cell);
/* The same, if the quality of the parent is known. */
int cell_quality_below(double *to, const struct cell_tree *tree,
                       const struct cell *cell, double from);

/* How many particles a cell has. */
int cell_count(uint64_t *out, const struct cell_tree *tree,
               const struct cell *cell, double from, double to);

/* Where the i-th of 'count' goes, so that those that come one after the other
 * are far from each other. Pure. */
uint64_t cell_spread(uint64_t i, uint64_t count, uint64_t stride);
uint64_t cell_stride(uint64_t count);

/* A variable of particles. */
struct cell_column {
    bouma_variable *variable;
    bouma_variable_info about;
};

/* The position, and all other variables that the step has, up to CELL_COLUMNS
 * and CELL_VALUES: how many. */
int cell_columns(struct cell_column *out, bouma_particles *particles);

/* Read the particles of a cell into the answer's body: 'head' bytes that are
 * left as zeros, 'row' bytes for each, and 'tail' bytes for each at the end.
 * 'put' makes a row. Any first part of them is spread over the cell. *count is
 * how many there are. A status; or the answer tells what is wrong. */
struct cell_format {
    size_t head, row, tail;
    void (*put)(const void *user, void *row, const void *const *values);
    const void *user;
};
int cell_read(uint64_t *count, const struct cell_tree *tree,
              const struct cell *cell, double from, double to,
              const struct cell_column *columns, int column_count,
              const struct cell_format *format, struct answer *answer);

#endif
