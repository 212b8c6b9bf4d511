// storage.hpp -- what only a simulated file system can be told.
#ifndef SIM_STORAGE_HPP
#define SIM_STORAGE_HPP

#include <string>

namespace sim
{

// An empty file is to be spread as MPI-IO asks for: over shared_stripe_count
// servers.
void share_file(const std::string &path);

} // namespace sim

#endif
