/* detail.c -- see detail.h: ranks, and the slots of each level. */
#include "layout/detail.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mix.h"

/* ---- limits ------------------------------------------------------------- */

/* chunk * part / whole, rounded; to be appended if it is less than the last. */
static int append(uint32_t *limit, int levels, uint32_t chunk, uint32_t part,
                  uint32_t whole, uint32_t least)
{
    uint32_t n = (2 * chunk * part + whole) / (2 * whole);

    if (n < least || (levels && n >= limit[levels - 1]))
        return levels;
    limit[levels] = n;
    return levels + 1;
}

int bm_detail_usual(uint32_t limit[BM_MAX_LEVELS + 1], uint32_t chunk)
{
    int levels = 0;

    assert(chunk > 0 && chunk <= BM_MAX_DETAIL_CHUNK);
    for (uint32_t tenths = 10; tenths > 0; tenths--)
        levels = append(limit, levels, chunk, tenths, 10, 1);
    for (uint32_t whole = 20; whole < chunk; whole *= 2)
        levels = append(limit, levels, chunk, 1, whole, 2);
    limit[levels] = 0;
    return levels;
}

int bm_detail_few(uint32_t limit[BM_MAX_LEVELS + 1], uint32_t chunk)
{
    int levels = 0;

    assert(chunk > 0 && chunk <= BM_MAX_DETAIL_CHUNK);
    for (uint32_t whole = 1; whole <= chunk; whole *= 10)
        levels = append(limit, levels, chunk, 1, whole, 2);
    levels = levels ? levels : append(limit, levels, chunk, 1, 1, 1);
    limit[levels] = 0;
    return levels;
}

int bm_detail_valid(uint32_t chunk, int levels, const uint32_t *limit)
{
    if (!chunk || chunk > BM_MAX_DETAIL_CHUNK || (chunk & (chunk - 1)))
        return 0;
    if (levels < 1 || levels > BM_MAX_LEVELS || limit[0] != chunk)
        return 0;
    for (int k = 1; k < levels; k++)
        if (limit[k] >= limit[k - 1])
            return 0;
    return limit[levels - 1] > 0;
}

/* ---- ranks -------------------------------------------------------------- */

/* Ranks of all slots, from the coarsest nodes down: when bit h is decided, the
 * slots that share the bits from h on have the same rank but for its higher
 * bits, which are not decided yet. */
static void fill_ranks(uint16_t *rank, uint32_t chunk)
{
    uint32_t step = 1; /* what bit h of a slot becomes in a rank */

    memset(rank, 0, sizeof(*rank) * chunk);
    for (uint32_t run = chunk; run > 1; run /= 2, step *= 2)
        for (uint32_t p = 0; p < chunk; p += run) {
            uint32_t node = step + p / run;
            int flipped = bm_mix(node) >> 63 != 0;

            /* The half that has the bit set. */
            for (uint32_t i = 0; i < run / 2; i++)
                rank[p + (flipped ? 0 : run / 2) + i] |= (uint16_t)step;
        }
}

#define BEFORE_STEP 16 /* slots, from one to the next that 'before' has */

/* Counted from one step to the next. */
static void fill_before(struct bm_detail *d)
{
    size_t levels = (size_t)d->levels;

    memset(d->before, 0, sizeof(*d->before) * levels);
    for (uint32_t i = 0; i < d->chunk / d->step; i++) {
        uint16_t *next = d->before + (i + 1) * levels;

        memcpy(next, next - levels, sizeof(*next) * levels);
        for (uint32_t p = i * d->step; p < (i + 1) * d->step; p++)
            next[d->level[p]]++;
    }
}

int bm_detail_init(struct bm_detail *d, const bouma_allocator *a,
                   uint32_t chunk, int levels, const uint32_t *limit)
{
    assert(bm_detail_valid(chunk, levels, limit));
    memset(d, 0, sizeof(*d));
    d->a = a;
    d->chunk = chunk;
    d->levels = levels;
    memcpy(d->limit, limit, sizeof(*limit) * (size_t)levels);
    d->rank = bm_new_raw(a, chunk, sizeof(*d->rank));
    d->level = bm_new_raw(a, chunk, sizeof(*d->level));
    d->step = chunk < BEFORE_STEP ? chunk : BEFORE_STEP;
    d->before = bm_new_raw(a, (chunk / d->step + 1) * (size_t)levels,
                           sizeof(*d->before));
    if (!d->rank || !d->level || !d->before) {
        bm_detail_release(d);
        return BOUMA_ENOMEM;
    }
    fill_ranks(d->rank, chunk);
    for (uint32_t p = 0; p < chunk; p++) {
        int k = 0;

        while (d->rank[p] < d->limit[k + 1])
            k++;
        d->level[p] = (uint8_t)k;
    }
    fill_before(d);
    return BOUMA_OK;
}

void bm_detail_release(struct bm_detail *d)
{
    if (d->a) {
        bm_drop(d->a, d->rank);
        bm_drop(d->a, d->level);
        bm_drop(d->a, d->before);
    }
    memset(d, 0, sizeof(*d));
}

uint32_t bm_detail_shift(const struct bm_detail *d, uint64_t seed,
                         uint64_t chunk)
{
    return (uint32_t)bm_mix_next(bm_mix_next(seed) ^ chunk) & (d->chunk - 1);
}

double bm_detail_offset(uint64_t seed, uint64_t chunk)
{
    return (double)(bm_mix_next(bm_mix_next(seed) ^ chunk) >> 32) /
           4294967296.0;
}

/* ---- levels of a chunk -------------------------------------------------- */

void bm_detail_counts(const struct bm_detail *d, uint32_t shift, uint32_t slots,
                      uint64_t counts[BM_MAX_LEVELS])
{
    uint32_t before[BM_MAX_LEVELS];

    assert(shift < d->chunk && slots <= d->chunk);
    if (slots < d->chunk)
        bm_detail_before(d, shift, slots, before);
    for (int k = 0; k < d->levels; k++)
        counts[k] =
            slots < d->chunk ? before[k] : d->limit[k] - d->limit[k + 1];
}

/* The slots before one are a run of 2^j slots for each bit j of it that is set,
 * and with a shift such a run is another one, that begins at a multiple of 2^j,
 * too. The few slots behind the last step are counted. */
void bm_detail_before(const struct bm_detail *d, uint32_t shift, uint32_t slot,
                      uint32_t counts[BM_MAX_LEVELS])
{
    size_t levels = (size_t)d->levels;

    assert(shift < d->chunk && slot <= d->chunk);
    memset(counts, 0, sizeof(*counts) * levels);
    for (uint32_t run = d->chunk; run >= d->step; run /= 2) {
        uint32_t begin = ((slot & ~(2 * run - 1)) ^ shift) & ~(run - 1);
        const uint16_t *low = d->before + begin / d->step * levels;
        const uint16_t *high = low + run / d->step * levels;

        for (size_t k = 0; k < levels && (slot & run); k++)
            counts[k] += (uint32_t)high[k] - low[k];
    }
    for (uint32_t p = slot & ~(d->step - 1); p < slot; p++)
        counts[d->level[p ^ shift]]++;
}

/* A counting sort. A counter that was just stored takes long to be loaded
 * again, so four quarters of the slots are gone through in turn, each with its
 * own counters: that is more than twice as fast. The last few slots, if they
 * are no multiple of four, are the last quarter's. */
enum { QUARTERS = 4 };

void bm_detail_order(const struct bm_detail *d, uint32_t shift, uint32_t slots,
                     uint16_t *order, uint32_t first[BM_MAX_LEVELS])
{
    uint32_t at[QUARTERS][BM_MAX_LEVELS] = {{0}}, sum = 0;
    const uint8_t *level = d->level;
    const uint32_t quarter = slots / QUARTERS;

    assert(shift < d->chunk && slots <= d->chunk);
    for (uint32_t i = 0; i < quarter; i++)
        for (uint32_t j = 0; j < QUARTERS; j++)
            at[j][level[(i + j * quarter) ^ shift]]++;
    for (uint32_t p = QUARTERS * quarter; p < slots; p++)
        at[QUARTERS - 1][level[p ^ shift]]++;

    for (int k = d->levels - 1; k >= 0; k--) {
        first[k] = sum;
        for (int j = 0; j < QUARTERS; j++) {
            uint32_t n = at[j][k];

            at[j][k] = sum;
            sum += n;
        }
    }

    for (uint32_t i = 0; i < quarter; i++)
        for (uint32_t j = 0; j < QUARTERS; j++) {
            uint32_t p = i + j * quarter;

            order[at[j][level[p ^ shift]]++] = (uint16_t)p;
        }
    for (uint32_t p = QUARTERS * quarter; p < slots; p++)
        order[at[QUARTERS - 1][level[p ^ shift]]++] = (uint16_t)p;
}

double bm_detail_threshold(const struct bm_detail *d, double q)
{
    double t = q * d->chunk;

    for (int k = 0; k < d->levels; k++)
        if (fabs(t - d->limit[k]) <= fmin(0.5, 0.01 * d->limit[k]))
            return d->limit[k];
    return t;
}
