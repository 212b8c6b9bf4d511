/* tracing.c -- see tracing.h. */
#include "engine/tracing.h"

#include <string.h>

#include "comm/comm_trace.h"
#include "engine/trace_file.h"

/* Events of a rank: fewer if there are many ranks, so that the file can still
 * be looked at. */
#define MOST_EVENTS  ((size_t)1 << 16)
#define LEAST_EVENTS ((size_t)1 << 10)
#define ALL_EVENTS   ((size_t)1 << 22)

#define PIECE ((size_t)1 << 20) /* that rank 0 has of another's events */

static size_t room_for(int ranks)
{
    size_t room = ALL_EVENTS / (size_t)ranks;

    return room > MOST_EVENTS    ? MOST_EVENTS
           : room < LEAST_EVENTS ? LEAST_EVENTS
                                 : room;
}

void bm_tracing_begin(struct bm_tracing *t, struct bm_comm *comm,
                      struct bm_options *options)
{
    struct bm_trace *trace;

    if (!options->trace[0])
        return;
    trace = bm_trace_new(comm->a, comm->rank, room_for(comm->size));
    if (!bm_comm_align_trace(comm, trace, &t->accuracy)) {
        bm_trace_free(trace);
        return;
    }
    t->trace = trace;
    bm_comm_set_trace(comm, trace);
    bm_io_trace_init(&t->io, options->io, trace);
    options->io = &t->io.table;
}

/* What is told of the whole. */
static void describe(struct bm_buffer *about, const struct bm_tracing *t,
                     const struct bm_comm *comm, const char *what)
{
    bm_trace_put(about, "\"version\":\"%s\",\"about\":", bouma_version());
    bm_trace_put_string(about, what);
    bm_trace_put(about, ",\"ranks\":%d,\"clock_accuracy_us\":%.3f,\n",
                 comm->size, t->accuracy * 1e6);
}

/* Rank 0: the events of another rank, piece by piece, into the file. They are
 * taken also if they cannot be written. */
static int receive(struct bm_trace_file *f, struct bm_comm *comm, int rank,
                   uint64_t bytes, uint8_t *piece, struct bm_error *error)
{
    int rc = BOUMA_OK, received = BOUMA_OK;

    while (bytes && !received) {
        size_t n = bytes < PIECE ? (size_t)bytes : PIECE;
        struct bm_message m = {rank, piece, n};

        received = bm_comm_exchange(comm, NULL, 0, &m, 1, error);
        if (!rc && !received)
            rc = bm_trace_file_write(f, piece, n, error);
        bytes -= n;
    }
    return received ? received : rc;
}

/* Another rank: to rank 0. */
static int send(struct bm_comm *comm, const struct bm_buffer *events,
                struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (size_t at = 0; at < events->size && !rc; at += PIECE) {
        size_t left = events->size - at;
        struct bm_message m = {0, events->data + at,
                               left < PIECE ? left : PIECE};

        rc = bm_comm_exchange(comm, &m, 1, NULL, 0, error);
    }
    return rc;
}

/* Rank 0, when all is there that can be: the file of all ranks' events, of
 * which 'sizes' tells the ranks and the bytes. */
static int merge(struct bm_trace_file *f, struct bm_comm *comm,
                 const struct bm_buffer *sizes, uint8_t *piece,
                 struct bm_error *error)
{
    struct bm_cursor c = bm_cursor_of(sizes->data, sizes->size);
    int rc = BOUMA_OK;

    while (bm_cursor_left(&c) && rc != BOUMA_ECOMM) {
        int rank = (int)bm_get_u32(&c), one = BOUMA_OK;
        uint64_t bytes = bm_get_u64(&c);

        if (rank) /* its own are written */
            one = receive(f, comm, rank, bytes, piece, error);
        rc = rc && one != BOUMA_ECOMM ? rc : one;
    }
    return rc;
}

/* Collective. */
static int write_file(const struct bm_tracing *t, struct bm_comm *comm,
                      const char *path, const char *what,
                      struct bm_error *error)
{
    uint8_t *piece = bm_new_raw(comm->a, comm->rank ? 1 : PIECE, 1);
    struct bm_buffer events, mine, all, about;
    struct bm_trace_file f = {0};
    int rc = BOUMA_OK;

    bm_buffer_init(&events, comm->a);
    bm_buffer_init(&mine, comm->a);
    bm_buffer_init(&all, comm->a);
    bm_buffer_init(&about, comm->a);
    bm_trace_encode(&events, t->trace);
    bm_put_u32(&mine, (uint32_t)comm->rank);
    bm_put_u64(&mine, events.size);
    if (!piece || events.failed || mine.failed)
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory to write the trace",
                     path);
    rc = bm_comm_collect_at_root(comm, &mine, &all, rc, error);
    if (!rc && comm->rank == 0) {
        describe(&about, t, comm, what);
        rc = bm_trace_file_open(&f, path, &about, error);
        if (!rc)
            rc = bm_trace_file_write(&f, events.data, events.size, error);
    }
    rc = bm_comm_agree(comm, rc, error);
    if (!rc)
        rc = comm->rank ? send(comm, &events, error)
                        : merge(&f, comm, &all, piece, error);
    if (comm->rank == 0)
        rc = bm_trace_file_close(&f, rc, error);
    rc = bm_comm_agree(comm, rc, error);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_buffer_release(&about);
    if (!comm->lost) { /* else it may still be used */
        bm_buffer_release(&events);
        bm_drop(comm->a, piece);
    }
    return rc;
}

int bm_tracing_end(struct bm_tracing *t, struct bm_comm *comm,
                   const struct bm_options *options, const char *what,
                   struct bm_error *error)
{
    if (!options->trace[0] || t->ended)
        return BOUMA_OK;
    t->ended = 1;
    if (!t->trace)
        return bm_fail(error, BOUMA_ENOMEM,
                       "%s: there is no trace, since a rank had no memory "
                       "for it",
                       options->trace);
    bm_comm_set_trace(comm, NULL);
    return write_file(t, comm, options->trace, what, error);
}

void bm_tracing_release(struct bm_tracing *t, struct bm_comm *comm)
{
    if (comm)
        bm_comm_set_trace(comm, NULL);
    bm_trace_free(t->trace);
    t->trace = NULL;
}
