/* trace_line.h -- an event of a trace, which the library writes on a line, with
 * its fields in one order. */
#ifndef TRACE_LINE_H
#define TRACE_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Ranks and tracks are fewer; times are not longer. */
enum { TRACE_WORD = 32, TRACE_RANKS = 1 << 24, TRACE_SECONDS = 1000000000 };

/* Something that a rank did: from 'begin' on, for so many seconds. Track 0 is
 * the main thread. */
struct trace_event {
    int rank, track;
    char kind[TRACE_WORD], name[TRACE_WORD]; /* printable ASCII */
    double begin, seconds;
    uint64_t bytes; /* 0: not told */
};

/* Whether the line is to be an event; others are about ranks and tracks. */
bool trace_line_is_event(const char *line);

/* Whether it is well formed. */
bool trace_line_parse(struct trace_event *e, const char *line);

#endif
