/* settle_patches.h -- grids whose patches are left to the library get their
 * edges in the first step that has data of them.
 *
 * They are those that the grid has in the step that is extended, or else in the
 * last step of the dataset, so that all steps have the same; or, if it is in
 * neither, what fits the blocks of the ranks: see patch_shape.h. Later steps
 * keep them. Nothing else of the grid changes, its levels neither. */
#ifndef BM_SETTLE_PATCHES_H
#define BM_SETTLE_PATCHES_H

#include "write/write_job.h"

/* Ranks have agreed on the schema. A plan of the last step that does not fit is
 * not used again. Collective; ends with one status on all ranks. */
int bm_settle_patches(struct bm_write_job *job);

#endif
