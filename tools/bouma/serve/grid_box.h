/* grid_box.h -- the variable of a grid and the box of it that a request names.
 */
#ifndef SERVE_GRID_BOX_H
#define SERVE_GRID_BOX_H

#include "reader.h"
#include "sample_types.h"

struct grid_box {
    bouma_grid *grid;
    bouma_variable *variable;
    bouma_grid_info about;
    bouma_variable_info values;
    bouma_box box; /* all, unless the request has a parameter 'box' */
};

/* Find 'variable' of the grid 'object'. False, and the answer tells, if there
 * is none, or if the box cannot be understood. */
bool grid_box_find(struct grid_box *out, const struct read_step *step,
                   const struct request *request, struct answer *answer,
                   const char *object, const char *variable);

/* The parameter 'component': -1 if it is not given. */
bool grid_box_component(int *out, const struct grid_box *box,
                        const struct request *request, struct answer *answer);

/* Bytes that are decoded for the box at a level, about: those of all patches
 * that it meets. */
uint64_t grid_box_cost(const bouma_grid_info *grid,
                       const bouma_variable_info *values, const bouma_box *box,
                       int level);

/* Own values of all components to those that are sent: of component 'component',
 * or of all if that is -1. */
void grid_box_convert(void *to, const void *from, size_t samples,
                      int components, int component,
                      const struct conversion *how);

/* Read the box at a level: component 'component' (-1: all), as values of a
 * type, into the answer's body. For views: 'how' needs no 'from'. A status of
 * the library; or the answer tells what is wrong. */
int grid_box_read(const struct grid_box *box, int level, int component,
                  struct conversion how, const struct request *request,
                  struct answer *answer);

#endif
