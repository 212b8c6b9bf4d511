/* values.h -- what codecs ask of arrays of f32 or f64. */
#ifndef BM_VALUES_H
#define BM_VALUES_H

#include "codec/codec.h"

/* Whether there is no NaN and no infinity. */
int bm_values_finite(bouma_type type, const void *values, size_t n);

/* Replace what is not finite by the value before it; the first ones by the
 * first that is finite, or 0. */
void bm_values_clean(bouma_type type, void *out, const void *values, size_t n);

/* Whether value i is finite. */
int bm_value_finite(bouma_type type, const void *values, size_t i);

/* The largest magnitude; all are finite. */
double bm_values_largest(bouma_type type, const void *values, size_t n);

/* What is lost where 'decoded' stands for 'values'; those that are not finite
 * count not. */
struct bm_loss bm_values_loss(bouma_type type, const void *values,
                              const void *decoded, size_t n);

#endif
