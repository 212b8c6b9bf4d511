/* sums.c -- see sums.h. */
#include "plan/sums.h"

#include <string.h>

#include "base/search.h"
#include "bouma.h"

int bm_sums_init(struct bm_sums *s, const bouma_allocator *a, size_t count,
                 uint64_t largest)
{
    memset(s, 0, sizeof(*s));
    s->a = a;
    s->count = count;
    s->before = bm_new_raw(a, count / BM_SUMS_STEP + 1, sizeof(*s->before));
    if (largest <= BM_EVEN_MOST) {
        int rc = bm_even_list_init(&s->small, a, count);

        return s->before ? rc : BOUMA_ENOMEM;
    }
    s->large = bm_new_raw(a, count, sizeof(*s->large));
    return s->before && s->large ? BOUMA_OK : BOUMA_ENOMEM;
}

static uint64_t add_up(const struct bm_sums *s, size_t from, size_t end)
{
    uint64_t sum = 0, number;

    for (size_t i = from, n; i < end; i += n) {
        n = bm_sums_run(s, i, end, &number);
        sum += n * number;
    }
    return sum;
}

int bm_sums_finish(struct bm_sums *s)
{
    uint64_t sum = 0;

    for (size_t i = 0; i <= s->count / BM_SUMS_STEP; i++) {
        size_t end = (i + 1) * BM_SUMS_STEP;

        s->before[i] = sum;
        sum += add_up(s, i * BM_SUMS_STEP, end < s->count ? end : s->count);
    }
    return s->small.rc;
}

void bm_sums_release(struct bm_sums *s)
{
    if (!s->a)
        return;
    bm_even_list_release(&s->small);
    bm_drop(s->a, s->large);
    bm_drop(s->a, s->before);
    memset(s, 0, sizeof(*s));
}

uint64_t bm_sums_before(const struct bm_sums *s, size_t end)
{
    size_t step = end / BM_SUMS_STEP;

    return s->before[step] + add_up(s, step * BM_SUMS_STEP, end);
}

/* Gallops first, as the answer is mostly near. */
size_t bm_sums_reach(const struct bm_sums *s, size_t from, uint64_t limit,
                     uint64_t *sum)
{
    size_t lo = from / BM_SUMS_STEP, end = s->count / BM_SUMS_STEP + 1;
    size_t step = 1, hi, i;

    while (lo + step < end && s->before[lo + step] <= limit) {
        lo += step;
        step *= 2;
    }
    hi = lo + step < end ? lo + step : end;
    BM_BISECT(lo, hi, k, s->before[k] <= limit);
    i = lo * BM_SUMS_STEP;
    *sum = s->before[lo];
    while (i < s->count && bm_sums_each(s, i) <= limit - *sum)
        *sum += bm_sums_each(s, i++);
    return i;
}
