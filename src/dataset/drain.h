/* drain.h -- steps that were written to a local copy are copied to the dataset
 * itself (the target) while the program goes on, by a thread on each rank that
 * makes no call of MPI:
 *
 *     hand     a step is committed in the local copy; the rank's files are
 *              queued
 *     copy     the thread copies them, checks and syncs them
 *     agree    at the next collective call: all ranks have copied it
 *     publish  rank 0's thread commits the manifest in the target
 *
 * Steps are published in the order in which they were handed over. What fails
 * is tried again at the next step, and told by bm_drain_finish(); the local
 * copy has everything in any case. The thread has its own roots in both stores.
 * Where it may not be (see 'concurrent' in bouma_io; an allocator of the
 * caller's), the same is done by whoever hands over. */
#ifndef BM_DRAIN_H
#define BM_DRAIN_H

#include "dataset/dataset.h"

/* With both stores of the dataset open: begin. On rank 0 the list of steps, so
 * far that of the second store, is taken over; so is that of losses. */
int bm_drain_new(struct bouma_dataset *ds);
/* End what is being done, and the thread: nothing more can be handed over.
 * Accepts NULL, and may be called twice. */
void bm_drain_stop(struct bm_drain *d);
/* Stops it first. Accepts NULL. */
void bm_drain_free(struct bm_drain *d);

/* While nothing is drained: the losses on record in the second store may be
 * others now. */
int bm_drain_load_losses(struct bouma_dataset *ds);

/* Room for a step of which this rank has 'count' subfiles: their numbers are to
 * be put there. NULL if there is no memory. */
uint32_t *bm_drain_reserve(struct bm_drain *d, size_t count);

/* The step that there is room for was committed; or, if that is not 'certain',
 * it may have been: then it is drained if it was. Collective; what fails is
 * told later. */
void bm_drain_hand(struct bouma_dataset *ds, const struct bm_step_entry *entry,
                   int certain);

/* Wait until all is drained. Collective. */
int bm_drain_finish(struct bouma_dataset *ds);

#endif
