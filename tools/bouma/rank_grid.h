/* rank_grid.h -- ranks in a grid, x running fastest: rank (x, y, z) of nx, ny,
 * nz is x + nx (y + ny z). */
#ifndef RANK_GRID_H
#define RANK_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* The most ranks that a grid can have, in all. */
#define RANK_GRID_MOST ((int64_t)1 << 31)

/* "NX", "NY,NX" or "NZ,NY,NX", as all commands have axes, into {nx, ny, nz}; each
 * from 1 on. Axes left out have one rank. */
bool rank_grid_parse(const char *text, int64_t grid[3]);

/* The grid of so many ranks that is nearest to a cube, or to a square if there
 * are two axes. The longest axis is the first. */
void rank_grid_choose(int64_t ranks, int axes, int64_t grid[3]);

int64_t rank_grid_ranks(const int64_t grid[3]);
/* Where a rank is, and which one is there. */
void rank_grid_at(const int64_t grid[3], int64_t rank, int64_t at[3]);
int64_t rank_grid_rank(const int64_t grid[3], const int64_t at[3]);

#endif
