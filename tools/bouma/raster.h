/* raster.h -- the samples of a box at a level, gathered into rows and columns
 * of cells for a picture.
 *
 * One of three axes is left out: its samples are projected, or there is just
 * one. (Grids of fewer axes have more in front, of one sample each, as the
 * library sees them.) Every process reads some layers of patches, in pieces
 * that take little memory. */
#ifndef RASTER_H
#define RASTER_H

#include <stddef.h>

#include "axes.h"
#include "context.h"

/* What a cell keeps of its samples. NaN is left out of all but the first. */
enum raster_rule {
    RASTER_PICK, /* one of them */
    RASTER_SPAN, /* the smallest and the largest */
    RASTER_MAX,
    RASTER_MIN,
    RASTER_MEAN
};

/* What is read. */
struct raster_source {
    bouma_dataset *ds;
    bouma_variable *variable;
    bouma_type type;
    int components, component;
    int ndims, level;
    int64_t patch[MAX_AXES];
    bouma_box box;
    bouma_selection selection; /* what the box has at that level */
};

struct raster {
    enum raster_rule rule;
    int across, row, column; /* axes, of three */
    int rows, columns;       /* cells; no more than there are samples */
    double *value;           /* [rows][columns]; NaN where there is none */
    double *high;            /* the largest, of RASTER_SPAN */
    double *count;           /* of the samples that are in a cell */
};

/* Samples along axis 'axis' of three. */
int64_t raster_extent(const struct raster_source *source, int axis);

/* Read; rule, across, rows and columns are set, and may ask for more cells than
 * there are samples. Process 0 has all of it then. The caller ends it with
 * raster_release(), after a failure too. Collective. */
int raster_read(struct raster *raster, struct context *ctx,
                const struct raster_source *source);
void raster_release(struct raster *raster);

#endif
