/* step_times.h -- the steps of a list in the order of their times, which need
 * not be that of their numbers. */
#ifndef BM_STEP_TIMES_H
#define BM_STEP_TIMES_H

#include "store/index.h"

struct bm_step_times {
    struct bm_step_time {
        double time;
        uint64_t step;
    } * entries; /* [count], ascending by time, then by step */
    size_t count;
    /* What the list was when they were sorted; 'changes' is one more, 0: never.
     */
    uint64_t changes;
    size_t listed;
};

void bm_step_times_release(struct bm_step_times *t, const bouma_allocator *a);

/* The step of 'list' whose time is nearest to 'time', which is finite; of those
 * that are equally near the one with the lowest number. Steps whose times are
 * not known do not count. Sorts them if the list has changed. ENOTFOUND if
 * there is none, or ENOMEM. */
int bm_step_times_nearest(struct bm_step_times *t,
                          const struct bm_step_list *list, double time,
                          uint64_t *step);

#endif
