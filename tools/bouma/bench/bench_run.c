/* bench_run.c -- see bench_run.h. */
#include "bench_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "content.h"
#include "rank_grid.h"
#include "stopwatch.h"

#define DIRECTORY "bouma-bench"

struct bench {
    struct context *ctx;
    const struct bench_request *request;
    struct bench_report *report;
    struct bench_job job;
    struct bm_options options;
    struct bm_store store;
    bool made; /* the directory is there */
    void *states[PIPELINES_MOST];
    int opened;
    uint64_t *bytes; /* [variables], of this rank */
    uint8_t **data;  /* [variables] that are written */
    uint8_t **back;  /* [variables] that are read */
};

/* ---- what was measured --------------------------------------------------- */

void bench_report_release(struct bench_report *report)
{
    for (int i = 0; i < PIPELINES_MOST; i++) {
        for (int k = 0; k < BENCH_OPERATIONS; k++)
            free(report->results[i].seconds[k]);
        free(report->results[i].records);
        free(report->results[i].drained);
    }
    memset(report, 0, sizeof(*report));
}

static int reserve_report(struct bench *b)
{
    size_t n = (size_t)b->request->repetitions;

    for (int i = 0; i < b->request->count; i++) {
        struct bench_result *r = &b->report->results[i];

        for (int k = 0; k < BENCH_OPERATIONS; k++) {
            r->seconds[k] = calloc(n, sizeof(double));
            if (!r->seconds[k])
                return context_fail_memory(b->ctx);
        }
        if (b->request->pipelines[i]->own) {
            r->records = calloc(n, sizeof(*r->records));
            if (!r->records)
                return context_fail_memory(b->ctx);
        }
        if (b->request->options.persist) {
            r->drained = calloc(n, sizeof(*r->drained));
            if (!r->drained)
                return context_fail_memory(b->ctx);
        }
    }
    return DONE;
}

/* ---- buffers ------------------------------------------------------------- */

/* Whether there is a pipeline that takes them. */
static bool has_buffers(const struct bench *b)
{
    for (int i = 0; i < b->request->count; i++)
        if (!b->request->pipelines[i]->own)
            return true;
    return b->request->count == 0;
}

static int make_buffers(struct bench *b)
{
    const struct load_request *load = &b->request->load;
    int64_t rank = session_rank(b->ctx->session);
    size_t n = (size_t)load->variables;

    if (!has_buffers(b))
        return DONE;
    b->bytes = calloc(n, sizeof(*b->bytes));
    b->data = calloc(n, sizeof(*b->data));
    b->back = calloc(n, sizeof(*b->back));
    if (!b->bytes || !b->data || !b->back)
        return context_fail_memory(b->ctx);
    for (int i = 0; i < load->variables; i++) {
        uint64_t bytes = load_bytes(load, rank, i);

        b->bytes[i] = bytes;
        b->data[i] = content_new(bytes);
        b->back[i] = b->request->read ? content_new(bytes) : NULL;
        if (!b->data[i] || (b->request->read && !b->back[i]))
            return context_fail(b->ctx, DATA_AT_FAULT,
                                "no memory for the %" PRIu64
                                " bytes that rank %" PRId64
                                " has of variable %d",
                                bytes, rank, i);
        content_fill(b->data[i], bytes, (struct content){rank, i});
    }
    return DONE;
}

static void free_buffers(struct bench *b)
{
    for (int i = 0; i < b->request->load.variables; i++) {
        if (b->data)
            content_free(b->data[i]);
        if (b->back)
            content_free(b->back[i]);
    }
    free(b->bytes);
    free(b->data);
    free(b->back);
}

/* What all ranks have, and the one that has most. Collective. */
static void sum_bytes(struct bench *b)
{
    uint64_t mine = 0;
    double most;

    for (int i = 0; i < b->request->load.variables && b->bytes; i++)
        mine += b->bytes[i];
    if (!b->bytes)
        mine = b->request->pipelines[0]->own->bytes(&b->job);
    most = (double)mine;
    b->report->bytes = session_sum(b->ctx->session, mine);
    session_combine(b->ctx->session, &most, 1, SESSION_MAX);
    b->report->most = (uint64_t)most;
    b->report->ranks = session_size(b->ctx->session);
}

/* Nothing that was read before may pass for what is read now. */
static void clear_back(struct bench *b)
{
    for (int i = 0; i < b->request->load.variables && b->back; i++)
        memset(b->back[i], 0, b->bytes[i]);
}

static int verify(struct bench *b, const struct pipeline *pipeline, void *state)
{
    int64_t rank = session_rank(b->ctx->session);

    if (pipeline->own)
        return pipeline->own->verify(state, &b->job);
    for (int i = 0; i < b->request->load.variables; i++) {
        size_t bytes = b->bytes[i];
        size_t wrong =
            content_check(b->back[i], bytes, (struct content){rank, i});

        if (wrong < bytes)
            return context_fail(b->ctx, DATA_AT_FAULT,
                                "%s: byte %zu of %zu that rank %" PRId64
                                " has of variable %d is not what was written",
                                pipeline->name, wrong, bytes, rank, i);
    }
    return DONE;
}

/* ---- files --------------------------------------------------------------- */

/* Process 0 makes the directory, the others then use it. Collective. */
static int make_directory(struct bench *b)
{
    struct bm_error error = {0};
    int first = session_rank(b->ctx->session) == 0, rc = DONE;
    char *root = b->report->root;
    int length = snprintf(root, sizeof(b->report->root), "%s/%s",
                          b->request->directory, DIRECTORY);

    if (length < 0 || (size_t)length >= sizeof(b->report->root))
        rc = context_fail(b->ctx, CALL_AT_FAULT, "%s: the path is too long",
                          b->request->directory);
    if (!rc && first && access(root, F_OK) == 0)
        rc = context_fail(b->ctx, CALL_AT_FAULT,
                          "%s exists already: remove it, or choose another "
                          "directory",
                          root);
    if (!rc && first &&
        bm_store_open(&b->store, b->options.io, b->job.comm->a, root, 1,
                      &error))
        rc = pipeline_fail(&b->job, &error);
    b->made = !rc && first;
    for (int i = 0; i < b->request->count && !rc && first; i++)
        if (bm_store_make_dir(&b->store, b->request->pipelines[i]->name, 0,
                              &error))
            rc = pipeline_fail(&b->job, &error);
    rc = context_agree(b->ctx, rc);
    if (!rc && !first &&
        bm_store_open(&b->store, b->options.io, b->job.comm->a, root, 0,
                      &error))
        rc = pipeline_fail(&b->job, &error);
    return context_agree(b->ctx, rc);
}

/* The files of a pipeline: their names, to remove or to look at them. */
struct listing {
    struct bench *b;
    const struct pipeline *pipeline;
    struct bench_result *result; /* NULL: they are removed */
};

static int take_entry(void *context, const char *entry)
{
    struct listing *l = context;
    struct bm_error ignored = {0};
    struct bm_file file = {0};
    char name[BM_NAME_BYTES];
    uint64_t bytes = 0;

    if (entry[0] == '.')
        return 0;
    snprintf(name, sizeof(name), "%s/%s", l->pipeline->name, entry);
    if (!l->result) {
        bm_store_remove(&l->b->store, name);
        return 0;
    }
    if (!bm_file_open(&file, &l->b->store, name, BOUMA_OPEN_MODE_READ,
                      &ignored)) {
        bm_file_size(&file, &bytes, &ignored);
        bm_file_close(&file, &ignored);
    }
    l->result->files++;
    if (bytes > l->result->largest_file)
        l->result->largest_file = bytes;
    return 0;
}

/* Process 0 counts the files of a pipeline, or removes them ('result' is NULL).
 */
static int list_files(struct bench *b, const struct pipeline *pipeline,
                      struct bench_result *result)
{
    struct listing l = {b, pipeline, result};
    struct bm_error error = {0};

    if (result)
        result->files = result->largest_file = 0;
    return bm_store_list(&b->store, pipeline->name, take_entry, &l, &error)
               ? pipeline_fail(&b->job, &error)
               : DONE;
}

/* A directory with all that is in it. */
struct tree {
    struct bench *b;
    const char *name;
};

static int remove_below(void *context, const char *entry);

static void remove_tree(struct bench *b, const char *name)
{
    struct tree tree = {b, name};
    struct bm_error ignored = {0};

    /* Once more if that fails: it would leave all that is below. */
    if (bm_store_list(&b->store, name, remove_below, &tree, &ignored))
        bm_store_list(&b->store, name, remove_below, &tree, &ignored);
    bm_store_remove_dir(&b->store, name);
}

static int remove_below(void *context, const char *entry)
{
    const struct tree *tree = context;
    struct bm_store *store = &tree->b->store;
    char name[BM_NAME_BYTES];
    int length = snprintf(name, sizeof(name), "%s/%s", tree->name, entry);

    if (!strcmp(entry, ".") || !strcmp(entry, "..") || length < 0 ||
        (size_t)length >= sizeof(name))
        return 0;
    bm_store_remove(store, name);
    if (!bm_store_is_absent(store, name))
        remove_tree(tree->b, name);
    return 0;
}

/* What is left, and the directory, unless it is to be kept. */
static void remove_directory(struct bench *b, int rc)
{
    for (int i = 0; i < b->request->count && b->made; i++)
        if (rc || !b->request->keep)
            remove_tree(b, b->request->pipelines[i]->name);
    bm_store_close(&b->store);
    if (b->made && (rc || !b->request->keep))
        rmdir(b->report->root);
}

/* ---- turns --------------------------------------------------------------- */

/* One operation, from the moment when all are there to the one when all have
 * ended. Collective. */
static int time_operation(struct bench *b, int i,
                          enum bench_operation operation, double *seconds)
{
    const struct pipeline *p = b->request->pipelines[i];
    double start;
    int rc;

    session_sum(b->ctx->session, 0);
    start = stopwatch_now();
    rc = operation == BENCH_WRITE ? p->write(b->states[i], &b->job, b->data)
                                  : p->read(b->states[i], &b->job, b->back);
    rc = context_agree(b->ctx, rc);
    *seconds = stopwatch_now() - start;
    session_combine(b->ctx->session, seconds, 1, SESSION_MAX);
    return rc;
}

/* Look at the files of the last repetition, and remove those of others, if not
 * of all. Collective. */
static int end_turn(struct bench *b, int i, bool last)
{
    const struct pipeline *p = b->request->pipelines[i];
    bool keep = last && b->request->keep;
    int rc = DONE;

    if (p->own)
        return keep ? DONE : p->own->remove(b->states[i], &b->job);
    if (session_rank(b->ctx->session) == 0) {
        if (last)
            rc = list_files(b, p, &b->report->results[i]);
        if (!rc && !keep)
            rc = list_files(b, p, NULL);
    }
    return rc;
}

/* What the library says of the step that was written. Collective. */
static int take_record(struct bench *b, int i, int turn)
{
    const struct pipeline *p = b->request->pipelines[i];
    struct bench_result *result = &b->report->results[i];
    bouma_record record = {.size = sizeof(record)};
    int rc;

    if (!p->own)
        return DONE;
    rc = context_agree(b->ctx, p->own->record(b->states[i], &b->job, &record));
    result->files = (uint64_t)record.files;
    result->largest_file = record.largest_file;
    if (turn >= 0)
        result->records[turn] = record;
    return rc;
}

/* Wait for what was written to local storage; '*seconds' is what the write
 * took, and then with this. Collective. */
static int drain(struct bench *b, int i, double *seconds)
{
    double start = stopwatch_now(), more;
    int rc = context_agree(
        b->ctx, b->request->pipelines[i]->own->drain(b->states[i], &b->job));

    more = stopwatch_now() - start;
    session_combine(b->ctx->session, &more, 1, SESSION_MAX);
    *seconds += more;
    return rc;
}

/* Write, read and remove, by one pipeline; 'turn' is below 0 while all warm
 * up. Collective. */
static int take_turn(struct bench *b, int i, int turn)
{
    const struct pipeline *p = b->request->pipelines[i];
    struct bench_result *result = &b->report->results[i];
    bool last = turn == b->request->repetitions - 1;
    double seconds[BENCH_OPERATIONS] = {0}, drained;
    int rc = time_operation(b, i, BENCH_WRITE, &seconds[BENCH_WRITE]);

    drained = seconds[BENCH_WRITE];
    if (!rc && result->drained)
        rc = drain(b, i, &drained);
    if (result->drained && turn >= 0)
        result->drained[turn] = drained;
    if (!rc)
        rc = take_record(b, i, turn);
    if (!rc && b->request->read) {
        if (b->request->verify)
            clear_back(b);
        rc = time_operation(b, i, BENCH_READ, &seconds[BENCH_READ]);
        if (!rc && b->request->verify)
            rc = context_agree(b->ctx, verify(b, p, b->states[i]));
    }
    for (int k = 0; k < BENCH_OPERATIONS && turn >= 0; k++)
        result->seconds[k][turn] = seconds[k];
    if (!rc)
        rc = end_turn(b, i, last);
    return context_agree(b->ctx, rc);
}

/* Collective. */
static int open_pipelines(struct bench *b)
{
    int rc = DONE;

    for (int i = 0; i < b->request->count && !rc; i++) {
        const struct pipeline *p = b->request->pipelines[i];

        b->opened = i + 1;
        if (p->open)
            rc = context_agree(b->ctx, p->open(&b->states[i], p, &b->job));
    }
    return rc;
}

static void close_pipelines(struct bench *b)
{
    for (int i = 0; i < b->opened; i++)
        if (b->request->pipelines[i]->close)
            b->request->pipelines[i]->close(b->states[i], &b->job);
}

static int take_turns(struct bench *b)
{
    int n = b->request->count, rc = DONE;

    for (int turn = -b->request->warm_up; turn < b->request->repetitions;
         turn++)
        for (int k = 0; k < n && !rc; k++)
            rc = take_turn(b, (k + turn + b->request->warm_up) % n, turn);
    return rc;
}

/* ---- all of it ----------------------------------------------------------- */

static int begin(struct bench *b)
{
    struct bm_error error = {0};
    int status = bm_options_complete(&b->options, &b->request->options, &error);
    int rc = status ? context_fail_status(b->ctx, status, error.text) : DONE;

    rc = context_agree(b->ctx, rc);
    if (rc)
        return rc;
    status = session_comm(b->ctx->session, &b->job.comm,
                          bm_api_allocator(&b->request->options),
                          b->options.timeout, &error);
    if (status) /* on all ranks */
        return context_fail_status(b->ctx, status, error.text);
    b->job.comm->timeout = b->options.timeout;
    b->job.comm->message_bytes = b->options.message_bytes;
    rc = make_buffers(b);
    if (!rc)
        rc = reserve_report(b);
    return context_agree(b->ctx, rc);
}

int bench_run(struct bench_report *out, struct context *ctx,
              const struct bench_request *request)
{
    struct bench b = {.ctx = ctx, .request = request, .report = out};
    int rc;

    memset(out, 0, sizeof(*out));
    b.job = (struct bench_job){.ctx = ctx,
                               .options = &b.options,
                               .store = &b.store,
                               .root = out->root,
                               .variables = request->load.variables,
                               .files = request->files,
                               .sync = request->sync,
                               .request = request};
    memcpy(b.job.grid, request->load.grid, sizeof(b.job.grid));
    rc = begin(&b);
    if (!rc) {
        b.job.bytes = b.bytes;
        sum_bytes(&b);
        rc = make_directory(&b);
    }
    if (!rc)
        rc = open_pipelines(&b);
    if (!rc)
        rc = take_turns(&b);
    close_pipelines(&b);
    remove_directory(&b, rc);
    bm_comm_free(b.job.comm);
    free_buffers(&b);
    return rc;
}
