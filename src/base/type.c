/* type.c -- sizes, names and ranges of the sample types. */
#include "base/type.h"

#include <string.h>

#include "base/bytes.h"

size_t bouma_type_size(bouma_type type)
{
    switch (type) {
#define SIZE(name, value, ctype, text)                                         \
    case BOUMA_##name:                                                         \
        return sizeof(ctype);
        BOUMA_TYPE_LIST(SIZE)
#undef SIZE
    case BOUMA_STRING:
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
    case BOUMA_STRING:
        return "string";
    }
    return NULL;
}

bouma_type bouma_type_parse(const char *text)
{
#define PARSE(name, value, ctype, word)                                        \
    if (!strcmp(text, word))                                                   \
        return BOUMA_##name;
    BOUMA_TYPE_LIST(PARSE)
#undef PARSE
    return (bouma_type)0;
}

int bm_type_valid(int type)
{
    return type >= BOUMA_I8 && type <= BOUMA_F64;
}

int bm_type_is_float(bouma_type type)
{
    return type == BOUMA_F32 || type == BOUMA_F64;
}

static int is_unsigned(bouma_type type)
{
    return type >= BOUMA_U8 && type <= BOUMA_U64;
}

static int scalar_less(bouma_scalar a, bouma_scalar b, bouma_type type)
{
    if (bm_type_is_float(type))
        return a.f < b.f;
    return is_unsigned(type) ? a.u < b.u : a.i < b.i;
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

/* Independent lanes, so that a compiler makes vector code of the comparisons
 * without being told that NaN or signed zeros do not matter. */
#define LANES 16

#define INTEGER_RANGE(ctype, member)                                           \
    static void range_##ctype(struct bm_range *out, const ctype *v, size_t n)  \
    {                                                                          \
        ctype low[LANES], high[LANES];                                         \
        size_t i = 0;                                                          \
                                                                               \
        for (int j = 0; j < LANES; j++)                                        \
            low[j] = high[j] = v[0];                                           \
        for (; i + LANES <= n; i += LANES)                                     \
            for (int j = 0; j < LANES; j++) {                                  \
                low[j] = v[i + j] < low[j] ? v[i + j] : low[j];                \
                high[j] = v[i + j] > high[j] ? v[i + j] : high[j];             \
            }                                                                  \
        for (; i < n; i++) {                                                   \
            low[0] = v[i] < low[0] ? v[i] : low[0];                            \
            high[0] = v[i] > high[0] ? v[i] : high[0];                         \
        }                                                                      \
        for (int j = 1; j < LANES; j++) {                                      \
            low[0] = low[j] < low[0] ? low[j] : low[0];                        \
            high[0] = high[j] > high[0] ? high[j] : high[0];                   \
        }                                                                      \
        out->low.member = low[0];                                              \
        out->high.member = high[0];                                            \
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

/* A comparison with NaN is false, so NaN never gets into low or high. Counting
 * in an integer of the float's own size keeps the lanes of one width. */
#define FLOAT_RANGE(ctype, itype, infinite)                                    \
    static void range_##ctype(struct bm_range *out, const ctype *v, size_t n)  \
    {                                                                          \
        ctype low[LANES], high[LANES];                                         \
        itype nans[LANES] = {0};                                               \
        uint64_t nan_total = 0;                                                \
        size_t i = 0;                                                          \
                                                                               \
        for (int j = 0; j < LANES; j++) {                                      \
            low[j] = infinite;                                                 \
            high[j] = -infinite;                                               \
        }                                                                      \
        for (; i + LANES <= n; i += LANES)                                     \
            for (int j = 0; j < LANES; j++) {                                  \
                low[j] = v[i + j] < low[j] ? v[i + j] : low[j];                \
                high[j] = v[i + j] > high[j] ? v[i + j] : high[j];             \
                nans[j] += v[i + j] != v[i + j];                               \
            }                                                                  \
        for (; i < n; i++) {                                                   \
            low[0] = v[i] < low[0] ? v[i] : low[0];                            \
            high[0] = v[i] > high[0] ? v[i] : high[0];                         \
            nans[0] += v[i] != v[i];                                           \
        }                                                                      \
        for (int j = 0; j < LANES; j++) {                                      \
            low[0] = low[j] < low[0] ? low[j] : low[0];                        \
            high[0] = high[j] > high[0] ? high[j] : high[0];                   \
            nan_total += (uint64_t)nans[j];                                    \
        }                                                                      \
        out->nans = nan_total;                                                 \
        out->count = n - nan_total;                                            \
        if (out->count) {                                                      \
            out->low.f = (double)low[0];                                       \
            out->high.f = (double)high[0];                                     \
        }                                                                      \
    }

FLOAT_RANGE(float, int32_t, __builtin_inff())
FLOAT_RANGE(double, int64_t, __builtin_inf())

/* Lanes count NaN in 32 bits: parts stay well below 2^31 values each. */
#define PART ((size_t)1 << 24)

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
        case BOUMA_STRING:
            return;
        }
        bm_range_join(range, type, &one);
        p += n * bouma_type_size(type);
        count -= n;
    }
}

void bm_scalar_store(uint8_t *out, bouma_type type, bouma_scalar value)
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
        if (type == BOUMA_F32) {
            single = (float)value.f;
            memcpy(&bits, &single, sizeof(bits));
        }
        bm_store_u32(out, bits);
        break;
    default:
        bm_store_u64(out, value.u);
    }
}

bouma_scalar bm_scalar_load(const uint8_t *in, bouma_type type)
{
    bouma_scalar v = {0};
    uint32_t bits;
    float single;

    switch (type) {
    case BOUMA_I8:
        v.i = (int8_t)in[0];
        break;
    case BOUMA_I16:
        v.i = (int16_t)bm_load_u16(in);
        break;
    case BOUMA_I32:
        v.i = (int32_t)bm_load_u32(in);
        break;
    case BOUMA_U8:
        v.u = in[0];
        break;
    case BOUMA_U16:
        v.u = bm_load_u16(in);
        break;
    case BOUMA_U32:
        v.u = bm_load_u32(in);
        break;
    case BOUMA_F32:
        bits = bm_load_u32(in);
        memcpy(&single, &bits, sizeof(single));
        v.f = (double)single;
        break;
    default:
        v.u = bm_load_u64(in);
    }
    return v;
}

double bm_scalar_double(bouma_scalar value, bouma_type type)
{
    if (bm_type_is_float(type))
        return value.f;
    return is_unsigned(type) ? (double)value.u : (double)value.i;
}
