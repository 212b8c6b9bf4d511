/* trace_events.c -- the library writes an event a line, with its fields in one
 * order: so a large trace needs no memory, and no library. */
#include "trace_events.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096 };

static const char head[] = "{\"otherData\":{\"writer\":\"bouma\"";

/* Behind a key, which comes next. */
static const char *field(const char *at, const char *key)
{
    size_t n = strlen(key);

    return at && !strncmp(at, key, n) ? at + n : NULL;
}

static const char *word(const char *at, const char *key, char out[TRACE_WORD])
{
    const char *from = field(at, key);
    size_t n = from ? strcspn(from, "\"\\") : 0;

    if (!from || from[n] != '"' || n >= TRACE_WORD)
        return NULL;
    memcpy(out, from, n);
    out[n] = 0;
    return from + n + 1;
}

static const char *whole(const char *at, const char *key, int *out)
{
    const char *from = field(at, key);
    char *end = NULL;
    long n = from ? strtol(from, &end, 10) : -1;

    if (!from || end == from || n < 0 || n >= TRACE_RANKS)
        return NULL;
    *out = (int)n;
    return end;
}

/* Microseconds, as seconds. */
static const char *moment(const char *at, const char *key, double *out)
{
    const char *from = field(at, key);
    char *end = NULL;

    *out = from ? strtod(from, &end) * 1e-6 : 0;
    return from && end != from && isfinite(*out) && *out >= 0 ? end : NULL;
}

/* Whether the line is an event that is well formed. */
static bool parse(struct trace_event *e, const char *line)
{
    const char *at = field(line, "{\"ph\":\"X\""), *bytes;

    at = whole(at, ",\"pid\":", &e->rank);
    at = whole(at, ",\"tid\":", &e->track);
    at = word(at, ",\"cat\":\"", e->kind);
    at = word(at, ",\"name\":\"", e->name);
    at = moment(at, ",\"ts\":", &e->begin);
    at = moment(at, ",\"dur\":", &e->seconds);
    bytes = at ? strstr(at, "\"bytes\":") : NULL;
    e->bytes = bytes ? strtoull(bytes + strlen("\"bytes\":"), NULL, 10) : 0;
    return at != NULL;
}

int trace_events_read(struct context *ctx, const char *path,
                      int (*each)(void *user, const struct trace_event *event),
                      void *user)
{
    struct trace_event event;
    char line[LINE] = "";
    FILE *file = fopen(path, "r");
    int rc = DONE;

    if (!file)
        return context_fail_errno(ctx, "read", path);
    if (!fgets(line, sizeof(line), file) || !field(line, head))
        rc = context_fail(ctx, DATA_AT_FAULT,
                          "%s: is no trace that bouma has written", path);
    while (!rc && fgets(line, sizeof(line), file))
        if (field(line, "{\"ph\":\"X\""))
            rc = parse(&event, line)
                     ? each(user, &event)
                     : context_fail(ctx, DATA_AT_FAULT, "%s: is damaged: %.60s",
                                    path, line);
    if (!rc && ferror(file))
        rc = context_fail_errno(ctx, "read", path);
    fclose(file);
    return rc;
}
