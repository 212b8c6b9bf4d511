/* drain.c -- see drain.h. */
#include "dataset/drain.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "dataset/copy.h"

/* A step on its way. */
struct job {
    struct bm_step_entry entry;
    int certain; /* it was committed */
    struct job *next;
    size_t count;
    uint32_t subfiles[]; /* [count], of this rank */
};

/* The thread, and whom it waits for. */
struct worker {
    int threaded; /* there is one; else who hands over does its work */
    pthread_t thread;
    atomic_int stop;
    pthread_mutex_t lock; /* of 'ending', the queue and the failure */
    pthread_cond_t given, rests;
    int ending;
};

/* Steps that were handed over. */
struct queue {
    struct job *first, *last; /* not yet published; on other ranks: copied */
    struct job *to_copy;      /* NULL: all are copied */
    uint64_t copied, agreed, published; /* steps */
};

/* Why it rests, though there is something to do. */
struct failure {
    struct bm_error error;
    uint64_t step;
};

struct bm_drain {
    const bouma_allocator *a;
    struct bm_store near, far; /* roots of the thread's own */
    struct bm_copier copier;
    /* Rank 0: a handle of the target that is drained to, as far as the commit
     * needs one. */
    struct bouma_dataset *target;
    struct job *spare;      /* of the step that is being written */
    struct bm_trace *trace; /* NULL: none */
    struct worker worker;
    struct queue queue;
    struct failure failure;
};

/* ---- the work ----------------------------------------------------------- */

/* Whether the step was written again meanwhile: then its files may be gone, and
 * the later version comes as another job. */
static int is_replaced(struct bm_drain *d, const struct job *job)
{
    struct bm_error ignored = {0};
    struct bm_step_entry now;
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    uint64_t bytes;
    int later;

    bm_name_manifest(name, job->entry.step);
    bm_buffer_init(&b, d->a);
    later = !bm_manifest_read_front(&d->near, name, &b, &bytes, &ignored) &&
            !bm_manifest_peek(&now, &b, d->copier.id, name, &ignored) &&
            bm_generation_is_later(now.generation, job->entry.generation);
    bm_buffer_release(&b);
    return later;
}

static int copy_job(struct bm_drain *d, const struct job *job,
                    struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < job->count && !rc; i++)
        rc = bm_copy_subfile(&d->copier, job->entry.step, job->entry.generation,
                             job->subfiles[i], NULL, error);
    if (rc && is_replaced(d, job)) {
        bm_error_clear(error);
        rc = BOUMA_OK;
    }
    return rc;
}

/* Whether the target has this very manifest already: after a commit whose
 * outcome was not certain. */
static int is_published(struct bm_drain *d, const char *name,
                        const struct bm_buffer *manifest)
{
    struct bm_error ignored = {0};
    struct bm_buffer b;
    int same;

    bm_buffer_init(&b, d->a);
    same = !bm_store_load(&d->target->store, name, &b,
                          d->target->store.memory_limit, &ignored) &&
           b.size == manifest->size &&
           !memcmp(b.data, manifest->data, manifest->size);
    bm_buffer_release(&b);
    return same;
}

/* A step that was written again meanwhile comes later, as another job. */
static int publish_job(struct bm_drain *d, const struct job *job,
                       struct bm_error *error)
{
    struct bouma_dataset *target = d->target;
    struct bm_error why = {0};
    struct bm_step_entry entry;
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    int rc;

    bm_error_clear(&target->error);
    bm_buffer_init(&b, d->a);
    bm_name_manifest(name, job->entry.step);
    rc = bm_store_load(&d->near, name, &b, d->near.memory_limit, &why);
    if (rc == BOUMA_ENOTFOUND && !job->certain) {
        bm_buffer_release(&b);
        return BOUMA_OK;
    }
    if (!rc)
        rc = bm_manifest_peek(&entry, &b, target->id, name, &why);
    if (rc)
        bm_fail(error, rc, "%s", why.text);
    if (!rc && entry.generation.epoch == job->entry.generation.epoch &&
        entry.generation.attempt == job->entry.generation.attempt) {
        rc = is_published(d, name, &b)
                 ? bm_commit_sync(target, entry.step)
                 : bm_commit_copy(target, &job->entry, &b);
        if (rc)
            bm_fail(error, rc, "%s", target->error.text);
    }
    bm_buffer_release(&b);
    return rc;
}

/* With the lock: something can be done now. */
static int has_work(const struct bm_drain *d)
{
    return !d->failure.error.status &&
           ((d->target && d->queue.published < d->queue.agreed) ||
            d->queue.to_copy);
}

/* With the lock: jobs that nobody needs any more. */
static void drop_first(struct queue *q, const bouma_allocator *a)
{
    struct job *job = q->first;

    q->first = job->next;
    if (!q->first)
        q->last = NULL;
    bm_drop(a, job);
}

/* With the lock, which is not held meanwhile. */
static void work_once(struct bm_drain *d)
{
    int publishing = d->target && d->queue.published < d->queue.agreed;
    struct job *job = publishing ? d->queue.first : d->queue.to_copy;
    struct bm_error error = {0};
    int rc;

    pthread_mutex_unlock(&d->worker.lock);
    rc = publishing ? publish_job(d, job, &error) : copy_job(d, job, &error);
    pthread_mutex_lock(&d->worker.lock);
    if (rc) {
        d->failure.error = error;
        d->failure.step = job->entry.step;
    } else if (publishing) {
        d->queue.published++;
        drop_first(&d->queue, d->a);
    } else {
        d->queue.copied++;
        d->queue.to_copy = job->next;
        if (!d->target)
            drop_first(&d->queue, d->a);
    }
}

static void *work(void *context)
{
    struct bm_drain *d = context;

    bm_trace_enter(d->trace, "drain thread");
    pthread_mutex_lock(&d->worker.lock);
    while (!d->worker.ending) {
        if (has_work(d)) {
            work_once(d);
            continue;
        }
        pthread_cond_signal(&d->worker.rests);
        pthread_cond_wait(&d->worker.given, &d->worker.lock);
    }
    pthread_mutex_unlock(&d->worker.lock);
    bm_trace_leave(d->trace);
    return NULL;
}

/* With the lock: wait until there is nothing more to do, or nothing that can be
 * done. */
static void wait_for_rest(struct bm_drain *d)
{
    if (d->worker.threaded)
        pthread_cond_signal(&d->worker.given);
    while (has_work(d)) {
        if (d->worker.threaded)
            pthread_cond_wait(&d->worker.rests, &d->worker.lock);
        else
            work_once(d);
    }
}

/* ---- its life ----------------------------------------------------------- */

/* What the commit needs of a handle. */
static int make_target(struct bm_drain *d, struct bouma_dataset *ds)
{
    struct bouma_dataset *t = bm_new(ds->a, 1, sizeof(*t));
    int rc;

    d->target = t;
    if (!t)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory",
                       ds->second.path);
    t->a = ds->a;
    t->options = ds->options;
    t->options.durability = BOUMA_DURABILITY_DURABLE;
    memcpy(t->id, ds->id, 16);
    t->claim.epoch = ds->claim.epoch;
    bm_step_list_init(&t->commits.unsynced, ds->a);
    t->found.steps = ds->found.steps;
    bm_step_list_init(&ds->found.steps, ds->a);
    t->commits.losses = ds->commits.losses;
    bm_losses_init(&ds->commits.losses, ds->a);
    rc = bm_store_open(&t->store, ds->options.io, ds->a, ds->second.path, 0,
                       &ds->error);
    t->store.memory_limit = ds->options.memory_limit;
    return rc;
}

int bm_drain_new(struct bouma_dataset *ds)
{
    struct bm_drain *d = bm_new(ds->a, 1, sizeof(*d));
    int rc;

    ds->draining.drain = d;
    if (!d)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory",
                       ds->store.path);
    d->a = ds->a;
    d->trace = ds->engine.tracing.trace;
    pthread_mutex_init(&d->worker.lock, NULL);
    pthread_cond_init(&d->worker.given, NULL);
    pthread_cond_init(&d->worker.rests, NULL);
    rc = bm_store_open(&d->near, ds->options.io, ds->a, ds->store.path, 0,
                       &ds->error);
    if (!rc)
        rc = bm_store_open(&d->far, ds->options.io, ds->a, ds->second.path, 0,
                           &ds->error);
    d->near.memory_limit = d->far.memory_limit = ds->options.memory_limit;
    bm_copier_init(&d->copier, &d->near, &d->far, ds->id, ds->a);
    d->copier.stop = &d->worker.stop;
    if (!rc && ds->comm->rank == 0)
        rc = make_target(d, ds);
    if (!rc && ds->options.io->concurrent &&
        (ds->a == bm_allocator_default() || ds->options.threads > 1))
        d->worker.threaded = !pthread_create(&d->worker.thread, NULL, work, d);
    return rc;
}

void bm_drain_stop(struct bm_drain *d)
{
    if (!d)
        return;
    atomic_store(&d->worker.stop, 1);
    if (d->worker.threaded) {
        pthread_mutex_lock(&d->worker.lock);
        d->worker.ending = 1;
        pthread_cond_signal(&d->worker.given);
        pthread_mutex_unlock(&d->worker.lock);
        pthread_join(d->worker.thread, NULL);
        d->worker.threaded = 0;
    }
}

void bm_drain_free(struct bm_drain *d)
{
    if (!d)
        return;
    bm_drain_stop(d);
    while (d->queue.first)
        drop_first(&d->queue, d->a);
    bm_drop(d->a, d->spare);
    if (d->target) {
        bm_step_list_release(&d->target->found.steps);
        bm_step_list_release(&d->target->commits.unsynced);
        bm_losses_release(&d->target->commits.losses);
        bm_store_close(&d->target->store);
        bm_drop(d->a, d->target);
    }
    bm_copier_release(&d->copier);
    bm_store_close(&d->near);
    bm_store_close(&d->far);
    pthread_cond_destroy(&d->worker.rests);
    pthread_cond_destroy(&d->worker.given);
    pthread_mutex_destroy(&d->worker.lock);
    bm_drop(d->a, d);
}

int bm_drain_load_losses(struct bouma_dataset *ds)
{
    struct bm_drain *d = ds->draining.drain;
    int rc;

    if (!d->target)
        return BOUMA_OK;
    pthread_mutex_lock(&d->worker.lock);
    bm_error_clear(&d->target->error);
    rc = bm_commit_load_losses(d->target);
    if (rc)
        bm_fail(&ds->error, rc, "%s", d->target->error.text);
    pthread_mutex_unlock(&d->worker.lock);
    return rc;
}

/* ---- handing over ------------------------------------------------------- */

uint32_t *bm_drain_reserve(struct bm_drain *d, size_t count)
{
    struct job *job =
        bm_resize(d->a, d->spare, 1, sizeof(*job) + count * sizeof(uint32_t));

    if (!job)
        return NULL;
    d->spare = job;
    job->next = NULL;
    job->count = count;
    return job->subfiles;
}

/* How many steps all ranks have copied: rank 0 may publish them. Collective. */
static int agree_on_copied(struct bouma_dataset *ds, struct bm_error *error)
{
    struct bm_drain *d = ds->draining.drain;
    uint64_t least;
    int rc;

    pthread_mutex_lock(&d->worker.lock);
    least = ~d->queue.copied;
    pthread_mutex_unlock(&d->worker.lock);
    rc = bm_comm_max(ds->comm, &least, 1, error);
    pthread_mutex_lock(&d->worker.lock);
    if (!rc)
        d->queue.agreed = ~least;
    if (d->worker.threaded)
        pthread_cond_signal(&d->worker.given);
    pthread_mutex_unlock(&d->worker.lock);
    return rc;
}

/* The local copies of other nodes get the manifest, so that they can be opened,
 * and drained, for themselves. Best effort: it is committed, and the files are
 * drained whatever comes of it. Collective. */
static void spread_manifest(struct bouma_dataset *ds,
                            const struct bm_step_entry *entry)
{
    struct bm_error ignored = {0}, kept = ds->error;
    struct bm_step_entry found;
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    int rc = BOUMA_OK;

    bm_name_manifest(name, entry->step);
    bm_buffer_init(&b, ds->a);
    if (ds->comm->rank == 0) {
        rc = bm_store_load(&ds->store, name, &b, ds->store.memory_limit,
                           &ignored);
        if (!rc)
            rc = bm_manifest_peek(&found, &b, ds->id, name, &ignored);
        if (!rc && (found.generation.epoch != entry->generation.epoch ||
                    found.generation.attempt != entry->generation.attempt))
            rc = BOUMA_ENOTFOUND; /* that of an older one */
    }
    rc = bm_comm_share(ds->comm, &b, 0, rc, &ignored);
    if (!rc && ds->comm->rank != 0 && ds->claim.claims) {
        bm_error_clear(&ds->error);
        bm_commit_copy(ds, entry, &b);
        ds->error = kept;
    }
    bm_buffer_release(&b);
}

void bm_drain_hand(struct bouma_dataset *ds, const struct bm_step_entry *entry,
                   int certain)
{
    struct bm_drain *d = ds->draining.drain;
    struct bm_error ignored = {0};
    struct job *job = d->spare;

    d->spare = NULL;
    job->entry = *entry;
    job->certain = certain;
    if (ds->draining.local_copies > 1)
        spread_manifest(ds, entry);
    pthread_mutex_lock(&d->worker.lock);
    if (d->queue.last)
        d->queue.last->next = job;
    else
        d->queue.first = job;
    d->queue.last = job;
    if (!d->queue.to_copy)
        d->queue.to_copy = job;
    bm_error_clear(&d->failure.error); /* what failed is tried again */
    if (!d->worker.threaded)
        wait_for_rest(d);
    pthread_mutex_unlock(&d->worker.lock);
    agree_on_copied(ds, &ignored);
    pthread_mutex_lock(&d->worker.lock);
    if (!d->worker.threaded)
        wait_for_rest(d);
    pthread_mutex_unlock(&d->worker.lock);
}

/* ---- waiting ------------------------------------------------------------ */

/* With the lock: what is to be told. */
static int status_of(struct bm_drain *d, struct bouma_dataset *ds)
{
    int rc = d->failure.error.status;

    if (rc)
        bm_fail(
            &ds->error, rc,
            "step %" PRIu64
            " is complete in %s, but not yet in %s: %s; the next "
            "bouma_dataset_drain(), or `bouma drain`, copies what is missing",
            d->failure.step, d->near.path, d->far.path, d->failure.error.text);
    return rc;
}

int bm_drain_finish(struct bouma_dataset *ds)
{
    struct bm_drain *d = ds->draining.drain;
    int rc, agreed;

    pthread_mutex_lock(&d->worker.lock);
    bm_error_clear(&d->failure.error); /* what failed is tried again */
    wait_for_rest(d);
    pthread_mutex_unlock(&d->worker.lock);
    agreed = agree_on_copied(ds, &ds->error);
    pthread_mutex_lock(&d->worker.lock);
    if (!agreed)
        wait_for_rest(d);
    rc = status_of(d, ds);
    pthread_mutex_unlock(&d->worker.lock);
    return bm_comm_agree(ds->comm, agreed ? agreed : rc, &ds->error);
}
