/* partition.h -- which ranks hold which part of which chunk, and whether
 * their blocks cover the grid exactly once. */
#ifndef BM_PARTITION_H
#define BM_PARTITION_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "plan/chunking.h"

/* A block that a rank holds; the box is lifted and lies in the grid. */
struct bm_block {
    int rank;
    struct bm_box box;
};

/* The parts of chunk c are its samples in the blocks part[first[c]] ...
 * part[first[c + 1] - 1], in the order of 'blocks'. */
struct bm_partition {
    const bouma_allocator *a;
    struct bm_chunking chunking;
    const struct bm_block *blocks; /* not owned */
    size_t block_count;
    int64_t *first; /* [chunks + 1] */
    uint32_t *part; /* [first[chunks]] */
};

/* BOUMA_OK, ENOMEM, or ELIMIT (2^32 blocks or more). */
int bm_partition_init(struct bm_partition *p, const bouma_allocator *a,
                      struct bm_chunking chunking,
                      const struct bm_block *blocks, size_t count);
void bm_partition_release(struct bm_partition *p);

/* The samples that part 'i' (an index into part[]) has of a chunk. */
struct bm_footprint bm_partition_part(const struct bm_partition *p,
                                      int64_t chunk, int64_t i);

/* What is wrong with a cover: all of 'region' is held by nobody (rank[0] is
 * -1), or by both ranks. */
struct bm_cover_fault {
    struct bm_box region;
    int rank[2];
};

/* BOUMA_OK, ENOMEM, or ECOVER with the first fault in the order of chunks. */
int bm_partition_check(const struct bm_partition *p,
                       struct bm_cover_fault *fault);

#endif
