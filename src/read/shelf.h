/* shelf.h -- bytes of one subfile that were read, kept for who asks next: where
 * several boxes are looked for in the same chunks, these are read once. */
#ifndef BM_SHELF_H
#define BM_SHELF_H

#include "base/memory.h"

struct bm_shelf_run {
    uint64_t begin, end; /* in the file */
    const uint8_t *data;
};

struct bm_shelf_block {
    uint8_t *data;
    size_t bytes, used;
};

struct bm_shelf {
    const bouma_allocator *a;
    struct bm_shelf_run *runs; /* ascending; no byte is in two */
    size_t count;
    struct bm_shelf_block *blocks; /* kept when it is cleared */
    size_t block_count;
};

/* Zeroed but for the allocator, it is empty. */
void bm_shelf_clear(struct bm_shelf *s);
void bm_shelf_release(struct bm_shelf *s);

/* The bytes from 'begin' up to 'end', if all are in one run; else NULL. */
const uint8_t *bm_shelf_find(const struct bm_shelf *s, uint64_t begin,
                             uint64_t end);
/* Room of 'bytes' for a run, which stays where it is; what is in it now is
 * found. NULL if there is no memory. If what is kept is not the bytes of the
 * file themselves but what they stand for, a run is asked for as a whole. */
uint8_t *bm_shelf_add(struct bm_shelf *s, uint64_t begin, uint64_t end,
                      size_t bytes);

#endif
