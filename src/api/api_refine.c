/* api_refine.c -- boxes that are read from coarse to fine. */
#include "api/api_budget.h"
#include "read/read.h"

static int check_box(struct bm_box *lifted, const bouma_variable *v, int level,
                     const bouma_box *box)
{
    int rc = bm_api_check_readable(lifted, v, level, box);

    if (!rc && !bm_box_volume(lifted))
        rc = bm_fail(v->object->schema->error, BOUMA_EINVAL,
                     "the box is empty: there is nothing to refine");
    return rc;
}

int bouma_refinement_open(bouma_refinement **out, bouma_variable *variable,
                          int level, const bouma_box *box)
{
    BM_STRICT_MATH;
    struct bm_box lifted;
    bouma_step *step;
    int rc;

    if (!out || !variable)
        return BOUMA_EINVAL;
    *out = NULL;
    bm_error_clear(variable->object->schema->error);
    rc = check_box(&lifted, variable, level, box);
    if (rc)
        return rc;
    step = variable->object->schema->step;
    bm_api_enter_step(step);
    rc = bm_refinement_open(out, step, variable, level, &lifted);
    return bm_api_leave_step(step, rc);
}

int bouma_refinement_next(bouma_refinement *refinement)
{
    BM_STRICT_MATH;
    struct bouma_dataset *ds;
    bouma_step *step;
    double begun;
    int rc;

    if (!refinement)
        return BOUMA_EINVAL;
    step = refinement->step;
    ds = step->ds;
    bm_error_clear(&ds->error);
    rc = bm_api_check_idle(step);
    if (rc)
        return rc;
    begun = bm_trace_now(ds->engine.tracing.trace);
    bm_api_enter_step(step);
    refinement->calls++;
    rc = bm_refinement_next(refinement);
    if (--refinement->calls == 0 && refinement->freed)
        bm_refinement_free(refinement);
    rc = bm_api_traced(ds, "refine", begun, rc);
    return bm_api_leave_step(step, rc);
}

int bouma_refinement_get(const void **data, bouma_selection *selection,
                         int *level, const bouma_refinement *refinement)
{
    bouma_box box;
    int rc = BOUMA_OK;

    if (data)
        *data = NULL;
    if (!refinement)
        return BOUMA_EINVAL;
    box = bm_box_lower(&refinement->box, refinement->variable->object->ndims);
    bm_error_clear(&refinement->step->ds->error);
    if (selection)
        rc = bouma_variable_select(selection, refinement->variable,
                                   refinement->level, &box);
    if (rc)
        return rc;
    if (data)
        *data = refinement->data;
    if (level)
        *level = refinement->level;
    return BOUMA_OK;
}

/* ---- within a budget ---------------------------------------------------- */

int bouma_refinement_open_within(bouma_refinement **out, bouma_answer *answer,
                                 bouma_variable *variable, const bouma_box *box,
                                 const bouma_budget *budget)
{
    BM_STRICT_MATH;
    bouma_answer own = {0};
    struct bm_budget within;
    struct bm_box lifted;
    struct bouma_refinement *r;
    bouma_step *step;
    double begun;
    int rc;

    if (!out || !variable)
        return BOUMA_EINVAL;
    *out = NULL;
    bm_error_clear(variable->object->schema->error);
    rc =
        bm_api_budget(&within, variable->object->schema->error, budget, answer);
    if (!rc)
        rc = check_box(&lifted, variable, 0, box);
    if (rc)
        return rc;
    step = variable->object->schema->step;
    begun = bm_trace_now(step->ds->engine.tracing.trace);
    bm_api_enter_step(step);
    r = bm_refinement_new(step, variable, &lifted);
    rc = r ? bm_refinement_within(&own, r, &within) : BOUMA_ENOMEM;
    if (rc)
        bm_refinement_free(r);
    else
        *out = r;
    bm_api_tell_answer(answer, &own, rc);
    rc = bm_api_traced(step->ds, "refine", begun, rc);
    return bm_api_leave_step(step, rc);
}

int bouma_refinement_next_within(bouma_answer *answer,
                                 bouma_refinement *refinement,
                                 const bouma_budget *budget)
{
    BM_STRICT_MATH;
    bouma_answer own = {0};
    struct bm_budget within;
    bouma_step *step;
    double begun;
    int rc;

    if (!refinement)
        return BOUMA_EINVAL;
    step = refinement->step;
    bm_error_clear(&step->ds->error);
    rc = bm_api_budget(&within, &step->ds->error, budget, answer);
    if (!rc)
        rc = bm_api_check_idle(step);
    if (rc)
        return rc;
    begun = bm_trace_now(step->ds->engine.tracing.trace);
    bm_api_enter_step(step);
    refinement->calls++;
    rc = bm_refinement_within(&own, refinement, &within);
    bm_api_tell_answer(answer, &own, rc);
    if (--refinement->calls == 0 && refinement->freed)
        bm_refinement_free(refinement);
    rc = bm_api_traced(step->ds, "refine", begun, rc);
    return bm_api_leave_step(step, rc);
}
