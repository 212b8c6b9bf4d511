/* chance.h -- a small seeded generator, so that a failing run can be repeated.
 * SplitMix64 (Steele, Lea, Flood 2014): any seed will do, also zero. */
#ifndef CHANCE_H
#define CHANCE_H

#include <stdint.h>

static inline uint64_t chance_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number from 0 to 'bound' - 1. */
static inline uint64_t chance_below(uint64_t *state, uint64_t bound)
{
    return chance_next(state) % bound;
}

#endif
