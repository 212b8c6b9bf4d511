/* identity.h -- the DATASET file, and the epochs by which writers claim it.
 * For rank 0; nothing here communicates. */
#ifndef BM_IDENTITY_H
#define BM_IDENTITY_H

#include "store/store.h"

/* Make the directories and, last, the file DATASET. */
int bm_identity_create(struct bm_store *s, const uint8_t id[16],
                       struct bm_error *error);
/* With a claim: where there is a dataset, the mark that one before it was being
 * removed is of no use. Best effort; it does no harm while there is one. */
void bm_identity_unmark(struct bm_store *s);
int bm_identity_load(struct bm_store *s, uint8_t id[16], int *major, int *minor,
                     struct bm_error *error);
/* A random id. */
void bm_identity_random(uint8_t id[16]);

/* The last epoch that was claimed; 0 if there is none. */
int bm_epoch_last(struct bm_store *s, uint32_t *last, struct bm_error *error);

/* The one after 'epoch'. ELIMIT if that is the last there is: the first one does
 * not come again. */
int bm_epoch_after(const char *path, uint32_t epoch, uint32_t *next,
                   struct bm_error *error);

/* If the directory of epochs is lost: one beyond *epoch and beyond those of all
 * writers that have left files, with room for some that have not. What could
 * not be looked at does not count, and its failure comes back. */
int bm_epoch_beyond_files(struct bm_store *s, uint32_t *epoch,
                          struct bm_error *error);

/* EBUSY if the writer of the last epoch still runs, unless 'force'. */
int bm_epoch_check_idle(struct bm_store *s, int force, struct bm_error *error);

/* Claim the next epoch, or *epoch if that is larger. EBUSY if the writer of the
 * last one still runs, unless 'force'. 'note' gets a remark about a writer that
 * did not close, or "". After a failure *epoch is 0; or it is the one that was
 * claimed, could not be given back, and is to be closed: else this process
 * would keep itself out. */
int bm_epoch_claim(struct bm_store *s, uint32_t *epoch, int force, char *note,
                   size_t note_bytes, struct bm_error *error);
/* Claim just this epoch, which the ranks of one program have agreed on. Of
 * those that share the directory one gets it: *taken is 1, also after a failure
 * if the claim is still to be closed. EBUSY as above, and if there is a later
 * one.
 */
int bm_epoch_take(struct bm_store *s, uint32_t epoch, int force, int *taken,
                  struct bm_error *error);
/* EBUSY if a later writer has taken over. To be called before each change that
 * others could see. */
int bm_epoch_check(struct bm_store *s, uint32_t epoch, struct bm_error *error);
/* Whether the writer of an epoch is known to be done: it has closed the
 * dataset, has ended, or has never signed. */
int bm_epoch_is_over(struct bm_store *s, uint32_t epoch);
/* Give the claim back; if that is done already, nothing happens. */
int bm_epoch_close(struct bm_store *s, uint32_t epoch, struct bm_error *error);
/* Remove an epoch of one's own: one that is closed, if one has a later claim;
 * or one that was never signed. Best effort. */
void bm_epoch_remove(struct bm_store *s, uint32_t epoch);

#endif
