/* sums.h -- sums of the first so many of a list of numbers, in little more
 * memory than the numbers themselves: only every 16th sum is kept, and less for
 * numbers that are like their neighbours. */
#ifndef BM_SUMS_H
#define BM_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "plan/even_list.h"

#define BM_SUMS_STEP 16

struct bm_sums {
    const bouma_allocator *a;
    size_t count;
    struct bm_even_list small;
    uint64_t *large;  /* [count] instead, if one could be too large for it */
    uint64_t *before; /* [count / BM_SUMS_STEP + 1], of those before */
};

/* Room for numbers up to 'largest', all to be put, the first one first, before
 * bm_sums_finish(). BOUMA_OK or ENOMEM, both. A zeroed struct can be
 * released. */
int bm_sums_init(struct bm_sums *s, const bouma_allocator *a, size_t count,
                 uint64_t largest);
int bm_sums_finish(struct bm_sums *s);
void bm_sums_release(struct bm_sums *s);

static inline uint64_t bm_sums_each(const struct bm_sums *s, size_t i)
{
    return s->large ? s->large[i] : bm_even_list_get(&s->small, i);
}

/* The same number at i and after it, 'n' times; one above 'largest' loses its
 * highest bits. */
static inline void bm_sums_put(struct bm_sums *s, size_t i, size_t n,
                               uint64_t number)
{
    if (!s->large)
        bm_even_list_put(&s->small, i, n, number & BM_EVEN_MOST);
    else
        for (size_t end = i + n; i < end; i++)
            s->large[i] = number;
}

/* How many from i on, before 'end', are known to be equal, and the number. */
static inline size_t bm_sums_run(const struct bm_sums *s, size_t i, size_t end,
                                 uint64_t *number)
{
    uint32_t small;
    size_t n;

    if (s->large) {
        *number = s->large[i];
        return 1;
    }
    n = bm_even_list_run(&s->small, i, end, &small);
    *number = small;
    return n;
}

/* The sum of the first 'end'. */
uint64_t bm_sums_before(const struct bm_sums *s, size_t end);

/* The largest number, from 'from' on, of first ones whose sum is at most
 * 'limit', which that of 'from' is; *sum is their sum. */
size_t bm_sums_reach(const struct bm_sums *s, size_t from, uint64_t limit,
                     uint64_t *sum);

#endif
