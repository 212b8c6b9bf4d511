/* convert.c -- see convert.h. */
#include "base/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_text.h"
#include "base/strict_math.h"
#include "base/type.h"

/* Of each type of integers: the smallest, and the first number behind the
 * largest, both as doubles. */
#define LOW_i8   -0x1p7
#define LOW_i16  -0x1p15
#define LOW_i32  -0x1p31
#define LOW_i64  -0x1p63
#define LOW_u8   0.0
#define LOW_u16  0.0
#define LOW_u32  0.0
#define LOW_u64  0.0
#define HIGH_i8  0x1p7
#define HIGH_i16 0x1p15
#define HIGH_i32 0x1p31
#define HIGH_i64 0x1p63
#define HIGH_u8  0x1p8
#define HIGH_u16 0x1p16
#define HIGH_u32 0x1p32
#define HIGH_u64 0x1p64

typedef int8_t bm_i8;
typedef int16_t bm_i16;
typedef int32_t bm_i32;
typedef int64_t bm_i64;
typedef uint8_t bm_u8;
typedef uint16_t bm_u16;
typedef uint32_t bm_u32;
typedef uint64_t bm_u64;
typedef float bm_f32;
typedef double bm_f64;

typedef size_t convert_run(uint8_t *to, int64_t to_stride, const uint8_t *from,
                           int64_t from_stride, size_t n, int rounds);

/* One after the other, till FITS is 0 for the value x; then y is its number in
 * the other type. */
#define RUN(FROM, TO, FITS)                                                    \
    static size_t FROM##_to_##TO(uint8_t *to, int64_t to_stride,               \
                                 const uint8_t *from, int64_t from_stride,     \
                                 size_t n, int rounds)                         \
    {                                                                          \
        (void)rounds;                                                          \
        for (size_t i = 0; i < n; i++, to += to_stride, from += from_stride) { \
            bm_##FROM x;                                                       \
            bm_##TO y;                                                         \
                                                                               \
            memcpy(&x, from, sizeof(x));                                       \
            if (!FITS(FROM, TO))                                               \
                return i;                                                      \
            memcpy(to, &y, sizeof(y));                                         \
        }                                                                      \
        return n;                                                              \
    }

/* Integers to integers: by an addition that tells whether it overflows. */
#define INTEGER_FITS(FROM, TO) (!__builtin_add_overflow(x, (bm_##FROM)0, &y))

/* Integers to floats. If y is behind the largest integer, x was rounded up. */
#define TO_FLOAT_FITS(FROM, TO)                                                \
    (y = (bm_##TO)x, rounds || ((double)y < HIGH_##FROM && (bm_##FROM)y == x))

/* Floats to integers; NaN is not in the range. */
#define FROM_FLOAT_FITS(FROM, TO)                                              \
    (whole_number((double)x, rounds) >= LOW_##TO &&                            \
     whole_number((double)x, rounds) < HIGH_##TO &&                            \
     (y = (bm_##TO)whole_number((double)x, rounds), 1))

#define FLOAT_FITS(FROM, TO)                                                   \
    (y = (bm_##TO)x,                                                           \
     x != x || (rounds ? !isinf(y) || isinf(x) : (bm_##FROM)y == x))

/* The number itself, or the nearest integer; NaN if there is none. */
static inline double whole_number(double x, int rounds)
{
    double nearest = rint(x);

    return rounds || nearest == x ? nearest : (double)NAN;
}

/* From one type of integers to all others. */
#define TO_ALL(FROM)                                                           \
    RUN(FROM, i8, INTEGER_FITS)                                                \
    RUN(FROM, i16, INTEGER_FITS)                                               \
    RUN(FROM, i32, INTEGER_FITS)                                               \
    RUN(FROM, i64, INTEGER_FITS)                                               \
    RUN(FROM, u8, INTEGER_FITS)                                                \
    RUN(FROM, u16, INTEGER_FITS)                                               \
    RUN(FROM, u32, INTEGER_FITS)                                               \
    RUN(FROM, u64, INTEGER_FITS)                                               \
    RUN(FROM, f32, TO_FLOAT_FITS)                                              \
    RUN(FROM, f64, TO_FLOAT_FITS)
TO_ALL(i8)
TO_ALL(i16)
TO_ALL(i32)
TO_ALL(i64)
TO_ALL(u8)
TO_ALL(u16)
TO_ALL(u32)
TO_ALL(u64)

#define FLOAT_TO_ALL(FROM)                                                     \
    RUN(FROM, i8, FROM_FLOAT_FITS)                                             \
    RUN(FROM, i16, FROM_FLOAT_FITS)                                            \
    RUN(FROM, i32, FROM_FLOAT_FITS)                                            \
    RUN(FROM, i64, FROM_FLOAT_FITS)                                            \
    RUN(FROM, u8, FROM_FLOAT_FITS)                                             \
    RUN(FROM, u16, FROM_FLOAT_FITS)                                            \
    RUN(FROM, u32, FROM_FLOAT_FITS)                                            \
    RUN(FROM, u64, FROM_FLOAT_FITS)
FLOAT_TO_ALL(f32)
FLOAT_TO_ALL(f64)
RUN(f32, f64, FLOAT_FITS)
RUN(f64, f32, FLOAT_FITS)

#define ROW(FROM)                                                              \
    {                                                                          \
        FROM##_to_i8, FROM##_to_i16, FROM##_to_i32, FROM##_to_i64,             \
            FROM##_to_u8, FROM##_to_u16, FROM##_to_u32, FROM##_to_u64,         \
            FROM##_to_f32, FROM##_to_f64                                       \
    }
/* Every bit as it is. */
#define f32_to_f32 u32_to_u32
#define f64_to_f64 u64_to_u64

/* In the order of the types' codes, which begin at 1. */
static convert_run *const runs[10][10] = {
    ROW(i8),  ROW(i16), ROW(i32), ROW(i64), ROW(u8),
    ROW(u16), ROW(u32), ROW(u64), ROW(f32), ROW(f64)};

size_t bm_convert(const struct bm_conversion *c, uint8_t *to, int64_t to_stride,
                  const uint8_t *from, int64_t from_stride, size_t n)
{
    int64_t size = (int64_t)bouma_type_size(c->from);

    if (c->from == c->to && n && to_stride == size && from_stride == size) {
        memmove(to, from, n * (size_t)size);
        return n;
    }
    return runs[c->from - 1][c->to - 1](to, to_stride, from, from_stride, n,
                                        c->rounds);
}

/* ---- for messages ------------------------------------------------------- */

void bm_value_text(char text[BM_VALUE_TEXT_BYTES], bouma_type type,
                   const void *value)
{
    const struct bm_conversion widen = {type,
                                        bm_type_is_float(type) ? BOUMA_TYPE_F64
                                        : type >= BOUMA_TYPE_U8
                                            ? BOUMA_TYPE_U64
                                            : BOUMA_TYPE_I64,
                                        0};
    union bm_scalar wide;

    bm_convert(&widen, (uint8_t *)&wide, 0, value, 0, 1);
    if (widen.to == BOUMA_TYPE_F64)
        bm_format(text, BM_VALUE_TEXT_BYTES, "%.*g",
                  type == BOUMA_TYPE_F32 ? 9 : 17, wide.f);
    else if (widen.to == BOUMA_TYPE_U64)
        snprintf(text, BM_VALUE_TEXT_BYTES, "%" PRIu64, wide.u);
    else
        snprintf(text, BM_VALUE_TEXT_BYTES, "%" PRId64, wide.i);
}

int bm_convert_refusal(char text[BM_REFUSAL_TEXT_BYTES],
                       const struct bm_conversion *c, const void *value)
{
    const struct bm_conversion rounding = {c->from, c->to, 1};
    char number[BM_VALUE_TEXT_BYTES];
    uint64_t ignored;
    int near = bm_convert(&rounding, (uint8_t *)&ignored, 0, value, 0, 1) == 1;

    bm_value_text(number, c->from, value);
    snprintf(text, BM_REFUSAL_TEXT_BYTES,
             near ? "%s is not exact as %s" : "%s does not fit into %s", number,
             bouma_type_name(c->to));
    return near;
}
