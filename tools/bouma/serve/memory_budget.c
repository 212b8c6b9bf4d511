/* memory_budget.c -- memory that is counted. */
#include "memory_budget.h"

#include <malloc.h>
#include <stdlib.h>

void memory_budget_init(struct memory_budget *budget, size_t limit)
{
    budget->limit = limit;
    atomic_init(&budget->used, 0);
}

bool memory_budget_take(struct memory_budget *budget, size_t bytes)
{
    size_t before = atomic_fetch_add(&budget->used, bytes);

    if (bytes <= budget->limit && before <= budget->limit - bytes)
        return true;
    atomic_fetch_sub(&budget->used, bytes);
    return false;
}

void memory_budget_give(struct memory_budget *budget, size_t bytes)
{
    atomic_fetch_sub(&budget->used, bytes);
}

/* What malloc() has given may be a little more than was asked for: that is
 * counted, so that no block needs a header. */
void *memory_budget_resize(void *user, void *block, size_t bytes)
{
    struct memory_budget *budget = user;
    size_t before = block ? malloc_usable_size(block) : 0, after;
    void *moved;

    if (bytes > before && !memory_budget_take(budget, bytes - before))
        return NULL;
    moved = realloc(block, bytes);
    if (!moved) {
        if (bytes > before)
            memory_budget_give(budget, bytes - before);
        return NULL;
    }
    after = malloc_usable_size(moved);
    atomic_fetch_add(&budget->used, after - (bytes > before ? bytes : before));
    return moved;
}

void memory_budget_release(void *user, void *block)
{
    if (block)
        memory_budget_give(user, malloc_usable_size(block));
    free(block);
}

bouma_allocator memory_budget_allocator(struct memory_budget *budget)
{
    return (bouma_allocator){.size = sizeof(bouma_allocator),
                             .user = budget,
                             .resize = memory_budget_resize,
                             .release = memory_budget_release};
}
