/* step_times.c -- see step_times.h. */
#include "dataset/step_times.h"

#include <math.h>
#include <stdlib.h>

#include "base/search.h"

void bm_step_times_release(struct bm_step_times *t, const bouma_allocator *a)
{
    bm_drop(a, t->entries);
    *t = (struct bm_step_times){0};
}

static int by_time(const void *left, const void *right)
{
    const struct bm_step_time *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->step < b->step ? -1 : a->step > b->step;
}

static int sort(struct bm_step_times *t, const struct bm_step_list *list)
{
    struct bm_step_time *grown =
        list->count
            ? bm_resize(list->a, t->entries, list->count, sizeof(*grown))
            : t->entries;
    int ascends = 1;

    t->changes = 0;
    if (list->count && !grown)
        return BOUMA_ENOMEM;
    t->entries = grown;
    t->count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct bm_step_entry *e = &list->entries[i];

        if (!e->generation.epoch) /* nor is its time known */
            continue;
        grown[t->count] = (struct bm_step_time){e->time, e->step};
        ascends &= !t->count || grown[t->count - 1].time <= e->time;
        t->count++;
    }
    if (!ascends)
        qsort(grown, t->count, sizeof(*grown), by_time);
    t->changes = list->changes + 1;
    t->listed = list->count;
    return BOUMA_OK;
}

/* The first of those that have the time of 'at'. */
static size_t first_of(const struct bm_step_times *t, size_t at)
{
    size_t first = 0;

    if (t->entries[0].time < t->entries[at].time) {
        BM_BISECT(first, at, i, t->entries[i].time < t->entries[at].time)
        first++;
    }
    return first;
}

int bm_step_times_nearest(struct bm_step_times *t,
                          const struct bm_step_list *list, double time,
                          uint64_t *step)
{
    const struct bm_step_time *before, *behind;
    double below, above;
    size_t at = 0;

    if (t->changes != list->changes + 1 || t->listed != list->count) {
        int rc = sort(t, list);

        if (rc)
            return rc;
    }
    if (!t->count)
        return BOUMA_ENOTFOUND;
    BM_BISECT(at, t->count, i, t->entries[i].time <= time)
    before = &t->entries[first_of(t, at)];
    behind = at + 1 < t->count ? &t->entries[at + 1] : before;
    /* Halves, as the difference of two large numbers may be infinite. */
    below = fabs(time / 2 - before->time / 2);
    above = fabs(behind->time / 2 - time / 2);
    *step = above < below || (above == below && behind->step < before->step)
                ? behind->step
                : before->step;
    return BOUMA_OK;
}
