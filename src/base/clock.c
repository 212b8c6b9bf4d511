#include "base/clock.h"

#include <time.h>

double bm_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t bm_clock_date(void)
{
    return (int64_t)time(NULL);
}
