/* particle_raster.h -- particles seen along an axis, gathered into the cells of
 * a picture, one for each pixel.
 *
 * A particle is a disc. With a smaller share of them each is larger, by
 * quality^(-1/ndims), as the distance between them is, so that they fill the
 * picture as all of them do. */
#ifndef PARTICLE_RASTER_H
#define PARTICLE_RASTER_H

#include "particle_query.h"
#include "raster.h"

/* What a cell keeps of the particles over it. */
enum splat_rule {
    SPLAT_DENSITY, /* the logarithm of their number, over the quality */
    SPLAT_MEAN,
    SPLAT_MAX,
    SPLAT_MIN
};

struct particle_raster {
    enum splat_rule rule;
    int row_axis, column_axis; /* of the position; row_axis -1: one row */
    double low[MAX_AXES];      /* the part that is seen, by axis */
    double high[MAX_AXES];
    int component;        /* of the attribute; not of SPLAT_DENSITY */
    double radius;        /* of a particle, in cells */
    double *sum, *weight; /* [rows][columns] */
    uint64_t particles;   /* that were drawn, by all processes */
};

/* Draw the particles of the query, whose variables are the position and the
 * attribute (if there is one), into 'out': rows and columns are set. Each
 * process draws a part of the quality; process 0 has all of it then. The caller
 * ends 'out' with raster_release(), after a failure too. Collective. */
int particle_raster_draw(struct raster *out, struct particle_raster *raster,
                         struct context *ctx,
                         const struct particle_query *query);

#endif
