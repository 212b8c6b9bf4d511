/* additions.c -- see additions.h. */
#include "store/additions.h"

/* How many steps of a list are below a number. */
static size_t count_below(const struct bm_step_list *list, uint64_t step)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->entries[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct bm_additions bm_additions_in(const struct bm_step_list *list)
{
    return (struct bm_additions){count_below(list, BM_ADDITIONS_FIRST),
                                 count_below(list, BM_ADDITIONS_END)};
}

size_t bm_steps_shown(const struct bm_step_list *list)
{
    struct bm_additions a = bm_additions_in(list);

    return list->count - (a.end - a.first);
}

const struct bm_step_entry *bm_steps_shown_at(const struct bm_step_list *list,
                                              size_t i)
{
    struct bm_additions a = bm_additions_in(list);

    return &list->entries[i < a.first ? i : i + a.end - a.first];
}
