/* real_text.c -- the shortest text that reads back as the same number.
 *
 * 17 digits (9 of a float) always do. Fewer do if the number that they say is
 * nearer than half the distance to the next double: so most are ruled out by
 * the digits that would be dropped, and only the rest is read back to see. One
 * conversion to digits serves all tries, as it is what takes the time. */
#include "real_text.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0.d1d2d3... x 10^exponent */
struct decimal {
    uint64_t digits;
    int count, exponent;
    int most; /* digits before the point, without an exponent */
    bool negative;
};

static void split(struct decimal *out, double value, int count)
{
    char text[REAL_TEXT], *c = text;

    snprintf(text, sizeof(text), "%.*e", count - 1, value);
    out->negative = *c == '-';
    out->digits = 0;
    out->count = out->most = count;
    for (; *c && *c != 'e'; c++)
        if (*c >= '0' && *c <= '9')
            out->digits = 10 * out->digits + (uint64_t)(*c - '0');
    out->exponent = *c ? (int)strtol(c + 1, NULL, 10) + 1 : 0;
}

/* As "%.17g" (of a float "%.9g") would: plain where that is short, else with an
 * exponent. */
static size_t join(char *out, const struct decimal *decimal)
{
    char digits[24];
    uint64_t rest = decimal->digits;
    int count = decimal->count, point = decimal->exponent;
    size_t used = 0;

    if (rest && rest % 10 == 0)
        for (; rest % 10 == 0; rest /= 10)
            count--;
    for (int i = count; i-- > 0; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    if (decimal->negative)
        out[used++] = '-';
    if (point < -3 || point > decimal->most) {
        out[used++] = digits[0];
        if (count > 1)
            out[used++] = '.';
        memcpy(out + used, digits + 1, (size_t)(count - 1));
        used += (size_t)(count - 1);
        return used + (size_t)snprintf(out + used, 8, "e%c%02d",
                                       point < 1 ? '-' : '+', abs(point - 1));
    }
    if (point <= 0) {
        out[used++] = '0';
        out[used++] = '.';
        for (int i = point; i < 0; i++)
            out[used++] = '0';
    }
    for (int i = 0; i < count || i < point; i++) {
        if (i == point && i > 0)
            out[used++] = '.';
        out[used++] = i < count ? digits[i] : '0';
    }
    return used;
}

/* Round to fewer digits; false if the number that they say cannot be within
 * 'half' of all digits. Where the last ones are 5, 50 or 500, nobody knows
 * which way is the nearer one: 'down' takes the other. */
static bool round_off(struct decimal *out, const struct decimal *decimal,
                      int drop, bool down, double half)
{
    uint64_t unit = drop == 1 ? 10 : drop == 2 ? 100 : 1000;
    uint64_t over = decimal->digits % unit, limit = 1;
    uint64_t away = over < unit - over ? over : unit - over;

    if (down && over != unit / 2)
        return false;
    if ((double)away > half)
        return false;
    *out = *decimal;
    out->digits = (decimal->digits + unit / 2 - down) / unit;
    out->count -= drop;
    for (int i = 0; i < out->count; i++)
        limit *= 10;
    if (out->digits == limit) { /* 9.99 has become 10.0 */
        out->digits /= 10;
        out->exponent++;
    }
    return true;
}

static size_t put_not_finite(char *out, double value)
{
    const char *text = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";

    memcpy(out, text, strlen(text) + 1);
    return strlen(text);
}

static size_t put_zero(char *out, bool negative)
{
    memcpy(out, "-0", 3);
    if (!negative)
        memcpy(out, "0", 2);
    return 1 + (size_t)negative;
}

#define REAL_TEXT_OF(name, ctype, read, most, tries, epsilon, least)           \
    size_t name(char *out, ctype value)                                        \
    {                                                                          \
        struct decimal all, fewer;                                             \
        double half;                                                           \
        size_t used;                                                           \
                                                                               \
        if (!isfinite(value))                                                  \
            return put_not_finite(out, (double)value);                         \
        if (value == 0)                                                        \
            return put_zero(out, signbit(value) != 0);                         \
        split(&all, (double)value, most);                                      \
        /* Of denormal numbers, which have fewer bits, nothing is known. */    \
        half = value < (least) && value > -(least)                             \
                   ? INFINITY                                                  \
                   : (double)all.digits * (double)(epsilon) / 2 + 2;           \
        for (int i = 2 * tries + 1; i > 1; i--) {                              \
            if (!round_off(&fewer, &all, i / 2, i % 2 == 0, half))             \
                continue;                                                      \
            used = join(out, &fewer);                                          \
            out[used] = '\0';                                                  \
            if (read(out, NULL) == value)                                      \
                return used;                                                   \
        }                                                                      \
        return join(out, &all);                                                \
    }

REAL_TEXT_OF(real_text_f64, double, strtod, 17, 2, DBL_EPSILON, DBL_MIN)
REAL_TEXT_OF(real_text_f32, float, strtof, 9, 3, FLT_EPSILON, FLT_MIN)
