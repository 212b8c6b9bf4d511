/* describe.h -- the beginning of a step that is written: what ranks hold, its
 * directory, and the plan, made or used again. */
#ifndef BM_DESCRIBE_H
#define BM_DESCRIBE_H

#include "write/ship.h"

/* The first exchange of a step: is all well, do all agree, is a new plan
 * needed? Collective. */
int bm_step_describe(struct bm_step *s, int status);

/* After a failure: the directory, if it was made for this step. Files may have
 * been made in it if all ranks got as far as to 'prepare', and are removed when
 * all have come here; then it is collective. Another writer that has taken over
 * may be about to use it. */
void bm_step_remove_directory(struct bm_step *s, int prepared, int rc);

#endif
