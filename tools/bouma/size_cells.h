/* size_cells.h -- bytes of things with a place, shared out among the ranks of a
 * grid: how a size grid (size_grid.h) comes about. */
#ifndef SIZE_CELLS_H
#define SIZE_CELLS_H

#include <stdbool.h>
#include <stdint.h>

/* The blocks of ranks are equal parts of a domain, from 0 up to 'extent' along
 * x, y and z. */
struct size_cells {
    int64_t ranks[3];
    double extent[3]; /* above 0 */
    double *weight;   /* [nz][ny][nx] */
};

/* False if there is no memory. Ended by size_cells_release(), after that, too.
 */
bool size_cells_init(struct size_cells *cells, const int64_t ranks[3],
                     const double extent[3]);
void size_cells_release(struct size_cells *cells);

/* Share 'weight' out among the ranks that a box meets, by their parts of its
 * volume. It is inside of the domain, and low < high. */
void size_cells_add_box(struct size_cells *cells, const double low[3],
                        const double high[3], double weight);
/* Give it to the one that has a point; what is outside goes to the nearest. */
void size_cells_add_point(struct size_cells *cells, const double at[3],
                          double weight);

/* 'total' bytes, shared out by the weights: whole numbers, each within one byte,
 * whose sum is exact. Without any weight, the first has all. */
void size_cells_share(const struct size_cells *cells, uint64_t total,
                      uint64_t *bytes);

#endif
