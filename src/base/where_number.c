/* where_number.c -- a number in a condition, exactly as it is written. */
#include "base/where_number.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/plain_text.h"

/* ---- parsing ------------------------------------------------------------- */

/* The parts of "12.5e3": all digits, and how many of them are before the point
 * once the exponent is applied. */
struct decimal {
    const char *digits, *end; /* there may be one point between them */
    long long before;
};

static size_t scan_decimal(const char *text, struct decimal *out)
{
    const char *c = text, *digits;
    long long exponent = 0;
    bool some = false;

    *out = (struct decimal){.digits = text};
    for (; isdigit((unsigned char)*c); c++, some = true)
        out->before++;
    if (*c == '.')
        for (c++; isdigit((unsigned char)*c); c++)
            some = true;
    if (!some)
        return 0;
    out->end = c;
    digits = c + 1 + (*c && (c[1] == '-' || c[1] == '+'));
    if ((*c == 'e' || *c == 'E') && isdigit((unsigned char)*digits)) {
        bool negative = c[1] == '-';

        for (c = digits; isdigit((unsigned char)*c); c++)
            if (exponent < 1000000000) /* beyond any text of digits */
                exponent = 10 * exponent + (*c - '0');
        out->before += negative ? -exponent : exponent;
    }
    return (size_t)(c - text);
}

/* The whole part, and whether there is something behind it. */
static void split(const struct decimal *decimal, struct bm_where_number *out)
{
    long long index = 0; /* of the digit, from the left */
    bool zero = true;

    for (const char *c = decimal->digits; c < decimal->end; c++) {
        unsigned digit = (unsigned)(unsigned char)*c - '0';

        if (*c == '.')
            continue;
        zero = zero && digit == 0;
        if (index >= decimal->before)
            out->fraction = out->fraction || digit != 0;
        else if (out->whole > (UINT64_MAX - digit) / 10)
            out->huge = true;
        else
            out->whole = 10 * out->whole + digit;
        index++;
    }
    for (; !zero && !out->huge && index < decimal->before; index++)
        if (out->whole > UINT64_MAX / 10)
            out->huge = true;
        else
            out->whole *= 10;
}

/* "inf" or "infinity", not the beginning of a longer word. */
static size_t scan_infinity(const char *text)
{
    static const char *const words[] = {"infinity", "inf"};

    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(words[i]);

        if (strncasecmp(text, words[i], length) == 0 &&
            !isalnum((unsigned char)text[length]) && text[length] != '_')
            return length;
    }
    return 0;
}

size_t bm_where_number_parse(struct bm_where_number *out, const char *text)
{
    struct decimal decimal;
    size_t sign = *text == '-' || *text == '+', length;

    *out = (struct bm_where_number){.negative = *text == '-'};
    length = scan_infinity(text + sign);
    if (length) {
        out->infinite = out->huge = true;
        out->nearest = out->negative ? -INFINITY : INFINITY;
        return sign + length;
    }
    length = scan_decimal(text + sign, &decimal);
    if (!length)
        return 0;
    split(&decimal, out);
    out->nearest = bm_parse_real(text, NULL);
    return sign + length;
}

/* ---- integers ------------------------------------------------------------ */

/* Integers of both kinds as steps from the smallest one of 64 bits, so that one
 * code does for both. */
static uint64_t key_of_signed(int64_t value)
{
    return (uint64_t)value + ((uint64_t)1 << 63);
}

static int64_t value_of_key(uint64_t key)
{
    /* Not by conversion, whose result beyond INT64_MAX C leaves open. */
    return key >> 63 ? (int64_t)(key & INT64_MAX)
                     : (int64_t)key - INT64_MAX - 1;
}

/* Where a number lies among the integers: 'below' is the key of the largest
 * integer that is not above it. */
struct among {
    bool under, over; /* all integers of the kind are above, or below it */
    uint64_t below;
    bool exact; /* it is that integer */
};

static struct among find_signed(const struct bm_where_number *number)
{
    const uint64_t limit = (uint64_t)1 << 63;
    struct among among = {.exact = !number->fraction};

    if (!number->negative) {
        among.over = number->huge || number->whole >= limit;
        if (!among.over)
            among.below = key_of_signed((int64_t)number->whole);
        return among;
    }
    /* -3.5 is above -4. */
    if (number->huge || number->whole > limit ||
        (number->whole == limit && number->fraction))
        among.under = true;
    else
        among.below = limit - number->whole - number->fraction;
    return among;
}

static struct among find_unsigned(const struct bm_where_number *number)
{
    struct among among = {.exact = !number->fraction, .below = number->whole};

    if (number->negative && (number->huge || number->whole || number->fraction))
        among.under = true;
    else
        among.over = number->huge;
    return among;
}

/* Keys from *low to *high; false if there are none. */
static bool range_of_keys(const struct among *among,
                          enum bm_where_comparison comparison, uint64_t *low,
                          uint64_t *high)
{
    bool upward =
        comparison == BM_WHERE_MORE || comparison == BM_WHERE_AT_LEAST;

    *low = 0;
    *high = UINT64_MAX;
    if (among->under || among->over)
        return comparison != BM_WHERE_EQUAL && upward == among->under;
    switch (comparison) {
    case BM_WHERE_EQUAL:
        *low = *high = among->below;
        return among->exact;
    case BM_WHERE_AT_MOST:
        *high = among->below;
        return true;
    case BM_WHERE_MORE:
        *low = among->below + 1;
        return among->below < UINT64_MAX;
    case BM_WHERE_LESS:
        *high = among->below - among->exact;
        return !among->exact || among->below > 0;
    case BM_WHERE_AT_LEAST:
        *low = among->below + !among->exact;
        return among->exact || among->below < UINT64_MAX;
    }
    return false;
}

/* ---- real numbers -------------------------------------------------------- */

/* A number beyond every double, or so small that its nearest is 0, lies between
 * two of them: then "at most" is "less", and nothing is equal. */
static bool range_of_reals(const struct bm_where_number *number,
                           enum bm_where_comparison comparison, double *low,
                           double *high)
{
    double at = number->nearest;
    bool beyond = isinf(at) && !number->infinite;
    bool tiny = at == 0 && (number->whole || number->fraction || number->huge);

    *low = -INFINITY;
    *high = INFINITY;
    if (beyond || tiny) {
        double below = beyond             ? at > 0 ? DBL_MAX : -INFINITY
                       : number->negative ? -DBL_TRUE_MIN
                                          : 0;
        double above = beyond             ? at > 0 ? INFINITY : -DBL_MAX
                       : number->negative ? 0
                                          : DBL_TRUE_MIN;

        if (comparison == BM_WHERE_LESS || comparison == BM_WHERE_AT_MOST)
            *high = below;
        else
            *low = above;
        return comparison != BM_WHERE_EQUAL;
    }
    switch (comparison) {
    case BM_WHERE_EQUAL:
        *low = *high = at;
        return true;
    case BM_WHERE_AT_MOST:
        *high = at;
        return true;
    case BM_WHERE_AT_LEAST:
        *low = at;
        return true;
    case BM_WHERE_LESS:
        *high = nextafter(at, -INFINITY);
        return at > -INFINITY;
    case BM_WHERE_MORE:
        *low = nextafter(at, INFINITY);
        return at < INFINITY;
    }
    return false;
}

/* ---- ranges -------------------------------------------------------------- */

enum kind { SIGNED, UNSIGNED, REAL };

static enum kind kind_of(bouma_type type)
{
    return type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64 ? REAL
           : type >= BOUMA_TYPE_U8                          ? UNSIGNED
                                                            : SIGNED;
}

bool bm_where_number_range(const struct bm_where_number *number,
                           bouma_type type, enum bm_where_comparison comparison,
                           bouma_value *low, bouma_value *high)
{
    enum kind kind = kind_of(type);
    uint64_t least, most;
    struct among among;
    bool some;

    if (kind == REAL) {
        *low = *high = bouma_value_real(0);
        return range_of_reals(number, comparison, &low->f, &high->f);
    }
    among = kind == SIGNED ? find_signed(number) : find_unsigned(number);
    some = range_of_keys(&among, comparison, &least, &most);
    *low = kind == SIGNED ? bouma_value_int(value_of_key(least))
                          : bouma_value_uint(least);
    *high = kind == SIGNED ? bouma_value_int(value_of_key(most))
                           : bouma_value_uint(most);
    return some;
}

bool bm_where_intersect(bouma_type type, bouma_value *low, bouma_value *high,
                        bouma_value other_low, bouma_value other_high)
{
    switch (kind_of(type)) {
    case REAL:
        low->f = other_low.f > low->f ? other_low.f : low->f;
        high->f = other_high.f < high->f ? other_high.f : high->f;
        return low->f <= high->f;
    case UNSIGNED:
        low->u = other_low.u > low->u ? other_low.u : low->u;
        high->u = other_high.u < high->u ? other_high.u : high->u;
        return low->u <= high->u;
    case SIGNED:
        low->i = other_low.i > low->i ? other_low.i : low->i;
        high->i = other_high.i < high->i ? other_high.i : high->i;
        return low->i <= high->i;
    }
    return false;
}

bool bm_where_within(bouma_type type, bouma_value low, bouma_value high,
                     bouma_value other_low, bouma_value other_high)
{
    switch (kind_of(type)) {
    case REAL:
        return low.f >= other_low.f && high.f <= other_high.f;
    case UNSIGNED:
        return low.u >= other_low.u && high.u <= other_high.u;
    case SIGNED:
        return low.i >= other_low.i && high.i <= other_high.i;
    }
    return false;
}
