/* median.c -- see median.h. */
#include "median.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(const double *values, int n)
{
    double *sorted = malloc((size_t)n * sizeof(*sorted)), median = values[0];

    if (sorted) {
        memcpy(sorted, values, (size_t)n * sizeof(*sorted));
        qsort(sorted, (size_t)n, sizeof(*sorted), ascending);
        median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
    free(sorted);
    return median;
}

double bench_spread(const double *values, int n)
{
    double low = values[0], high = values[0];

    for (int i = 1; i < n; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return high - low;
}
