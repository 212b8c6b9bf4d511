/* number_text.h -- a number from the text of a table, and into memory as a
 * value of any type. */
#ifndef NUMBER_TEXT_H
#define NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

enum number_kind {
    NUMBER_NONE,     /* it is no number */
    NUMBER_SIGNED,   /* a whole one, in 'i' */
    NUMBER_UNSIGNED, /* a whole one beyond that, in 'u' */
    NUMBER_REAL,     /* any other */
    NUMBER_BEYOND    /* larger than any double, such as 1e400; in 'f': inf */
};

struct number_text {
    enum number_kind kind;
    int64_t i;
    uint64_t u;
    double f;     /* of any kind: the nearest */
    bool rounded; /* its digits are a whole number, and 'f' is another one */
    bool tiny;    /* 'f' is 0, but the number is not */
};

/* What 'length' bytes say: digits with a sign, a point and an exponent, or
 * "nan", "inf", "infinity", in any case. Nothing stands around them. */
enum number_kind number_text_parse(struct number_text *out, const char *text,
                                   size_t length);

/* Store it as a value of 'type'; false if there is no such value: a fraction
 * for an integer, or what is beyond the type. "inf" is a value, 1e400 is none.
 */
bool number_text_store(void *to, bouma_type type,
                       const struct number_text *number);

/* How a column got its type. */
enum number_choice {
    NUMBER_TYPE_GUESSED, /* another one may do */
    NUMBER_TYPE_ASKED,   /* the user has chosen it */
    NUMBER_TYPE_ONLY     /* no integer type can hold all of the column */
};

/* Why a field of a table with that number is to be refused, for a message; NULL
 * if it can be stored. A whole number is rounded only if that was asked for. */
const char *number_text_why(const struct number_text *number, bouma_type type,
                            enum number_choice choice);

/* Whether a value of 'type' is 0 for it, though the number is not. */
bool number_text_vanishes(const struct number_text *number, bouma_type type);

#endif
