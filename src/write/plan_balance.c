/* plan_balance.c -- `weighted` carried out: the plan of the last step gets
 * other owners where its chunks took some ranks longer than others. */
#include <string.h>

#include "write/write_plan.h"

/* After a search that was of no use, so many steps pass without one. */
#define PAUSE 8

/* Owners of one decomposition that may take the place of its own. */
struct candidate {
    int *owner;
    uint64_t *weight; /* [chunks], of all variables laid out so */
};

static void free_candidates(struct candidate *c,
                            const struct bm_write_plan *plan)
{
    for (size_t i = 0; c && i < plan->decomposition_count; i++) {
        bm_drop(plan->a, c[i].owner);
        bm_drop(plan->a, c[i].weight);
    }
    bm_drop(plan->a, c);
}

static uint64_t largest(const uint64_t *load, int ranks)
{
    uint64_t most = 0;

    for (int r = 0; r < ranks; r++)
        most = load[r] > most ? load[r] : most;
    return most;
}

static void weigh(struct candidate *c, const struct bm_write_plan *plan)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->grid_count; i++) {
        const struct bm_plan_grid *g = &plan->grids[i];

        for (int64_t p = 0; p < g->chunking.count; p++)
            for (size_t j = 0; j < g->count; j++)
                c[g->of[j] - plan->decompositions].weight[g->order[p]] +=
                    plan->times.each[n++];
    }
}

/* All decompositions with the owners of `balanced` first, so that each is
 * improved with what ranks have to do for the others. */
static int find_owners(struct candidate *c, const struct bm_write_plan *plan,
                       uint64_t *load, int ranks)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < plan->decomposition_count; i++) {
        size_t n = (size_t)plan->decompositions[i].partition.chunking.count;

        c[i].owner = bm_new_raw(plan->a, n, sizeof(*c[i].owner));
        c[i].weight = bm_new(plan->a, n, sizeof(*c[i].weight));
        if (!c[i].owner || !c[i].weight)
            return BOUMA_ENOMEM;
    }
    weigh(c, plan);
    memset(load, 0, (size_t)ranks * sizeof(*load));
    for (size_t i = 0; i < plan->decomposition_count && !rc; i++) {
        const struct bm_decomposition *d = &plan->decompositions[i];

        rc = bm_distribute(c[i].owner, BOUMA_DISTRIBUTE_BALANCED, &d->partition,
                           ranks, NULL);
        for (int64_t p = 0; p < d->partition.chunking.count && !rc; p++)
            load[c[i].owner[p]] += c[i].weight[p];
    }
    for (size_t i = 0; i < plan->decomposition_count && !rc; i++)
        rc = bm_distribute_weighted(c[i].owner,
                                    &plan->decompositions[i].partition, ranks,
                                    c[i].weight, load);
    return rc;
}

static int take_owners(struct bm_write_plan *plan, struct candidate *c,
                       int ranks, int rank)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < plan->decomposition_count && !rc; i++) {
        struct bm_decomposition *d = &plan->decompositions[i];
        int *old = d->owner;

        d->owner = c[i].owner;
        c[i].owner = old;
        rc = bm_distribute_report(&d->report, d->owner, &d->partition, ranks);
    }
    return rc ? rc : bm_plan_list_owners(plan, ranks, rank);
}

int bm_plan_balance(struct bm_write_plan *plan, int ranks, int rank,
                    int *changed)
{
    struct candidate *c = NULL;
    uint64_t *load, before, total = 0;
    int rc = BOUMA_OK;

    *changed = 0;
    if (!plan->times.known)
        return BOUMA_OK;
    if (plan->times.pause) {
        plan->times.pause--;
        return BOUMA_OK;
    }
    load = bm_new(plan->a, (size_t)ranks, sizeof(*load));
    if (!load)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < plan->chunks; i++) {
        load[plan->owner[i]] += plan->times.each[i];
        total += plan->times.each[i];
    }
    before = largest(load, ranks);
    /* Times are never twice the same: a tenth is not worth a search, and other
     * owners have to be better by a twentieth. */
    if ((double)before * ranks <= 1.1 * (double)total)
        goto out;
    c = bm_new(plan->a, plan->decomposition_count, sizeof(*c));
    rc = c ? find_owners(c, plan, load, ranks) : BOUMA_ENOMEM;
    if (rc)
        goto out;
    *changed = (double)largest(load, ranks) < 0.95 * (double)before;
    if (*changed)
        rc = take_owners(plan, c, ranks, rank);
    else
        plan->times.pause = PAUSE;
out:
    free_candidates(c, plan);
    bm_drop(plan->a, load);
    return rc;
}
