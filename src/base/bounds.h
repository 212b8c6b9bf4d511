/* bounds.h -- a caller's box in physical coordinates, in the order of axes that
 * the library has: x first for particles, last for grids. */
#ifndef BM_BOUNDS_H
#define BM_BOUNDS_H

#include "base/error.h"

/* Which element of the arrays of a bouma_bounds is the d-th of 'ndims' axes in
 * the order 'own'. */
int bm_bounds_index(bouma_axes given, bouma_axes own, int ndims, int d);

/* Check it, and bring its axes into the order 'own'. EINVAL and a message that
 * calls it 'what'. */
int bm_bounds_take(bouma_bounds *out, const bouma_bounds *given, bouma_axes own,
                   int ndims, const char *what, struct bm_error *error);

#endif
