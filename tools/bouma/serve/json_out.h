/* json_out.h -- JSON as text, written from the beginning to the end, into
 * memory that is counted.
 *
 *     json_out_open(&out, '{');
 *     json_out_key(&out, "steps");
 *     json_out_integer(&out, 3);
 *     json_out_close(&out, '}');
 *
 * Commas are put where they belong. A failure (no memory, or longer than the
 * limit) is kept, and further calls do nothing. */
#ifndef SERVE_JSON_OUT_H
#define SERVE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bouma.h"
#include "memory_budget.h"

struct json_out {
    struct memory_budget *memory;
    size_t limit;
    char *text; /* [used], without a NUL */
    size_t used, room;
    bool comma;            /* before the next value or key */
    bool failed, too_long; /* no memory; beyond the limit */
};

/* The caller gives back what is in 'text' by memory_budget_release(). */
void json_out_init(struct json_out *out, struct memory_budget *memory,
                   size_t limit);

void json_out_open(struct json_out *out, char bracket);
void json_out_close(struct json_out *out, char bracket);
void json_out_key(struct json_out *out, const char *key);

/* Bytes that are not UTF-8 become U+FFFD. NULL is null. */
void json_out_text(struct json_out *out, const char *text);
/* A key, and a text as its value. */
void json_out_pair(struct json_out *out, const char *key, const char *text);
void json_out_text_of(struct json_out *out, const char *text, size_t bytes);
void json_out_bool(struct json_out *out, bool value);
void json_out_null(struct json_out *out);
/* The shortest text for a number; null for NaN, "inf" and "-inf". */
void json_out_number(struct json_out *out, double number);
/* Integers beyond 2^53 are texts. */
void json_out_integer(struct json_out *out, int64_t number);
void json_out_count(struct json_out *out, uint64_t number);
void json_out_value(struct json_out *out, bouma_value value);
void json_out_integers(struct json_out *out, const int64_t *values, int count);
void json_out_numbers(struct json_out *out, const double *values, int count);
/* An object with all of them; a text, a number, or an array each. */
void json_out_attributes(struct json_out *out,
                         const bouma_attributes *attributes);
/* Its members alone, without those of names that 'hidden' has, too, or that are
 * in the list 'except', which ends with NULL. Both may be NULL. */
void json_out_members(struct json_out *out, const bouma_attributes *attributes,
                      const bouma_attributes *hidden,
                      const char *const *except);
/* 16 hexadecimal digits. */
void json_out_tag(struct json_out *out, uint64_t tag);

/* Text as it is, such as what comes between values. */
void json_out_raw(struct json_out *out, const char *text, size_t bytes);

#endif
