/* addition.h -- whether what was written can be added to a step. */
#ifndef BM_ADDITION_H
#define BM_ADDITION_H

#include "dataset/dataset.h"

/* Rank 0, before a manifest is committed: that of an addition has something that
 * the step and its other additions do not have, and nothing that they have; and
 * its grids are theirs. EEXISTS, EINVAL, or why the step cannot be read. Any
 * other manifest is all right. */
int bm_addition_check(struct bouma_dataset *ds, const struct bm_manifest *m);

#endif
