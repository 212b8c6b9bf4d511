/* chunk_subset.h -- some chunks of a grid, as a chunking: those of some
 * partitions, or those that no partition has for itself. Numbers are its own,
 * ascending as those of all chunks; keys and files stay. */
#ifndef BM_CHUNK_SUBSET_H
#define BM_CHUNK_SUBSET_H

#include "base/memory.h"
#include "plan/chunking.h"

struct bm_chunk_subset {
    const bouma_allocator *a;
    struct bm_chunking whole; /* it has partitions; their order is by number */
    int64_t *chunk;           /* [count], ascending */
    int64_t count;
};

/* The chunks of partitions with a 1 in wanted[partitions]; NULL: those of
 * none. NULL if there is no memory. */
struct bm_chunk_subset *bm_chunk_subset_new(const bouma_allocator *a,
                                            const struct bm_chunking *whole,
                                            const uint8_t *wanted);
void bm_chunk_subset_free(struct bm_chunk_subset *s); /* accepts NULL */

struct bm_chunking bm_chunk_subset_chunking(const struct bm_chunk_subset *s);

#endif
