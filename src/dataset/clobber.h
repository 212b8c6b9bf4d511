/* clobber.h -- a dataset makes way for a new one of the same path. */
#ifndef BM_CLOBBER_H
#define BM_CLOBBER_H

#include "store/store.h"

/* Whether the dataset in a directory may be removed: it is one, or one that was
 * half removed, and there is nothing else between its files. EEXISTS if not,
 * and why. */
int bm_clobber_check(struct bm_store *s, struct bm_error *error);

/* The same, and that nobody writes it: EBUSY. */
int bm_clobber_check_idle(struct bm_store *s, int force,
                          struct bm_error *error);

/* Remove a dataset that this process has claimed, durably; what stays is the
 * directory, as of a creation that was killed, and the epochs: so a writer of
 * the old one that is still at work somewhere finds that it was taken over.
 * The first thing that goes is its identity, so whenever it is interrupted,
 * there is the old dataset, or none, which can be removed again. */
int bm_clobber(struct bm_store *s, struct bm_error *error);

#endif
