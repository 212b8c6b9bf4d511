/* parallel_for.c -- see parallel_for.h. */
#include "base/parallel_for.h"

#include <pthread.h>
#include <stdatomic.h>

struct loop {
    bm_parallel_body *body;
    void *context;
    size_t count;
    atomic_size_t next;
    atomic_int failed;
};

struct worker {
    struct loop *loop;
    size_t number;
    int rc;
    pthread_t thread;
};

static void *work(void *context)
{
    struct worker *w = context;
    struct loop *l = w->loop;

    while (!w->rc && !atomic_load(&l->failed)) {
        size_t i = atomic_fetch_add(&l->next, 1);

        if (i >= l->count)
            break;
        w->rc = l->body(l->context, i, w->number);
    }
    if (w->rc)
        atomic_store(&l->failed, 1);
    return NULL;
}

int bm_parallel_for(bm_parallel_body *body, void *context, size_t count,
                    size_t threads)
{
    struct loop loop = {.body = body, .context = context, .count = count};
    struct worker workers[BM_MAX_THREADS];
    size_t started = 1;
    int rc;

    if (threads > BM_MAX_THREADS)
        threads = BM_MAX_THREADS;
    workers[0] = (struct worker){.loop = &loop};
    for (; started < threads && started < count; started++) {
        workers[started] = (struct worker){.loop = &loop, .number = started};
        if (pthread_create(&workers[started].thread, NULL, work,
                           &workers[started]))
            break;
    }
    work(&workers[0]);
    rc = workers[0].rc;
    for (size_t i = 1; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        rc = rc ? rc : workers[i].rc;
    }
    return rc;
}
