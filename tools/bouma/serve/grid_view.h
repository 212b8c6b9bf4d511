/* grid_view.h -- a level of a variable of a grid as a Zarr array, with or
 * without time, and its chunks. */
#ifndef SERVE_GRID_VIEW_H
#define SERVE_GRID_VIEW_H

#include "sample_types.h"
#include "view_run.h"
#include "zarr_array.h"

#define GRID_VIEW_DIMS 3

/* What the samples of a level are. Nothing here belongs to a step. */
struct grid_level {
    int ndims, components, level, levels;
    int64_t full[GRID_VIEW_DIMS];  /* the shape of level 0 */
    int64_t patch[GRID_VIEW_DIMS]; /* in samples of level 0 */
    int64_t shape[GRID_VIEW_DIMS];
    int64_t first[GRID_VIEW_DIMS]; /* sample, in those of level 0 */
    int64_t step[GRID_VIEW_DIMS];  /* to the next, in the same */
    double origin[GRID_VIEW_DIMS], spacing[GRID_VIEW_DIMS]; /* of level 0 */
    bouma_type type;
};

/* A status of the library. */
int grid_level_get(struct grid_level *out, bouma_grid *grid,
                   bouma_variable *variable, int level);

/* "z", "y", "x" of a grid. */
const char *grid_axis_name(int ndims, int axis);

/* Where sample i of a level is, along an axis. */
double grid_level_position(const struct grid_level *level, int axis, int64_t i);

/* How a variable becomes an array. */
enum grid_axes {
    GRID_AXES_CF, /* time, z, y, x, component: as stored */
    GRID_AXES_OME /* t, c, z, y, x: one component in a chunk, as types that
                     image viewers have */
};

/* 'level' as an array; the number of its axis of time, of components and the
 * first of space, -1 if there is none. */
struct grid_array {
    struct zarr_array array;
    enum sent_type sent;
    int time, component, space;
};

/* 'times' is 0 if there is no axis of time. */
void grid_array_init(struct grid_array *out, const struct grid_level *level,
                     int64_t times, enum grid_axes axes);

/* The samples of a chunk. */
struct grid_chunk {
    int64_t time;  /* index of the step */
    int component; /* -1: all */
    bouma_box box; /* in samples of level 0 */
};
void grid_chunk_of(struct grid_chunk *out, const struct grid_array *array,
                   const struct grid_level *level, const int64_t *chunk);

/* Answer with a chunk, padded. 'level' is that of the example; steps in which
 * the grid is another one are refused. */
void grid_view_answer(const struct request *request, struct answer *answer,
                      const struct view_run *run,
                      const struct grid_array *array,
                      const struct grid_level *level, const char *object,
                      const char *variable, const int64_t *chunk);

#endif
