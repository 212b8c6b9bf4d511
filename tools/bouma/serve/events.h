/* events.h -- steps that are committed, rewritten or removed, told to those who
 * listen. A thread of its own looks at the datasets that someone listens to. */
#ifndef SERVE_EVENTS_H
#define SERVE_EVENTS_H

#include <pthread.h>

#include "reader.h"

/* A step, as far as events tell of it. */
struct event_step {
    int64_t step;
    double time;
    uint64_t writing;
};

/* What has changed from one list to another, both ascending, as events. */
void events_changes(struct json_out *out, const struct event_step *before,
                    size_t before_count, const struct event_step *after,
                    size_t after_count);

struct events;
struct event_listener;

/* Start the thread; NULL if that fails. At most 'most' can listen. */
struct events *events_start(struct served *served, struct memory_budget *memory,
                            size_t limit, size_t most);
/* All listeners come to their end, and are woken; then none may be added. */
void events_end(struct events *events);
/* After all have left. Accepts NULL. */
void events_free(struct events *events);

/* Listen to a dataset. 'sleep' is called when there is nothing to send, and
 * after that 'wake', once, when there is: both with a lock held, so they must
 * not call these functions. NULL if there are too many, or no memory. */
struct event_listener *events_listen(struct events *events, size_t dataset,
                                     void (*sleep)(void *user),
                                     void (*wake)(void *user), void *user);
void events_leave(struct event_listener *listener);

/* What is to be sent next, up to 'room' bytes: how many there are, 0 if nothing
 * (the listener sleeps), or -1 at the end. */
long events_take(struct event_listener *listener, char *to, size_t room);

#endif
