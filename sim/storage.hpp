// storage.hpp -- the file system of a simulated machine.
#ifndef SIM_STORAGE_HPP
#define SIM_STORAGE_HPP

#include <cstdint>
#include <string>

namespace sim {

// What has gone to it and come from it.
struct StorageCounts {
    uint64_t written = 0, read = 0, requests = 0, creates = 0;
    double server_seconds = 0; // of all servers
    uint64_t locks_moved = 0;
};
const StorageCounts &storage_counts();

// A copy of all files, in a directory of the real machine.
bool save_files(const std::string &directory);

} // namespace sim

#endif
