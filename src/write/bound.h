/* bound.h -- tolerances that are relative to a variable's range become absolute
 * ones, which needs the values of all ranks. */
#ifndef BM_BOUND_H
#define BM_BOUND_H

#include "dataset/dataset.h"

/* Before a step is described: forget those of the last step. */
void bm_bounds_reset(struct bm_schema *schema);

/* Set 'bound' of the variables with a relative tolerance, from the puts of all
 * ranks, which are sorted by variable. 'rc' is this rank's status so far and
 * comes back, or the failure of the exchange. Collective. */
int bm_bounds_find(struct bouma_dataset *ds, int rc);

#endif
