/* session_mpi.h -- the communicator of a session of `bouma-mpi`. */
#ifndef SESSION_MPI_H
#define SESSION_MPI_H

#include <mpi.h>

#include "session.h"

MPI_Comm session_mpi_comm(const struct session *session);

#endif
