/* trace.h -- what a rank did when: events in a buffer of fixed size, written
 * as JSON for Perfetto and chrome://tracing.
 *
 * Whoever has no trace has NULL, and pays for one comparison:
 *
 *     double begun = bm_trace_now(trace);
 *     ... work ...
 *     if (trace)
 *         bm_trace_add(trace, "file", "write", begun,
 *                      &(struct bm_trace_args){.bytes = n, .file = name});
 *
 * Any thread may add. Events of one thread lie inside each other or apart. */
#ifndef BM_TRACE_H
#define BM_TRACE_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

#define BM_TRACE_FILE_BYTES 48
#define BM_TRACE_THREADS    320

/* What is told of an event. Zero and NULL: nothing. */
struct bm_trace_args {
    uint64_t bytes;
    const char *counted; /* what 'number' counts, as "round" */
    uint64_t number;
    const char *file; /* copied; of a long name the end is kept */
};

struct bm_trace_event {
    _Atomic(const char *) name; /* NULL: is just being added */
    const char *kind, *counted;
    double begin, end; /* bm_clock() */
    uint64_t bytes, number;
    uint32_t track;
    char file[BM_TRACE_FILE_BYTES];
};

struct bm_trace {
    const bouma_allocator *a;
    int rank;
    double origin;                 /* the bm_clock() that is 0 in the trace */
    struct bm_trace_event *events; /* [room] */
    size_t room;
    atomic_size_t count; /* of all events, also those without room */
    atomic_size_t lost;  /* of threads beyond BM_TRACE_THREADS */
    atomic_uint buffers; /* tracks of buffers */
    atomic_size_t thread_count;
    struct bm_trace_thread {
        atomic_uintptr_t self; /* 0: has ended */
        _Atomic(const char *) name;
    } threads[BM_TRACE_THREADS];
};

/* Room for 'room' events; the calling thread is "main". NULL: no memory. */
struct bm_trace *bm_trace_new(const bouma_allocator *a, int rank, size_t room);
void bm_trace_free(struct bm_trace *t); /* accepts NULL */

static inline double bm_trace_now(const struct bm_trace *t)
{
    return t ? bm_clock() : 0;
}

/* An event of this thread, from 'begun' till now. 'kind', 'name' and
 * args->counted are constants. What finds no room is counted. */
void bm_trace_add(struct bm_trace *t, const char *kind, const char *name,
                  double begun, const struct bm_trace_args *args);
/* The same with its end. */
void bm_trace_add_until(struct bm_trace *t, const char *kind, const char *name,
                        double begun, double ended,
                        const struct bm_trace_args *args);
/* The same till now on a track that stands for a buffer, not for a thread. */
void bm_trace_add_buffer(struct bm_trace *t, size_t buffer, const char *name,
                         double begun, const struct bm_trace_args *args);

/* The calling thread begins, with a constant name, and ends. Threads that do
 * not tell are called "worker". 't' may be NULL. */
void bm_trace_enter(struct bm_trace *t, const char *name);
void bm_trace_leave(struct bm_trace *t);

/* Events that are not in the trace. */
size_t bm_trace_dropped(struct bm_trace *t);

/* Append all events of the rank as elements of a JSON array, each followed by
 * a comma; failures are left in 'out'. Nobody adds meanwhile. */
void bm_trace_encode(struct bm_buffer *out, struct bm_trace *t);

/* Append a JSON string with its quotes. Bytes that are not UTF-8 become "?". */
void bm_trace_put_string(struct bm_buffer *out, const char *text);
/* Append formatted text of less than 256 bytes. */
void bm_trace_put(struct bm_buffer *out, const char *format, ...)
    BM_PRINTF(2, 3);

#endif
