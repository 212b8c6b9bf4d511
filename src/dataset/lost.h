/* lost.h -- what was committed and is gone now, by the records of losses, the
 * index, and what is there. For rank 0. */
#ifndef BM_LOST_H
#define BM_LOST_H

#include "store/losses.h"

/* 1 if the manifest in the directory of a step can be read, of dataset 'id'
 * (may be NULL); *out is what it says: perhaps it is that of another step. */
int bm_step_peek(struct bm_store *s, uint64_t step, const uint8_t *id,
                 struct bm_step_entry *out);

/* Whether a record means nothing any more: what it says is there again, was
 * written anew, or was dropped on purpose. So is one that is damaged, if the step is there: only a look at
 * the step can tell whether parts of it are lost. */
int bm_loss_is_over(struct bm_store *s, const uint8_t id[16],
                    const struct bm_lost_step *l);

/* All losses of a dataset: those on record, unless they are over, and with
 * 'ask_index' steps that the index knows and that are gone. Into an empty list.
 * If the index cannot be read, as the status then tells, the list has those on
 * record all the same. */
int bm_losses_find_all(struct bm_store *s, const uint8_t id[16],
                       struct bm_loss_list *list, int ask_index,
                       struct bm_error *error);

#endif
