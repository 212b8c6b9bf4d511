/* measure.h -- what every benchmark needs: a clock, robust summaries of
 * repeated timings, and removal of what was written. No MPI here. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

/* Seconds on a clock that only goes forward. */
double measure_now(void);

/* The value below which the fraction 'q' (0 to 1) of the 'n' values lies, and
 * the one in the middle. 'values' keeps its order; none gives NaN. */
double measure_quantile(const double *values, int n, double q);
double measure_median(const double *values, int n);

/* Remove a file, or a directory and all below it. One that is not there is
 * fine. 0, or -1 with errno. */
int measure_remove(const char *path);

#endif
