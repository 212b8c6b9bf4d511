/* plan_owners.c -- which rank has which chunks of a plan: all of them in order,
 * those of one rank, and those that it sends parts of. See write_plan.h. */
#include <stdlib.h>

#include "base/search.h"
#include "write/write_plan.h"

/* ---- the chunks of a rank ------------------------------------------------ */

/* What moves, and how many chunks a rank has at most. */
static int sum_up(struct bm_write_plan *plan, int ranks)
{
    int64_t *count = bm_new(plan->a, (size_t)ranks, sizeof(*count));

    if (!count)
        return BOUMA_ENOMEM;
    plan->moved_bytes = 0;
    plan->most_patches = 0;
    for (size_t i = 0; i < plan->grid_count; i++)
        for (size_t j = 0; j < plan->grids[i].count; j++) {
            const struct bouma_variable *v = plan->grids[i].variables[j];

            plan->moved_bytes += plan->grids[i].of[j]->report.moved_samples *
                                 (uint64_t)v->components *
                                 bm_variable_value_size(v);
        }
    for (size_t i = 0; i < plan->decomposition_count; i++) {
        const struct bm_decomposition *d = &plan->decompositions[i];

        for (int64_t p = 0; p < d->partition.chunking.count; p++)
            count[d->owner[p]]++;
    }
    for (int r = 0; r < ranks; r++)
        if (count[r] > plan->most_patches)
            plan->most_patches = count[r];
    bm_drop(plan->a, count);
    return BOUMA_OK;
}

/* The first block of a rank, if it has one. */
static size_t first_block(const struct bm_block *blocks, size_t count, int rank)
{
    size_t at = 0;

    if (!count || blocks[0].rank >= rank)
        return 0;
    BM_BISECT(at, count, i, blocks[i].rank < rank);
    return at + 1;
}

/* The first in the order of owners that this one or a later one has. */
static size_t first_of_owner(const struct bm_write_plan *plan, int owner)
{
    size_t at = 0;

    if (!plan->chunks || plan->owner[plan->by_owner[0]] >= owner)
        return 0;
    BM_BISECT(at, plan->chunks, i, plan->owner[plan->by_owner[i]] < owner);
    return at + 1;
}

/* This rank's chunks in the order of owners. A plan of what concerns one rank
 * has no such order: it has few chunks. */
static int list_mine(struct bm_write_plan *plan, int rank)
{
    size_t begin = plan->by_owner ? first_of_owner(plan, rank) : 0;
    size_t end = plan->by_owner ? first_of_owner(plan, rank + 1) : plan->chunks;

    bm_drop(plan->a, plan->mine);
    plan->mine_count = 0;
    plan->mine = bm_new_raw(plan->a, end - begin, sizeof(*plan->mine));
    if (!plan->mine)
        return BOUMA_ENOMEM;
    for (size_t i = begin; i < end; i++) {
        size_t chunk = plan->by_owner ? plan->by_owner[i] : i;

        if (plan->owner[chunk] == rank)
            plan->mine[plan->mine_count++] = chunk;
    }
    return BOUMA_OK;
}

int bm_plan_find_mine(struct bm_write_plan *plan, int rank)
{
    if (list_mine(plan, rank))
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < plan->decomposition_count; i++) {
        struct bm_decomposition *d = &plan->decompositions[i];

        d->my_first_block = first_block(d->blocks, d->block_count, rank);
        if (d->tiles)
            d->tiles->my_first_given =
                first_block(d->tiles->given, d->tiles->given_count, rank);
    }
    return BOUMA_OK;
}

/* ---- what a rank sends --------------------------------------------------- */

/* Chunks are put together here. */
struct sent {
    const struct bm_write_plan *plan;
    const struct bm_plan_grid *grid;
    size_t variable; /* of the grid */
    int rank;
    size_t *list;
    size_t count;
    int failed;
};

static void add_chunk(struct sent *s, size_t chunk)
{
    size_t *grown = bm_grow(s->plan->a, s->list, s->count, sizeof(*grown));

    s->failed |= !grown;
    if (!grown)
        return;
    s->list = grown;
    grown[s->count++] = chunk;
}

static void add_sent(void *context, int64_t first, int64_t end)
{
    struct sent *s = context;
    const struct bm_plan_grid *g = s->grid;

    for (int64_t i = first; i < end && !s->failed; i++)
        if (g->of[s->variable]->owner[i] != s->rank)
            add_chunk(s, g->first +
                             (size_t)bm_chunking_position(&g->chunking, i) *
                                 g->count +
                             s->variable);
}

/* The chunks of all blocks that this rank has. */
static void search_sent(struct sent *s)
{
    const struct bm_write_plan *plan = s->plan;

    for (size_t i = 0; i < plan->grid_count; i++)
        for (size_t j = 0; j < plan->grids[i].count; j++) {
            const struct bm_decomposition *d = plan->grids[i].of[j];
            const struct bm_chunking *c = &d->partition.chunking;

            s->grid = &plan->grids[i];
            s->variable = j;
            for (size_t b = d->my_first_block;
                 b < d->block_count && d->blocks[b].rank == s->rank; b++)
                c->calls->touched(c->own, &d->blocks[b].box, c->level, add_sent,
                                  s);
        }
}

/* The same where all chunks concern this rank. */
static void scan_sent(struct sent *s)
{
    for (size_t i = 0; i < s->plan->chunks && !s->failed; i++) {
        struct bm_chunk c = bm_plan_chunk(s->plan, i);
        const struct bm_partition *p = &c.decomposition->partition;

        if (s->plan->owner[i] == s->rank)
            continue;
        for (int64_t k = p->first[c.number]; k < p->first[c.number + 1]; k++)
            if (p->blocks[p->part[k]].rank == s->rank) {
                add_chunk(s, i);
                break;
            }
    }
}

static int ascending(const void *left, const void *right)
{
    const size_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

int bm_plan_find_sent(const struct bm_write_plan *plan, int rank, size_t **out,
                      size_t *count)
{
    struct sent s = {.plan = plan, .rank = rank};
    size_t n = 0;

    if (plan->own)
        scan_sent(&s);
    else
        search_sent(&s);
    if (s.count)
        qsort(s.list, s.count, sizeof(*s.list), ascending);
    for (size_t i = 0; i < s.count; i++) /* several blocks may have parts */
        if (!n || s.list[i] != s.list[n - 1])
            s.list[n++] = s.list[i];
    *out = s.list;
    *count = n;
    return s.failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* ---- owners -------------------------------------------------------------- */

static int order_by_owner(struct bm_write_plan *plan, int ranks)
{
    size_t *next = bm_new(plan->a, (size_t)ranks + 1, sizeof(*next));

    bm_drop(plan->a, plan->by_owner);
    plan->by_owner = bm_new_raw(plan->a, plan->chunks, sizeof(*plan->by_owner));
    if (!next || !plan->by_owner) {
        bm_drop(plan->a, next);
        return BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < plan->chunks; i++)
        next[plan->owner[i] + 1]++;
    for (int r = 0; r < ranks; r++)
        next[r + 1] += next[r];
    for (size_t i = 0; i < plan->chunks; i++)
        plan->by_owner[next[plan->owner[i]]++] = (uint32_t)i;
    bm_drop(plan->a, next);
    return BOUMA_OK;
}

int bm_plan_list_owners(struct bm_write_plan *plan, int ranks, int rank)
{
    size_t n = 0;

    bm_drop(plan->a, plan->owner);
    plan->owner = bm_new_raw(plan->a, plan->chunks, sizeof(*plan->owner));
    if (!plan->owner)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < plan->grid_count; i++) {
        const struct bm_plan_grid *g = &plan->grids[i];

        for (int64_t p = 0; p < g->chunking.count; p++)
            for (size_t j = 0; j < g->count; j++)
                plan->owner[n++] = g->of[j]->owner[g->order[p]];
    }
    if (order_by_owner(plan, ranks) || bm_plan_find_mine(plan, rank))
        return BOUMA_ENOMEM;
    return sum_up(plan, ranks);
}
