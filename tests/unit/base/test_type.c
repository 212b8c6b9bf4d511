/* Types and value ranges, against a plain loop over every value. */
#include "base/type.h"

#include <math.h>

#include "base/bytes.h"
#include "bouma_lists.h"
#include "check.h"

static double value_of(bouma_type type, const void *values, size_t i)
{
    switch (type) {
#define VALUE(name, number, ctype, text)                                       \
    case BOUMA_##name:                                                         \
        return (double)((const ctype *)values)[i];
        BOUMA_TYPE_LIST(VALUE)
#undef VALUE
    case BOUMA_TYPE_STRING:
        break;
    }
    return 0;
}

/* The bits of value i as the union has them. */
static union bm_scalar scalar_of(bouma_type type, const void *values, size_t i)
{
    union bm_scalar s = {0};

    switch (type) {
    case BOUMA_TYPE_I64:
        s.i = ((const int64_t *)values)[i];
        break;
    case BOUMA_TYPE_U64:
        s.u = ((const uint64_t *)values)[i];
        break;
    default:
        if (bm_type_is_float(type))
            s.f = value_of(type, values, i);
        else
            s.i = (int64_t)value_of(type, values, i); /* 32 bits: exact */
    }
    return s;
}

static int less(bouma_type type, union bm_scalar a, union bm_scalar b)
{
    return bm_type_is_float(type)   ? a.f < b.f
           : type == BOUMA_TYPE_U64 ? a.u < b.u
                                    : a.i < b.i;
}

static struct bm_range slow_range(bouma_type type, const void *values, size_t n)
{
    struct bm_range r = {{0}, {0}, 0, 0};

    for (size_t i = 0; i < n; i++) {
        union bm_scalar s = scalar_of(type, values, i);

        if (bm_type_is_float(type) && isnan(s.f)) {
            r.nans++;
            continue;
        }
        if (!r.count || less(type, s, r.low))
            r.low = s;
        if (!r.count || less(type, r.high, s))
            r.high = s;
        r.count++;
    }
    return r;
}

static void check_range(bouma_type type, const void *values, size_t n)
{
    struct bm_range fast = {{0}, {0}, 0, 0}, slow = slow_range(type, values, n);

    bm_range_add(&fast, type, values, n);
    CHECK_EQ(fast.count, slow.count);
    CHECK_EQ(fast.nans, slow.nans);
    if (bm_type_is_float(type)) {
        CHECK(fast.low.f == slow.low.f);
        CHECK(fast.high.f == slow.high.f);
    } else {
        CHECK(fast.low.u == slow.low.u);
        CHECK(fast.high.u == slow.high.u);
    }
    CHECK(bm_range_equal(&fast, &slow, type));
}

static void fill_random(uint64_t *state, void *values, size_t bytes)
{
    uint8_t *p = values;

    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)check_random(state);
}

static void ranges_of_integers_are_exact(void)
{
    uint64_t state = 7, values[130];

    for (int t = BOUMA_TYPE_I8; t <= BOUMA_TYPE_U64; t++)
        for (size_t n = 1; n <= 67; n++)
            for (size_t from = 0; from < 5; from++) {
                bouma_type type = (bouma_type)t;
                size_t size = bouma_type_size(type);

                fill_random(&state, values, sizeof(values));
                check_range(type, (uint8_t *)values + from * size, n);
            }
}

/* The one smallest or largest value, at each index in turn. */
static void an_extreme_is_found_at_every_index(void)
{
    for (size_t n = 1; n <= 67; n++)
        for (size_t at = 0; at < n; at++) {
            float f[67];
            double d[67];
            int16_t s[67];
            uint64_t u[67];

            for (size_t i = 0; i < n; i++) {
                f[i] = (float)(1 + i % 3);
                d[i] = (double)(1 + i % 3);
                s[i] = (int16_t)(1 + i % 3);
                u[i] = UINT64_MAX - 5 + i % 3;
            }
            f[at] = -7.5f;
            d[at] = -7.5;
            s[at] = INT16_MIN;
            u[at] = 0;
            check_range(BOUMA_TYPE_F32, f, n);
            check_range(BOUMA_TYPE_F64, d, n);
            check_range(BOUMA_TYPE_I16, s, n);
            check_range(BOUMA_TYPE_U64, u, n);
            f[at] = INFINITY;
            d[at] = 1e300;
            s[at] = INT16_MAX;
            u[at] = UINT64_MAX;
            check_range(BOUMA_TYPE_F32, f, n);
            check_range(BOUMA_TYPE_F64, d, n);
            check_range(BOUMA_TYPE_I16, s, n);
            check_range(BOUMA_TYPE_U64, u, n);
            f[at] = NAN;
            d[at] = -NAN;
            check_range(BOUMA_TYPE_F32, f, n);
            check_range(BOUMA_TYPE_F64, d, n);
        }
}

static void floats_of_all_kinds_are_ranged(void)
{
    static const double special[] = {NAN,   INFINITY, -INFINITY, 0.0, -0.0,
                                     1e-40, -1e-40,   3.5,       -3.5};
    uint64_t state = 8;

    for (size_t n = 1; n <= 67; n++)
        for (int tries = 0; tries < 50; tries++) {
            double d[70];
            float f[70];
            size_t from = (size_t)check_below(&state, 3);
            int kinds = 1 + (int)check_below(&state, 9);
            int first = (int)check_below(&state, 9);

            for (size_t i = 0; i < 70; i++) {
                d[i] = special[(first + check_below(&state, kinds)) % 9];
                f[i] = (float)d[i];
            }
            check_range(BOUMA_TYPE_F64, d + from, n);
            check_range(BOUMA_TYPE_F32, f + from, n);
        }
}

static void nothing_but_nan_leaves_low_and_high_at_zero(void)
{
    for (size_t n = 1; n <= 67; n++) {
        struct bm_range r = {{0}, {0}, 0, 0};
        float f[67];

        for (size_t i = 0; i < n; i++)
            f[i] = NAN;
        bm_range_add(&r, BOUMA_TYPE_F32, f, n);
        CHECK_EQ(r.nans, n);
        CHECK_EQ(r.count, 0);
        CHECK(r.low.u == 0 && r.high.u == 0);
    }
}

static void infinities_alone_are_a_range(void)
{
    float plus[5] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    double minus[9];

    for (int i = 0; i < 9; i++)
        minus[i] = -INFINITY;
    for (size_t n = 1; n <= 5; n++)
        check_range(BOUMA_TYPE_F32, plus, n);
    for (size_t n = 1; n <= 9; n++)
        check_range(BOUMA_TYPE_F64, minus, n);
}

static void adding_in_parts_is_adding_all(void)
{
    uint64_t state = 9;
    double d[100];

    for (int tries = 0; tries < 300; tries++) {
        struct bm_range parts = {{0}, {0}, 0, 0}, joined = parts, slow;

        for (int i = 0; i < 100; i++)
            d[i] = check_below(&state, 4) ? (double)check_below(&state, 50) - 25
                                          : NAN;
        for (size_t at = 0; at < 100;) {
            size_t n = (size_t)check_below(&state, (int64_t)(101 - at));
            struct bm_range one = {{0}, {0}, 0, 0};

            bm_range_add(&parts, BOUMA_TYPE_F64, d + at, n);
            bm_range_add(&one, BOUMA_TYPE_F64, d + at, n);
            bm_range_join(&joined, BOUMA_TYPE_F64, &one);
            at += n;
        }
        slow = slow_range(BOUMA_TYPE_F64, d, 100);
        CHECK(bm_range_equal(&parts, &slow, BOUMA_TYPE_F64));
        CHECK(bm_range_equal(&joined, &slow, BOUMA_TYPE_F64));
    }
}

/* With the sign bit set, an unsigned value is large, not small. */
static void joined_integers_are_compared_by_their_kind(void)
{
    uint64_t u[2] = {1, UINT64_MAX};
    int64_t i[2] = {-1, 1};

    for (int first = 0; first < 2; first++) {
        struct bm_range r = {{0}, {0}, 0, 0}, s = r;

        bm_range_add(&r, BOUMA_TYPE_U64, &u[first], 1);
        bm_range_add(&r, BOUMA_TYPE_U64, &u[1 - first], 1);
        CHECK(r.low.u == 1 && r.high.u == UINT64_MAX && r.count == 2);
        bm_range_add(&s, BOUMA_TYPE_I64, &i[first], 1);
        bm_range_add(&s, BOUMA_TYPE_I64, &i[1 - first], 1);
        CHECK(s.low.i == -1 && s.high.i == 1 && s.count == 2);
    }
}

static void ranges_that_differ_are_not_equal(void)
{
    int32_t v[4] = {-5, 0, 3, 9};
    struct bm_range all = {{0}, {0}, 0, 0}, low = all, high = all, fewer = all;

    bm_range_add(&all, BOUMA_TYPE_I32, v, 4);
    v[0] = -4;
    bm_range_add(&low, BOUMA_TYPE_I32, v, 4);
    v[0] = -5;
    v[3] = 8;
    bm_range_add(&high, BOUMA_TYPE_I32, v, 4);
    v[1] = 8;
    bm_range_add(&fewer, BOUMA_TYPE_I32, v, 2);
    CHECK(bm_range_equal(&all, &all, BOUMA_TYPE_I32));
    CHECK(!bm_range_equal(&all, &low, BOUMA_TYPE_I32));
    CHECK(!bm_range_equal(&all, &high, BOUMA_TYPE_I32));
    CHECK(!bm_range_equal(&all, &fewer, BOUMA_TYPE_I32));
}

/* More than one internal part of 2^24 values, with NaN in each. */
static void many_values_are_counted_right(void)
{
    size_t n = ((size_t)1 << 24) + 12345;
    float *f = malloc(n * sizeof(*f));
    struct bm_range r = {{0}, {0}, 0, 0};

    REQUIRE(f);
    for (size_t i = 0; i < n; i++)
        f[i] = i % 4 == 1 ? NAN : (float)(i % 1000);
    f[n - 3] = -1;
    f[5] = 5000;
    bm_range_add(&r, BOUMA_TYPE_F32, f, n);
    CHECK_EQ(r.count + r.nans, n);
    CHECK(r.low.f == -1 && r.high.f == 5000);
    CHECK_EQ(r.nans, (n + 2) / 4 - ((n - 3) % 4 == 1) - 1);
    free(f);
}

static void a_bound_goes_through_its_bytes(void)
{
    uint64_t state = 10;

    for (int t = BOUMA_TYPE_I8; t <= BOUMA_TYPE_F64; t++)
        for (int i = 0; i < 500; i++) {
            bouma_type type = (bouma_type)t;
            size_t size = bouma_type_size(type);
            uint64_t raw = check_random(&state);
            uint8_t bytes[9];
            union bm_scalar s = scalar_of(type, &raw, 0), back;

            if (bm_type_is_float(type) && isnan(s.f))
                continue;
            memset(bytes, 0xee, sizeof(bytes));
            bm_scalar_store(bytes, type, s);
            bm_swap_to_little(bytes, 1, size);
            CHECK(!memcmp(bytes, &raw, size));
            bm_swap_to_little(bytes, 1, size);
            CHECK_EQ(bytes[size], 0xee);
            back = bm_scalar_load(bytes, type);
            CHECK(back.u == s.u);
            CHECK(bm_scalar_double(back, type) == value_of(type, &raw, 0));
        }
}

static void the_sign_of_zero_and_infinities_are_stored(void)
{
    static const double values[] = {0.0, -0.0, INFINITY, -INFINITY};

    for (int i = 0; i < 4; i++) {
        union bm_scalar s = {.f = values[i]}, back;
        uint8_t bytes[8];

        bm_scalar_store(bytes, BOUMA_TYPE_F32, s);
        back = bm_scalar_load(bytes, BOUMA_TYPE_F32);
        CHECK(back.u == s.u);
        bm_scalar_store(bytes, BOUMA_TYPE_F64, s);
        back = bm_scalar_load(bytes, BOUMA_TYPE_F64);
        CHECK(back.u == s.u);
    }
}

static void types_have_names_and_sizes(void)
{
    static const size_t sizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1};

    for (int t = 1; t <= 11; t++) {
        CHECK_EQ(bouma_type_size((bouma_type)t), sizes[t]);
        REQUIRE(bouma_type_name((bouma_type)t));
        CHECK_EQ(bm_type_valid(t), t <= 10);
        CHECK_EQ(bm_type_is_float((bouma_type)t), t == 9 || t == 10);
        CHECK_EQ(bouma_type_parse(bouma_type_name((bouma_type)t)), t);
    }
    CHECK_EQ(bouma_type_size((bouma_type)0), 0);
    CHECK_EQ(bouma_type_size((bouma_type)12), 0);
    CHECK(!bouma_type_name((bouma_type)0));
    CHECK(!bouma_type_name((bouma_type)99));
    CHECK(!bm_type_valid(0) && !bm_type_valid(-1) && !bm_type_valid(12));
    CHECK_EQ(bouma_type_parse("f16"), 0);
    CHECK_EQ(bouma_type_parse(NULL), 0);
    CHECK_EQ(bouma_type_parse(""), 0);
    CHECK_EQ(bouma_type_parse("f32 "), 0);
}

int main(void)
{
    ranges_of_integers_are_exact();
    an_extreme_is_found_at_every_index();
    floats_of_all_kinds_are_ranged();
    nothing_but_nan_leaves_low_and_high_at_zero();
    infinities_alone_are_a_range();
    adding_in_parts_is_adding_all();
    joined_integers_are_compared_by_their_kind();
    ranges_that_differ_are_not_equal();
    many_values_are_counted_right();
    a_bound_goes_through_its_bytes();
    the_sign_of_zero_and_infinities_are_stored();
    types_have_names_and_sizes();
    return check_result();
}
