/* bits.h -- bits of a word between being side by side and being at the
 * positions of a mask.
 *
 *     mask  0 1 0 1 1 0        spread   word d c b a -> 0 c 0 b a 0
 *                              collect  0 c 0 b a 0  -> 0 0 0 c b a
 *
 * Processors with BMI2 have an instruction for each (pdep, pext), which is
 * looked for at each call: a load and a test. Others take six steps of shifts
 * and masks (Hacker's Delight, 7-4 and 7-5): no table, and no loop over the
 * bits. */
#ifndef BM_BITS_H
#define BM_BITS_H

#include <stdint.h>

/* Bits of the word beyond the mask's own number are left out. */
uint64_t bm_bits_spread(uint64_t word, uint64_t mask);
/* Bits of the word outside the mask are left out. */
uint64_t bm_bits_collect(uint64_t word, uint64_t mask);

/* The same in the six steps, on any processor: for tests. */
uint64_t bm_bits_spread_in_steps(uint64_t word, uint64_t mask);
uint64_t bm_bits_collect_in_steps(uint64_t word, uint64_t mask);

static inline int bm_bits_count(uint64_t word)
{
    return __builtin_popcountll(word);
}

/* Bits up to the highest that is set; 0 has none. */
static inline int bm_bits_length(uint64_t word)
{
    return word ? 64 - __builtin_clzll(word) : 0;
}

/* The lowest 'n' bits, n up to 63. */
static inline uint64_t bm_bits_low(int n)
{
    return ((uint64_t)1 << n) - 1;
}

#endif
