/* Values of each type as values of each other one, against numbers of more
 * bits than any of them has. */
#include "base/convert.h"

#include <float.h>
#include <math.h>

#include "bouma_lists.h"
#include "check.h"

#define TYPES 10

/* A number as a value of a type; 0 if the type does not have it. */
static int store(void *out, bouma_type type, long double x)
{
    switch (type) {
#define STORE(name, number, ctype, text)                                       \
    case BOUMA_##name: {                                                       \
        ctype one;                                                             \
        if (number <= 8 && (isnan(x) || !(x > -0x1p64L && x < 0x1p64L)))       \
            return 0;                                                          \
        if (number >= 5 && number <= 8 && x < 0)                               \
            return 0;                                                          \
        one = number == 8  ? (ctype)(uint64_t)x                                \
              : number < 8 ? (ctype)(x < 0x1p63L ? (int64_t)x : INT64_MAX)     \
                           : (ctype)x;                                         \
        memcpy(out, &one, sizeof(one));                                        \
        return isnan(x) ? isnan((long double)one) : (long double)one == x;     \
    }
        BOUMA_TYPE_LIST(STORE)
#undef STORE
    case BOUMA_TYPE_STRING:
        break;
    }
    return 0;
}

static long double load(bouma_type type, const void *in)
{
    switch (type) {
#define LOAD(name, number, ctype, text)                                        \
    case BOUMA_##name: {                                                       \
        ctype one;                                                             \
        memcpy(&one, in, sizeof(one));                                         \
        return (long double)one;                                               \
    }
        BOUMA_TYPE_LIST(LOAD)
#undef LOAD
    case BOUMA_TYPE_STRING:
        break;
    }
    return 0;
}

/* The number that x becomes, as the header says; 0 if it is refused. */
static int convert_slowly(long double *out, bouma_type to, int rounds,
                          long double x)
{
    uint8_t room[8];

    if (to == BOUMA_TYPE_F64 || to == BOUMA_TYPE_F32) {
        *out = to == BOUMA_TYPE_F64 ? (long double)(double)x
                                    : (long double)(float)x;
        return isnan(x) || isinf(x) || (rounds ? !isinf(*out) : *out == x);
    }
    *out = rintl(x);
    return (rounds || *out == x) && store(room, to, *out);
}

static const long double edges[] = {0.0L,
                                    -0.0L,
                                    0.1L,
                                    0.5L,
                                    1.5L,
                                    2.5L,
                                    126.5L,
                                    127.5L,
                                    128.5L,
                                    254.5L,
                                    255.5L,
                                    FLT_MIN,
                                    FLT_MAX,
                                    0x1p-149L,
                                    0x1p-150L,
                                    0x1.8p-150L,
                                    0x1.fffffefp127L,
                                    0x1.ffffffp127L,
                                    0x1p128L,
                                    DBL_MIN,
                                    DBL_MAX,
                                    0x1p-1074L,
                                    0x1.000001p0L,
                                    0x1.0000010000001p0L,
                                    (long double)INFINITY,
                                    (long double)NAN};

/* Some values of a type: those at the edges of any type, and any bits. */
static size_t make_values(uint8_t *out, bouma_type type, uint64_t *random)
{
    size_t size = bouma_type_size(type), n = 0;

    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
            n += (size_t)store(out + n * size, type, sign * edges[i]);
        for (int k = 1; k <= 65; k++)
            for (int off = -2; off <= 2; off++)
                n += (size_t)store(out + n * size, type,
                                   sign * (ldexpl(1, k) + off / 2.0L));
    }
    for (int i = 0; i < 200; i++, n++) {
        uint64_t bits = check_random(random);

        bits >>= check_random(random) % 64;
        memcpy(out + n * size, &bits, size); /* the low ones, mostly */
    }
    return n;
}

#define MOST 2000

static uint64_t compare(const struct bm_conversion *c, const uint8_t *from,
                        size_t n)
{
    size_t size = bouma_type_size(c->from), wrong = 0;

    for (size_t i = 0; i < n; i++) {
        long double x = load(c->from, from + i * size), expected, got;
        uint8_t to[9];
        int fits = convert_slowly(&expected, c->to, c->rounds, x);

        memset(to, 0x5a, sizeof(to));
        if (bm_convert(c, to, 0, from + i * size, 0, 1) != (size_t)fits) {
            wrong++;
            continue;
        }
        got = load(c->to, to);
        wrong += to[bouma_type_size(c->to)] != 0x5a;
        if (!fits)
            continue;
        wrong += isnan(expected) ? !isnan(got) : got != expected;
        if (c->to >= BOUMA_TYPE_F32 && !isnan(x))
            wrong += !signbit(got) != !signbit(expected);
    }
    return wrong;
}

static void all_types_become_all_others(void)
{
    static uint8_t values[MOST * 8];
    uint64_t random = 5;

    for (int from = 1; from <= TYPES; from++) {
        size_t n = make_values(values, (bouma_type)from, &random);

        REQUIRE(n <= MOST);
        for (int to = 1; to <= TYPES; to++)
            for (int rounds = 0; rounds < 2; rounds++) {
                struct bm_conversion c = {(bouma_type)from, (bouma_type)to,
                                          rounds};

                CHECK_EQ(compare(&c, values, n), 0);
            }
    }
}

/* Forward and backward, unaligned, up to the first that is refused. */
static void values_lie_apart(void)
{
    uint8_t from[400], to[400], kept[400];
    uint64_t random = 6;

    for (int trial = 0; trial < 2000; trial++) {
        struct bm_conversion c = {(bouma_type)(1 + check_below(&random, TYPES)),
                                  (bouma_type)(1 + check_below(&random, TYPES)),
                                  (int)check_below(&random, 2)};
        int64_t a = 8 + check_below(&random, 5),
                b = 8 + check_below(&random, 5);
        int back = (int)check_below(&random, 2);
        size_t n = (size_t)check_below(&random, 20), good = 0, done;
        uint8_t *first = to + (back ? 300 : 0);
        int wrong = 0;

        for (size_t i = 0; i < sizeof(from); i++)
            from[i] =
                (uint8_t)(check_below(&random, 3) ? 0 : check_random(&random));
        memset(to, 0x5a, sizeof(to));
        memcpy(kept, to, sizeof(to));
        while (good < n &&
               bm_convert(&c,
                          kept + (first - to) + (back ? -b : b) * (int64_t)good,
                          0, from + a * (int64_t)good, 0, 1))
            good++;
        done = bm_convert(&c, first, back ? -b : b, from, a, n);
        CHECK_EQ(done, good);
        for (size_t i = 0; i < sizeof(to); i++)
            wrong += to[i] != kept[i];
        CHECK_EQ(wrong, 0);
    }
}

/* Floats of the same type keep every bit, those of NaN as well. */
static void the_same_type_keeps_bits(void)
{
    const struct bm_conversion same = {BOUMA_TYPE_F32, BOUMA_TYPE_F32, 0};
    uint32_t bits = 0x7fa12345, got = 0;

    CHECK_EQ(bm_convert(&same, (uint8_t *)&got, 4, (uint8_t *)&bits, 4, 1), 1);
    CHECK_EQ(got, bits);
}

static void refusals_are_told(void)
{
    const struct bm_conversion narrow = {BOUMA_TYPE_I32, BOUMA_TYPE_I8, 0};
    const struct bm_conversion real = {BOUMA_TYPE_F64, BOUMA_TYPE_F32, 0};
    const struct bm_conversion big = {BOUMA_TYPE_U64, BOUMA_TYPE_F64, 0};
    char text[BM_REFUSAL_TEXT_BYTES];

    bm_convert_refusal(text, &narrow, &(int32_t){-300});
    CHECK_TEXT(text, "-300 does not fit into i8");
    bm_convert_refusal(text, &real, &(double){0.1});
    CHECK_TEXT(text, "0.10000000000000001 is not exact as f32");
    bm_convert_refusal(text, &real, &(double){1e300});
    CHECK_TEXT(text, "does not fit into f32");
    bm_convert_refusal(text, &big, &(uint64_t){UINT64_MAX});
    CHECK_TEXT(text, "18446744073709551615 is not exact as f64");
}

int main(void)
{
#if LDBL_MANT_DIG >= 64
    all_types_become_all_others();
#endif
    values_lie_apart();
    the_same_type_keeps_bits();
    refusals_are_told();
    return check_result();
}
