/* sparse.c -- see sparse.h. */
#include "comm/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* ---- letters ------------------------------------------------------------- */

struct sparse {
    struct bm_comm *comm;
    const struct bm_mail *out;
    struct bm_mail *in;
    struct bm_message *sends, *receives;
    size_t receive_room;
    uint64_t sent, heard; /* signals */
    int rc;
    struct bm_error *error;
};

static void out_of_memory(struct sparse *s)
{
    if (!s->rc)
        s->rc = bm_fail(s->error, BOUMA_ENOMEM,
                        "no memory for letters of other ranks");
}

/* Room for a letter from 'peer', of as many bytes as it has said. */
static void expect(struct sparse *s, int peer, uint64_t bytes)
{
    struct bm_message *more;

    bm_mail_begin(s->in, peer);
    bm_buffer_extend(&s->in->data, (size_t)bytes);
    bm_mail_end(s->in);
    more = bm_more_room(s->comm->a, s->receives, s->in->count, &s->receive_room,
                        sizeof(*more));
    if (more)
        s->receives = more;
    if (!more || s->in->data.failed)
        out_of_memory(s);
}

/* Hear all that has come. One that there is no memory for is heard, too. */
static int hear(struct sparse *s, int *any)
{
    struct bm_signal signal;
    int heard, rc;

    do {
        rc = bm_comm_hear(s->comm, &signal, &heard, s->error);
        if (rc || !heard)
            return rc;
        *any = 1;
        s->heard++;
        if (!s->rc)
            expect(s, signal.peer, signal.value);
    } while (1);
}

/* Say what comes; what goes to this rank itself needs no signal. */
static int announce(struct sparse *s)
{
    int rc = BOUMA_OK, any;

    for (size_t i = 0; i < s->out->count && !rc && !s->rc; i++) {
        const struct bm_letter *p = &s->out->letters[i];

        if (p->peer == s->comm->rank) {
            expect(s, p->peer, p->bytes);
            continue;
        }
        rc = bm_comm_signal(s->comm, &(struct bm_signal){p->peer, 0, p->bytes},
                            s->error);
        s->sent += !rc;
        if (!rc)
            rc = hear(s, &any);
    }
    return rc;
}

/* Go on until as many are heard as were sent, by all ranks together. After it
 * all know whether one has failed: *failed. */
static int hear_all(struct sparse *s, const struct bm_sparse_values *said,
                    int *failed)
{
    uint64_t values[BM_COMM_MAX_VALUES], *sums;
    int largest = said->count - said->sums, rc, any = 0;
    double since = bm_clock();
    unsigned idle = 0;

    for (;;) {
        rc = hear(s, &any);
        if (rc)
            return rc;
        values[0] = s->rc != BOUMA_OK;
        memcpy(values + 1, said->values, (size_t)largest * sizeof(*values));
        sums = values + 1 + largest;
        sums[0] = s->sent;
        sums[1] = s->heard;
        memcpy(sums + 2, said->values + largest,
               (size_t)said->sums * sizeof(*values));
        rc = bm_comm_reduce(s->comm, values, said->count + 3, said->sums + 2,
                            s->error);
        if (rc || sums[0] == sums[1])
            break;
        rc = any ? BOUMA_OK : bm_comm_idle(s->comm, ++idle, since, s->error);
        if (rc)
            return rc;
        any = 0;
    }
    if (rc)
        return rc;
    *failed = values[0] != 0;
    memcpy(said->values, values + 1, (size_t)largest * sizeof(*values));
    memcpy(said->values + largest, sums + 2,
           (size_t)said->sums * sizeof(*values));
    return BOUMA_OK;
}

/* By peer, and of one peer in the order in which they were heard, which is that
 * of their places. */
static int by_peer(const void *left, const void *right)
{
    const struct bm_letter *a = left, *b = right;

    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* The bytes themselves, between ranks that now know of each other. */
static int carry(struct sparse *s)
{
    size_t sends = 0, receives = 0, mine = 0;
    const struct bm_mail *out = s->out;
    struct bm_mail *in = s->in;

    if (in->count)
        qsort(in->letters, in->count, sizeof(*in->letters), by_peer);
    while (mine < in->count && in->letters[mine].peer != s->comm->rank)
        mine++;
    for (size_t i = 0; i < out->count; i++) {
        const struct bm_letter *p = &out->letters[i];

        if (p->peer != s->comm->rank)
            s->sends[sends++] =
                (struct bm_message){p->peer, out->data.data + p->at, p->bytes};
        else if (p->bytes)
            memcpy(in->data.data + in->letters[mine].at, out->data.data + p->at,
                   p->bytes);
        mine += p->peer == s->comm->rank;
    }
    for (size_t i = 0; i < in->count; i++)
        if (in->letters[i].peer != s->comm->rank)
            s->receives[receives++] = (struct bm_message){
                in->letters[i].peer, in->data.data + in->letters[i].at,
                in->letters[i].bytes};
    return bm_comm_exchange(s->comm, s->sends, sends, s->receives, receives,
                            s->error);
}

/* Forget what MPI may still use. */
static void abandon(struct bm_mail *m)
{
    m->data.data = NULL;
    m->data.size = m->data.capacity = 0;
    m->count = 0;
}

int bm_comm_sparse(struct bm_comm *comm, struct bm_mail *out,
                   struct bm_mail *in, const struct bm_sparse_values *said,
                   int rc, struct bm_error *error)
{
    struct sparse s = {
        .comm = comm, .out = out, .in = in, .rc = rc, .error = error};
    int failed = 0;

    bm_mail_clear(in);
    s.sends = bm_new_raw(comm->a, out->count, sizeof(*s.sends));
    if (!s.sends || out->data.failed)
        out_of_memory(&s);
    rc = announce(&s);
    if (!rc)
        rc = hear_all(&s, said, &failed);
    if (!rc && failed)
        rc = bm_comm_agree(comm, s.rc, error);
    else if (!rc)
        rc = carry(&s);
    if (rc)
        bm_mail_clear(in);
    if (comm->lost) {
        abandon(in);
        abandon(out);
    }
    bm_drop(comm->a, s.sends);
    bm_drop(comm->a, s.receives);
    return rc;
}

/* ---- sums ---------------------------------------------------------------- */

int bm_comm_scan(struct bm_comm *comm, struct bm_scan *s, int count,
                 struct bm_error *error)
{
    size_t bytes = (size_t)count * sizeof(*s->mine);
    int rc = BOUMA_OK;

    memset(s->before, 0, bytes);
    /* In each round, mine[] is the sum of as many ranks up to this one as it is
     * 'far' to the next that is told. */
    for (int64_t far = 1; far < comm->size && !rc; far *= 2) {
        int sends = comm->rank + far < comm->size, receives = comm->rank >= far;
        struct bm_message to = {comm->rank + (int)far, s->mine, bytes};
        struct bm_message from = {comm->rank - (int)far, s->others, bytes};

        rc = bm_comm_exchange(comm, &to, (size_t)sends, &from, (size_t)receives,
                              error);
        for (int i = 0; i < count && receives && !rc; i++) {
            s->before[i] += s->others[i];
            s->mine[i] += s->others[i];
        }
    }
    return rc;
}
