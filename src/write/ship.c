/* ship.c -- see ship.h. */
#include "write/ship.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/search.h"
#include "plan/schedule.h"
#include "write/predict.h"

/* Values are made where any of them may be. */
#define FILL_ALIGNMENT 16

/* Each has a tag of its own. */
#define MOST_BUFFERS 4096

static const char *const phase_names[BM_PHASES] = {
    [BM_DESCRIBE] = "describe",
    [BM_PLAN] = "plan",
    [BM_DISTRIBUTE] = "distribute",
    [BM_SHAPE] = "shape",
    [BM_SHIP] = "ship",
    [BM_STORE] = "store"};

void bm_step_lap(struct bm_step *s, enum bm_phase phase)
{
    double now = bm_clock();

    s->seconds[phase] += now - s->since;
    if (s->ds->tracing.trace)
        bm_trace_add_until(
            s->ds->tracing.trace, "stage", phase_names[phase], s->since, now,
            &(struct bm_trace_args){.counted = "step", .number = s->number});
    s->since = now;
}

int bm_step_writer(const struct bm_step *s, size_t file)
{
    return s->files.writer[file];
}

struct bm_subfile *bm_step_subfile(struct bm_step *s, size_t i)
{
    return i < s->subfile_count
               ? &s->subfiles[i]
               : &s->particles.bundles[i - s->subfile_count].subfile;
}

size_t bm_step_subfile_count(const struct bm_step *s)
{
    return s->subfile_count + s->particles.bundle_count;
}

/* Whether this rank writes the file or has chunks for it. */
static int concerns(const struct bm_step *s, size_t file)
{
    if (bm_step_writer(s, file) == s->ds->comm->rank)
        return 1;
    for (size_t t = s->files.first[file]; t < s->files.first[file + 1]; t++)
        if (s->plan->owner[s->files.chunk[t]] == s->ds->comm->rank)
            return 1;
    return 0;
}

/* The place of a chunk among this rank's own. */
static size_t place_in_mine(const struct bm_write_plan *plan, size_t chunk)
{
    size_t at = 0;

    BM_BISECT(at, plan->mine_count, i, plan->mine[i] <= chunk);
    return at;
}

/* Where the files of a writer begin in its stream, and the flow to it. */
struct routes {
    struct bm_step *s;
    uint64_t *base;        /* [files] */
    struct bm_flow *flows; /* by gatherer */
    size_t flow_count;
    int *flow_of;          /* [ranks]; -1: nothing goes there from here */
    struct bm_slot *slots; /* of the largest file */
};

uint64_t bm_ship_bytes(const struct bm_step *s, size_t chunk)
{
    if (s->cargo == BM_CHUNKS)
        return s->bytes[chunk];
    if (s->cargo == BM_MISFITS)
        return bm_predict_fits(s, chunk) ? 0 : s->bytes[chunk];
    return bm_predict_slot_bytes(s, chunk);
}

static uint64_t file_bytes(const struct bm_step *s, size_t file)
{
    uint64_t bytes = 0;

    for (size_t t = s->files.first[file]; t < s->files.first[file + 1]; t++)
        bytes += bm_ship_bytes(s, s->files.chunk[t]);
    return bytes;
}

static int add_piece(const bouma_allocator *a, struct bm_flow *flow,
                     struct bm_piece piece)
{
    struct bm_piece *grown =
        bm_grow(a, flow->pieces, flow->count, sizeof(*grown));

    if (!grown)
        return BOUMA_ENOMEM;
    flow->pieces = grown;
    flow->pieces[flow->count++] = piece;
    return BOUMA_OK;
}

/* The chunks of a file in the order of the stream, into r->slots; their
 * number. */
static size_t schedule_file(struct routes *r, size_t file)
{
    const struct bm_step *s = r->s;
    size_t first = s->files.first[file], n = 0;

    for (size_t t = first; t < s->files.first[file + 1]; t++) {
        uint32_t chunk = s->files.chunk[t];
        uint64_t bytes = bm_ship_bytes(s, chunk);

        if (bytes || s->cargo != BM_MISFITS)
            r->slots[n++] = (struct bm_slot){
                (uint32_t)(t - first), s->plan->owner[chunk], bytes, 0, 0};
    }
    bm_schedule(r->slots, n);
    return n;
}

/* The record of a chunk that goes from one rank to another, apart. */
static int route_record(struct bm_step *s, int owner, int writer,
                        uint32_t chunk, size_t m)
{
    size_t record = bm_record_bytes(bm_plan_chunk(s->plan, chunk).variable);

    if (writer == s->ds->comm->rank && owner != writer) {
        bm_route_add(&s->record_receives, 0, owner, record);
    } else if (owner != writer) {
        s->send_m[s->record_sends.count] = m;
        bm_route_add(&s->record_sends, 0, writer, record);
    }
    return s->record_sends.failed || s->record_receives.failed ? BOUMA_ENOMEM
                                                               : BOUMA_OK;
}

/* What one file means for this rank: pieces of the flow to its writer, and
 * records that go there. */
static int route_file(struct routes *r, size_t file, size_t subfile)
{
    struct bm_step *s = r->s;
    int me = s->ds->comm->rank, writer = bm_step_writer(s, file);
    struct bm_flow *flow = &r->flows[r->flow_of[writer]];
    size_t count = schedule_file(r, file);
    int rc = BOUMA_OK;

    for (size_t i = 0; i < count && !rc; i++) {
        const struct bm_slot *slot = &r->slots[i];
        uint32_t chunk = s->files.chunk[s->files.first[file] + slot->place];
        size_t m = slot->owner == me ? place_in_mine(s->plan, chunk) : 0;
        uint64_t at = r->base[file] + slot->at;

        if (slot->owner != me && writer != me)
            continue;
        rc = add_piece(s->ds->a, flow,
                       (struct bm_piece){slot->owner, at, slot->bytes, m});
        if (writer == me)
            s->arrivals[s->arrival_count++] = (struct bm_arrival){
                at, subfile, slot->place, slot->owner, m, slot->bytes};
        if (!rc && s->cargo == BM_CHUNKS)
            rc = route_record(s, slot->owner, writer, chunk, m);
        if (!rc && s->cargo == BM_SLOTS && slot->owner == me)
            bm_predict_turn(s, m, at);
    }
    return rc;
}

/* The rounds of a stream of slots: whole ones. 'parts' has room for as many as
 * there are chunks. */
static int cut_slots(struct routes *r, struct bm_rounds *rounds, int writer,
                     struct bm_stream_part *parts)
{
    const struct bm_step *s = r->s;
    uint64_t most = s->ds->site.buffer_bytes / (uint64_t)bm_predict_division(s);
    uint64_t largest = most;
    size_t n = 0;

    for (size_t f = 0; f < (size_t)s->files.files; f++) {
        size_t count;

        if (bm_step_writer(s, f) != writer)
            continue;
        count = schedule_file(r, f);
        for (size_t i = 0; i < count; i++) {
            uint64_t bytes = r->slots[i].bytes;

            if (!i || parts[n - 1].bytes + bytes > most)
                parts[n++] = (struct bm_stream_part){0, 0};
            parts[n - 1].bytes += bytes;
            largest = bytes > largest ? bytes : largest;
        }
    }
    return bm_rounds_init(rounds, s->ds->a, parts, n, largest);
}

/* The rounds of the stream to a writer. */
static int cut_rounds(struct routes *r, struct bm_rounds *rounds, int writer,
                      struct bm_stream_part *parts)
{
    const struct bm_step *s = r->s;
    size_t n = 0;

    if (s->cargo == BM_SLOTS)
        return cut_slots(r, rounds, writer, parts);
    for (size_t f = 0; f < (size_t)s->files.files; f++)
        if (bm_step_writer(s, f) == writer)
            parts[n++] = (struct bm_stream_part){file_bytes(s, f), 0};
    return bm_rounds_init(rounds, s->ds->a, parts, n, s->ds->site.buffer_bytes);
}

/* Find the writers that concern this rank, and the rounds of each. */
static int make_flows(struct routes *r)
{
    struct bm_step *s = r->s;
    const bouma_allocator *a = s->ds->a;
    size_t files = (size_t)s->files.files, ranks = (size_t)s->ds->comm->size;
    uint64_t *load = bm_new(a, ranks, sizeof(*load));
    size_t most = s->plan->chunks > files ? s->plan->chunks : files;
    struct bm_stream_part *parts = bm_new_raw(a, most, sizeof(*parts));
    int rc = load && parts ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t i = 0; i < ranks; i++)
        r->flow_of[i] = -1;
    for (size_t f = 0; f < files && !rc; f++) {
        int writer = bm_step_writer(s, f);

        r->base[f] = load[writer];
        load[writer] += file_bytes(s, f);
        if (r->flow_of[writer] < 0 && concerns(s, f))
            r->flow_of[writer] = 0;
    }
    for (size_t i = 0; i < ranks; i++)
        if (r->flow_of[i] == 0)
            r->flow_of[i] = (int)r->flow_count++;
    r->flows = bm_new(a, r->flow_count, sizeof(*r->flows));
    if (!r->flows) {
        r->flow_count = 0;
        rc = BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < ranks && !rc; i++) {
        if (r->flow_of[i] < 0)
            continue;
        r->flows[r->flow_of[i]].gatherer = (int)i;
        rc = cut_rounds(r, &r->flows[r->flow_of[i]].rounds, (int)i, parts);
    }
    bm_drop(a, load);
    bm_drop(a, parts);
    return rc;
}

static void release_routes(struct routes *r)
{
    bm_flows_free(r->s->ds->a, r->flows, r->flow_count);
}

static int make_pipe(struct routes *r);

/* Forget what has been shipped. */
static void clear_shipment(struct bm_step *s)
{
    if (s->pipe)
        s->earlier_rounds += bm_pipe_deeds_of(s->pipe).rounds;
    bm_pipe_free(s->pipe);
    s->pipe = NULL;
    bm_drop(s->ds->a, s->arrivals);
    s->arrivals = NULL;
    s->arrival_count = 0;
}

int bm_ship_plan(struct bm_step *s)
{
    const bouma_allocator *a = s->ds->a;
    size_t most = 0, incoming = 0, subfile = 0;
    size_t files = (size_t)s->files.files;
    struct routes r = {.s = s};
    int rc = BOUMA_OK;

    clear_shipment(s);
    for (size_t f = 0; f < files; f++) {
        size_t n = s->files.first[f + 1] - s->files.first[f];

        most = n > most ? n : most;
        if (bm_step_writer(s, f) == s->ds->comm->rank)
            incoming += n;
    }
    r.slots = bm_new_raw(a, most, sizeof(*r.slots));
    r.base = bm_new_raw(a, files, sizeof(*r.base));
    r.flow_of = bm_new_raw(a, (size_t)s->ds->comm->size, sizeof(*r.flow_of));
    if (!s->send_m)
        s->send_m = bm_new_raw(a, s->plan->mine_count, sizeof(*s->send_m));
    s->arrivals = bm_new_raw(a, incoming, sizeof(*s->arrivals));
    if (!r.slots || !r.base || !r.flow_of || !s->send_m || !s->arrivals)
        rc = BOUMA_ENOMEM;
    if (!rc)
        rc = make_flows(&r);
    for (size_t f = 0; f < files && !rc; f++) {
        if (concerns(s, f))
            rc = route_file(&r, f, subfile);
        subfile += bm_step_writer(s, f) == s->ds->comm->rank;
    }
    if (!rc && s->cargo == BM_CHUNKS)
        rc = bm_route_seal(&s->record_sends) ||
                     bm_route_seal(&s->record_receives)
                 ? BOUMA_ENOMEM
                 : BOUMA_OK;
    if (!rc)
        rc = make_pipe(&r);
    else
        release_routes(&r);
    bm_drop(a, r.slots);
    bm_drop(a, r.base);
    bm_drop(a, r.flow_of);
    if (rc)
        bm_fail(&s->ds->error, rc, "no memory for the messages of the step");
    return rc;
}

/* ---- ship and store ----------------------------------------------------- */

int bm_ship_records(struct bm_step *s, int rc)
{
    size_t send_count, receive_count;
    const struct bm_message *sends =
        bm_route_messages(&s->record_sends, 0, &send_count);
    const struct bm_message *receives =
        bm_route_messages(&s->record_receives, 0, &receive_count);
    int exchanged;

    for (size_t i = 0; i < s->record_sends.count; i++) {
        size_t m = s->send_m[i];

        memcpy(bm_route_at(&s->record_sends, i),
               s->shaper.records + s->shaper.record_at[m],
               s->shaper.record_at[m + 1] - s->shaper.record_at[m]);
    }
    exchanged = bm_comm_exchange(s->ds->comm, sends, send_count, receives,
                                 receive_count, &s->ds->error);
    bm_route_settle(&s->record_sends, s->ds->comm);
    bm_route_settle(&s->record_receives, s->ds->comm);
    for (size_t i = 0, received = 0; i < s->arrival_count; i++) {
        const struct bm_arrival *c = &s->arrivals[i];
        const uint8_t *record = s->shaper.records + s->shaper.record_at[c->m];

        if (c->owner != s->ds->comm->rank)
            record =
                exchanged ? NULL : bm_route_at(&s->record_receives, received++);
        if (record)
            bm_subfile_note(&s->subfiles[c->subfile], c->t, record,
                            !s->shaper.sized);
    }
    return rc ? rc : exchanged;
}

int bm_ship_arrange(struct bm_step *s, int rc)
{
    for (size_t i = 0; i < s->subfile_count && s->shaper.sized; i++)
        bm_subfile_assume_sizes(&s->subfiles[i]);
    for (size_t i = 0; i < s->subfile_count && !rc; i++)
        rc = bm_subfile_arrange(&s->subfiles[i], s->ds);
    return rc;
}

/* ---- the pipe ----------------------------------------------------------- */

static uint8_t *chunk_bytes(void *context, size_t m)
{
    struct bm_step *s = context;

    return s->shaper.encoded.data + s->shaper.encoded_at[m];
}

static void fill_chunk(void *context, size_t m, uint8_t *room)
{
    struct bm_step *s = context;

    bm_step_lap(s, BM_SHIP);
    bm_shaper_fill(&s->shaper, m, room);
    bm_step_lap(s, BM_SHAPE);
}

/* A stretch of what this rank gathers: chunks, the first and the last maybe in
 * part. */
static int store_chunks(void *context, uint64_t at, uint8_t *data,
                        uint64_t bytes, struct bm_error *error)
{
    struct bm_step *s = context;
    size_t i = 0;
    int rc = BOUMA_OK;

    BM_BISECT(i, s->arrival_count, k, s->arrivals[k].at <= at);
    for (; bytes && !rc && i < s->arrival_count; i++) {
        const struct bm_arrival *c = &s->arrivals[i];
        uint64_t from = at - c->at;
        uint64_t all = bm_subfile_chunk_bytes(&s->subfiles[c->subfile], c->t);
        uint64_t n = from < all ? all - from : 0;

        if (n > bytes)
            n = bytes;
        rc = bm_subfile_write(&s->subfiles[c->subfile], c->t, from, data, n,
                              error);
        at += n;
        data += n;
        bytes -= n;
    }
    return rc || !bytes
               ? rc
               : bm_fail(error, BOUMA_ECOMM, "more came than was declared");
}

static void tell_progress(void *context, size_t done, size_t rounds)
{
    struct bm_step *s = context;
    const bouma_options *o = &s->ds->options;

    if (o->progress && s->ds->comm->rank == 0)
        o->progress(o->progress_user, "writing", done, rounds);
}

/* The tier of this rank's buffers. */
static bouma_tier own_tier(const struct bm_step *s)
{
    for (int64_t f = 0; f < s->files.files && s->files.tier; f++)
        if (s->files.writer[f] == s->ds->comm->rank)
            return s->files.tier[f];
    return s->ds->options.tier;
}

/* Takes the flows over. */
static int make_pipe(struct routes *r)
{
    struct bm_step *s = r->s;
    int slots = s->cargo == BM_SLOTS;
    struct bm_pipe_options options = bm_dataset_pipe(s->ds);
    struct bm_pipe_calls calls = {
        .context = s,
        .bytes = slots ? bm_predict_bytes : chunk_bytes,
        .fill = s->shaper.sized ? fill_chunk : NULL,
        .alignment = FILL_ALIGNMENT,
        .store = slots ? bm_predict_store : store_chunks,
        .progress = tell_progress};

    if (slots)
        options.buffers *= bm_predict_division(s);
    if (options.buffers > MOST_BUFFERS)
        options.buffers = MOST_BUFFERS;
    options.tier = own_tier(s);
    return bm_pipe_new(&s->pipe, s->ds->comm, r->flows, r->flow_count, &options,
                       &calls);
}

int bm_ship_bundle(void *context, size_t i, struct bm_error *error)
{
    struct bm_step *s = context;

    return bm_bundle_store(&s->particles.bundles[i], error);
}

int bm_ship_chunks(struct bm_step *s, int rc)
{
    int stored = !s->ds->options.async || s->prediction;

    rc = bm_pipe_run(s->pipe, stored, rc, &s->ds->error);
    bm_step_lap(s, BM_SHIP);
    s->seconds[BM_STORE] += bm_pipe_deeds_of(s->pipe).seconds;
    return rc;
}
