/* print_json.h -- what the JSON outputs of the commands have in common.
 *
 * Values are made with jansson. Its functions take NULL for a value that could
 * not be made, and fail: json_put() then leaves the key out. */
#ifndef PRINT_JSON_H
#define PRINT_JSON_H

#include "context.h"

#if BOUMA_WITH_JANSSON
#include <jansson.h>
#else
#include "without_jansson.h"
#endif

/* A text; bytes that are not UTF-8, as names of files can have, become '?'. */
json_t *json_text(const char *text);
/* A number. JSON has none that are not finite: they are the texts "inf", "-inf"
 * and "nan", which strtod() and Python's float() take; null means that there is
 * nothing. */
json_t *json_number(double number);
/* A whole number, with all its digits. */
json_t *json_count(uint64_t count);
/* null where there is nothing to divide by. */
json_t *json_ratio(uint64_t raw, uint64_t stored);
json_t *json_integers(const int64_t *values, int count);
json_t *json_numbers(const double *values, int count);
/* A value of 'type', exact if it is an integer. */
json_t *json_value(bouma_value value);
json_t *json_attributes(const bouma_attributes *attributes);
json_t *json_notes(const bouma_dataset *ds);

void json_put(json_t *object, const char *key, json_t *value);
/* What a step cost: bytes, files, and the seconds of the phases. */
void json_put_record(json_t *object, const bouma_record *record);

/* Print 'root' on standard output and drop it. */
int print_json(struct context *ctx, json_t *root);

/* The same for an object whose last value is a long list, of which only one
 * element is in memory at a time: begin with all but the list, add each
 * element, end. 'root' and elements are dropped. What fails is told at the end.
 */
struct json_list {
    struct context *ctx;
    uint64_t count;
    bool failed;
};
void json_list_begin(struct json_list *list, struct context *ctx, json_t *root,
                     const char *key);
void json_list_add(struct json_list *list, json_t *element);
int json_list_end(struct json_list *list);

#endif
