/* series.h -- the same box of a variable in one step after the other. */
#ifndef BM_SERIES_H
#define BM_SERIES_H

#include "read/read.h"

/* Zeroed but for the first two it is at no step. */
struct bm_series {
    struct bouma_dataset *ds;
    const struct bouma_variable *model; /* which the others must be like */
    struct bouma_step *step;            /* at hand, or NULL */
    struct bouma_variable *variable;    /* in it, or NULL */
    int misses; /* steps in a row that did not lie as the one before */
};

/* A series of so many steps begins: worth a list of all steps? */
int bm_series_begin(struct bm_series *s, size_t steps);
void bm_series_end(struct bm_series *s);

/* Read a box of a step: 'request' is one for the model, whose samples go to its
 * array. EMISMATCH if grid or variable are others there. 'rc' is this rank's
 * status so far. Collective. */
int bm_series_read(struct bm_series *s, uint64_t step,
                   const struct bm_read_request *request, int rc);

/* Whether coarser levels are averages of samples, and not samples. */
int bm_variable_averages(const struct bouma_variable *v);

#endif
