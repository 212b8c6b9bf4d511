/* comm_self.c -- the communicator of a single process. */
#include <string.h>

#include "comm/comm.h"

static int self_max(struct bm_comm *comm, uint64_t *values, int count)
{
    (void)comm;
    (void)values;
    (void)count;
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

static int self_tell(struct bm_comm *comm, const uint64_t *mine, int count,
                     uint64_t *all)
{
    (void)comm;
    memcpy(all, mine, (size_t)count * sizeof(*all));
    return 0;
}

static int self_gather(struct bm_comm *comm, const void *data, size_t bytes,
                       void *all, const size_t *sizes, int root)
{
    (void)comm;
    (void)sizes;
    (void)root;
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

void bm_comm_self_init(struct bm_comm *comm, const bouma_allocator *a)
{
    static const struct bm_comm_functions functions = {
        self_max,           self_broadcast, self_tell,   self_gather,
        self_exchange,      self_release,   self_signal, self_hear,
        self_request_bytes, self_start,     self_test,   self_cancel,
        self_listen,        self_warn,      self_group};

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
