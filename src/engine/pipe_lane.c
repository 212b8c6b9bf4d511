/* pipe_lane.c -- the side of those that have pieces; see pipe_inside.h. */
#include <string.h>

#include "base/search.h"
#include "engine/pipe_inside.h"

struct bm_lane *bm_lane_to(const struct bm_lanes *lanes, int gatherer)
{
    size_t at = 0;

    BM_BISECT(at, lanes->count, i, lanes->flows[i].gatherer <= gatherer);
    return lanes->count && lanes->flows[at].gatherer == gatherer
               ? &lanes->each[at]
               : NULL;
}

uint8_t *bm_lane_room(const struct bm_pipe *p, const struct bm_lane *l)
{
    if (l == p->own)
        return p->gathering.memory;
    return p->port ? bm_port_room(p->port, l->flow->gatherer) : NULL;
}

/* ---- pieces that are made, or taken ------------------------------------- */

/* Whether a piece can be made in, or taken from, where it is in a buffer. */
static int is_fit(const struct bm_pipe_calls *calls, const struct bm_stretch *s,
                  const uint8_t *room)
{
    return room && s->bytes == s->piece->bytes &&
           (!calls->alignment || (uintptr_t)room % calls->alignment == 0);
}

/* The bytes of a stretch, made in 'room' if they are to be filled and can be
 * filled there. NULL: not known yet. */
static uint8_t *bytes_of(const struct bm_pipe_calls *calls,
                         struct bm_scratch *scratch, const struct bm_stretch *s,
                         uint8_t *room)
{
    uint8_t *bytes;

    if (!calls->fill) {
        bytes = calls->bytes(calls->context, s->piece->tag);
        return bytes ? bytes + s->from : NULL;
    }
    if (is_fit(calls, s, room)) {
        calls->fill(calls->context, s->piece->tag, room);
        return room;
    }
    if (!scratch->full || scratch->tag != s->piece->tag)
        calls->fill(calls->context, s->piece->tag, scratch->memory);
    scratch->full = 1;
    scratch->tag = s->piece->tag;
    return scratch->memory + s->from;
}

/* Take a piece, which is whole in its round, from a buffer. */
static void take(const struct bm_pipe_calls *calls, struct bm_scratch *scratch,
                 const struct bm_stretch *s, const uint8_t *room)
{
    if (!is_fit(calls, s, room)) {
        memcpy(scratch->memory, room, (size_t)s->bytes);
        room = scratch->memory;
    }
    calls->take(calls->context, s->piece->tag, room);
}

/* ---- by memory that both see -------------------------------------------- */

/* Move a stretch between this rank's memory and 'room', its bytes in a buffer.
 * 0: not yet. */
static int move(struct bm_pipe *p, struct bm_lane *l,
                const struct bm_stretch *s, uint8_t *room)
{
    uint8_t *bytes = NULL;

    if (bm_pipe_is_direct(p, l, l->round, s->bytes))
        return p->calls.bytes(p->calls.context, s->piece->tag) != NULL;
    if (!p->calls.take) {
        bytes = bytes_of(&p->calls, &p->scratch, s, room);
        if (!bytes)
            return 0;
    }
    if (p->calls.take)
        take(&p->calls, &p->scratch, s, room);
    else if (bytes != room && p->o.reading)
        memcpy(bytes, room, s->bytes);
    else if (bytes != room)
        memcpy(room, bytes, s->bytes);
    if (l != p->own)
        p->moved.bytes += s->bytes;
    return 1;
}

/* This rank is done with a round. */
static void finish_round(struct bm_pipe *p, struct bm_lane *l, size_t round)
{
    if (l == p->own) {
        bm_gather_one_done(p, round, p->failure.rc != BOUMA_OK);
        return;
    }
    p->moved.rounds++;
    bm_pipe_signal(p, l->flow->gatherer, BM_DONE, round,
                   p->failure.rc != BOUMA_OK);
}

/* One stretch. */
static int step_by_memory(struct bm_pipe *p, struct bm_lane *l)
{
    size_t round = l->round;
    struct bm_stretch s = bm_stretch_of(l->flow, l->next, round);
    uint8_t *room = bm_lane_room(p, l);

    if (room) /* without it, all of an own lane goes without a copy */
        room += round % (size_t)p->o.buffers * l->slot_bytes + s.in_round;
    if (!l->dead && !p->failure.rc && !move(p, l, &s, room))
        return 0;
    bm_lane_advance(l, p->comm->rank, &s);
    if (l->round != round)
        finish_round(p, l, round);
    return 1;
}

/* ---- by messages -------------------------------------------------------- */

/* What of a round that was received is to be taken out of the stage. */
static void take_staged(struct bm_pipe *p, struct bm_lane *l)
{
    const struct bm_flow *f = l->flow;
    size_t end = l->next < f->count ? l->next : f->count, at = 0;

    for (size_t i = l->staged; i < end;
         i = bm_flow_skip(f, p->comm->rank, i + 1)) {
        if (!l->dead && !p->failure.rc)
            p->calls.take(p->calls.context, f->pieces[i].tag,
                          p->stage.memory + at);
        at += (size_t)f->pieces[i].bytes;
    }
}

/* Whether the messages of a lane have come through. */
static int end_messages(struct bm_pipe *p, struct bm_lane *l)
{
    int done;

    bm_pipe_break(p, bm_transfer_test(&l->transfer, &done, &p->failure.error));
    if (!done)
        return 0;
    l->dead |= l->transfer.empty;
    l->transfer.empty = 0;
    if (p->calls.take)
        take_staged(p, l);
    l->waiting = 0;
    p->stage.user = p->stage.user == l ? NULL : p->stage.user;
    return 1;
}

/* Whether all bytes of this rank for the round that is on are known. */
static int are_known(const struct bm_pipe *p, const struct bm_lane *l)
{
    struct bm_lane ahead = *l;

    while (ahead.round == l->round && !bm_pipe_is_made(&p->calls) &&
           !p->failure.rc) {
        struct bm_stretch s =
            bm_stretch_of(ahead.flow, ahead.next, ahead.round);

        if (!p->calls.bytes(p->calls.context, s.piece->tag))
            return 0;
        bm_lane_advance(&ahead, p->comm->rank, &s);
    }
    return 1;
}

/* The bytes of a stretch for a message, or where they go, if anywhere. */
static uint8_t *message_bytes(struct bm_pipe *p, struct bm_lane *l,
                              const struct bm_stretch *s, size_t staged)
{
    uint8_t *room = p->stage.memory ? p->stage.memory + staged : NULL, *bytes;

    if (p->stage.memory)
        p->stage.user = l;
    if (p->calls.take)
        return room;
    if (p->o.reading)
        return p->calls.bytes(p->calls.context, s->piece->tag) + s->from;
    if (l->dead || p->failure.rc)
        return NULL;
    bytes = bytes_of(&p->calls, &p->scratch, s, room);
    if (room && bytes != room)
        memcpy(room, bytes, (size_t)s->bytes);
    return room ? room : bytes;
}

/* All bytes of a round, by messages. What is filled or taken is so in the
 * stage, which has room for one round. */
static int step_by_messages(struct bm_pipe *p, struct bm_lane *l)
{
    size_t round = l->round, staged = 0;
    int channel = (int)(round % (size_t)p->o.buffers), rc = BOUMA_OK;

    if (l->waiting)
        return end_messages(p, l);
    if ((p->stage.memory && p->stage.user) || !are_known(p, l))
        return 0;
    l->staged = l->next;
    while (l->round == round && !rc) {
        struct bm_stretch s = bm_stretch_of(l->flow, l->next, round);
        struct bm_message m = {l->flow->gatherer,
                               message_bytes(p, l, &s, staged),
                               (size_t)s.bytes};

        rc = p->o.reading ? bm_transfer_receive(&l->transfer, channel, &m, 1,
                                                &p->failure.error)
                          : bm_transfer_send(&l->transfer, channel, &m, 1,
                                             &p->failure.error);
        staged += m.bytes;
        p->moved.bytes += s.bytes;
        bm_lane_advance(l, p->comm->rank, &s);
    }
    bm_pipe_break(p, rc);
    p->moved.rounds++;
    l->waiting = 1;
    return 1;
}

/* ---- one of them -------------------------------------------------------- */

/* Whether a lane may go on; see is_told() of the gatherer. Messages of a round
 * may have left before a later one is opened in its buffer. */
static int may_go_on(const struct bm_pipe *p, const struct bm_lane *l)
{
    if (l->waiting)
        return 1;
    if (l->round >= l->flow->rounds.count)
        return 0;
    if (l == p->own) {
        const struct bm_pipe_slot *slot =
            bm_gather_slot(&p->gathering, l->round);

        return slot->round == l->round && slot->open;
    }
    return l->opened[l->round % (size_t)p->o.buffers] >= (int64_t)l->round ||
           (!bm_lane_room(p, l) && p->o.reading && !bm_pipe_is_made(&p->calls));
}

int bm_lanes_step(struct bm_pipe *p)
{
    for (size_t i = 0; i < p->lanes.count; i++) {
        size_t which = (p->lanes.turn + i) % p->lanes.count;
        struct bm_lane *l = &p->lanes.each[which];
        int went = 0;

        if (!may_go_on(p, l))
            continue;
        went = l == p->own || bm_lane_room(p, l) ? step_by_memory(p, l)
                                                 : step_by_messages(p, l);
        if (went) {
            p->lanes.turn = which; /* it keeps its turn while it can go on */
            return 1;
        }
    }
    return 0;
}
