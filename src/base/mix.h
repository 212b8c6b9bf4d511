/* mix.h -- numbers that look like chance but are the same on every machine:
 * splitmix64. */
#ifndef BM_MIX_H
#define BM_MIX_H

#include <stdint.h>

static inline uint64_t bm_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The number that follows from state x; the next state is x + BM_MIX_STEP. */
#define BM_MIX_STEP 0x9e3779b97f4a7c15u

static inline uint64_t bm_mix_next(uint64_t x)
{
    return bm_mix(x + BM_MIX_STEP);
}

#endif
