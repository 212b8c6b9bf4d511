/* truncate.h -- dropping steps of a dataset: the last ones, for a restart, or
 * single ones. */
#ifndef BM_TRUNCATE_H
#define BM_TRUNCATE_H

#include "dataset/dataset.h"

/* Drop all steps beyond 'last' (-1: all there are), durably, wherever the
 * dataset is kept. Nothing is being stored, held back or drained. Collective.
 */
int bm_dataset_truncate(struct bouma_dataset *ds, int64_t last);

/* The same with the steps of a list, all of which are there, or were when they
 * began to be dropped. */
int bm_dataset_delete(struct bouma_dataset *ds,
                      const struct bm_step_list *steps);

/* Rank 0: whether files are left of a step that has no manifest and was dropped:
 * by one who was interrupted. */
int bm_dataset_half_dropped(struct bouma_dataset *ds, uint64_t step);

#endif
