// comm_id.hpp -- which ranks have the same communicator of MPI: handles differ.
#ifndef SIM_COMM_ID_HPP
#define SIM_COMM_ID_HPP

#include <mpi.h>

namespace sim
{

// A number that ranks have in common if their communicators have the same ranks.
int comm_id(MPI_Comm comm);

} // namespace sim

#endif
