/* render_picture.h -- cells as a picture: colours with a bar that explains
 * them, or a line; with axes and a title. */
#ifndef RENDER_PICTURE_H
#define RENDER_PICTURE_H

#include "canvas.h"
#include "raster.h"

/* One direction of a picture. */
struct picture_axis {
    const char *name;
    int64_t extent;   /* samples at full resolution */
    double low, high; /* numbers at the ends of the axis */
};

struct render_picture {
    const struct raster *raster;
    bool line; /* one row, drawn as a curve */
    bool smooth;
    int level;
    struct picture_axis rows, columns;
    double least_tick; /* no closer are the numbers at the axes; 0: any */
    bool blank;        /* cells without a value are no NaN, but empty */
    int width, height; /* pixels for them */
    double low, high;  /* values at the ends of the colours */
    const struct colour_map *map;
    const char *title, *label; /* label: the variable and its unit */
};

/* Pixels for so many samples: --size for the longer side, or, if that is 0,
 * a whole number of them for each sample and about 512 in all. */
void render_picture_size(struct render_picture *picture, int64_t size);

/* The caller ends 'out' with canvas_release(), after a failure too. */
int render_picture_draw(struct canvas *out, struct context *ctx,
                        const struct render_picture *picture);

#endif
