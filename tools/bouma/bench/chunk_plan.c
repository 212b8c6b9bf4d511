/* chunk_plan.c -- see chunk_plan.h. */
#include "chunk_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/box.h"
#include "rank_grid.h"

struct place {
    uint64_t key;
    int rank;
};

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

/* The ranks along the curve. */
static int order_ranks(struct chunk_plan *p, const int64_t grid[3])
{
    struct place *places = bm_new_raw(p->a, (size_t)p->ranks, sizeof(*places));

    if (!places)
        return BOUMA_ENOMEM;
    for (int r = 0; r < p->ranks; r++) {
        int64_t at[3], slowest_first[3];

        rank_grid_at(grid, r, at);
        for (int d = 0; d < 3; d++)
            slowest_first[d] = at[2 - d];
        places[r] = (struct place){bm_morton(slowest_first, 3), r};
    }
    qsort(places, (size_t)p->ranks, sizeof(*places), by_key);
    for (int i = 0; i < p->ranks; i++) {
        p->rank_at[i] = places[i].rank;
        p->position[places[i].rank] = i;
    }
    bm_drop(p->a, places);
    return BOUMA_OK;
}

int chunk_plan_init(struct chunk_plan *p, const bouma_allocator *a,
                    const int64_t grid[3], int variables)
{
    size_t ranks = (size_t)rank_grid_ranks(grid), chunks;

    memset(p, 0, sizeof(*p));
    p->a = a;
    p->ranks = (int)ranks;
    p->variables = variables;
    chunks = ranks * (size_t)variables;
    p->rank_at = bm_new_raw(a, ranks, sizeof(*p->rank_at));
    p->position = bm_new_raw(a, ranks, sizeof(*p->position));
    p->bytes = bm_new_raw(a, chunks, sizeof(*p->bytes));
    p->owner = bm_new_raw(a, chunks, sizeof(*p->owner));
    return p->rank_at && p->position && p->bytes && p->owner
               ? order_ranks(p, grid)
               : BOUMA_ENOMEM;
}

void chunk_plan_release(struct chunk_plan *p)
{
    if (!p->a)
        return;
    bm_assignment_release(&p->files);
    bm_drop(p->a, p->rank_at);
    bm_drop(p->a, p->position);
    bm_drop(p->a, p->bytes);
    bm_drop(p->a, p->owner);
    memset(p, 0, sizeof(*p));
}

int chunk_plan_make(struct chunk_plan *p, const uint64_t *sizes,
                    bouma_assign scheme, int64_t files,
                    const struct bm_place_task *place)
{
    size_t variables = (size_t)p->variables;
    struct bm_chunk_sizes chunks = {.count = (size_t)p->ranks * variables,
                                    .bytes = p->bytes,
                                    .owner = p->owner};
    int rc;

    for (size_t c = 0; c < chunks.count; c++) {
        p->owner[c] = p->rank_at[c / variables];
        p->bytes[c] = sizes[(size_t)p->owner[c] * variables + c % variables];
    }
    bm_assignment_release(&p->files);
    rc = bm_assign(&p->files, p->a, scheme, &chunks, files, p->ranks);
    return rc ? rc : bm_place_chunks(&p->files, place, &chunks);
}
