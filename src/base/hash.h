/* hash.h -- checksums: XXH3, 64 bits for chunks, 128 for metadata. */
#ifndef BM_HASH_H
#define BM_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t bm_hash64(const void *data, size_t bytes, uint64_t seed);

/* Of two pieces in a row; 16 bytes, in the canonical (big-endian) form. */
void bm_hash128(uint8_t out[16], const void *first, size_t first_bytes,
                const void *second, size_t second_bytes);

/* Where a chunk level belongs. Its checksum, the lower half of an XXH3, is
 * seeded by this: sound bytes of another chunk or step do not match it. */
struct bm_address {
    const uint8_t *dataset; /* 16 bytes */
    uint64_t step;
    uint32_t epoch, attempt;
    uint32_t variable;
    uint64_t key;
    uint32_t level;
};
uint32_t bm_hash_chunk(const struct bm_address *address, const void *data,
                       size_t bytes);

#endif
