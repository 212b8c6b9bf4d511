/* trace_events.h -- the events of a trace that the library wrote
 * (BOUMA_TRACE), one after the other. */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H

#include <stdint.h>

#include "context.h"

enum { TRACE_WORD = 32, TRACE_RANKS = 1 << 24 };

/* Something that a rank did: from 'begin' on, for so many seconds. Track 0 is
 * the main thread. */
struct trace_event {
    int rank, track;
    char kind[TRACE_WORD], name[TRACE_WORD];
    double begin, seconds;
    uint64_t bytes; /* 0: not told */
};

/* Call 'each' for every event of the file, in its order; what it returns, if
 * that is not DONE, ends the reading. */
int trace_events_read(struct context *ctx, const char *path,
                      int (*each)(void *user, const struct trace_event *event),
                      void *user);

#endif
