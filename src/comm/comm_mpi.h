/* comm_mpi.h -- a communicator over MPI, for api_mpi.c. */
#ifndef BM_COMM_MPI_H
#define BM_COMM_MPI_H

#include <mpi.h>

#include "comm/comm.h"

/* A duplicate of 'comm' whose errors are returned. Collective; the status is
 * the same on all ranks. */
int bm_comm_mpi_new(struct bm_comm **out, const bouma_allocator *a,
                    MPI_Comm comm);

#endif
