/* format_text.h -- numbers and texts as people like to read them. */
#ifndef FORMAT_TEXT_H
#define FORMAT_TEXT_H

#include <stdint.h>

#include "bouma.h"

enum { FORMAT_BYTES = 128 }; /* room for any of the texts below */

/* "512 B", "12.5 MiB". Each function fills 'out', of FORMAT_BYTES bytes, and
 * returns it. */
const char *format_bytes(char *out, uint64_t bytes);
/* "2.9x", or "-" where there is nothing to divide by. */
const char *format_ratio(char *out, uint64_t raw, uint64_t stored);
/* "1.25 s", "12.3 ms". */
const char *format_seconds(char *out, double seconds);
/* "64 x 64 x 32"; "0.5, 1, 1". */
const char *format_shape(char *out, int ndims, const int64_t *shape);
const char *format_point(char *out, int ndims, const double *point);
/* The smallest or largest value of a range, every digit of an integer's. */
const char *format_value(char *out, bouma_value value);
/* "1 file", "3 files": 'word' is that for one. */
const char *format_count(char *out, uint64_t count, const char *word);

/* Print a text from a file with its control characters replaced, so that it
 * cannot play tricks on a terminal. */
void print_clean(const char *text);

#endif
