/* fetcher.c -- see fetcher.h. */
#include "read/fetcher.h"

#include <stdatomic.h>
#include <string.h>

#include "base/parallel_for.h"

#define THREAD_BYTES ((double)(256 << 10)) /* that a thread is started for */
#define CHECK_PART   4 /* checking is faster than other work by this factor */
#define WAVE_BYTES   ((size_t)4 << 20) /* in the rooms of turns, */
#define WAVE_TURNS   512               /* of which there are some */
#define ROOM_ALIGN   64

/* ---- reading ------------------------------------------------------------- */

enum { PLAN, BY_TAG, RAW }; /* rooms */

void bm_fetcher_release(struct bm_fetcher *f)
{
    for (int i = 0; i < 3; i++)
        bm_drop(f->step->ds->a, f->room[i].data);
    memset(f->room, 0, sizeof(f->room));
}

int bm_fetcher_begin(struct bm_fetcher *f, size_t source, size_t tags)
{
    const bouma_allocator *a = f->step->ds->a;

    f->source = source;
    f->count = 0;
    f->tags = tags;
    if (bm_block_grow(a, &f->room[PLAN], tags * sizeof(*f->plan)) ||
        bm_block_grow(a, &f->room[BY_TAG], tags * sizeof(*f->by_tag)))
        return BOUMA_ENOMEM;
    f->plan = f->room[PLAN].data;
    f->by_tag = f->room[BY_TAG].data;
    return BOUMA_OK;
}

void bm_fetcher_add(struct bm_fetcher *f, const struct bm_section *section,
                    size_t chunk, int level, size_t tag)
{
    size_t at = chunk * (size_t)section->levels + (size_t)level;

    f->plan[f->count++] = (struct bm_extent){.offset = section->offsets[at],
                                             .bytes = section->sizes[at],
                                             .level = level,
                                             .section = section,
                                             .chunk = chunk,
                                             .tag = tag};
}

int bm_fetcher_read(struct bm_fetcher *f)
{
    int rc = f->shelf ? bm_extents_fetch(f->step, f->source, f->plan, f->count,
                                         f->shelf)
                      : bm_extents_read(f->step, f->source, f->plan, f->count,
                                        f->exact, &f->room[RAW]);

    for (size_t i = 0; i < f->tags; i++)
        f->by_tag[i] = NULL;
    for (size_t i = 0; i < f->count; i++)
        f->by_tag[f->plan[i].tag] = &f->plan[i];
    return rc;
}

static int check_one(void *context, const struct bm_turn *turn)
{
    const struct bm_fetcher *f = context;

    return bm_extent_check(f->step, f->source, &f->plan[turn->number],
                           turn->error);
}

int bm_fetcher_check(struct bm_fetcher *f)
{
    struct bm_work work = {
        .context = f, .count = f->count, .name = "check", .run = check_one};

    for (size_t i = 0; i < f->count; i++)
        work.bytes += f->plan[i].bytes;
    work.bytes /= CHECK_PART;
    return bm_work_run(f->step, &work);
}

/* ---- work ---------------------------------------------------------------- */

int bm_workers_init(struct bouma_step *step)
{
    int threads = bm_dataset_threads(step->ds);

    step->workers =
        bm_new(step->ds->a, (size_t)threads, sizeof(*step->workers));
    if (!step->workers)
        return BOUMA_ENOMEM;
    step->worker_count = threads;
    for (int i = 0; i < threads; i++)
        bm_coder_init(&step->workers[i].coder, step->ds->a);
    return BOUMA_OK;
}

void bm_workers_release(struct bouma_step *step)
{
    for (int i = 0; i < step->worker_count; i++)
        bm_coder_release(&step->workers[i].coder);
    for (int i = 0; i < BM_SPARE_BLOCKS; i++)
        bm_drop(step->ds->a, step->spare[i].data);
    memset(step->spare, 0, sizeof(step->spare));
    bm_drop(step->ds->a, step->workers);
    step->workers = NULL;
    step->worker_count = 0;
}

/* Turns that are run at once, before any of them is delivered. */
struct wave {
    struct bouma_step *step;
    const struct bm_work *work;
    size_t first, count;
    atomic_size_t run;     /* of all turns */
    size_t at[WAVE_TURNS]; /* where the room of each is */
};

static struct bm_turn turn_of(const struct wave *w, size_t i, size_t worker)
{
    struct bm_worker *own = &w->step->workers[worker];

    return (struct bm_turn){
        .number = w->first + i,
        .room =
            w->work->room ? (uint8_t *)w->work->memory->data + w->at[i] : NULL,
        .coder = &own->coder,
        .error = &own->error};
}

static int run_one(void *context, size_t i, size_t worker)
{
    struct wave *w = context;
    struct bm_turn turn = turn_of(w, i, worker);
    struct bm_trace *trace = w->step->ds->engine.tracing.trace;
    double begun = bm_trace_now(trace);
    int rc = w->work->run(w->work->context, &turn);
    size_t run = atomic_fetch_add(&w->run, 1) + 1;

    if (trace)
        bm_trace_add(trace, "chunk", w->work->name, begun,
                     &(struct bm_trace_args){.counted = "number",
                                             .number = turn.number});
    if (rc) {
        w->step->workers[worker].failed = turn.number;
        w->step->workers[worker].status = rc;
    }
    if (!worker && w->work->progress)
        w->work->progress(w->work->context, run);
    return rc;
}

/* Which turns are next, and where their rooms are: no more of them than the
 * memory limit allows, but one. BOUMA_OK or ENOMEM. */
static int plan_wave(struct wave *w)
{
    const struct bm_work *work = w->work;
    size_t left = work->count - w->first, bytes = 0;
    size_t workers = (size_t)w->step->worker_count;
    uint64_t limit = w->step->ds->store.memory_limit;

    w->count = 0;
    if (!work->deliver && !work->room) {
        w->count = left;
        return BOUMA_OK;
    }
    do {
        size_t at = (bytes + ROOM_ALIGN - 1) / ROOM_ALIGN * ROOM_ALIGN;
        size_t room =
            work->room ? work->room(work->context, w->first + w->count) : 0;

        if (w->count && at + room > limit)
            break;
        bytes = at + room;
        w->at[w->count++] = at;
    } while (w->count < left && w->count < WAVE_TURNS && workers > 1 &&
             (bytes < WAVE_BYTES || w->count < workers));
    return work->room ? bm_block_grow(w->step->ds->a, work->memory, bytes)
                      : BOUMA_OK;
}

/* How many threads so much work is worth. */
static size_t threads_for(const struct wave *w, double bytes)
{
    double parts = 1 + bytes / THREAD_BYTES;
    size_t most = (size_t)w->step->worker_count;

    most = most < w->count ? most : w->count;
    return parts < (double)most ? (size_t)parts : most;
}

/* Why the first turn has failed of those that did: whoever takes a turn ends
 * it, and they are taken in their order. */
static int tell_first(struct bouma_step *step, size_t threads)
{
    const struct bm_worker *first = NULL;

    for (size_t i = 0; i < threads; i++) {
        const struct bm_worker *worker = &step->workers[i];

        if (worker->status && (!first || worker->failed < first->failed))
            first = worker;
    }
    if (!first)
        return BOUMA_OK;
    if (first->error.status)
        step->ds->error = first->error;
    return first->status;
}

static int run_wave(struct wave *w)
{
    const struct bm_work *work = w->work;
    size_t threads =
        threads_for(w, work->bytes * (double)w->count / (double)work->count);
    int rc;

    for (size_t i = 0; i < threads; i++) {
        bm_error_clear(&w->step->workers[i].error);
        w->step->workers[i].status = BOUMA_OK;
    }
    bm_parallel_for(run_one, w, w->count, threads);
    rc = tell_first(w->step, threads);
    if (rc)
        return rc;
    if (threads > 1 && work->progress) /* others may have had the last ones */
        work->progress(work->context, w->first + w->count);
    for (size_t i = 0; i < w->count && work->deliver && !rc; i++) {
        struct bm_turn turn = turn_of(w, i, 0);

        rc = work->deliver(work->context, &turn);
        if (rc && turn.error->status)
            w->step->ds->error = *turn.error;
    }
    return rc;
}

int bm_work_run(struct bouma_step *step, const struct bm_work *work)
{
    struct wave w = {.step = step, .work = work};
    int rc = BOUMA_OK;

    for (; w.first < work->count && !rc; w.first += w.count)
        rc = plan_wave(&w)
                 ? bm_fail(&step->ds->error, BOUMA_ENOMEM, "no memory to read")
                 : run_wave(&w);
    return rc;
}
