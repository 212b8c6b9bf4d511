/* make_way.h -- with the option 'clobber', what is in the way of a new dataset
 * is removed: the dataset of that path and, with 'persist', its local copies.
 */
#ifndef BM_MAKE_WAY_H
#define BM_MAKE_WAY_H

#include "dataset/dataset.h"

/* All stores are checked and claimed, by all ranks, before anything is removed
 * anywhere; local copies go first. If there was a dataset at 'path', rank 0 has
 * its directory open afterwards, in ds->store, under a claim. ds->claim.epoch
 * is the least one that the new dataset may have. Collective. */
int bm_make_way(struct bouma_dataset *ds, const char *path);

#endif
