/* dropped.h -- a local copy has steps that its dataset has dropped meanwhile.
 */
#ifndef BM_DROPPED_H
#define BM_DROPPED_H

#include "dataset/dataset.h"
#include "store/truncations.h"

struct bm_dropped {
    struct bm_store *local_copy, *target;
    const uint8_t *id;
    const struct bm_truncations *truncations; /* of the target */
};

/* Remove what a local copy has of a step that was dropped. It stays if the
 * target still has a writing of it that was dropped, as who truncated was
 * killed, or one that cannot be read: there may be no other whole copy. So does
 * what has a damaged manifest in the local copy, and files of a later writing.
 * *removed is 1 if the step went; the index is to be written anew then. For who
 * has claimed the local copy. */
int bm_dropped_remove(const struct bm_dropped *d, uint64_t step, int *removed,
                      struct bm_error *error);

/* The same with all steps; *removed counts those that went. */
int bm_dropped_remove_all(struct bm_store *local_copy, struct bm_store *target,
                          const uint8_t id[16], uint64_t *removed,
                          struct bm_error *error);

#endif
