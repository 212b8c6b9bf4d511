/* plain_move.c -- what was declared for a plain file, between memory and the
 * file: the flows of it, and a pipe for them. See plain.h. */
#include <stdlib.h>

#include "base/clock.h"
#include "engine/plain.h"

/* ---- flows -------------------------------------------------------------- */

struct gathering {
    struct bouma_io_file *f;
    struct bm_flow *flows; /* by gatherer */
    size_t flow_count;
    int *flow_of; /* [ranks], -1: none */
    size_t *room; /* [flow_count] */
    int counting;
    size_t place;
};

/* A stretch of a segment; those of other ranks count if this rank gathers
 * them. */
static int add_piece(void *context, const struct bm_domain_stretch *s)
{
    struct gathering *g = context;
    struct bouma_io_file *f = g->f;
    const struct bm_segment *segment = &f->declared.domain.segments[s->segment];
    int me = f->comm->rank,
        gatherer = f->declared.domain.cells[s->cell].gatherer;
    int mine = segment->rank == me;
    struct bm_flow *flow;

    if (!mine && gatherer != me)
        return 0;
    if (g->counting) {
        if (g->flow_of[gatherer] < 0)
            g->flow_of[gatherer] = 0;
        g->room[gatherer]++;
        f->call.place_count += (size_t)mine;
        return 0;
    }
    flow = &g->flows[g->flow_of[gatherer]];
    if (mine)
        f->call.places[g->place] =
            (struct bm_source_place){segment->tag, s->from};
    flow->pieces[flow->count++] =
        (struct bm_piece){segment->rank, s->at, s->bytes, mine ? g->place : 0};
    g->place += (size_t)mine;
    return 0;
}

static int by_place(const void *left, const void *right)
{
    const struct bm_piece *a = left, *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

/* The flows that concern this rank. Segments ascend by offset, and so do the
 * places of their stretches in each flow; those that overlap are sorted, on
 * both sides alike. */
static int make_flows(struct gathering *g)
{
    struct bouma_io_file *f = g->f;
    const struct bm_domain *d = &f->declared.domain;
    int rc = BOUMA_OK;

    f->call.place_count = 0;
    g->flow_of = bm_new_raw(f->a, (size_t)f->comm->size, sizeof(*g->flow_of));
    g->room = bm_new(f->a, (size_t)f->comm->size, sizeof(*g->room));
    if (!g->flow_of || !g->room)
        return BOUMA_ENOMEM;
    for (int r = 0; r < f->comm->size; r++)
        g->flow_of[r] = -1;
    g->counting = 1;
    for (size_t s = 0; s < d->segment_count; s++)
        bm_domain_walk(d, s, add_piece, g);
    g->counting = 0;
    for (int r = 0; r < f->comm->size; r++)
        if (g->flow_of[r] == 0)
            g->flow_of[r] = (int)g->flow_count++;
    g->flows = bm_new(f->a, g->flow_count, sizeof(*g->flows));
    f->call.places =
        bm_new_raw(f->a, f->call.place_count, sizeof(*f->call.places));
    if (!g->flows || !f->call.places) {
        g->flow_count = 0;
        return BOUMA_ENOMEM;
    }
    for (int r = 0; r < f->comm->size && !rc; r++)
        if (g->flow_of[r] >= 0) {
            struct bm_flow *flow = &g->flows[g->flow_of[r]];

            flow->gatherer = r;
            flow->pieces = bm_new_raw(f->a, g->room[r], sizeof(*flow->pieces));
            rc = flow->pieces ? bm_domain_rounds(d, r, &flow->rounds)
                              : BOUMA_ENOMEM;
        }
    for (size_t s = 0; s < d->segment_count && !rc; s++)
        bm_domain_walk(d, s, add_piece, g);
    for (size_t i = 0; i < g->flow_count && !rc; i++)
        if (g->flows[i].count)
            qsort(g->flows[i].pieces, g->flows[i].count,
                  sizeof(*g->flows[i].pieces), by_place);
    return rc;
}

/* ---- moving ------------------------------------------------------------- */

static uint8_t *bytes_of(void *context, size_t tag)
{
    struct bouma_io_file *f = context;

    return (uint8_t *)f->call.data[f->call.places[tag].variable] +
           f->call.places[tag].from;
}

/* Store or load: a stretch of the stream is one or, with holes in the file,
 * several of the file. */
static int keep(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                struct bm_error *error, int reading)
{
    struct bouma_io_file *f = context;
    int rc = BOUMA_OK;

    while (bytes && !rc) {
        uint64_t run;
        uint64_t offset =
            bm_domain_offset(&f->declared.domain, f->comm->rank, at, &run);

        if (run > bytes)
            run = bytes;
        rc = reading ? bm_file_read(&f->file, data, run, offset, error)
                     : bm_file_write(&f->file, data, run, offset, error);
        at += run;
        data += run;
        bytes -= run;
    }
    return rc;
}

static int store(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                 struct bm_error *error)
{
    return keep(context, at, data, bytes, error, 0);
}

static int load(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                struct bm_error *error)
{
    return keep(context, at, data, bytes, error, 1);
}

static void tell_progress(void *context, size_t done, size_t rounds)
{
    struct bouma_io_file *f = context;

    if (f->comm->rank == 0)
        f->options.progress(f->options.progress_user,
                            f->call.reading ? "reading" : "writing", done,
                            rounds);
}

/* A pipe for what is declared. A file is mostly written once, and then to make
 * windows takes longer than they save, whatever a machine file says. */
static int make_pipe(struct bouma_io_file *f, struct bm_pipe **out, int reading)
{
    struct bm_pipe_options o = {
        .reading = reading,
        .buffers = f->options.buffers,
        .transport = f->options.transport ? f->options.transport
                                          : BOUMA_TRANSPORT_MESSAGES,
        .tier = f->declared.tier,
        .strict = f->options.tier != 0,
        .local = f->engine.env.local,
    };
    struct bm_pipe_calls calls = {
        .context = f,
        .bytes = bytes_of,
        .store = reading ? load : store,
        .progress = f->options.progress ? tell_progress : NULL,
    };
    struct gathering g = {.f = f};
    int rc = make_flows(&g);

    if (!rc)
        rc = bm_pipe_new(out, f->comm, g.flows, g.flow_count, &o, &calls);
    else
        bm_flows_free(f->a, g.flows, g.flow_count);
    bm_drop(f->a, g.flow_of);
    bm_drop(f->a, g.room);
    return rc ? bm_fail(&f->error, rc, "no memory to move what was declared")
              : rc;
}

/* The one that writes the first byte has room made for all, unless there are
 * wide holes in the file. */
static int reserve(struct bouma_io_file *f)
{
    const struct bm_domain *d = &f->declared.domain;
    const struct bm_covered *last;
    uint64_t end;

    if (!d->cell_count || d->cells[0].gatherer != f->comm->rank)
        return BOUMA_OK;
    last = &d->covered[d->covered_count - 1];
    end = last->offset + last->bytes;
    if (end - d->bytes > end / 8)
        return BOUMA_OK;
    return bm_file_reserve(&f->file, end, &f->error);
}

int bm_plain_move(struct bouma_io_file *f, void *const *data, int reading,
                  int rc)
{
    struct bm_pipe *pipe = NULL;
    double begun = bm_clock();
    uint64_t most[3] = {0}; /* failed, seconds, seconds of storing */

    f->call.data = data;
    f->call.reading = reading;
    rc = bm_comm_begin(
        f->comm, reading ? "reading a plain file" : "writing a plain file", 0,
        NULL, rc, &f->error);
    if (rc)
        return rc;
    rc = make_pipe(f, &pipe, reading);
    if (!rc && !reading)
        rc = reserve(f);
    rc = bm_pipe_open(pipe, f->comm, &f->engine.pool, rc, &f->error);
    if (!rc) {
        f->written |= !reading;
        rc = bm_pipe_run(pipe, 1, rc, &f->error);
        most[0] = rc != BOUMA_OK;
        most[1] = (uint64_t)((bm_clock() - begun) * 1e9);
        most[2] = (uint64_t)(bm_pipe_stats_of(pipe).seconds * 1e9);
        if (bm_comm_max(f->comm, most, 3, &f->error))
            rc = BOUMA_ECOMM;
        else if (most[0])
            rc = bm_comm_agree(f->comm, rc, &f->error);
        f->report.seconds = (double)most[1] * 1e-9;
        f->report.store_seconds = (double)most[2] * 1e-9;
    }
    bm_pipe_free(pipe);
    bm_drop(f->a, f->call.places);
    f->call.places = NULL;
    f->call.data = NULL;
    return rc;
}
