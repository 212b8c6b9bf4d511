/* comm_self.c -- the communicator of a single process. */
#include <string.h>
#include <time.h>

#include "comm/comm.h"

static int self_reduce(struct bm_comm *comm, uint64_t *values, int count,
                       int sums)
{
    (void)comm;
    (void)values;
    (void)count;
    (void)sums;
    return 0;
}

static int self_broadcast(struct bm_comm *comm, void *data, size_t bytes,
                          int root)
{
    (void)comm;
    (void)data;
    (void)bytes;
    (void)root;
    return 0;
}

static int self_gather(struct bm_comm *comm, const void *data, size_t bytes,
                       void *all)
{
    (void)comm;
    if (bytes)
        memcpy(all, data, bytes);
    return 0;
}

/* Messages to oneself: the first to the first, and so on. */
static int self_exchange(struct bm_comm *comm, const struct bm_message *sends,
                         size_t send_count, const struct bm_message *receives,
                         size_t receive_count)
{
    (void)comm;
    for (size_t i = 0; i < send_count && i < receive_count; i++)
        if (sends[i].data && sends[i].bytes)
            memcpy(receives[i].data, sends[i].data, sends[i].bytes);
    return 0;
}

static void self_release(struct bm_comm *comm)
{
    (void)comm;
}

/* Nobody sends signals to itself, nor messages of which it does not know when
 * they come. */
static int self_signal(struct bm_comm *comm, const struct bm_signal *signal)
{
    (void)comm;
    (void)signal;
    return 1;
}

static int self_hear(struct bm_comm *comm, struct bm_signal *signal, int *heard)
{
    (void)comm;
    (void)signal;
    *heard = 0;
    return 0;
}

static size_t self_request_bytes(const struct bm_comm *comm, size_t messages,
                                 size_t bytes)
{
    (void)comm;
    (void)messages;
    (void)bytes;
    return 1;
}

static int self_start(struct bm_transfer *t, int channel,
                      const struct bm_message *messages, size_t count,
                      int sending)
{
    (void)t;
    (void)channel;
    (void)messages;
    (void)sending;
    return count > 0;
}

static int self_test(struct bm_transfer *t, int *done)
{
    (void)t;
    *done = 1;
    return 0;
}

static void self_cancel(struct bm_transfer *t)
{
    (void)t;
}

static int self_listen(struct bm_comm *comm)
{
    (void)comm;
    return 0;
}

static void self_warn(struct bm_comm *comm)
{
    (void)comm;
}

static int self_group(struct bm_comm **out, struct bm_comm *whole,
                      const int *members, int count)
{
    (void)members;
    (void)count;
    return bm_comm_self_new(out, whole->a);
}

static int self_settle(struct bm_comm *comm, uint64_t node,
                       struct bm_error *error)
{
    (void)comm;
    (void)node;
    (void)error;
    return BOUMA_OK;
}

/* There is nobody to wait for but threads, and they are waited for elsewhere.
 */
static int self_wait(struct bm_comm *comm, double seconds)
{
    struct timespec time = {0, (long)(seconds * 1e9)};

    (void)comm;
    nanosleep(&time, NULL);
    return 0;
}

static void self_wake(struct bm_comm *comm)
{
    (void)comm;
}

void bm_comm_self_init(struct bm_comm *comm, const bouma_allocator *a)
{
    static const struct bm_comm_functions functions = {
        .reduce = self_reduce,
        .broadcast = self_broadcast,
        .gather = self_gather,
        .exchange = self_exchange,
        .release = self_release,
        .signal = self_signal,
        .hear = self_hear,
        .request_bytes = self_request_bytes,
        .start = self_start,
        .test = self_test,
        .cancel = self_cancel,
        .listen = self_listen,
        .warn = self_warn,
        .group = self_group,
        .settle = self_settle,
        .wait = self_wait,
        .wake = self_wake,
    };

    memset(comm, 0, sizeof(*comm));
    comm->functions = &functions;
    comm->a = a;
    comm->size = 1;
}

int bm_comm_self_new(struct bm_comm **out, const bouma_allocator *a)
{
    *out = bm_new(a, 1, sizeof(**out));
    if (*out)
        bm_comm_self_init(*out, a);
    return *out ? BOUMA_OK : BOUMA_ENOMEM;
}
