/* render_run.h -- the two ways of `bouma render`, once the step is open. Both
 * print what they did. Collective. */
#ifndef RENDER_RUN_H
#define RENDER_RUN_H

#include "arguments.h"
#include "progress_bar.h"
#include "render_picture.h"

enum { RENDER_LEAST = 16, RENDER_MOST = 8192 }; /* pixels */

/* What both are given. */
struct render_call {
    const struct arguments *args;
    const char *path, *target; /* of the dataset; OUT */
    double start;              /* seconds */
    struct progress_bar bar;
    bouma_options opts;
    bouma_dataset *ds;
    bouma_step *step;
    int64_t step_number;
};

int render_grid(struct render_call *call, struct context *ctx);
int render_particles(struct render_call *call, struct context *ctx);

/* Read --size, 0 if it is not given, and --colours. */
int render_read_looks(const struct render_call *call, struct context *ctx,
                      int64_t *size, const struct colour_map **map);

/* Read --range; *given tells whether there is one. */
int render_read_range(const struct render_call *call, struct context *ctx,
                      double *low, double *high, bool *given);

/* Put something between the ends of a range that has nothing there. */
void render_widen(double *low, double *high);

/* Bytes and files that all processes have read. Collective. */
bouma_dataset_info render_count_reads(const struct render_call *call,
                                      struct context *ctx);

#endif
