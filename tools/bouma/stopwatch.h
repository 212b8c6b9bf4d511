/* stopwatch.h -- seconds on a clock that only runs forward. */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include <time.h>

static inline double stopwatch_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
