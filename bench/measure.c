/* measure.c -- clock, medians, removal. */
#include "measure.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

double measure_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double measure_quantile(const double *values, int n, double q)
{
    double *sorted, position, result;
    int below;

    if (n < 1)
        return NAN;
    sorted = malloc((size_t)n * sizeof(*sorted));
    if (!sorted)
        return NAN;
    memcpy(sorted, values, (size_t)n * sizeof(*sorted));
    qsort(sorted, (size_t)n, sizeof(*sorted), ascending);

    /* Between two values, on the straight line from one to the other. */
    position = q * (n - 1);
    below = (int)position;
    result = sorted[below];
    if (below + 1 < n)
        result += (position - below) * (sorted[below + 1] - sorted[below]);
    free(sorted);
    return result;
}

double measure_median(const double *values, int n)
{
    return measure_quantile(values, n, 0.5);
}

static int remove_entry(const char *path, const struct stat *info, int kind,
                        struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

int measure_remove(const char *path)
{
    struct stat info;

    if (lstat(path, &info))
        return errno == ENOENT ? 0 : -1;
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
