/* sweep_play.h -- what acts are made of, and those of sweep_steps.c. */
#ifndef SWEEP_PLAY_H
#define SWEEP_PLAY_H

#include "sweep_acts.h"

/* The status of a collective call: one same on all ranks, with a message when
 * it is a failure, and none without a fault. */
int sweep_together(struct sweep_run *run, const char *call, int status);

/* The status of a call that is not collective: ranks may differ, but go on
 * together. */
int sweep_apart(struct sweep_run *run, const char *call, int status);

int sweep_first_of(int status, int next);

int sweep_open_dataset(struct sweep_run *run, const char *call,
                       int (*how)(bouma_dataset **out, const char *path,
                                  const bouma_options *opts));
int sweep_write_step(struct sweep_run *run, int step);
int sweep_close_dataset(struct sweep_run *run);

/* Steps 0 and 1, closed well; and step 2, too. */
void sweep_prepare_dataset(struct sweep_run *run);
void sweep_prepare_three(struct sweep_run *run);

/* Acts: particles into arrays of the caller; patches, and arrays that are
 * converted; definitions of a step; steps that go. */
int sweep_play_into(struct sweep_run *run);
int sweep_play_patches(struct sweep_run *run);
int sweep_play_like(struct sweep_run *run);
int sweep_play_delete(struct sweep_run *run);
int sweep_play_truncate(struct sweep_run *run);

#endif
