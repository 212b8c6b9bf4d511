// contents.hpp -- the bytes of a simulated file, in blocks, so that a file that
// grows is not copied. Those of large files need not be kept: the variable
// BOUMA_SIM_KEEP says from which size on they are forgotten.
#ifndef SIM_CONTENTS_HPP
#define SIM_CONTENTS_HPP

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

namespace sim
{

class Contents
{
  public:
    uint64_t size() const
    {
        return bytes;
    }
    void clear();
    // What was never written, or is forgotten, is 0.
    void write(uint64_t offset, const void *data, size_t count);
    // All of it must be there.
    void read(uint64_t offset, void *data, size_t count) const;
    void save(std::ostream &out) const;

  private:
    std::vector<std::vector<uint8_t>> blocks; // each as long as it was written
    uint64_t bytes = 0;
    bool forgotten = false;
};

} // namespace sim

#endif
