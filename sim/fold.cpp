// fold.cpp -- see fold.h. A range of addresses of which each part shows the same
// pages. Who asks gets the next addresses, and those of the begin again at its
// end.
#include "fold.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

uint8_t *sim_fold_begin, *sim_fold_end;

namespace
{

const size_t page = 4096;
const size_t part = (size_t)64 << 20;
const size_t all = 1024 * part;

[[noreturn]] void give_up(const char *what)
{
    std::perror(what);
    std::exit(2);
}

void map_all()
{
    int file = memfd_create("fold", 0);

    if (file < 0 || ftruncate(file, (off_t)part))
        give_up("simulation: BOUMA_SIM_FOLD");
    void *room = mmap(nullptr, all, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED)
        give_up("simulation: BOUMA_SIM_FOLD");
    auto *begin = static_cast<uint8_t *>(room);

    for (size_t at = 0; at < all; at += part)
        if (mmap(begin + at, part, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            give_up("simulation: BOUMA_SIM_FOLD");
    close(file);
    sim_fold_begin = begin;
    sim_fold_end = begin + all;
}

} // namespace

void *sim_fold(size_t bytes)
{
    static const bool wanted = std::getenv("BOUMA_SIM_FOLD") != nullptr;
    static size_t next;
    size_t needed = (bytes + page - 1) / page * page;

    if (!wanted || bytes > all)
        return nullptr;
    if (!sim_fold_begin)
        map_all();
    if (next + needed > all)
        next = 0;
    next += needed;
    return sim_fold_begin + next - needed;
}

void *sim_fold_copy(void *to, const void *, size_t)
{
    return to;
}
