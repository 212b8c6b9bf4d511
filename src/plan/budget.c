/* budget.c -- see budget.h. */
#include "plan/budget.h"

/* The first step that is not taken, without a look at what it costs. */
static int tell_next(struct bm_reach *out, const struct bm_steps *steps)
{
    struct bm_step_cost cost = {0, 0};
    int rc = BOUMA_OK;

    out->next_bytes = out->next_points = 0;
    if (out->steps == steps->count)
        return BOUMA_OK;
    rc = steps->cost(&cost, steps->context, out->steps, 0);
    out->next_bytes = cost.bytes;
    out->next_points = steps->points(steps->context, out->steps);
    return rc;
}

int bm_budget_reach(struct bm_reach *out, const struct bm_steps *steps,
                    const struct bm_budget *budget, int most)
{
    uint64_t left = budget->bytes;
    int rc = BOUMA_OK;

    *out = (struct bm_reach){.limit = BOUMA_LIMIT_NONE};
    while (out->steps < steps->count && out->steps < most && !out->limit) {
        struct bm_step_cost cost = {0, 0};

        if (steps->points(steps->context, out->steps) > budget->points) {
            out->limit = BOUMA_LIMIT_POINTS;
            break;
        }
        rc = steps->cost(&cost, steps->context, out->steps, left);
        if (rc)
            return rc;
        left -= cost.looked;
        out->looked += cost.looked;
        if (cost.bytes > left) {
            out->limit = BOUMA_LIMIT_BYTES;
            break;
        }
        left -= cost.bytes;
        out->steps++;
    }
    return tell_next(out, steps);
}
