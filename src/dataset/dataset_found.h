/* dataset_found.h -- what rank 0 finds in a dataset, for who opens it. */
#ifndef BM_DATASET_FOUND_H
#define BM_DATASET_FOUND_H

#include "dataset/dataset.h"

/* Rank 0: look for the steps, and for the attributes of the dataset, which the
 * last of them has. */
int bm_dataset_find_steps(struct bouma_dataset *ds);
int bm_dataset_find_attributes(struct bouma_dataset *ds);
/* Tell all ranks what rank 0 found, if 'rc' says that it did. Collective. */
int bm_dataset_share_found(struct bouma_dataset *ds, int rc);

/* Forget all notes. */
void bm_found_clear_notes(struct bm_found *found, const bouma_allocator *a);

#endif
