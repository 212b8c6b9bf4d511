/* quantity.c -- see quantity.h. */
#include "machine/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* digits * 10^power: what a text says, exactly. */
struct decimal {
    uint64_t digits;
    int power;
};

/* The number at the beginning of a text: the bytes that it takes, 0 if there is
 * none. */
static size_t parse_decimal(struct decimal *out, const char *text, size_t bytes)
{
    size_t i = 0;
    int seen = 0, point = 0, exponent = 0;

    *out = (struct decimal){0, 0};
    for (; i < bytes; i++) {
        int digit = text[i] - '0';

        if (text[i] == '.' && !point) {
            point = 1;
            continue;
        }
        if (digit < 0 || digit > 9)
            break;
        seen = 1;
        if (out->digits > (UINT64_MAX - 9) / 10)
            return 0;
        out->digits = out->digits * 10 + (uint64_t)digit;
        out->power -= point;
    }
    if (!seen)
        return 0;
    if (i + 1 < bytes && (text[i] == 'e' || text[i] == 'E')) {
        size_t k = i + 1 + (text[i + 1] == '-' || text[i + 1] == '+');
        size_t first = k;

        for (; k < bytes && text[k] >= '0' && text[k] <= '9' && exponent < 999;
             k++)
            exponent = exponent * 10 + (text[k] - '0');
        if (k > first) {
            out->power += text[i + 1] == '-' ? -exponent : exponent;
            i = k;
        }
    }
    return i;
}

/* Rounded once if there are few digits, as there are. */
static double value_of(struct decimal d)
{
    double power = pow(10, abs(d.power));

    return d.power < 0 ? (double)d.digits / power : (double)d.digits * power;
}

struct unit {
    const char *name;
    int power;     /* of ten */
    double factor; /* beside it */
};

/* Also whether it makes sense: from a picosecond to a million terabytes. */
static int parse_unit(double *out, const struct unit *units, const char *text,
                      size_t bytes)
{
    struct decimal d;
    size_t n = parse_decimal(&d, text, bytes);

    for (const struct unit *u = units; n && u->name; u++)
        if (bytes - n == strlen(u->name) &&
            !memcmp(text + n, u->name, bytes - n)) {
            d.power += u->power;
            *out = value_of(d) * u->factor;
            return *out >= 1e-12 && *out <= 1e18;
        }
    return 0;
}

int bm_seconds_parse(double *out, const char *text, size_t bytes)
{
    static const struct unit units[] = {{"s", 0, 1},   {"ms", -3, 1},
                                        {"us", -6, 1}, {"ns", -9, 1},
                                        {"", 0, 1},    {NULL, 0, 0}};

    return parse_unit(out, units, text, bytes);
}

int bm_speed_parse(double *out, const char *text, size_t bytes)
{
    static const struct unit units[] = {{"", 0, 1},
                                        {"B", 0, 1},
                                        {"k", 3, 1},
                                        {"K", 3, 1},
                                        {"M", 6, 1},
                                        {"G", 9, 1},
                                        {"T", 12, 1},
                                        {"kB", 3, 1},
                                        {"KB", 3, 1},
                                        {"MB", 6, 1},
                                        {"GB", 9, 1},
                                        {"TB", 12, 1},
                                        {"KiB", 0, 1024.0},
                                        {"MiB", 0, 1048576.0},
                                        {"GiB", 0, 1073741824.0},
                                        {"TiB", 0, 1099511627776.0},
                                        {NULL, 0, 0}};

    if (bytes > 2 && !memcmp(text + bytes - 2, "/s", 2))
        bytes -= 2;
    return parse_unit(out, units, text, bytes);
}

int bm_size_parse(uint64_t *out, const char *text, size_t bytes)
{
    static const char units[] = "KMGTP";
    struct decimal d;
    size_t n = parse_decimal(&d, text, bytes);
    const char *unit = n && n < bytes ? strchr(units, text[n]) : NULL;
    int shift = unit && *unit ? 10 * (int)(unit - units + 1) : 0;

    if (!n)
        return 0;
    n += shift > 0;
    n += shift && n < bytes && text[n] == 'i';
    n += n < bytes && text[n] == 'B';
    if (n != bytes)
        return 0;
    if (!d.power) {
        *out = d.digits << shift;
        return *out >> shift == d.digits;
    }
    *out = 0;
    if (!(value_of(d) * (double)((uint64_t)1 << shift) < 1.8e19))
        return 0;
    *out = (uint64_t)(value_of(d) * (double)((uint64_t)1 << shift));
    return 1;
}

/* ---- writing ------------------------------------------------------------ */

/* v = 0.dddddd * 10^power, to six digits. */
static uint64_t six_digits(double v, int *power)
{
    uint64_t digits;

    *power = (int)floor(log10(v)) + 1;
    digits = (uint64_t)(v * pow(10, 6 - *power) + 0.5);
    if (digits >= 1000000) { /* rounded up, or a logarithm was */
        ++*power;
        digits = (uint64_t)(v * pow(10, 6 - *power) + 0.5);
    }
    return digits;
}

/* In the largest unit that is not larger than v, else in the last one. */
static void put_number(struct bm_buffer *out, double v,
                       const struct unit *units)
{
    const struct unit *u = units;
    int power, decimals;
    uint64_t digits = six_digits(v, &power), scale = 1;
    char text[64];

    while (power <= u->power && u[1].name)
        u++;
    decimals = 6 - power + u->power;
    for (; decimals > 0 && digits % 10 == 0; decimals--)
        digits /= 10;
    for (; decimals < 0; decimals++)
        digits *= 10;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    snprintf(text, sizeof(text),
             decimals ? "%" PRIu64 ".%0*" PRIu64 : "%" PRIu64, digits / scale,
             decimals, digits % scale);
    bm_put_bytes(out, text, strlen(text));
    bm_put_bytes(out, u->name, strlen(u->name));
}

void bm_seconds_put(struct bm_buffer *out, double seconds)
{
    static const struct unit units[] = {
        {"s", 0, 1}, {"ms", -3, 1}, {"us", -6, 1}, {"ns", -9, 1}, {NULL, 0, 0}};

    put_number(out, seconds, units);
}

void bm_speed_put(struct bm_buffer *out, double speed)
{
    static const struct unit units[] = {
        {"GB/s", 9, 1}, {"MB/s", 6, 1}, {"B/s", 0, 1}, {NULL, 0, 0}};

    put_number(out, speed, units);
}

void bm_size_put(struct bm_buffer *out, uint64_t size)
{
    static const char units[][2] = {"", "K", "M", "G", "T", "P"};
    char text[32];
    int unit = 0;

    for (; size && unit < 5 && size % 1024 == 0; unit++)
        size /= 1024;
    snprintf(text, sizeof(text), "%" PRIu64 "%s", size, units[unit]);
    bm_put_bytes(out, text, strlen(text));
}
