/* read_all.c -- boxes of samples, for all ranks together. Each chunk is read
 * and decoded by one of the ranks that want it; what others want of it goes
 * through that one's buffers (engine/pipe.h), of which it makes the next while
 * they get theirs out of the last. */
#include <string.h>

#include "base/search.h"
#include "engine/flow_builder.h"
#include "read/read_plan.h"
#include "read/read_tiles.h"

/* What this rank reads of a group. */
struct own_chunks {
    const struct bm_read_group *group;
    const int64_t *chunks; /* [count], ascending */
    uint64_t *keys;        /* of them */
    size_t *first_part;    /* of each, in stream.part_at */
    size_t count;
    size_t planned; /* so far */
};

/* A chunk that this rank reads. */
struct cursor {
    size_t group, chunk; /* in own_chunks.chunks */
};

/* A part of a chunk that another rank reads for this one. */
struct want {
    uint32_t number; /* of the request */
    struct bm_footprint part;
};

/* What others want of this rank's chunks, in the stream that this rank reads for
 * them. */
struct stream {
    uint64_t *part_at; /* where each part is in it */
    size_t part_count;
    struct cursor *rounds; /* the chunks with which its rounds begin */
    uint64_t *round_at;
    size_t round_count;
    struct cursor rest; /* the chunk behind the last */
};

/* The chunks that are being fetched. */
struct fetching {
    const struct own_chunks *own;
    uint8_t *buffer; /* of a round that begins here in the stream: */
    uint64_t buffer_at;
    uint64_t done, total; /* chunks */
};

struct collective {
    struct bouma_step *step;
    const struct bm_read_request *requests;
    struct bm_read_plan plan;
    struct own_chunks *own; /* [plan.group_count] */
    struct bm_flow_builder flows;
    struct bm_pipe *pipe;
    struct stream stream;
    struct want *wants;
    size_t want_count;
    struct fetching fetching;
};

/* A part of a chunk as it goes into a message: dense, one component after the
 * other. */
static struct bm_target dense_part(const struct bouma_variable *v,
                                   const struct bm_footprint *part,
                                   uint8_t *data)
{
    struct bm_target t = {*part, bm_array_planar(v, data, part->count)};

    return t;
}

/* ---- the plan ----------------------------------------------------------- */

/* A part of a chunk that another rank gets from this one: behind those that
 * are in the stream. */
static int add_part(struct collective *c, int wanting, uint64_t bytes)
{
    uint64_t *grown = bm_grow(c->step->ds->a, c->stream.part_at,
                              c->stream.part_count, sizeof(*c->stream.part_at));

    if (!grown)
        return BOUMA_ENOMEM;
    c->stream.part_at = grown;
    grown[c->stream.part_count++] = bm_flow_builder_add(
        &c->flows, c->step->ds->comm->rank, wanting, bytes, 0);
    return BOUMA_OK;
}

/* A part of a chunk that this rank gets from another. */
static int add_want(struct collective *c, int reader, uint32_t number,
                    const struct bm_footprint *part, uint64_t bytes)
{
    struct want *grown =
        bm_grow(c->step->ds->a, c->wants, c->want_count, sizeof(*c->wants));

    if (!grown)
        return BOUMA_ENOMEM;
    c->wants = grown;
    bm_flow_builder_add(&c->flows, reader, c->step->ds->comm->rank, bytes,
                        c->want_count);
    grown[c->want_count++] = (struct want){number, *part};
    return BOUMA_OK;
}

/* A round begins 'at' there, with a chunk; the first with all before it. */
static int add_round(struct stream *s, const bouma_allocator *a, uint64_t at,
                     struct cursor first)
{
    struct cursor *rounds =
        bm_grow(a, s->rounds, s->round_count, sizeof(*rounds));
    uint64_t *round_at =
        bm_grow(a, s->round_at, s->round_count, sizeof(*round_at));

    s->rounds = rounds ? rounds : s->rounds;
    s->round_at = round_at ? round_at : s->round_at;
    if (!rounds || !round_at)
        return BOUMA_ENOMEM;
    round_at[s->round_count] = at;
    rounds[s->round_count] = s->round_count ? first : (struct cursor){0, 0};
    s->round_count++;
    return BOUMA_OK;
}

/* The bytes of a chunk that its reader has for others. */
static uint64_t chunk_bytes(const struct bm_read_group *g, int64_t chunk)
{
    uint64_t bytes = 0;

    for (int64_t k = g->partition.first[chunk];
         k < g->partition.first[chunk + 1]; k++) {
        struct bm_footprint part = bm_partition_part(&g->partition, chunk, k);

        if (g->blocks[g->partition.part[k]].rank != g->owner[chunk])
            bytes += bm_read_part_bytes(g->variable, &part);
    }
    return bytes;
}

/* A chunk that this rank reads begins in the stream. */
static int begin_own(struct collective *c, struct own_chunks *own,
                     int begins_round)
{
    struct bouma_dataset *ds = c->step->ds;
    struct cursor cursor = {(size_t)(own - c->own), own->planned - 1};

    c->stream.rest = (struct cursor){cursor.group, cursor.chunk + 1};
    return begins_round
               ? add_round(&c->stream, ds->a,
                           bm_flow_builder_bytes(&c->flows, ds->comm->rank),
                           cursor)
               : BOUMA_OK;
}

/* What goes between ranks of one chunk. All ranks that its reader's stream
 * concerns go through its chunks in the same order. */
static int plan_chunk(struct collective *c, struct own_chunks *own,
                      int64_t chunk)
{
    struct bouma_dataset *ds = c->step->ds;
    const struct bm_read_group *g = own->group;
    const struct bm_chunking *chunking = &g->partition.chunking;
    int me = ds->comm->rank, reader = g->owner[chunk], rc = BOUMA_OK;
    uint64_t bytes = chunk_bytes(g, chunk);
    int begins;

    if (reader == me) {
        own->first_part[own->planned] = c->stream.part_count;
        own->keys[own->planned++] = chunking->calls->key(chunking->own, chunk);
        c->fetching.total++;
    }
    if (!bytes)
        return rc;
    begins = bm_flow_builder_fit(&c->flows, reader, bytes,
                                 ds->engine.env.buffer_bytes);
    if (reader == me)
        rc = begin_own(c, own, begins);
    for (int64_t k = g->partition.first[chunk];
         k < g->partition.first[chunk + 1] && !rc; k++) {
        uint32_t request = g->partition.part[k];
        int rank = g->blocks[request].rank;
        struct bm_footprint part = bm_partition_part(&g->partition, chunk, k);

        bytes = bm_read_part_bytes(g->variable, &part);
        if (rank == reader || !bytes)
            continue;
        if (reader == me)
            rc = add_part(c, rank, bytes);
        else if (rank == me)
            rc = add_want(c, reader, g->number[request], &part, bytes);
        else
            bm_flow_builder_add(&c->flows, reader, rank, bytes, 0);
    }
    return rc;
}

/* The stream of one that reads. */
static int plan_stream(struct collective *c, int reader)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < c->plan.group_count; i++) {
        const struct bm_read_group *g = &c->plan.groups[i];
        size_t begin, end;

        bm_read_group_find(g, reader, &begin, &end);
        for (size_t k = begin; k < end && !rc; k++)
            rc = plan_chunk(c, &c->own[i], g->by_owner[k]);
    }
    return rc;
}

/* Memory for what this rank reads. */
static int find_own(struct collective *c)
{
    const bouma_allocator *a = c->step->ds->a;

    c->own = bm_new(a, c->plan.group_count, sizeof(*c->own));
    if (!c->own)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < c->plan.group_count; i++) {
        const struct bm_read_group *g = &c->plan.groups[i];
        struct own_chunks *own = &c->own[i];
        size_t begin, end;

        bm_read_group_find(g, c->step->ds->comm->rank, &begin, &end);
        own->group = g;
        own->chunks = g->by_owner + begin;
        own->count = end - begin;
        own->keys = bm_new_raw(a, own->count, sizeof(*own->keys));
        own->first_part = bm_new_raw(a, own->count, sizeof(*own->first_part));
        if (!own->keys || !own->first_part)
            return BOUMA_ENOMEM;
    }
    return BOUMA_OK;
}

static int make_pipe(struct collective *c);

static int plan_streams(struct collective *c)
{
    struct bouma_dataset *ds = c->step->ds;
    int rc = bm_flow_builder_init(&c->flows, ds->comm);
    int *readers = NULL;
    size_t count = 0;

    if (!rc)
        rc = find_own(c);
    if (!rc)
        rc = bm_read_plan_readers(&c->plan, ds->comm->rank, &readers, &count);
    for (size_t i = 0; i < count && !rc; i++)
        rc = plan_stream(c, readers[i]);
    bm_drop(ds->a, readers);
    if (!rc && c->plan.shared)
        rc = make_pipe(c);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to plan the read");
    return rc;
}

/* ---- chunks ------------------------------------------------------------- */

/* Chunks come in the order of files, parts are in that of their numbers. */
static size_t first_part(const struct own_chunks *own, int64_t chunk)
{
    size_t at = 0;

    BM_BISECT(at, own->count, i, own->chunks[i] <= chunk);
    return own->first_part[at];
}

/* A chunk that this rank read: to its own requests, and into the buffer. */
static int give_to_group(void *context, const struct bm_decoding *d,
                         struct bm_error *error)
{
    struct collective *c = context;
    const struct bm_read_group *g = c->fetching.own->group;
    const struct bouma_variable *v = g->variable;
    const struct bm_chunking *chunking = &g->partition.chunking;
    int64_t chunk = chunking->calls->find(chunking->own, d->key);
    size_t next = first_part(c->fetching.own, chunk);

    (void)error;
    for (int64_t k = g->partition.first[chunk];
         k < g->partition.first[chunk + 1]; k++) {
        uint32_t request = g->partition.part[k];
        struct bm_footprint part = bm_partition_part(&g->partition, chunk, k);

        if (g->blocks[request].rank == c->step->ds->comm->rank) {
            bm_read_give(d, &c->requests[g->number[request]]);
        } else if (bm_read_part_bytes(v, &part)) {
            struct bm_target target =
                dense_part(v, &part,
                           c->fetching.buffer + (c->stream.part_at[next++] -
                                                 c->fetching.buffer_at));

            v->object->layout->give(d, &target);
        }
    }
    return BOUMA_OK;
}

/* Read the chunks of this rank from one up to another. */
static int fetch_range(struct collective *c, struct cursor from,
                       struct cursor to)
{
    int rc = BOUMA_OK;

    for (size_t i = from.group; i < c->plan.group_count && i <= to.group && !rc;
         i++) {
        const struct own_chunks *own = &c->own[i];
        const struct bouma_variable *v = own->group->variable;
        size_t first = i == from.group ? from.chunk : 0;
        size_t end = i == to.group ? to.chunk : own->count;
        struct bm_fetch fetch = {.step = c->step,
                                 .variable = v,
                                 .fine = own->group->level,
                                 .coarse = v->object->levels - 1,
                                 .keys = own->keys + first,
                                 .count = end - first,
                                 .each = give_to_group,
                                 .context = c,
                                 .before = c->fetching.done,
                                 .total = c->fetching.total};

        c->fetching.own = own;
        if (end > first)
            rc = bm_fetch(&fetch);
        c->fetching.done += end - first;
    }
    return rc;
}

/* ---- the pipe ----------------------------------------------------------- */

/* A round of what this rank reads for others, with what it reads for itself in
 * between. */
static int load_round(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                      struct bm_error *error)
{
    struct collective *c = context;
    const struct stream *s = &c->stream;
    size_t round = 0;
    int rc;

    (void)bytes;
    BM_BISECT(round, s->round_count, i, s->round_at[i] <= at);
    c->fetching.buffer = data;
    c->fetching.buffer_at = at;
    rc = fetch_range(c, s->rounds[round],
                     round + 1 < s->round_count ? s->rounds[round + 1]
                                                : s->rest);
    return rc ? bm_fail(error, rc, "%s", c->step->ds->error.text) : rc;
}

/* From a buffer to the request it is for. */
static void take_part(void *context, size_t tag, const uint8_t *room)
{
    struct collective *c = context;
    const struct want *want = &c->wants[tag];
    const struct bm_read_request *to = &c->requests[want->number];
    const struct bm_footprint *part = &want->part;
    struct bm_footprint box = bm_footprint_of_box(&to->box);
    struct bm_footprint all = bm_footprint_at_level(&box, to->level);
    struct bm_array array = bm_array_part(&to->to, &all, part);
    struct bm_lattice l = {.start = {0, 0, 0}};
    size_t size = bm_variable_value_size(to->variable);
    size_t bytes = (size_t)bm_footprint_samples(part) * size;
    struct bm_strided s;

    memcpy(l.count, part->count, sizeof(l.count));
    s = bm_lattice_whole(&l, size);
    memcpy(s.stride, array.stride, sizeof(s.stride));
    for (size_t j = 0; j < (size_t)to->variable->components; j++)
        bm_lattice_unpack(&l, size, &s, bm_array_component(&array, (int)j),
                          room + j * bytes);
}

/* The rounds are made by this thread: reading has threads of its own. */
static int make_pipe(struct collective *c)
{
    struct bouma_dataset *ds = c->step->ds;
    struct bm_pipe_options options = bm_dataset_pipe(ds);
    struct bm_pipe_calls calls = {
        .context = c, .take = take_part, .store = load_round};

    options.reading = 1;
    options.unthreaded = 1;
    return bm_flow_builder_pipe(&c->flows, 0, &c->pipe, ds->comm, &options,
                                &calls);
}

/* Collective, up to the agreement that the caller makes. */
static int fetch_all(struct collective *c)
{
    struct bouma_dataset *ds = c->step->ds;
    int rc = BOUMA_OK;

    if (c->plan.shared)
        rc = bm_pipe_open(c->pipe, ds->comm, &ds->engine.pool, rc, &ds->error);
    if (!rc && c->plan.shared)
        rc = bm_pipe_run(c->pipe, 1, rc, &ds->error);
    if (!rc)
        rc = fetch_range(c, c->stream.rest,
                         (struct cursor){c->plan.group_count, 0});
    return rc;
}

static void release(struct collective *c)
{
    const bouma_allocator *a = c->step->ds->a;

    bm_pipe_free(c->pipe);
    bm_flow_builder_release(&c->flows);
    for (size_t i = 0; i < c->plan.group_count && c->own; i++) {
        bm_drop(a, c->own[i].keys);
        bm_drop(a, c->own[i].first_part);
    }
    bm_drop(a, c->own);
    bm_read_plan_release(&c->plan);
    bm_drop(a, c->stream.part_at);
    bm_drop(a, c->stream.rounds);
    bm_drop(a, c->stream.round_at);
    bm_drop(a, c->wants);
}

/* What is read for requests, as it is stored. */
struct reading {
    struct bm_read_request *inner;
    uint8_t *delivers; /* [count]: see bm_read_plan_make() */
    size_t count;
    int delivered; /* some of some rank */
};

static int read_stored(struct bouma_step *step, struct reading *reading, int rc)
{
    struct bouma_dataset *ds = step->ds;
    struct collective c;

    memset(&c, 0, sizeof(c));
    c.step = step;
    c.requests = reading->inner;
    rc = bm_comm_begin(ds->comm, "reading a step", step->manifest.step, NULL,
                       rc, &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc, "the ranks read different steps");
    if (!rc) {
        rc = bm_read_plan_make(&c.plan, step, reading->inner, reading->delivers,
                               reading->count, rc);
        if (!rc)
            rc = plan_streams(&c);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    if (!rc)
        rc = bm_comm_agree(ds->comm, fetch_all(&c), &ds->error);
    reading->delivered = c.plan.delivered;
    release(&c);
    return rc;
}

int bm_read_all(struct bouma_step *step, const struct bm_read_request *requests,
                size_t count, int rc)
{
    struct bouma_dataset *ds = step->ds;
    struct reading r = {bm_new(ds->a, count, sizeof(*r.inner)),
                        bm_new(ds->a, count, 1), count, 0};
    size_t n = 0;
    int read;

    if ((!r.inner || !r.delivers) && !rc)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    for (; n < count && !rc; n++) {
        r.delivers[n] =
            !bm_array_is_plain(&requests[n].to, requests[n].variable);
        rc = bm_tiles_request(&r.inner[n], step, &requests[n]);
    }
    rc = read = read_stored(step, &r, rc);
    for (size_t i = 0; i < n; i++) {
        if (!rc && bm_tiles_are_apart(&requests[i]))
            rc = bm_tiles_give(&requests[i], &r.inner[i], step);
        bm_tiles_drop(&r.inner[i], step, &requests[i]);
    }
    if (!read && r.delivered)
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    bm_drop(ds->a, r.inner);
    bm_drop(ds->a, r.delivers);
    return rc;
}
