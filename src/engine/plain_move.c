/* plain_move.c -- what was declared for a plain file, between memory and the
 * file: the flows of it, and a pipe for them. See plain.h. */
#include "base/clock.h"
#include "engine/flow_builder.h"
#include "engine/plain.h"

/* ---- flows -------------------------------------------------------------- */

struct gathering {
    struct bouma_file *f;
    struct bm_plain_way *way;
    struct bm_flow_builder flows;
};

/* A stretch of a segment. */
static int add_piece(void *context, const struct bm_domain_stretch *s)
{
    struct gathering *g = context;
    struct bouma_file *f = g->f;
    const struct bm_segment *segment = &f->declared.domain.segments[s->segment];
    struct bm_piece piece = {segment->rank, s->at, s->bytes, 0};

    if (segment->rank == f->comm->rank) {
        struct bm_plain_way *way = g->way;
        struct bm_plain_source *sources =
            bm_grow(f->a, way->sources, way->source_count, sizeof(*sources));

        if (!sources)
            return BOUMA_ENOMEM;
        way->sources = sources;
        piece.tag = way->source_count++;
        sources[piece.tag] = (struct bm_plain_source){segment->tag, s->from};
    }
    bm_flow_builder_add_at(&g->flows,
                           f->declared.domain.cells[s->cell].gatherer, &piece);
    return BOUMA_OK;
}

/* Each cell is a round; segments lie in them, and may overlap. */
static int make_flows(struct gathering *g)
{
    struct bouma_file *f = g->f;
    const struct bm_domain *d = &f->declared.domain;
    int rc = bm_flow_builder_init(&g->flows, f->comm);

    for (size_t c = 0; c < d->cell_count && !rc; c++) {
        const struct bm_cell *cell = &d->cells[c];

        bm_flow_builder_fit(&g->flows, cell->gatherer, cell->bytes, 0);
        bm_flow_builder_skip(&g->flows, cell->gatherer, cell->bytes);
    }
    for (size_t s = 0; s < d->segment_count && !rc; s++)
        rc = bm_domain_walk(d, s, add_piece, g);
    return rc;
}

/* ---- moving ------------------------------------------------------------- */

static uint8_t *bytes_of(void *context, size_t tag)
{
    struct bouma_file *f = context;

    const struct bm_plain_source *source =
        &f->ways[f->call.reading].sources[tag];

    return (uint8_t *)f->call.data[source->variable] + source->from;
}

/* Store or load: a stretch of the stream is one or, with holes in the file,
 * several of the file. */
static int keep(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                struct bm_error *error, int reading)
{
    struct bouma_file *f = context;
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
    struct bouma_file *f = context;

    if (f->comm->rank == 0)
        f->options.progress(f->options.progress_user,
                            f->call.reading ? "reading" : "writing", done,
                            rounds);
}

static void forget_way(struct bm_plain_way *way, const bouma_allocator *a)
{
    bm_pipe_free(way->pipe);
    bm_drop(a, way->sources);
    *way = (struct bm_plain_way){.pipe = NULL};
}

void bm_plain_forget_ways(struct bouma_file *f)
{
    for (int i = 0; i < 2; i++)
        forget_way(&f->ways[i], f->a);
}

/* A pipe for what is declared, unless there is one. A file is mostly written
 * once, and then to make windows takes longer than they save, whatever a machine
 * file says. */
static int make_way(struct bouma_file *f, struct bm_plain_way *way, int reading)
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
    struct gathering g = {.f = f, .way = way};
    int rc;

    if (way->pipe)
        return BOUMA_OK;
    rc = make_flows(&g);
    if (!rc)
        rc = bm_flow_builder_pipe(&g.flows, 0, &way->pipe, f->comm, &o, &calls);
    bm_flow_builder_release(&g.flows);
    return rc ? bm_fail(&f->error, rc, "no memory to move what was declared")
              : rc;
}

/* The one that writes the first byte has room made for all, unless there are
 * wide holes in the file. */
static int reserve(struct bouma_file *f)
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

int bm_plain_move(struct bouma_file *f, void *const *data, int reading, int rc)
{
    struct bm_plain_way *way = &f->ways[reading];
    double begun = bm_clock();
    uint64_t most[3] = {0}; /* failed, seconds, seconds of storing */

    f->call.data = data;
    f->call.reading = reading;
    rc = bm_comm_begin(
        f->comm, reading ? "reading a plain file" : "writing a plain file", 0,
        NULL, rc, &f->error);
    if (rc)
        return rc;
    rc = make_way(f, way, reading);
    if (!rc && !reading)
        rc = reserve(f);
    rc = bm_pipe_open(way->pipe, f->comm, &f->engine.pool, rc, &f->error);
    if (!rc) {
        f->written |= !reading;
        rc = bm_pipe_run(way->pipe, 1, rc, &f->error);
        most[0] = rc != BOUMA_OK;
        most[1] = (uint64_t)((bm_clock() - begun) * 1e9);
        most[2] = (uint64_t)(bm_pipe_stats_of(way->pipe).seconds * 1e9);
        if (bm_comm_max(f->comm, most, 3, &f->error))
            rc = BOUMA_ECOMM;
        else if (most[0])
            rc = bm_comm_agree(f->comm, rc, &f->error);
        f->report.seconds = (double)most[1] * 1e-9;
        f->report.store_seconds = (double)most[2] * 1e-9;
    }
    if (rc)
        forget_way(way, f->a);
    else
        bm_pipe_rewind(way->pipe);
    f->call.data = NULL;
    return rc;
}
