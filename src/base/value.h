/* value.h -- numbers of callers, whatever their type, as values of a variable's
 * type. */
#ifndef BM_VALUE_H
#define BM_VALUE_H

#include "base/type.h"

/* Whether it is a number that bouma_value_int(), _uint() or _real() can have
 * made, and not NaN. */
int bm_value_valid(const bouma_value *value);

/* The values of 'type' from low to high, both included: *least and *most, in
 * the member for the type's kind, rounded inwards where a number is none of
 * that kind. A value without a type is no limit. If there is no such value,
 * *least is above *most. */
void bm_value_span(union bm_scalar *least, union bm_scalar *most,
                   bouma_type type, const bouma_value *low,
                   const bouma_value *high);

/* A scalar, and a range, as callers see them. */
bouma_value bm_value_of(union bm_scalar scalar, bouma_type type);
void bm_range_public(bouma_range *out, const struct bm_range *range,
                     bouma_type type);

#endif
