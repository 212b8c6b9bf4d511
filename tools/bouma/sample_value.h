/* sample_value.h -- samples of any type as values and as numbers. */
#ifndef SAMPLE_VALUE_H
#define SAMPLE_VALUE_H

#include <stddef.h>

#include "bouma.h"

/* The i-th of the values of 'type', exact. */
bouma_value sample_value(bouma_type type, const void *values, size_t i);
/* A value as a double: the nearest, for large integers. */
double value_number(bouma_value value);

/* |a - b|, of values of one type: 0 if both are NaN or the same infinity;
 * infinite if only one is NaN, or they are different infinities. */
double value_distance(bouma_value a, bouma_value b);

#endif
