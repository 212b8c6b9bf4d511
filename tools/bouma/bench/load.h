/* load.h -- how many bytes each rank has: the loads of the benchmark.
 *
 * A load is a pure function of the rank, the grid of ranks and a seed. Loads
 * with a shape in space are integrals of a density over the block of a rank, so
 * that all ranks together have the same whatever their number. */
#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct size_grid;
struct load;

struct load_request {
    const struct load *load;
    int64_t grid[3]; /* of ranks */
    uint64_t seed;
    uint64_t bytes; /* of a rank: see load.bytes */
    int variables;
    double time;                   /* of a series, 0 to 1 */
    const struct size_grid *sizes; /* of the load "sizes" */
};

struct load {
    const char *name, *help;
    uint64_t bytes;    /* that a rank has if nobody says otherwise: the mean, or
                       the most of those that are random; of series, the mean
                       at the end */
    int variables;     /* the same; 0: the size grid's */
    const int *widths; /* [variables] bytes of a particle in each; NULL: it has
                          no particles, and any number of variables */
    int axes;          /* of the grid of ranks */
    bool series;       /* it depends on the time */
    /* Of a rank, of all variables, or of all particles their number. */
    double (*amount)(const struct load_request *r, int64_t rank);
    /* Instead, of one variable. */
    double (*of_variable)(const struct load_request *r, int64_t rank,
                          int variable);
};

/* All loads, up to one without a name; and one by its name, or NULL. */
extern const struct load loads[];
const struct load *load_find(const char *name);

/* The bytes that a rank has of a variable. */
uint64_t load_bytes(const struct load_request *request, int64_t rank,
                    int variable);

/* How far the flame of s3d has burnt what is at x, y, z, from 0 to 1. */
double load_burnt(const struct load_request *request, const double at[3],
                  int variable);

#endif
