/* json.h -- a text that grows: JSON for JavaScript. */
#ifndef BOUMA_WASM_JSON_H
#define BOUMA_WASM_JSON_H

#include <stddef.h>

struct json {
    char *text; /* NUL-terminated once something is in it */
    size_t length, room;
    int failed; /* no memory */
};

void json_clear(struct json *j);
void json_release(struct json *j);

/* Append text as it is, by a format as of printf(). */
__attribute__((format(printf, 2, 3))) void json_add(struct json *j,
                                                    const char *format, ...);

/* Append "key": as a string, a number (null if it is not finite), numbers in
 * brackets; a comma before it unless it is the first in its braces. Integers
 * beyond 2^53, which JavaScript would round, are strings. */
void json_key(struct json *j, const char *key);
void json_string(struct json *j, const char *key, const char *value);
void json_integer(struct json *j, const char *key, long long value);
void json_unsigned(struct json *j, const char *key, unsigned long long value);
void json_real(struct json *j, const char *key, double value);
void json_integers(struct json *j, const char *key, const long long *values,
                   int count);
void json_reals(struct json *j, const char *key, const double *values,
                int count);

#endif
