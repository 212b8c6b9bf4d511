/* partition.h -- which ranks hold which part of which patch, and whether
 * their blocks cover the grid exactly once. */
#ifndef BM_PARTITION_H
#define BM_PARTITION_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/tiling.h"

/* A block that a rank holds; the box is lifted and lies in the grid. */
struct bm_block {
    int rank;
    bouma_box box;
};

/* The parts of patch p are the meetings of its box with the blocks
 * part[first[p]] ... part[first[p + 1] - 1], in the order of 'blocks'. */
struct bm_partition {
    const bouma_allocator *a;
    const struct bm_tiling *tiling; /* not owned */
    const struct bm_block *blocks;  /* not owned */
    size_t block_count;
    int64_t *first; /* [patches + 1] */
    uint32_t *part; /* [first[patches]] */
};

/* BOUMA_OK, ENOMEM, or ELIMIT (2^32 blocks or more). */
int bm_partition_init(struct bm_partition *p, const bouma_allocator *a,
                      const struct bm_tiling *tiling,
                      const struct bm_block *blocks, size_t count);
void bm_partition_release(struct bm_partition *p);

/* The box that part 'i' (an index into part[]) has of patch 'patch'. */
bouma_box bm_partition_box(const struct bm_partition *p, int64_t patch,
                           int64_t i);

/* What is wrong with a cover: 'region' is held by nobody (rank[0] is -1), or by
 * both ranks. */
struct bm_cover_fault {
    bouma_box region;
    int rank[2];
};

/* BOUMA_OK, ENOMEM, or ECOVER with the first fault in the order of patches. */
int bm_partition_check(const struct bm_partition *p,
                       struct bm_cover_fault *fault);

#endif
