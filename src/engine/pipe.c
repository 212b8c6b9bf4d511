/* pipe.c -- see pipe.h. */
#include "engine/pipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { OPEN = 1, DONE = 2 };

#define FAILED    ((uint64_t)1 << 63) /* in the value of a note */
#define ALIGNMENT 4096                /* of a buffer */
#define DIRECT    65536 /* own pieces from this size on are not copied */

/* This rank's part in a flow: its pieces in order, one after the other. */
struct lane {
    const struct bm_flow *flow;
    size_t slot_bytes; /* of the gatherer's buffers */
    size_t next;       /* the piece that is on, always one of this rank's */
    uint64_t from;     /* how much of it is done */
    size_t round;      /* of the next byte; rounds.count: all is done */
    int64_t *opened;   /* [buffers]: the round that is known to be open */
    int dead;          /* the gatherer has failed */
    struct bm_transfer transfer; /* by messages: of one round */
    int waiting;                 /* for the transfer */
};

/* A buffer of a gatherer. */
struct slot {
    size_t round;
    size_t missing; /* ranks that are not done with it */
    int open;       /* for this rank's own pieces */
    int closed;     /* all are done with it, but not with an earlier one */
    int poor;       /* some rank has failed: not to be stored */
    struct bm_transfer transfer; /* by messages */
    int waiting;
};

struct bm_pipe {
    struct bm_comm *comm;
    const bouma_allocator *a;
    struct bm_pipe_options o;
    struct bm_pipe_calls calls;
    struct bm_flow *flows;
    size_t flow_count;
    struct lane *lanes;   /* [flow_count] */
    int64_t *opened;      /* [flow_count][buffers] */
    size_t turn;          /* the lane that is asked first */
    struct lane *own;     /* of the flow that this rank gathers; NULL: none */
    struct bm_port *port; /* NULL: by messages */
    uint8_t *scratch;     /* of the largest piece that is filled */
    size_t scratch_bytes, scratch_tag;
    int scratch_full;
    uint8_t *stage; /* by messages: what this rank has filled for a round */
    size_t stage_bytes;
    struct lane *staging; /* whose it is */

    /* Of a gatherer: */
    uint8_t *memory;
    struct slot *slots; /* [o.buffers] */
    size_t slot_count;
    size_t *first_cut;  /* [rounds + 1]; in: */
    size_t *cuts;       /* the pieces of each round */
    size_t *first_rank; /* [rounds + 1]; in: */
    int *ranks;         /* those that have pieces of it */
    struct bm_keeper *keeper;
    int begun;
    size_t closed, handed, over; /* rounds */

    int rc;
    struct bm_error error;
    uint64_t moved;
    size_t moved_rounds;
};

void bm_pipe_pool_release(struct bm_pipe_pool *pool)
{
    bm_port_free(pool->port);
    bm_bank_free(&pool->under);
    bm_bank_free(&pool->alone);
    memset(pool, 0, sizeof(*pool));
}

static void fail(struct bm_pipe *p, int rc)
{
    if (!p->rc)
        p->rc = rc;
}

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Whether a stretch of an own piece goes without a copy. */
static int is_direct(const struct bm_pipe *p, const struct lane *l,
                     uint64_t bytes)
{
    return l == p->own && !p->o.copy && !p->calls.fill && bytes >= DIRECT;
}

/* ---- who has what in which round ---------------------------------------- */

/* The piece of this rank from number 'i' on. */
static size_t mine_from(const struct bm_pipe *p, const struct bm_flow *f,
                        size_t i)
{
    while (i < f->count &&
           (f->pieces[i].rank != p->comm->rank || !f->pieces[i].bytes))
        i++;
    return i;
}

/* Find the round of the next byte. Rounds only ascend. */
static void find_round(struct lane *l)
{
    const struct bm_rounds *r = &l->flow->rounds;
    uint64_t at;

    if (l->next >= l->flow->count) {
        l->round = r->count;
        return;
    }
    at = l->flow->pieces[l->next].at + l->from;
    if (l->round < r->count && r->start[l->round + 1] > at &&
        r->start[l->round] <= at)
        return;
    l->round = bm_rounds_find(r, at);
}

/* What is on: a stretch of a piece that lies in one round. */
struct stretch {
    const struct bm_piece *piece;
    uint64_t from, bytes; /* in the piece */
    uint64_t in_round;
};

static struct stretch stretch_of(const struct bm_flow *f, size_t piece,
                                 size_t round)
{
    const struct bm_piece *q = &f->pieces[piece];
    uint64_t begin = f->rounds.start[round], end = f->rounds.start[round + 1];
    uint64_t from = q->at > begin ? 0 : begin - q->at;
    uint64_t to = q->at + q->bytes < end ? q->bytes : end - q->at;

    return (struct stretch){q, from, to - from, q->at + from - begin};
}

/* Go on behind a stretch. */
static void advance(const struct bm_pipe *p, struct lane *l,
                    const struct stretch *s)
{
    l->from = s->from + s->bytes;
    if (l->from == s->piece->bytes) {
        l->next = mine_from(p, l->flow, l->next + 1);
        l->from = 0;
    }
    find_round(l);
}

/* The pieces of each round of the flow that this rank gathers. */
static int list_cuts(struct bm_pipe *p)
{
    const struct bm_flow *f = p->own->flow;
    size_t rounds = f->rounds.count, total = 0;

    p->first_cut = bm_new(p->a, rounds + 2, sizeof(*p->first_cut));
    if (!p->first_cut)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < f->count; i++) {
        size_t r, last;

        if (!f->pieces[i].bytes)
            continue;
        r = bm_rounds_find(&f->rounds, f->pieces[i].at);
        last = bm_rounds_find(&f->rounds,
                              f->pieces[i].at + f->pieces[i].bytes - 1);
        for (; r <= last; r++, total++)
            p->first_cut[r + 2]++;
    }
    for (size_t r = 0; r < rounds; r++)
        p->first_cut[r + 2] += p->first_cut[r + 1];
    p->cuts = bm_new_raw(p->a, total, sizeof(*p->cuts));
    if (!p->cuts)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < f->count; i++) {
        size_t r, last;

        if (!f->pieces[i].bytes)
            continue;
        r = bm_rounds_find(&f->rounds, f->pieces[i].at);
        last = bm_rounds_find(&f->rounds,
                              f->pieces[i].at + f->pieces[i].bytes - 1);
        for (; r <= last; r++)
            p->cuts[p->first_cut[r + 1]++] = i;
    }
    return BOUMA_OK;
}

/* The ranks of each round. */
static int list_ranks(struct bm_pipe *p)
{
    const struct bm_flow *f = p->own->flow;
    size_t rounds = f->rounds.count, n = 0;
    size_t *seen = bm_new(p->a, (size_t)p->comm->size, sizeof(*seen));

    p->first_rank = bm_new(p->a, rounds + 1, sizeof(*p->first_rank));
    p->ranks = bm_new_raw(p->a, p->first_cut[rounds], sizeof(*p->ranks));
    if (seen && p->first_rank && p->ranks)
        for (size_t r = 0; r < rounds; r++) {
            for (size_t i = p->first_cut[r]; i < p->first_cut[r + 1]; i++) {
                int rank = f->pieces[p->cuts[i]].rank;

                if (seen[rank] == r + 1)
                    continue;
                seen[rank] = r + 1;
                p->ranks[n++] = rank;
            }
            p->first_rank[r + 1] = n;
        }
    bm_drop(p->a, seen);
    return seen && p->first_rank && p->ranks ? BOUMA_OK : BOUMA_ENOMEM;
}

/* ---- making and ending -------------------------------------------------- */

/* Of all pieces that this rank gathers: the most in one round, and their bytes,
 * which are more than a buffer's if pieces overlap. */
static void most_cuts(const struct bm_pipe *p, size_t *most, size_t *most_bytes)
{
    const struct bm_flow *f = p->own->flow;

    *most = *most_bytes = 0;
    for (size_t r = 0; r < f->rounds.count; r++) {
        size_t bytes = 0;

        for (size_t i = p->first_cut[r]; i < p->first_cut[r + 1]; i++)
            bytes += (size_t)stretch_of(f, p->cuts[i], r).bytes;
        if (p->first_cut[r + 1] - p->first_cut[r] > *most)
            *most = p->first_cut[r + 1] - p->first_cut[r];
        if (bytes > *most_bytes)
            *most_bytes = bytes;
    }
}

/* Of this rank's pieces in a flow: the most in one round, and their bytes. */
static void most_of_lane(const struct bm_pipe *p, const struct lane *l,
                         size_t *most, size_t *most_bytes)
{
    const struct bm_flow *f = l->flow;
    size_t round = SIZE_MAX, n = 0;
    uint64_t bytes = 0;

    *most = 0;
    *most_bytes = 0;
    for (size_t i = mine_from(p, f, 0); i < f->count;
         i = mine_from(p, f, i + 1)) {
        uint64_t end = f->pieces[i].at + f->pieces[i].bytes;

        for (size_t r = bm_rounds_find(&f->rounds, f->pieces[i].at);
             r < f->rounds.count && f->rounds.start[r] < end; r++) {
            if (r != round)
                n = bytes = 0;
            round = r;
            n++;
            bytes += stretch_of(f, i, r).bytes;
            if (n > *most)
                *most = n;
            if (bytes > *most_bytes)
                *most_bytes = (size_t)bytes;
        }
    }
}

/* By messages, requests and, for what is filled, a place to fill it. */
static int prepare_messages(struct bm_pipe *p)
{
    size_t most = 0, bytes = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < p->flow_count && !rc; i++) {
        if (&p->lanes[i] == p->own)
            continue;
        most_of_lane(p, &p->lanes[i], &most, &bytes);
        rc = bm_transfer_init(&p->lanes[i].transfer, p->comm, most, bytes);
        if (bytes > p->stage_bytes)
            p->stage_bytes = bytes;
    }
    if (!rc && p->calls.fill && p->stage_bytes) {
        p->stage = bm_new_raw(p->a, p->stage_bytes, 1);
        rc = p->stage ? BOUMA_OK : BOUMA_ENOMEM;
    }
    if (!rc && p->own)
        most_cuts(p, &most, &bytes);
    for (size_t i = 0; i < p->slot_count && !rc; i++)
        rc = bm_transfer_init(&p->slots[i].transfer, p->comm, most, bytes);
    return rc;
}

static int keep_round(void *context, size_t job, struct bm_error *error);

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

static int prepare_gatherer(struct bm_pipe *p)
{
    size_t rounds = p->own->flow->rounds.count;
    int rc = list_cuts(p);

    /* What is loaded straight to where it goes is nowhere for others. */
    if (p->o.reading && overlap(p->own->flow))
        p->o.copy = 1;
    if (!rc)
        rc = list_ranks(p);
    p->slot_count =
        rounds < (size_t)p->o.buffers ? rounds : (size_t)p->o.buffers;
    p->slots = bm_new(p->a, p->slot_count, sizeof(*p->slots));
    if (!rc)
        p->keeper = bm_keeper_new(p->a, rounds, keep_round, p);
    return !rc && p->slots && p->keeper ? BOUMA_OK : BOUMA_ENOMEM;
}

int bm_pipe_new(struct bm_pipe **out, struct bm_comm *comm,
                struct bm_flow *flows, size_t count,
                const struct bm_pipe_options *options,
                const struct bm_pipe_calls *calls)
{
    struct bm_pipe *p = bm_new(comm->a, 1, sizeof(*p));
    int rc = p ? BOUMA_OK : BOUMA_ENOMEM;

    *out = p;
    if (!p) {
        for (size_t i = 0; i < count; i++) {
            bm_rounds_release(&flows[i].rounds);
            bm_drop(comm->a, flows[i].pieces);
        }
        bm_drop(comm->a, flows);
        return rc;
    }
    p->comm = comm;
    p->a = comm->a;
    p->o = *options;
    p->calls = *calls;
    p->flows = flows;
    p->flow_count = count;
    p->lanes = bm_new(p->a, count, sizeof(*p->lanes));
    p->opened =
        bm_new(p->a, count * (size_t)options->buffers, sizeof(*p->opened));
    if (!p->lanes || !p->opened)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct lane *l = &p->lanes[i];

        l->flow = &flows[i];
        l->slot_bytes = round_up((size_t)flows[i].rounds.largest);
        l->opened = &p->opened[i * (size_t)options->buffers];
        for (int k = 0; k < options->buffers; k++)
            l->opened[k] = options->reading ? -1 : k;
        l->next = mine_from(p, l->flow, 0);
        find_round(l);
        if (flows[i].gatherer == comm->rank && flows[i].rounds.count)
            p->own = l;
        for (size_t k = 0; k < flows[i].count && calls->fill; k++)
            if (flows[i].pieces[k].rank == comm->rank &&
                flows[i].pieces[k].bytes > p->scratch_bytes)
                p->scratch_bytes = (size_t)flows[i].pieces[k].bytes;
    }
    if (p->own)
        rc = prepare_gatherer(p);
    if (!rc && p->scratch_bytes) {
        p->scratch = bm_new_raw(p->a, p->scratch_bytes, 1);
        rc = p->scratch ? BOUMA_OK : BOUMA_ENOMEM;
    }
    return rc;
}

void bm_pipe_free(struct bm_pipe *p)
{
    if (!p)
        return;
    bm_keeper_free(p->keeper);
    for (size_t i = 0; i < p->flow_count; i++) {
        if (p->lanes)
            bm_transfer_release(&p->lanes[i].transfer);
        bm_rounds_release(&p->flows[i].rounds);
        bm_drop(p->a, p->flows[i].pieces);
    }
    for (size_t i = 0; i < p->slot_count && p->slots; i++)
        bm_transfer_release(&p->slots[i].transfer);
    bm_drop(p->a, p->flows);
    bm_drop(p->a, p->lanes);
    bm_drop(p->a, p->opened);
    bm_drop(p->a, p->slots);
    bm_drop(p->a, p->first_cut);
    bm_drop(p->a, p->cuts);
    bm_drop(p->a, p->first_rank);
    bm_drop(p->a, p->ranks);
    bm_drop(p->a, p->scratch);
    bm_drop(p->a, p->stage);
    bm_drop(p->a, p);
}

/* ---- buffers ------------------------------------------------------------ */

/* The buffers that this rank needs: none, if all goes without a copy. */
static size_t needed(const struct bm_pipe *p, int *others)
{
    const struct bm_flow *f = p->own ? p->own->flow : NULL;
    int any = 0;

    *others = 0;
    for (size_t r = 0; f && r < f->rounds.count; r++)
        for (size_t i = p->first_cut[r]; i < p->first_cut[r + 1]; i++) {
            struct stretch s = stretch_of(f, p->cuts[i], r);
            int own = s.piece->rank == p->comm->rank;

            any |= !own || !is_direct(p, p->own, s.bytes);
            *others |= !own;
        }
    return any ? p->slot_count * p->own->slot_bytes : 0;
}

/* Whether the pool has a port with what this rank needs. */
static int has_port(const struct bm_pipe_pool *pool, size_t bytes,
                    bouma_tier tier)
{
    bouma_tier has = pool->under.tier ? pool->under.tier : BOUMA_TIER_DRAM;

    return !bytes || (pool->port && pool->port->bytes >= bytes && has == tier);
}

/* Memory in a tier, or in DRAM where it was not insisted on the tier. */
static int get_bank(const struct bm_pipe *p, struct bm_bank *bank, size_t bytes,
                    bouma_tier tier, struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = bm_bank_new(bank, tier, bytes, p->o.local, p->a, &why);

    if (rc && !p->o.strict && tier != BOUMA_TIER_DRAM) {
        bm_error_clear(&why);
        rc = bm_bank_new(bank, BOUMA_TIER_DRAM, bytes, NULL, p->a, &why);
    }
    return rc ? bm_fail(error, rc, "%s", why.text) : rc;
}

/* A new port over a bank, or with memory of its own. Collective. */
static int renew_port(struct bm_pipe *p, struct bm_pipe_pool *pool,
                      size_t bytes, bouma_tier tier, int rc,
                      struct bm_error *error)
{
    size_t had = pool->port ? pool->port->bytes : 0;

    bm_port_free(pool->port);
    pool->port = NULL;
    bm_bank_free(&pool->under);
    /* Never less than before, else two kinds of data would take turns. */
    if (bytes < had)
        bytes = had;
    if (!rc && bytes && tier != BOUMA_TIER_DRAM)
        rc = get_bank(p, &pool->under, bytes, tier, error);
    if (pool->under.tier == BOUMA_TIER_DRAM) /* the port has better memory */
        bm_bank_free(&pool->under);
    rc = bm_comm_agree(p->comm, rc, error);
    if (rc)
        return rc;
    if (bm_port_new(&pool->port, p->comm, pool->under.data, bytes))
        pool->port = NULL; /* then by messages */
    return rc;
}

int bm_pipe_open(struct bm_pipe *p, struct bm_comm *comm,
                 struct bm_pipe_pool *pool, int rc, struct bm_error *error)
{
    bouma_tier tier = p && p->o.tier ? p->o.tier : BOUMA_TIER_DRAM;
    int others = 0, in_port;
    size_t bytes = p && !rc ? needed(p, &others) : 0;
    uint64_t wants[3] = {0};

    /* Whatever this rank has to say comes with the agreement. */
    wants[0] = rc != BOUMA_OK;
    wants[1] = others && p->o.transport != BOUMA_TRANSPORT_MESSAGES;
    wants[2] = !has_port(pool, bytes, tier);
    if (bm_comm_max(comm, wants, 3, error))
        return BOUMA_ECOMM;
    if (wants[0])
        return bm_comm_agree(comm, rc, error);
    in_port = wants[1] != 0;
    if (in_port && wants[2])
        rc = renew_port(p, pool, bytes, tier, rc, error);
    if (rc)
        return rc;
    if (in_port && pool->port) {
        p->port = pool->port;
        p->memory = pool->port->memory;
        return rc;
    }
    if (bytes && (pool->alone.tier != tier || pool->alone.bytes < bytes)) {
        bm_bank_free(&pool->alone);
        rc = get_bank(p, &pool->alone, bytes, tier, error);
    }
    p->memory = pool->alone.data;
    if (!rc && p->comm->size > 1 && prepare_messages(p))
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for messages");
    return bm_comm_agree(comm, rc, error);
}

/* ---- storing ------------------------------------------------------------ */

/* The thread's: a round to storage, or back; own stretches straight from where
 * they are. */
static int keep_round(void *context, size_t round, struct bm_error *error)
{
    struct bm_pipe *p = context;
    const struct bm_flow *f = p->own->flow;
    const struct slot *slot = &p->slots[round % p->slot_count];
    uint64_t begin = f->rounds.start[round], end = f->rounds.start[round + 1];
    uint64_t at = begin;
    uint8_t *buffer =
        p->memory ? p->memory + round % p->slot_count * p->own->slot_bytes
                  : NULL;
    int rc = BOUMA_OK;

    if (slot->poor)
        return rc;
    for (size_t i = p->first_cut[round]; i < p->first_cut[round + 1] && !rc;
         i++) {
        struct stretch s = stretch_of(f, p->cuts[i], round);
        uint64_t here = begin + s.in_round;

        if (s.piece->rank != p->comm->rank || !is_direct(p, p->own, s.bytes))
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
    p->handed++;
    bm_keeper_hand(p->keeper, round);
}

/* Whether the storing of this rank has failed. */
static int has_failed(struct bm_pipe *p)
{
    return bm_keeper_status(p->keeper, &p->error) != BOUMA_OK || p->rc;
}

static void note(struct bm_pipe *p, int peer, uint32_t what, size_t round,
                 int failed)
{
    struct bm_note n = {peer, what, round | (failed ? FAILED : 0)};

    fail(p, bm_comm_note(p->comm, &n, &p->error));
}

/* ---- the gatherer's side ------------------------------------------------ */

static struct slot *slot_of(struct bm_pipe *p, size_t round)
{
    return &p->slots[round % p->slot_count];
}

static uint8_t *slot_memory(struct bm_pipe *p, size_t round)
{
    return p->memory ? p->memory + round % p->slot_count * p->own->slot_bytes
                     : NULL;
}

/* By messages: send or receive what others have of a round. With 'empty',
 * nothing that could be used. */
static void start_messages(struct bm_pipe *p, size_t round, int empty)
{
    struct slot *slot = slot_of(p, round);
    int channel = (int)(round % (size_t)p->o.buffers), rc = BOUMA_OK;

    for (size_t i = p->first_cut[round]; i < p->first_cut[round + 1] && !rc;
         i++) {
        struct stretch s = stretch_of(p->own->flow, p->cuts[i], round);
        struct bm_message m = {
            s.piece->rank, slot_memory(p, round) + s.in_round, (size_t)s.bytes};

        if (s.piece->rank == p->comm->rank)
            continue;
        if (p->o.reading) {
            m.data = empty ? NULL : m.data;
            rc = bm_transfer_send(&slot->transfer, channel, &m, 1, &p->error);
        } else {
            rc =
                bm_transfer_receive(&slot->transfer, channel, &m, 1, &p->error);
        }
    }
    fail(p, rc);
    slot->waiting = 1;
}

/* Let others (and this rank) at the buffer of a round. */
static void open_round(struct bm_pipe *p, size_t round)
{
    struct slot *slot = slot_of(p, round);
    int failed = has_failed(p);
    int told = p->o.reading || round >= p->slot_count;
    size_t first = p->first_rank[round], end = p->first_rank[round + 1];
    int mine = 0, others = 0;

    slot->open = 1;
    for (size_t i = first; i < end; i++) {
        if (p->ranks[i] == p->comm->rank) {
            mine = 1;
            continue;
        }
        others++;
        if (told && (p->port || !p->o.reading))
            note(p, p->ranks[i], OPEN, round, failed);
    }
    slot->missing = (size_t)mine + (p->port ? (size_t)others : others > 0);
    if (!p->port && others)
        start_messages(p, round, failed);
}

/* A buffer is free: for this round, if there is one. */
static void begin_round(struct bm_pipe *p, size_t round)
{
    struct slot *slot = slot_of(p, round);

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

/* All ranks are done with a buffer. Rounds go on in their order, whichever is
 * complete first: those that have pieces count on it. */
static void close_round(struct bm_pipe *p, size_t round)
{
    slot_of(p, round)->open = 0;
    slot_of(p, round)->closed = 1;
    while (p->closed < p->own->flow->rounds.count &&
           slot_of(p, p->closed)->round == p->closed &&
           slot_of(p, p->closed)->closed) {
        size_t next = p->closed++;

        slot_of(p, next)->closed = 0;
        if (!p->o.reading) {
            if (p->port)
                fail(p, bm_port_flush(p->port, p->comm->rank, &p->error));
            hand_over(p, next);
        } else {
            p->over++;
            begin_round(p, next + p->slot_count);
        }
    }
}

static void one_is_done(struct bm_pipe *p, size_t round, int failed)
{
    struct slot *slot = slot_of(p, round);

    slot->poor |= failed;
    if (--slot->missing == 0)
        close_round(p, round);
}

/* What the thread has done; with 'wait', wait for the next. */
static int collect_jobs(struct bm_pipe *p, int wait)
{
    size_t round;
    int any = 0;

    while (p->keeper && bm_keeper_next(p->keeper, &round, wait && !any)) {
        any = 1;
        if (p->o.reading) {
            open_round(p, round);
        } else {
            p->over++;
            begin_round(p, round + p->slot_count);
        }
        if (p->calls.progress)
            p->calls.progress(p->calls.context, p->over,
                              p->own->flow->rounds.count);
    }
    return any;
}

/* By messages: rounds of which all is there, or has gone. */
static int collect_transfers(struct bm_pipe *p)
{
    int any = 0;

    for (size_t i = 0; i < p->slot_count && !p->port; i++) {
        struct slot *slot = &p->slots[i];
        int done;

        if (!slot->waiting)
            continue;
        fail(p, bm_transfer_test(&slot->transfer, &done, &p->error));
        if (!done)
            continue;
        any = 1;
        slot->waiting = 0;
        one_is_done(p, slot->round, 0);
    }
    return any;
}

/* ---- the side of those that have pieces --------------------------------- */

static struct lane *lane_to(struct bm_pipe *p, int gatherer)
{
    size_t low = 0, high = p->flow_count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (p->flows[mid].gatherer < gatherer)
            low = mid + 1;
        else
            high = mid;
    }
    return low < p->flow_count && p->flows[low].gatherer == gatherer
               ? &p->lanes[low]
               : NULL;
}

static int hear_notes(struct bm_pipe *p)
{
    int any = 0, heard = 1;

    while (heard && p->comm->size > 1 && p->rc != BOUMA_ECOMM) {
        struct bm_note n;
        size_t round;

        fail(p, bm_comm_hear(p->comm, &n, &heard, &p->error));
        if (!heard)
            break;
        any = 1;
        round = (size_t)(n.value & ~FAILED);
        if (n.what == OPEN) {
            struct lane *l = lane_to(p, n.peer);

            if (l) {
                l->opened[round % (size_t)p->o.buffers] = (int64_t)round;
                l->dead |= (n.value & FAILED) != 0;
            }
        } else if (p->own && slot_of(p, round)->round == round) {
            one_is_done(p, round, (n.value & FAILED) != 0);
        }
    }
    return any;
}

/* The bytes of a stretch, made in 'room' if they are to be filled and can be
 * filled there. NULL: not known yet. */
static uint8_t *bytes_of(struct bm_pipe *p, const struct stretch *s,
                         uint8_t *room)
{
    uint8_t *bytes;

    if (!p->calls.fill) {
        bytes = p->calls.bytes(p->calls.context, s->piece->tag);
        return bytes ? bytes + s->from : NULL;
    }
    if (room && s->bytes == s->piece->bytes) {
        p->calls.fill(p->calls.context, s->piece->tag, room);
        return room;
    }
    if (!p->scratch_full || p->scratch_tag != s->piece->tag)
        p->calls.fill(p->calls.context, s->piece->tag, p->scratch);
    p->scratch_full = 1;
    p->scratch_tag = s->piece->tag;
    return p->scratch + s->from;
}

/* Move a stretch between this rank's memory and a buffer to which 'room' leads,
 * or a port. 0: not yet. */
static int move(struct bm_pipe *p, struct lane *l, const struct stretch *s,
                uint8_t *room)
{
    int peer = l->flow->gatherer, rc = BOUMA_OK;
    size_t at = l->round % (size_t)p->o.buffers * l->slot_bytes + s->in_round;
    uint8_t *bytes;

    if (is_direct(p, l, s->bytes))
        return p->calls.bytes(p->calls.context, s->piece->tag) != NULL;
    bytes = bytes_of(p, s, room);
    if (!bytes)
        return 0;
    if (bytes == room)
        ;
    else if (room && p->o.reading)
        memcpy(bytes, room, s->bytes);
    else if (room)
        memcpy(room, bytes, s->bytes);
    else if (p->o.reading)
        rc = bm_port_get(p->port, peer, at, bytes, s->bytes, &p->error);
    else
        rc = bm_port_put(p->port, peer, at, bytes, s->bytes, &p->error);
    /* What was filled is filled anew before long. */
    if (!rc && !room && p->calls.fill)
        rc = bm_port_flush(p->port, peer, &p->error);
    if (l != p->own)
        p->moved += s->bytes;
    fail(p, rc);
    return 1;
}

/* This rank is done with a round. */
static void finish_round(struct bm_pipe *p, struct lane *l, size_t round)
{
    if (l == p->own) {
        one_is_done(p, round, p->rc != BOUMA_OK);
        return;
    }
    p->moved_rounds++;
    fail(p, bm_port_flush(p->port, l->flow->gatherer, &p->error));
    note(p, l->flow->gatherer, DONE, round, p->rc != BOUMA_OK);
}

/* One stretch, by a port or into this rank's own buffer. */
static int step_by_port(struct bm_pipe *p, struct lane *l)
{
    size_t round = l->round;
    struct stretch s = stretch_of(l->flow, l->next, round);
    uint8_t *room = NULL;

    if (l == p->own) {
        uint8_t *memory = slot_memory(p, round);

        room = memory ? memory + s.in_round : NULL;
    } else {
        room = bm_port_room(p->port, l->flow->gatherer);
        if (room)
            room += round % (size_t)p->o.buffers * l->slot_bytes + s.in_round;
    }
    if (!l->dead && !p->rc && !move(p, l, &s, room))
        return 0;
    advance(p, l, &s);
    if (l->round != round)
        finish_round(p, l, round);
    return 1;
}

/* All bytes of a round, by messages. What is to be filled is filled into the
 * stage, which has room for one round. */
static int step_by_messages(struct bm_pipe *p, struct lane *l)
{
    size_t round = l->round, staged = 0;
    struct lane ahead = *l;
    int channel = (int)(round % (size_t)p->o.buffers);
    int done, rc = BOUMA_OK;

    if (l->waiting) {
        fail(p, bm_transfer_test(&l->transfer, &done, &p->error));
        if (!done)
            return 0;
        l->waiting = 0;
        p->staging = p->staging == l ? NULL : p->staging;
        return 1;
    }
    if (p->stage && p->staging)
        return 0;
    /* All of it has to be known. */
    while (ahead.round == round && !p->calls.fill && !p->rc) {
        struct stretch s = stretch_of(ahead.flow, ahead.next, round);

        if (!p->calls.bytes(p->calls.context, s.piece->tag))
            return 0;
        advance(p, &ahead, &s);
    }
    while (l->round == round && !rc) {
        struct stretch s = stretch_of(l->flow, l->next, round);
        struct bm_message m = {l->flow->gatherer, NULL, (size_t)s.bytes};

        if (p->o.reading) {
            m.data = p->calls.bytes(p->calls.context, s.piece->tag) + s.from;
            rc = bm_transfer_receive(&l->transfer, channel, &m, 1, &p->error);
        } else {
            if (!l->dead && !p->rc)
                m.data = bytes_of(p, &s, p->stage ? p->stage + staged : NULL);
            if (p->stage && m.data) {
                if (m.data != p->stage + staged)
                    memcpy(p->stage + staged, m.data, m.bytes);
                m.data = p->stage + staged;
                staged += m.bytes;
                p->staging = l;
            }
            rc = bm_transfer_send(&l->transfer, channel, &m, 1, &p->error);
        }
        p->moved += s.bytes;
        advance(p, l, &s);
    }
    fail(p, rc);
    p->moved_rounds++;
    l->waiting = 1;
    return 1;
}

/* Whether a lane may go on; by messages what is read comes when it comes. */
static int may_go_on(const struct bm_pipe *p, const struct lane *l)
{
    if (l->waiting)
        return 1;
    if (l->round >= l->flow->rounds.count)
        return 0;
    if (l == p->own) {
        const struct slot *slot = &p->slots[l->round % p->slot_count];

        return slot->round == l->round && slot->open;
    }
    return l->opened[l->round % (size_t)p->o.buffers] == (int64_t)l->round ||
           (!p->port && p->o.reading);
}

static int step_lanes(struct bm_pipe *p)
{
    for (size_t i = 0; i < p->flow_count; i++) {
        size_t which = (p->turn + i) % p->flow_count;
        struct lane *l = &p->lanes[which];
        int went = 0;

        if (!may_go_on(p, l))
            continue;
        went = l == p->own || p->port ? step_by_port(p, l)
                                      : step_by_messages(p, l);
        if (went) {
            p->turn = which; /* it keeps its turn while it can go on */
            return 1;
        }
    }
    return 0;
}

/* ---- all of it ---------------------------------------------------------- */

int bm_pipe_step(struct bm_pipe *p)
{
    int any;

    for (size_t r = 0; r < p->slot_count && !p->begun; r++)
        begin_round(p, r);
    p->begun = 1;
    any = hear_notes(p);
    if (p->own) {
        any |= collect_jobs(p, 0);
        any |= collect_transfers(p);
    }
    return step_lanes(p) || any;
}

static int is_finished(const struct bm_pipe *p, int stored)
{
    for (size_t i = 0; i < p->flow_count; i++)
        if (p->lanes[i].round < p->flows[i].rounds.count || p->lanes[i].waiting)
            return 0;
    if (!p->own)
        return 1;
    return (stored || p->o.reading ? p->over : p->handed) ==
           p->own->flow->rounds.count;
}

/* Whether this rank's thread is all that can bring it on: nobody else is there,
 * or has anything to do with it any more. */
static int waits_for_thread(const struct bm_pipe *p)
{
    size_t waited = p->o.reading ? p->over : p->handed;

    if (!p->own || p->rc)
        return 0;
    if (p->comm->size == 1)
        return 1;
    for (size_t i = 0; i < p->flow_count; i++)
        if (p->lanes[i].round < p->flows[i].rounds.count || p->lanes[i].waiting)
            return 0;
    return waited == p->own->flow->rounds.count;
}

int bm_pipe_run(struct bm_pipe *p, int stored, int rc, struct bm_error *error)
{
    double since = bm_clock();
    unsigned idle = 0;
    int kept;

    fail(p, rc);
    while (!is_finished(p, stored) && p->rc != BOUMA_ECOMM) {
        if (bm_pipe_step(p)) {
            idle = 0;
            since = bm_clock();
        } else if (!waits_for_thread(p) || !collect_jobs(p, 1)) {
            int waited = bm_comm_idle(p->comm, idle++, since, &p->error);

            if (waited)
                p->rc = waited;
        }
    }
    kept = p->keeper ? bm_keeper_status(p->keeper, &p->error) : BOUMA_OK;
    fail(p, kept);
    if (p->rc && p->error.status)
        bm_fail(error, p->error.status, "%s", p->error.text);
    return rc ? rc : p->rc;
}

int bm_pipe_wait(struct bm_pipe *p, struct bm_error *error)
{
    return p->keeper ? bm_keeper_wait(p->keeper, error) : BOUMA_OK;
}

struct bm_pipe_deeds bm_pipe_deeds_of(const struct bm_pipe *p)
{
    return (struct bm_pipe_deeds){
        p->moved, p->moved_rounds, p->keeper ? bm_keeper_seconds(p->keeper) : 0,
        p->own ? p->slot_count * p->own->slot_bytes : 0};
}
