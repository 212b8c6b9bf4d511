/* series_lanes.c -- the steps of a series, shared by threads. Each has a handle
 * of the dataset for itself, as programs with threads have: nothing is shared
 * but the caller's array, in which each step has its own place. */
#include <string.h>

#include "base/parallel_for.h"
#include "read/series.h"

#define LIST_STEPS 16   /* that are worth a list of all */
#define LANE_STEPS 32   /* that are worth a thread, with a handle */
#define MOST_LANES 16   /* more only wait for the file system */
#define WAVE_STEPS 1024 /* looked up in the list at a time */

struct lanes {
    const struct bm_series *series;
    struct bm_series_lane *all; /* [count]; the first has the caller's handle */
    size_t *failed;             /* [count]: the step at which each did */
    int *status;                /* [count] */
    size_t count;
    size_t first;                           /* step of the wave */
    struct bm_step_entry known[WAVE_STEPS]; /* epoch 0: nothing is */
};

/* Whether steps may be read without their manifests: nobody else has to be told,
 * and there is one copy of each. */
static int is_alone(const struct bouma_dataset *ds)
{
    return ds->comm->size == 1 && ds->mode == BM_MODE_READ && !ds->second.root;
}

/* How many threads can share the steps. Tables and functions of the caller are
 * not called by several. */
static size_t count_lanes(const struct bm_series *s)
{
    const struct bouma_dataset *ds = s->ds;
    size_t most = (size_t)bm_dataset_threads(ds);
    size_t worth = s->count / LANE_STEPS;

    if (!is_alone(ds) || ds->options.io != bouma_io_posix() ||
        s->request->to.remote.copy || ds->engine.tracing.trace)
        return 1;
    most = most < MOST_LANES ? most : MOST_LANES;
    most = most < worth ? most : worth;
    return most ? most : 1;
}

/* One more handle of the same directory, or NULL. */
static struct bouma_dataset *open_again(const struct bouma_dataset *ds)
{
    struct bm_options options = ds->options;
    struct bouma_dataset *out = NULL;
    struct bm_comm *comm;

    options.threads = 1;
    options.progress = NULL;
    if (bm_comm_self_new(&comm, ds->a))
        return NULL;
    if (!bm_dataset_open(&out, comm, BM_MODE_READ, ds->store.path, &options,
                         ds->a) &&
        !memcmp(out->id, ds->id, sizeof(ds->id)) &&
        bm_store_same(&out->store, &ds->store))
        return out;
    if (out) {
        bm_dataset_end(out);
        bm_dataset_free(out);
    }
    return NULL;
}

/* Fewer lanes than wanted will do. */
static int open_lanes(struct lanes *l)
{
    struct bouma_dataset *ds = l->series->ds;
    size_t wanted = count_lanes(l->series);

    l->all = bm_new(ds->a, wanted, sizeof(*l->all));
    l->failed = bm_new(ds->a, wanted, sizeof(*l->failed));
    l->status = bm_new(ds->a, wanted, sizeof(*l->status));
    if (!l->all || !l->failed || !l->status)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    do {
        l->all[l->count].ds = l->count ? open_again(ds) : ds;
        l->all[l->count].model = l->series->request->variable;
    } while (l->all[l->count].ds && ++l->count < wanted);
    return BOUMA_OK;
}

static void close_lanes(struct lanes *l)
{
    struct bouma_dataset *ds = l->series->ds;

    for (size_t i = 0; i < l->count; i++) {
        struct bouma_dataset *own = l->all[i].ds;

        bm_series_leave(&l->all[i]);
        if (own == ds)
            continue;
        ds->store.bytes_read += own->store.bytes_read;
        ds->store.files_opened += own->store.files_opened;
        bm_dataset_end(own);
        bm_dataset_free(own);
    }
    bm_drop(ds->a, l->status);
    bm_drop(ds->a, l->failed);
    bm_drop(ds->a, l->all);
}

static int read_one(void *context, size_t i, size_t worker)
{
    struct lanes *l = context;
    const struct bm_series *s = l->series;
    struct bm_read_request r = *s->request;
    size_t at = l->first + i;

    if (r.to.data)
        r.to.data += (int64_t)at * s->stride;
    l->failed[worker] = at;
    l->status[worker] = bm_series_read_step(
        &l->all[worker], (uint64_t)s->steps[at],
        l->known[i].generation.epoch ? &l->known[i] : NULL, &r);
    return l->status[worker];
}

/* Read the steps of a wave. Steps are begun in their order, so all before the
 * first that fails are read. */
static int read_wave(struct lanes *l, size_t count, size_t *done)
{
    struct bouma_dataset *ds = l->series->ds;
    size_t first = 0;

    for (size_t i = 0; i < count; i++) {
        const struct bm_step_entry *e =
            is_alone(ds) && ds->found.listed
                ? bm_step_list_find(&ds->found.steps,
                                    (uint64_t)l->series->steps[l->first + i])
                : NULL;

        l->known[i] = e ? *e : (struct bm_step_entry){0, 0, {0, 0}};
    }
    for (size_t i = 0; i < l->count; i++)
        l->status[i] = BOUMA_OK;
    if (!bm_parallel_for(read_one, l, count, l->count)) {
        *done += count;
        return BOUMA_OK;
    }
    for (size_t i = 1; i < l->count; i++)
        if (l->status[i] &&
            (!l->status[first] || l->failed[i] < l->failed[first]))
            first = i;
    *done = l->failed[first];
    if (first)
        ds->error = l->all[first].ds->error;
    return l->status[first];
}

int bm_series_read(size_t *done, const struct bm_series *s)
{
    struct bouma_dataset *ds = s->ds;
    struct lanes *l = bm_new(ds->a, 1, sizeof(*l));
    int rc = BOUMA_OK;

    *done = 0;
    if (!l)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    if (l)
        l->series = s;
    if (!rc && is_alone(ds) && s->count >= LIST_STEPS)
        rc = bm_dataset_list(ds);
    if (!rc)
        rc = open_lanes(l);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    for (; !rc && l->first < s->count; l->first += WAVE_STEPS) {
        size_t left = s->count - l->first;

        rc = read_wave(l, left < WAVE_STEPS ? left : WAVE_STEPS, done);
    }
    if (l)
        close_lanes(l);
    bm_drop(ds->a, l);
    return rc;
}
