/* rounds.h -- what one rank gathers, cut into what its buffer takes at a time.
 *
 * A stream is the bytes of some parts (files), one after the other. A round
 * ends where the buffer is full, or the part ends; so every buffer but the last
 * of a part is full when it is stored. The first round of a part is shorter by
 * its 'lead', so that the next ones begin at multiples of the buffer in the
 * file. */
#ifndef BM_ROUNDS_H
#define BM_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct bm_stream_part {
    uint64_t bytes;
    uint64_t lead; /* below the buffer's size */
};

struct bm_rounds {
    const bouma_allocator *a;
    uint64_t *start; /* [count + 1], in the stream */
    size_t count;
    uint64_t largest;
};

/* BOUMA_OK or ENOMEM. A zeroed struct can be released. */
int bm_rounds_init(struct bm_rounds *r, const bouma_allocator *a,
                   const struct bm_stream_part *parts, size_t count,
                   uint64_t buffer);
void bm_rounds_release(struct bm_rounds *r);

/* Where part i begins, if 'count' things are cut into 'parts' of about the same
 * size. */
uint64_t bm_cut(uint64_t count, uint64_t parts, uint64_t i);

/* The round of a byte of the stream. */
size_t bm_rounds_find(const struct bm_rounds *r, uint64_t at);

#endif
