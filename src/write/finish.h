/* finish.h -- the end of a step: heads are written, what ranks have to say of
 * their files is gathered, and rank 0 makes a manifest of it and commits. */
#ifndef BM_FINISH_H
#define BM_FINISH_H

#include "write/ship.h"

/* Gather what was written and commit it. Collective. After a failure,
 * *removable tells that the commit did not get as far as a rename. */
int bm_step_finish(struct bm_step *s, bouma_record *record, int *removable,
                   int rc);

#endif
