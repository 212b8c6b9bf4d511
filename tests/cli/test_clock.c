/* test_clock.c -- stands in for the system's clock in bouma_clock, which is
 * bouma otherwise: each look at it is TEST_CLOCK seconds after the one before.
 * So what takes long and what does not is for the test to say, however fast
 * the machine is. */
#include <stdlib.h>
#include <time.h>

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    static double now = 1000;
    const char *step = getenv("TEST_CLOCK");

    (void)clock;
    now += step ? atof(step) : 0;
    out->tv_sec = (time_t)now;
    out->tv_nsec = (long)((now - (double)out->tv_sec) * 1e9);
    return 0;
}
