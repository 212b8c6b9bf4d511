/* files_image.h -- the sizes of a step's chunks, and which file each is in, for
 * all ranks of a node: the first one has found them out, the others look at
 * them (see plan_image.h). */
#ifndef BM_FILES_IMAGE_H
#define BM_FILES_IMAGE_H

#include "write/write_job.h"

/* plan.bytes, files, writers, the room of predicted chunks, and misfits of the
 * first rank of the node become those of all its ranks; it may be called again
 * when they have changed, and then needs no memory. No rank may be looking at
 * them meanwhile. 'rc' is the status of each; the worst comes out, on all ranks
 * of the node. Collective among these. */
int bm_files_share(struct bm_write_job *job, int rc);

/* Give back what the job has of them. */
void bm_files_release(struct bm_write_job *job);

#endif
