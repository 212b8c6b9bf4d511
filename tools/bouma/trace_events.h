/* trace_events.h -- the events of a trace that the library wrote
 * (BOUMA_TRACE), one after the other. */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H

#include "context.h"
#include "trace_line.h"

/* Call 'each' for every event of the file, in its order, which is that of
 * ranks; what it returns, if that is not DONE, ends the reading. */
int trace_events_read(struct context *ctx, const char *path,
                      int (*each)(void *user, const struct trace_event *event),
                      void *user);

#endif
