/* pipe_gather.c -- the gatherer's side of a pipe; see pipe_inside.h. */
#include "engine/pipe_inside.h"

/* ---- storing ------------------------------------------------------------ */

/* The thread's: a round to storage, or back; own stretches straight from where
 * they are. */
static int keep_round(void *context, size_t round, struct bm_error *error)
{
    struct bm_pipe *p = context;
    const struct bm_flow *f = p->own->flow;
    uint64_t begin = f->rounds.start[round], end = f->rounds.start[round + 1];
    uint64_t at = begin;
    uint8_t *buffer = bm_gather_memory(p, round);
    int rc = BOUMA_OK;

    if (bm_gather_slot(&p->gathering, round)->poor)
        return rc;
    for (size_t i = p->gathering.first_cut[round];
         i < p->gathering.first_cut[round + 1] && !rc; i++) {
        struct bm_stretch s = bm_stretch_of(f, p->gathering.cuts[i], round);
        uint64_t here = begin + s.in_round;

        if (s.piece->rank != p->comm->rank ||
            !bm_pipe_is_direct(p, p->own, round, s.bytes))
            continue;
        if (here > at)
            rc = p->calls.store(p->calls.context, at, buffer + (at - begin),
                                here - at, error);
        if (!rc)
            rc = p->calls.store(p->calls.context, here,
                                p->calls.bytes(p->calls.context, s.piece->tag) +
                                    s.from,
                                s.bytes, error);
        if (here + s.bytes > at)
            at = here + s.bytes;
    }
    if (!rc && at < end)
        rc = p->calls.store(p->calls.context, at, buffer + (at - begin),
                            end - at, error);
    return rc;
}

static void hand_over(struct bm_pipe *p, size_t round)
{
    /* Of a rank that has failed, nothing is to be stored. */
    bm_gather_slot(&p->gathering, round)->poor |= p->failure.rc != BOUMA_OK;
    p->gathering.handed++;
    bm_io_thread_hand(p->gathering.io, round);
}

/* Whether the storing of this rank has failed. */
static int has_failed(struct bm_pipe *p)
{
    return bm_io_thread_status(p->gathering.io, &p->failure.error) !=
               BOUMA_OK ||
           p->failure.rc;
}

/* ---- buffers ------------------------------------------------------------ */

/* Whether several pieces have the same bytes. */
static int overlap(const struct bm_flow *f)
{
    uint64_t end = 0;

    for (size_t i = 0; i < f->count; i++) {
        if (f->pieces[i].bytes && f->pieces[i].at < end)
            return 1;
        if (f->pieces[i].at + f->pieces[i].bytes > end)
            end = f->pieces[i].at + f->pieces[i].bytes;
    }
    return 0;
}

/* By the thread: a buffer is free, or full. */
static void wake(void *context)
{
    bm_comm_wake(context);
}

int bm_gather_prepare(struct bm_pipe *p)
{
    size_t rounds = p->own->flow->rounds.count;
    int rc = bm_gather_list(&p->gathering, p->own->flow, p->comm->size, p->a);

    /* Nothing could go on meanwhile. */
    if (p->comm->size == 1 && rounds == 1)
        p->o.unthreaded = 1;
    /* What is loaded straight to where it goes is nowhere for others. */
    if (p->o.reading && overlap(p->own->flow))
        p->o.copy = 1;
    p->gathering.slot_count =
        rounds < (size_t)p->o.buffers ? rounds : (size_t)p->o.buffers;
    p->gathering.slots =
        bm_new(p->a, p->gathering.slot_count, sizeof(*p->gathering.slots));
    if (!rc)
        p->gathering.io =
            bm_io_thread_new(p->a, rounds, keep_round, p, !p->o.unthreaded);
    if (p->gathering.io) {
        bm_io_thread_set_trace(p->gathering.io, p->comm->trace,
                               p->o.reading ? "load round" : "store round",
                               "round");
        bm_io_thread_set_waker(p->gathering.io, wake, p->comm);
    }
    return !rc && p->gathering.slots && p->gathering.io ? BOUMA_OK
                                                        : BOUMA_ENOMEM;
}

struct bm_pipe_slot *bm_gather_slot(const struct bm_pipe_gathering *g,
                                    size_t round)
{
    return &g->slots[round % g->slot_count];
}

uint8_t *bm_gather_memory(const struct bm_pipe *p, size_t round)
{
    return p->gathering.memory
               ? p->gathering.memory +
                     round % p->gathering.slot_count * p->own->slot_bytes
               : NULL;
}

int bm_gather_is_near(const struct bm_pipe *p, int rank)
{
    return rank == p->comm->rank || (p->port && bm_port_is_seen(p->port, rank));
}

/* By messages: send or receive what others have of a round. With 'empty',
 * nothing that could be used. */
static void start_messages(struct bm_pipe *p, size_t round, int empty)
{
    struct bm_pipe_slot *slot = bm_gather_slot(&p->gathering, round);
    int channel = (int)(round % (size_t)p->o.buffers), rc = BOUMA_OK;

    for (size_t i = p->gathering.first_cut[round];
         i < p->gathering.first_cut[round + 1] && !rc; i++) {
        struct bm_stretch s =
            bm_stretch_of(p->own->flow, p->gathering.cuts[i], round);
        struct bm_message m = {s.piece->rank,
                               bm_gather_memory(p, round) + s.in_round,
                               (size_t)s.bytes};

        if (bm_gather_is_near(p, s.piece->rank))
            continue;
        if (p->o.reading) {
            m.data = empty ? NULL : m.data;
            rc = bm_transfer_send(&slot->transfer, channel, &m, 1,
                                  &p->failure.error);
        } else {
            rc = bm_transfer_receive(&slot->transfer, channel, &m, 1,
                                     &p->failure.error);
        }
    }
    bm_pipe_break(p, rc);
    slot->waiting = 1;
}

/* Whether a rank that has pieces of a round waits to hear that it is open. By
 * messages, what is read goes straight to where it is wanted, whenever it
 * comes; but if it is taken out of the stage, which has room for one round,
 * nobody may wait there for what is not yet on its way. */
static int is_told(const struct bm_pipe *p, int rank, size_t round)
{
    if (!p->o.reading)
        return round >= p->gathering.slot_count;
    return bm_gather_is_near(p, rank) || bm_pipe_is_made(&p->calls);
}

/* Let others (and this rank) at the buffer of a round. */
static void open_round(struct bm_pipe *p, size_t round)
{
    struct bm_pipe_slot *slot = bm_gather_slot(&p->gathering, round);
    int failed = has_failed(p);
    size_t first = p->gathering.first_rank[round],
           end = p->gathering.first_rank[round + 1];
    size_t near = 0, far = 0;

    slot->open = 1;
    slot->opened = bm_trace_now(p->comm->trace);
    for (size_t i = first; i < end; i++) {
        if (bm_gather_is_near(p, p->gathering.ranks[i]))
            near++;
        else
            far++;
        if (p->gathering.ranks[i] != p->comm->rank &&
            is_told(p, p->gathering.ranks[i], round))
            bm_pipe_signal(p, p->gathering.ranks[i], BM_OPEN, round, failed);
    }
    slot->missing = near + (far > 0); /* messages are done all at once */
    if (far)
        start_messages(p, round, failed);
}

void bm_gather_begin(struct bm_pipe *p, size_t round)
{
    struct bm_pipe_slot *slot = bm_gather_slot(&p->gathering, round);

    if (round >= p->own->flow->rounds.count)
        return;
    slot->round = round;
    slot->poor = 0;
    slot->open = 0;
    if (p->o.reading)
        hand_over(p, round);
    else
        open_round(p, round);
}

static void tell_progress(const struct bm_pipe *p)
{
    if (p->calls.progress)
        p->calls.progress(p->calls.context, p->gathering.over,
                          p->own->flow->rounds.count);
}

/* From the opening of a round till all ranks are done with it. */
static void trace_round(const struct bm_pipe *p, size_t round)
{
    const uint64_t *start = p->own->flow->rounds.start;

    bm_trace_add_buffer(
        p->comm->trace, round % p->gathering.slot_count,
        p->o.reading ? "deliver round" : "gather round",
        bm_gather_slot(&p->gathering, round)->opened,
        &(struct bm_trace_args){.bytes = start[round + 1] - start[round],
                                .counted = "round",
                                .number = round});
}

/* All ranks are done with a buffer. Rounds go on in their order, whichever is
 * complete first: those that have pieces count on it. */
static void close_round(struct bm_pipe *p, size_t round)
{
    bm_gather_slot(&p->gathering, round)->open = 0;
    bm_gather_slot(&p->gathering, round)->closed = 1;
    if (p->comm->trace)
        trace_round(p, round);
    while (p->gathering.closed < p->own->flow->rounds.count &&
           bm_gather_slot(&p->gathering, p->gathering.closed)->round ==
               p->gathering.closed &&
           bm_gather_slot(&p->gathering, p->gathering.closed)->closed) {
        size_t next = p->gathering.closed++;

        bm_gather_slot(&p->gathering, next)->closed = 0;
        if (!p->o.reading) {
            hand_over(p, next);
        } else {
            p->gathering.over++;
            tell_progress(p);
            bm_gather_begin(p, next + p->gathering.slot_count);
        }
    }
}

void bm_gather_one_done(struct bm_pipe *p, size_t round, int failed)
{
    struct bm_pipe_slot *slot = bm_gather_slot(&p->gathering, round);

    slot->poor |= failed;
    if (--slot->missing == 0)
        close_round(p, round);
}

int bm_gather_jobs(struct bm_pipe *p, int wait)
{
    size_t round;
    int any = 0;

    /* Without a thread each job takes its time: one, then the others again. */
    while (p->gathering.io && !(any && p->o.unthreaded) &&
           bm_io_thread_next(p->gathering.io, &round, wait && !any)) {
        any = 1;
        if (p->o.reading) {
            open_round(p, round);
        } else {
            p->gathering.over++;
            tell_progress(p);
            bm_gather_begin(p, round + p->gathering.slot_count);
        }
    }
    return any;
}

int bm_gather_transfers(struct bm_pipe *p)
{
    int any = 0;

    for (size_t i = 0; i < p->gathering.slot_count; i++) {
        struct bm_pipe_slot *slot = &p->gathering.slots[i];
        int done, empty;

        if (!slot->waiting)
            continue;
        bm_pipe_break(
            p, bm_transfer_test(&slot->transfer, &done, &p->failure.error));
        if (!done)
            continue;
        any = 1;
        slot->waiting = 0;
        empty = slot->transfer.empty;
        slot->transfer.empty = 0;
        bm_gather_one_done(p, slot->round, empty);
    }
    return any;
}
