// mpi_together.cpp -- see mpi_sim.h: reductions and the like.
#define SIM_INSIDE
#include "mpi_sim.h"

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "comm_id.hpp"
#include "machine.hpp"
#include "meeting.hpp"

namespace
{

struct Share {
    const void *in;
    void *out;
};

Share &share(void *brought)
{
    return *static_cast<Share *>(brought);
}

struct Place {
    int rank, size;
    sim::Meetings *meetings;
};

Place place_in(MPI_Comm comm)
{
    static std::map<int, std::unique_ptr<sim::Meetings>> all;
    Place p;

    MPI_Comm_rank(comm, &p.rank);
    MPI_Comm_size(comm, &p.size);
    auto &m = all[sim::comm_id(comm)];
    if (!m)
        m = std::make_unique<sim::Meetings>(p.size);
    p.meetings = m.get();
    return p;
}

size_t bytes_of(int count, MPI_Datatype type)
{
    int size;

    MPI_Type_size(type, &size);
    return (size_t)count * (size_t)size;
}

double seconds(int ranks, size_t bytes)
{
    return sim::machine().together(ranks, bytes);
}

// All of them, to those with an 'out'.
int reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
           MPI_Comm comm, double times)
{
    Share mine = {in == MPI_IN_PLACE ? out : in, out};
    size_t bytes = bytes_of(count, type);
    Place p = place_in(comm);

    p.meetings->attend(p.rank, &mine, [=](auto &all) {
        std::vector<char> sum(bytes);

        std::memcpy(sum.data(), share(all[0]).in, bytes);
        for (size_t r = 1; r < all.size(); r++)
            MPI_Reduce_local(share(all[r]).in, sum.data(), count, type, op);
        for (void *b : all)
            if (share(b).out)
                std::memcpy(share(b).out, sum.data(), bytes);
        return times * seconds((int)all.size(), bytes);
    });
    return MPI_SUCCESS;
}

} // namespace

int sim_allreduce(const void *in, void *out, int count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    return reduce(in, out, count, type, op, comm, 2);
}

int sim_reduce_to(const void *in, void *out, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    return reduce(in, rank == root ? out : nullptr, count, type, op, comm, 1);
}

int sim_exscan(const void *in, void *out, int count, MPI_Datatype type,
               MPI_Op op, MPI_Comm comm)
{
    Share mine = {in, out};
    size_t bytes = bytes_of(count, type);
    Place p = place_in(comm);

    p.meetings->attend(p.rank, &mine, [=](auto &all) {
        std::vector<char> sum(bytes);

        std::memcpy(sum.data(), share(all[0]).in, bytes);
        for (size_t r = 1; r < all.size(); r++) {
            std::vector<char> own(bytes);

            std::memcpy(own.data(), share(all[r]).in, bytes);
            std::memcpy(share(all[r]).out, sum.data(), bytes);
            MPI_Reduce_local(own.data(), sum.data(), count, type, op);
        }
        return seconds((int)all.size(), bytes);
    });
    return MPI_SUCCESS;
}

int sim_bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    Share mine = {data, data};
    size_t bytes = bytes_of(count, type);
    Place p = place_in(comm);

    p.meetings->attend(p.rank, &mine, [=](auto &all) {
        for (void *b : all)
            if (b != all[(size_t)root])
                std::memcpy(share(b).out, share(all[(size_t)root]).in, bytes);
        return seconds((int)all.size(), bytes);
    });
    return MPI_SUCCESS;
}

int sim_barrier(MPI_Comm comm)
{
    Place p = place_in(comm);

    p.meetings->attend(p.rank, nullptr, [](auto &all) {
        return 2 * seconds((int)all.size(), 0);
    });
    return MPI_SUCCESS;
}
