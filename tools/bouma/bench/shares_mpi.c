/* shares_mpi.c -- see shares.h. */
#include "shares.h"

#include <stdlib.h>
#include <string.h>

int shares_find(struct shares *out, const struct bench_job *job, MPI_Comm comm)
{
    size_t n = (size_t)job->variables;
    int poor, any = 0, rank;

    out->before = calloc(3 * n, sizeof(*out->before));
    poor = !out->before;
    MPI_Allreduce(&poor, &any, 1, MPI_INT, MPI_MAX, comm);
    if (any)
        return context_fail_memory(job->ctx);
    out->all = out->before + n;
    out->most = out->all + n;
    MPI_Comm_rank(comm, &rank);
    MPI_Exscan(job->bytes, out->before, (int)n, MPI_UINT64_T, MPI_SUM, comm);
    if (rank == 0) /* of which MPI says nothing */
        memset(out->before, 0, n * sizeof(*out->before));
    MPI_Allreduce(job->bytes, out->all, (int)n, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(job->bytes, out->most, (int)n, MPI_UINT64_T, MPI_MAX, comm);
    return DONE;
}

void shares_release(struct shares *shares)
{
    free(shares->before);
    memset(shares, 0, sizeof(*shares));
}
