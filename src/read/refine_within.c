/* refine_within.c -- a refinement that goes as far as a budget allows. What each
 * level takes is known from heads, before any of its data are read. */
#include <inttypes.h>
#include <limits.h>

#include "plan/budget.h"
#include "read/read.h"

/* Levels from 'first' down to 0. */
struct levels {
    const struct bouma_refinement *r;
    int first;
    int from_nothing;
};

static uint64_t samples_at(const struct bouma_refinement *r, int level)
{
    struct bm_lattice l = bm_lattice_of(&r->box, level);

    return bm_lattice_samples(&l);
}

static uint64_t points_of(const void *context, int i)
{
    const struct levels *l = context;

    return samples_at(l->r, l->first - i);
}

static int cost_of(struct bm_step_cost *out, void *context, int i,
                   uint64_t left)
{
    const struct levels *l = context;
    struct bm_look look = {.limit = left};
    int rc = bm_refinement_look(&look, l->r, l->first - i,
                                l->from_nothing && i == 0);

    *out = (struct bm_step_cost){look.bytes, look.looked};
    return rc;
}

/* The levels that are still to come. The first of all is the coarsest that has
 * samples in the box. */
static struct levels levels_left(const struct bouma_refinement *r)
{
    struct levels l = {r, r->level - 1, 0};

    if (r->level < r->variable->object->levels)
        return l;
    l.from_nothing = 1;
    while (l.first > 0 && !samples_at(r, l.first))
        l.first--;
    return l;
}

/* Some levels further, the last one measured. */
static int go_on(struct bouma_refinement *r, const struct levels *l, int steps)
{
    int target = l->first + 1 - steps, rc = BOUMA_OK;

    r->measured = 1;
    if (l->from_nothing)
        rc = bm_refinement_go(r, steps > 1 ? target + 1 : target);
    while (!rc && r->level > target)
        rc = bm_refinement_go(r, r->level - 1);
    return rc;
}

static void tell(bouma_answer *out, const struct bouma_refinement *r,
                 const struct bm_reach *reach)
{
    int is_there = r->level < r->variable->object->levels;

    out->complete = r->level == 0;
    out->level = is_there ? r->level : -1;
    out->points = is_there ? samples_at(r, r->level) : 0;
    out->error_is_bound = out->complete;
    out->error = out->complete ? r->variable->in_step.loss.largest : r->error;
    out->limit = reach->limit;
    out->next_bytes = reach->next_bytes;
    out->next_points = reach->next_points;
}

/* Nothing more fits: what it would take. */
static int refuse(const bouma_answer *answer, const struct bouma_refinement *r,
                  const struct bm_reach *reach, const struct bm_budget *budget)
{
    const struct bouma_variable *v = r->variable;
    struct bm_error *error = &r->step->ds->error;
    int level = levels_left(r).first;

    if (answer->limit == BOUMA_LIMIT_POINTS)
        return bm_fail(error, BOUMA_ELIMIT,
                       "level %d of \"%s/%s\" has %" PRIu64
                       " samples in the box, and the budget is %" PRIu64
                       " points",
                       level, v->object->name, v->name, reach->next_points,
                       budget->points);
    return bm_fail(error, BOUMA_ELIMIT,
                   "level %d of \"%s/%s\" takes up to %" PRIu64
                   " bytes, with the heads of its files; the budget is %" PRIu64
                   " bytes",
                   level, v->object->name, v->name,
                   reach->looked + reach->next_bytes, budget->bytes);
}

/* Whether the budget wants no more than what is there. */
static int is_enough(const struct bouma_refinement *r,
                     const struct bm_budget *budget)
{
    return r->level == 0 || (r->level < r->variable->object->levels &&
                             r->error <= budget->error);
}

int bm_refinement_within(bouma_answer *out, struct bouma_refinement *r,
                         const struct bm_budget *budget)
{
    int most = budget->error < 0 ? INT_MAX : 1, taken = 0, rc = BOUMA_OK;
    uint64_t before = bm_dataset_bytes_read(r->step->ds);
    struct bm_budget left = *budget;
    struct bm_reach reach;

    do {
        struct levels l = levels_left(r);
        struct bm_steps steps = {&l, l.first + 1, points_of, cost_of};

        rc = bm_budget_reach(&reach, &steps, &left,
                             is_enough(r, budget) ? 0 : most);
        if (!rc && reach.steps)
            rc = go_on(r, &l, reach.steps);
        taken += reach.steps;
        out->bytes = bm_dataset_bytes_read(r->step->ds) - before;
        if (budget->bytes < UINT64_MAX)
            left.bytes =
                budget->bytes > out->bytes ? budget->bytes - out->bytes : 0;
    } while (!rc && reach.steps && !reach.limit && !is_enough(r, budget));
    if (rc) { /* some levels may have come */
        tell(out, r, &(struct bm_reach){.steps = 0});
        return rc;
    }
    if (r->level && is_enough(r, budget))
        reach.limit = BOUMA_LIMIT_ERROR;
    tell(out, r, &reach);
    return taken || is_enough(r, budget) ? BOUMA_OK
                                         : refuse(out, r, &reach, budget);
}
