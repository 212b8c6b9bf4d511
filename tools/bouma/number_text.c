/* number_text.c -- a number from the text of a table. */
#include "number_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 400 }; /* bytes: every digit of any double, and more */

/* Digits alone, up to 2^64 - 1. */
static bool parse_digits(const char *text, size_t length, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';

        if (digit > 9 || *out > (UINT64_MAX - digit) / 10)
            return false;
        *out = 10 * *out + digit;
    }
    return length > 0;
}

static enum number_kind parse_whole(struct number_text *out, const char *text,
                                    size_t length)
{
    bool negative = text[0] == '-';
    bool sign = negative || text[0] == '+';
    const uint64_t limit = (uint64_t)INT64_MAX + negative;
    uint64_t digits;

    if (!parse_digits(text + sign, length - sign, &digits))
        return NUMBER_NONE;
    if (digits > limit && negative)
        return NUMBER_NONE;
    /* 2^64 is no uint64_t, and the nearest of many that are. */
    out->rounded =
        (double)digits >= 0x1p64 || (uint64_t)(double)digits != digits;
    if (digits > limit) {
        out->u = digits;
        out->f = (double)digits;
        return NUMBER_UNSIGNED;
    }
    out->i = negative ? -(int64_t)(digits - (digits > 0)) - (digits > 0)
                      : (int64_t)digits;
    out->u = digits;
    out->f = (double)out->i;
    if (negative && digits == 0) /* only a real number can be -0 */
        out->f = -0.0;
    return NUMBER_SIGNED;
}

/* strtod() takes more than is meant here: hexadecimal numbers and blanks. */
static bool looks_real(const char *text)
{
    if (*text == '-' || *text == '+')
        text++;
    if (strcasecmp(text, "nan") == 0 || strcasecmp(text, "inf") == 0 ||
        strcasecmp(text, "infinity") == 0)
        return true;
    for (; *text; text++)
        if (!isdigit((unsigned char)*text) && !strchr(".eE+-", *text))
            return false;
    return true;
}

/* Whether the digits of a whole number that is beyond 64 bits are those of
 * 'f'. */
static bool is_exact(const char *text, double f)
{
    char digits[LONGEST + 1];

    text += *text == '-' || *text == '+';
    while (text[0] == '0' && text[1])
        text++;
    snprintf(digits, sizeof(digits), "%.0f", fabs(f));
    return strcmp(text, digits) == 0;
}

/* Whether a number has other digits than 0 before its exponent. */
static bool is_above_zero(const char *text)
{
    return text[strcspn(text, "123456789eE")] >= '1' &&
           text[strcspn(text, "123456789eE")] <= '9';
}

static enum number_kind parse_real(struct number_text *out, const char *text,
                                   size_t length)
{
    char copy[LONGEST + 1]; /* the text has no end of its own */
    char *end;

    if (length > LONGEST)
        return NUMBER_NONE;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strlen(copy) != length || !looks_real(copy))
        return NUMBER_NONE;
    out->f = strtod(copy, &end);
    if (end != copy + length)
        return NUMBER_NONE;
    out->tiny = out->f == 0 && is_above_zero(copy);
    out->rounded =
        isfinite(out->f) && !strpbrk(copy, ".eE") && !is_exact(copy, out->f);
    return isinf(out->f) && strpbrk(copy, "0123456789") ? NUMBER_BEYOND
                                                        : NUMBER_REAL;
}

enum number_kind number_text_parse(struct number_text *out, const char *text,
                                   size_t length)
{
    *out = (struct number_text){.kind = NUMBER_NONE};
    if (length == 0)
        return NUMBER_NONE;
    out->kind = parse_whole(out, text, length);
    if (out->kind == NUMBER_NONE)
        out->kind = parse_real(out, text, length);
    return out->kind;
}

/* A real number that happens to be whole, such as 3.0 or 1e6, is one. */
static struct number_text as_whole(const struct number_text *number)
{
    struct number_text whole = *number;

    if (number->kind == NUMBER_REAL && !number->tiny &&
        fabs(number->f) <= 0x1p53 && floor(number->f) == number->f) {
        whole.kind = NUMBER_SIGNED;
        whole.i = (int64_t)number->f;
        whole.u = number->f > 0 ? (uint64_t)number->f : 0;
    }
    return whole;
}

static bool fits_signed(const struct number_text *number, int bits)
{
    const int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));

    return number->kind == NUMBER_SIGNED && number->i <= most &&
           number->i >= -most - 1;
}

static bool fits_unsigned(const struct number_text *number, int bits)
{
    return (number->kind == NUMBER_UNSIGNED ||
            (number->kind == NUMBER_SIGNED && number->i >= 0)) &&
           number->u <= UINT64_MAX >> (64 - bits);
}

bool number_text_store(void *to, bouma_type type,
                       const struct number_text *number)
{
    struct number_text whole = as_whole(number);
    int bits = 8 * (int)bouma_type_size(type);

    if (number->kind == NUMBER_BEYOND)
        return false;
    switch (type) {
    case BOUMA_TYPE_F32: {
        float value = (float)number->f;

        memcpy(to, &value, sizeof(value));
        return isinf(value) ? isinf(number->f) : 1;
    }
    case BOUMA_TYPE_F64:
        memcpy(to, &number->f, sizeof(number->f));
        return true;
#define SIGNED(bits_, ctype)                                                   \
    case BOUMA_TYPE_I##bits_: {                                                \
        ctype value = (ctype)whole.i;                                          \
        memcpy(to, &value, sizeof(value));                                     \
        return fits_signed(&whole, bits);                                      \
    }                                                                          \
    case BOUMA_TYPE_U##bits_: {                                                \
        u##ctype value = (u##ctype)whole.u;                                    \
        memcpy(to, &value, sizeof(value));                                     \
        return fits_unsigned(&whole, bits);                                    \
    }
        SIGNED(8, int8_t)
        SIGNED(16, int16_t)
        SIGNED(32, int32_t)
        SIGNED(64, int64_t)
#undef SIGNED
    case BOUMA_TYPE_STRING:
        break;
    }
    return false;
}

const char *number_text_why(const struct number_text *number, bouma_type type,
                            enum number_choice choice)
{
    bool real = type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64;
    uint64_t value;

    if (number->kind == NUMBER_NONE)
        return "is not a number";
    if (number->kind == NUMBER_BEYOND)
        return "is beyond any f64 (1.8e308); write inf for infinity";
    if (!number_text_store(&value, type, number))
        return "does not fit into its type; choose one with --type-of";
    if (real && number->rounded && choice == NUMBER_TYPE_ONLY)
        return "has more digits than f64 keeps, and no integer type holds all "
               "numbers of the column; to round it, choose f64 with --type-of";
    if (real && number->rounded && choice == NUMBER_TYPE_GUESSED)
        return "has more digits than f64 keeps; choose a type with --type-of "
               "(i64 and u64 keep all digits, f64 rounds)";
    return NULL;
}

bool number_text_vanishes(const struct number_text *number, bouma_type type)
{
    return number->tiny ||
           (type == BOUMA_TYPE_F32 && number->f != 0 && (float)number->f == 0);
}
