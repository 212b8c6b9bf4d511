/* median.h -- what repeated times come to. */
#ifndef MEDIAN_H
#define MEDIAN_H

/* The middle of n values, and the distance from the lowest to the highest; n is
 * 1 at least. */
double bench_median(const double *values, int n);
double bench_spread(const double *values, int n);

#endif
