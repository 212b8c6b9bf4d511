/* size_grid.h -- how many bytes each rank stores: known for a small grid of
 * ranks, and from it for any other one (paper 000, section V-C).
 *
 * As a file it is JSON:
 *
 *     {"format": "bouma-size-grid", "ranks": [nx, ny, nz],
 *      "variables": [{"name": "T", "bytes": [...]}, ...]}
 *
 * with nx ny nz whole numbers up to 2^53 in "bytes", x running fastest: rank
 * (x, y, z) has bytes[x + nx (y + ny z)]. Works on memory; no byte of it is
 * trusted. */
#ifndef SIZE_GRID_H
#define SIZE_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE_GRID_FORMAT "bouma-size-grid"

#define SIZE_GRID_MOST_RANKS ((int64_t)1 << 24)  /* in all */
#define SIZE_GRID_MOST_BYTES ((uint64_t)1 << 53) /* of a rank and a variable */

struct size_grid_variable {
    char *name;
    uint64_t *bytes; /* [nz][ny][nx] */
};

struct size_grid {
    int64_t ranks[3]; /* nx, ny, nz */
    struct size_grid_variable *variables;
    size_t count; /* of variables; 1 at least */
};

/* Read a file's text. False if it is not one, or there is no memory: 'message'
 * (of 'room' bytes) says what is wrong with it. Ended by size_grid_release(),
 * after a failure too. */
bool size_grid_parse(struct size_grid *out, const char *text, size_t size,
                     char *message, size_t room);
void size_grid_release(struct size_grid *grid);

/* The index of a variable, or -1. */
int size_grid_find(const struct size_grid *grid, const char *name);

/* What rank 'at' (x, y, z) of a grid of 'ranks' has of a variable: the sizes at
 * the centres of the ranks' blocks, by trilinear interpolation, and beyond the
 * outermost centres those of the outermost. Exact where 'ranks' are those of
 * the grid. Sizes do not shrink as ranks grow in number: more ranks have more
 * data. There are fewer than 2^31 along an axis. */
uint64_t size_grid_bytes(const struct size_grid *grid, size_t variable,
                         const int64_t ranks[3], const int64_t at[3]);
/* The same, of all variables. At most INT64_MAX. */
uint64_t size_grid_bytes_of_all(const struct size_grid *grid,
                                const int64_t ranks[3], const int64_t at[3]);

#endif
