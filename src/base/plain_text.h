/* plain_text.h -- numbers as text. The program may have set a locale whose
 * numbers have a comma; ours have a point everywhere. All reals are written and
 * read by these. */
#ifndef BM_PLAIN_TEXT_H
#define BM_PLAIN_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "base/error.h"

/* As snprintf, vsnprintf and strtod are in the locale "C". */
int bm_format(char *out, size_t bytes, const char *format, ...) BM_PRINTF(3, 4);
int bm_format_list(char *out, size_t bytes, const char *format, va_list args)
    BM_PRINTF(3, 0);
double bm_parse_real(const char *text, char **end);

#endif
