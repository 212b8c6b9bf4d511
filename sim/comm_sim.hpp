// comm_sim.hpp -- the library's communicator, for C++.
#ifndef SIM_COMM_SIM_HPP
#define SIM_COMM_SIM_HPP

#include <mpi.h>

extern "C" {
#include "comm/comm.h"

// As in comm_mpi.h, which is of C alone.
int bm_comm_mpi_new(bm_comm **out, const bouma_allocator *a, MPI_Comm comm,
                    double timeout, bm_error *error);
}

// Each rank tells each other something of 'bytes' bytes: the time that takes.
void sim_tell_each(bm_comm *comm, size_t bytes);

#endif
