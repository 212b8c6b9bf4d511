/* file_batch.h -- many short writes as a few long ones.
 *
 * What is gathered in the order of a stream goes to many places of a file, and
 * mostly fills them side by side. A batch keeps a list of such writes; when it
 * is full, or flushed, they are sorted, and neighbours go in one call. */
#ifndef BM_FILE_BATCH_H
#define BM_FILE_BATCH_H

#include "base/memory.h"
#include "store/store.h"

struct bm_file_batch {
    const bouma_allocator *a;
    struct bm_file *file; /* of all writes in the list */
    struct bm_file_write {
        uint64_t at;
        const uint8_t *data;
        size_t bytes;
    } * writes; /* [room] */
    size_t room, count;
    uint8_t *joined; /* [joined_bytes] */
    size_t joined_bytes;
};

/* Room for so many writes; what is shorter than 'joined_bytes' is joined, and
 * whatever lies side by side in memory, too. A zeroed one can be released.
 * ENOMEM. */
int bm_file_batch_init(struct bm_file_batch *b, const bouma_allocator *a,
                       size_t room, size_t joined_bytes);
void bm_file_batch_release(struct bm_file_batch *b);

/* Write these bytes, which must stay where they are until the batch is flushed.
 * Writes of one batch must not overlap. */
int bm_file_batch_add(struct bm_file_batch *b, struct bm_file *file,
                      const uint8_t *data, size_t bytes, uint64_t at,
                      struct bm_error *error);
/* After a failure, what was in the list is forgotten. */
int bm_file_batch_flush(struct bm_file_batch *b, struct bm_error *error);

#endif
