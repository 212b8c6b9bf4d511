/* events.c -- steps that come and go, told to those who listen. */
#include "events.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NANOSECONDS 500000000
#define ALIVE_SECONDS    15

struct event_listener {
    struct event_listener *next;
    struct watched *of;
    void (*sleep)(void *user);
    void (*wake)(void *user);
    void *user;
    struct json_out text; /* to be sent, from 'sent' on */
    size_t sent;
    double told; /* when something was added */
    bool begun;  /* it has the list of steps */
    bool asleep, ended;
};

/* A dataset that someone listens to, and what its steps were. */
struct watched {
    struct watched *next;
    struct events *events;
    size_t dataset;
    struct event_listener *listeners;
    struct event_step *steps; /* [count] */
    size_t count;
    bool known;
};

struct events {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct reader reader; /* of the thread */
    struct memory_budget *memory;
    size_t limit, most, listeners;
    struct watched *watched;
    bool ended;
};

/* ---- texts --------------------------------------------------------------- */

static void begin_event(struct json_out *out, const char *name)
{
    json_out_raw(out, "event: ", 7);
    json_out_raw(out, name, strlen(name));
    json_out_raw(out, "\ndata: ", 7);
    out->comma = false;
}

static void tell_step(struct json_out *out, const char *name,
                      const struct event_step *step)
{
    begin_event(out, name);
    json_out_open(out, '{');
    json_out_key(out, "step");
    json_out_integer(out, step->step);
    json_out_key(out, "time");
    json_out_number(out, step->time);
    json_out_close(out, '}');
    json_out_raw(out, "\n\n", 2);
}

void events_changes(struct json_out *out, const struct event_step *before,
                    size_t before_count, const struct event_step *after,
                    size_t after_count)
{
    size_t i = 0, k = 0;

    while (i < before_count || k < after_count) {
        if (k == after_count ||
            (i < before_count && before[i].step < after[k].step)) {
            tell_step(out, "removed", &before[i++]);
        } else if (i == before_count || after[k].step < before[i].step) {
            tell_step(out, "step", &after[k++]);
        } else {
            if (before[i].writing != after[k].writing)
                tell_step(out, "step", &after[k]);
            i++, k++;
        }
    }
}

static void tell_all(struct json_out *out, const struct watched *watched)
{
    begin_event(out, "steps");
    json_out_open(out, '{');
    json_out_key(out, "steps");
    json_out_open(out, '[');
    for (size_t i = 0; i < watched->count; i++)
        json_out_integer(out, watched->steps[i].step);
    json_out_close(out, ']');
    json_out_key(out, "times");
    json_out_open(out, '[');
    for (size_t i = 0; i < watched->count; i++)
        json_out_number(out, watched->steps[i].time);
    json_out_close(out, ']');
    json_out_close(out, '}');
    json_out_raw(out, "\n\n", 2);
}

/* ---- the thread ---------------------------------------------------------- */

static void wake(struct event_listener *listener)
{
    if (listener->asleep)
        listener->wake(listener->user);
    listener->asleep = false;
}

/* The steps of a dataset now; false if they cannot be had. */
static bool list_steps(struct events *events, size_t dataset,
                       struct event_step **out, size_t *count)
{
    bouma_step_info info = {.size = sizeof(info)};
    bouma_dataset *ds;
    int64_t total = reader_open(&ds, &events->reader, dataset)
                        ? -1
                        : bouma_dataset_step_count(ds);

    *out = total < 0
               ? NULL
               : memory_budget_resize(events->memory, NULL,
                                      ((size_t)total + 1) * sizeof(**out));
    for (int64_t i = 0; *out && i < total; i++) {
        bouma_dataset_step_get(&info, ds, i);
        (*out)[i] = (struct event_step){info.step, info.time, info.writing};
    }
    *count = (size_t)total;
    return *out != NULL;
}

/* A comment now and then, by which both sides see whether the other is there.
 */
static void keep_alive(struct event_listener *listener)
{
    double now = served_clock();

    if (now - listener->told <= ALIVE_SECONDS)
        return;
    json_out_raw(&listener->text, ":\n\n", 3);
    listener->told = now;
}

static void tell_listener(struct event_listener *listener,
                          const struct watched *watched,
                          const struct event_step *steps, size_t count)
{
    size_t before = listener->text.used;

    events_changes(&listener->text, watched->steps, watched->count, steps,
                   count);
    if (listener->text.used != before)
        listener->told = served_clock();
    else
        keep_alive(listener);
}

/* Who does not read what there is comes to its end, and can come again. */
static void hand_out(struct event_listener *listener)
{
    listener->ended |= listener->text.failed;
    if (listener->text.used > listener->sent || listener->ended)
        wake(listener);
}

/* With the lock held: what has changed becomes what is known. */
static void tell_listeners(struct watched *watched, struct event_step *steps,
                           size_t count)
{
    struct event_listener *at;

    for (at = watched->listeners; at; at = at->next)
        if (at->begun)
            tell_listener(at, watched, steps, count);
    memory_budget_release(watched->events->memory, watched->steps);
    watched->steps = steps;
    watched->count = count;
    watched->known = true;
    for (at = watched->listeners; at; at = at->next) {
        if (!at->begun) {
            tell_all(&at->text, watched);
            at->told = served_clock();
        }
        at->begun = true;
        hand_out(at);
    }
}

/* The same if the dataset cannot be read now. */
static void tell_nothing(struct watched *watched)
{
    for (struct event_listener *at = watched->listeners; at; at = at->next) {
        keep_alive(at);
        hand_out(at);
    }
}

/* Keep 'watched' if someone listens. */
static void drop_unwatched(struct events *events)
{
    struct watched **link = &events->watched;

    while (*link) {
        struct watched *at = *link;

        if (at->listeners) {
            link = &at->next;
            continue;
        }
        *link = at->next;
        memory_budget_release(events->memory, at->steps);
        free(at);
    }
}

/* With the lock held, which is free while files are looked at. A dataset that
 * is watched stays in the list meanwhile: only this thread drops it. */
static void look_at_all(struct events *events)
{
    for (struct watched *at = events->watched; at; at = at->next) {
        struct event_step *steps;
        size_t count;
        bool fine;

        pthread_mutex_unlock(&events->lock);
        fine = list_steps(events, at->dataset, &steps, &count);
        pthread_mutex_lock(&events->lock);
        if (fine)
            tell_listeners(at, steps, count);
        else
            tell_nothing(at);
    }
    drop_unwatched(events);
}

static void *watch(void *user)
{
    struct events *events = user;

    pthread_mutex_lock(&events->lock);
    while (!events->ended) {
        struct timespec until;

        look_at_all(events);
        if (events->ended)
            break;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NANOSECONDS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        if (events->watched)
            pthread_cond_timedwait(&events->changed, &events->lock, &until);
        else
            pthread_cond_wait(&events->changed, &events->lock);
    }
    pthread_mutex_unlock(&events->lock);
    return NULL;
}

/* ---- those who listen ---------------------------------------------------- */

static struct watched *watched_dataset(struct events *events, size_t dataset)
{
    struct watched *at = events->watched;

    while (at && at->dataset != dataset)
        at = at->next;
    if (at)
        return at;
    at = calloc(1, sizeof(*at));
    if (!at)
        return NULL;
    *at = (struct watched){
        .next = events->watched, .events = events, .dataset = dataset};
    events->watched = at;
    return at;
}

struct event_listener *events_listen(struct events *events, size_t dataset,
                                     void (*sleep)(void *user),
                                     void (*wake_up)(void *user), void *user)
{
    struct event_listener *listener = calloc(1, sizeof(*listener));
    struct watched *of = NULL;

    if (!listener)
        return NULL;
    pthread_mutex_lock(&events->lock);
    if (!events->ended && events->listeners < events->most)
        of = watched_dataset(events, dataset);
    if (of) {
        *listener = (struct event_listener){.next = of->listeners,
                                            .of = of,
                                            .sleep = sleep,
                                            .wake = wake_up,
                                            .user = user};
        json_out_init(&listener->text, events->memory, events->limit);
        of->listeners = listener;
        events->listeners++;
        pthread_cond_signal(&events->changed);
    }
    pthread_mutex_unlock(&events->lock);
    if (!of)
        free(listener);
    return of ? listener : NULL;
}

void events_leave(struct event_listener *listener)
{
    struct events *events = listener->of->events;
    struct event_listener **link;

    pthread_mutex_lock(&events->lock);
    link = &listener->of->listeners;
    while (*link != listener)
        link = &(*link)->next;
    *link = listener->next;
    events->listeners--;
    pthread_mutex_unlock(&events->lock);
    memory_budget_release(events->memory, listener->text.text);
    free(listener);
}

long events_take(struct event_listener *listener, char *to, size_t room)
{
    struct events *events = listener->of->events;
    struct json_out *text = &listener->text;
    size_t bytes;
    long taken;

    pthread_mutex_lock(&events->lock);
    bytes = text->used - listener->sent;
    bytes = bytes < room ? bytes : room;
    if (bytes) {
        memcpy(to, text->text + listener->sent, bytes);
        listener->sent += bytes;
        if (listener->sent == text->used)
            listener->sent = text->used = 0;
        taken = (long)bytes;
    } else if (listener->ended) {
        taken = -1;
    } else {
        listener->sleep(listener->user);
        listener->asleep = true;
        taken = 0;
    }
    pthread_mutex_unlock(&events->lock);
    return taken;
}

/* ---- life ---------------------------------------------------------------- */

struct events *events_start(struct served *served, struct memory_budget *memory,
                            size_t limit, size_t most)
{
    struct events *events = calloc(1, sizeof(*events));
    pthread_condattr_t clock;
    bool fine;

    if (!events)
        return NULL;
    events->memory = memory;
    events->limit = limit;
    events->most = most;
    pthread_mutex_init(&events->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&events->changed, &clock);
    pthread_condattr_destroy(&clock);
    fine = reader_init(&events->reader, served, memory, 1) &&
           pthread_create(&events->thread, NULL, watch, events) == 0;
    if (fine)
        return events;
    reader_release(&events->reader);
    pthread_cond_destroy(&events->changed);
    pthread_mutex_destroy(&events->lock);
    free(events);
    return NULL;
}

void events_end(struct events *events)
{
    pthread_mutex_lock(&events->lock);
    events->ended = true;
    for (struct watched *at = events->watched; at; at = at->next)
        for (struct event_listener *l = at->listeners; l; l = l->next) {
            l->ended = true;
            wake(l);
        }
    pthread_cond_signal(&events->changed);
    pthread_mutex_unlock(&events->lock);
}

void events_free(struct events *events)
{
    if (!events)
        return;
    pthread_join(events->thread, NULL);
    drop_unwatched(events);
    reader_release(&events->reader);
    pthread_cond_destroy(&events->changed);
    pthread_mutex_destroy(&events->lock);
    free(events);
}
