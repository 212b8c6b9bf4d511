/* plot_data.h -- what a plot shows: named series of numbers, as curves or bars.
 *
 * The file of `bouma plot` is JSON:
 *
 *     {"format": "bouma-plot",
 *      "kind": "curves",               or "bars"
 *      "title": "Writes on theta",
 *      "x": {"label": "ranks", "scale": "log2"},
 *      "y": {"label": "GiB/s"},
 *      "series": [{"name": "balanced", "x": [512, 1024], "y": [3.1, 5.9]},
 *                 {"name": "paper", "dashed": true, "x": [512], "y": [4]}]}
 *
 * A scale is "linear" (as without), "log" (numbers at powers of 10) or "log2";
 * "low" and "high" are its ends, which are else found. Series can have "low" and
 * "high", too: the ends of a line through each point. In place of a number null
 * means that there is none. Bars have "labels", one text for each number, and no
 * "x".
 *
 * A file of results of `./dev bench` (bench/README.md), which has a "schema", is
 * shown as bars: the ratio of each figure to its reference. */
#ifndef PLOT_DATA_H
#define PLOT_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "picture_axis.h"

#define PLOT_FORMAT       "bouma-plot"
#define PLOT_BENCH_SCHEMA "bouma-bench 1"

enum {
    PLOT_MOST_SERIES = 16,
    PLOT_MOST_POINTS = 4096,
    PLOT_MOST_LABELS = 256,
    PLOT_MOST_TEXT = 256 /* bytes of each text */
};

enum plot_kind { PLOT_CURVES, PLOT_BARS };

/* NAN: there is none. */
struct plot_axis {
    char *label;
    enum axis_scale scale;
    double low, high;
};

struct plot_series {
    char *name;
    bool dashed;
    size_t count;
    double *x, *y, *low, *high; /* [count]; x of curves */
};

struct plot {
    enum plot_kind kind;
    char *title;
    struct plot_axis x, y; /* of bars: y, which lies */
    char **labels;         /* of bars, for each number of a series */
    size_t label_count;
    struct plot_series series[PLOT_MOST_SERIES];
    size_t count;
};

/* A plot without series; labels of the axes can be "". False if there is no
 * memory. The caller ends it with plot_release(), after a failure too. */
bool plot_init(struct plot *out, enum plot_kind kind, const char *title,
               const char *x_label, const char *y_label);
bool plot_add_label(struct plot *plot, const char *text);
/* A series of 'count' numbers, none of which is there; NULL: no memory, or too
 * many. */
struct plot_series *plot_add_series(struct plot *plot, const char *name,
                                    size_t count);
void plot_release(struct plot *plot);

/* Read a file's text. If it is none, false, with a message of at most 'room'
 * bytes. The caller ends *out with plot_release(), after a failure too. */
bool plot_parse(struct plot *out, const char *text, size_t size, char *message,
                size_t room);

/* The ends of an axis: as asked for, or around all numbers; 0 is on a linear
 * axis of values. low < high. */
void plot_range_x(const struct plot *plot, double *low, double *high);
void plot_range_y(const struct plot *plot, double *low, double *high);

/* A picture. The caller ends it with canvas_release(), after a failure too. */
int plot_draw(struct canvas *out, struct context *ctx, const struct plot *plot);

#endif
