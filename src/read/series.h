/* series.h -- the same box of a variable in one step after the other. */
#ifndef BM_SERIES_H
#define BM_SERIES_H

#include "read/read.h"

/* What is wanted: 'request' is that of the first step, and for the model, which
 * the variables of all steps must be like. */
struct bm_series {
    struct bouma_dataset *ds;
    const struct bm_read_request *request;
    const int64_t *steps; /* [count] */
    size_t count;
    int64_t stride; /* bytes from the array of a step to that of the next */
};

/* Read the steps; *done becomes the number of those that were read before one
 * failed. EMISMATCH if grid or variable are others there. Collective. */
int bm_series_read(size_t *done, const struct bm_series *s);

/* ---- for the files of series only ---------------------------------------- */

/* One who reads steps, with a handle of its own. Zeroed but for the first two it
 * is at no step. */
struct bm_series_lane {
    struct bouma_dataset *ds;
    const struct bouma_variable *model;
    struct bouma_step *step;         /* at hand, or NULL */
    struct bouma_variable *variable; /* in it, or NULL */
    int misses; /* steps in a row that did not lie as the one before */
};

/* Let go of the step at hand. */
void bm_series_leave(struct bm_series_lane *lane);

/* Read a step. 'expected' is what the list says of one that may be read without
 * its manifest, or NULL. Collective. */
int bm_series_read_step(struct bm_series_lane *lane, uint64_t step,
                        const struct bm_step_entry *expected,
                        const struct bm_read_request *request);

#endif
