#include "comm_id.hpp"

#include <map>
#include <numeric>
#include <vector>

namespace sim
{

int comm_id(MPI_Comm comm)
{
    static std::map<std::vector<int>, int> ids;
    MPI_Group whole, part;
    int size;

    if (comm == MPI_COMM_WORLD)
        return 0;
    MPI_Comm_size(comm, &size);
    std::vector<int> ranks((size_t)size), members((size_t)size);

    std::iota(ranks.begin(), ranks.end(), 0);
    MPI_Comm_group(MPI_COMM_WORLD, &whole);
    MPI_Comm_group(comm, &part);
    MPI_Group_translate_ranks(part, size, ranks.data(), whole, members.data());
    MPI_Group_free(&part);
    MPI_Group_free(&whole);
    return ids.emplace(members, (int)ids.size() + 1).first->second;
}

} // namespace sim
