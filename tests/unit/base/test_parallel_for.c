/* A parallel loop: each turn is taken once, by whoever is there; a failure ends
 * it. */
#include "base/parallel_for.h"

#include <stdatomic.h>

#include "check.h"

enum { PARTS = 1000, THREADS = 5 };

struct tally {
    atomic_int done[PARTS];
    atomic_int busy[BM_MAX_THREADS];
    atomic_int clashes;
    size_t threads;
};

static int count(void *context, size_t i, size_t worker)
{
    struct tally *t = context;

    if (worker >= t->threads || atomic_fetch_add(&t->busy[worker], 1))
        atomic_fetch_add(&t->clashes, 1);
    atomic_fetch_add(&t->done[i], 1);
    atomic_fetch_sub(&t->busy[worker], 1);
    return 0;
}

static void every_turn_is_taken_once(void)
{
    static const size_t parts[] = {0, 1, 2, 7, PARTS};
    static const size_t threads[] = {0, 1, 2, THREADS, 1000};

    for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
        for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
            static struct tally tally;

            memset(&tally, 0, sizeof(tally));
            tally.threads = threads[t] > BM_MAX_THREADS ? BM_MAX_THREADS
                            : threads[t]                ? threads[t]
                                                        : 1;
            CHECK_EQ(bm_parallel_for(count, &tally, parts[p], threads[t]), 0);
            for (size_t i = 0; i < PARTS; i++)
                CHECK_EQ(tally.done[i], i < parts[p]);
            CHECK_EQ(tally.clashes, 0);
        }
}

static int fail_at_ten(void *context, size_t i, size_t worker)
{
    atomic_int *turns = context;

    (void)worker;
    atomic_fetch_add(turns, 1);
    return i == 10 ? -7 : 0;
}

static void a_failure_ends_it(void)
{
    for (size_t threads = 1; threads <= THREADS; threads++) {
        atomic_int turns = 0;

        CHECK_EQ(bm_parallel_for(fail_at_ten, &turns, PARTS, threads), -7);
        CHECK(atomic_load(&turns) >= 11);
        CHECK(threads > 1 || atomic_load(&turns) == 11);
    }
}

int main(void)
{
    a_failure_ends_it();
    every_turn_is_taken_once();
    return check_result();
}
