/* Work in parts: each is done once, by whoever is there. */
#include "base/share.h"

#include <stdatomic.h>

#include "check.h"

enum { PARTS = 1000, THREADS = 5 };

struct tally {
    atomic_int done[PARTS];
    atomic_int busy[BM_SHARE_MOST];
    atomic_int clashes;
    size_t threads;
};

static void count(void *context, size_t i, size_t worker)
{
    struct tally *t = context;

    if (worker >= t->threads || atomic_fetch_add(&t->busy[worker], 1))
        atomic_fetch_add(&t->clashes, 1);
    atomic_fetch_add(&t->done[i], 1);
    atomic_fetch_sub(&t->busy[worker], 1);
}

static void every_part_is_done_once(void)
{
    static const size_t parts[] = {0, 1, 2, 7, PARTS};
    static const size_t threads[] = {0, 1, 2, THREADS, 1000};

    for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
        for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
            static struct tally tally;

            memset(&tally, 0, sizeof(tally));
            tally.threads = threads[t] > BM_SHARE_MOST ? BM_SHARE_MOST
                            : threads[t]               ? threads[t]
                                                       : 1;
            bm_share(count, &tally, parts[p], threads[t]);
            for (size_t i = 0; i < PARTS; i++)
                CHECK_EQ(tally.done[i], i < parts[p]);
            CHECK_EQ(tally.clashes, 0);
        }
}

int main(void)
{
    every_part_is_done_once();
    return check_result();
}
