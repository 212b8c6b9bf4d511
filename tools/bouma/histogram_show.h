/* histogram_show.h -- a histogram for people and for other programs: bars of
 * text, a table, a picture. */
#ifndef HISTOGRAM_SHOW_H
#define HISTOGRAM_SHOW_H

#include <stdio.h>

#include "canvas.h"

struct histogram_shown {
    const char *title; /* "coal/T, step 3" */
    const char *label; /* of the values: "T in K" */
    bouma_histogram about;
    const bouma_bin *bins;
    size_t count;
};

/* Bars of text on standard output, one for each bin. */
int histogram_print(const struct histogram_shown *shown, struct context *ctx);

/* A table for spreadsheets: "low,high,count,error,lower,upper" and a line for
 * each bin. The caller frees *out, after a failure too. */
int histogram_table(char **out, size_t *bytes, struct context *ctx,
                    const struct histogram_shown *shown);

/* A picture. The caller ends it with canvas_release(), after a failure too. */
int histogram_draw(struct canvas *out, struct context *ctx,
                   const struct histogram_shown *shown);

#endif
