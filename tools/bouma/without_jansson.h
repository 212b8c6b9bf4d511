/* without_jansson.h -- replaces jansson.h in a build without jansson:
 * no value can be made, and no text be read. The program refuses --json before
 * any is printed. */
#ifndef WITHOUT_JANSSON_H
#define WITHOUT_JANSSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_value json_t;
typedef int64_t json_int_t;

#define JSON_COMPACT           0
#define JSON_INDENT(n)         0
#define JSON_REAL_PRECISION(n) 0
#define JSON_REJECT_DUPLICATES 0

typedef struct {
    int line;
    char text[64];
} json_error_t;

static inline json_t *json_object(void)
{
    return NULL;
}

static inline json_t *json_array(void)
{
    return NULL;
}

static inline json_t *json_null(void)
{
    return NULL;
}

static inline json_t *json_boolean(bool value)
{
    (void)value;
    return NULL;
}

static inline json_t *json_integer(json_int_t value)
{
    (void)value;
    return NULL;
}

static inline json_t *json_real(double value)
{
    (void)value;
    return NULL;
}

static inline json_t *json_string(const char *text)
{
    (void)text;
    return NULL;
}

static inline int json_object_set_new(json_t *object, const char *key,
                                      json_t *value)
{
    (void)object, (void)key, (void)value;
    return -1;
}

static inline int json_array_append_new(json_t *array, json_t *value)
{
    (void)array, (void)value;
    return -1;
}

static inline int json_array_append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value);
}

static inline json_t *json_incref(json_t *value)
{
    return value;
}

static inline void json_decref(json_t *value)
{
    (void)value;
}

static inline json_t *json_loadb(const char *text, size_t size, size_t flags,
                                 json_error_t *error)
{
    (void)text, (void)size, (void)flags;
    error->line = 1;
    snprintf(error->text, sizeof(error->text),
             "this build cannot read JSON: it is without jansson");
    return NULL;
}

static inline json_t *json_object_get(const json_t *object, const char *key)
{
    (void)object, (void)key;
    return NULL;
}

static inline size_t json_array_size(const json_t *array)
{
    (void)array;
    return 0;
}

static inline json_t *json_array_get(const json_t *array, size_t i)
{
    (void)array, (void)i;
    return NULL;
}

static inline bool json_is_object(const json_t *value)
{
    (void)value;
    return false;
}

static inline bool json_is_integer(const json_t *value)
{
    (void)value;
    return false;
}

static inline json_int_t json_integer_value(const json_t *value)
{
    (void)value;
    return 0;
}

static inline bool json_is_number(const json_t *value)
{
    (void)value;
    return false;
}

static inline bool json_is_null(const json_t *value)
{
    (void)value;
    return false;
}

static inline bool json_is_true(const json_t *value)
{
    (void)value;
    return false;
}

static inline double json_number_value(const json_t *value)
{
    (void)value;
    return 0;
}

static inline const char *json_string_value(const json_t *value)
{
    (void)value;
    return NULL;
}

static inline char *json_dumps(const json_t *value, size_t flags)
{
    (void)value, (void)flags;
    return NULL;
}

#endif
