/* bins.c -- see bins.h. */
#include "layout/bins.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "bouma_lists.h"
#include "codec/clones.h"

#define LAST (BM_BINS - 1)

__extension__ typedef unsigned __int128 twice_as_wide;

static int is_signed(bouma_type type)
{
    return type >= BOUMA_TYPE_I8 && type <= BOUMA_TYPE_I64;
}

static int is_finite(double v)
{
    return v - v == 0;
}

static double magnitude(double v)
{
    return v < 0 ? -v : v;
}

/* a < b; false with NaN. */
static int less(bouma_type type, union bm_scalar a, union bm_scalar b)
{
    if (bm_type_is_float(type))
        return a.f < b.f;
    return is_signed(type) ? a.i < b.i : a.u < b.u;
}

/* ---- the range ---------------------------------------------------------- */

static double float_at(bouma_type type, const void *values, size_t i)
{
    return type == BOUMA_TYPE_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

/* The range without infinities. */
static struct bm_range finite_range(bouma_type type, const void *values,
                                    size_t count)
{
    struct bm_range range = {{0}, {0}, 0, 0};

    for (size_t i = 0; i < count; i++) {
        double v = float_at(type, values, i);

        if (!is_finite(v))
            continue;
        if (!range.count || v < range.low.f)
            range.low.f = v;
        if (!range.count || v > range.high.f)
            range.high.f = v;
        range.count++;
    }
    return range;
}

void bm_bins_widen(union bm_scalar *low, union bm_scalar *high, int *any,
                   bouma_type type, const void *values, size_t count)
{
    struct bm_range range = {{0}, {0}, 0, 0};

    bm_range_add(&range, type, values, count);
    if (bm_type_is_float(type)) {
        if (!is_finite(range.low.f) || !is_finite(range.high.f))
            range = finite_range(type, values, count);
        /* Which of -0 and 0 was found depends on the order of values. */
        range.low.f += 0.0;
        range.high.f += 0.0;
    }
    if (!range.count)
        return;
    if (!*any || less(type, range.low, *low))
        *low = range.low;
    if (!*any || less(type, *high, range.high))
        *high = range.high;
    *any = 1;
}

int bm_bins_valid(bouma_type type, union bm_scalar low, union bm_scalar high)
{
    if (bm_type_is_float(type))
        return is_finite(low.f) && is_finite(high.f) && low.f <= high.f;
    return !less(type, high, low);
}

void bm_bins_init(struct bm_bins *b, bouma_type type, union bm_scalar low,
                  union bm_scalar high)
{
    assert(bm_bins_valid(type, low, high));
    memset(b, 0, sizeof(*b));
    b->type = type;
    b->low = low;
    b->high = high;
    if (bm_type_is_float(type)) {
        double most = magnitude(low.f) > magnitude(high.f) ? magnitude(low.f)
                                                           : magnitude(high.f);
        double range;

        /* A range of 0 or subnormal numbers has no inverse, and the largest
         * ones are infinite. Elsewhere v * 1 is exact. */
        b->unit = most < 0x1p-800 ? 0x1p200 : most >= 0x1p1022 ? 0.5 : 1;
        b->base = low.f * b->unit;
        range = high.f * b->unit - b->base;
        /* Any number that is larger is far off, then. */
        b->scale = range > 0 ? BM_BINS / range : DBL_MAX;
    } else {
        b->width = (high.u - low.u) / BM_BINS + 1;
        b->inverse = UINT64_MAX / b->width;
    }
}

/* ---- one value ---------------------------------------------------------- */

static inline int float_bin(double v, double unit, double base, double scale)
{
    double x = (v * unit - base) * scale;

    x = x > 0 ? x : 0; /* NaN, too */
    x = x < LAST ? x : LAST;
    return (int)x;
}

/* 'inverse' is at most 1 below 2^64 / width, so the quotient is right or 1 too
 * small. */
static inline int integer_bin(uint64_t distance, uint64_t width,
                              uint64_t inverse)
{
    uint64_t q = (uint64_t)((twice_as_wide)distance * inverse >> 64);

    q += distance - q * width >= width;
    return q < LAST ? (int)q : LAST;
}

/* No NaN. */
static int bin_of(const struct bm_bins *b, union bm_scalar v)
{
    if (bm_type_is_float(b->type))
        return float_bin(v.f, b->unit, b->base, b->scale);
    return less(b->type, v, b->low)
               ? 0
               : integer_bin(v.u - b->low.u, b->width, b->inverse);
}

/* ---- many values -------------------------------------------------------- */

#define FLOAT_MAP(ctype)                                                       \
    BM_CLONES static uint32_t map_##ctype(const struct bm_bins *b,             \
                                          const ctype *v, size_t n)            \
    {                                                                          \
        const double unit = b->unit, base = b->base, scale = b->scale;         \
        uint32_t map = 0;                                                      \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            map |= (uint32_t)(v[i] == v[i])                                    \
                   << float_bin((double)v[i], unit, base, scale);              \
        return map;                                                            \
    }

#define INTEGER_MAP(ctype, member)                                             \
    static uint32_t map_##ctype(const struct bm_bins *b, const ctype *v,       \
                                size_t n)                                      \
    {                                                                          \
        const uint64_t low = b->low.u, width = b->width, inv = b->inverse;     \
        uint32_t map = 0;                                                      \
                                                                               \
        for (size_t i = 0; i < n; i++) {                                       \
            uint64_t d = v[i] < b->low.member ? 0 : (uint64_t)v[i] - low;      \
                                                                               \
            map |= (uint32_t)1 << integer_bin(d, width, inv);                  \
        }                                                                      \
        return map;                                                            \
    }

INTEGER_MAP(int8_t, i)
INTEGER_MAP(int16_t, i)
INTEGER_MAP(int32_t, i)
INTEGER_MAP(int64_t, i)
INTEGER_MAP(uint8_t, u)
INTEGER_MAP(uint16_t, u)
INTEGER_MAP(uint32_t, u)
INTEGER_MAP(uint64_t, u)
FLOAT_MAP(float)
FLOAT_MAP(double)

uint32_t bm_bins_map(const struct bm_bins *b, const void *values, size_t count)
{
    switch (b->type) {
#define MAP(name, value, ctype, text)                                          \
    case BOUMA_##name:                                                         \
        return map_##ctype(b, values, count);
        BOUMA_TYPE_LIST(MAP)
#undef MAP
    case BOUMA_TYPE_STRING:
        break;
    }
    return 0;
}

/* ---- ranges ------------------------------------------------------------- */

/* Bins from first to last. */
static uint32_t run_of_bins(int first, int last)
{
    return (uint32_t)(((uint64_t)2 << last) - ((uint64_t)1 << first));
}

uint32_t bm_bins_select(const struct bm_bins *b, union bm_scalar low,
                        union bm_scalar high)
{
    int is_float = bm_type_is_float(b->type);
    int endless = is_float && !b->finite;

    if (is_float ? !(low.f <= high.f) : less(b->type, high, low))
        return 0;
    /* Beyond the range there is nothing but infinities. */
    if (less(b->type, high, b->low) && !(endless && low.f < -DBL_MAX))
        return 0;
    if (less(b->type, b->high, low) && !(endless && high.f > DBL_MAX))
        return 0;
    return run_of_bins(bin_of(b, low), bin_of(b, high));
}

/* Doubles by number, in their order. */
static int64_t number_of(double v)
{
    int64_t bits;

    memcpy(&bits, &v, sizeof(bits));
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double of_number(int64_t n)
{
    int64_t bits = n < 0 ? INT64_MIN - n : n;
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* About where a bin begins, among numbers from 'begin' up to 'end'. */
static int64_t guess_of(const struct bm_bins *b, int bin, int64_t begin,
                        int64_t end)
{
    double v = (b->base + bin / b->scale) / b->unit;
    int64_t n = is_finite(v) ? number_of(v) : begin;

    return n < begin ? begin : n < end ? n : end - 1;
}

static int is_in(const struct bm_bins *b, int bin, int64_t number)
{
    union bm_scalar v = {.f = of_number(number)};

    return bin_of(b, v) >= bin;
}

/* The first number, from 'begin' up to 'end', of a double that is in 'bin' or
 * above; 'end' if none is. Looked for from a guess on, in steps that double,
 * and then between the last two. */
static int64_t first_in(const struct bm_bins *b, int bin, int64_t begin,
                        int64_t end)
{
    int64_t at = begin < end ? guess_of(b, bin, begin, end) : begin;
    uint64_t step = 1;

    if (begin < end && is_in(b, bin, at)) {
        end = at;
        while (step && (uint64_t)end - (uint64_t)begin > step) {
            at = (int64_t)((uint64_t)end - step);
            if (!is_in(b, bin, at)) {
                begin = at + 1;
                break;
            }
            end = at;
            step *= 2;
        }
    } else if (begin < end) {
        begin = at + 1;
        while (step && (uint64_t)end - (uint64_t)begin > step) {
            at = (int64_t)((uint64_t)begin + step);
            if (is_in(b, bin, at)) {
                end = at;
                break;
            }
            begin = at + 1;
            step *= 2;
        }
    }
    while (begin < end) {
        /* The difference may be more than an int64_t holds. */
        int64_t middle =
            begin + (int64_t)(((uint64_t)end - (uint64_t)begin) / 2);

        if (is_in(b, bin, middle))
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

/* The smallest and the largest value of the range in a bin; 0 if none is. */
static int values_in(const struct bm_bins *b, int bin, union bm_scalar *low,
                     union bm_scalar *high)
{
    if (bm_type_is_float(b->type)) {
        int64_t begin = number_of(b->low.f), end = number_of(b->high.f) + 1;
        int64_t first = first_in(b, bin, begin, end);
        int64_t next = bin < LAST ? first_in(b, bin + 1, first, end) : end;

        if (first == next)
            return 0;
        low->f = of_number(first);
        high->f = of_number(next - 1);
    } else {
        uint64_t range = b->high.u - b->low.u;
        uint64_t most = range / b->width, number = (uint64_t)bin;
        uint64_t last = number < most ? (number + 1) * b->width - 1 : range;

        if (number > most)
            return 0;
        low->u = b->low.u + number * b->width;
        high->u = b->low.u + last;
    }
    return 1;
}

int bm_bins_values(const struct bm_bins *b, int bin, union bm_scalar *low,
                   union bm_scalar *high)
{
    int endless = bm_type_is_float(b->type) && !b->finite;
    int any = values_in(b, bin, low, high);

    if (endless && bin == 0) {
        low->f = -INFINITY;
        high->f = any ? high->f : -INFINITY;
    }
    if (endless && bin == LAST) {
        low->f = any ? low->f : INFINITY;
        high->f = INFINITY;
    }
    return any || (endless && (bin == 0 || bin == LAST));
}

uint32_t bm_bins_remap(const struct bm_bins *from, uint32_t map,
                       const struct bm_bins *to)
{
    const uint32_t outermost = (uint32_t)1 << LAST | 1;
    uint32_t out = 0;

    assert(from->type == to->type);
    for (int i = 0; i < BM_BINS; i++) {
        union bm_scalar low, high;

        if (map >> i & 1 && values_in(from, i, &low, &high))
            out |= run_of_bins(bin_of(to, low), bin_of(to, high));
    }
    if (bm_type_is_float(from->type) && !from->finite)
        out |= map & outermost;
    return out;
}
