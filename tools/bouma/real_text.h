/* real_text.h -- a real number as text: with as many digits as it takes to read
 * the very same number again, and no more. */
#ifndef REAL_TEXT_H
#define REAL_TEXT_H

#include <stddef.h>

enum { REAL_TEXT = 40 }; /* bytes that the text of any number has at most */

/* Write a double, or a float, to 'out', without a 0 at its end; the number of
 * bytes. At least 15 digits are tried, or 6 of a float. Not finite ones are
 * "nan", "inf" and "-inf". */
size_t real_text_f64(char *out, double value);
size_t real_text_f32(char *out, float value);

#endif
