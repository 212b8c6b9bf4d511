/* rank_grid.c -- see rank_grid.h. */
#include "rank_grid.h"

#include <ctype.h>
#include <stdlib.h>

bool rank_grid_parse(const char *text, int64_t grid[3])
{
    int64_t all = 1;

    for (int d = 0; d < 3; d++)
        grid[d] = 1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t n = 0;

        if (!isdigit((unsigned char)*text))
            return false;
        while (isdigit((unsigned char)*text) && n <= RANK_GRID_MOST)
            n = 10 * n + (*text++ - '0');
        if (n < 1 || n > RANK_GRID_MOST / all)
            return false;
        grid[2] = grid[1];
        grid[1] = grid[0];
        grid[0] = n;
        all *= n;
        if (!*text)
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

/* The largest divisor of n that is at most 'most'. */
static int64_t divisor_up_to(int64_t n, int64_t most)
{
    while (n % most)
        most--;
    return most;
}

/* The largest r with r to the power of 'axes' at most n. */
static int64_t root_of(int64_t n, int axes)
{
    int64_t r = 1;

    while (axes == 3 ? (r + 1) * (r + 1) * (r + 1) <= n
                     : (r + 1) * (r + 1) <= n)
        r++;
    return r;
}

void rank_grid_choose(int64_t ranks, int axes, int64_t grid[3])
{
    int64_t left = ranks;

    grid[2] = axes > 2 ? divisor_up_to(left, root_of(left, 3)) : 1;
    left /= grid[2];
    grid[1] = axes > 1 ? divisor_up_to(left, root_of(left, 2)) : 1;
    grid[0] = left / grid[1];
}

int64_t rank_grid_ranks(const int64_t grid[3])
{
    return grid[0] * grid[1] * grid[2];
}

void rank_grid_at(const int64_t grid[3], int64_t rank, int64_t at[3])
{
    at[0] = rank % grid[0];
    at[1] = rank / grid[0] % grid[1];
    at[2] = rank / grid[0] / grid[1];
}

int64_t rank_grid_rank(const int64_t grid[3], const int64_t at[3])
{
    return at[0] + grid[0] * (at[1] + grid[1] * at[2]);
}
