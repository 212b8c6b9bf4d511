// mpi_file.cpp -- see mpi_sim.h: collective files in two phases, as ROMIO has them.
//
// What all ranks write in one call is a range of the file. It is divided equally
// among aggregators, at the borders of locks. In each round an aggregator takes
// the next aggregator_bytes of its part: all ranks tell each other what they have of it,
// send it, and wait; the aggregator stores it before the next round. To read is
// the same the other way round. All ranks open the file.
#define SIM_INSIDE
#include "mpi_sim.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "comm_sim.hpp"
extern "C" {
#include "bouma_store.h"
}
#include "fold.h"
#include "machine.hpp"
#include "storage.hpp"

namespace
{

struct File {
    bm_comm *comm;
    void *root, *handle;
};

File *file_of(MPI_File f)
{
    return reinterpret_cast<File *>(f);
}

const bouma_io *io()
{
    return bouma_io_posix();
}

// What a rank has of a call.
struct Range {
    uint64_t at, bytes;
};

Range common(const Range &a, const Range &b)
{
    uint64_t at = std::max(a.at, b.at);
    uint64_t end = std::min(a.at + a.bytes, b.at + b.bytes);

    return {at, end > at ? end - at : 0};
}

// A call, as all ranks see it.
struct Call {
    std::vector<Range> ranges; // by rank
    uint64_t begin, end;
    uint64_t first, each; // where the parts of aggregators begin; bytes of one
    int aggregators;

    int rank_of(int aggregator) const
    {
        return (int)((int64_t)aggregator * (int64_t)ranges.size() /
                     aggregators);
    }
    // What an aggregator takes in a round.
    Range window(int aggregator, uint64_t round) const
    {
        uint64_t from = first + (uint64_t)aggregator * each;
        uint64_t last = std::min(from + each, end);
        uint64_t most = sim::machine().aggregator_bytes;
        uint64_t at = std::min(from + round * most, last);

        return common({at, std::min(most, last - at)}, {begin, end - begin});
    }
    uint64_t rounds() const
    {
        uint64_t most = sim::machine().aggregator_bytes;

        return (std::min(each, end - first) + most - 1) / most;
    }
};

uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

// Ranks tell each other where their data go.
int make_call(Call &out, File *f, uint64_t at, uint64_t bytes)
{
    const sim::Machine &m = sim::machine();
    Range mine = {at, bytes};
    int size = f->comm->size;

    out.ranges.resize((size_t)size);
    std::vector<Range> mixed((size_t)size);
    if (f->comm->functions->gather(f->comm, &mine, sizeof(mine),
                                   mixed.data()) ||
        f->comm->functions->broadcast(f->comm, mixed.data(),
                                      mixed.size() * sizeof(mixed[0]), 0))
        return BOUMA_ECOMM;
    for (int i = 0; i < size; i++)
        out.ranges[(size_t)bm_places_rank(&f->comm->places, i)] =
            mixed[(size_t)i];
    out.begin = UINT64_MAX;
    out.end = 0;
    for (const Range &r : out.ranges)
        if (r.bytes) {
            out.begin = std::min(out.begin, r.at);
            out.end = std::max(out.end, r.at + r.bytes);
        }
    if (out.begin > out.end)
        out.begin = out.end;
    // Parts begin at the borders of stripes, which are those of locks.
    out.first = out.begin / m.lock_bytes * m.lock_bytes;
    double nodes = std::ceil((double)size / m.ranks_per_node);
    out.aggregators =
        std::max(1, (int)std::ceil(nodes / m.nodes_per_aggregator));
    out.each = std::max<uint64_t>(
        round_up((out.end - out.first + (uint64_t)out.aggregators - 1) /
                     (uint64_t)out.aggregators,
                 m.lock_bytes),
        1);
    return BOUMA_OK;
}

// The first aggregator from that of a rank on, which is the rank itself if it is
// one.
int aggregator_at(const Call &c, int rank)
{
    int a = (int)((int64_t)rank * c.aggregators / (int64_t)c.ranges.size());

    while (a < c.aggregators && c.rank_of(a) < rank)
        a++;
    return a;
}

bool is_aggregator(const Call &c, int rank)
{
    int a = aggregator_at(c, rank);

    return a < c.aggregators && c.rank_of(a) == rank;
}

// The messages of a rank in a round, and those of an aggregator.
struct Round {
    std::vector<bm_message> own, gathered;
    Range window = {0, 0}; // of this rank, if it is an aggregator
};

Round plan_round(const Call &c, int rank, uint64_t round, uint8_t *data,
                 uint8_t *buffer)
{
    const Range &mine = c.ranges[(size_t)rank];
    Round r;

    // The aggregators whose parts meet this rank's range.
    if (mine.bytes) {
        uint64_t first = (mine.at - c.first) / c.each;
        uint64_t last = (mine.at + mine.bytes - 1 - c.first) / c.each;

        for (uint64_t a = first; a <= last; a++) {
            Range w = common(mine, c.window((int)a, round));

            if (w.bytes)
                r.own.push_back({c.rank_of((int)a), data + (w.at - mine.at),
                                 (size_t)w.bytes});
        }
    }
    for (int a = aggregator_at(c, rank);
         a < c.aggregators && c.rank_of(a) == rank; a++) {
        r.window = c.window(a, round);
        for (size_t k = 0; k < c.ranges.size(); k++) {
            Range w = common(c.ranges[k], r.window);

            if (w.bytes)
                r.gathered.push_back(
                    {(int)k, buffer + (w.at - r.window.at), (size_t)w.bytes});
        }
    }
    return r;
}

int store(File *f, bool reading, const Range &w, uint8_t *buffer)
{
    size_t done = 0;

    if (!w.bytes)
        return 0;
    return reading ? io()->read(io()->user, f->handle, buffer, (size_t)w.bytes,
                                w.at, &done)
                   : io()->write(io()->user, f->handle, buffer, (size_t)w.bytes,
                                 w.at, &done);
}

uint8_t *reserve(std::vector<uint8_t> &real, size_t bytes)
{
    if (void *folded = sim_fold(bytes))
        return static_cast<uint8_t *>(folded);
    real.resize(bytes);
    return real.data();
}

int move(MPI_File file, MPI_Offset offset, void *data, int count, bool reading)
{
    File *f = file_of(file);
    bm_error error = {};
    std::vector<uint8_t> real;
    uint8_t *buffer = nullptr;
    Call c;
    int rc = make_call(c, f, (uint64_t)offset, (uint64_t)count);

    // Only those that use it have one.
    if (!rc && is_aggregator(c, f->comm->rank))
        buffer = reserve(real, (size_t)std::min<uint64_t>(
                                   sim::machine().aggregator_bytes, c.each));
    for (uint64_t k = 0; !rc && k < c.rounds(); k++) {
        Round r;

        // Who sends how much to whom, in each round: MPI_Alltoall() of ints.
        sim_tell_each(f->comm, sizeof(int));
        r = plan_round(c, f->comm->rank, k, static_cast<uint8_t *>(data),
                       buffer);
        if (reading && !rc)
            rc = store(f, true, r.window, buffer);
        if (!rc)
            rc = reading ? bm_comm_exchange(f->comm, r.gathered.data(),
                                            r.gathered.size(), r.own.data(),
                                            r.own.size(), &error)
                         : bm_comm_exchange(f->comm, r.own.data(), r.own.size(),
                                            r.gathered.data(),
                                            r.gathered.size(), &error);
        if (!reading && !rc)
            rc = store(f, false, r.window, buffer);
    }
    // All leave together.
    uint64_t nothing = 0;
    if (!rc)
        rc = bm_comm_max(f->comm, &nothing, 1, &error);
    return rc ? MPI_ERR_OTHER : MPI_SUCCESS;
}

void tell_count(MPI_Status *status, int count)
{
    if (status != MPI_STATUS_IGNORE)
        status->count = (MPI_Aint)count;
}

} // namespace

int sim_file_open(MPI_Comm comm, const char *path, int mode, MPI_Info,
                  MPI_File *out)
{
    std::string text = path;
    size_t slash = text.rfind('/');
    std::string directory =
        slash == std::string::npos ? "." : text.substr(0, slash);
    std::string name = text.substr(slash + 1);
    bm_error error = {};
    auto *f = new File{};
    uint64_t failed = 0;

    if (bm_comm_mpi_new(&f->comm, bm_allocator_default(), comm, INFINITY,
                        &error))
        return MPI_ERR_OTHER;
    failed = (uint64_t)io()->attach(io()->user, &f->root, directory.c_str(), 0);
    if (!failed && f->comm->rank == 0 && (mode & MPI_MODE_CREATE)) {
        failed = (uint64_t)io()->open(io()->user, f->root, &f->handle,
                                      name.c_str(), BOUMA_OPEN_MODE_CREATE);
        if (!failed) {
            sim::share_file(text);
            io()->close(io()->user, f->handle);
        }
    }
    bm_comm_max(f->comm, &failed, 1, &error);
    if (!failed)
        failed =
            (uint64_t)io()->open(io()->user, f->root, &f->handle, name.c_str(),
                                 mode & MPI_MODE_CREATE ? BOUMA_OPEN_MODE_UPDATE
                                                        : BOUMA_OPEN_MODE_READ);
    bm_comm_max(f->comm, &failed, 1, &error);
    *out = reinterpret_cast<MPI_File>(f);
    return failed ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int sim_file_close(MPI_File *file)
{
    File *f = file_of(*file);
    bm_error error = {};
    uint64_t nothing = 0;

    io()->close(io()->user, f->handle);
    io()->detach(io()->user, f->root);
    bm_comm_max(f->comm, &nothing, 1, &error);
    bm_comm_free(f->comm);
    delete f;
    *file = MPI_FILE_NULL;
    return MPI_SUCCESS;
}

int sim_file_sync(MPI_File file)
{
    return io()->sync(io()->user, file_of(file)->handle) ? MPI_ERR_OTHER
                                                         : MPI_SUCCESS;
}

int sim_file_write_at_all(MPI_File file, MPI_Offset offset, const void *data,
                          int count, MPI_Datatype, MPI_Status *status)
{
    tell_count(status, count);
    return move(file, offset, const_cast<void *>(data), count, false);
}

int sim_file_read_at_all(MPI_File file, MPI_Offset offset, void *data,
                         int count, MPI_Datatype, MPI_Status *status)
{
    tell_count(status, count);
    return move(file, offset, data, count, true);
}

int sim_get_count(const MPI_Status *status, MPI_Datatype, int *count)
{
    *count = (int)status->count;
    return MPI_SUCCESS;
}
