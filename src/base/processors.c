/* processors.c -- see processors.h. */
#include "base/processors.h"

#if defined(__linux__)
#include <sched.h>
#endif
#include <unistd.h>

#if defined(__linux__)
/* 0: not known, as with more processors than a set has room for. */
static int count_allowed(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}
#else
static int count_allowed(void)
{
    return 0;
}
#endif

struct bm_processors bm_processors_find(void)
{
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    struct bm_processors p = {all < 1 ? 1 : (int)all, count_allowed()};

    if (p.allowed < 1 || p.allowed > p.all)
        p.allowed = p.all;
    return p;
}

int bm_processors_share(struct bm_processors p, int ranks)
{
    int share = ranks > 0 ? p.all / ranks : p.all;

    share = share < p.allowed ? share : p.allowed;
    share = share < BM_USUAL_THREADS ? share : BM_USUAL_THREADS;
    return share < 1 ? 1 : share;
}
