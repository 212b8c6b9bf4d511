// machine.hpp -- a simulated machine: a file of numbers, and what follows from
// them. sim/machines has one for each machine, with the sources of the numbers.
#ifndef SIM_MACHINE_HPP
#define SIM_MACHINE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sim
{

struct Machine {
    std::string name;
    // The network: torus with so many axes, dragonfly, fattree, or a crossbar.
    std::string network = "crossbar";
    int axes = 3;
    int ranks_per_node = 16;
    double link_bandwidth = 1e9, link_latency = 1e-6; // bytes/s, s
    double node_bandwidth = 10e9;   // inside a node, by message
    double injection_bandwidth = 0; // of a node; 0: that of its links
    double message_overhead = 1e-6; // s, of software, each message
    // What a rank is busy with a message that it receives, s: those that arrive
    // together wait for each other.
    double receive_seconds = 0;
    size_t header_bytes = 64;      // of a message, beside its contents
    size_t eager_bytes = 16 << 10; // messages up to this need no receiver yet
    double collective_latency = 3e-6, collective_bandwidth = 1e9;

    // Storage: servers behind gateways (I/O nodes, routers of LNET), each shared
    // by so many nodes, of which the first leads to it.
    int nodes_per_gateway = 32;
    double gateway_bandwidth = 4e9;
    // Not 0: so many gateways, on nodes of their own, which all nodes share; each
    // leads to some of the servers.
    int gateway_nodes = 0;
    double process_bandwidth = 0; // of one call of one process; 0: no limit
    int servers = 4;
    double server_bandwidth = 1e9;  // bytes/s each
    double server_latency = 5e-4;   // s each request
    size_t request_bytes = 4 << 20; // longest request
    int stripe_count = 1;           // servers that one file is spread over
    int shared_stripe_count = 0;    // the same of MPI-IO's; 0: the same
    size_t stripe_bytes = 1 << 20;
    double lock_seconds = 0; // when a block of a shared file changes its writer
    size_t lock_bytes = 1 << 20;
    double metadata_seconds = 2e-4; // create, rename, remove: one at a time
    double lookup_seconds = 5e-5;   // open, list
    double sync_seconds = 1e-3;

    // Storage that so many nodes have for themselves, behind the first of them: an
    // SSD of each node, or a burst buffer. What is below the path is there, and
    // only these nodes see it. Without a path there is none.
    std::string tier_path;
    int nodes_per_tier = 1;
    double tier_write_bandwidth = 1e9, tier_read_bandwidth = 1e9;
    double tier_latency = 1e-4;          // s each request, and each name
    size_t tier_request_bytes = 1 << 20; // longest request
    double tier_capacity_bytes = 1e12;

    double nodes_per_aggregator = 1;    // of MPI-IO
    size_t aggregator_bytes = 16 << 20; // of its buffer, ROMIO's cb_buffer_size

    // Computing (work.hpp).
    int cores_per_node = 0;     // 0: one for each rank
    double processor_speed = 1; // compared with the one that was probed

    // The time of what 'ranks' do together with 'bytes' bytes in all.
    double together(int ranks, size_t bytes) const;
    // That of an exchange in which each rank tells each other 'bytes' bytes: all
    // ranks of a node share its way into the network.
    double each_to_each(int ranks, size_t bytes) const;
    // Those that a rank has for itself.
    int cores() const;
};

// That of this simulation: of the file that the variable BOUMA_SIM_MACHINE
// names. Ends the program with a message if there is none, or a line of it is
// wrong.
const Machine &machine();

// The extents of a torus of at least so many nodes, near to a cube.
std::vector<unsigned long> torus_extents(int nodes, int axes);

// Of so many nodes.
unsigned gateways(int nodes);

// Read a description: false with a message if a line is wrong.
bool parse_machine(Machine &out, const std::string &text, std::string &message);

} // namespace sim

#endif
