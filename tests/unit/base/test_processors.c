/* Processors for the threads of a rank. */
#include "base/processors.h"

#include "check.h"

static int share(int all, int allowed, int ranks)
{
    return bm_processors_share((struct bm_processors){all, allowed}, ranks);
}

int main(void)
{
    struct bm_processors p = bm_processors_find();

    CHECK(p.all >= 1 && p.allowed >= 1 && p.allowed <= p.all);
    CHECK_EQ(share(1, 1, 1), 1);
    CHECK_EQ(share(6, 6, 1), 6);
    CHECK_EQ(share(64, 64, 1), BM_USUAL_THREADS);
    CHECK_EQ(share(64, 64, 16), 4);
    CHECK_EQ(share(64, 64, 64), 1);
    CHECK_EQ(share(64, 64, 200), 1);
    CHECK_EQ(share(64, 1, 16), 1);  /* bound to one of them */
    CHECK_EQ(share(64, 16, 16), 4); /* to a socket that others are on, too */
    CHECK_EQ(share(64, 3, 1), 3);   /* the job has no more */
    return check_result();
}
