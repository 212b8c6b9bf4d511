/* url.c -- the target of a request as its parts and parameters. */
#include "url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(char *message, size_t bytes, const char *why)
{
    snprintf(message, bytes, "%s", why);
    return false;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode text[0..length) to *to, with its NUL, and move *to behind it. */
static bool decode(char **to, const char *text, size_t length, bool query,
                   char *message, size_t bytes)
{
    char *out = *to;

    for (size_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            *out++ = query && text[i] == '+' ? ' ' : text[i];
            continue;
        }
        if (length - i < 3 || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0)
            return refuse(message, bytes,
                          "a '%' in the URL is not followed by two "
                          "hexadecimal digits");
        *out = (char)(digit(text[i + 1]) * 16 + digit(text[i + 2]));
        if (*out == '\0')
            return refuse(message, bytes, "the URL has a zero byte in it");
        out++;
        i += 2;
    }
    *out++ = '\0';
    *to = out;
    return true;
}

static bool add_part(struct url *url, char **to, const char *text,
                     size_t length, char *message, size_t bytes)
{
    const char *part = *to;

    if (url->part_count == URL_PARTS)
        return refuse(message, bytes, "the path has too many parts");
    if (!decode(to, text, length, false, message, bytes))
        return false;
    if (!part[0] || strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
        return refuse(message, bytes,
                      "a part of the path is empty, '.' or '..'");
    url->parts[url->part_count++] = part;
    return true;
}

/* 'path' begins with a slash. */
static bool parse_path(struct url *url, char **to, const char *path,
                       size_t length, char *message, size_t bytes)
{
    size_t at = 1;

    url->directory = path[length - 1] == '/';
    while (at < length) {
        const char *slash = memchr(path + at, '/', length - at);
        size_t part = slash ? (size_t)(slash - path) - at : length - at;

        if (!add_part(url, to, path + at, part, message, bytes))
            return false;
        at += part + 1;
    }
    return true;
}

static bool add_parameter(struct url *url, char **to, const char *text,
                          size_t length, char *message, size_t bytes)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : length;
    size_t value_length = equals ? length - name_length - 1 : 0;
    const char *name = *to, *value;

    if (!decode(to, text, name_length, true, message, bytes))
        return false;
    value = *to;
    if (!decode(to, text + length - value_length, value_length, true, message,
                bytes))
        return false;
    if (!name[0])
        return refuse(message, bytes, "a parameter of the URL has no name");
    if (url_parameter(url, name)) {
        snprintf(message, bytes, "the parameter '%.60s' is given twice", name);
        return false;
    }
    if (url->parameter_count == URL_PARAMETERS)
        return refuse(message, bytes, "the URL has too many parameters");
    url->parameters[url->parameter_count++] =
        (struct url_parameter){name, value};
    return true;
}

static bool parse_query(struct url *url, char **to, const char *query,
                        char *message, size_t bytes)
{
    while (*query) {
        size_t length = strcspn(query, "&");

        if (length && !add_parameter(url, to, query, length, message, bytes))
            return false;
        query += length + (query[length] == '&');
    }
    return true;
}

bool url_parse(struct url *out, const char *target, char *message, size_t bytes)
{
    size_t length = strlen(target), path = strcspn(target, "?");
    char *to;

    *out = (struct url){0};
    message[0] = '\0';
    if (target[0] != '/')
        return refuse(message, bytes, "the URL is not a path");
    if (strchr(target, '#'))
        return refuse(message, bytes, "the URL has a '#' in it");
    /* Nothing grows by decoding, but each text has a NUL: a part takes the
     * place of its slash, and a parameter without '=' needs one more. */
    out->memory = malloc(length + 2 * URL_PARAMETERS + URL_PARTS + 8);
    if (!out->memory)
        return refuse(message, bytes, "out of memory");
    to = out->memory;
    return parse_path(out, &to, target, path, message, bytes) &&
           (!target[path] ||
            parse_query(out, &to, target + path + 1, message, bytes));
}

void url_release(struct url *url)
{
    free(url->memory);
    *url = (struct url){0};
}

const char *url_parameter(const struct url *url, const char *name)
{
    for (size_t i = 0; i < url->parameter_count; i++)
        if (strcmp(url->parameters[i].name, name) == 0)
            return url->parameters[i].value;
    return NULL;
}

void url_skip(struct url *url, size_t count)
{
    url->part_count -= count;
    memmove(url->parts, url->parts + count,
            url->part_count * sizeof(*url->parts));
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

bool url_encode(char *out, size_t room, const char *name)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = 0;

    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        size_t need = is_plain(*name) ? 1 : 3;

        if (used + need >= room)
            return false;
        if (need == 1) {
            out[used++] = *name;
            continue;
        }
        out[used++] = '%';
        out[used++] = digits[c >> 4];
        out[used++] = digits[c & 15];
    }
    if (used >= room)
        return false;
    out[used] = '\0';
    return true;
}
