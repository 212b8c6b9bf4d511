/* truncations.h -- which steps were dropped, and up to which writing.
 *
 * A local copy may still have a step that its dataset has dropped. So who
 * truncates puts on record, in the file `truncations`, that all steps after
 * one, as far as they were written up to now, are dropped: no drain brings them
 * back. Who deletes single steps puts each of them on record. What is written
 * later under the same number is of a later generation, and is not concerned.
 * Only those records are kept that no other one includes. */
#ifndef BM_TRUNCATIONS_H
#define BM_TRUNCATIONS_H

#include "store/index.h"

/* Dropped are all steps after 'last' that are not later than 'generation'. */
struct bm_truncation {
    int64_t last; /* -1: all steps */
    struct bm_generation generation;
};

/* Dropped is this step, if it is not later than 'generation'. */
struct bm_deletion {
    uint64_t step;
    struct bm_generation generation;
};

struct bm_truncations {
    const bouma_allocator *a;
    struct bm_truncation *items; /* [count], ascending in both */
    size_t count;
    struct bm_deletion *deletions; /* [deletion_count], ascending by step */
    size_t deletion_count;
};

void bm_truncations_init(struct bm_truncations *t, const bouma_allocator *a);
void bm_truncations_release(struct bm_truncations *t);
/* One more; those that it includes go. BOUMA_OK or ENOMEM. */
int bm_truncations_add(struct bm_truncations *t, struct bm_truncation item);
/* The same with all steps of a list, whose generations do not matter. */
int bm_truncations_delete(struct bm_truncations *t,
                          const struct bm_step_list *steps,
                          struct bm_generation generation);
/* The last generation of a step that is dropped; epoch 0: none is. */
struct bm_generation bm_truncations_limit(const struct bm_truncations *t,
                                          uint64_t step);
/* Whether some writing of a step was deleted by its number. */
int bm_truncations_is_deleted(const struct bm_truncations *t, uint64_t step);
/* Whether this writing of a step was dropped. One of epoch 0 is not known, and
 * was not. */
int bm_truncations_has(const struct bm_truncations *t, uint64_t step,
                       struct bm_generation generation);
/* The latest epoch in which steps were dropped; 0: none. */
uint32_t bm_truncations_epoch(const struct bm_truncations *t);

void bm_truncations_encode(struct bm_buffer *b, const struct bm_truncations *t,
                           const uint8_t id[16]);
/* Into an empty one, which is the caller's to release. */
int bm_truncations_decode(struct bm_truncations *t, const uint8_t *data,
                          size_t bytes, const uint8_t *id, const char *name,
                          struct bm_error *error);

/* Those of a dataset, instead of what is in 't'. None if nothing is on
 * record; after a failure, too. */
int bm_truncations_load(struct bm_store *s, const uint8_t id[16],
                        struct bm_truncations *t, struct bm_error *error);
/* Put one on record, durably. For who has claimed the dataset in the epoch of
 * its generation; EBUSY if another has taken over. */
int bm_truncations_record(struct bm_store *s, const uint8_t id[16],
                          struct bm_truncation item, struct bm_error *error);
/* The same with the steps of a list. */
int bm_truncations_record_deleted(struct bm_store *s, const uint8_t id[16],
                                  const struct bm_step_list *steps,
                                  struct bm_generation generation,
                                  struct bm_error *error);
/* Of a dataset that is to go: 1 if nothing of it is left. */
int bm_truncations_remove(struct bm_store *s);

#endif
