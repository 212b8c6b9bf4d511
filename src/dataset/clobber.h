/* clobber.h -- a dataset makes way for a new one of the same path. */
#ifndef BM_CLOBBER_H
#define BM_CLOBBER_H

#include "dataset/sweep.h"

/* One that is to make way. Its steps may be many: the functions with 'until'
 * pause then, set *more, and are called again (see bm_comm_do()). */
struct bm_clobber {
    struct bm_store *s;        /* the caller's */
    struct bm_step_list there; /* directories of steps */
    size_t at;                 /* the next one */
    int marked;                /* it has begun to go */
    struct bm_sweep sweep;
};

/* Whether there is nothing but what a creation that was killed has left. */
int bm_clobber_is_unfinished(struct bm_store *s);

/* Whether the dataset in a directory may be removed: it is one, or one that was
 * half removed, and nobody writes it. EEXISTS or EBUSY if not, and why. To be
 * released in any case. */
int bm_clobber_begin(struct bm_clobber *c, struct bm_store *s, int force,
                     struct bm_error *error);
void bm_clobber_release(struct bm_clobber *c);

/* Whether there is nothing else between its files: EEXISTS, and what. */
int bm_clobber_check(struct bm_clobber *c, double until, int *more,
                     struct bm_error *error);

/* Remove a dataset that was checked, and that this process has claimed,
 * durably; what stays is the directory, as of a creation that was killed, and
 * the epochs: so a writer of the old one that is still at work somewhere finds
 * that it was taken over. The first thing that goes is its identity, so
 * whenever it is interrupted, there is the old dataset, or none, which can be
 * removed again. */
int bm_clobber_remove(struct bm_clobber *c, double until, int *more,
                      struct bm_error *error);

#endif
