/* seconds.h -- how long a test at scale takes, to be printed for people. */
#ifndef SECONDS_H
#define SECONDS_H

#include <time.h>

/* Seconds of this process alone: the machine may have more to do. */
static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
