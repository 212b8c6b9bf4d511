/* clobber.h -- a dataset makes way for a new one of the same path. */
#ifndef BM_CLOBBER_H
#define BM_CLOBBER_H

#include "dataset/sweep.h"

/* One that is to make way. Its steps may be many: the functions with 'until'
 * pause then, set *more, and are called again (see bm_comm_do()). */
struct bm_clobber {
    struct bm_store *s;        /* the caller's */
    uint8_t id[16];            /* of the dataset */
    int has_epochs;            /* or it lacks that directory */
    uint32_t epoch;            /* of its claim */
    int listed;                /* 'there' is complete */
    struct bm_step_list there; /* directories of steps */
    size_t at;                 /* the next one */
    int marked;                /* it has begun to go */
    struct bm_sweep sweep;
};

/* Whether there is nothing but what a creation that was killed has left, or a
 * removal that has all but ended. */
int bm_clobber_is_unfinished(struct bm_store *s);
/* Whether a dataset can be made here: that is so; or the mark says that one was
 * removed, and nothing is left of it. Then others' files may be beside it. */
int bm_clobber_is_vacant(struct bm_store *s);

/* Whether the dataset in a directory may be removed: it is one, or one that was
 * half removed, and nobody writes it. EEXISTS or EBUSY if not, and why. To be
 * released in any case. */
int bm_clobber_begin(struct bm_clobber *c, struct bm_store *s, int force,
                     struct bm_error *error);
void bm_clobber_release(struct bm_clobber *c);

/* Claim it; also where the directory of epochs is missing, which is made anew
 * first. *epoch and 'note' as of bm_epoch_claim(). */
int bm_clobber_claim(struct bm_clobber *c, uint32_t *epoch, int force,
                     char *note, size_t note_bytes, struct bm_error *error);
/* For one that is to be claimed in another way: just that directory. */
int bm_clobber_make_epochs(struct bm_clobber *c, struct bm_error *error);

/* With the claim: which steps are there, and whether there is nothing else
 * between their files: EEXISTS, and what. */
int bm_clobber_check(struct bm_clobber *c, double until, int *more,
                     struct bm_error *error);

/* Remove a dataset that was checked, and that this process has claimed,
 * durably; what stays is the directory and the epochs: so a writer of the old
 * one that is still at work somewhere finds that it was taken over. The first
 * thing that goes is its identity, which becomes a mark: so whenever it is
 * interrupted, there is the old dataset, or none, which can be removed again.
 * The mark stays until bm_identity_create() has made the new dataset: without
 * it, a directory with others' files would be theirs alone. */
int bm_clobber_remove(struct bm_clobber *c, double until, int *more,
                      struct bm_error *error);

#endif
