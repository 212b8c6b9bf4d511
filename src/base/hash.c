/* hash.c -- the one file that knows xxHash. */
#include "base/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"

uint64_t bm_hash64(const void *data, size_t bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}

void bm_hash128(uint8_t out[16], const void *first, size_t first_bytes,
                const void *second, size_t second_bytes)
{
    XXH3_state_t state; /* about 600 bytes, on the stack */
    XXH128_canonical_t canonical;

    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, first, first_bytes);
    XXH3_128bits_update(&state, second, second_bytes);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(out, canonical.digest, 16);
}

uint32_t bm_hash_chunk(const struct bm_address *address, const void *data,
                       size_t bytes)
{
    uint8_t raw[48];

    memcpy(raw, address->dataset, 16);
    bm_store_u64(raw + 16, address->step);
    bm_store_u32(raw + 24, address->epoch);
    bm_store_u32(raw + 28, address->attempt);
    bm_store_u32(raw + 32, address->variable);
    bm_store_u32(raw + 36, address->level);
    bm_store_u64(raw + 40, address->key);
    return (uint32_t)XXH3_64bits_withSeed(data, bytes,
                                          XXH3_64bits(raw, sizeof(raw)));
}
