/* sums.h -- sums of the first so many of a list of numbers, in little more
 * memory than the numbers themselves: only every 16th sum is kept. */
#ifndef BM_SUMS_H
#define BM_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

#define BM_SUMS_STEP 16

struct bm_sums {
    const bouma_allocator *a;
    size_t count;
    uint32_t *small;  /* [count], or */
    uint64_t *large;  /* [count], if one could have more than 32 bits */
    uint64_t *before; /* [count / BM_SUMS_STEP + 1], of those before */
};

/* Room for numbers up to 'largest', each to be set before bm_sums_finish().
 * BOUMA_OK or ENOMEM. A zeroed struct can be released. */
int bm_sums_init(struct bm_sums *s, const bouma_allocator *a, size_t count,
                 uint64_t largest);
void bm_sums_finish(struct bm_sums *s);
void bm_sums_release(struct bm_sums *s);

static inline uint64_t bm_sums_each(const struct bm_sums *s, size_t i)
{
    return s->small ? s->small[i] : s->large[i];
}

static inline void bm_sums_set(struct bm_sums *s, size_t i, uint64_t number)
{
    if (s->small)
        s->small[i] = (uint32_t)number;
    else
        s->large[i] = number;
}

/* The sum of the first 'end'. */
uint64_t bm_sums_before(const struct bm_sums *s, size_t end);

/* The largest number, from 'from' on, of first ones whose sum is at most
 * 'limit', which that of 'from' is; *sum is their sum. */
size_t bm_sums_reach(const struct bm_sums *s, size_t from, uint64_t limit,
                     uint64_t *sum);

#endif
