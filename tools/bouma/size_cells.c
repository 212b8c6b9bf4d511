/* size_cells.c -- see size_cells.h. */
#include "size_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rank_grid.h"

bool size_cells_init(struct size_cells *cells, const int64_t ranks[3],
                     const double extent[3])
{
    memcpy(cells->ranks, ranks, sizeof(cells->ranks));
    memcpy(cells->extent, extent, sizeof(cells->extent));
    cells->weight =
        calloc((size_t)rank_grid_ranks(ranks), sizeof(*cells->weight));
    return cells->weight != NULL;
}

void size_cells_release(struct size_cells *cells)
{
    free(cells->weight);
    memset(cells, 0, sizeof(*cells));
}

/* The rank along an axis that has a coordinate. */
static int64_t rank_of(const struct size_cells *cells, int axis, double at)
{
    double part = at / cells->extent[axis] * (double)cells->ranks[axis];
    double last = (double)(cells->ranks[axis] - 1);

    return part >= 0 ? (int64_t)fmin(floor(part), last) : 0; /* NaN: 0 */
}

/* The part of low to high that a rank has. */
static double part_of(const struct size_cells *cells, int axis, int64_t rank,
                      double low, double high)
{
    double each = cells->extent[axis] / (double)cells->ranks[axis];
    double from = fmax(low, (double)rank * each);
    double to = rank == cells->ranks[axis] - 1
                    ? high
                    : fmin(high, (double)(rank + 1) * each);

    return fmax(to - from, 0) / (high - low);
}

void size_cells_add_box(struct size_cells *cells, const double low[3],
                        const double high[3], double weight)
{
    int64_t first[3], last[3], at[3];

    for (int d = 0; d < 3; d++) {
        first[d] = rank_of(cells, d, low[d]);
        last[d] = rank_of(cells, d, high[d]);
    }
    for (at[2] = first[2]; at[2] <= last[2]; at[2]++) {
        double of_z = weight * part_of(cells, 2, at[2], low[2], high[2]);

        for (at[1] = first[1]; at[1] <= last[1]; at[1]++) {
            double of_y = of_z * part_of(cells, 1, at[1], low[1], high[1]);

            for (at[0] = first[0]; at[0] <= last[0]; at[0]++)
                cells->weight[rank_grid_rank(cells->ranks, at)] +=
                    of_y * part_of(cells, 0, at[0], low[0], high[0]);
        }
    }
}

void size_cells_add_point(struct size_cells *cells, const double at[3],
                          double weight)
{
    int64_t rank[3];

    for (int d = 0; d < 3; d++)
        rank[d] = rank_of(cells, d, at[d]);
    cells->weight[rank_grid_rank(cells->ranks, rank)] += weight;
}

/* Each gets what the sum up to it has, less what those before it have. */
void size_cells_share(const struct size_cells *cells, uint64_t total,
                      uint64_t *bytes)
{
    int64_t ranks = rank_grid_ranks(cells->ranks);
    double all = 0, sum = 0;
    uint64_t given = 0;

    for (int64_t i = 0; i < ranks; i++)
        all += cells->weight[i];
    for (int64_t i = 0; i < ranks; i++) {
        double part = all > 0 ? (sum += cells->weight[i]) / all : 1;
        uint64_t upto = part >= 1 ? total : (uint64_t)(part * (double)total);

        if (i == ranks - 1 || upto > total)
            upto = total;
        bytes[i] = upto > given ? upto - given : 0;
        given += bytes[i];
    }
}
