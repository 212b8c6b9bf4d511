/* type.h -- the value ranges of samples of each type. */
#ifndef BM_TYPE_H
#define BM_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strict_math.h"
#include "bouma.h"

/* A number of a type that is known from elsewhere: floats are held as f, signed
 * integers as i, unsigned ones as u. */
union bm_scalar {
    int64_t i;
    uint64_t u;
    double f;
};

/* The range of some values. NaN is left out and counted; 'count' is the number
 * of values that are none, and with 0 of them low and high mean nothing (they
 * are kept 0). */
struct bm_range {
    union bm_scalar low, high;
    uint64_t count, nans;
};

int bm_type_valid(int type); /* a sample's type */
int bm_type_is_float(bouma_type type);

/* Widen 'range' by 'count' dense values. A zeroed struct is the empty range. */
void bm_range_add(struct bm_range *range, bouma_type type, const void *values,
                  size_t count);
void bm_range_join(struct bm_range *range, bouma_type type,
                   const struct bm_range *other);
int bm_range_equal(const struct bm_range *a, const struct bm_range *b,
                   bouma_type type);

/* Whether low and high can be a range's: in order, and no NaN. */
int bm_range_ordered(const struct bm_range *range, bouma_type type);

/* A bound as stored: as many little-endian bytes as the type has. */
void bm_scalar_store(uint8_t *out, bouma_type type, union bm_scalar value);
union bm_scalar bm_scalar_load(const uint8_t *in, bouma_type type);
double bm_scalar_double(union bm_scalar value, bouma_type type);

#endif
