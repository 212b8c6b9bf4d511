/* hz_blocks.h -- the blocks of a grid in HZ order, as a chunking (see
 * chunking.h): 2^b samples of the order are a block, and so many blocks in a row
 * are a file.
 *
 * A template covers powers of two; a domain that is less leaves blocks without
 * any sample, which are in no file. Chunks are the others, numbered in the order
 * of the curve; a chunk's key is the number of its block. Which number a block
 * has among them is counted bit by bit, without a table: a level's blocks with
 * the same first characters are a lattice, and the domain cuts a box out of it.
 *
 * Memory is needed only for the numbers of files, if blocks in a file are no
 * power of two. */
#ifndef BM_HZ_BLOCKS_H
#define BM_HZ_BLOCKS_H

#include "base/memory.h"
#include "plan/hz.h"

#define BM_HZ_MAX_FILES ((int64_t)1 << 20)

struct bm_hz_blocks {
    struct bm_hz hz;
    int64_t shape[3]; /* lifted */
    int block_bits;   /* b; no more than hz.bits */
    int64_t blocks_per_file;
    int partition_bits; /* 2^these partitions; see hz_partition.h */
    /* How often each axis is in the characters from i on. */
    uint8_t behind[BM_HZ_BITS + 1][3];
    /* Run 0 is block 0, run j the blocks of level b + j: the first chunk of
     * each, and their end. */
    int64_t first[BM_HZ_BITS + 2];
    int64_t count;   /* of chunks */
    int64_t span[3]; /* of a block of the finest level, along each axis */
    int64_t files;   /* that have some */
    /* If not all files have chunks. 2^n blocks are a block of b + n bits: then
     * files are counted as blocks are. Else a table [files]: how many files
     * could be before each. */
    struct bm_hz_blocks *as_blocks;
    uint32_t *start;
    const bouma_allocator *a;
};

/* How many files there are at most, if all blocks have samples. */
int64_t bm_hz_blocks_most_files(const struct bm_hz *hz, int block_bits,
                                int64_t blocks_per_file);

/* 'hz' covers the shape. BOUMA_OK, ENOMEM, or ELIMIT (too many files). */
int bm_hz_blocks_init(struct bm_hz_blocks *o, const bouma_allocator *a,
                      const struct bm_hz *hz, const int64_t shape[3],
                      int block_bits, int64_t blocks_per_file);
void bm_hz_blocks_release(struct bm_hz_blocks *o);

/* The block of a chunk, and the chunk of a block: -1 if it has no samples. */
uint64_t bm_hz_blocks_block(const struct bm_hz_blocks *o, int64_t chunk);
int64_t bm_hz_blocks_chunk(const struct bm_hz_blocks *o, uint64_t block);

/* The samples of a block that has some. */
struct bm_footprint bm_hz_blocks_footprint(const struct bm_hz_blocks *o,
                                           uint64_t block);

/* The first block of file 'file' of those that have chunks. */
uint64_t bm_hz_blocks_file_start(const struct bm_hz_blocks *o, int64_t file);

struct bm_chunking bm_hz_blocks_chunking(const struct bm_hz_blocks *o);

#endif
