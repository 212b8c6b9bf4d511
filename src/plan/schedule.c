/* schedule.c -- see schedule.h. */
#include "plan/schedule.h"

#include <stdlib.h>

static int by_owner(const void *left, const void *right)
{
    const struct bm_slot *a = left, *b = right;

    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int by_turn(const void *left, const void *right)
{
    const struct bm_slot *a = left, *b = right;

    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

uint64_t bm_schedule(struct bm_slot *slots, size_t count)
{
    uint64_t at = 0;

    if (count)
        qsort(slots, count, sizeof(*slots), by_owner);
    for (size_t i = 0; i < count; i++) {
        int again = i && slots[i].owner == slots[i - 1].owner;

        slots[i].first = again ? slots[i - 1].first : slots[i].index;
        slots[i].before = again ? slots[i - 1].before + slots[i - 1].bytes : 0;
    }
    if (count)
        qsort(slots, count, sizeof(*slots), by_turn);
    for (size_t i = 0; i < count; i++) {
        slots[i].at = at;
        at += slots[i].bytes;
    }
    return at;
}
