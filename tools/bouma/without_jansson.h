/* without_jansson.h -- replaces jansson.h in a build without jansson:
 * no value can be made. The program refuses --json before any is printed. */
#ifndef WITHOUT_JANSSON_H
#define WITHOUT_JANSSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_value json_t;
typedef int64_t json_int_t;

#define JSON_COMPACT           0
#define JSON_INDENT(n)         0
#define JSON_REAL_PRECISION(n) 0

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

static inline char *json_dumps(const json_t *value, size_t flags)
{
    (void)value, (void)flags;
    return NULL;
}

#endif
