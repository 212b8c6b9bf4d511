/* histogram.c -- see histogram.h. */
#include "plan/histogram.h"

#include <math.h>
#include <string.h>

#include "bouma_lists.h"

#define TOP ((uint64_t)1 << 63)

static int is_signed(bouma_type type)
{
    return type >= BOUMA_TYPE_I8 && type <= BOUMA_TYPE_I64;
}

/* ---- keys --------------------------------------------------------------- */

/* Doubles in their order; -0 is 0. */
static inline uint64_t float_key(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof(bits));
    return bits & TOP ? TOP - (bits & ~TOP) : TOP + bits;
}

static inline uint64_t signed_key(int64_t v)
{
    return (uint64_t)v ^ TOP;
}

static inline uint64_t unsigned_key(uint64_t v)
{
    return v;
}

uint64_t bm_key_of(bouma_type type, union bm_scalar value)
{
    if (bm_type_is_float(type))
        return float_key(value.f);
    return is_signed(type) ? signed_key(value.i) : unsigned_key(value.u);
}

/* The key of the smallest value that is at least 'edge', or above it; 0 if
 * there is none. */
static int key_from(uint64_t *key, bouma_type type, double edge, int above)
{
    double limit = is_signed(type) ? 0x1p63 : 0x1p64;
    double base = is_signed(type) ? -0x1p63 : 0, whole = floor(edge);

    if (bm_type_is_float(type)) {
        *key = float_key(edge) + (uint64_t)above;
        return !(above && edge > DBL_MAX);
    }
    if (edge >= limit)
        return 0;
    *key = 0;
    if (edge < base)
        return 1;
    *key = is_signed(type) ? signed_key((int64_t)whole)
                           : unsigned_key((uint64_t)whole);
    *key += whole < edge || above;
    return 1;
}

/* ---- edges -------------------------------------------------------------- */

void bm_edges_around(double *out_low, double *out_high, bouma_type type,
                     union bm_scalar low, union bm_scalar high)
{
    double from = bm_scalar_double(low, type),
           to = bm_scalar_double(high, type);
    uint64_t key;

    /* The double that is nearest to an integer may be on either side of it. */
    if (!key_from(&key, type, from, 0) || key > bm_key_of(type, low))
        from = nextafter(from, -INFINITY);
    if (key_from(&key, type, to, 1) && key <= bm_key_of(type, high))
        to = nextafter(to, INFINITY);
    if (!(from < to)) {
        from -= 0.5;
        to += 0.5;
    }
    *out_low = from < to ? from : nextafter(from, -INFINITY);
    *out_high = from < to ? to : nextafter(to, INFINITY);
}

static void space_evenly(struct bm_edges *e, double low, double high)
{
    double bins = (double)e->bins;

    for (size_t i = 0; i <= e->bins; i++) {
        double share = (double)i / bins;

        /* The range itself may be beyond the largest number. */
        e->edge[i] = high - low <= DBL_MAX ? low + share * (high - low)
                                           : low * (1 - share) + high * share;
    }
    e->edge[e->bins] = high;
    for (size_t i = 1; i <= e->bins; i++) /* not even by rounding */
        e->edge[i] = fmax(e->edge[i], e->edge[i - 1]);
    e->begin = low;
    e->scale = bins / (high - low);
    if (!(e->scale <= DBL_MAX))
        e->scale = 0;
}

int bm_edges_init(struct bm_edges *e, const bouma_allocator *a, bouma_type type,
                  size_t bins, const double *given, double low, double high)
{
    memset(e, 0, sizeof(*e));
    e->a = a;
    e->type = type;
    e->bins = bins;
    e->slots = bins + 2;
    e->edge = bm_new(a, bins + 1, sizeof(*e->edge));
    e->first = bm_new(a, e->slots, sizeof(*e->first));
    if (!e->edge || !e->first)
        return BOUMA_ENOMEM;
    if (given)
        memcpy(e->edge, given, (bins + 1) * sizeof(*given));
    else
        space_evenly(e, low, high);
    e->used = 1;
    while (e->used < e->slots && key_from(&e->first[e->used], type,
                                          e->edge[e->used - 1], e->used > bins))
        e->used++;
    return BOUMA_OK;
}

void bm_edges_release(struct bm_edges *e)
{
    if (!e->a)
        return;
    bm_drop(e->a, e->edge);
    bm_drop(e->a, e->first);
    memset(e, 0, sizeof(*e));
}

size_t bm_edges_slot(const struct bm_edges *e, uint64_t key)
{
    size_t low = 0, high = e->used;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (e->first[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The same, beginning with a guess. */
static inline size_t slot_near(const struct bm_edges *e, uint64_t key, double v)
{
    double guess = (v - e->begin) * e->scale + 1;
    size_t slot =
        guess > 0 ? guess < (double)e->used ? (size_t)guess : e->used - 1 : 0;

    while (e->first[slot] > key)
        slot--;
    while (slot + 1 < e->used && e->first[slot + 1] <= key)
        slot++;
    return slot;
}

#define COUNT(ctype, key, not_a_number)                                        \
    static void count_##ctype(const struct bm_edges *e, uint64_t *counts,      \
                              uint64_t *nans, const void *values,              \
                              size_t count, size_t stride)                     \
    {                                                                          \
        const unsigned char *from = values;                                    \
                                                                               \
        for (size_t i = 0; i < count; i++, from += stride) {                   \
            ctype v;                                                           \
                                                                               \
            memcpy(&v, from, sizeof(v));                                       \
            if (not_a_number)                                                  \
                ++*nans;                                                       \
            else if (e->scale > 0)                                             \
                counts[slot_near(e, key(v), (double)v)]++;                     \
            else                                                               \
                counts[bm_edges_slot(e, key(v))]++;                            \
        }                                                                      \
    }
COUNT(int8_t, signed_key, 0)
COUNT(int16_t, signed_key, 0)
COUNT(int32_t, signed_key, 0)
COUNT(int64_t, signed_key, 0)
COUNT(uint8_t, unsigned_key, 0)
COUNT(uint16_t, unsigned_key, 0)
COUNT(uint32_t, unsigned_key, 0)
COUNT(uint64_t, unsigned_key, 0)
COUNT(float, float_key, v != v)
COUNT(double, float_key, v != v)

void bm_edges_count(const struct bm_edges *e, uint64_t *counts, uint64_t *nans,
                    const void *values, size_t count, size_t stride)
{
    switch (e->type) {
#define BY_TYPE(name, value, ctype, text)                                      \
    case BOUMA_##name:                                                         \
        count_##ctype(e, counts, nans, values, count, stride);                 \
        break;
        BOUMA_TYPE_LIST(BY_TYPE)
#undef BY_TYPE
    case BOUMA_TYPE_STRING:
        break;
    }
}

/* ---- bounds ------------------------------------------------------------- */

struct bm_interval bm_interval_of(const struct bm_edges *e, union bm_scalar low,
                                  union bm_scalar high)
{
    return (struct bm_interval){bm_scalar_double(low, e->type),
                                bm_scalar_double(high, e->type),
                                bm_edges_slot(e, bm_key_of(e->type, low)),
                                bm_edges_slot(e, bm_key_of(e->type, high))};
}

int bm_tally_init(struct bm_tally *t, const struct bm_edges *e)
{
    memset(t, 0, sizeof(*t));
    t->edges = e;
    t->lower = bm_new(e->a, e->slots, sizeof(*t->lower));
    t->upper = bm_new(e->a, e->slots, sizeof(*t->upper));
    t->estimate = bm_new(e->a, e->slots, sizeof(*t->estimate));
    t->rise = bm_new(e->a, e->slots + 1, sizeof(*t->rise));
    t->whole = bm_new(e->a, e->slots, sizeof(*t->whole));
    t->least = bm_new(e->a, e->slots, sizeof(*t->least));
    return t->lower && t->upper && t->estimate && t->rise && t->whole &&
                   t->least
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}

void bm_tally_release(struct bm_tally *t)
{
    const bouma_allocator *a = t->edges ? t->edges->a : NULL;

    if (!a)
        return;
    bm_drop(a, t->lower);
    bm_drop(a, t->upper);
    bm_drop(a, t->estimate);
    bm_drop(a, t->rise);
    bm_drop(a, t->whole);
    bm_drop(a, t->least);
    memset(t, 0, sizeof(*t));
}

/* Put the slots first to last up by 'amount', which may wrap. */
static void raise(struct bm_tally *t, size_t first, size_t last,
                  uint64_t amount)
{
    t->rise[first] += amount;
    t->rise[last + 1] -= amount;
}

/* The part of a piece that is in a slot, if its values are spread evenly. */
static double share_of(const struct bm_edges *e, const struct bm_interval *p,
                       size_t slot)
{
    double low = slot ? e->edge[slot - 1] : p->low;
    double high = slot <= e->bins ? e->edge[slot] : p->high;
    double width = p->high - p->low, unit = 0;

    if (p->first == p->last)
        return 1;
    if (!bm_type_is_float(e->type))
        unit = 1; /* an integer is as wide as that */
    if (!(width + unit <= DBL_MAX))
        return 1 / (double)(p->last - p->first + 1);
    high = fmin(high, p->high + unit);
    if (slot > e->bins)
        high = p->high + unit;
    return fmax(0, high - fmax(low, p->low)) / (width + unit);
}

static void spread(struct bm_tally *t, const struct bm_interval *p, double mass)
{
    for (size_t s = p->first; s <= p->last; s++)
        t->estimate[s] += mass * share_of(t->edges, p, s);
}

void bm_tally_add(struct bm_tally *t, const struct bm_group *g)
{
    const int pieces = __builtin_popcount(g->map);
    /* Whatever a file says, a value is in one piece. */
    const int occupied = g->occupied && (uint64_t)pieces <= g->count;
    const uint64_t sure = occupied ? (uint64_t)pieces : 0;
    size_t next = 0, first = SIZE_MAX, last = 0;

    t->all_upper += g->count;
    t->all_lower += g->certain ? g->count : 0;
    t->all_estimate += g->share * (double)g->count;
    for (int i = 0; i < BM_MAX_INTERVALS; i++) {
        const struct bm_interval *p = &g->piece[i];

        if (!(g->map >> i & 1))
            continue;
        /* Of all values, one is in each of the other pieces. */
        if (p->last >= next)
            raise(t, p->first > next ? p->first : next, p->last,
                  g->count - sure);
        if (occupied)
            raise(t, p->first, p->last, 1);
        next = p->last + 1;
        first = first < p->first ? first : p->first;
        last = p->last;
        spread(t, p, g->share * g->numbers * (double)g->count / pieces);
    }
    if (!g->certain || !pieces)
        return;
    if (first == last) {
        t->whole[first] += g->count;
        t->least[first] += sure;
        return;
    }
    for (int i = 0; i < BM_MAX_INTERVALS && occupied; i++)
        if (g->map >> i & 1 && g->piece[i].first == g->piece[i].last)
            t->lower[g->piece[i].first]++;
}

void bm_tally_close(struct bm_tally *t, uint64_t nans)
{
    uint64_t upper = 0;

    for (size_t s = 0; s < t->edges->slots; s++) {
        uint64_t left = t->whole[s] > nans ? t->whole[s] - nans : 0;

        upper += t->rise[s];
        t->upper[s] += upper;
        t->lower[s] += left > t->least[s] ? left : t->least[s];
        t->rise[s] = t->whole[s] = t->least[s] = 0;
    }
    t->rise[t->edges->slots] = 0;
}

/* ---- counts ------------------------------------------------------------- */

static double within(double v, uint64_t lower, uint64_t upper)
{
    return fmin(fmax(v, (double)lower), (double)upper);
}

struct bm_count bm_count_guess(uint64_t lower, uint64_t upper, double estimate)
{
    return (struct bm_count){lower, upper, within(estimate, lower, upper),
                             (double)(upper - lower) / sqrt(12)};
}

struct bm_count bm_count_sampled(const struct bm_count *known, uint64_t seen,
                                 const struct bm_seen *s)
{
    struct bm_count c = *known;
    double n = (double)s->looked, all = (double)s->all;
    /* As if one value more of each kind had been seen: what was not seen at
     * all has an error, too. */
    double share = ((double)seen + 1) / (n + 2);

    if (!s->altered && !s->averages) {
        uint64_t most = seen + (s->all - s->looked);

        c.lower = seen > c.lower ? seen : c.lower;
        c.upper = most < c.upper ? most : c.upper;
    }
    if (!s->looked || c.upper <= c.lower) {
        c.estimate = within(c.estimate, c.lower, c.upper);
        c.error = c.upper <= c.lower ? 0 : c.error;
        return c;
    }
    c.estimate = within((double)seen / n * all, c.lower, c.upper);
    c.error = s->averages
                  ? (double)NAN
                  : all * sqrt(share * (1 - share) / n * fmax(0, 1 - n / all));
    return c;
}
