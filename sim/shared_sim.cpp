// shared_sim.cpp -- src/comm/shared.h on a simulated machine: ranks of a node
// share memory, as all ranks share that of the simulation.
#define SIM_INSIDE
#include <cerrno>
#include <cstdlib>

extern "C" {
#include "comm/shared.h"
}

#include "rank.hpp"

extern "C" {

int bm_shared_make(bm_shared *out, bm_shared_handle *handle, size_t bytes)
{
    *out = {static_cast<uint8_t *>(std::malloc(bytes)), bytes, 0};
    if (!out->data)
        return ENOMEM;
    *handle = {(uint64_t)(uintptr_t)out->data, 0, 0, 0, bytes};
    return 0;
}

int bm_shared_map(bm_shared *out, const bm_shared_handle *handle)
{
    // file -1: it is another's.
    *out = {reinterpret_cast<uint8_t *>((uintptr_t)handle->process),
            (size_t)handle->bytes, -1};
    return 0;
}

void bm_shared_seal(bm_shared *)
{
}

void bm_shared_protect(bm_shared *)
{
}

void bm_shared_release(bm_shared *s)
{
    if (s->data && s->file == 0)
        std::free(s->data);
    *s = {nullptr, 0, -1};
}

uint64_t bm_shared_node(void)
{
    return (uint64_t)std::atoi(sim::this_rank().host->get_cname() + 1) + 1;
}

} // extern "C"
