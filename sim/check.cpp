// check.cpp -- is the model right? What one message, one file, one server, one
// link, and cores take, beside the formula by hand. Run on 4 nodes with one rank each of
// sim/machines/check.txt; with "network" on 8 of check_network.txt. Ends with a failure if
// anything is off by 5 %.
#define SIM_INSIDE
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

extern "C" {
#include "bouma_store.h"
}

#include "check_work.h"
#include "comm_sim.hpp"
#include "machine.hpp"

namespace
{

int failures = 0;

double now()
{
    return simgrid::s4u::Engine::get_clock();
}

void compare(const char *what, double measured, double expected)
{
    double off = measured / expected - 1;

    if (std::fabs(off) > 0.05)
        failures++;
    std::printf("%-58s %9.3f ms, by hand %9.3f ms (%+.1f %%)%s\n", what,
                1e3 * measured, 1e3 * expected, 100 * off,
                std::fabs(off) > 0.05 ? "  WRONG" : "");
}

// The time from a meeting to the last rank's end.
template <class Work> double measure(bm_comm *comm, Work work)
{
    bm_error error = {};
    uint64_t nothing = 0, ns;

    bm_comm_max(comm, &nothing, 1, &error);
    double begun = now();
    work();
    ns = (uint64_t)(1e12 * (now() - begun));
    bm_comm_max(comm, &ns, 1, &error);
    return 1e-12 * (double)ns;
}

// Rank 'from' sends 'bytes' bytes to rank 'to'.
void send(bm_comm *comm, int from, int to, std::vector<uint8_t> &data)
{
    bm_error error = {};
    bm_message m = {comm->rank == from ? to : from, data.data(), data.size()};

    if (comm->rank == from)
        bm_comm_exchange(comm, &m, 1, nullptr, 0, &error);
    else if (comm->rank == to)
        bm_comm_exchange(comm, nullptr, 0, &m, 1, &error);
}

void check_messages(bm_comm *comm, bool tell)
{
    const sim::Machine &m = sim::machine();
    std::vector<uint8_t> data(16 << 20);
    double bytes = (double)(data.size() + m.header_bytes);
    // Two links of a switch.
    double alone =
        m.message_overhead + 2 * m.link_latency + bytes / m.link_bandwidth;
    double one = measure(comm, [&] { send(comm, 0, 1, data); });
    double apart = measure(comm, [&] {
        send(comm, 0, 1, data);
        send(comm, 2, 3, data);
    });
    double shared = measure(comm, [&] {
        bm_error error = {};
        std::vector<bm_message> in;
        std::vector<std::vector<uint8_t>> rooms(3, data);

        if (comm->rank == 0) {
            for (int r = 1; r < 4; r++)
                in.push_back({r, rooms[(size_t)r - 1].data(), data.size()});
            bm_comm_exchange(comm, nullptr, 0, in.data(), 3, &error);
        } else {
            send(comm, comm->rank, 0, data);
        }
    });

    if (!tell)
        return;
    compare("a message of 16 MiB", one, alone);
    compare("two, between other nodes", apart, alone);
    compare("three to one node", shared, alone + 2 * bytes / m.link_bandwidth);
}

// Each of some ranks writes a file of its own, or a part of a shared one.
double write_files(bm_comm *comm, void *root, int writers, size_t bytes,
                   const char *name, bool shared)
{
    const bouma_io *io = bouma_io_posix();
    std::vector<uint8_t> data(bytes);
    void *file = nullptr;
    std::string own = std::string(name) + std::to_string(comm->rank);

    if (comm->rank < writers)
        io->open(io->user, root, &file, shared ? name : own.c_str(),
                 BOUMA_OPEN_MODE_UPDATE);
    return measure(comm, [&] {
        size_t done;

        if (file) {
            io->write(io->user, file, data.data(), bytes,
                      shared ? bytes * (size_t)comm->rank : 0, &done);
            io->close(io->user, file);
        }
    });
}

void check_storage(bm_comm *comm, void *root, bool tell)
{
    const sim::Machine &m = sim::machine();
    size_t bytes = 64 << 20;
    double requests = (double)bytes / (double)m.request_bytes;
    double served =
        requests * m.server_latency + (double)bytes / m.server_bandwidth;
    double one = write_files(comm, root, 1, bytes, "a", false);
    double apart = write_files(comm, root, 2, bytes, "b", false);
    double all = write_files(comm, root, 4, bytes, "c", false);
    double shared = write_files(comm, root, 2, bytes, "d", true);

    if (!tell)
        return;
    compare("a file of 64 MiB, one server", one, served);
    compare("two files, on two servers", apart, served);
    compare("four files, on two servers", all, 2 * served);
    compare("two halves of one file, on one server", shared, 2 * served);
}

// Ranks 0 and 1 share a tier that is on the node of rank 0, 2 and 3 another one.
void check_tiers(bm_comm *comm, bool tell)
{
    const sim::Machine &m = sim::machine();
    const bouma_io *io = bouma_io_posix();
    size_t bytes = 64 << 20;
    double requests = (double)bytes / (double)m.tier_request_bytes;
    double served =
        requests * m.tier_latency + (double)bytes / m.tier_write_bandwidth;
    void *root = nullptr, *file = nullptr;
    std::vector<uint8_t> data(bytes + (size_t)m.tier_capacity_bytes);
    bm_error error = {};
    uint64_t wrong = 0;
    size_t done = 0;

    if (io->attach(io->user, &root, m.tier_path.c_str(), 0))
        wrong++;
    double one = write_files(comm, root, 1, bytes, "a", false);
    double two = write_files(comm, root, 2, bytes, "b", false);
    double all = write_files(comm, root, 4, bytes, "c", false);
    // Rank 2 has no file that rank 0 has; and there is no room for more.
    if (comm->rank == 2 &&
        io->open(io->user, root, &file, "a0", BOUMA_OPEN_MODE_READ) != ENOENT)
        wrong++;
    if (io->open(io->user, root, &file, "large", BOUMA_OPEN_MODE_UPDATE) ||
        io->write(io->user, file, data.data(), data.size(), 0, &done) != ENOSPC)
        wrong++;
    io->close(io->user, file);
    io->detach(io->user, root);
    bm_comm_max(comm, &wrong, 1, &error);
    if (!tell)
        return;
    failures += wrong != 0;
    if (wrong)
        std::printf("tiers do not keep their files apart, or have no limit\n");
    compare("a file of 64 MiB on a tier", one, served);
    compare("two files, on one tier", two, 2 * served);
    compare("four files, on two tiers", all, 2 * served);
}

// Calls that follow each other are requests as one call is.
void check_joined(bm_comm *comm, void *root, bool tell)
{
    const sim::Machine &m = sim::machine();
    const bouma_io *io = bouma_io_posix();
    std::vector<uint8_t> data(64 << 10);
    size_t calls = 2 * m.request_bytes / data.size(), done;
    void *file = nullptr;

    if (tell)
        io->open(io->user, root, &file, "joined", BOUMA_OPEN_MODE_UPDATE);
    double all = measure(comm, [&] {
        for (size_t i = 0; i < calls && file; i++)
            io->write(io->user, file, data.data(), data.size(), i * data.size(),
                      &done);
    });

    if (!tell)
        return;
    io->close(io->user, file);
    compare(
        "8 MiB in calls of 64 KiB", all,
        2 * (m.server_latency + (double)m.request_bytes / m.server_bandwidth));
}

// Four nodes of one router send to others: it carries more than one of them. What
// limits a node is one link for both directions, where SimGrid has 5 % of the bytes
// come back as acknowledgements.
void check_routers(bm_comm *comm, bool tell)
{
    const sim::Machine &m = sim::machine();
    std::vector<uint8_t> data(16 << 20);
    double all = measure(comm, [&] {
        for (int i = 0; i < 4; i++)
            send(comm, i, i + 4, data);
    });

    if (tell)
        compare("four messages of 16 MiB between routers", all,
                m.message_overhead + 3 * m.link_latency +
                    1.05 * (double)data.size() / m.injection_bandwidth);
}

// Seven messages that are hardly longer than nothing: the receiver takes them in
// turn.
void check_turns(bm_comm *comm, bool tell)
{
    const sim::Machine &m = sim::machine();
    std::vector<std::vector<uint8_t>> rooms(8, std::vector<uint8_t>(64));
    double all = measure(comm, [&] {
        bm_error error = {};
        std::vector<bm_message> in;

        for (int r = 1; r < 8; r++)
            in.push_back({r, rooms[(size_t)r].data(), rooms[(size_t)r].size()});
        if (comm->rank == 0)
            bm_comm_exchange(comm, nullptr, 0, in.data(), 7, &error);
        else
            send(comm, comm->rank, 0, rooms[0]);
    });

    if (tell)
        compare("seven short messages to one rank", all,
                m.message_overhead + 2 * m.link_latency +
                    7 * m.receive_seconds);
}

// A process is slower than its server; two are not, together, on one server.
void check_processes(bm_comm *comm, void *root, bool tell)
{
    const sim::Machine &m = sim::machine();
    size_t bytes = 64 << 20;
    double requests = (double)bytes / (double)m.request_bytes;
    double one = write_files(comm, root, 1, bytes, "a", false);
    double shared = write_files(comm, root, 2, bytes, "b", true);

    if (!tell)
        return;
    compare("a file of 64 MiB by one process", one,
            (double)bytes / m.process_bandwidth);
    compare(
        "two halves of 128 MiB by two", shared,
        2 * (requests * m.server_latency + (double)bytes / m.server_bandwidth));
}

void check_names(bm_comm *comm, void *root, bool tell)
{
    const sim::Machine &m = sim::machine();
    const bouma_io *io = bouma_io_posix();
    double all = measure(comm, [&] {
        for (int i = 0; i < 16; i++) {
            std::string name =
                "f" + std::to_string(comm->rank) + "_" + std::to_string(i);
            void *file = nullptr;

            io->open(io->user, root, &file, name.c_str(),
                     BOUMA_OPEN_MODE_CREATE);
            io->close(io->user, file);
        }
    });

    if (tell)
        compare("64 files made by 4 ranks", all, 64 * m.metadata_seconds);
}

// On three cores of each rank.
void check_cores(bm_comm *comm, bool tell)
{
    const sim::Machine &m = sim::machine();
    double rate = check_rate_of_zstd() * m.processor_speed;
    double encode = (double)CHECK_CHUNK / rate;
    double cores = m.cores_per_node;
    double one = measure(comm, [&] { check_encode(); });
    double alone = measure(comm, [&] { check_encode_all(6, 1); });
    double enough = measure(comm, [&] { check_encode_all(6, 3); });
    double many = measure(comm, [&] { check_encode_all(8, 8); });

    if (!tell)
        return;
    compare("4 MiB encoded", one, encode);
    compare("six times that, one thread", alone, 6 * encode);
    compare("the same, three threads on three cores", enough, 2 * encode);
    compare("eight times that, eight threads", many, 8 * encode / cores);
}

// While a round is stored, the next is encoded and sent; or it is not.
void check_overlap(bm_comm *comm, void *root, bool tell)
{
    const sim::Machine &m = sim::machine();
    const bouma_io *io = bouma_io_posix();
    const size_t rounds = 8;
    double n = (double)rounds, bytes = (double)CHECK_CHUNK;
    double made = bytes / (check_rate_of_zstd() * m.processor_speed) +
                  m.message_overhead + 2 * m.link_latency +
                  (bytes + (double)m.header_bytes) / m.link_bandwidth;
    double stored = bytes / (double)m.request_bytes * m.server_latency +
                    bytes / m.server_bandwidth;
    double seconds[2];

    for (int i = 0; i < 2; i++) {
        void *file = nullptr;

        if (comm->rank == 0)
            io->open(io->user, root, &file, i ? "two" : "one",
                     BOUMA_OPEN_MODE_UPDATE);
        seconds[i] = measure(comm, [&] {
            if (check_pipe(comm, rounds, i + 1, file))
                failures++;
        });
        if (file)
            io->close(io->user, file);
    }
    if (!tell)
        return;
    compare("8 rounds encoded, sent, stored: one buffer", seconds[0],
            n * (made + stored));
    compare("the same with two buffers", seconds[1], made + n * stored);
}

} // namespace

int main(int argc, char **argv)
{
    const bouma_io *io = bouma_io_posix();
    bm_error error = {};
    bm_comm *comm = nullptr;
    void *root = nullptr;
    bool tell;

    MPI_Init(&argc, &argv);
    bm_comm_mpi_new(&comm, bm_allocator_default(), MPI_COMM_WORLD, INFINITY,
                    &error);
    tell = comm->rank == 0;
    if (tell)
        io->attach(io->user, &root, "check", 1);
    uint64_t nothing = 0;
    bm_comm_max(comm, &nothing, 1, &error);
    if (!tell)
        io->attach(io->user, &root, "check", 0);
    if (argc > 1 && std::string(argv[1]) == "network") {
        check_routers(comm, tell);
        check_turns(comm, tell);
        check_processes(comm, root, tell);
    } else {
        check_messages(comm, tell);
        check_storage(comm, root, tell);
        check_joined(comm, root, tell);
        check_tiers(comm, tell);
        check_names(comm, root, tell);
        check_cores(comm, tell);
        check_overlap(comm, root, tell);
    }
    io->detach(io->user, root);
    bm_comm_free(comm);
    MPI_Finalize();
    return failures != 0;
}
