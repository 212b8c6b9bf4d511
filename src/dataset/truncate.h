/* truncate.h -- dropping steps of a dataset: the last ones, for a restart, or
 * single ones. */
#ifndef BM_TRUNCATE_H
#define BM_TRUNCATE_H

#include "dataset/dataset.h"

/* Drop all steps beyond 'last' (-1: all there are), durably, wherever the
 * dataset is kept. Nothing is being stored, held back or drained. Collective.
 */
int bm_dataset_truncate(struct bouma_dataset *ds, int64_t last);

/* The same with the steps of a list, all of which are there, or were once and
 * are on record as deleted. */
int bm_dataset_delete(struct bouma_dataset *ds,
                      const struct bm_step_list *steps);

/* Rank 0: whether some step of a list is neither there nor on record as deleted;
 * the first one such. */
int bm_dataset_find_unknown(struct bouma_dataset *ds,
                            const struct bm_step_list *steps,
                            uint64_t *unknown);

#endif
