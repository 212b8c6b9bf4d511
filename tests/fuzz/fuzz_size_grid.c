/* fuzz_size_grid.c -- no text makes the reader of size grids crash; what it
 * accepts is within its bounds, and can be interpolated. */
#include "fuzz_help.h"
#include "size_grid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t ranks[3] = {7, 5, 3}, at[3] = {6, 2, 1};
    struct size_grid grid;
    char message[80];

    if (size_grid_parse(&grid, (const char *)data, size, message,
                        sizeof(message))) {
        HOLDS(grid.count > 0);
        for (int d = 0; d < 3; d++)
            HOLDS(grid.ranks[d] > 0 && grid.ranks[d] <= SIZE_GRID_MOST_RANKS);
        for (size_t i = 0; i < grid.count; i++) {
            HOLDS(grid.variables[i].name[0]);
            HOLDS(size_grid_bytes(&grid, i, ranks, at) <= SIZE_GRID_MOST_BYTES);
        }
        HOLDS(size_grid_bytes_of_all(&grid, ranks, at) <= (uint64_t)INT64_MAX);
    }
    size_grid_release(&grid);
    return 0;
}
