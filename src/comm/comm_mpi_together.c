/* comm_mpi_together.c -- what all ranks do together, made of messages between
 * two ranks; comm_mpi.c says why. To agree, ranks talk to those at distances 1,
 * 2, 4 ... only, whatever the root, so all connections are there after the
 * first time, and no later one needs memory for them. */
#include "comm/comm_mpi.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT ((size_t)256 << 10) /* of a broadcast */
#define DEPTH   32                  /* of a tree: more than any has */

/* The rank at a distance, which may be negative. */
static int rank_at(const struct bm_comm *comm, int distance)
{
    return (int)(((int64_t)comm->rank + distance + comm->size) % comm->size);
}

/* After round k everyone has the largest values of the 2^k ranks before it;
 * that the last round counts some of them twice does not matter. All values
 * there is room for are sent, so that any two calls can meet. */
int bm_mpi_max(struct bm_comm *comm, uint64_t *values, int count)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    int rc = comm->lost ? BOUMA_ECOMM : 0;

    assert(count <= BM_COMM_MAX_VALUES);
    if (!rc) {
        memset(m->out, 0, sizeof(m->out));
        memcpy(m->out, values, (size_t)count * sizeof(*values));
    }
    for (int distance = 1; distance < comm->size && !rc; distance *= 2) {
        MPI_Request requests[2];

        rc = bm_mpi_receive(m, m->in, sizeof(m->in), rank_at(comm, -distance),
                            BM_MPI_MESSAGE, &requests[0]);
        if (!rc)
            rc = bm_mpi_send(m, m->out, sizeof(m->out), rank_at(comm, distance),
                             BM_MPI_MESSAGE, &requests[1]);
        if (!rc)
            rc = bm_mpi_wait(m, requests, 2);
        for (int i = 0; i < BM_COMM_MAX_VALUES && !rc; i++)
            if (m->in[i] > m->out[i])
                m->out[i] = m->in[i];
    }
    if (!rc)
        memcpy(values, m->out, (size_t)count * sizeof(*values));
    return rc;
}

/* This rank in a binomial tree. */
struct family {
    int parent; /* -1: it is the root */
    int children[DEPTH], count;
};

static struct family find_family(const struct bm_comm *comm, int root)
{
    struct family f = {.parent = -1};
    int relative = rank_at(comm, -root), mask = 1;

    while (mask < comm->size && !(relative & mask))
        mask *= 2;
    if (relative)
        f.parent = rank_at(comm, -mask);
    for (mask /= 2; mask; mask /= 2)
        if (relative + mask < comm->size)
            f.children[f.count++] = rank_at(comm, mask);
    return f;
}

/* Down a binomial tree, in segments: one is passed on while the next one
 * comes. */
static int pass_down(struct bm_mpi_comm *m, uint8_t *data, size_t bytes,
                     int root)
{
    const struct bm_comm *comm = &m->base;
    size_t most = comm->message_bytes < SEGMENT ? comm->message_bytes : SEGMENT;
    struct family f = find_family(comm, root);
    MPI_Request up = MPI_REQUEST_NULL, down[DEPTH];
    int rc = 0, sent = 0;

    if (f.parent >= 0 && bytes)
        rc = bm_mpi_receive(m, data, bytes < most ? bytes : most, f.parent,
                            BM_MPI_MESSAGE, &up);
    for (size_t at = 0; at < bytes && !rc; at += most) {
        size_t n = bytes - at < most ? bytes - at : most, next = bytes - at - n;

        rc = bm_mpi_wait(m, &up, 1);
        if (!rc && f.parent >= 0 && next)
            rc = bm_mpi_receive(m, data + at + n, next < most ? next : most,
                                f.parent, BM_MPI_MESSAGE, &up);
        if (!rc)
            rc = bm_mpi_wait(m, down, sent);
        for (sent = 0; sent < f.count && !rc; sent += !rc)
            rc = bm_mpi_send(m, data + at, n, f.children[sent], BM_MPI_MESSAGE,
                             &down[sent]);
    }
    return rc ? rc : bm_mpi_wait(m, down, sent);
}

int bm_mpi_broadcast(struct bm_comm *comm, void *data, size_t bytes, int root)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    int rc;

    if (comm->lost)
        return BOUMA_ECOMM;
    if (bytes > sizeof(m->small))
        return pass_down(m, data, bytes, root);
    /* What is small may be on the caller's stack. */
    if (comm->rank == root && bytes)
        memcpy(m->small, data, bytes);
    rc = pass_down(m, m->small, bytes, root);
    if (comm->rank != root && !rc && bytes)
        memcpy(data, m->small, bytes);
    return rc;
}

static void reverse(uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint64_t w = words[i];

        words[i] = words[count - 1 - i];
        words[count - 1 - i] = w;
    }
}

/* Bruck et al.: each round doubles the ranks of which the words are known,
 * beginning with one's own. At last they are turned to begin with rank 0. */
int bm_mpi_tell(struct bm_comm *comm, const uint64_t *mine, int count,
                uint64_t *all)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    size_t each = (size_t)count, words = each * (size_t)comm->size;
    int rc = comm->lost ? BOUMA_ECOMM : 0;

    memcpy(all, mine, each * sizeof(*all));
    for (int known = 1; known < comm->size && !rc; known *= 2) {
        int more = known < comm->size - known ? known : comm->size - known;
        size_t bytes = (size_t)more * each * sizeof(*all);
        MPI_Request requests[2];

        rc = bm_mpi_receive(m, all + (size_t)known * each, bytes,
                            rank_at(comm, known), BM_MPI_MESSAGE, &requests[0]);
        if (!rc)
            rc = bm_mpi_send(m, all, bytes, rank_at(comm, -known),
                             BM_MPI_MESSAGE, &requests[1]);
        if (!rc)
            rc = bm_mpi_wait(m, requests, 2);
    }
    if (!rc) {
        size_t before = each * (size_t)comm->rank;

        reverse(all, words - before);
        reverse(all + words - before, before);
        reverse(all, words);
    }
    return rc;
}

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

/* To rank 'root', where piece r of 'all' has sizes[r] bytes; every rank knows
 * the sizes. All pieces are on their way at once. */
static int gather_at(struct bm_comm *comm, const void *data, size_t bytes,
                     void *all, const size_t *sizes, int root)
{
    struct bm_message send = {root, NULL, bytes}, few[FEW] = {0};
    struct bm_message *receives = few;
    size_t count = 0;
    int rc;

    memcpy(&send.data, &data, sizeof(data)); /* not written to */
    if (comm->rank != root)
        return bm_mpi_exchange(comm, &send, 1, NULL, 0);
    if (comm->size > FEW)
        receives = get_memory(comm, (size_t)comm->size, sizeof(*receives));
    if (!receives)
        return BOUMA_ECOMM;
    for (int r = 0; r < comm->size; r++) {
        if (r != root)
            receives[count++] = (struct bm_message){r, all, sizes[r]};
        else if (bytes)
            memcpy(all, data, bytes);
        all = (uint8_t *)all + sizes[r];
    }
    rc = bm_mpi_exchange(comm, NULL, 0, receives, count);
    if (receives != few)
        free(receives);
    return rc;
}

int bm_mpi_gather(struct bm_comm *comm, const void *data, size_t bytes,
                  void *all, const size_t *sizes, int root)
{
    size_t total = 0;
    int rc;

    if (root >= 0)
        return gather_at(comm, data, bytes, all, sizes, root);
    for (int r = 0; r < comm->size; r++)
        total += sizes[r];
    rc = gather_at(comm, data, bytes, all, sizes, 0);
    return rc ? rc : bm_mpi_broadcast(comm, all, total, 0);
}
