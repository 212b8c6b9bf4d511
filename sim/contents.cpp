#include "contents.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fold.h"

namespace sim
{

namespace
{

const size_t block_bytes = 1 << 20;

// "4096", "64K", "1M", "2G"; files are kept up to it. Without it, and for files
// that are to be saved, there is no limit.
uint64_t read_limit()
{
    const char *text = std::getenv("BOUMA_SIM_KEEP");
    char *end = nullptr;
    uint64_t n = text ? std::strtoull(text, &end, 10) : 0;
    const char *units = "KMG";

    if (!text || std::getenv("BOUMA_SIM_SAVE"))
        return UINT64_MAX;
    const char *unit = *end ? std::strchr(units, *end) : nullptr;

    if (end == text || (*end && (!unit || end[1]))) {
        std::fprintf(stderr, "simulation: BOUMA_SIM_KEEP=%s is no size\n",
                     text);
        std::exit(2);
    }
    return unit ? n << 10 * (unit - units + 1) : n;
}

uint64_t limit()
{
    static const uint64_t n = read_limit();
    return n;
}

} // namespace

void Contents::clear()
{
    *this = Contents();
}

void Contents::write(uint64_t offset, const void *data, size_t count)
{
    auto *from = static_cast<const uint8_t *>(data);

    bytes = std::max(bytes, offset + count);
    if (bytes > limit() || sim_is_folded(data)) {
        blocks = {};
        forgotten = true;
    }
    while (count && !forgotten) {
        size_t b = (size_t)(offset / block_bytes), at = offset % block_bytes;
        size_t n = std::min(count, block_bytes - at);

        if (blocks.size() <= b)
            blocks.resize(b + 1);
        if (blocks[b].size() < at + n)
            blocks[b].resize(at + n);
        std::memcpy(blocks[b].data() + at, from, n);
        from += n;
        offset += n;
        count -= n;
    }
}

void Contents::read(uint64_t offset, void *data, size_t count) const
{
    auto *to = static_cast<uint8_t *>(data);

    while (count && !sim_is_folded(data)) {
        size_t b = (size_t)(offset / block_bytes), at = offset % block_bytes;
        size_t n = std::min(count, block_bytes - at);
        size_t there = b < blocks.size() && blocks[b].size() > at
                           ? std::min(n, blocks[b].size() - at)
                           : 0;

        if (there)
            std::memcpy(to, blocks[b].data() + at, there);
        std::memset(to + there, 0, n - there);
        to += n;
        offset += n;
        count -= n;
    }
}

void Contents::save(std::ostream &out) const
{
    std::vector<char> block(block_bytes);

    for (uint64_t at = 0; at < bytes; at += block_bytes) {
        auto n = (size_t)std::min<uint64_t>(block_bytes, bytes - at);

        read(at, block.data(), n);
        out.write(block.data(), (std::streamsize)n);
    }
}

} // namespace sim
