/* memory_budget.c -- memory that is counted. */
#include "memory_budget.h"

#include <malloc.h>
#include <stdlib.h>

void memory_budget_init(struct memory_budget *budget, size_t limit)
{
    budget->limit = limit;
    atomic_init(&budget->used, 0);
    atomic_init(&budget->spare, 0);
    atomic_init(&budget->turn, 0);
    for (int i = 0; i < SPARE_BLOCKS; i++)
        atomic_init(&budget->spares[i], NULL);
}

/* ---- blocks that are kept ------------------------------------------------ */

/* Smaller ones are kept by malloc(). */
#define LEAST_SPARE (1u << 20)

/* What is in a place, which is empty then. */
static void *take_spare(struct memory_budget *budget, int i)
{
    void *block = atomic_exchange(&budget->spares[i], NULL);

    if (block)
        atomic_fetch_sub(&budget->spare, malloc_usable_size(block));
    return block;
}

static void drop_spare(struct memory_budget *budget, int i)
{
    void *block = take_spare(budget, i);

    if (block)
        memory_budget_give(budget, malloc_usable_size(block));
    free(block);
}

/* Into a place, if it is empty and no more than a quarter of all is kept then.
 */
static bool put_spare(struct memory_budget *budget, int i, void *block)
{
    size_t bytes = malloc_usable_size(block);
    void *none = NULL;

    if (atomic_fetch_add(&budget->spare, bytes) + bytes <= budget->limit / 4 &&
        atomic_compare_exchange_strong(&budget->spares[i], &none, block))
        return true;
    atomic_fetch_sub(&budget->spare, bytes);
    return false;
}

/* Into any place: if need be, one after the other is made empty in turn, so
 * that blocks of sizes nobody asks for any more do not stay for ever. */
static bool keep_spare(struct memory_budget *budget, void *block)
{
    size_t bytes = malloc_usable_size(block);

    if (bytes < LEAST_SPARE || bytes > budget->limit / 4)
        return false;
    for (int i = 0; i < SPARE_BLOCKS; i++)
        if (put_spare(budget, i, block))
            return true;
    for (int i = 0; i < SPARE_BLOCKS; i++) {
        int turn = (int)(atomic_fetch_add(&budget->turn, 1) % SPARE_BLOCKS);

        drop_spare(budget, turn);
        if (put_spare(budget, turn, block))
            return true;
    }
    return false;
}

/* One of at least so many bytes, and not many more. */
static void *find_spare(struct memory_budget *budget, size_t bytes)
{
    for (int i = 0; bytes >= LEAST_SPARE && i < SPARE_BLOCKS; i++) {
        void *block = take_spare(budget, i);
        size_t own = block ? malloc_usable_size(block) : 0;

        if (block && own >= bytes && own / 2 <= bytes)
            return block;
        if (block && !put_spare(budget, i, block)) {
            memory_budget_give(budget, own);
            free(block);
        }
    }
    return NULL;
}

void memory_budget_drop(struct memory_budget *budget)
{
    for (int i = 0; i < SPARE_BLOCKS; i++)
        drop_spare(budget, i);
}

/* ---- what is counted ----------------------------------------------------- */

/* What is refused is never counted, not even for a moment: others would be
 * refused because of it. */
static bool take(struct memory_budget *budget, size_t bytes)
{
    size_t before = atomic_load(&budget->used);

    do {
        if (bytes > budget->limit || before > budget->limit - bytes)
            return false;
    } while (
        !atomic_compare_exchange_weak(&budget->used, &before, before + bytes));
    return true;
}

bool memory_budget_take(struct memory_budget *budget, size_t bytes)
{
    if (take(budget, bytes))
        return true;
    memory_budget_drop(budget);
    return take(budget, bytes);
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
    void *moved = block ? NULL : find_spare(budget, bytes);

    if (moved)
        return moved;
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
    if (!block || keep_spare(user, block))
        return;
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
