/* borrowed.h -- a caller's arrays between the put and the end of the step. They
 * are borrowed: read when the step ends, from where they are. A caller that
 * cannot leave them alone till then hands over copies; one that does not know
 * it has to is found out by the option 'check'. */
#ifndef BM_BORROWED_H
#define BM_BORROWED_H

#include "dataset/dataset.h"

/* A block or particles that a caller hands over, to be read from a copy; ENOMEM
 * and a message, or why a block's samples cannot be had. */
int bm_put_keep_copy(struct bm_put *put, const bouma_allocator *a,
                     struct bm_error *error);
int bm_particle_block_keep_copy(struct bm_particle_block *block,
                                const bouma_allocator *a,
                                struct bm_error *error);

/* Drop what belongs to it. */
void bm_particle_block_release(struct bm_particle_block *block,
                               const bouma_allocator *a);

/* Remember what is in borrowed arrays. */
void bm_put_remember(struct bm_put *put);
void bm_particle_block_remember(struct bm_particle_block *block);

/* With the option 'check', before anything is read: whether all borrowed arrays
 * are mapped still, so that reading them does not end the program. ESTATE, and
 * whose is not. */
int bm_borrowed_is_there(struct bouma_dataset *ds);
/* Copy here at once what would be fetched from a device more than once, or
 * sample by sample: arrays of a variable with a relative tolerance, and those
 * of which no chunk has whole rows. */
int bm_borrowed_fetch(struct bouma_dataset *ds);
/* With the option 'check': whether all borrowed arrays are as they were handed
 * over. ESTATE, and whose is not. */
int bm_borrowed_check(struct bouma_dataset *ds);

#endif
