/* pipeline_aggregate.c -- chunks of all ranks to a few that write files, by the
 * library's engine: its plan of files, its pipe and its storage, as a step of a
 * dataset is shipped (write/ship.c), but without a format.
 *
 * A file has its chunks one after the other, in the order in which they come:
 * their owners take turns. So what is gathered is stored as it is. */
#include <string.h>

#include "base/search.h"
#include "chunk_plan.h"
#include "engine/engine.h"
#include "engine/flow_builder.h"
#include "pipeline.h"
#include "plan/schedule.h"

/* A file that this rank gathers, and its place in the stream. */
struct arrival {
    uint64_t at, bytes;
    struct bm_file *file;
};

struct aggregate {
    const struct pipeline *pipeline;
    const struct bench_job *job;
    const bouma_allocator *a;
    struct bm_error error;
    struct bm_engine engine;
    struct chunk_plan plan;

    /* Of one call: */
    bool reading;
    uint8_t *const *data;
    struct bm_file *files; /* [plan.files.files]; open: those of this rank */
    struct arrival *arrivals;
    size_t arrival_count;
    struct bm_pipe *pipe;
};

/* ---- planning ------------------------------------------------------------ */

/* The first rank of a node: from the sizes of all ranks. */
static int make_plan(struct aggregate *g, const struct bm_buffer *all)
{
    const struct bench_job *job = g->job;
    size_t chunks = (size_t)job->comm->size * (size_t)job->variables;
    uint64_t *sizes = bm_new(g->a, chunks, sizeof(*sizes));
    struct bm_place_task place =
        bm_io_environment_place_task(&g->engine.env, job->options, job->comm);
    struct bm_cursor c = bm_cursor_of(all->data, all->size);
    int rc = sizes ? chunk_plan_init(&g->plan, g->a, job->grid, job->variables)
                   : BOUMA_ENOMEM;

    for (size_t i = 0; i < chunks && !rc; i++)
        sizes[i] = bm_get_u64(&c);
    if (!rc)
        rc = chunk_plan_make(&g->plan, sizes, (bouma_assign)g->pipeline->choice,
                             job->files, &place);
    bm_drop(g->a, sizes);
    return rc ? bm_fail(&g->error, rc, "no memory to plan files") : rc;
}

/* The sizes of all ranks to a rank of each node, and the plan from there.
 * Collective. */
static int plan_files(struct aggregate *g)
{
    const struct bench_job *job = g->job;
    int leads = bm_comm_leads(job->comm);
    size_t *lengths =
        bm_new(g->a, leads ? (size_t)job->comm->size : 0, sizeof(*lengths));
    struct bm_buffer mine, all;
    int rc = lengths ? BOUMA_OK : BOUMA_ENOMEM;

    if (rc)
        bm_fail(&g->error, rc, "no memory for the sizes of all ranks");
    chunk_plan_release(&g->plan);
    bm_buffer_init(&mine, g->a);
    bm_buffer_init(&all, g->a);
    for (size_t i = 0; i < (size_t)job->variables; i++)
        bm_put_u64(&mine, job->bytes[i]);
    rc = bm_comm_collect_at_nodes(job->comm, &mine, &all, lengths, rc,
                                  &g->error);
    if (!rc && leads)
        rc = make_plan(g, &all);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(g->a, lengths);
    return chunk_plan_share(&g->plan, g->a, job->comm, job->variables, rc,
                            &g->error);
}

/* ---- flows --------------------------------------------------------------- */

struct routes {
    struct aggregate *g;
    struct bm_flow_builder flows;
    struct bm_slot *slots; /* of the largest file */
    uint8_t *concerned;    /* [ranks]: some file of this writer concerns it */
};

/* Whether this rank writes the file or has chunks for it. */
static bool concerns(const struct aggregate *g, size_t file)
{
    const struct bm_assignment *files = &g->plan.files;
    int me = g->job->comm->rank;
    size_t first = chunk_plan_first(&g->plan, me);

    return files->writer[file] == me ||
           (files->first[file] < first + (size_t)g->plan.variables &&
            files->first[file + 1] > first);
}

static uint64_t file_bytes(const struct aggregate *g, size_t file)
{
    uint64_t bytes = 0;

    for (size_t c = g->plan.files.first[file];
         c < g->plan.files.first[file + 1]; c++)
        bytes += g->plan.bytes[c];
    return bytes;
}

/* The chunks of a file in the order of the stream. */
static void route_file(struct routes *r, size_t file)
{
    struct aggregate *g = r->g;
    const struct chunk_plan *plan = &g->plan;
    size_t first = plan->files.first[file], count = 0;
    int writer = plan->files.writer[file];

    for (size_t c = first; c < plan->files.first[file + 1]; c++)
        if (plan->bytes[c])
            r->slots[count++] = (struct bm_slot){
                (uint32_t)(c - first), plan->owner[c], plan->bytes[c], 0, 0, 0};
    bm_schedule(r->slots, count);
    for (size_t i = 0; i < count; i++) {
        const struct bm_slot *slot = &r->slots[i];
        size_t chunk = first + slot->index;
        uint64_t at =
            bm_flow_builder_add(&r->flows, writer, slot->owner, slot->bytes,
                                chunk % (size_t)plan->variables);

        if (writer == g->job->comm->rank && i == 0)
            g->arrivals[g->arrival_count++] =
                (struct arrival){at, file_bytes(g, file), &g->files[file]};
    }
}

/* All files of the writers that concern this rank, each from a new round on. Of
 * a file that does not, the bytes are enough. */
static void route_files(struct routes *r)
{
    struct aggregate *g = r->g;
    const int *writer = g->plan.files.writer;
    size_t files = (size_t)g->plan.files.files;

    for (size_t f = 0; f < files; f++)
        if (concerns(g, f))
            r->concerned[writer[f]] = 1;
    for (size_t f = 0; f < files; f++) {
        if (!r->concerned[writer[f]])
            continue;
        bm_flow_builder_fit(&r->flows, writer[f], file_bytes(g, f), 0);
        if (concerns(g, f))
            route_file(r, f);
        else
            bm_flow_builder_skip(&r->flows, writer[f], file_bytes(g, f));
    }
}

/* Memory for what is put together, and for what comes of it. */
static int reserve_routes(struct routes *r)
{
    struct aggregate *g = r->g;
    const struct bm_assignment *files = &g->plan.files;
    size_t most = 0, incoming = 0;

    for (size_t f = 0; f < (size_t)files->files; f++) {
        size_t n = files->first[f + 1] - files->first[f];

        most = n > most ? n : most;
        incoming += files->writer[f] == g->job->comm->rank;
    }
    g->files = bm_new(g->a, (size_t)files->files, sizeof(*g->files));
    g->arrivals = bm_new_raw(g->a, incoming, sizeof(*g->arrivals));
    r->slots = bm_new_raw(g->a, most, sizeof(*r->slots));
    r->concerned = bm_new(g->a, (size_t)g->job->comm->size, 1);
    return g->files && g->arrivals && r->slots && r->concerned
               ? bm_flow_builder_init(&r->flows, g->job->comm)
               : BOUMA_ENOMEM;
}

/* ---- the pipe ------------------------------------------------------------ */

static uint8_t *bytes_of(void *context, size_t tag)
{
    struct aggregate *g = context;

    return g->data[tag];
}

/* A stretch of what this rank gathers, to its files or from them: parts of one
 * or more. */
static int keep(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                struct bm_error *error)
{
    struct aggregate *g = context;
    size_t i = 0;
    int rc = BOUMA_OK;

    BM_BISECT(i, g->arrival_count, k, g->arrivals[k].at <= at);
    for (; bytes && !rc && i < g->arrival_count; i++) {
        const struct arrival *c = &g->arrivals[i];
        uint64_t from = at - c->at, n = c->bytes - from;

        n = n < bytes ? n : bytes;
        rc = g->reading ? bm_file_read(c->file, data, n, from, error)
                        : bm_file_write(c->file, data, n, from, error);
        at += n;
        data += n;
        bytes -= n;
    }
    return rc || !bytes
               ? rc
               : bm_fail(error, BOUMA_ECOMM, "more came than was declared");
}

/* Where this rank gathers. */
static bouma_tier own_tier(const struct aggregate *g)
{
    const struct bm_assignment *files = &g->plan.files;

    for (int64_t f = 0; f < files->files; f++)
        if (files->writer[f] == g->job->comm->rank)
            return files->tier[f];
    return g->job->options->tier;
}

static int make_pipe(struct aggregate *g)
{
    const struct bm_options *o = g->job->options;
    struct bm_pipe_options options = {.reading = g->reading,
                                      .buffers = o->buffers,
                                      .transport = g->engine.env.transport,
                                      .tier = own_tier(g),
                                      .strict = o->tier != 0,
                                      .local = g->engine.env.local};
    struct bm_pipe_calls calls = {
        .context = g, .bytes = bytes_of, .store = keep};
    struct routes r = {.g = g};
    int rc = reserve_routes(&r);

    if (!rc) {
        route_files(&r);
        rc = bm_flow_builder_pipe(&r.flows, g->engine.env.buffer_bytes,
                                  &g->pipe, g->job->comm, &options, &calls);
    }
    bm_flow_builder_release(&r.flows);
    bm_drop(g->a, r.slots);
    bm_drop(g->a, r.concerned);
    return rc ? bm_fail(&g->error, rc, "no memory for the messages") : rc;
}

/* ---- files --------------------------------------------------------------- */

/* Open the files that this rank writes or reads. */
static int open_files(struct aggregate *g)
{
    char name[BM_NAME_BYTES];
    int rc = BOUMA_OK;

    for (size_t f = 0; f < (size_t)g->plan.files.files && !rc; f++) {
        if (g->plan.files.writer[f] != g->job->comm->rank)
            continue;
        pipeline_file(name, g->pipeline, (int64_t)f);
        rc = bm_file_open(&g->files[f], g->job->store, name,
                          g->reading ? BOUMA_OPEN_MODE_READ
                                     : BOUMA_OPEN_MODE_CREATE,
                          &g->error);
        if (!rc && !g->reading)
            rc = bm_file_reserve(&g->files[f], file_bytes(g, f), &g->error);
    }
    return rc;
}

static int close_files(struct aggregate *g, int rc)
{
    for (int64_t f = 0; f < g->plan.files.files && g->files; f++) {
        int closed;

        if (!g->files[f].store)
            continue;
        if (!rc && !g->reading && g->job->sync)
            rc = bm_file_sync(&g->files[f], &g->error);
        closed = bm_file_close(&g->files[f], &g->error);
        rc = rc ? rc : closed;
    }
    return rc;
}

static int transfer(struct aggregate *g, bool reading, uint8_t *const *data)
{
    struct bm_comm *comm = g->job->comm;
    int rc;

    bm_error_clear(&g->error);
    g->reading = reading;
    g->data = data;
    g->arrival_count = 0;
    rc = plan_files(g);
    if (!rc)
        rc = make_pipe(g);
    if (!rc)
        rc = open_files(g);
    /* Collective, as all that follows: no rank may be missing. */
    rc = bm_pipe_open(g->pipe, comm, &g->engine.pool, rc, &g->error);
    if (!rc)
        rc = bm_pipe_run(g->pipe, 1, rc, &g->error);
    rc = close_files(g, rc);
    bm_pipe_free(g->pipe);
    bm_drop(g->a, g->files);
    bm_drop(g->a, g->arrivals);
    g->pipe = NULL;
    g->files = NULL;
    g->arrivals = NULL;
    return rc ? pipeline_fail(g->job, &g->error) : DONE;
}

/* ---- the table ----------------------------------------------------------- */

static int open_aggregate(void **state, const struct pipeline *pipeline,
                          const struct bench_job *job)
{
    const bouma_allocator *a = job->comm->a;
    struct aggregate *g = bm_new(a, 1, sizeof(*g));
    struct bm_error none = {0};
    int rc = g ? BOUMA_OK : bm_fail(&none, BOUMA_ENOMEM, "no memory");

    *state = g;
    if (g) {
        g->pipeline = pipeline;
        g->job = job;
        g->a = a;
    }
    rc = bm_comm_agree(job->comm, rc, g ? &g->error : &none);
    if (!rc)
        rc = bm_io_environment_find(&g->engine.env, job->comm, job->options,
                                    &g->error);
    if (!rc)
        rc = bm_io_environment_choose_buffer(
            &g->engine.env, job->comm, job->options, job->store, &g->error);
    return rc ? pipeline_fail(job, g ? &g->error : &none) : DONE;
}

static int write_aggregate(void *state, const struct bench_job *job,
                           uint8_t *const *data)
{
    (void)job;
    return transfer(state, false, data);
}

static int read_aggregate(void *state, const struct bench_job *job,
                          uint8_t *const *data)
{
    (void)job;
    return transfer(state, true, data);
}

static void close_aggregate(void *state, const struct bench_job *job)
{
    struct aggregate *g = state;

    if (!g)
        return;
    bm_engine_release(&g->engine, job->comm);
    chunk_plan_release(&g->plan);
    bm_drop(g->a, g);
}

#define AGGREGATION(id, assign, about)                                         \
    const struct pipeline pipeline_##id = {.name = #id,                        \
                                           .help = about,                      \
                                           .open = open_aggregate,             \
                                           .write = write_aggregate,           \
                                           .read = read_aggregate,             \
                                           .close = close_aggregate,           \
                                           .choice = assign};
AGGREGATION(count, BOUMA_ASSIGN_COUNT,
            "by the library's engine, files of equally many chunks")
AGGREGATION(running, BOUMA_ASSIGN_RUNNING,
            "the same, files balanced by a running average")
AGGREGATION(optimal, BOUMA_ASSIGN_OPTIMAL,
            "the same, the largest file as small as can be")
