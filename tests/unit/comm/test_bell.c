/* Who sleeps is woken, by threads and by other processes, and nothing that was
 * rung before is missed. A test that is not woken lasts an hour. */
#include "comm/bell.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define HOUR  3600.0
#define TIMES 2000

static void what_was_rung_before_is_not_slept_over(void)
{
    struct bm_bell b = {0};
    uint32_t heard = bm_bell_heard(&b);

    bm_bell_ring(&b);
    bm_bell_sleep(&b, heard, HOUR);
    CHECK(bm_bell_heard(&b) != heard);
}

static void sleep_ends_by_itself(void)
{
    struct bm_bell b = {0};

    bm_bell_sleep(&b, bm_bell_heard(&b), 1e-4);
    CHECK_EQ(bm_bell_heard(&b), 0);
}

/* Two that wait for each other in turn: rings[0] is this one's. */
struct pair {
    struct bm_bell rings[2];
    _Atomic int turn;
};

static void take_turns(struct pair *p, int me)
{
    for (int i = 0; i < TIMES; i++) {
        for (;;) {
            uint32_t heard = bm_bell_heard(&p->rings[me]);

            if (atomic_load(&p->turn) == me)
                break;
            bm_bell_sleep(&p->rings[me], heard, HOUR);
        }
        atomic_store(&p->turn, !me);
        bm_bell_ring(&p->rings[!me]);
    }
}

static void *be_the_other(void *context)
{
    take_turns(context, 1);
    return NULL;
}

static void threads_wake_each_other(void)
{
    struct pair p = {0};
    pthread_t other;

    REQUIRE(!pthread_create(&other, NULL, be_the_other, &p));
    take_turns(&p, 0);
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK_EQ(bm_bell_heard(&p.rings[0]), TIMES);
}

static void processes_wake_each_other(void)
{
    struct pair *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 1;
    pid_t other;

    REQUIRE(p != MAP_FAILED);
    other = fork();
    REQUIRE(other >= 0);
    if (!other) {
        take_turns(p, 1);
        _exit(0);
    }
    take_turns(p, 0);
    CHECK_EQ(waitpid(other, &status, 0), other);
    CHECK_EQ(status, 0);
    CHECK_EQ(bm_bell_heard(&p->rings[1]), TIMES);
    munmap(p, sizeof(*p));
}

int main(void)
{
    what_was_rung_before_is_not_slept_over();
    sleep_ends_by_itself();
    threads_wake_each_other();
    processes_wake_each_other();
    return check_result();
}
