/* read_all.c -- boxes of samples, for all ranks together. Each chunk is read
 * and decoded by one of the ranks that want it; what others want of it goes
 * through that one's buffers (engine/pipe.h), of which it makes the next while
 * they get theirs out of the last. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "engine/flow_builder.h"
#include "plan/distribute.h"
#include "read/read_tiles.h"

#define REQUEST_BYTES 60
/* In the level of a request: what is read goes to its array later, which can
 * fail. */
#define DELIVERS ((uint32_t)1 << 31)

/* What some rank wants; 'number' is its index among that rank's requests. */
struct rank_request {
    uint32_t variable;
    int level;
    int rank;
    uint32_t number;
    struct bm_box box;
};

/* The requests for one variable at one level: who reads which chunk. */
struct group {
    const struct rank_request *rank_requests;
    size_t count;
    struct bm_block *blocks; /* one for each request */
    struct bm_partition partition;
    int *owner;
    int64_t *mine;      /* chunks that this rank reads, ascending */
    uint64_t *keys;     /* of them */
    size_t *first_part; /* of each, in stream.part_at */
    size_t mine_count;
};

/* A chunk that this rank reads. */
struct cursor {
    size_t group, chunk; /* in group.mine */
};

/* A part of a chunk that another rank reads for this one. */
struct want {
    const struct rank_request *rank_request;
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
    struct group *group;
    uint8_t *buffer; /* of a round that begins here in the stream: */
    uint64_t buffer_at;
    uint64_t done, total; /* chunks */
};

struct collective {
    struct bouma_step *step;
    const struct bm_read_request *requests;
    const uint8_t *delivers; /* [requests] */
    int delivered;           /* some of some rank */
    struct rank_request *rank_requests;
    size_t rank_request_count;
    struct group *groups;
    size_t group_count;
    struct bm_flow_builder flows;
    struct bm_pipe *pipe;
    struct stream stream;
    struct want *wants;
    size_t want_count;
    int shared; /* some chunk is wanted by several ranks */
    struct fetching fetching;
};

static int by_group(const void *left, const void *right)
{
    const struct rank_request *a = left, *b = right;

    if (a->variable != b->variable)
        return a->variable < b->variable ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Gather the requests of all ranks. Collective. */
static int gather_rank_requests(struct collective *c, size_t count, int rc)
{
    struct bouma_dataset *ds = c->step->ds;
    size_t *sizes = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    struct bm_cursor in;
    size_t n = 0;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    for (size_t i = 0; i < count && !rc; i++) {
        bm_put_u32(&mine, c->requests[i].variable->id);
        bm_put_u32(&mine, (uint32_t)c->requests[i].level |
                              (c->delivers[i] ? DELIVERS : 0));
        bm_put_u32(&mine, (uint32_t)i);
        for (int d = 0; d < 3; d++) {
            bm_put_i64(&mine, c->requests[i].box.lo[d]);
            bm_put_i64(&mine, c->requests[i].box.hi[d]);
        }
    }
    if (!sizes && !rc)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, rc, &ds->error);
    if (!rc) {
        c->rank_request_count = all.size / REQUEST_BYTES;
        c->rank_requests =
            bm_new_raw(ds->a, c->rank_request_count, sizeof(*c->rank_requests));
        if (!c->rank_requests)
            rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    }
    in = bm_cursor_of(all.data, all.size);
    for (int r = 0; r < ds->comm->size && !rc; r++)
        for (size_t i = 0; i < sizes[r] / REQUEST_BYTES; i++) {
            struct rank_request *w = &c->rank_requests[n++];
            uint32_t level;

            w->rank = r;
            w->variable = bm_get_u32(&in);
            level = bm_get_u32(&in);
            w->level = (int)(level & ~DELIVERS);
            c->delivered |= (level & DELIVERS) != 0;
            w->number = bm_get_u32(&in);
            for (int d = 0; d < 3; d++) {
                w->box.lo[d] = bm_get_i64(&in);
                w->box.hi[d] = bm_get_i64(&in);
            }
        }
    if (!rc && c->rank_request_count)
        qsort(c->rank_requests, c->rank_request_count,
              sizeof(*c->rank_requests), by_group);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

/* A part of a chunk as it goes into a message: dense, one component after the
 * other. */
static struct bm_target dense_part(const struct bouma_variable *v,
                                   const struct bm_footprint *part,
                                   uint8_t *data)
{
    struct bm_target t = {*part, bm_array_planar(v, data, part->count)};

    return t;
}

static size_t part_bytes(const struct bouma_variable *v,
                         const struct bm_footprint *part)
{
    return (size_t)bm_footprint_samples(part) * bm_variable_sample_size(v);
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
static int add_want(struct collective *c, int reader,
                    const struct rank_request *rank_request,
                    const struct bm_footprint *part, uint64_t bytes)
{
    struct want *grown =
        bm_grow(c->step->ds->a, c->wants, c->want_count, sizeof(*c->wants));

    if (!grown)
        return BOUMA_ENOMEM;
    c->wants = grown;
    bm_flow_builder_add(&c->flows, reader, rank_request->rank, bytes,
                        c->want_count);
    grown[c->want_count++] = (struct want){rank_request, *part};
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
static uint64_t chunk_bytes(const struct group *g,
                            const struct bouma_variable *v, int64_t chunk)
{
    uint64_t bytes = 0;

    for (int64_t k = g->partition.first[chunk];
         k < g->partition.first[chunk + 1]; k++) {
        struct bm_footprint part = bm_partition_part(&g->partition, chunk, k);

        if (g->blocks[g->partition.part[k]].rank != g->owner[chunk])
            bytes += part_bytes(v, &part);
    }
    return bytes;
}

/* What goes between ranks of one chunk. All ranks go through all of them in the
 * same order. */
static int plan_chunk(struct collective *c, struct group *g, int64_t chunk)
{
    struct bouma_dataset *ds = c->step->ds;
    const struct bouma_variable *v =
        c->step->manifest.schema->by_id[g->rank_requests[0].variable];
    const struct bm_chunking *chunking = &g->partition.chunking;
    int me = ds->comm->rank, rc = BOUMA_OK;
    int reader = g->owner[chunk];
    uint64_t bytes = chunk_bytes(g, v, chunk);
    struct cursor cursor = {(size_t)(g - c->groups), g->mine_count};

    if (reader == me) {
        g->first_part[g->mine_count] = c->stream.part_count;
        g->keys[g->mine_count] = chunking->calls->key(chunking->own, chunk);
        g->mine[g->mine_count++] = chunk;
        c->fetching.total++;
    }
    if (!bytes)
        return rc;
    c->shared = 1;
    if (bm_flow_builder_fit(&c->flows, reader, bytes,
                            ds->engine.env.buffer_bytes) &&
        reader == me)
        rc = add_round(&c->stream, ds->a, bm_flow_builder_bytes(&c->flows, me),
                       cursor);
    if (reader == me)
        c->stream.rest = (struct cursor){cursor.group, cursor.chunk + 1};
    for (int64_t k = g->partition.first[chunk];
         k < g->partition.first[chunk + 1] && !rc; k++) {
        const struct rank_request *w = &g->rank_requests[g->partition.part[k]];
        struct bm_footprint part = bm_partition_part(&g->partition, chunk, k);

        bytes = part_bytes(v, &part);
        if (w->rank == reader || !bytes)
            continue;
        if (reader == me)
            rc = add_part(c, w->rank, bytes);
        else if (w->rank == me)
            rc = add_want(c, reader, w, &part, bytes);
        else
            bm_flow_builder_add(&c->flows, reader, w->rank, bytes, 0);
    }
    return rc;
}

/* Chunks may have no samples at a coarse level: nobody reads those. */
static int has_samples(const struct bm_chunking *chunking, int64_t chunk)
{
    struct bm_footprint f = bm_chunking_footprint(chunking, chunk);

    return bm_footprint_samples(&f) > 0;
}

static int plan_group(struct collective *c, struct group *g)
{
    struct bouma_dataset *ds = c->step->ds;
    const struct bouma_variable *v =
        c->step->manifest.schema->by_id[g->rank_requests[0].variable];
    struct bm_chunking chunking = v->object->layout->chunking(v->object);
    size_t chunks = (size_t)chunking.count;
    int rc;

    chunking.level = g->rank_requests[0].level;
    g->blocks = bm_new_raw(ds->a, g->count, sizeof(*g->blocks));
    g->owner = bm_new_raw(ds->a, chunks, sizeof(*g->owner));
    g->mine = bm_new_raw(ds->a, chunks, sizeof(*g->mine));
    g->keys = bm_new_raw(ds->a, chunks, sizeof(*g->keys));
    g->first_part = bm_new_raw(ds->a, chunks, sizeof(*g->first_part));
    if (!g->blocks || !g->owner || !g->mine || !g->keys || !g->first_part)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < g->count; i++)
        g->blocks[i] = (struct bm_block){g->rank_requests[i].rank,
                                         g->rank_requests[i].box};
    rc = bm_partition_init(&g->partition, ds->a, chunking, g->blocks, g->count);
    if (!rc)
        rc = bm_distribute_readers(g->owner, &g->partition, ds->comm->size);
    for (int64_t i = 0; i < chunking.count && !rc; i++)
        if (g->owner[i] >= 0 && has_samples(&chunking, i))
            rc = plan_chunk(c, g, i);
    return rc;
}

static int make_pipe(struct collective *c);

static int plan_groups(struct collective *c)
{
    struct bouma_dataset *ds = c->step->ds;
    int rc = bm_flow_builder_init(&c->flows, ds->comm);

    c->groups = bm_new(ds->a, c->rank_request_count, sizeof(*c->groups));
    if (!c->groups)
        rc = BOUMA_ENOMEM;
    for (size_t i = 0, end; i < c->rank_request_count && !rc; i = end) {
        struct group *g = &c->groups[c->group_count++];

        for (end = i + 1;
             end < c->rank_request_count &&
             c->rank_requests[end].variable == c->rank_requests[i].variable &&
             c->rank_requests[end].level == c->rank_requests[i].level;)
            end++;
        g->rank_requests = c->rank_requests + i;
        g->count = end - i;
        rc = plan_group(c, g);
    }
    if (!rc && c->shared)
        rc = make_pipe(c);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to plan the read");
    return rc;
}

/* ---- chunks ------------------------------------------------------------- */

/* Chunks come in the order of files, parts are in that of their numbers. */
static size_t first_part(const struct group *g, int64_t chunk)
{
    size_t at = 0;

    BM_BISECT(at, g->mine_count, i, g->mine[i] <= chunk);
    return g->first_part[at];
}

/* A chunk that this rank read: to its own requests, and into the buffer. */
static int give_to_group(void *context, const struct bm_decoding *d,
                         struct bm_error *error)
{
    struct collective *c = context;
    struct group *g = c->fetching.group;
    const struct bouma_variable *v =
        c->step->manifest.schema->by_id[g->rank_requests[0].variable];
    const struct bm_chunking *chunking = &g->partition.chunking;
    int64_t chunk = chunking->calls->find(chunking->own, d->key);
    size_t next = first_part(g, chunk);

    (void)error;
    for (int64_t k = g->partition.first[chunk];
         k < g->partition.first[chunk + 1]; k++) {
        const struct rank_request *w = &g->rank_requests[g->partition.part[k]];
        struct bm_footprint part = bm_partition_part(&g->partition, chunk, k);

        if (w->rank == c->step->ds->comm->rank) {
            bm_read_give(d, &c->requests[w->number]);
        } else if (part_bytes(v, &part)) {
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

    for (size_t i = from.group; i < c->group_count && i <= to.group && !rc;
         i++) {
        struct group *g = &c->groups[i];
        const struct bouma_variable *v =
            c->step->manifest.schema->by_id[g->rank_requests[0].variable];
        size_t first = i == from.group ? from.chunk : 0;
        size_t end = i == to.group ? to.chunk : g->mine_count;
        struct bm_fetch fetch = {.step = c->step,
                                 .variable = v,
                                 .fine = g->rank_requests[0].level,
                                 .coarse = v->object->levels - 1,
                                 .keys = g->keys + first,
                                 .count = end - first,
                                 .each = give_to_group,
                                 .context = c,
                                 .before = c->fetching.done,
                                 .total = c->fetching.total};

        c->fetching.group = g;
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
    const struct bm_read_request *to = &c->requests[want->rank_request->number];
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

    if (c->shared)
        rc = bm_pipe_open(c->pipe, ds->comm, &ds->engine.pool, rc, &ds->error);
    if (!rc && c->shared)
        rc = bm_pipe_run(c->pipe, 1, rc, &ds->error);
    if (!rc)
        rc = fetch_range(c, c->stream.rest, (struct cursor){c->group_count, 0});
    return rc;
}

static void release(struct collective *c)
{
    const bouma_allocator *a = c->step->ds->a;

    bm_pipe_free(c->pipe);
    bm_flow_builder_release(&c->flows);
    for (size_t i = 0; i < c->group_count; i++) {
        bm_partition_release(&c->groups[i].partition);
        bm_drop(a, c->groups[i].blocks);
        bm_drop(a, c->groups[i].owner);
        bm_drop(a, c->groups[i].mine);
        bm_drop(a, c->groups[i].keys);
        bm_drop(a, c->groups[i].first_part);
    }
    bm_drop(a, c->groups);
    bm_drop(a, c->rank_requests);
    bm_drop(a, c->stream.part_at);
    bm_drop(a, c->stream.rounds);
    bm_drop(a, c->stream.round_at);
    bm_drop(a, c->wants);
}

/* What is read for requests, as it is stored. */
struct reading {
    struct bm_read_request *inner;
    uint8_t *delivers; /* see DELIVERS */
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
    c.delivers = reading->delivers;
    rc = bm_comm_begin(ds->comm, "reading a step", step->manifest.step, NULL,
                       rc, &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc, "the ranks read different steps");
    if (!rc) {
        rc = gather_rank_requests(&c, reading->count, rc);
        if (!rc)
            rc = plan_groups(&c);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    if (!rc)
        rc = bm_comm_agree(ds->comm, fetch_all(&c), &ds->error);
    reading->delivered = c.delivered;
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
