/* trace_line.c -- see trace_line.h. */
#include "trace_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Behind a key, which comes next. */
static const char *field(const char *at, const char *key)
{
    size_t n = strlen(key);

    return at && !strncmp(at, key, n) ? at + n : NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *word(const char *at, const char *key, char out[TRACE_WORD])
{
    const char *from = field(at, key);
    size_t n = from ? strcspn(from, "\"\\") : 0;

    if (!from || from[n] != '"' || n >= TRACE_WORD)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (from[i] < ' ' || from[i] > '~') /* not of the library */
            return NULL;
    memcpy(out, from, n);
    out[n] = 0;
    return from + n + 1;
}

static const char *whole(const char *at, const char *key, int *out)
{
    const char *from = field(at, key);
    char *end = NULL;
    long n = from && is_digit(*from) ? strtol(from, &end, 10) : -1;

    if (n < 0 || n >= TRACE_RANKS)
        return NULL;
    *out = (int)n;
    return end;
}

/* Microseconds, as seconds. */
static const char *moment(const char *at, const char *key, double *out)
{
    const char *from = field(at, key);
    char *end = NULL;

    *out = from && is_digit(*from) ? strtod(from, &end) * 1e-6 : 0;
    return end && *out <= TRACE_SECONDS ? end : NULL;
}

/* Behind the times: what there is to tell, if there is anything. */
static bool rest(struct trace_event *e, const char *at)
{
    static const char key[] = "\"bytes\":";
    const char *bytes = at ? strstr(at, key) : NULL;

    e->bytes = 0;
    if (bytes) {
        bytes += strlen(key);
        errno = 0;
        e->bytes = strtoull(bytes, NULL, 10);
    }
    return at && (*at == ',' || *at == '}') && strchr(at, '}') &&
           (!bytes || (is_digit(*bytes) && !errno));
}

bool trace_line_is_event(const char *line)
{
    return field(line, "{\"ph\":\"X\"") != NULL;
}

bool trace_line_parse(struct trace_event *e, const char *line)
{
    const char *at = field(line, "{\"ph\":\"X\"");

    at = whole(at, ",\"pid\":", &e->rank);
    at = whole(at, ",\"tid\":", &e->track);
    at = word(at, ",\"cat\":\"", e->kind);
    at = word(at, ",\"name\":\"", e->name);
    at = moment(at, ",\"ts\":", &e->begin);
    at = moment(at, ",\"dur\":", &e->seconds);
    return rest(e, at);
}
