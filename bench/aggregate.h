/* aggregate.h -- what the parts of bench_aggregate share. */
#ifndef BENCH_AGGREGATE_H
#define BENCH_AGGREGATE_H

#include <stddef.h>

enum { AGGREGATE_PATH_BYTES = 4096 };

struct bench {
    int rank, ranks;
    int repetitions;
    int largest; /* MiB a rank */
    int size;    /* of the grid of overlap, which has half as many planes */
    const char *directory, *only;
};

/* End the program, on all ranks. */
_Noreturn void fail(const char *what);
void *allocate(size_t bytes);
/* Of all ranks. */
double slowest(double seconds);
void aggregate_path(char path[AGGREGATE_PATH_BYTES], const struct bench *b,
                    const char *name);
/* aggregate_files.c: plain files beside MPI-IO, transports, memory. */
void bench_files(const struct bench *b);
/* aggregate_overlap.c: storing while the next is shaped. */
void bench_overlap(const struct bench *b);

#endif
