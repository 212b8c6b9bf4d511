/* picture_axis.h -- an axis of a picture: where values lie, and the numbers
 * beside it. */
#ifndef PICTURE_AXIS_H
#define PICTURE_AXIS_H

#include "canvas.h"
#include "ticks.h"

enum axis_scale { AXIS_LINEAR, AXIS_LOG, AXIS_LOG2 };

/* 'start' and 'pixels' are the caller's to set: the place of the lowest value,
 * and how far the highest is from it. */
struct picture_axis {
    enum axis_scale scale;
    double low, high;
    struct ticks ticks;
    bool upright; /* values grow to the top, else to the right */
    int start, pixels;
};

/* About 'wanted' numbers, no closer than 'least' (0: any distance). low < high;
 * 0 < low if it is not linear. */
void axis_init(struct picture_axis *out, enum axis_scale scale, double low,
               double high, int wanted, double least);

/* The pixel of a value; those beyond an end are at that end. */
int axis_at(const struct picture_axis *axis, double value);

/* Draw the numbers below (or left of, if upright) the pixel 'edge', letters of
 * size 'scale'; and below those of one that lies a label in the middle. */
void axis_draw(struct canvas *canvas, const struct picture_axis *axis, int edge,
               int scale, const char *label);

/* Pixels that axis_draw() needs beside the edge. */
int axis_room(const struct picture_axis *axis, int scale);

#endif
