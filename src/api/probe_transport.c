/* probe_transport.c -- see probe_transport.h. What is measured is the pipe that
 * writes steps, with a storage that takes no time. */
#include "api/probe_transport.h"

#include "base/clock.h"
#include "engine/pipe.h"
#include "machine/measure.h"
#include "plan/schedule.h"

#define MOST_TRIES   100
#define MOST_SENDERS 64
#define PIECE_BYTES  ((size_t)1 << 20)
#define LEAST_PIECES 32 /* of all senders */
#define LEAST_TURNS  4  /* pieces of each sender */
#define BUFFERS      2

enum { WINDOWS, MESSAGES, WAYS };

/* What goes to rank 0: the pieces of the senders in turn. */
struct trial {
    struct bm_comm *comm;
    struct bm_pipe_pool pool;
    int senders;
    size_t pieces;
    uint8_t *data; /* of this rank's pieces */
};

/* Senders are spread over all ranks but the first. */
static int sender_of(const struct trial *t, size_t piece)
{
    int64_t which = (int64_t)(piece % (size_t)t->senders);

    return 1 + (int)(which * (t->comm->size - 1) / t->senders);
}

static void plan_trial(struct trial *t, struct bm_comm *comm)
{
    int others = comm->size - 1;
    size_t n = others < MOST_SENDERS ? (size_t)others : MOST_SENDERS;

    t->comm = comm;
    t->senders = (int)n;
    t->pieces = LEAST_TURNS * n > LEAST_PIECES ? LEAST_TURNS * n : LEAST_PIECES;
}

static int get_data(struct trial *t)
{
    size_t mine = 0;

    for (size_t i = 0; i < t->pieces; i++)
        mine += sender_of(t, i) == t->comm->rank;
    t->data = bm_new(t->comm->a, mine, PIECE_BYTES);
    return t->data ? BOUMA_OK : BOUMA_ENOMEM;
}

static uint8_t *bytes_of(void *context, size_t tag)
{
    struct trial *t = context;

    return t->data + tag * PIECE_BYTES;
}

static int store_nothing(void *context, uint64_t at, uint8_t *data,
                         uint64_t bytes, struct bm_error *error)
{
    (void)context;
    (void)at;
    (void)data;
    (void)bytes;
    (void)error;
    return BOUMA_OK;
}

/* All pieces on rank 0, this rank's own ones on the others. */
static int make_flow(struct bm_flow **out, const struct trial *t)
{
    const bouma_allocator *a = t->comm->a;
    struct bm_stream_part part = {t->pieces * PIECE_BYTES, 0};
    struct bm_flow *f = bm_new(a, 1, sizeof(*f));
    size_t mine = 0;

    *out = f;
    if (!f)
        return BOUMA_ENOMEM;
    f->gatherer = 0;
    f->pieces = bm_new_raw(a, t->pieces, sizeof(*f->pieces));
    if (!f->pieces ||
        bm_rounds_init(&f->rounds, a, &part, 1, BM_BUFFER_BYTES)) {
        bm_drop(a, f->pieces);
        bm_drop(a, f);
        return BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < t->pieces; i++) {
        int sender = sender_of(t, i), own = sender == t->comm->rank;

        if (own || t->comm->rank == 0)
            f->pieces[f->count++] = (struct bm_piece){
                sender, i * PIECE_BYTES, PIECE_BYTES, own ? mine++ : 0};
    }
    return BOUMA_OK;
}

static int make_pipe(struct bm_pipe **out, struct trial *t, int way)
{
    struct bm_pipe_options o = {.buffers = BUFFERS,
                                .transport = way == WINDOWS
                                                 ? BOUMA_TRANSPORT_WINDOWS
                                                 : BOUMA_TRANSPORT_MESSAGES};
    struct bm_pipe_calls calls = {
        .context = t, .bytes = bytes_of, .store = store_nothing};
    struct bm_flow *flow;
    int rc = make_flow(&flow, t);

    return rc ? rc : bm_pipe_new(out, t->comm, flow, 1, &o, &calls);
}

/* All pieces once, in this many seconds; 0: there is no such way. */
static int try_once(double *seconds, struct trial *t, int way,
                    struct bm_error *error)
{
    struct bm_pipe *pipe = NULL;
    double start;
    int rc = make_pipe(&pipe, t, way);

    *seconds = 0;
    if (rc)
        bm_fail(error, rc, "no memory to measure how bytes are gathered");
    rc = bm_pipe_open(pipe, t->comm, &t->pool, rc, error);
    if (!rc && (way == MESSAGES || t->pool.ports[0])) {
        rc = bm_comm_agree(t->comm, rc, error); /* all begin at once */
        start = bm_clock();
        rc = bm_pipe_run(pipe, 1, rc, error);
        *seconds = bm_clock() - start;
        *seconds = *seconds > 1e-9 ? *seconds : 1e-9;
        rc = bm_comm_agree(t->comm, rc, error);
    }
    bm_pipe_free(pipe);
    return rc;
}

/* Both ways in turn, so that what else goes on meets both. speeds[WAYS]. */
static int try_all(double *speeds, struct trial *t, int tries,
                   struct bm_error *error)
{
    double seconds[WAYS][MOST_TRIES];
    int rc = BOUMA_OK;

    for (int i = -1; !rc && i < tries; i++) /* the first one only warms up */
        for (int way = 0; !rc && way < WAYS; way++) {
            double *s = &seconds[way][i < 0 ? 0 : i];

            rc = try_once(s, t, way, error);
            if (!rc && *s <= 0)
                return rc; /* no windows, on any rank */
        }
    for (int way = 0; !rc && way < WAYS; way++)
        speeds[way] = (double)(t->pieces * PIECE_BYTES) /
                      bm_median(seconds[way], (size_t)tries);
    return rc;
}

int bm_probe_transports(struct bm_comm *comm, int tries, double *windows,
                        double *messages, struct bm_error *error)
{
    double speeds[WAYS] = {0, 0};
    struct trial t = {.senders = 0};
    int rc;

    *windows = *messages = 0;
    if (comm->size == 1)
        return BOUMA_OK;
    plan_trial(&t, comm);
    rc = get_data(&t);
    if (rc)
        bm_fail(error, rc, "no memory for bytes to gather");
    rc = bm_comm_agree(comm, rc, error);
    if (!rc)
        rc = try_all(speeds, &t, tries, error);
    if (!rc) {
        *windows = speeds[WINDOWS];
        *messages = speeds[MESSAGES];
    }
    bm_pipe_pool_release(&t.pool);
    bm_drop(comm->a, t.data);
    return rc;
}
