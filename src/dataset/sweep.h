/* sweep.h -- files that nobody needs any more: those of a step that was written
 * again, or is to go. Whoever calls this has claimed the dataset. */
#ifndef BM_SWEEP_H
#define BM_SWEEP_H

#include "dataset/dataset.h"

/* The files in the directory of a step that were written before 'kept': an
 * earlier version, or what a killed writer left of one. Their number; with
 * 'remove' they are removed, as far as that can be done. */
uint64_t bm_sweep_older(struct bm_store *s, uint64_t step,
                        struct bm_generation kept, int remove);

/* Remove a step, of which the index knows nothing. First its manifest,
 * durably: so it is there whole or not at all, whatever happens. */
int bm_sweep_step(struct bm_store *s, uint64_t step, struct bm_error *error);

/* Remove the older files of steps that were replaced on this rank's storage;
 * but not while a rank has an older version open. Collective. */
int bm_sweep_replaced(struct bouma_dataset *ds);
/* The same when nobody reads any more. */
void bm_sweep_all_replaced(struct bouma_dataset *ds);

#endif
