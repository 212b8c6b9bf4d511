/* grid.h -- what the parts of bench_grid share. */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

#include <stddef.h>

#include "bouma.h"

enum { GRID_PATH_BYTES = 4096, GRID_EDGE = 64 /* of a patch, and of boxes */ };

struct bench {
    int rank, ranks;
    int64_t size;
    int repetitions;
    double tolerance;
    const char *directory;
    bouma_box box; /* of this rank */
    float *data;
    size_t count; /* samples of it */
};

/* End the program, on all ranks; the second unless all is well. */
_Noreturn void fail(const char *what);
void check(int rc, const bouma_dataset *ds);
void *allocate(size_t bytes);

/* grid_read.c: levels, boxes, histograms and budgets of the dataset at 'path',
 * beside the same samples in a plain file, which is made at 'plain' and removed.
 * Only one rank. */
void bench_read(const struct bench *b, const char *path, const char *plain);

#endif
