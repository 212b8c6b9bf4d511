/* trace.c -- see trace.h. */
#include "base/trace.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_text.h"

#define FIRST_BUFFER ((uint32_t)1000) /* tracks of buffers */

/* ---- adding ------------------------------------------------------------- */

struct bm_trace *bm_trace_new(const bouma_allocator *a, int rank, size_t room)
{
    struct bm_trace *t = bm_new(a, 1, sizeof(*t));
    struct bm_trace_event *events = bm_new(a, room, sizeof(*events));

    if (!t || !events) {
        bm_drop(a, t);
        bm_drop(a, events);
        return NULL;
    }
    t->a = a;
    t->rank = rank;
    t->events = events;
    t->room = room;
    t->origin = bm_clock();
    bm_trace_enter(t, "main");
    return t;
}

void bm_trace_free(struct bm_trace *t)
{
    if (!t)
        return;
    bm_drop(t->a, t->events);
    bm_drop(t->a, t);
}

static uintptr_t self(void)
{
    return (uintptr_t)pthread_self();
}

/* The track of this thread among those that are known; -1: none. */
static int find_track(struct bm_trace *t)
{
    size_t count = atomic_load(&t->thread_count);
    uintptr_t me = self();

    if (count > BM_TRACE_THREADS)
        count = BM_TRACE_THREADS;
    for (size_t i = 0; i < count; i++)
        if (atomic_load_explicit(&t->threads[i].self, memory_order_relaxed) ==
            me)
            return (int)i;
    return -1;
}

/* A track for this thread: that of one of the same name that has ended, or a
 * new one; -1: there are too many. */
static int take_track(struct bm_trace *t, const char *name)
{
    size_t count = atomic_load(&t->thread_count), i;

    for (i = 0; i < count && i < BM_TRACE_THREADS; i++) {
        const char *had = atomic_load(&t->threads[i].name);
        uintptr_t nobody = 0;

        if (had && !strcmp(had, name) &&
            atomic_compare_exchange_strong(&t->threads[i].self, &nobody,
                                           self()))
            return (int)i;
    }
    if (count >= BM_TRACE_THREADS)
        return -1;
    i = atomic_fetch_add(&t->thread_count, 1);
    if (i >= BM_TRACE_THREADS)
        return -1;
    /* Nobody takes it over before it has a name. */
    atomic_store(&t->threads[i].self, self());
    atomic_store(&t->threads[i].name, name);
    return (int)i;
}

void bm_trace_enter(struct bm_trace *t, const char *name)
{
    if (!t)
        return;
    bm_trace_leave(t); /* one that has ended may have had the same identity */
    take_track(t, name);
}

void bm_trace_leave(struct bm_trace *t)
{
    int track = t ? find_track(t) : -1;

    if (track >= 0)
        atomic_store(&t->threads[track].self, 0);
}

static void add(struct bm_trace *t, uint32_t track, const char *kind,
                const char *name, const double span[2],
                const struct bm_trace_args *args)
{
    size_t at = atomic_fetch_add(&t->count, 1);
    struct bm_trace_event *e;

    if (at >= t->room)
        return;
    e = &t->events[at];
    e->kind = kind;
    e->begin = span[0];
    e->end = span[1];
    e->track = track;
    if (args) {
        size_t n = args->file ? strlen(args->file) : 0;
        size_t skip = n < sizeof(e->file) ? 0 : n - sizeof(e->file) + 1;

        e->bytes = args->bytes;
        e->counted = args->counted;
        e->number = args->number;
        if (n)
            memcpy(e->file, args->file + skip, n - skip + 1);
    }
    atomic_store_explicit(&e->name, name, memory_order_release);
}

void bm_trace_add_until(struct bm_trace *t, const char *kind, const char *name,
                        double begun, double ended,
                        const struct bm_trace_args *args)
{
    int track = find_track(t);

    if (track < 0)
        track = take_track(t, "worker");
    if (track < 0)
        atomic_fetch_add(&t->lost, 1);
    else
        add(t, (uint32_t)track, kind, name, (double[]){begun, ended}, args);
}

void bm_trace_add(struct bm_trace *t, const char *kind, const char *name,
                  double begun, const struct bm_trace_args *args)
{
    bm_trace_add_until(t, kind, name, begun, bm_clock(), args);
}

void bm_trace_add_buffer(struct bm_trace *t, size_t buffer, const char *name,
                         double begun, const struct bm_trace_args *args)
{
    unsigned most = atomic_load(&t->buffers);

    while (most <= buffer && !atomic_compare_exchange_weak(
                                 &t->buffers, &most, (unsigned)buffer + 1))
        ;
    add(t, FIRST_BUFFER + (uint32_t)buffer, "buffer", name,
        (double[]){begun, bm_clock()}, args);
}

size_t bm_trace_dropped(struct bm_trace *t)
{
    size_t count = atomic_load(&t->count);

    return (count > t->room ? count - t->room : 0) + atomic_load(&t->lost);
}

/* ---- JSON --------------------------------------------------------------- */

void bm_trace_put(struct bm_buffer *out, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    bm_format_list(text, sizeof(text), format, arguments);
    va_end(arguments);
    bm_put_bytes(out, text, strlen(text));
}

/* The bytes of the UTF-8 character that 'p' begins with; 0: it is none. */
static size_t character_bytes(const unsigned char *p)
{
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
               : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                             : 0;

    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and beyond the last character. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

void bm_trace_put_string(struct bm_buffer *out, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    bm_put_u8(out, '"');
    while (*p) {
        size_t n = character_bytes(p);

        if (!n)
            bm_put_u8(out, '?');
        else if (*p < 0x20)
            bm_trace_put(out, "\\u%04x", *p);
        else if (*p == '"' || *p == '\\')
            bm_trace_put(out, "\\%c", *p);
        else
            bm_put_bytes(out, p, n);
        p += n ? n : 1;
    }
    bm_put_u8(out, '"');
}

/* By track, and on it by begin; what lies around others comes first. */
static int by_begin(const void *left, const void *right)
{
    const struct bm_trace_event *a = left, *b = right;

    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end > b->end ? -1 : a->end < b->end;
}

static void put_args(struct bm_buffer *out, const struct bm_trace_event *e)
{
    const char *between = "";

    bm_trace_put(out, ",\"args\":{");
    if (e->file[0]) {
        bm_trace_put(out, "\"file\":");
        bm_trace_put_string(out, e->file);
        between = ",";
    }
    if (e->bytes) {
        bm_trace_put(out, "%s\"bytes\":%" PRIu64, between, e->bytes);
        between = ",";
    }
    if (e->counted)
        bm_trace_put(out, "%s\"%s\":%" PRIu64, between, e->counted, e->number);
    bm_trace_put(out, "}");
}

/* Begin and end are rounded, not the time between: so what lies inside another
 * event stays there. */
static void put_event(struct bm_buffer *out, const struct bm_trace *t,
                      const struct bm_trace_event *e)
{
    long long begin = llround((e->begin - t->origin) * 1e9);
    long long length = llround((e->end - t->origin) * 1e9) - begin;

    bm_trace_put(out,
                 "{\"ph\":\"X\",\"pid\":%d,\"tid\":%" PRIu32
                 ",\"cat\":\"%s\",\"name\":\"%s\",\"ts\":%.3f,\"dur\":%.3f",
                 t->rank, e->track, e->kind, e->name, (double)begin * 1e-3,
                 (double)length * 1e-3);
    if (e->file[0] || e->bytes || e->counted)
        put_args(out, e);
    bm_trace_put(out, "},\n");
}

/* A name, or a position in the order of tracks, of the rank or of a track. */
static void put_about(struct bm_buffer *out, const struct bm_trace *t,
                      uint32_t track, const char *what, const char *value)
{
    bm_trace_put(out,
                 "{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32
                 ",\"name\":\"%s\",\"args\":{%s}},\n",
                 t->rank, track, what, value);
}

static void put_track(struct bm_buffer *out, const struct bm_trace *t,
                      uint32_t track, const char *name, int number)
{
    char value[64];

    if (number >= 0)
        snprintf(value, sizeof(value), "\"name\":\"%s %d\"", name, number);
    else
        snprintf(value, sizeof(value), "\"name\":\"%s\"", name);
    put_about(out, t, track, "thread_name", value);
    snprintf(value, sizeof(value), "\"sort_index\":%" PRIu32, track);
    put_about(out, t, track, "thread_sort_index", value);
}

static void put_names(struct bm_buffer *out, struct bm_trace *t)
{
    size_t threads = atomic_load(&t->thread_count);
    size_t dropped = bm_trace_dropped(t);
    uint32_t buffers = atomic_load(&t->buffers);
    char value[64];

    snprintf(value, sizeof(value), "\"name\":\"rank %d\"", t->rank);
    put_about(out, t, 0, "process_name", value);
    snprintf(value, sizeof(value), "\"sort_index\":%d", t->rank);
    put_about(out, t, 0, "process_sort_index", value);
    if (dropped) {
        snprintf(value, sizeof(value), "\"labels\":\"%zu events dropped\"",
                 dropped);
        put_about(out, t, 0, "process_labels", value);
    }
    for (size_t i = 0; i < threads && i < BM_TRACE_THREADS; i++)
        put_track(out, t, (uint32_t)i, t->threads[i].name, -1);
    for (uint32_t i = 0; i < buffers; i++)
        put_track(out, t, FIRST_BUFFER + i, "buffer", (int)i);
}

void bm_trace_encode(struct bm_buffer *out, struct bm_trace *t)
{
    size_t count = atomic_load(&t->count);

    if (count > t->room)
        count = t->room;
    put_names(out, t);
    qsort(t->events, count, sizeof(*t->events), by_begin);
    for (size_t i = 0; i < count; i++)
        if (atomic_load_explicit(&t->events[i].name, memory_order_acquire))
            put_event(out, t, &t->events[i]);
}
