/* io_thread.c -- see io_thread.h. */
#include "engine/io_thread.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"

struct bm_io_thread {
    const bouma_allocator *a;
    bm_io_job *run;
    void *context;
    pthread_t thread;
    int wanted, threaded;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t handed_over, over;
    size_t *jobs; /* [room] */
    size_t room, handed, done, told;
    int ending;
    struct bm_error error; /* of the first that failed */
    double seconds;
    struct bm_trace *trace; /* NULL: none */
    const char *job_name, *counted;
    bm_io_waker *wake; /* NULL: none */
    void *wake_context;
};

/* One job, without the lock. */
static void do_job(struct bm_io_thread *k, size_t job)
{
    struct bm_error error = {0};
    double begun = bm_clock();
    int rc = k->error.status ? BOUMA_OK : k->run(k->context, job, &error);

    if (rc && !error.status)
        bm_fail(&error, rc, "what was gathered could not be stored");
    if (k->trace)
        bm_trace_add(
            k->trace, "round", k->job_name, begun,
            &(struct bm_trace_args){.counted = k->counted, .number = job});
    pthread_mutex_lock(&k->lock);
    if (rc)
        k->error = error;
    k->seconds += bm_clock() - begun;
    k->done++;
    pthread_cond_broadcast(&k->over);
    pthread_mutex_unlock(&k->lock);
    if (k->wake)
        k->wake(k->wake_context);
}

/* Without a thread: the next job. 0: there is none, or a thread for it. */
static int do_next(struct bm_io_thread *k)
{
    if (k->threaded || k->done == k->handed)
        return 0;
    do_job(k, k->jobs[k->done]);
    return 1;
}

static void *work(void *context)
{
    struct bm_io_thread *k = context;
    int named = 0;

    for (;;) {
        size_t job;

        pthread_mutex_lock(&k->lock);
        while (k->done == k->handed && !k->ending)
            pthread_cond_wait(&k->handed_over, &k->lock);
        if (k->done == k->handed) {
            pthread_mutex_unlock(&k->lock);
            bm_trace_leave(k->trace);
            return NULL;
        }
        job = k->jobs[k->done];
        pthread_mutex_unlock(&k->lock);
        if (!named)
            bm_trace_enter(k->trace, "I/O thread");
        named = 1;
        do_job(k, job);
    }
}

struct bm_io_thread *bm_io_thread_new(const bouma_allocator *a, size_t jobs,
                                      bm_io_job *run, void *context,
                                      int threaded)
{
    struct bm_io_thread *k = bm_new(a, 1, sizeof(*k));
    size_t *list = bm_new_raw(a, jobs, sizeof(*list));

    if (!k || !list) {
        bm_drop(a, k);
        bm_drop(a, list);
        return NULL;
    }
    k->a = a;
    k->run = run;
    k->context = context;
    k->jobs = list;
    k->room = jobs;
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->handed_over, NULL);
    pthread_cond_init(&k->over, NULL);
    k->wanted = threaded;
    k->threaded =
        threaded && jobs && !pthread_create(&k->thread, NULL, work, k);
    return k;
}

void bm_io_thread_set_trace(struct bm_io_thread *k, struct bm_trace *trace,
                            const char *name, const char *counted)
{
    pthread_mutex_lock(&k->lock);
    k->trace = trace;
    k->job_name = name;
    k->counted = counted;
    pthread_mutex_unlock(&k->lock);
}

void bm_io_thread_set_waker(struct bm_io_thread *k, bm_io_waker *wake,
                            void *context)
{
    pthread_mutex_lock(&k->lock);
    k->wake = wake;
    k->wake_context = context;
    pthread_mutex_unlock(&k->lock);
}

void bm_io_thread_free(struct bm_io_thread *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    k->ending = 1;
    pthread_cond_signal(&k->handed_over);
    pthread_mutex_unlock(&k->lock);
    if (k->threaded)
        pthread_join(k->thread, NULL);
    while (k->wanted && do_next(k))
        ;
    pthread_cond_destroy(&k->over);
    pthread_cond_destroy(&k->handed_over);
    pthread_mutex_destroy(&k->lock);
    bm_drop(k->a, k->jobs);
    bm_drop(k->a, k);
}

void bm_io_thread_hand(struct bm_io_thread *k, size_t job)
{
    pthread_mutex_lock(&k->lock);
    k->jobs[k->handed++] = job;
    pthread_cond_signal(&k->handed_over);
    pthread_mutex_unlock(&k->lock);
}

int bm_io_thread_next(struct bm_io_thread *k, size_t *job, int wait)
{
    int found;

    if (!k->threaded && k->told == k->done)
        do_next(k);
    pthread_mutex_lock(&k->lock);
    while (wait && k->told == k->done && k->done < k->handed)
        pthread_cond_wait(&k->over, &k->lock);
    found = k->told < k->done;
    if (found)
        *job = k->jobs[k->told++];
    pthread_mutex_unlock(&k->lock);
    return found;
}

int bm_io_thread_wait(struct bm_io_thread *k, struct bm_error *error)
{
    while (do_next(k))
        ;
    pthread_mutex_lock(&k->lock);
    while (k->done < k->handed)
        pthread_cond_wait(&k->over, &k->lock);
    pthread_mutex_unlock(&k->lock);
    return bm_io_thread_status(k, error);
}

int bm_io_thread_status(struct bm_io_thread *k, struct bm_error *error)
{
    int rc;

    pthread_mutex_lock(&k->lock);
    rc = k->error.status;
    if (rc)
        bm_fail(error, rc, "%s", k->error.text);
    pthread_mutex_unlock(&k->lock);
    return rc;
}

void bm_io_thread_rewind(struct bm_io_thread *k)
{
    pthread_mutex_lock(&k->lock);
    k->handed = k->done = k->told = 0;
    k->seconds = 0;
    pthread_mutex_unlock(&k->lock);
}

double bm_io_thread_seconds(struct bm_io_thread *k)
{
    double seconds;

    pthread_mutex_lock(&k->lock);
    seconds = k->seconds;
    pthread_mutex_unlock(&k->lock);
    return seconds;
}
