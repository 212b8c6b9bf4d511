/* numbers.h -- numbers, lists and boxes from the text of an argument.
 *
 * Whole numbers may end in K, M, G, T or P (also KiB, KB: all are powers of
 * 1024). Nothing else may stand around them, not even blanks. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

bool parse_integer(const char *text, int64_t *out);
/* Up to 2^64 - 1, without a suffix. */
bool parse_large(const char *text, uint64_t *out);
/* Finite ones only. */
bool parse_number(const char *text, double *out);

/* One to 'most' of them, with commas between; *count says how many. */
bool parse_integers(const char *text, int64_t *out, int most, int *count);
bool parse_numbers(const char *text, double *out, int most, int *count);

/* A box "z0:z1,y0:y1,x0:x1" in a grid. An end left out is that of the grid, a
 * negative one counts back from there, as in NumPy; but what is not inside the
 * grid, or empty, is refused, and 'message' (of 'bytes' bytes) then tells. */
bool parse_box(const char *text, int ndims, const int64_t *shape,
               bouma_box *out, char *message, size_t bytes);

/* A box "x0:x1,y0:y1" in coordinates; an end left out is infinite. What is not
 * of that form, or ends before it begins, is refused, and 'message' tells. */
bool parse_coordinates(const char *text, int ndims, double *low, double *high,
                       char *message, size_t bytes);

#endif
