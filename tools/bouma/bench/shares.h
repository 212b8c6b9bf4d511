/* shares.h -- where the bytes of each rank lie in what all ranks of a
 * communicator have of each variable: for pipelines that share files by MPI. */
#ifndef SHARES_H
#define SHARES_H

#include <mpi.h>

#include "pipeline.h"

struct shares {
    uint64_t *before; /* [variables]: of the ranks below this one */
    uint64_t *all;    /* [variables]: of all ranks */
    uint64_t *most;   /* [variables]: of the rank that has most */
};

/* Collective, and the outcome is the same on all ranks. The caller ends *out
 * with shares_release(), after a failure too. */
int shares_find(struct shares *out, const struct bench_job *job, MPI_Comm comm);
void shares_release(struct shares *shares);

#endif
