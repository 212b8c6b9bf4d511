/* comm_mpi.c -- the communicator over MPI. Messages are split into pieces of
 * at most message_bytes, which is below 2^31, since MPI counts in int. */
#include "comm/comm_mpi.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MESSAGE_TAG  1
#define NOTE_TAG     2
#define TRANSFER_TAG 3

static MPI_Comm comm_of(struct bm_comm *comm)
{
    return ((struct bm_mpi_comm *)comm)->comm;
}

/* Wait for all requests, or till the time is up: then they are given up, and
 * so is the communicator, for what they left behind cannot be told. */
static int wait_all(struct bm_comm *comm, MPI_Request *requests, int count)
{
    double until = bm_clock() + comm->timeout;
    int done = 0, rc = MPI_SUCCESS;

    if (comm->timeout <= 0)
        return MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    while (!done && rc == MPI_SUCCESS) {
        rc = MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (!done && bm_clock() > until) {
            comm->timed_out = 1;
            rc = MPI_ERR_OTHER;
        }
    }
    return rc;
}

/* MPICH 4.0 compares MPI_UINT64_T as if it had a sign. So signed numbers are
 * compared, that have the same order. */
static int mpi_max(struct bm_comm *comm, uint64_t *values, int count)
{
    const uint64_t sign = (uint64_t)1 << 63;
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    MPI_Request request;
    int rc;

    if (comm->timed_out)
        return MPI_ERR_OTHER;
    assert(count <= BM_COMM_MAX_VALUES);
    for (int i = 0; i < count; i++)
        m->mine[i] = (int64_t)(values[i] ^ sign);
    rc = MPI_Iallreduce(m->mine, m->all, count, MPI_INT64_T, MPI_MAX, m->comm,
                        &request);
    if (!rc)
        rc = wait_all(comm, &request, 1);
    for (int i = 0; i < count && !rc; i++)
        values[i] = (uint64_t)m->all[i] ^ sign;
    return rc;
}

static int mpi_broadcast(struct bm_comm *comm, void *data, size_t bytes,
                         int root)
{
    uint8_t *p = data;
    int rc = MPI_SUCCESS;

    while (bytes && !rc) {
        size_t n = bytes < comm->message_bytes ? bytes : comm->message_bytes;
        MPI_Request request;

        rc = MPI_Ibcast(p, (int)n, MPI_BYTE, root, comm_of(comm), &request);
        if (!rc)
            rc = wait_all(comm, &request, 1);
        p += n;
        bytes -= n;
    }
    return rc;
}

static size_t pieces_of(const struct bm_comm *comm, size_t bytes)
{
    return bytes ? (bytes - 1) / comm->message_bytes + 1 : 0;
}

/* Start the pieces of one message. */
static int start(struct bm_comm *comm, const struct bm_message *message,
                 int sending, int tag, MPI_Request *requests, int *count)
{
    int rc = MPI_SUCCESS;

    for (size_t at = 0; at < message->bytes && !rc; at += comm->message_bytes) {
        size_t left = message->bytes - at;
        int n = (int)(left < comm->message_bytes ? left : comm->message_bytes);
        uint8_t *p = message->data ? (uint8_t *)message->data + at : NULL;

        if (sending)
            rc = MPI_Isend(p, p ? n : 0, MPI_BYTE, message->peer, tag,
                           comm_of(comm), &requests[*count]);
        else
            rc = MPI_Irecv(p, n, MPI_BYTE, message->peer, tag, comm_of(comm),
                           &requests[*count]);
        if (!rc)
            ++*count;
    }
    return rc;
}

/* Requests are kept in a fixed array where they fit, so that small exchanges
 * cannot fail for lack of memory. */
#define FEW 64

static int mpi_exchange(struct bm_comm *comm, const struct bm_message *sends,
                        size_t send_count, const struct bm_message *receives,
                        size_t receive_count)
{
    MPI_Request few[FEW], *requests = few;
    size_t pieces = 0;
    int count = 0, rc = MPI_SUCCESS;

    for (size_t i = 0; i < send_count; i++)
        pieces += pieces_of(comm, sends[i].bytes);
    for (size_t i = 0; i < receive_count; i++)
        pieces += pieces_of(comm, receives[i].bytes);
    /* From malloc and not from the caller's table: a failure here could not be
     * agreed on, since the other ranks are in their waits already. */
    if (pieces > FEW)
        requests = malloc(pieces * sizeof(*requests));
    if (!requests)
        return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < receive_count && !rc; i++)
        rc = start(comm, &receives[i], 0, MESSAGE_TAG, requests, &count);
    for (size_t i = 0; i < send_count && !rc; i++)
        rc = start(comm, &sends[i], 1, MESSAGE_TAG, requests, &count);
    if (!rc)
        rc = wait_all(comm, requests, count);
    if (requests != few)
        free(requests);
    return rc;
}

static int mpi_tell(struct bm_comm *comm, const uint64_t *mine, int count,
                    uint64_t *all)
{
    MPI_Request request;
    int rc = MPI_Iallgather(mine, count, MPI_UINT64_T, all, count, MPI_UINT64_T,
                            comm_of(comm), &request);

    return rc ? rc : wait_all(comm, &request, 1);
}

/* To rank 'root', where piece r of 'all' has sizes[r] bytes; every rank knows
 * the sizes. All pieces are on their way at once. */
static int gather_at(struct bm_comm *comm, const void *data, size_t bytes,
                     void *all, const size_t *sizes, int root)
{
    struct bm_message send = {root, NULL, bytes}, *receives;
    size_t count = 0;
    int rc;

    memcpy(&send.data, &data, sizeof(data)); /* not written to */
    if (comm->rank != root)
        return mpi_exchange(comm, &send, 1, NULL, 0);
    /* From malloc, as the requests of an exchange. */
    receives = malloc((size_t)comm->size * sizeof(*receives));
    if (!receives)
        return MPI_ERR_NO_MEM;
    for (int r = 0; r < comm->size; r++) {
        if (r != root)
            receives[count++] = (struct bm_message){r, all, sizes[r]};
        else if (bytes)
            memcpy(all, data, bytes);
        all = (uint8_t *)all + sizes[r];
    }
    rc = mpi_exchange(comm, NULL, 0, receives, count);
    free(receives);
    return rc;
}

static int mpi_gather(struct bm_comm *comm, const void *data, size_t bytes,
                      void *all, const size_t *sizes, int root)
{
    size_t total = 0;
    int rc;

    if (root >= 0)
        return gather_at(comm, data, bytes, all, sizes, root);
    for (int r = 0; r < comm->size; r++)
        total += sizes[r];
    rc = gather_at(comm, data, bytes, all, sizes, 0);
    return rc ? rc : mpi_broadcast(comm, all, total, 0);
}

/* ---- without waiting ---------------------------------------------------- */

/* One that is not being sent any more; waits if there is none. */
static struct bm_mpi_note *free_note(struct bm_mpi_comm *m)
{
    double since = bm_clock();

    for (;;) {
        for (int i = 0; i < BM_MPI_NOTES; i++) {
            int done = 0;

            if (MPI_Test(&m->notes[i].request, &done, MPI_STATUS_IGNORE))
                return NULL;
            if (done)
                return &m->notes[i];
        }
        if (m->base.timeout > 0 && bm_clock() - since > m->base.timeout) {
            m->base.timed_out = 1;
            return NULL;
        }
    }
}

static int mpi_note(struct bm_comm *comm, const struct bm_note *note)
{
    struct bm_mpi_note *n = free_note((struct bm_mpi_comm *)comm);

    if (!n)
        return MPI_ERR_OTHER;
    n->words[0] = note->what;
    n->words[1] = note->value;
    return MPI_Isend(n->words, 2, MPI_UINT64_T, note->peer, NOTE_TAG,
                     comm_of(comm), &n->request);
}

static int mpi_hear(struct bm_comm *comm, struct bm_note *note, int *heard)
{
    uint64_t words[2];
    MPI_Status status;
    int rc =
        MPI_Iprobe(MPI_ANY_SOURCE, NOTE_TAG, comm_of(comm), heard, &status);

    if (rc || !*heard)
        return rc;
    rc = MPI_Recv(words, 2, MPI_UINT64_T, status.MPI_SOURCE, NOTE_TAG,
                  comm_of(comm), MPI_STATUS_IGNORE);
    *note = (struct bm_note){status.MPI_SOURCE, (uint32_t)words[0], words[1]};
    return rc;
}

static size_t mpi_request_bytes(const struct bm_comm *comm, size_t messages,
                                size_t bytes)
{
    return (messages + bytes / comm->message_bytes + 1) * sizeof(MPI_Request);
}

static int mpi_start(struct bm_transfer *t, int channel,
                     const struct bm_message *messages, size_t count,
                     int sending)
{
    int n = (int)t->count, rc = MPI_SUCCESS;

    for (size_t i = 0; i < count && !rc; i++)
        rc = start(t->comm, &messages[i], sending, TRANSFER_TAG + channel,
                   t->requests, &n);
    t->count = (size_t)n;
    t->receiving = !sending;
    return rc;
}

/* One after the other, as all have to be done. */
static int mpi_test(struct bm_transfer *t, int *done)
{
    MPI_Request *requests = t->requests;
    int rc = MPI_SUCCESS;

    for (*done = 1; t->done < t->count && !rc; t->done++) {
        MPI_Status status;
        int bytes = 1;

        rc = MPI_Test(&requests[t->done], done, &status);
        if (rc || !*done)
            break;
        if (t->receiving)
            rc = MPI_Get_count(&status, MPI_BYTE, &bytes);
        t->empty |= bytes == 0;
    }
    if (*done && !rc)
        t->count = t->done = 0;
    return rc;
}

static void mpi_cancel(struct bm_transfer *t)
{
    MPI_Request *requests = t->requests;

    for (size_t i = t->done; i < t->count && t->receiving; i++) {
        MPI_Cancel(&requests[i]);
        MPI_Request_free(&requests[i]);
    }
}

static void mpi_release(struct bm_comm *comm)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    int finalized = 0;

    MPI_Finalized(&finalized);
    /* With something under way on it that was given up, it must stay. */
    if (finalized || m->comm == MPI_COMM_NULL || comm->timed_out)
        return;
    if (m->node != MPI_COMM_NULL)
        MPI_Comm_free(&m->node);
    MPI_Comm_free(&m->comm);
}

int bm_comm_mpi_new(struct bm_comm **out, const bouma_allocator *a,
                    MPI_Comm comm)
{
    static const struct bm_comm_functions functions = {
        mpi_max,           mpi_broadcast,    mpi_tell,   mpi_gather,
        mpi_exchange,      mpi_release,      mpi_note,   mpi_hear,
        mpi_request_bytes, mpi_start,        mpi_test,   mpi_cancel,
        bm_mpi_port_new,   bm_mpi_port_free, bm_mpi_put, bm_mpi_get,
        bm_mpi_flush,      bm_mpi_room};
    struct bm_mpi_comm *m = bm_new(a, 1, sizeof(*m));
    int mine = m != NULL, all = 0;
    MPI_Comm copy = MPI_COMM_NULL;

    *out = NULL;
    if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) || !all ||
        MPI_Comm_dup(comm, &copy)) {
        bm_drop(a, m);
        return all ? BOUMA_ECOMM : BOUMA_ENOMEM;
    }
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    m->comm = copy;
    m->node = MPI_COMM_NULL;
    for (int i = 0; i < BM_MPI_NOTES; i++)
        m->notes[i].request = MPI_REQUEST_NULL;
    m->base.functions = &functions;
    m->base.a = a;
    m->base.message_bytes = (size_t)1 << 30;
    MPI_Comm_rank(copy, &m->base.rank);
    MPI_Comm_size(copy, &m->base.size);
    *out = &m->base;
    return BOUMA_OK;
}
