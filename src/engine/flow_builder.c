/* flow_builder.c -- see flow_builder.h. */
#include "engine/flow_builder.h"

#include <stdlib.h>
#include <string.h>

int bm_flow_builder_init(struct bm_flow_builder *f, const struct bm_comm *comm)
{
    memset(f, 0, sizeof(*f));
    f->a = comm->a;
    f->rank = comm->rank;
    f->ranks = comm->size;
    f->made = bm_new(f->a, (size_t)f->ranks, sizeof(*f->made));
    return f->made ? BOUMA_OK : BOUMA_ENOMEM;
}

void bm_flow_builder_release(struct bm_flow_builder *f)
{
    for (int i = 0; i < f->ranks && f->made; i++) {
        bm_drop(f->a, f->made[i].parts);
        bm_drop(f->a, f->made[i].pieces);
    }
    if (f->a)
        bm_drop(f->a, f->made);
    memset(f, 0, sizeof(*f));
}

int bm_flow_builder_fit(struct bm_flow_builder *f, int gatherer, uint64_t bytes,
                        uint64_t most)
{
    struct bm_flow_made *m = &f->made[gatherer];
    struct bm_stream_part *parts;

    if (m->part_count && m->parts[m->part_count - 1].bytes + bytes <= most)
        return 0;
    parts = bm_grow(f->a, m->parts, m->part_count, sizeof(*parts));
    if (!parts) {
        f->failed = 1;
        return 0;
    }
    m->parts = parts;
    parts[m->part_count++] = (struct bm_stream_part){0, 0};
    return 1;
}

void bm_flow_builder_skip(struct bm_flow_builder *f, int gatherer,
                          uint64_t bytes)
{
    struct bm_flow_made *m = &f->made[gatherer];

    m->bytes += bytes;
    if (!m->part_count)
        bm_flow_builder_fit(f, gatherer, bytes, 0);
    if (m->part_count)
        m->parts[m->part_count - 1].bytes += bytes;
}

/* Keep a piece that concerns this rank. */
static void keep(struct bm_flow_builder *f, int gatherer,
                 const struct bm_piece *piece)
{
    struct bm_flow_made *m = &f->made[gatherer];
    struct bm_piece *pieces;

    if (piece->rank != f->rank && gatherer != f->rank)
        return;
    m->concerned = 1;
    pieces = bm_grow(f->a, m->pieces, m->count, sizeof(*pieces));
    if (!pieces) {
        f->failed = 1;
        return;
    }
    m->pieces = pieces;
    pieces[m->count++] = *piece;
}

uint64_t bm_flow_builder_add(struct bm_flow_builder *f, int gatherer, int rank,
                             uint64_t bytes, size_t tag)
{
    uint64_t at = f->made[gatherer].bytes;

    bm_flow_builder_skip(f, gatherer, bytes);
    keep(f, gatherer, &(struct bm_piece){rank, at, bytes, tag});
    return at;
}

void bm_flow_builder_place(struct bm_flow_builder *f, int gatherer,
                           const struct bm_piece *piece)
{
    f->made[gatherer].placed = 1;
    keep(f, gatherer, piece);
}

uint64_t bm_flow_builder_bytes(const struct bm_flow_builder *f, int gatherer)
{
    return f->made[gatherer].bytes;
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

/* The rounds of what was made; the pieces change hands. */
static int seal_one(struct bm_flow_builder *f, uint64_t buffer,
                    struct bm_flow *flow, int gatherer)
{
    struct bm_flow_made *m = &f->made[gatherer];
    uint64_t largest = 1;

    for (size_t i = 0; i < m->part_count; i++)
        largest = m->parts[i].bytes > largest ? m->parts[i].bytes : largest;
    if (m->placed && m->count)
        qsort(m->pieces, m->count, sizeof(*m->pieces), by_place);
    flow->gatherer = gatherer;
    flow->pieces = m->pieces;
    flow->count = m->count;
    m->pieces = NULL;
    return bm_rounds_init(&flow->rounds, f->a, m->parts, m->part_count,
                          buffer ? buffer : largest);
}

int bm_flow_builder_seal(struct bm_flow_builder *f, uint64_t buffer,
                         struct bm_flow **out, size_t *count)
{
    size_t n = 0;
    int rc = BOUMA_OK;

    *out = NULL;
    *count = 0;
    if (f->failed)
        return BOUMA_ENOMEM;
    for (int i = 0; i < f->ranks; i++)
        n += f->made[i].concerned != 0;
    *out = bm_new(f->a, n, sizeof(**out));
    if (!*out)
        return BOUMA_ENOMEM;
    for (int i = 0; i < f->ranks && !rc; i++)
        if (f->made[i].concerned)
            rc = seal_one(f, buffer, &(*out)[(*count)++], i);
    if (rc) {
        bm_flows_free(f->a, *out, *count);
        *out = NULL;
        *count = 0;
    }
    return rc;
}

int bm_flow_builder_pipe(struct bm_flow_builder *f, uint64_t buffer,
                         struct bm_pipe **out, struct bm_comm *comm,
                         const struct bm_pipe_options *options,
                         const struct bm_pipe_calls *calls)
{
    struct bm_flow *flows;
    size_t count;
    int rc = bm_flow_builder_seal(f, buffer, &flows, &count);

    return rc ? rc : bm_pipe_new(out, comm, flows, count, options, calls);
}
