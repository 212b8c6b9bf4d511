/* comm_mpi.c -- the communicator over MPI: requests, signals and transfers, and
 * what happens when MPI fails or a rank does not come. How one is made is in
 * comm_mpi_make.c.
 *
 * MPI is asked for nothing but messages between two ranks, and never in a call
 * that blocks. A collective call or a window that fails on one rank leaves the
 * others in it for ever, with nothing that could be done about it; a message
 * that could not be started is started again, and one that does not come is
 * given up when the time is over. Beside these there are, with the reason why
 * they cannot block:
 *
 *     MPI_Iallreduce, MPI_Comm_idup
 *                                nonblocking as well; when a handle is opened
 *     MPI_Iprobe, MPI_Test       by definition
 *     MPI_Cancel, MPI_Request_free, MPI_Get_count, MPI_Error_string,
 *     MPI_Comm_rank, MPI_Comm_size, MPI_Comm_set_errhandler, MPI_Initialized,
 *     MPI_Finalized
 *                                local by definition
 *     MPI_Comm_free              collective in name; MPIs just count references
 *                                down, as nothing is under way any more
 *
 * Messages are split into pieces of at most message_bytes, which is below 2^31,
 * since MPI counts in int. */
#include "comm/comm_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/search.h"

/* ---- when MPI fails ------------------------------------------------------ */

/* If MPI cannot say, it runs: others would wait for one who thinks it ended. */
static int is_finalized(void)
{
    int finalized = 0;

    return !MPI_Finalized(&finalized) && finalized;
}

/* A call of MPI has failed for good. */
static int lose(struct bm_mpi_comm *m, int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;

    if (m->base.lost)
        return BOUMA_ECOMM;
    if (MPI_Error_string(code, text, &length))
        length = 0;
    text[length] = 0;
    return bm_comm_lose(&m->base,
                        "rank %d: %s failed: %.300s; this handle can only be "
                        "freed now. If a rank ended early, its own output "
                        "tells why",
                        bm_comm_name(&m->base, m->base.rank), call, text);
}

/* A group has the reserve of those it is of, besides its own. */
static void relieve(struct bm_mpi_comm *m)
{
    for (; m; m = m->whole)
        bm_comm_relieve(&m->base);
}

/* Whether a call that has failed so often is worth another try: it is mostly
 * memory that is missing. */
static int try_again(struct bm_mpi_comm *m, int tries)
{
    relieve(m);
    return tries < BM_MPI_TRIES;
}

/* Some MPIs do not fail without memory, but crash or wait for it. So they get
 * the reserve as soon as there is no more than this. */
#define SPARE ((size_t)96 << 10)

static void spare_memory(struct bm_mpi_comm *m)
{
    const struct bm_mpi_comm *w = m;
    void *volatile spare;

    while (w && !w->base.reserve)
        w = w->whole;
    spare = w ? malloc(SPARE) : NULL;
    if (w && !spare)
        relieve(m);
    free(spare);
}

/* Tell the ranks at distances 1, 2, 4 ..., which tell others as soon as they
 * hear of it, so that all are told soon by few messages each. Nobody waits for
 * these: the text stays with the communicator, which is never freed then. */
static void mpi_warn(struct bm_comm *comm)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    int bytes = (int)strlen(comm->why) + 1;

    if (m->whole) {
        bm_comm_lose(&m->whole->base, "%s", comm->why);
        return;
    }
    if (is_finalized()) /* nobody can be told */
        return;
    for (int distance = 1; distance < comm->size && m->comm != MPI_COMM_NULL;
         distance *= 2) {
        int peer = (int)(((int64_t)comm->rank + distance) % comm->size);
        MPI_Request request;

        if (!MPI_Isend(comm->why, bytes, MPI_CHAR, peer, BM_MPI_LOSS, m->comm,
                       &request) &&
            request != MPI_REQUEST_NULL)
            MPI_Request_free(&request);
        bm_mpi_ring(m, peer);
    }
}

static int mpi_listen(struct bm_comm *comm)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    int heard = 0, bytes = 0, done = 0;
    MPI_Request request;
    MPI_Status status;

    if (comm->size == 1)
        return 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, BM_MPI_LOSS, m->comm, &heard, &status) ||
        !heard)
        return comm->lost;
    /* It is short, so it has come; if not, it is lost all the same. */
    memset(m->loss, 0, sizeof(m->loss));
    if (!MPI_Get_count(&status, MPI_CHAR, &bytes) && bytes < BM_ERROR_BYTES &&
        !MPI_Irecv(m->loss, bytes, MPI_CHAR, status.MPI_SOURCE, BM_MPI_LOSS,
                   m->comm, &request)) {
        for (int i = 0; i < 1000 && !done; i++)
            if (MPI_Test(&request, &done, MPI_STATUS_IGNORE))
                break;
    }
    if (done)
        bm_comm_lose(comm, "%s", m->loss);
    else
        bm_comm_lose(comm, "rank %d has lost touch with the others",
                     status.MPI_SOURCE);
    return 1;
}

/* ---- requests ------------------------------------------------------------ */

int bm_mpi_rank_of(const struct bm_mpi_comm *m, int rank)
{
    return m->members ? m->members[rank] : rank;
}

int bm_mpi_rank_at(const struct bm_mpi_comm *m, int rank)
{
    size_t at = 0;

    if (!m->members)
        return rank;
    BM_BISECT(at, (size_t)m->base.size, i, m->members[i] <= rank);
    return (int)at;
}

/* Before anything is sent or received: MPI would end the program. */
static void check_mpi(struct bm_mpi_comm *m)
{
    for (const struct bm_mpi_comm *w = m->whole; w; w = w->whole)
        if (w->base.lost && !m->base.lost)
            bm_comm_lose(&m->base, "%s", w->base.why);
    if (!m->base.lost && is_finalized())
        bm_comm_lose(&m->base,
                     "rank %d: MPI was finalized; this handle can only be "
                     "freed now",
                     bm_comm_name(&m->base, m->base.rank));
}

int bm_mpi_send(struct bm_mpi_comm *m, const void *data, size_t bytes, int peer,
                int tag, MPI_Request *request)
{
    int rc = MPI_SUCCESS, tries = 0;

    *request = MPI_REQUEST_NULL;
    check_mpi(m);
    spare_memory(m);
    while (!m->base.lost) {
        rc = MPI_Isend(data, (int)bytes, MPI_BYTE, bm_mpi_rank_of(m, peer),
                       m->tag + tag, m->comm, request);
        if (!rc) {
            bm_mpi_ring(m, peer);
            return 0;
        }
        if (!try_again(m, ++tries))
            lose(m, rc, "MPI_Isend");
    }
    return BOUMA_ECOMM;
}

int bm_mpi_receive(struct bm_mpi_comm *m, void *data, size_t bytes, int peer,
                   int tag, MPI_Request *request)
{
    int rc = MPI_SUCCESS, tries = 0;

    *request = MPI_REQUEST_NULL;
    check_mpi(m);
    spare_memory(m);
    while (!m->base.lost) {
        rc = MPI_Irecv(data, (int)bytes, MPI_BYTE, bm_mpi_rank_of(m, peer),
                       m->tag + tag, m->comm, request);
        if (!rc)
            return 0;
        if (!try_again(m, ++tries))
            lose(m, rc, "MPI_Irecv");
    }
    return BOUMA_ECOMM;
}

/* If the request is still there after a failure, it was the test that failed,
 * not the message. */
int bm_mpi_test(struct bm_mpi_comm *m, MPI_Request *request, int *done,
                MPI_Status *status)
{
    int tries = 0, there = *request != MPI_REQUEST_NULL;

    spare_memory(m);
    while (!m->base.lost) {
        int rc = MPI_Test(request, done, status);

        if (!rc)
            return 0;
        if ((there && *request == MPI_REQUEST_NULL) || !try_again(m, ++tries))
            lose(m, rc, "MPI_Test");
    }
    *done = 0;
    return BOUMA_ECOMM;
}

int bm_mpi_wait(struct bm_mpi_comm *m, MPI_Request *requests, int count)
{
    struct bm_error ignored = {0};
    double since = 0;
    unsigned idle = 0;
    int at = 0, rc = 0;

    while (at < count && !rc) {
        int done = 0;

        bm_mpi_attend(m);
        rc = bm_mpi_test(m, &requests[at], &done, MPI_STATUS_IGNORE);
        if (rc)
            break;
        if (done) {
            at++;
            idle = 0; /* something has come: the clock starts anew */
        } else {
            if (!idle++)
                since = bm_clock();
            rc = bm_comm_idle(&m->base, idle, since, &ignored);
        }
    }
    return rc;
}

int bm_mpi_start(struct bm_mpi_comm *m, const struct bm_message *message,
                 int sending, int tag, MPI_Request *requests, int *count)
{
    size_t most = m->base.message_bytes;
    int rc = 0;

    for (size_t at = 0; at < message->bytes && !rc; at += most) {
        size_t left = message->bytes - at, n = left < most ? left : most;
        uint8_t *p = message->data ? (uint8_t *)message->data + at : NULL;

        if (sending)
            rc = bm_mpi_send(m, p, p ? n : 0, message->peer, tag,
                             &requests[*count]);
        else
            rc = bm_mpi_receive(m, p, n, message->peer, tag, &requests[*count]);
        if (!rc)
            ++*count;
    }
    return rc;
}

/* ---- without waiting ---------------------------------------------------- */

/* One that is not being sent any more; waits if there is none. */
static struct bm_mpi_signal *free_signal(struct bm_mpi_comm *m)
{
    struct bm_error ignored = {0};
    double since = bm_clock();
    unsigned idle = 0;

    do
        for (int i = 0; i < BM_MPI_SIGNALS; i++) {
            int done = 0;

            if (bm_mpi_test(m, &m->signals[i].request, &done,
                            MPI_STATUS_IGNORE))
                return NULL;
            if (done)
                return &m->signals[i];
        }
    while (!bm_comm_idle(&m->base, ++idle, since, &ignored));
    return NULL;
}

static int mpi_signal(struct bm_comm *comm, const struct bm_signal *signal)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    struct bm_mpi_signal *n = free_signal(m);

    if (!n)
        return BOUMA_ECOMM;
    n->words[0] = signal->what;
    n->words[1] = signal->value;
    return bm_mpi_send(m, n->words, sizeof(n->words), signal->peer,
                       BM_MPI_SIGNAL, &n->request);
}

static int mpi_hear(struct bm_comm *comm, struct bm_signal *signal, int *heard)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    MPI_Status status;
    MPI_Request request;
    int rc, tries = 0, peer;

    spare_memory(m);
    while (!comm->lost) {
        rc = MPI_Iprobe(MPI_ANY_SOURCE, m->tag + BM_MPI_SIGNAL, m->comm, heard,
                        &status);
        if (!rc)
            break;
        if (!try_again(m, ++tries))
            lose(m, rc, "MPI_Iprobe");
    }
    if (comm->lost) {
        *heard = 0;
        return BOUMA_ECOMM;
    }
    if (!*heard)
        return 0;
    peer = bm_mpi_rank_at(m, status.MPI_SOURCE);
    rc = bm_mpi_receive(m, m->heard, sizeof(m->heard), peer, BM_MPI_SIGNAL,
                        &request);
    if (!rc)
        rc = bm_mpi_wait(m, &request, 1);
    *heard = !rc;
    *signal = (struct bm_signal){peer, (uint32_t)m->heard[0], m->heard[1]};
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
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)t->comm;
    int n = (int)t->count, rc = 0;

    for (size_t i = 0; i < count && !rc; i++)
        rc = bm_mpi_start(m, &messages[i], sending, BM_MPI_TRANSFER + channel,
                          t->requests, &n);
    t->count = (size_t)n;
    t->receiving = !sending;
    return rc;
}

static int count_bytes(struct bm_mpi_comm *m, const MPI_Status *status,
                       int *bytes)
{
    int rc, tries = 0;

    do
        rc = MPI_Get_count(status, MPI_BYTE, bytes);
    while (rc && try_again(m, ++tries));
    return rc ? lose(m, rc, "MPI_Get_count") : 0;
}

/* One after the other, as all have to be done. */
static int mpi_test(struct bm_transfer *t, int *done)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)t->comm;
    MPI_Request *requests = t->requests;
    int rc = 0;

    for (*done = 1; t->done < t->count && !rc; t->done++) {
        MPI_Status status;
        int bytes = 1;

        rc = bm_mpi_test(m, &requests[t->done], done, &status);
        if (rc || !*done)
            break;
        if (t->receiving)
            rc = count_bytes(m, &status, &bytes);
        t->empty |= bytes == 0;
    }
    if (*done && !rc)
        t->count = t->done = 0;
    return rc;
}

static void mpi_cancel(struct bm_transfer *t)
{
    MPI_Request *requests = t->requests;

    for (size_t i = t->done; i < t->count; i++) {
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        if (t->receiving)
            MPI_Cancel(&requests[i]);
        MPI_Request_free(&requests[i]);
    }
}

/* ---- beginning and ending ------------------------------------------------ */

#define NOTICES 10000

static void mpi_release(struct bm_comm *comm)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;

    if (is_finalized() || m->comm == MPI_COMM_NULL || comm->lost) {
        bm_mpi_unsettle(m);
        if (!comm->lost)
            bm_drop(comm->a, m->members);
        return;
    }
    /* They have been heard: whoever sends signals has agreed on that. So MPI
     * just has to notice; if it does not, they stay with the communicator,
     * since nobody wants to wait for an end. */
    for (int i = 0; i < BM_MPI_SIGNALS; i++) {
        int done = 0;

        for (int tries = 0; tries < NOTICES && !done; tries++)
            if (MPI_Test(&m->signals[i].request, &done, MPI_STATUS_IGNORE))
                break;
        comm->lost |= !done;
    }
    bm_mpi_unsettle(m);
    if (!comm->lost && !m->whole)
        MPI_Comm_free(&m->comm);
    if (!comm->lost)
        bm_drop(comm->a, m->members);
}

void bm_mpi_init(struct bm_mpi_comm *m, const bouma_allocator *a,
                 double timeout)
{
    static const struct bm_comm_functions functions = {
        .reduce = bm_mpi_reduce,
        .broadcast = bm_mpi_broadcast,
        .gather = bm_mpi_gather,
        .exchange = bm_mpi_exchange,
        .release = mpi_release,
        .signal = mpi_signal,
        .hear = mpi_hear,
        .request_bytes = mpi_request_bytes,
        .start = mpi_start,
        .test = mpi_test,
        .cancel = mpi_cancel,
        .listen = mpi_listen,
        .warn = mpi_warn,
        .group = bm_mpi_group,
        .settle = bm_mpi_settle,
        .wait = bm_mpi_sleep,
        .wake = bm_mpi_wake,
    };

    memset(m, 0, sizeof(*m));
    m->comm = MPI_COMM_NULL;
    m->bells.file = -1;
    m->bell = &m->lone;
    m->family.parent = -1;
    for (int i = 0; i < BM_MPI_SIGNALS; i++)
        m->signals[i].request = MPI_REQUEST_NULL;
    m->base.functions = &functions;
    m->base.a = a;
    m->base.size = 1; /* there is nobody to talk to yet */
    m->base.message_bytes = (size_t)1 << 30;
    m->base.timeout = timeout;
}
