/* hz_local.h -- the chunks of a grid in HZ order whose partitions (see
 * hz_partition.h) have an index space each, as a chunking (see chunking.h).
 *
 * A partition has its own HZ order, of the template inside it, in blocks of 2^b
 * samples. Its block B > 0 is a block of the whole order, too. Its block 0 has
 * levels that partitions share: with 2^r of them, its samples of levels 0 to
 * b - r are in block 0 of the whole order. That one is kept for all, so that the
 * whole domain is read from one chunk at any level up to b: the top. What is
 * left of the partition's own block 0 are r levels, each a chunk.
 *
 *     16 x 16 samples, b = 4, r = 2: partition 0        chunk
 *         HZ 0 to 3, with as many of each other         the top, key 0
 *         HZ 4 to 7      level 3 of the partition       key 1
 *         HZ 8 to 15     level 4                        key 2
 *         HZ 16 to 31    block 1, level 5               key 3
 *         HZ 32 to 63    blocks 2 and 3, level 6        keys 4 and 5
 *
 * Partition 1 goes on with key 6. The top has a file of its own; a partition has
 * so many of its blocks in a row in a file, the chunks of its block 0 in the
 * first one. Nothing else is in these files. */
#ifndef BM_HZ_LOCAL_H
#define BM_HZ_LOCAL_H

#include "plan/hz_blocks.h"

#define BM_HZ_MAX_PARTITION_BITS 16

/* Partitions that the end of the domain cuts in the same way. */
struct bm_hz_local_kind {
    struct bm_hz_blocks blocks; /* in its own index space */
    int made;
    int parts; /* chunks of block 0: those of its levels that have samples, */
    uint8_t part[BM_HZ_MAX_PARTITION_BITS]; /* from 1 to r, ascending */
    int hollow; /* its first file would have nothing but the top's samples */
};

struct bm_hz_local {
    struct bm_hz hz, inside; /* the template; that of partitions */
    int64_t shape[3];        /* lifted */
    int block_bits;          /* b */
    int bits;                /* r: at most b, and b + r at most hz.bits */
    uint64_t keys;           /* of a partition */
    struct bm_hz_local_kind kinds[8]; /* bit d: it is cut along axis d */
    int64_t *first;      /* [2^r + 1]: chunks before those of a partition */
    int64_t *first_file; /* [2^r + 1]: files */
    const bouma_allocator *a;
};

/* How many files there are at most. */
int64_t bm_hz_local_most_files(const struct bm_hz *hz, int block_bits,
                               int64_t blocks_per_file, int r);

/* 'hz' covers the shape. BOUMA_OK or ENOMEM. A zeroed one can be released, as
 * after a failure. */
int bm_hz_local_init(struct bm_hz_local *o, const bouma_allocator *a,
                     const struct bm_hz_blocks *whole, int r);
void bm_hz_local_release(struct bm_hz_local *o);

/* The samples of a chunk; and the characters that order them inside: those of
 * the top are in HZ order of it, those of others in Z order. */
struct bm_footprint bm_hz_local_footprint(const struct bm_hz_local *o,
                                          uint64_t key);
struct bm_hz bm_hz_local_template(const struct bm_hz_local *o, uint64_t key);

struct bm_chunking bm_hz_local_chunking(const struct bm_hz_local *o);

#endif
