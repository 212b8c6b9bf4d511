/* test_clock.c -- stands in for the system's clock in bouma_clock, which is
 * bouma otherwise: each look at it is TEST_CLOCK seconds after the one before.
 * So what takes long and what does not is for the test to say, however fast
 * the machine is. The thread that stores data looks at it, too: it never goes
 * back. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    static _Atomic int64_t looked = INT64_C(1000000000000); /* nanoseconds */
    const char *text = getenv("TEST_CLOCK");
    int64_t step = text ? (int64_t)(atof(text) * 1e9) : 0;
    int64_t now = atomic_fetch_add(&looked, step) + step;

    (void)clock;
    out->tv_sec = (time_t)(now / 1000000000);
    out->tv_nsec = (long)(now % 1000000000);
    return 0;
}
