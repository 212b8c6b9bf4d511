/* test_real_text.c -- real numbers in text read back as the same number, and
 * have no digit that is not needed. */
#include <float.h>
#include <math.h>

#include "check.h"
#include "real_text.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Digits without zeros in front of them or behind. */
static int count_digits(const char *text)
{
    int count = 0, zeros = 0;

    for (; *text && *text != 'e'; text++)
        if (*text >= '1' && *text <= '9') {
            count += zeros + 1;
            zeros = 0;
        } else if (*text == '0' && count) {
            zeros++;
        }
    return count;
}

static void check_f64(double value)
{
    char text[REAL_TEXT], plain[400];
    int digits = 15;

    text[real_text_f64(text, value)] = 0;
    do
        snprintf(plain, sizeof(plain), "%.*g", digits++, value);
    while (strtod(plain, NULL) != value);
    CHECK(strtod(text, NULL) == value);
    CHECK(count_digits(text) <= count_digits(plain));
    CHECK(strlen(text) < REAL_TEXT - 1);
}

static void check_f32(float value)
{
    char text[REAL_TEXT], plain[400];
    int digits = 6;

    text[real_text_f32(text, value)] = 0;
    do
        snprintf(plain, sizeof(plain), "%.*g", digits++, (double)value);
    while (strtof(plain, NULL) != value);
    CHECK(strtof(text, NULL) == value);
    CHECK(count_digits(text) <= count_digits(plain));
    CHECK(strlen(text) < REAL_TEXT - 1);
}

static void any_bits_come_back(void)
{
    uint64_t state = 88172645463325252u;

    for (int i = 0; i < 30000; i++) {
        uint64_t bits = next_random(&state);
        uint32_t half = (uint32_t)(bits >> 20);
        double f64;
        float f32;

        memcpy(&f64, &bits, sizeof(f64));
        memcpy(&f32, &half, sizeof(f32));
        if (isfinite(f64))
            check_f64(f64);
        if (isfinite(f32))
            check_f32(f32);
        /* And numbers that people write. */
        check_f64((double)(bits % 1000000) / 1000);
        check_f32((float)(bits % 100000) / 100);
        check_f64(ldexp(1, (int)(bits % 2000) - 1000));
        check_f32(ldexpf(1, (int)(bits % 250) - 125));
        check_f64(nextafter((double)(bits % 100), 1000));
    }
    for (int e = -307; e <= 308; e++)
        check_f64(pow(10, e));
    check_f64(DBL_MAX);
    check_f64(DBL_MIN);
    check_f64(-DBL_TRUE_MIN);
    check_f32(FLT_MAX);
    check_f32(-FLT_TRUE_MIN);
}

static void is_f64(double value, const char *expected)
{
    char text[REAL_TEXT];

    text[real_text_f64(text, value)] = 0;
    CHECK_EQ(strcmp(text, expected), 0);
}

static void is_f32(float value, const char *expected)
{
    char text[REAL_TEXT];

    text[real_text_f32(text, value)] = 0;
    CHECK_EQ(strcmp(text, expected), 0);
}

static void they_look_as_people_write_them(void)
{
    is_f64(0.075, "0.075");
    is_f64(-0.1, "-0.1");
    is_f64(0.1 + 0.2, "0.30000000000000004");
    is_f64(0, "0");
    is_f64(-0.0, "-0");
    is_f64(3, "3");
    is_f64(1200, "1200");
    is_f64(1e16, "10000000000000000");
    is_f64(1e17, "1e+17");
    is_f64(1e23, "1e+23");
    is_f64(0.0001, "0.0001");
    is_f64(0.00001, "1e-05");
    is_f64(1.5e-7, "1.5e-07");
    is_f64(1e-300, "1e-300");
    is_f64(0.99999999999999989, "0.9999999999999999");
    is_f64(NAN, "nan");
    is_f64(-NAN, "nan");
    is_f64(INFINITY, "inf");
    is_f64(-INFINITY, "-inf");
    is_f32(0.1f, "0.1");
    is_f32(16777216, "16777216");
    is_f32(1e9f, "1e+09");
    is_f32(0.33333334f, "0.33333334");
    is_f32(-INFINITY, "-inf");
}

int main(void)
{
    any_bits_come_back();
    they_look_as_people_write_them();
    return check_result();
}
