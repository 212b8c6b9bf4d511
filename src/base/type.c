/* type.c -- sizes, names and ranges of the sample types. */
#include "base/type.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/bytes.h"
#include "bouma_lists.h"

size_t bouma_type_size(bouma_type type)
{
    switch (type) {
#define SIZE(name, value, ctype, text)                                         \
    case BOUMA_##name:                                                         \
        return sizeof(ctype);
        BOUMA_TYPE_LIST(SIZE)
#undef SIZE
    case BOUMA_TYPE_STRING:
        return 1;
    }
    return 0;
}

const char *bouma_type_name(bouma_type type)
{
    switch (type) {
#define NAME(name, value, ctype, text)                                         \
    case BOUMA_##name:                                                         \
        return text;
        BOUMA_TYPE_LIST(NAME)
#undef NAME
    case BOUMA_TYPE_STRING:
        return "string";
    }
    return NULL;
}

bouma_type bouma_type_parse(const char *text)
{
    if (!text)
        return (bouma_type)0;
#define PARSE(name, value, ctype, word)                                        \
    if (!strcmp(text, word))                                                   \
        return BOUMA_##name;
    BOUMA_TYPE_LIST(PARSE)
#undef PARSE
    return strcmp(text, "string") ? (bouma_type)0 : BOUMA_TYPE_STRING;
}

int bm_type_valid(int type)
{
    return type >= BOUMA_TYPE_I8 && type <= BOUMA_TYPE_F64;
}

int bm_type_is_float(bouma_type type)
{
    return type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64;
}

static int is_unsigned(bouma_type type)
{
    return type >= BOUMA_TYPE_U8 && type <= BOUMA_TYPE_U64;
}

static int scalar_less(union bm_scalar a, union bm_scalar b, bouma_type type)
{
    if (bm_type_is_float(type))
        return a.f < b.f;
    return is_unsigned(type) ? a.u < b.u : a.i < b.i;
}

int bm_range_ordered(const struct bm_range *range, bouma_type type)
{
    if (bm_type_is_float(type))
        return range->low.f <= range->high.f; /* false with NaN */
    return !scalar_less(range->high, range->low, type);
}

void bm_range_join(struct bm_range *range, bouma_type type,
                   const struct bm_range *other)
{
    range->nans += other->nans;
    if (!other->count)
        return;
    if (!range->count || scalar_less(other->low, range->low, type))
        range->low = other->low;
    if (!range->count || scalar_less(range->high, other->high, type))
        range->high = other->high;
    range->count += other->count;
}

int bm_range_equal(const struct bm_range *a, const struct bm_range *b,
                   bouma_type type)
{
    if (a->count != b->count || a->nans != b->nans)
        return 0;
    return !scalar_less(a->low, b->low, type) &&
           !scalar_less(b->low, a->low, type) &&
           !scalar_less(a->high, b->high, type) &&
           !scalar_less(b->high, a->high, type);
}

/* Compilers make vector code of these by themselves. */
#define INTEGER_RANGE(ctype, member)                                           \
    static void range_##ctype(struct bm_range *out, const ctype *v, size_t n)  \
    {                                                                          \
        ctype low = v[0], high = v[0];                                         \
                                                                               \
        for (size_t i = 0; i < n; i++) {                                       \
            low = v[i] < low ? v[i] : low;                                     \
            high = v[i] > high ? v[i] : high;                                  \
        }                                                                      \
        out->low.member = low;                                                 \
        out->high.member = high;                                               \
        out->count = n;                                                        \
    }

INTEGER_RANGE(int8_t, i)
INTEGER_RANGE(int16_t, i)
INTEGER_RANGE(int32_t, i)
INTEGER_RANGE(int64_t, i)
INTEGER_RANGE(uint8_t, u)
INTEGER_RANGE(uint16_t, u)
INTEGER_RANGE(uint32_t, u)
INTEGER_RANGE(uint64_t, u)

/* With floats they do not, for the sake of NaN and of signed zeros. What is
 * wanted is what the machine's minimum gives: the second value if one is NaN,
 * so that NaN never gets into low or high. Where there is such an instruction
 * it is used, on four vectors in turn; elsewhere a comparison does the same.
 * NaN is rare: vectors only notice it, and the part is counted again. */
#if defined(__SSE2__)
#define FLOAT_LANES(ctype, vector, load, min, max, unordered, or_, any, store) \
    static size_t lanes_##ctype(const ctype *v, size_t n, ctype *low,          \
                                ctype *high, int *nan)                         \
    {                                                                          \
        enum { LANES = sizeof(vector) / sizeof(ctype), SETS = 4 };             \
        vector lows[SETS], highs[SETS], nans[SETS];                            \
        ctype out[LANES];                                                      \
        size_t i = 0;                                                          \
                                                                               \
        if (n < LANES * SETS)                                                  \
            return 0;                                                          \
        for (int k = 0; k < SETS; k++) {                                       \
            for (int j = 0; j < LANES; j++)                                    \
                out[j] = *low;                                                 \
            lows[k] = load(out);                                               \
            for (int j = 0; j < LANES; j++)                                    \
                out[j] = *high;                                                \
            highs[k] = load(out);                                              \
            nans[k] = unordered(highs[k], highs[k]);                           \
        }                                                                      \
        for (; i + LANES * SETS <= n; i += LANES * SETS)                       \
            for (int k = 0; k < SETS; k++) {                                   \
                vector x = load(v + i + k * LANES);                            \
                                                                               \
                lows[k] = min(x, lows[k]);                                     \
                highs[k] = max(x, highs[k]);                                   \
                nans[k] = or_(nans[k], unordered(x, x));                       \
            }                                                                  \
        for (int k = 0; k < SETS; k++) {                                       \
            store(out, lows[k]);                                               \
            for (int j = 0; j < LANES; j++)                                    \
                *low = out[j] < *low ? out[j] : *low;                          \
            store(out, highs[k]);                                              \
            for (int j = 0; j < LANES; j++)                                    \
                *high = out[j] > *high ? out[j] : *high;                       \
            *nan |= any(nans[k]);                                              \
        }                                                                      \
        return i;                                                              \
    }

FLOAT_LANES(float, __m128, _mm_loadu_ps, _mm_min_ps, _mm_max_ps,
            _mm_cmpunord_ps, _mm_or_ps, _mm_movemask_ps, _mm_storeu_ps)
FLOAT_LANES(double, __m128d, _mm_loadu_pd, _mm_min_pd, _mm_max_pd,
            _mm_cmpunord_pd, _mm_or_pd, _mm_movemask_pd, _mm_storeu_pd)
#else
#define FLOAT_LANES(ctype)                                                     \
    static size_t lanes_##ctype(const ctype *v, size_t n, ctype *low,          \
                                ctype *high, int *nan)                         \
    {                                                                          \
        for (size_t i = 0; i < n; i++) {                                       \
            *low = v[i] < *low ? v[i] : *low;                                  \
            *high = v[i] > *high ? v[i] : *high;                               \
            *nan |= v[i] != v[i];                                              \
        }                                                                      \
        return n;                                                              \
    }
FLOAT_LANES(float)
FLOAT_LANES(double)
#endif

#define FLOAT_RANGE(ctype, infinite)                                           \
    static void range_##ctype(struct bm_range *out, const ctype *v, size_t n)  \
    {                                                                          \
        ctype low = infinite, high = -infinite;                                \
        uint64_t nans = 0;                                                     \
        int some_nan = 0;                                                      \
        size_t done = lanes_##ctype(v, n, &low, &high, &some_nan);             \
                                                                               \
        for (size_t i = 0; i < done && some_nan; i++)                          \
            nans += v[i] != v[i];                                              \
        for (size_t i = done; i < n; i++) {                                    \
            low = v[i] < low ? v[i] : low;                                     \
            high = v[i] > high ? v[i] : high;                                  \
            nans += v[i] != v[i];                                              \
        }                                                                      \
        out->nans = nans;                                                      \
        out->count = n - nans;                                                 \
        if (out->count) {                                                      \
            out->low.f = (double)low;                                          \
            out->high.f = (double)high;                                        \
        }                                                                      \
    }

FLOAT_RANGE(float, __builtin_inff())
FLOAT_RANGE(double, __builtin_inf())

/* Parts that a second look, for NaN, finds in the cache. */
#define PART ((size_t)1 << 14)

void bm_range_add(struct bm_range *range, bouma_type type, const void *values,
                  size_t count)
{
    const uint8_t *p = values;

    while (count) {
        size_t n = count < PART ? count : PART;
        struct bm_range one = {{0}, {0}, 0, 0};

        switch (type) {
#define ADD(name, value, ctype, text)                                          \
    case BOUMA_##name:                                                         \
        range_##ctype(&one, (const ctype *)(const void *)p, n);                \
        break;
            BOUMA_TYPE_LIST(ADD)
#undef ADD
        case BOUMA_TYPE_STRING:
            return;
        }
        bm_range_join(range, type, &one);
        p += n * bouma_type_size(type);
        count -= n;
    }
}

void bm_scalar_store(uint8_t *out, bouma_type type, union bm_scalar value)
{
    float single;
    uint32_t bits;

    switch (bouma_type_size(type)) {
    case 1:
        out[0] = (uint8_t)value.u;
        break;
    case 2:
        bm_store_u16(out, (uint16_t)value.u);
        break;
    case 4:
        bits = (uint32_t)value.u;
        if (type == BOUMA_TYPE_F32) {
            single = (float)value.f;
            memcpy(&bits, &single, sizeof(bits));
        }
        bm_store_u32(out, bits);
        break;
    default:
        bm_store_u64(out, value.u);
    }
}

union bm_scalar bm_scalar_load(const uint8_t *in, bouma_type type)
{
    union bm_scalar v = {0};
    uint32_t bits;
    float single;

    switch (type) {
    case BOUMA_TYPE_I8:
        v.i = (int8_t)in[0];
        break;
    case BOUMA_TYPE_I16:
        v.i = (int16_t)bm_load_u16(in);
        break;
    case BOUMA_TYPE_I32:
        v.i = (int32_t)bm_load_u32(in);
        break;
    case BOUMA_TYPE_U8:
        v.u = in[0];
        break;
    case BOUMA_TYPE_U16:
        v.u = bm_load_u16(in);
        break;
    case BOUMA_TYPE_U32:
        v.u = bm_load_u32(in);
        break;
    case BOUMA_TYPE_F32:
        bits = bm_load_u32(in);
        memcpy(&single, &bits, sizeof(single));
        v.f = (double)single;
        break;
    default:
        v.u = bm_load_u64(in);
    }
    return v;
}

double bm_scalar_double(union bm_scalar value, bouma_type type)
{
    if (bm_type_is_float(type))
        return value.f;
    return is_unsigned(type) ? (double)value.u : (double)value.i;
}
