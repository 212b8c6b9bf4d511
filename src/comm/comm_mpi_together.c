/* comm_mpi_together.c -- what all ranks do together, made of messages between
 * two ranks; comm_mpi.c says why. All of it goes along one tree (rank_tree.h),
 * whatever the root, so all connections are there after the first time, and no
 * later one needs memory for them; no rank has more than BM_TREE_CHILDREN + 1,
 * and none gets more messages in a call, but for those that are long. */
#include "comm/comm_mpi.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT ((size_t)256 << 10) /* of a broadcast */

/* ---- agreements ---------------------------------------------------------- */

/* Add what a child has said to what this rank says. */
static void combine(uint64_t *out, const uint64_t *in, int count, int sums)
{
    for (int i = 0; i < BM_COMM_MAX_VALUES; i++) {
        if (i < count && i >= count - sums)
            out[i] += in[i];
        else if (in[i] > out[i])
            out[i] = in[i];
    }
}

/* What is below this rank, to its parent; then what the parent says. */
static int ask_parent(struct bm_mpi_comm *m)
{
    MPI_Request requests[2];
    int rc;

    if (m->family.parent < 0) {
        memcpy(m->result, m->out, sizeof(m->result));
        return 0;
    }
    rc = bm_mpi_receive(m, m->result, sizeof(m->result), m->family.parent,
                        BM_MPI_MESSAGE, &requests[0]);
    if (!rc)
        rc = bm_mpi_send(m, m->out, sizeof(m->out), m->family.parent,
                         BM_MPI_MESSAGE, &requests[1]);
    return rc ? rc : bm_mpi_wait(m, requests, 2);
}

/* Up the tree and down again. All values there is room for are sent, so that
 * any two calls can meet. */
int bm_mpi_reduce(struct bm_comm *comm, uint64_t *values, int count, int sums)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    const struct bm_family *f = &m->family;
    MPI_Request requests[BM_TREE_CHILDREN];
    int rc = comm->lost ? BOUMA_ECOMM : 0;

    assert(count <= BM_COMM_MAX_VALUES);
    if (!rc) {
        memset(m->out, 0, sizeof(m->out));
        memcpy(m->out, values, (size_t)count * sizeof(*values));
    }
    for (int i = 0; i < f->count && !rc; i++)
        rc = bm_mpi_receive(m, m->in[i], sizeof(m->in[i]), f->child[i],
                            BM_MPI_MESSAGE, &requests[i]);
    if (!rc)
        rc = bm_mpi_wait(m, requests, f->count);
    for (int i = 0; i < f->count && !rc; i++)
        combine(m->out, m->in[i], count, sums);
    if (!rc)
        rc = ask_parent(m);
    for (int i = 0; i < f->count && !rc; i++)
        rc = bm_mpi_send(m, m->result, sizeof(m->result), f->child[i],
                         BM_MPI_MESSAGE, &requests[i]);
    if (!rc)
        rc = bm_mpi_wait(m, requests, f->count);
    if (!rc)
        memcpy(values, m->result, (size_t)count * sizeof(*values));
    return rc;
}

/* ---- from one to all ----------------------------------------------------- */

/* Where a broadcast comes from, and goes to. */
struct way {
    int from; /* -1: from this rank */
    int to[BM_TREE_CHILDREN + 1], count;
};

/* From any rank it goes up the tree as well, and down all other branches. */
static struct way find_way(const struct bm_mpi_comm *m, int root)
{
    const struct bm_family *f = &m->family;
    struct way w = {.from = -1};
    int child = -1;

    if (m->base.rank != root) {
        child = bm_family_towards(f, bm_places_position(&m->base.places, root));
        w.from = child < 0 ? f->parent : f->child[child];
    }
    if (f->parent >= 0 && w.from != f->parent)
        w.to[w.count++] = f->parent;
    for (int i = 0; i < f->count; i++)
        if (i != child)
            w.to[w.count++] = f->child[i];
    return w;
}

/* In segments: one is passed on while the next one comes. */
static int pass_on(struct bm_mpi_comm *m, uint8_t *data, size_t bytes, int root)
{
    const struct bm_comm *comm = &m->base;
    size_t most = comm->message_bytes < SEGMENT ? comm->message_bytes : SEGMENT;
    struct way w = find_way(m, root);
    MPI_Request come = MPI_REQUEST_NULL, go[BM_TREE_CHILDREN + 1];
    int rc = 0, sent = 0;

    if (w.from >= 0 && bytes)
        rc = bm_mpi_receive(m, data, bytes < most ? bytes : most, w.from,
                            BM_MPI_MESSAGE, &come);
    for (size_t at = 0; at < bytes && !rc; at += most) {
        size_t n = bytes - at < most ? bytes - at : most, next = bytes - at - n;

        rc = bm_mpi_wait(m, &come, 1);
        if (!rc && w.from >= 0 && next)
            rc = bm_mpi_receive(m, data + at + n, next < most ? next : most,
                                w.from, BM_MPI_MESSAGE, &come);
        if (!rc)
            rc = bm_mpi_wait(m, go, sent);
        for (sent = 0; sent < w.count && !rc; sent += !rc)
            rc = bm_mpi_send(m, data + at, n, w.to[sent], BM_MPI_MESSAGE,
                             &go[sent]);
    }
    return rc ? rc : bm_mpi_wait(m, go, sent);
}

int bm_mpi_broadcast(struct bm_comm *comm, void *data, size_t bytes, int root)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    int rc;

    if (comm->lost)
        return BOUMA_ECOMM;
    if (bytes > sizeof(m->small))
        return pass_on(m, data, bytes, root);
    /* What is small may be on the caller's stack. */
    if (comm->rank == root && bytes)
        memcpy(m->small, data, bytes);
    rc = pass_on(m, m->small, bytes, root);
    if (comm->rank != root && !rc && bytes)
        memcpy(data, m->small, bytes);
    return rc;
}

/* ---- from all to one ----------------------------------------------------- */

/* What goes up the tree is one stream of bytes for each rank: its own, then
 * what comes from its children, one after the other. It is cut into messages
 * that are full, so that the root gets few however many ranks there are, and
 * goes through buffers of a fixed size: nobody but the root needs memory for
 * what is gathered. */
static size_t longest(const struct bm_mpi_comm *m)
{
    return m->base.message_bytes < BM_MPI_RELAY ? m->base.message_bytes
                                                : BM_MPI_RELAY;
}

/* A stream on its way to the parent, and the two buffers that it takes. */
struct outflow {
    uint8_t *buffer[2];
    MPI_Request sent[2];
    int turn;
    size_t filled;
};

static int flush(struct bm_mpi_comm *m, struct outflow *o)
{
    int rc = bm_mpi_send(m, o->buffer[o->turn], o->filled, m->family.parent,
                         BM_MPI_MESSAGE, &o->sent[o->turn]);

    o->turn = !o->turn;
    o->filled = 0;
    return rc ? rc : bm_mpi_wait(m, &o->sent[o->turn], 1);
}

static int put(struct bm_mpi_comm *m, struct outflow *o, const uint8_t *data,
               size_t bytes)
{
    int rc = 0;

    while (bytes && !rc) {
        size_t room = longest(m) - o->filled, n = bytes < room ? bytes : room;

        memcpy(o->buffer[o->turn] + o->filled, data, n);
        o->filled += n;
        data += n;
        bytes -= n;
        if (o->filled == longest(m))
            rc = flush(m, o);
    }
    return rc;
}

/* Straight from where it is: there is nothing to add. */
static int send_own(struct bm_mpi_comm *m, const uint8_t *data, size_t bytes)
{
    MPI_Request sent[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    size_t most = longest(m);
    int rc = 0, turn = 0;

    for (size_t at = 0; at < bytes && !rc; at += most, turn = !turn) {
        rc = bm_mpi_wait(m, &sent[turn], 1);
        if (!rc)
            rc =
                bm_mpi_send(m, data + at, bytes - at < most ? bytes - at : most,
                            m->family.parent, BM_MPI_MESSAGE, &sent[turn]);
    }
    return rc ? rc : bm_mpi_wait(m, sent, 2);
}

/* The stream of a child: into 'all', or, if that is NULL, on to the parent. */
static int take(struct bm_mpi_comm *m, int child, uint64_t bytes, uint8_t *all,
                struct outflow *o)
{
    uint64_t most = longest(m), asked = 0, here = 0;
    uint8_t *relay[2] = {m->relay, m->relay ? m->relay + BM_MPI_RELAY : NULL};
    MPI_Request come[2];
    int rc = 0;

    for (int turn = 0; here < bytes && !rc; turn = !turn) {
        uint64_t n = bytes - here < most ? bytes - here : most;

        for (int k = asked > here; asked < bytes && k < 2 && !rc; k++) {
            int slot = turn ^ k;
            uint64_t next = bytes - asked < most ? bytes - asked : most;

            rc =
                bm_mpi_receive(m, all ? all + asked : relay[slot], (size_t)next,
                               child, BM_MPI_MESSAGE, &come[slot]);
            asked += next;
        }
        if (!rc)
            rc = bm_mpi_wait(m, &come[turn], 1);
        if (!rc && !all)
            rc = put(m, o, relay[turn], (size_t)n);
        here += n;
    }
    return rc;
}

/* How much comes from each child, into below[]; and to the parent, how much all
 * of it is. */
static int tell_bytes(struct bm_mpi_comm *m, size_t bytes, uint64_t *below)
{
    const struct bm_family *f = &m->family;
    MPI_Request requests[BM_TREE_CHILDREN];
    int rc = 0;

    for (int i = 0; i < f->count && !rc; i++)
        rc = bm_mpi_receive(m, m->in[i], sizeof(*m->in[i]), f->child[i],
                            BM_MPI_MESSAGE, &requests[i]);
    if (!rc)
        rc = bm_mpi_wait(m, requests, f->count);
    m->out[0] = bytes;
    for (int i = 0; i < f->count && !rc; i++) {
        below[i] = m->in[i][0];
        m->out[0] += below[i];
    }
    if (f->parent >= 0 && !rc)
        rc = bm_mpi_send(m, m->out, sizeof(*m->out), f->parent, BM_MPI_MESSAGE,
                         &requests[0]);
    if (f->parent >= 0 && !rc)
        rc = bm_mpi_wait(m, requests, 1);
    return rc;
}

/* A rank that has children, and a parent. */
static int pass_up(struct bm_mpi_comm *m, const uint8_t *data, size_t bytes,
                   const uint64_t *below)
{
    const struct bm_family *f = &m->family;
    struct outflow o = {
        {m->relay + 2 * BM_MPI_RELAY, m->relay + 3 * BM_MPI_RELAY},
        {MPI_REQUEST_NULL, MPI_REQUEST_NULL},
        0,
        0};
    int rc = put(m, &o, data, bytes);

    for (int i = 0; i < f->count && !rc; i++)
        rc = take(m, f->child[i], below[i], NULL, &o);
    if (!rc && o.filled)
        rc = flush(m, &o);
    return rc ? rc : bm_mpi_wait(m, o.sent, 2);
}

int bm_mpi_gather(struct bm_comm *comm, const void *data, size_t bytes,
                  void *all)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    const struct bm_family *f = &m->family;
    uint64_t below[BM_TREE_CHILDREN];
    uint8_t *at = all;
    int rc;

    if (comm->lost)
        return BOUMA_ECOMM;
    /* What is small may be on the caller's stack. */
    if (bytes <= sizeof(m->small)) {
        if (bytes)
            memcpy(m->small, data, bytes);
        data = m->small;
    }
    rc = tell_bytes(m, bytes, below);
    if (f->parent >= 0 && !rc)
        return f->count ? pass_up(m, data, bytes, below)
                        : send_own(m, data, bytes);
    if (bytes && !rc)
        memcpy(at, data, bytes);
    at = bytes ? at + bytes : at;
    for (int i = 0; i < f->count && !rc; i++) {
        rc = take(m, f->child[i], below[i], at, NULL);
        at = below[i] ? at + below[i] : at;
    }
    return rc;
}

/* ---- between any two ------------------------------------------------------ */

static size_t pieces_of(const struct bm_comm *comm, size_t bytes)
{
    return bytes ? (bytes - 1) / comm->message_bytes + 1 : 0;
}

/* Requests are kept in a fixed array where they fit, so that small exchanges
 * cannot fail for lack of memory. */
#define FEW 64

/* From malloc and not from the caller's table: a failure here could not be
 * agreed on, since the other ranks are in their waits already. */
static void *get_memory(struct bm_comm *comm, size_t count, size_t size)
{
    void *memory = malloc(count * size);

    if (!memory) {
        bm_comm_relieve(comm);
        memory = malloc(count * size);
    }
    if (!memory)
        bm_comm_lose(comm,
                     "rank %d: no memory for %zu messages; this handle can "
                     "only be freed now",
                     bm_comm_name(comm, comm->rank), count);
    return memory;
}

int bm_mpi_exchange(struct bm_comm *comm, const struct bm_message *sends,
                    size_t send_count, const struct bm_message *receives,
                    size_t receive_count)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    MPI_Request few[FEW], *requests = few;
    size_t pieces = 0;
    int count = 0, rc = 0;

    for (size_t i = 0; i < send_count; i++)
        pieces += pieces_of(comm, sends[i].bytes);
    for (size_t i = 0; i < receive_count; i++)
        pieces += pieces_of(comm, receives[i].bytes);
    if (pieces > FEW)
        requests = get_memory(comm, pieces, sizeof(*requests));
    if (!requests)
        return BOUMA_ECOMM;
    for (size_t i = 0; i < receive_count && !rc; i++)
        rc = bm_mpi_start(m, &receives[i], 0, BM_MPI_MESSAGE, requests, &count);
    for (size_t i = 0; i < send_count && !rc; i++)
        rc = bm_mpi_start(m, &sends[i], 1, BM_MPI_MESSAGE, requests, &count);
    if (!rc)
        rc = bm_mpi_wait(m, requests, count);
    if (requests != few)
        free(requests);
    return rc;
}
