/* test_serve_types.c -- values as f32, f16 and u8. */
#include <math.h>

#include "check.h"
#include "serve/sample_types.h"

/* What a half stands for. */
static double value_of(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double fraction = half & 1023;
    double size = exponent == 31 ? (fraction > 0 ? NAN : INFINITY)
                  : exponent     ? ldexp(1 + fraction / 1024, exponent - 15)
                                 : ldexp(fraction, -24);

    return half & 0x8000 ? -size : size;
}

static void every_half_is_itself(void)
{
    for (unsigned half = 0; half < 0x10000; half++) {
        double value = value_of((uint16_t)half);

        if (isnan(value))
            CHECK(isnan(value_of(half_from_double(value))));
        else
            CHECK_EQ(half_from_double(value), half);
    }
}

/* Between two neighbours, and a little to either side of the middle. */
static void halves_are_the_nearest_ties_even(void)
{
    for (unsigned half = 0; half < 0x7bff; half++) {
        double low = value_of((uint16_t)half);
        double high = value_of((uint16_t)(half + 1)), middle = (low + high) / 2;

        CHECK_EQ(half_from_double(middle), half + (half & 1));
        CHECK_EQ(half_from_double(nextafter(middle, 0)), half);
        CHECK_EQ(half_from_double(nextafter(middle, 1e9)), half + 1);
        CHECK_EQ(half_from_double(-middle), 0x8000 + half + (half & 1));
    }
    CHECK_EQ(half_from_double(65504), 0x7bff);
    CHECK_EQ(half_from_double(65519.99), 0x7bff);
    CHECK_EQ(half_from_double(65520), 0x7c00);
    CHECK_EQ(half_from_double(-1e300), 0xfc00);
    CHECK_EQ(half_from_double(5e-324), 0);
    CHECK_EQ(half_from_double(-0.0), 0x8000);
}

static void bytes_span_the_range(void)
{
    CHECK_EQ(byte_from_double(NAN, 0, 1), 0);
    CHECK_EQ(byte_from_double(0, 0, 1), 1);
    CHECK_EQ(byte_from_double(-5, 0, 1), 1);
    CHECK_EQ(byte_from_double(1, 0, 1), 255);
    CHECK_EQ(byte_from_double(INFINITY, 0, 1), 255);
    CHECK_EQ(byte_from_double(-INFINITY, 0, 1), 1);
    CHECK_EQ(byte_from_double(0.5, 0, 1), 128);
    CHECK_EQ(byte_from_double(3, 3, 3), 1);
    CHECK_EQ(byte_from_double(4, 3, 3), 255);
    CHECK_EQ(byte_from_double(0, -1.7e308, 1.7e308), 128);
}

static void components_are_taken_out(void)
{
    static const double from[] = {1, 10, 2, 20, 3, 30};
    struct conversion how = {.to = SENT_F32, .from = BOUMA_TYPE_F64};
    float to[6] = {0};
    double own[3];

    convert_values(to, 1, from + 1, 2, 3, &how);
    CHECK(to[0] == 10 && to[1] == 20 && to[2] == 30 && to[3] == 0);
    how.shifts = 1;
    how.origin = 0.5;
    convert_values(to + 1, 2, from, 2, 3, &how);
    CHECK(to[1] == 0.5f && to[3] == 1.5f && to[5] == 2.5f && to[0] == 10);
    how.to = SENT_OWN;
    convert_values(own, 1, from, 2, 3, &how);
    CHECK(own[0] == 1 && own[1] == 2 && own[2] == 3);
}

/* 2^60 + 2^36 + 1 lies just above the middle of two floats; as a double it
 * would be the middle, and go down. */
static void integers_are_rounded_once(void)
{
    int64_t large = ((int64_t)1 << 60) + ((int64_t)1 << 36) + 1;
    struct conversion how = {.to = SENT_F32, .from = BOUMA_TYPE_I64};
    float to;

    convert_values(&to, 1, &large, 1, 1, &how);
    CHECK(to == ldexpf(1, 60) + ldexpf(1, 37));
}

static void every_type_is_converted(void)
{
    static const int8_t i8[] = {-3};
    static const uint16_t u16[] = {60000};
    static const double f64[] = {1e300};
    struct conversion how = {.to = SENT_F32, .from = BOUMA_TYPE_I8};
    uint16_t half;
    uint8_t byte;
    float to;

    convert_values(&to, 1, i8, 1, 1, &how);
    CHECK(to == -3);
    how.from = BOUMA_TYPE_F64;
    convert_values(&to, 1, f64, 1, 1, &how);
    CHECK(isinf(to));
    how = (struct conversion){.to = SENT_F16, .from = BOUMA_TYPE_U16};
    convert_values(&half, 1, u16, 1, 1, &how);
    CHECK(value_of(half) == 60000);
    how = (struct conversion){
        .to = SENT_U8, .from = BOUMA_TYPE_U16, .low = 0, .high = 60000};
    convert_values(&byte, 1, u16, 1, 1, &how);
    CHECK_EQ(byte, 255);
    CHECK_EQ(sent_type_size(SENT_F16, BOUMA_TYPE_F64), 2);
    CHECK_EQ(sent_type_size(SENT_OWN, BOUMA_TYPE_F64), 8);
    CHECK(!strcmp(sent_type_name(SENT_OWN, BOUMA_TYPE_I16), "i16"));
}

int main(void)
{
    every_half_is_itself();
    halves_are_the_nearest_ties_even();
    bytes_span_the_range();
    components_are_taken_out();
    integers_are_rounded_once();
    every_type_is_converted();
    return check_result();
}
