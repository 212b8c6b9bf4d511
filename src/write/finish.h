/* finish.h -- the end of a step: heads are written, what ranks have to say of
 * their files is gathered, and rank 0 makes a manifest of it and commits. */
#ifndef BM_FINISH_H
#define BM_FINISH_H

#include "write/ship.h"

/* Nothing of the caller's is needed any more after this: heads and manifest are
 * made. The files are ended, by a thread with the option 'async'. Collective.
 */
int bm_step_finish(struct bm_step *s, int rc);

/* Once all files of all ranks are stored, commit. Collective. After a failure,
 * *removable tells that the commit did not get as far as a rename. */
int bm_step_commit(struct bm_step *s, int *removable, int rc);

#endif
