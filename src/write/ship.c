/* ship.c -- see ship.h. */
#include "write/ship.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "engine/flow_builder.h"
#include "plan/schedule.h"
#include "write/own_plan.h"
#include "write/predict.h"

/* Values are made where any of them may be. */
#define FILL_ALIGNMENT 16

/* Each has a tag of its own. */
#define MOST_BUFFERS 4096

/* The index of a chunk among this rank's own. */
static size_t index_in_mine(const struct bm_write_plan *plan, size_t chunk)
{
    size_t at = 0;

    BM_BISECT(at, plan->mine_count, i, plan->mine[i] <= chunk);
    return at;
}

/* What goes to the writers that concern this rank, while it is put together. */
struct routes {
    struct bm_write_job *job;
    struct bm_flow_builder flows;
    struct bm_concerns concerns; /* the files of these writers */
    struct bm_slot *slots;       /* of the largest file */
    uint64_t most;               /* bytes of slots in a round */
};

uint64_t bm_ship_bytes(const struct bm_write_job *job, size_t chunk)
{
    if (job->transit.cargo == BM_CHUNKS)
        return job->plan.bytes[chunk];
    if (job->transit.cargo == BM_MISFITS)
        return bm_predict_fits(job, chunk) ? 0 : job->plan.bytes[chunk];
    return bm_predict_slot_bytes(job, chunk);
}

/* Whether this rank knows of a file only what its writer told it. */
static int is_told(const struct bm_write_job *job, size_t file)
{
    return job->plan.grids->own && bm_job_writer(job, file) != job->comm->rank;
}

static uint64_t file_bytes(const struct bm_write_job *job, size_t file)
{
    uint64_t bytes = 0;

    if (is_told(job, file))
        return job->plan.grids->own->file_bytes[file];
    for (size_t t = job->plan.files.first[file];
         t < job->plan.files.first[file + 1]; t++)
        bytes += bm_ship_bytes(job, job->plan.files.chunk[t]);
    return bytes;
}

static int by_place(const void *left, const void *right)
{
    const struct bm_slot *a = left, *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Who takes turns for a chunk in the stream to its writer: its owner. Chunks
 * that are predicted are stored in that order, and with `weighted` owners follow
 * from times, on which no byte of a file shall depend: then the first rank that
 * holds samples of it. */
static int turn_of(const struct bm_write_job *job, uint32_t chunk)
{
    struct bm_chunk c;

    if (job->transit.cargo == BM_CHUNKS ||
        job->ds->options.distribute != BOUMA_DISTRIBUTE_WEIGHTED)
        return job->plan.grids->owner[chunk];
    c = bm_plan_chunk(job->plan.grids, chunk);
    return bm_part_rank(&c, c.decomposition->partition.first[c.number]);
}

/* The chunks of a file in the order of the stream, into r->slots; their number.
 * Of one that this rank is told of, its own. */
static size_t schedule_file(struct routes *r, size_t file)
{
    const struct bm_write_job *job = r->job;
    size_t first = job->plan.files.first[file], n = 0;

    for (size_t t = first; t < job->plan.files.first[file + 1]; t++) {
        uint32_t chunk = job->plan.files.chunk[t];
        uint64_t bytes = bm_ship_bytes(job, chunk);

        if (!bytes && job->transit.cargo == BM_MISFITS)
            continue;
        r->slots[n] = (struct bm_slot){.index = (uint32_t)(t - first),
                                       .owner = turn_of(job, chunk),
                                       .bytes = bytes};
        if (is_told(job, file))
            r->slots[n].at = job->plan.grids->own->at[chunk];
        n++;
    }
    if (!is_told(job, file))
        bm_schedule(r->slots, n);
    else if (n)
        qsort(r->slots, n, sizeof(*r->slots), by_place);
    for (size_t i = 0; i < n; i++)
        r->slots[i].owner =
            job->plan.grids
                ->owner[job->plan.files.chunk[first + r->slots[i].index]];
    return n;
}

/* What others send to the writer of a file, up to a place in its stream. */
static void skip_to(struct routes *r, int writer, uint64_t at)
{
    uint64_t now = bm_flow_builder_bytes(&r->flows, writer);

    if (at > now)
        bm_flow_builder_skip(&r->flows, writer, at - now);
}

/* The record of a chunk that goes from one rank to another, apart. */
static int route_record(struct bm_write_job *job, int owner, int writer,
                        uint32_t chunk, size_t m)
{
    size_t record =
        bm_record_bytes(bm_plan_chunk(job->plan.grids, chunk).variable);

    if (writer == job->comm->rank && owner != writer) {
        bm_route_add(&job->transit.record_receives, 0, owner, record);
    } else if (owner != writer) {
        job->transit.send_m[job->transit.record_sends.count] = m;
        bm_route_add(&job->transit.record_sends, 0, writer, record);
    }
    return job->transit.record_sends.failed ||
                   job->transit.record_receives.failed
               ? BOUMA_ENOMEM
               : BOUMA_OK;
}

/* What one file means for this rank: pieces of the flow to its writer, and
 * records that go there. 'subfile' is its index among those of this rank. */
static int route_file(struct routes *r, size_t file, size_t subfile)
{
    struct bm_write_job *job = r->job;
    struct bm_job_transit *transit = &job->transit;
    int me = job->comm->rank, writer = bm_job_writer(job, file);
    size_t count = schedule_file(r, file);
    uint64_t begin = bm_flow_builder_bytes(&r->flows, writer);
    int told = is_told(job, file), rc = BOUMA_OK;

    for (size_t i = 0; i < count && !rc; i++) {
        const struct bm_slot *slot = &r->slots[i];
        size_t first = job->plan.files.first[file];
        uint32_t chunk = job->plan.files.chunk[first + slot->index];
        size_t m =
            slot->owner == me ? index_in_mine(job->plan.grids, chunk) : 0;
        uint64_t at;

        if (told)
            skip_to(r, writer, begin + slot->at);
        bm_flow_builder_fit(&r->flows, writer, slot->bytes, r->most);
        at =
            bm_flow_builder_add(&r->flows, writer, slot->owner, slot->bytes, m);
        if (slot->owner != me && writer != me)
            continue;
        if (writer == me)
            transit->arrivals[transit->arrival_count++] = (struct bm_arrival){
                at, subfile, slot->index, slot->owner, m, slot->bytes};
        if (transit->cargo == BM_CHUNKS)
            rc = route_record(job, slot->owner, writer, chunk, m);
        if (transit->cargo == BM_SLOTS && slot->owner == me)
            bm_predict_turn(job, m, at);
    }
    if (told)
        skip_to(r, writer, begin + file_bytes(job, file));
    return rc;
}

/* All files of the writers that concern this rank, each from a new round on.
 * Of a file that does not, the bytes are enough, unless rounds end between its
 * slots. */
static int route_files(struct routes *r)
{
    struct bm_write_job *job = r->job;
    size_t subfile = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < r->concerns.count && !rc; i++) {
        const struct bm_concern *c = &r->concerns.each[i];
        int writer = bm_job_writer(job, c->file);
        uint64_t bytes = file_bytes(job, c->file);

        bm_flow_builder_fit(&r->flows, writer, bytes, 0);
        if (job->transit.cargo == BM_SLOTS || c->own)
            rc = route_file(r, c->file, subfile);
        else
            bm_flow_builder_skip(&r->flows, writer, bytes);
        subfile += writer == job->comm->rank;
    }
    return rc;
}

static int make_pipe(struct routes *r);

/* Forget what has been shipped. */
static void clear_shipment(struct bm_write_job *job)
{
    if (job->transit.pipe)
        job->transit.earlier_rounds +=
            bm_pipe_stats_of(job->transit.pipe).rounds;
    bm_pipe_free(job->transit.pipe);
    job->transit.pipe = NULL;
    bm_file_batch_release(&job->transit.batch);
    bm_drop(job->ds->a, job->transit.arrivals);
    job->transit.arrivals = NULL;
    job->transit.arrival_count = 0;
}

/* Writes that are put together, and the most bytes of them: programs may ask for
 * any buffers. */
#define BATCH_WRITES 1024
#define BATCH_BYTES  ((size_t)16 << 20)

/* Their bytes: a file system takes as long for a request as for some MiB, and
 * this is little beside the buffers. */
static size_t batch_bytes(const struct bm_write_job *job)
{
    uint64_t part = job->ds->engine.env.buffer_bytes / 4 + 1;

    return part < BATCH_BYTES ? (size_t)part : BATCH_BYTES;
}

/* Memory for what is put together, and for what comes of it. */
static int reserve_routes(struct routes *r)
{
    struct bm_write_job *job = r->job;
    struct bm_job_transit *transit = &job->transit;
    const struct bm_assignment *files = &job->plan.files;
    const bouma_allocator *a = job->ds->a;
    size_t most = 0, incoming = 0;

    if (bm_concerns_init(&r->concerns, &job->plan.writers, job->comm->rank,
                         job->plan.grids->mine, job->plan.grids->mine_count))
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < r->concerns.count; i++) {
        size_t f = r->concerns.each[i].file;
        size_t n = files->first[f + 1] - files->first[f];

        most = n > most ? n : most;
        if (bm_job_writer(job, f) == job->comm->rank)
            incoming += n;
    }
    r->slots = bm_new_raw(a, most, sizeof(*r->slots));
    if (!transit->send_m)
        transit->send_m = bm_new_raw(a, job->plan.grids->mine_count,
                                     sizeof(*transit->send_m));
    transit->arrivals = bm_new_raw(a, incoming, sizeof(*transit->arrivals));
    if (incoming && transit->cargo != BM_SLOTS &&
        bm_file_batch_init(&transit->batch, a, BATCH_WRITES, batch_bytes(job)))
        return BOUMA_ENOMEM;
    return r->slots && transit->send_m && transit->arrivals
               ? bm_flow_builder_init(&r->flows, job->comm)
               : BOUMA_ENOMEM;
}

int bm_ship_plan(struct bm_write_job *job)
{
    struct bm_job_transit *transit = &job->transit;
    struct routes r = {.job = job, .most = UINT64_MAX};
    int rc;

    clear_shipment(job);
    if (transit->cargo == BM_SLOTS)
        r.most = job->ds->engine.env.buffer_bytes /
                 (uint64_t)bm_predict_division(job);
    rc = reserve_routes(&r);
    if (!rc)
        rc = route_files(&r);
    if (!rc && transit->cargo == BM_CHUNKS)
        rc = bm_route_seal(&transit->record_sends) ||
                     bm_route_seal(&transit->record_receives)
                 ? BOUMA_ENOMEM
                 : BOUMA_OK;
    if (!rc)
        rc = make_pipe(&r);
    bm_flow_builder_release(&r.flows);
    bm_drop(job->ds->a, r.slots);
    bm_concerns_release(&r.concerns);
    if (rc)
        bm_fail(&job->ds->error, rc, "no memory for the messages of the step");
    return rc;
}

/* ---- ship and store ----------------------------------------------------- */

int bm_ship_records(struct bm_write_job *job, int rc)
{
    size_t send_count, receive_count;
    const struct bm_message *sends =
        bm_route_messages(&job->transit.record_sends, 0, &send_count);
    const struct bm_message *receives =
        bm_route_messages(&job->transit.record_receives, 0, &receive_count);
    int exchanged;

    for (size_t i = 0; i < job->transit.record_sends.count; i++) {
        size_t m = job->transit.send_m[i];

        memcpy(bm_route_at(&job->transit.record_sends, i),
               job->held.shaper.records + job->held.shaper.record_at[m],
               job->held.shaper.record_at[m + 1] -
                   job->held.shaper.record_at[m]);
    }
    exchanged = bm_comm_exchange(job->comm, sends, send_count, receives,
                                 receive_count, &job->ds->error);
    bm_route_leak_if_lost(&job->transit.record_sends, job->comm);
    bm_route_leak_if_lost(&job->transit.record_receives, job->comm);
    for (size_t i = 0, received = 0; i < job->transit.arrival_count; i++) {
        const struct bm_arrival *c = &job->transit.arrivals[i];
        const uint8_t *record =
            job->held.shaper.records + job->held.shaper.record_at[c->m];

        if (c->owner != job->comm->rank)
            record = exchanged ? NULL
                               : bm_route_at(&job->transit.record_receives,
                                             received++);
        if (record)
            bm_subfile_enter(&job->held.subfiles[c->subfile], c->t, record,
                             !job->held.shaper.sized);
    }
    return rc ? rc : exchanged;
}

int bm_ship_arrange(struct bm_write_job *job, int rc)
{
    for (size_t i = 0; i < job->held.subfile_count && job->held.shaper.sized;
         i++)
        bm_subfile_assume_sizes(&job->held.subfiles[i]);
    for (size_t i = 0; i < job->held.subfile_count && !rc; i++)
        rc = bm_subfile_arrange(&job->held.subfiles[i], job->ds);
    return rc;
}

/* ---- the pipe ----------------------------------------------------------- */

static uint8_t *chunk_bytes(void *context, size_t m)
{
    struct bm_write_job *job = context;

    return job->held.shaper.encoded.data + job->held.shaper.encoded_at[m];
}

static void fill_chunk(void *context, size_t m, uint8_t *room)
{
    struct bm_write_job *job = context;

    bm_job_lap(job, BM_SHIP);
    bm_shaper_fill(&job->held.shaper, m, room);
    bm_job_lap(job, BM_SHAPE);
}

/* A stretch of what this rank gathers: chunks, the first and the last maybe in
 * part. */
static int store_chunks(void *context, uint64_t at, uint8_t *data,
                        uint64_t bytes, struct bm_error *error)
{
    struct bm_write_job *job = context;
    size_t i = 0;
    int rc = BOUMA_OK;

    BM_BISECT(i, job->transit.arrival_count, k,
              job->transit.arrivals[k].at <= at);
    for (; bytes && !rc && i < job->transit.arrival_count; i++) {
        const struct bm_arrival *c = &job->transit.arrivals[i];
        uint64_t from = at - c->at;
        uint64_t all =
            bm_subfile_chunk_bytes(&job->held.subfiles[c->subfile], c->t);
        uint64_t n = from < all ? all - from : 0;

        if (n > bytes)
            n = bytes;
        rc = bm_subfile_write(&job->held.subfiles[c->subfile],
                              &job->transit.batch, c->t, from, data, n, error);
        at += n;
        data += n;
        bytes -= n;
    }
    if (!rc && bytes)
        rc = bm_fail(error, BOUMA_ECOMM, "more came than was declared");
    return rc ? rc : bm_file_batch_flush(&job->transit.batch, error);
}

static void tell_progress(void *context, size_t done, size_t rounds)
{
    struct bm_write_job *job = context;
    const struct bm_options *o = &job->ds->options;

    if (o->progress && job->ds->comm->rank == 0)
        o->progress(o->progress_user, "writing", done, rounds);
}

/* The tier of this rank's buffers. */
static bouma_tier own_tier(const struct bm_write_job *job)
{
    const struct bm_writers *w = &job->plan.writers;
    size_t begin, end;

    bm_writers_find(w, job->comm->rank, &begin, &end);
    return begin < end && job->plan.files.tier
               ? job->plan.files.tier[bm_writers_file(w, begin)]
               : job->ds->options.tier;
}

static int make_pipe(struct routes *r)
{
    struct bm_write_job *job = r->job;
    int slots = job->transit.cargo == BM_SLOTS;
    struct bm_pipe_options options = bm_dataset_pipe(job->ds);
    struct bm_pipe_calls calls = {
        .context = job,
        .bytes = slots ? bm_predict_bytes : chunk_bytes,
        .fill = job->held.shaper.sized ? fill_chunk : NULL,
        .alignment = FILL_ALIGNMENT,
        .store = slots ? bm_predict_store : store_chunks,
        .progress = tell_progress};

    if (slots)
        options.buffers *= bm_predict_division(job);
    if (options.buffers > MOST_BUFFERS)
        options.buffers = MOST_BUFFERS;
    options.tier = own_tier(job);
    /* What has slots is cut between them already. */
    return bm_flow_builder_pipe(
        &r->flows, slots ? 0 : job->ds->engine.env.buffer_bytes,
        &job->transit.pipe, job->comm, &options, &calls);
}

int bm_ship_chunks(struct bm_write_job *job, int stored, int rc)
{
    rc = bm_pipe_run(job->transit.pipe, stored, rc, &job->ds->error);
    bm_job_lap(job, BM_SHIP);
    job->result.seconds[BM_STORE] +=
        bm_pipe_stats_of(job->transit.pipe).seconds;
    return rc ? rc : bm_shaper_failed(&job->held.shaper);
}
