/* comm_mpi_port.c -- ports over MPI.
 *
 * Ranks of one node share memory, and a put among them is a copy. For ranks of
 * other nodes, and for memory that the caller brings, there is a window of MPI
 * over the same bytes. Puts are passive: whoever owns the memory has no part in
 * them, but is told by a note. */
#include <stdatomic.h>
#include <string.h>
#include <sys/statvfs.h>

#include "comm/comm_mpi.h"

struct mpi_port {
    struct bm_port base;
    MPI_Win shared, remote; /* MPI_WIN_NULL: there is none */
    uint8_t **rooms;        /* [size], memory of ranks on this node, or NULL */
};

static int size_of(MPI_Comm comm)
{
    int size = 0;

    MPI_Comm_size(comm, &size);
    return size;
}

/* The largest of a number of all ranks. */
static int any_of(MPI_Comm comm, int mine)
{
    int all = 1;

    return MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, comm) || all;
}

/* Whether the memory that ranks of a node share has so many bytes left. Where
 * it has not, some MPI give it all the same, and its first use kills. */
static int has_room(MPI_Comm node, size_t bytes)
{
    uint64_t mine = bytes, all = 0;
    struct statvfs fs;

    if (MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, node))
        return 0;
    if (statvfs("/dev/shm", &fs))
        return 1; /* not known */
    return (uint64_t)fs.f_bavail * fs.f_frsize / 2 >= all;
}

/* Memory that the ranks of this node share; *failed on none of them or on
 * all. */
static void share_memory(struct mpi_port *w, MPI_Comm node, size_t bytes,
                         int *failed)
{
    MPI_Info info;
    void *base = NULL;

    *failed = 1;
    if (any_of(node, !has_room(node, bytes)) || MPI_Info_create(&info))
        return;
    /* Each rank's part begins at a page. */
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    *failed = MPI_Win_allocate_shared((MPI_Aint)bytes, 1, info, node, &base,
                                      &w->shared) != MPI_SUCCESS;
    MPI_Info_free(&info);
    if (*failed) {
        w->shared = MPI_WIN_NULL;
        return;
    }
    if (!w->base.memory)
        w->base.memory = base;
    MPI_Win_set_errhandler(w->shared, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w->shared);
}

/* Find the memory of the ranks on this node. */
static int find_rooms(struct mpi_port *w, MPI_Comm comm, MPI_Comm node)
{
    MPI_Group all, here;
    int rc = MPI_SUCCESS;

    MPI_Comm_group(comm, &all);
    MPI_Comm_group(node, &here);
    for (int i = 0; i < size_of(node) && !rc; i++) {
        MPI_Aint bytes = 0;
        int unit, rank = MPI_UNDEFINED;
        void *base = NULL;

        rc = MPI_Win_shared_query(w->shared, i, &bytes, &unit, &base);
        MPI_Group_translate_ranks(here, 1, &i, all, &rank);
        if (!rc && bytes && rank != MPI_UNDEFINED)
            w->rooms[rank] = base;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    return rc;
}

int bm_mpi_port_new(struct bm_port **out, struct bm_comm *comm, void *memory,
                    size_t bytes)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    struct mpi_port *w = bm_new(comm->a, 1, sizeof(*w));
    uint8_t **rooms = bm_new(comm->a, (size_t)comm->size, sizeof(*rooms));
    int failed = !w || !rooms, remote;

    if (comm->timed_out || any_of(m->comm, failed) ||
        (m->node == MPI_COMM_NULL &&
         MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, comm->rank,
                             MPI_INFO_NULL, &m->node))) {
        bm_drop(comm->a, w);
        bm_drop(comm->a, rooms);
        return MPI_ERR_OTHER;
    }
    w->base = (struct bm_port){comm, memory, bytes};
    w->rooms = rooms;
    w->shared = w->remote = MPI_WIN_NULL;
    remote = any_of(m->comm, memory != NULL || size_of(m->node) < comm->size);
    share_memory(w, m->node, memory ? 0 : bytes, &failed);
    if (!failed)
        failed = find_rooms(w, m->comm, m->node) != MPI_SUCCESS;
    failed = any_of(m->comm, failed);
    if (!failed && remote) {
        failed =
            MPI_Win_create(w->base.memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL,
                           m->comm, &w->remote) != MPI_SUCCESS;
        if (!failed) {
            MPI_Win_set_errhandler(w->remote, MPI_ERRORS_RETURN);
            MPI_Win_lock_all(MPI_MODE_NOCHECK, w->remote);
        } else {
            w->remote = MPI_WIN_NULL;
        }
        failed = any_of(m->comm, failed);
    }
    if (failed) {
        bm_mpi_port_free(&w->base);
        return MPI_ERR_OTHER;
    }
    *out = &w->base;
    return MPI_SUCCESS;
}

void bm_mpi_port_free(struct bm_port *base)
{
    struct mpi_port *w = (struct mpi_port *)base;
    const bouma_allocator *a = base->comm->a;
    int finalized = 0;

    MPI_Finalized(&finalized);
    /* With something under way in it that was given up, it must stay. */
    if (base->comm->timed_out)
        return;
    if (!finalized && w->remote != MPI_WIN_NULL) {
        MPI_Win_unlock_all(w->remote);
        MPI_Win_free(&w->remote);
    }
    if (!finalized && w->shared != MPI_WIN_NULL) {
        MPI_Win_unlock_all(w->shared);
        MPI_Win_free(&w->shared);
    }
    bm_drop(a, w->rooms);
    bm_drop(a, w);
}

uint8_t *bm_mpi_room(struct bm_port *base, int peer)
{
    return ((struct mpi_port *)base)->rooms[peer];
}

int bm_mpi_put(struct bm_port *base, int peer, size_t at, const void *data,
               size_t bytes)
{
    struct mpi_port *w = (struct mpi_port *)base;
    const uint8_t *p = data;
    int rc = MPI_SUCCESS;

    if (w->rooms[peer]) {
        memcpy(w->rooms[peer] + at, data, bytes);
        return rc;
    }
    while (bytes && !rc) {
        size_t n = bytes < base->comm->message_bytes
                       ? bytes
                       : base->comm->message_bytes;

        rc = MPI_Put(p, (int)n, MPI_BYTE, peer, (MPI_Aint)at, (int)n, MPI_BYTE,
                     w->remote);
        p += n;
        at += n;
        bytes -= n;
    }
    return rc;
}

int bm_mpi_get(struct bm_port *base, int peer, size_t at, void *data,
               size_t bytes)
{
    struct mpi_port *w = (struct mpi_port *)base;
    uint8_t *p = data;
    int rc = MPI_SUCCESS;

    if (w->rooms[peer]) {
        memcpy(data, w->rooms[peer] + at, bytes);
        return rc;
    }
    while (bytes && !rc) {
        size_t n = bytes < base->comm->message_bytes
                       ? bytes
                       : base->comm->message_bytes;

        rc = MPI_Get(p, (int)n, MPI_BYTE, peer, (MPI_Aint)at, (int)n, MPI_BYTE,
                     w->remote);
        p += n;
        at += n;
        bytes -= n;
    }
    return rc;
}

/* Also for the memory's owner ('peer' is this rank itself), who thereby sees
 * what others have put. */
int bm_mpi_flush(struct bm_port *base, int peer)
{
    struct mpi_port *w = (struct mpi_port *)base;
    int rc = MPI_SUCCESS;

    atomic_thread_fence(memory_order_seq_cst);
    if (w->shared != MPI_WIN_NULL)
        rc = MPI_Win_sync(w->shared);
    if (!rc && w->remote != MPI_WIN_NULL)
        rc = w->rooms[peer] || peer == base->comm->rank
                 ? MPI_Win_sync(w->remote)
                 : MPI_Win_flush(peer, w->remote);
    return rc;
}
