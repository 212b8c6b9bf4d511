/* share.c -- see share.h. */
#include "base/share.h"

#include <pthread.h>
#include <stdatomic.h>

struct crew {
    bm_task *task;
    void *context;
    size_t parts;
    atomic_size_t next, workers;
};

static void *work(void *context)
{
    struct crew *c = context;
    size_t me = atomic_fetch_add(&c->workers, 1), i;

    while ((i = atomic_fetch_add(&c->next, 1)) < c->parts)
        c->task(c->context, i, me);
    return NULL;
}

void bm_share(bm_task *task, void *context, size_t parts, size_t threads)
{
    struct crew crew = {.task = task, .context = context, .parts = parts};
    pthread_t thread[BM_SHARE_MOST];
    size_t started = 0;

    if (threads > BM_SHARE_MOST)
        threads = BM_SHARE_MOST;
    while (started + 1 < threads && started + 1 < parts &&
           !pthread_create(&thread[started], NULL, work, &crew))
        started++;
    work(&crew);
    while (started)
        pthread_join(thread[--started], NULL);
}
