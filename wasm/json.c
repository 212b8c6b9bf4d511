/* json.c -- see json.h. */
#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_clear(struct json *j)
{
    j->length = 0;
    j->failed = 0;
    if (j->text)
        j->text[0] = 0;
}

void json_release(struct json *j)
{
    free(j->text);
    *j = (struct json){0};
}

/* Room for so many bytes more, and a NUL. */
static int reserve(struct json *j, size_t bytes)
{
    size_t room = j->room * 2 + 256;
    char *text;

    if (j->failed || j->room - j->length > bytes)
        return !j->failed;
    if (room < j->length + bytes + 1)
        room = j->length + bytes + 1;
    text = realloc(j->text, room);
    j->failed = !text;
    if (text) {
        j->text = text;
        j->room = room;
    }
    return !j->failed;
}

void json_add(struct json *j, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0 || !reserve(j, (size_t)n))
        return;
    va_start(arguments, format);
    vsnprintf(j->text + j->length, (size_t)n + 1, format, arguments);
    va_end(arguments);
    j->length += (size_t)n;
}

static void add_quoted(struct json *j, const char *value)
{
    json_add(j, "\"");
    for (const char *c = value; *c; c++)
        if (*c == '"' || *c == '\\')
            json_add(j, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            json_add(j, "\\u%04x", (unsigned)*c);
        else
            json_add(j, "%c", *c);
    json_add(j, "\"");
}

static void add_integer(struct json *j, long long value)
{
    const long long most = 1LL << 53;

    json_add(j, value > most || value < -most ? "\"%lld\"" : "%lld", value);
}

static void add_real(struct json *j, double value)
{
    if (isfinite(value))
        json_add(j, "%.17g", value);
    else
        json_add(j, "null");
}

void json_key(struct json *j, const char *key)
{
    char last = j->length ? j->text[j->length - 1] : '{';

    if (last != '{' && last != '[')
        json_add(j, ",");
    if (key) {
        add_quoted(j, key);
        json_add(j, ":");
    }
}

void json_string(struct json *j, const char *key, const char *value)
{
    json_key(j, key);
    add_quoted(j, value ? value : "");
}

void json_integer(struct json *j, const char *key, long long value)
{
    json_key(j, key);
    add_integer(j, value);
}

void json_unsigned(struct json *j, const char *key, unsigned long long value)
{
    json_key(j, key);
    if (value >> 63)
        json_add(j, "\"%llu\"", value);
    else
        add_integer(j, (long long)value);
}

void json_real(struct json *j, const char *key, double value)
{
    json_key(j, key);
    add_real(j, value);
}

void json_integers(struct json *j, const char *key, const long long *values,
                   int count)
{
    json_key(j, key);
    json_add(j, "[");
    for (int i = 0; i < count; i++) {
        if (i)
            json_add(j, ",");
        add_integer(j, values[i]);
    }
    json_add(j, "]");
}

void json_reals(struct json *j, const char *key, const double *values,
                int count)
{
    json_key(j, key);
    json_add(j, "[");
    for (int i = 0; i < count; i++) {
        if (i)
            json_add(j, ",");
        add_real(j, values[i]);
    }
    json_add(j, "]");
}
