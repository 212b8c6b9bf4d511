/* session_mpi.c -- a session of all processes that mpirun started:
 * `bouma-mpi`. An MPI error ends the job, as MPI's default handler does. */
#include <stdlib.h>
#include <string.h>

#include "bouma_mpi.h"
#include "comm/comm_mpi.h"
#include "session_mpi.h"
#include "sized.h"

struct session {
    MPI_Comm comm;
    int rank, size;
};

struct session *session_start(int *argc, char ***argv)
{
    struct session *session = calloc(1, sizeof(*session));
    int provided;

    if (!session)
        return NULL;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    session->comm = MPI_COMM_WORLD;
    MPI_Comm_rank(session->comm, &session->rank);
    MPI_Comm_size(session->comm, &session->size);
    return session;
}

void session_finish(struct session *session)
{
    free(session);
    MPI_Finalize();
}

int session_rank(const struct session *session)
{
    return session->rank;
}

int session_size(const struct session *session)
{
    return session->size;
}

int session_node_size(struct session *session)
{
    MPI_Comm node;
    int size;

    MPI_Comm_split_type(session->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size;
}

const char *session_program(void)
{
    return "bouma-mpi";
}

int session_agree(struct session *session, int outcome, void *told,
                  size_t bytes)
{
    struct {
        int outcome, rank;
    } mine = {outcome, session->rank}, worst;

    /* MPI_MAXLOC gives the lowest rank among equals. */
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, session->comm);
    if (worst.outcome != 0)
        MPI_Bcast(told, (int)bytes, MPI_BYTE, worst.rank, session->comm);
    return worst.outcome;
}

void session_broadcast(struct session *session, void *data, size_t bytes)
{
    MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, session->comm);
}

uint64_t session_sum(struct session *session, uint64_t value)
{
    uint64_t sum;

    MPI_Allreduce(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, session->comm);
    return sum;
}

bool session_equal(struct session *session, uint64_t value)
{
    uint64_t ends[2] = {value, ~value}; /* the least, and that of the largest */

    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, session->comm);
    return ends[0] == ~ends[1];
}

void session_combine(struct session *session, double *values, size_t count,
                     enum session_operation operation)
{
    MPI_Op op = operation == SESSION_MIN   ? MPI_MIN
                : operation == SESSION_MAX ? MPI_MAX
                                           : MPI_SUM;

    if (session->rank == 0)
        MPI_Reduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, op, 0,
                   session->comm);
    else
        MPI_Reduce(values, NULL, (int)count, MPI_DOUBLE, op, 0, session->comm);
}

int session_create(struct session *session, bouma_dataset **out,
                   const char *path, const bouma_options *opts)
{
    return bouma_dataset_create_mpi(out, session->comm, path, opts);
}

int session_append(struct session *session, bouma_dataset **out,
                   const char *path, const bouma_options *opts)
{
    return bouma_dataset_append_mpi(out, session->comm, path, opts);
}

int session_open(struct session *session, bouma_dataset **out, const char *path,
                 const bouma_options *opts)
{
    return bouma_dataset_open_mpi(out, session->comm, path, opts);
}

int session_verify(struct session *session, struct session_check *check)
{
    return bouma_verify_mpi(SIZED(&check->report), session->comm, check->path,
                            check->depth, check->opts, check->each, check->user,
                            check->message, sizeof(check->message));
}

int session_probe(struct session *session, struct session_probe *probe)
{
    return bouma_probe_mpi(SIZED(&probe->report), session->comm, &probe->spec,
                           probe->opts, probe->message, sizeof(probe->message));
}

int session_drain(struct session *session, struct session_drain *drain)
{
    return bouma_drain_mpi(SIZED(&drain->report), session->comm, drain->local,
                           drain->path, drain->remove, drain->opts,
                           drain->message, sizeof(drain->message));
}

int session_comm(struct session *session, struct bm_comm **out,
                 const bouma_allocator *a, double timeout,
                 struct bm_error *error)
{
    return bm_comm_mpi_new(out, a, session->comm, timeout, error);
}

MPI_Comm session_mpi_comm(const struct session *session)
{
    return session->comm;
}
