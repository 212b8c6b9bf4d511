/* bits.c -- see bits.h. */
#include "base/bits.h"

/* Each bit of the mask goes right by the number of places below it that are
 * not in the mask: in step k, those go by 2^k whose number has bit k. Fills
 * move[k] with these bits, where they are before step k. */
static void find_moves(uint64_t move[6], uint64_t mask)
{
    uint64_t gaps = ~mask << 1; /* below each place; one counter each */

    for (int k = 0; k < 6; k++) {
        uint64_t odd = gaps; /* gaps at and below each place: odd or even */

        for (int shift = 1; shift < 64; shift *= 2)
            odd ^= odd << shift;
        move[k] = odd & mask;
        mask = (mask ^ move[k]) | move[k] >> (1 << k);
        gaps &= ~odd; /* every second one is left */
    }
}

uint64_t bm_bits_collect_in_steps(uint64_t word, uint64_t mask)
{
    uint64_t move[6];

    find_moves(move, mask);
    word &= mask;
    for (int k = 0; k < 6; k++) {
        uint64_t moving = word & move[k];

        word = (word ^ moving) | moving >> (1 << k);
    }
    return word;
}

uint64_t bm_bits_spread_in_steps(uint64_t word, uint64_t mask)
{
    uint64_t move[6];

    find_moves(move, mask);
    for (int k = 5; k >= 0; k--)
        word = (word & ~move[k]) | (word << (1 << k) & move[k]);
    return word & mask;
}

#if defined(__x86_64__)
#include <immintrin.h>

static __attribute__((target("bmi2"))) uint64_t spread_at_once(uint64_t word,
                                                               uint64_t mask)
{
    return _pdep_u64(word, mask);
}

static __attribute__((target("bmi2"))) uint64_t collect_at_once(uint64_t word,
                                                                uint64_t mask)
{
    return _pext_u64(word, mask);
}

uint64_t bm_bits_spread(uint64_t word, uint64_t mask)
{
    return __builtin_cpu_supports("bmi2") ? spread_at_once(word, mask)
                                          : bm_bits_spread_in_steps(word, mask);
}

uint64_t bm_bits_collect(uint64_t word, uint64_t mask)
{
    return __builtin_cpu_supports("bmi2")
               ? collect_at_once(word, mask)
               : bm_bits_collect_in_steps(word, mask);
}

#else

uint64_t bm_bits_spread(uint64_t word, uint64_t mask)
{
    return bm_bits_spread_in_steps(word, mask);
}

uint64_t bm_bits_collect(uint64_t word, uint64_t mask)
{
    return bm_bits_collect_in_steps(word, mask);
}

#endif
