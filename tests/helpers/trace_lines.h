/* trace_lines.h -- for tests of traces: the events of one, which stand on a
 * line each, and whether they lie inside each other or apart. */
#ifndef TRACE_LINES_H
#define TRACE_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_line {
    int rank, track;
    char kind[32], name[32], file[64];
    double begin, end; /* microseconds */
    unsigned long long bytes;
};

struct trace_lines {
    char head[1024]; /* the first line and the next */
    struct trace_line *events;
    size_t count;
    size_t dropped;
    size_t names; /* tracks and ranks that have one */
};

static inline void trace_text(char *out, size_t bytes, const char *line,
                              const char *key)
{
    const char *p = strstr(line, key);
    size_t n = p ? strcspn(p + strlen(key), "\"") : 0;

    out[0] = 0;
    if (p && n < bytes) {
        memcpy(out, p + strlen(key), n);
        out[n] = 0;
    }
}

static inline double trace_number(const char *line, const char *key)
{
    const char *p = strstr(line, key);

    return p ? strtod(p + strlen(key), NULL) : 0;
}

static inline void trace_add_line(struct trace_lines *t, const char *line)
{
    struct trace_line *e;

    if (strstr(line, "events dropped"))
        t->dropped += (size_t)trace_number(line, "\"labels\":\"");
    t->names += strstr(line, "\"ph\":\"M\"") != NULL;
    if (!strstr(line, "\"ph\":\"X\""))
        return;
    t->events = realloc(t->events, (t->count + 1) * sizeof(*t->events));
    if (!t->events)
        abort();
    e = &t->events[t->count++];
    memset(e, 0, sizeof(*e));
    e->rank = (int)trace_number(line, "\"pid\":");
    e->track = (int)trace_number(line, "\"tid\":");
    e->begin = trace_number(line, "\"ts\":");
    e->end = e->begin + trace_number(line, "\"dur\":");
    e->bytes = (unsigned long long)trace_number(line, "\"bytes\":");
    trace_text(e->kind, sizeof(e->kind), line, "\"cat\":\"");
    trace_text(e->name, sizeof(e->name), line, "\"name\":\"");
    trace_text(e->file, sizeof(e->file), line, "\"file\":\"");
}

/* 0: there is no such file, or it does not end as a trace does. */
static inline int trace_load(struct trace_lines *t, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[2048];
    int ended = 0;

    memset(t, 0, sizeof(*t));
    while (f && fgets(line, sizeof(line), f)) {
        size_t used = strlen(t->head), n = strlen(line);

        if (!t->count && used + n < sizeof(t->head))
            memcpy(t->head + used, line, n + 1);
        ended = !strcmp(line, "]}\n");
        trace_add_line(t, line);
    }
    if (f)
        fclose(f);
    return ended;
}

static inline void trace_drop(struct trace_lines *t)
{
    free(t->events);
    memset(t, 0, sizeof(*t));
}

static inline size_t trace_count(const struct trace_lines *t, int rank,
                                 const char *kind, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < t->count; i++)
        n += (rank < 0 || t->events[i].rank == rank) &&
             (!kind || !strcmp(t->events[i].kind, kind)) &&
             (!name || !strcmp(t->events[i].name, name));
    return n;
}

/* Pairs of events of one track that overlap, and none lies in the other; or
 * that are not in order. */
static inline size_t trace_crossed(const struct trace_lines *t)
{
    const double tiny = 1e-4; /* of doubles that were printed */
    size_t wrong = 0;

    for (size_t i = 0; i < t->count; i++)
        for (size_t k = i + 1; k < t->count; k++) {
            const struct trace_line *a = &t->events[i], *b = &t->events[k];

            if (a->rank != b->rank || a->track != b->track)
                break;
            wrong += b->begin < a->begin - tiny;
            wrong += b->begin < a->end - tiny && b->end > a->end + tiny;
        }
    return wrong;
}

#endif
