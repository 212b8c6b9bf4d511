// shared_sim.cpp -- src/comm/shared.h on a simulated machine: ranks of a node
// share memory, as all ranks share that of the simulation.
//
// The first ranks of all nodes fill theirs with the same bytes, mostly: plans.
// What nobody writes to any more is kept once. Its pages are those of a file
// that has these bytes; they are at the same address as before.
#define SIM_INSIDE
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include <sys/mman.h>
#include <unistd.h>

extern "C" {
#include "base/hash.h"
#include "comm/shared.h"
}

#include "rank.hpp"

namespace
{

// Bytes that several nodes have.
struct Contents {
    int file;
    const uint8_t *data;
    size_t bytes;
    uint64_t hash;
    unsigned users = 0;
};

// Memory of a node.
struct Region {
    unsigned users = 1;           // its ranks
    Contents *contents = nullptr; // its pages are those of this
};

// Contents by their hash, regions by address.
struct Kept {
    std::unordered_multimap<uint64_t, Contents> contents;
    std::unordered_map<uint8_t *, Region> regions;
};

// One simulation is one process.
Kept &kept()
{
    static Kept all;
    return all;
}

uint8_t *map(void *at, size_t bytes, int protection, int flags, int file)
{
    void *data =
        mmap(at, bytes, protection, flags | (at ? MAP_FIXED : 0), file, 0);

    return data == MAP_FAILED ? nullptr : static_cast<uint8_t *>(data);
}

Contents *find(const uint8_t *data, size_t bytes, uint64_t hash)
{
    auto range = kept().contents.equal_range(hash);

    for (auto i = range.first; i != range.second; ++i)
        if (i->second.bytes == bytes &&
            !std::memcmp(i->second.data, data, bytes))
            return &i->second;
    return nullptr;
}

// A file with these bytes; nullptr: there is none.
Contents *keep(const uint8_t *data, size_t bytes, uint64_t hash)
{
    int file = memfd_create("bouma", MFD_CLOEXEC);
    uint8_t *copy = nullptr;

    if (file >= 0 && !ftruncate(file, (off_t)bytes))
        copy = map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    if (!copy) {
        if (file >= 0)
            close(file);
        return nullptr;
    }
    std::memcpy(copy, data, bytes);
    return &kept()
                .contents.emplace(hash, Contents{file, copy, bytes, hash})
                ->second;
}

void drop(Contents *c)
{
    if (--c->users)
        return;
    munmap(const_cast<uint8_t *>(c->data), c->bytes);
    close(c->file);
    auto range = kept().contents.equal_range(c->hash);

    for (auto i = range.first; i != range.second; ++i)
        if (&i->second == c) {
            kept().contents.erase(i);
            return;
        }
}

// Of the one who fills it; nullptr: there is none, or it is another's.
Region *made_by(const bm_shared *s)
{
    return s->data && s->file == 0 ? &kept().regions[s->data] : nullptr;
}

} // namespace

extern "C" {

int bm_shared_make(bm_shared *out, bm_shared_handle *handle, size_t bytes)
{
    *out = {map(nullptr, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1),
            bytes, 0};
    if (!out->data)
        return ENOMEM;
    kept().regions[out->data] = {};
    *handle = {(uint64_t)(uintptr_t)out->data, 0, 0, 0, bytes};
    return 0;
}

int bm_shared_map(bm_shared *out, const bm_shared_handle *handle)
{
    // file -1: it is another's.
    *out = {reinterpret_cast<uint8_t *>((uintptr_t)handle->process),
            (size_t)handle->bytes, -1};
    kept().regions[out->data].users++;
    return 0;
}

void bm_shared_seal(bm_shared *)
{
}

void bm_shared_protect(bm_shared *s)
{
    Region *r = made_by(s);

    if (!r || r->contents)
        return;
    uint64_t hash = bm_hash64(s->data, s->bytes, 0);
    Contents *c = find(s->data, s->bytes, hash);

    if (!c)
        c = keep(s->data, s->bytes, hash);
    if (!c)
        return;
    c->users++;
    if (map(s->data, s->bytes, PROT_READ, MAP_SHARED, c->file))
        r->contents = c;
    else
        drop(c);
}

int bm_shared_unprotect(bm_shared *s)
{
    Region *r = made_by(s);

    if (!r || !r->contents)
        return 0;
    if (!map(s->data, s->bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1))
        return errno;
    drop(r->contents);
    r->contents = nullptr;
    return 0;
}

void bm_shared_release(bm_shared *s)
{
    Region *r = s->data ? &kept().regions[s->data] : nullptr;

    if (r && !--r->users) {
        if (r->contents)
            drop(r->contents);
        munmap(s->data, s->bytes);
        kept().regions.erase(s->data);
    }
    *s = {nullptr, 0, -1};
}

uint64_t bm_shared_node(void)
{
    return (uint64_t)std::atoi(sim::this_rank().host->get_cname() + 1) + 1;
}

} // extern "C"
