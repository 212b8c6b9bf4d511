/* truncate.h -- dropping the last steps of a dataset, for a restart. */
#ifndef BM_TRUNCATE_H
#define BM_TRUNCATE_H

#include "dataset/dataset.h"

/* Drop all steps beyond 'last' (-1: all there are), durably, wherever the
 * dataset is kept. Nothing is being stored, held back or drained. Collective.
 */
int bm_dataset_truncate(struct bouma_dataset *ds, int64_t last);

#endif
