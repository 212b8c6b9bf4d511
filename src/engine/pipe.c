/* pipe.c -- see pipe.h. */
#include "engine/pipe_inside.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"

#define ALIGNMENT 4096  /* of a buffer */
#define DIRECT    65536 /* own pieces below this size are copied */

void bm_pipe_pool_release(struct bm_pipe_pool *pool)
{
    bm_port_free(pool->ports[0]);
    bm_port_free(pool->ports[1]);
    /* With something under way that was given up, they must stay. */
    for (int i = 0; i < BM_PIPE_TIERS; i++)
        if (!pool->comm || !pool->comm->lost)
            bm_tier_memory_free(&pool->memories[i]);
    memset(pool, 0, sizeof(*pool));
}

void bm_pipe_fail(struct bm_pipe *p, int rc)
{
    if (!p->failure.rc)
        p->failure.rc = rc;
}

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void bm_pipe_break(struct bm_pipe *p, int rc)
{
    bm_pipe_fail(p, rc);
    p->failure.broken |= rc != BOUMA_OK;
}

int bm_pipe_is_made(const struct bm_pipe_calls *calls)
{
    return calls->fill || calls->take;
}

int bm_pipe_is_direct(const struct bm_pipe *p, const struct bm_lane *l,
                      size_t round, uint64_t bytes)
{
    const size_t *first = p->gathering.first_rank;

    return l == p->own && !p->o.copy && !bm_pipe_is_made(&p->calls) &&
           bytes >= DIRECT && first[round + 1] - first[round] == 1;
}

void bm_pipe_signal(struct bm_pipe *p, int peer, uint32_t what, size_t round,
                    int failed)
{
    struct bm_signal n = {peer, what, round | (failed ? BM_CONTROL_FAILED : 0)};

    bm_port_fence();
    bm_pipe_break(p, bm_comm_signal(p->comm, &n, &p->failure.error));
}

/* ---- making and ending -------------------------------------------------- */

/* For messages, requests and, for what is filled or taken, room for it. */
static int prepare_messages(struct bm_pipe *p)
{
    size_t most = 0, bytes = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < p->lanes.count && !rc; i++) {
        if (&p->lanes.each[i] == p->own || bm_lane_room(p, &p->lanes.each[i]) ||
            p->lanes.each[i].transfer.comm) /* from the last time */
            continue;
        bm_flow_most(&p->lanes.flows[i], p->comm->rank, &most, &bytes);
        rc = bm_transfer_init(&p->lanes.each[i].transfer, p->comm, most, bytes);
        if (bytes > p->stage.bytes) {
            bm_drop(p->a, p->stage.memory);
            p->stage = (struct bm_stage){.bytes = bytes};
        }
    }
    if (!rc && bm_pipe_is_made(&p->calls) && p->stage.bytes &&
        !p->stage.memory) {
        p->stage.memory = bm_new_raw(p->a, p->stage.bytes, 1);
        rc = p->stage.memory ? BOUMA_OK : BOUMA_ENOMEM;
    }
    if (!rc && p->own)
        bm_gather_most(&p->gathering, p->own->flow, &most, &bytes);
    for (size_t i = 0; i < p->gathering.slot_count && !rc; i++)
        if (!p->gathering.slots[i].transfer.comm)
            rc = bm_transfer_init(&p->gathering.slots[i].transfer, p->comm,
                                  most, bytes);
    return rc;
}

void bm_flows_free(const bouma_allocator *a, struct bm_flow *flows,
                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bm_rounds_release(&flows[i].rounds);
        bm_drop(a, flows[i].pieces);
    }
    bm_drop(a, flows);
}

/* The largest piece of a rank. */
static uint64_t largest_piece(const struct bm_flow *f, int rank)
{
    uint64_t largest = 0;

    for (size_t i = bm_flow_skip(f, rank, 0); i < f->count;
         i = bm_flow_skip(f, rank, i + 1))
        largest = f->pieces[i].bytes > largest ? f->pieces[i].bytes : largest;
    return largest;
}

/* To the first of this rank's pieces. */
static void begin_lane(const struct bm_pipe *p, struct bm_lane *l)
{
    for (int k = 0; k < p->o.buffers; k++)
        l->opened[k] = p->o.reading ? -1 : k;
    l->next = bm_flow_skip(l->flow, p->comm->rank, 0);
    l->from = 0;
    l->round = 0;
    l->dead = 0;
    bm_lane_find_round(l);
}

static void init_lane(struct bm_pipe *p, size_t i)
{
    struct bm_lane *l = &p->lanes.each[i];

    l->flow = &p->lanes.flows[i];
    l->slot_bytes = round_up((size_t)l->flow->rounds.largest);
    l->opened = &p->lanes.opened[i * (size_t)p->o.buffers];
    begin_lane(p, l);
    if (l->flow->gatherer == p->comm->rank && l->flow->rounds.count)
        p->own = l;
    if (bm_pipe_is_made(&p->calls)) {
        uint64_t largest = largest_piece(l->flow, p->comm->rank);

        if (largest > p->scratch.bytes)
            p->scratch.bytes = (size_t)largest;
    }
}

int bm_pipe_new(struct bm_pipe **out, struct bm_comm *comm,
                struct bm_flow *flows, size_t count,
                const struct bm_pipe_options *options,
                const struct bm_pipe_calls *calls)
{
    struct bm_pipe *p = bm_new(comm->a, 1, sizeof(*p));
    int rc = BOUMA_OK;

    *out = p;
    if (!p) {
        bm_flows_free(comm->a, flows, count);
        return BOUMA_ENOMEM;
    }
    p->comm = comm;
    p->a = comm->a;
    p->o = *options;
    p->calls = *calls;
    p->lanes.flows = flows;
    p->lanes.count = count;
    p->lanes.each = bm_new(p->a, count, sizeof(*p->lanes.each));
    p->lanes.opened = bm_new(p->a, count * (size_t)options->buffers,
                             sizeof(*p->lanes.opened));
    if (!p->lanes.each || !p->lanes.opened)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        init_lane(p, i);
    if (p->own)
        rc = bm_gather_prepare(p);
    if (!rc && p->scratch.bytes) {
        p->scratch.memory = bm_new_raw(p->a, p->scratch.bytes, 1);
        rc = p->scratch.memory ? BOUMA_OK : BOUMA_ENOMEM;
    }
    return rc;
}

void bm_pipe_free(struct bm_pipe *p)
{
    if (!p)
        return;
    bm_io_thread_free(p->gathering.io);
    if (p->pool)
        p->pool->user = NULL;
    for (size_t i = 0; i < p->lanes.count && p->lanes.each; i++)
        bm_transfer_release(&p->lanes.each[i].transfer);
    for (size_t i = 0; i < p->gathering.slot_count && p->gathering.slots; i++)
        bm_transfer_release(&p->gathering.slots[i].transfer);
    bm_flows_free(p->a, p->lanes.flows, p->lanes.count);
    bm_drop(p->a, p->lanes.each);
    bm_drop(p->a, p->lanes.opened);
    bm_drop(p->a, p->gathering.slots);
    bm_drop(p->a, p->gathering.first_cut);
    bm_drop(p->a, p->gathering.cuts);
    bm_drop(p->a, p->gathering.first_rank);
    bm_drop(p->a, p->gathering.ranks);
    /* With something under way that was given up, they must stay. */
    if (!p->comm->lost) {
        bm_drop(p->a, p->scratch.memory);
        bm_drop(p->a, p->stage.memory);
    }
    bm_drop(p->a, p);
}

static void rewind_gathering(struct bm_pipe_gathering *g)
{
    for (size_t i = 0; i < g->slot_count; i++)
        g->slots[i] = (struct bm_pipe_slot){.transfer = g->slots[i].transfer};
    g->memory = NULL;
    g->begun = 0;
    g->closed = g->handed = g->over = 0;
    if (g->io)
        bm_io_thread_rewind(g->io);
}

void bm_pipe_rewind(struct bm_pipe *p)
{
    if (p->pool)
        p->pool->user = NULL;
    p->pool = NULL;
    p->port = NULL;
    for (size_t i = 0; i < p->lanes.count; i++)
        begin_lane(p, &p->lanes.each[i]);
    p->lanes.turn = 0;
    rewind_gathering(&p->gathering);
    p->scratch.full = 0;
    p->moved = (struct bm_pipe_moved){0};
}

/* ---- buffers ------------------------------------------------------------ */

/* Memory in a tier for this rank alone. With 'instead', of which is told
 * whether it was needed, DRAM is as good; a tier that did not have so much
 * before is not asked again. */
static int get_memory(const struct bm_pipe *p, struct bm_pipe_pool *pool,
                      size_t bytes, bouma_tier tier, int *instead,
                      struct bm_error *error)
{
    struct bm_tier_memory *memory = &pool->memories[tier];
    size_t *short_of = &pool->short_of[tier];
    struct bm_error why = {0};
    int rc = BOUMA_ENOMEM;

    if (memory->tier && memory->bytes >= bytes)
        return BOUMA_OK;
    if (!instead || !*short_of || bytes < *short_of) {
        bm_tier_memory_free(memory);
        rc = bm_tier_memory_new(memory, tier, bytes, p->o.local, p->a, &why);
        pool->made++;
        *short_of = rc ? bytes : 0;
    }
    if (rc && instead) {
        *instead = 1;
        return BOUMA_OK;
    }
    return rc ? bm_fail(error, rc, "%s", why.text) : rc;
}

/* A new port. Collective among the ranks of a node. */
static int renew_port(struct bm_pipe_pool *pool, int which, size_t bytes,
                      struct bm_error *error)
{
    int rc;

    bm_port_free(pool->ports[which]);
    rc = bm_port_new(&pool->ports[which], pool->comm, bytes, error);
    pool->refused = !pool->ports[which];
    pool->made++;
    return rc;
}

/* The buffers that a rank needs. */
struct buffers {
    size_t bytes; /* 0: none, since all goes without a copy */
    int others;   /* have something for them */
    bouma_tier tier;
    int in_port; /* they are in DRAM, so in the port if there is one */
};

static void count_buffers(struct buffers *out, const struct bm_pipe *p)
{
    const struct bm_flow *f = p->own ? p->own->flow : NULL;
    int any = 0;

    for (size_t r = 0; f && r < f->rounds.count; r++)
        for (size_t i = p->gathering.first_cut[r];
             i < p->gathering.first_cut[r + 1]; i++) {
            struct bm_stretch s = bm_stretch_of(f, p->gathering.cuts[i], r);
            int own = s.piece->rank == p->comm->rank;

            any |= !own || !bm_pipe_is_direct(p, p->own, r, s.bytes);
            out->others |= !own;
        }
    out->bytes = any ? p->gathering.slot_count * p->own->slot_bytes : 0;
}

/* What this rank needs; those in a tier are made. */
static int find_buffers(struct buffers *out, const struct bm_pipe *p,
                        struct bm_pipe_pool *pool, struct bm_error *error)
{
    count_buffers(out, p);
    out->tier = p->o.tier ? p->o.tier : BOUMA_TIER_DRAM;
    out->in_port = out->tier == BOUMA_TIER_DRAM;
    if (!out->bytes || out->in_port)
        return BOUMA_OK;
    return get_memory(p, pool, out->bytes, out->tier,
                      p->o.strict ? NULL : &out->in_port, error);
}

/* The bytes that this rank's port must have; whether the one that is there has
 * not. Never less than before, else two kinds of data would take turns. But
 * others take what is in a port for the buffers of its owner, so there may be
 * none if others have something for it, and its buffers are somewhere else. */
static size_t port_bytes(const struct bm_port *port, const struct buffers *b,
                         uint64_t *renew)
{
    size_t had = port ? port->bytes : 0, wanted = had;

    if (b->in_port)
        wanted = b->bytes > had ? b->bytes : had;
    else if (b->others)
        wanted = 0;
    *renew = !port || wanted != had;
    return wanted;
}

/* With ports and tiers there: the memory of the pipe. 'mixed': some rank has
 * its buffers in a tier. Collective. */
static int take_buffers(struct bm_pipe *p, const struct buffers *b, int mixed,
                        struct bm_error *error)
{
    int rc = BOUMA_OK;

    if (!b->in_port)
        p->gathering.memory = p->pool->memories[b->tier].data;
    else if (p->port)
        p->gathering.memory = p->port->memory;
    if (p->port && p->port->all_near && !mixed)
        return rc; /* nothing that could fail any more, on any rank */
    if (b->bytes && !p->port && b->in_port) {
        rc = get_memory(p, p->pool, b->bytes, BOUMA_TIER_DRAM, NULL, error);
        p->gathering.memory = p->pool->memories[BOUMA_TIER_DRAM].data;
    }
    if (!rc && p->comm->size > 1 && prepare_messages(p))
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for messages");
    return bm_comm_agree(p->comm, rc, error);
}

int bm_pipe_open(struct bm_pipe *p, struct bm_comm *comm,
                 struct bm_pipe_pool *pool, int rc, struct bm_error *error)
{
    /* What a rank says of itself, and is true then of some rank. Of the ports,
     * whether they must be made anew. */
    enum { FAILED, IN_PORT, IN_TIER, RENEW, SAID = RENEW + 2 };
    struct buffers buffers = {.in_port = 1};
    size_t shared[2];
    uint64_t said[SAID] = {0};
    int mixed;

    assert(!pool->user); /* see struct bm_pipe_pool */
    pool->comm = comm;
    if (p)
        p->pool = pool;
    if (p && !rc)
        rc = find_buffers(&buffers, p, pool, error);
    for (int i = 0; i < 2; i++)
        shared[i] = port_bytes(pool->ports[i], &buffers, &said[RENEW + i]);
    /* Whatever this rank has to say comes with the agreement. */
    said[FAILED] = rc != BOUMA_OK;
    said[IN_PORT] = buffers.others && buffers.in_port &&
                    p->o.transport != BOUMA_TRANSPORT_MESSAGES;
    said[IN_TIER] = buffers.others && !buffers.in_port;
    if (bm_comm_max(comm, said, SAID, error))
        return BOUMA_ECOMM;
    if (said[FAILED])
        return bm_comm_agree(comm, rc, error);
    mixed = said[IN_TIER] != 0;
    if (said[IN_PORT] && said[RENEW + mixed] && !pool->refused)
        rc = renew_port(pool, mixed, shared[mixed], error);
    if (rc)
        return rc;
    pool->user = p;
    p->port = said[IN_PORT] && !pool->refused ? pool->ports[mixed] : NULL;
    return take_buffers(p, &buffers, mixed, error);
}

static int hear_control(struct bm_pipe *p)
{
    int any = 0, heard = 1;

    while (heard && p->comm->size > 1 && !p->failure.broken) {
        struct bm_signal n;
        size_t round;

        bm_pipe_break(p, bm_comm_hear(p->comm, &n, &heard, &p->failure.error));
        if (!heard)
            break;
        any = 1;
        bm_port_fence();
        round = (size_t)(n.value & ~BM_CONTROL_FAILED);
        if (n.what == BM_OPEN) {
            struct bm_lane *l = bm_lane_to(&p->lanes, n.peer);

            if (l) {
                l->opened[round % (size_t)p->o.buffers] = (int64_t)round;
                l->dead |= (n.value & BM_CONTROL_FAILED) != 0;
            }
        } else if (p->own &&
                   bm_gather_slot(&p->gathering, round)->round == round) {
            bm_gather_one_done(p, round, (n.value & BM_CONTROL_FAILED) != 0);
        }
    }
    return any;
}

/* ---- all of it ---------------------------------------------------------- */

int bm_pipe_step(struct bm_pipe *p)
{
    int any;

    for (size_t r = 0; r < p->gathering.slot_count && !p->gathering.begun; r++)
        bm_gather_begin(p, r);
    p->gathering.begun = 1;
    any = hear_control(p);
    if (p->own && !p->o.unthreaded)
        any |= bm_gather_jobs(p, 0);
    if (p->own)
        any |= bm_gather_transfers(p);
    any |= bm_lanes_step(p);
    return any || (p->own && p->o.unthreaded && bm_gather_jobs(p, 0));
}

/* Whether this rank has put, or got, all of its pieces. */
static int lanes_are_over(const struct bm_lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->each[i].round < lanes->flows[i].rounds.count ||
            lanes->each[i].waiting)
            return 0;
    return 1;
}

static int is_finished(const struct bm_pipe *p, int stored)
{
    if (!lanes_are_over(&p->lanes))
        return 0;
    if (!p->own)
        return 1;
    return (stored || p->o.reading ? p->gathering.over : p->gathering.handed) ==
           p->own->flow->rounds.count;
}

/* Whether this rank's thread is all that can bring it on: nobody else is there,
 * or has anything to do with it any more. */
static int waits_for_thread(const struct bm_pipe *p)
{
    size_t waited = p->o.reading ? p->gathering.over : p->gathering.handed;

    if (!p->own || p->failure.rc)
        return 0;
    if (p->comm->size == 1)
        return 1;
    return lanes_are_over(&p->lanes) && waited == p->own->flow->rounds.count;
}

static int wait_for_thread(struct bm_pipe *p)
{
    double begun = bm_trace_now(p->comm->trace);
    int any = bm_gather_jobs(p, 1);

    if (p->comm->trace)
        bm_trace_add(p->comm->trace, "wait", "wait for storage", begun, NULL);
    return any;
}

int bm_pipe_run(struct bm_pipe *p, int stored, int rc, struct bm_error *error)
{
    struct bm_trace *trace = p->comm->trace;
    double since = bm_clock(), waited = 0;
    unsigned idle = 0;
    int kept;

    bm_pipe_fail(p, rc);
    while (!is_finished(p, stored) && !p->failure.broken) {
        if (bm_pipe_step(p)) {
            if (waited > 0)
                bm_trace_add_until(trace, "wait", "wait for others", since,
                                   waited, NULL);
            waited = 0;
            idle = 0;
            since = bm_clock();
        } else if (!waits_for_thread(p) || !wait_for_thread(p)) {
            bm_pipe_break(
                p, bm_comm_idle(p->comm, idle++, since, &p->failure.error));
            waited = bm_trace_now(trace);
        }
    }
    if (waited > 0)
        bm_trace_add_until(trace, "wait", "wait for others", since, waited,
                           NULL);
    kept = p->gathering.io
               ? bm_io_thread_status(p->gathering.io, &p->failure.error)
               : BOUMA_OK;
    bm_pipe_fail(p, kept);
    if (p->failure.rc && p->failure.error.status)
        bm_fail(error, p->failure.error.status, "%s", p->failure.error.text);
    return rc ? rc : p->failure.rc;
}

int bm_pipe_wait(struct bm_pipe *p, struct bm_error *error)
{
    return p->gathering.io ? bm_io_thread_wait(p->gathering.io, error)
                           : BOUMA_OK;
}

struct bm_pipe_stats bm_pipe_stats_of(const struct bm_pipe *p)
{
    return (struct bm_pipe_stats){
        p->moved.bytes, p->moved.rounds,
        p->gathering.io ? bm_io_thread_seconds(p->gathering.io) : 0,
        p->own ? p->gathering.slot_count * p->own->slot_bytes : 0};
}
