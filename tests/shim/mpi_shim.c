/* mpi_shim.c -- see mpi_shim.h. */
#include "mpi_shim.h"

#include <mpi.h>
#include <string.h>
#include <time.h>

const char *const shim_names[] = {
#define SHIM_ENTRY(name) "MPI_" #name,
    SHIM_LIST(SHIM_ENTRY)
#undef SHIM_ENTRY
};

static struct {
    enum shim_kind kind;
    enum shim_mode mode;
    long n, counts[SHIM_KINDS];
    int acted, waiting;
    MPI_Request barrier; /* of all ranks, at shim_release() */
} shim;

void shim_arm(enum shim_kind kind, enum shim_mode mode, long n)
{
    memset(&shim, 0, sizeof(shim));
    shim.kind = kind;
    shim.mode = mode;
    shim.n = n;
    shim.barrier = MPI_REQUEST_NULL;
}

/* A call that is starved waits here as well, for all others. */
static void meet(void)
{
    if (!shim.waiting)
        PMPI_Ibarrier(MPI_COMM_WORLD, &shim.barrier);
    shim.waiting = 1;
    PMPI_Wait(&shim.barrier, MPI_STATUS_IGNORE);
}

void shim_release(void)
{
    meet();
    shim.mode = SHIM_NOTHING;
    shim.waiting = 0;
}

long shim_count(enum shim_kind kind)
{
    return shim.counts[kind];
}

int shim_has_acted(void)
{
    return shim.acted;
}

/* What to do about this call. */
static enum shim_mode look(enum shim_kind kind)
{
    long count = ++shim.counts[kind];
    struct timespec while_ = {0, 20000000};

    if (shim.mode == SHIM_NOTHING || kind != shim.kind || count < shim.n ||
        (count > shim.n && (shim.mode == SHIM_FAIL || shim.mode == SHIM_DELAY)))
        return SHIM_NOTHING;
    shim.acted = 1;
    if (shim.mode == SHIM_DELAY) {
        nanosleep(&while_, NULL);
        return SHIM_NOTHING;
    }
    return shim.mode == SHIM_STARVE ? SHIM_STARVE : SHIM_FAIL;
}

/* Of calls that are local, or that a rank just never leaves. */
static int local(enum shim_kind kind)
{
    enum shim_mode mode = look(kind);

    if (mode == SHIM_STARVE && !shim.waiting)
        meet();
    return mode == SHIM_FAIL ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    enum shim_mode mode = look(SHIM_Isend);

    if (mode == SHIM_FAIL)
        return MPI_ERR_OTHER;
    if (mode == SHIM_STARVE) {
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

/* One that matches nothing: from this process itself, which sends nothing. It
 * is the caller's, who gives it up, or leaves it to the end of MPI. */
int MPI_Irecv(void *data, int count, MPI_Datatype type, int peer, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    enum shim_mode mode = look(SHIM_Irecv);

    if (mode == SHIM_FAIL)
        return MPI_ERR_OTHER;
    if (mode == SHIM_STARVE)
        return PMPI_Irecv(NULL, 0, MPI_BYTE, 0, 4711, MPI_COMM_SELF, request);
    return PMPI_Irecv(data, count, type, peer, tag, comm, request);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    enum shim_mode mode = look(SHIM_Test);

    *done = 0;
    if (mode == SHIM_FAIL)
        return MPI_ERR_OTHER;
    return mode == SHIM_STARVE ? MPI_SUCCESS : PMPI_Test(request, done, status);
}

int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int *found, MPI_Status *status)
{
    enum shim_mode mode = look(SHIM_Iprobe);

    *found = 0;
    if (mode == SHIM_FAIL)
        return MPI_ERR_OTHER;
    return mode == SHIM_STARVE ? MPI_SUCCESS
                               : PMPI_Iprobe(peer, tag, comm, found, status);
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    int rc = local(SHIM_Get_count);

    return rc ? rc : PMPI_Get_count(status, type, count);
}

int MPI_Iallreduce(const void *mine, void *all, int count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    int rc = local(SHIM_Iallreduce);

    return rc ? rc : PMPI_Iallreduce(mine, all, count, type, op, comm, request);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
    int rc = local(SHIM_Comm_idup);

    return rc ? rc : PMPI_Comm_idup(comm, copy, request);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    int rc = local(SHIM_Comm_free);

    return rc ? rc : PMPI_Comm_free(comm);
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    int rc = local(SHIM_Comm_set_errhandler);

    return rc ? rc : PMPI_Comm_set_errhandler(comm, handler);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    int rc = local(SHIM_Comm_rank);

    return rc ? rc : PMPI_Comm_rank(comm, rank);
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    int rc = local(SHIM_Comm_size);

    return rc ? rc : PMPI_Comm_size(comm, size);
}

int MPI_Initialized(int *initialized)
{
    int rc = local(SHIM_Initialized);

    return rc ? rc : PMPI_Initialized(initialized);
}

int MPI_Finalized(int *finalized)
{
    int rc = local(SHIM_Finalized);

    return rc ? rc : PMPI_Finalized(finalized);
}

int MPI_Error_string(int code, char *text, int *length)
{
    int rc = local(SHIM_Error_string);

    return rc ? rc : PMPI_Error_string(code, text, length);
}

int MPI_Cancel(MPI_Request *request)
{
    int rc = local(SHIM_Cancel);

    return rc ? rc : PMPI_Cancel(request);
}

int MPI_Request_free(MPI_Request *request)
{
    int rc = local(SHIM_Request_free);

    return rc ? rc : PMPI_Request_free(request);
}
