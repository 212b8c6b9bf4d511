/* comm_trace.c -- see comm_trace.h. */
#include "comm/comm_trace.h"

#include <math.h>

#define KIND     "exchange"
#define MEETINGS 8

static void tell(const struct bm_comm *comm, const char *name, double begun,
                 uint64_t bytes)
{
    bm_trace_add(comm->trace, KIND, name, begun,
                 &(struct bm_trace_args){.bytes = bytes});
}

static int trace_reduce(struct bm_comm *comm, uint64_t *values, int count,
                        int sums)
{
    double begun = bm_clock();
    int rc = comm->untraced->reduce(comm, values, count, sums);

    tell(comm, "reduce", begun, (uint64_t)count * sizeof(*values));
    return rc;
}

static int trace_broadcast(struct bm_comm *comm, void *data, size_t bytes,
                           int root)
{
    double begun = bm_clock();
    int rc = comm->untraced->broadcast(comm, data, bytes, root);

    tell(comm, "broadcast", begun, bytes);
    return rc;
}

static int trace_gather(struct bm_comm *comm, const void *data, size_t bytes,
                        void *all)
{
    double begun = bm_clock();
    int rc = comm->untraced->gather(comm, data, bytes, all);

    tell(comm, "gather", begun, bytes);
    return rc;
}

static uint64_t bytes_of(const struct bm_message *messages, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += messages[i].bytes;
    return bytes;
}

static int trace_exchange(struct bm_comm *comm, const struct bm_message *sends,
                          size_t send_count, const struct bm_message *receives,
                          size_t receive_count)
{
    double begun = bm_clock();
    int rc = comm->untraced->exchange(comm, sends, send_count, receives,
                                      receive_count);

    tell(comm, "exchange", begun,
         bytes_of(sends, send_count) + bytes_of(receives, receive_count));
    return rc;
}

static int trace_start(struct bm_transfer *t, int channel,
                       const struct bm_message *messages, size_t count,
                       int sending)
{
    double begun = bm_clock();
    int rc = t->comm->untraced->start(t, channel, messages, count, sending);

    tell(t->comm, sending ? "start to send" : "start to receive", begun,
         bytes_of(messages, count));
    return rc;
}

/* ---- passed on ---------------------------------------------------------- */

static void pass_release(struct bm_comm *comm)
{
    comm->untraced->release(comm);
}

static int pass_signal(struct bm_comm *comm, const struct bm_signal *signal)
{
    return comm->untraced->signal(comm, signal);
}

static int pass_hear(struct bm_comm *comm, struct bm_signal *signal, int *heard)
{
    return comm->untraced->hear(comm, signal, heard);
}

static size_t pass_request_bytes(const struct bm_comm *comm, size_t messages,
                                 size_t bytes)
{
    return comm->untraced->request_bytes(comm, messages, bytes);
}

static int pass_test(struct bm_transfer *t, int *done)
{
    return t->comm->untraced->test(t, done);
}

static void pass_cancel(struct bm_transfer *t)
{
    t->comm->untraced->cancel(t);
}

static int pass_listen(struct bm_comm *comm)
{
    return comm->untraced->listen(comm);
}

static void pass_warn(struct bm_comm *comm)
{
    comm->untraced->warn(comm);
}

static int pass_wait(struct bm_comm *comm, double seconds)
{
    return comm->untraced->wait(comm, seconds);
}

static void pass_wake(struct bm_comm *comm)
{
    comm->untraced->wake(comm);
}

void bm_comm_set_trace(struct bm_comm *comm, struct bm_trace *trace)
{
    static const struct bm_comm_functions traced = {
        .reduce = trace_reduce,
        .broadcast = trace_broadcast,
        .gather = trace_gather,
        .exchange = trace_exchange,
        .release = pass_release,
        .signal = pass_signal,
        .hear = pass_hear,
        .request_bytes = pass_request_bytes,
        .start = trace_start,
        .test = pass_test,
        .cancel = pass_cancel,
        .listen = pass_listen,
        .warn = pass_warn,
        .wait = pass_wait,
        .wake = pass_wake,
    };

    if (trace && !comm->trace) {
        comm->untraced = comm->functions;
        comm->functions = &traced;
    } else if (!trace && comm->trace) {
        comm->functions = comm->untraced;
    }
    comm->trace = trace;
}

int bm_comm_align_trace(struct bm_comm *comm, struct bm_trace *trace,
                        double *accuracy)
{
    struct bm_error ignored = {0};
    uint64_t said[MEETINGS + 1] = {0};
    double left[MEETINGS];
    int best = 0, failed = 0;

    for (int i = 0; i < MEETINGS; i++) {
        double came = bm_clock();
        uint64_t nothing = 0;

        failed |= bm_comm_max(comm, &nothing, 1, &ignored) != BOUMA_OK;
        left[i] = bm_clock();
        said[i] = (uint64_t)llround((left[i] - came) * 1e9);
    }
    said[MEETINGS] = trace == NULL;
    if (bm_comm_max(comm, said, MEETINGS + 1, &ignored) || failed ||
        said[MEETINGS])
        return 0;
    for (int i = 1; i < MEETINGS; i++)
        best = said[i] < said[best] ? i : best;
    trace->origin = left[best];
    *accuracy = (double)said[best] * 1e-9;
    return 1;
}
