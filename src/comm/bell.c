/* bell.c -- see bell.h. Where the system has no futex, one sleeps to the end.
 */
#include "comm/bell.h"

#include <limits.h>
#include <stddef.h>
#include <time.h>

/* With 32 bits the call may have another struct timespec than the C library. */
#if defined(__linux__) && LONG_MAX > INT_MAX

#include <sys/syscall.h>
#include <unistd.h>

/* As in linux/futex.h, which some C libraries do without. */
enum { FUTEX_WAIT, FUTEX_WAKE };

static void sleep_while(struct bm_bell *b, uint32_t heard,
                        const struct timespec *time)
{
    syscall(SYS_futex, &b->rung, FUTEX_WAIT, heard, time, NULL, 0);
}

static void wake(struct bm_bell *b)
{
    syscall(SYS_futex, &b->rung, FUTEX_WAKE, 1, NULL, NULL, 0);
}

#else

static void sleep_while(struct bm_bell *b, uint32_t heard,
                        const struct timespec *time)
{
    if (bm_bell_heard(b) == heard)
        nanosleep(time, NULL);
}

static void wake(struct bm_bell *b)
{
    (void)b;
}

#endif

/* Either this sees that the other sleeps, or the other sees that it was rung:
 * both write before they read. */
void bm_bell_ring(struct bm_bell *b)
{
    atomic_fetch_add(&b->rung, 1);
    if (atomic_load(&b->asleep))
        wake(b);
}

uint32_t bm_bell_heard(const struct bm_bell *b)
{
    return atomic_load(&b->rung);
}

void bm_bell_sleep(struct bm_bell *b, uint32_t heard, double seconds)
{
    struct timespec time = {(time_t)seconds, 0};

    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    atomic_store(&b->asleep, 1);
    sleep_while(b, heard, &time);
    atomic_store(&b->asleep, 0);
}
