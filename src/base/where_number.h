/* where_number.h -- a number in a condition, exactly as it is written, and the
 * ranges of values that compare with it. */
#ifndef BM_WHERE_NUMBER_H
#define BM_WHERE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/type.h"

/* The number is sign * (whole + a part below 1, if 'fraction'). */
struct bm_where_number {
    bool negative;
    bool huge; /* 'whole' is beyond 64 bits */
    uint64_t whole;
    bool fraction;
    bool infinite;
    double nearest; /* of all doubles */
};

enum bm_where_comparison {
    BM_WHERE_LESS,
    BM_WHERE_AT_MOST,
    BM_WHERE_MORE,
    BM_WHERE_AT_LEAST,
    BM_WHERE_EQUAL
};

/* Parse the number at the start of 'text', and return its length; 0 if there is
 * none. */
size_t bm_where_number_parse(struct bm_where_number *out, const char *text);

/* The values of 'type' that compare so with the number: from *low to *high.
 * False if there are none. */
bool bm_where_number_range(const struct bm_where_number *number,
                           bouma_type type, enum bm_where_comparison comparison,
                           bouma_value *low, bouma_value *high);

/* Put into *low and *high what they have in common with another range; false if
 * that is nothing. */
bool bm_where_intersect(bouma_type type, bouma_value *low, bouma_value *high,
                        bouma_value other_low, bouma_value other_high);

/* Whether a range lies within another one. */
bool bm_where_within(bouma_type type, bouma_value low, bouma_value high,
                     bouma_value other_low, bouma_value other_high);

#endif
