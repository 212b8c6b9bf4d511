/* api_particles_refine.c -- queries of particles that are read from coarse to
 * fine. */
#include "api/api_budget.h"
#include "api/column_overlap.h"
#include "read/particle_refine.h"

int bouma_particles_refinement_open(bouma_particles_refinement **out,
                                    bouma_particles *particles,
                                    const bouma_particles_query *query)
{
    BM_STRICT_MATH;
    struct bm_asked asked;
    struct bm_object *set;
    int rc;

    if (!out || !particles)
        return BOUMA_EINVAL;
    *out = NULL;
    set = &particles->object;
    bm_error_clear(set->schema->error);
    rc = bm_asked_init(&asked, set, query);
    if (!rc)
        rc = bm_api_check_alone(&asked.criteria, set);
    if (!rc) {
        *out =
            bm_particle_refinement_new(set->schema->step, set, &asked.criteria);
        rc = *out ? BOUMA_OK : BOUMA_ENOMEM;
    }
    bm_asked_release(&asked, set->schema->a);
    return rc;
}

/* A budget that particles can have. */
static int check_budget(struct bm_budget *out, struct bm_error *error,
                        const bouma_budget *given, bouma_answer *answer)
{
    int rc = bm_api_budget(out, error, given, answer);

    if (!rc && out->error >= 0)
        rc = bm_fail(error, BOUMA_EINVAL,
                     "a budget for particles has an error, which only grids "
                     "have; give bytes or points");
    return rc;
}

/* bm_particle_refinement_next(), for either result. */
static int go_on(bouma_particle_data **out, struct bm_into *into,
                 bouma_answer *answer, bouma_particles_refinement *refinement,
                 const struct bm_budget *budget)
{
    bouma_step *step = refinement->step;
    double begun = bm_trace_now(step->ds->engine.tracing.trace);
    bouma_answer own = {0};
    int rc;

    bm_api_enter_step(step);
    refinement->calls++;
    rc = bm_particle_refinement_next(out, into, &own, refinement, budget);
    bm_api_tell_answer(answer, &own, rc);
    if (--refinement->calls == 0 && refinement->freed)
        bm_particle_refinement_free(refinement);
    rc = bm_api_traced(step->ds, "refine particles", begun, rc);
    return bm_api_leave_step(step, rc);
}

int bouma_particles_refinement_next(bouma_particle_data **out,
                                    bouma_answer *answer,
                                    bouma_particles_refinement *refinement,
                                    const bouma_budget *budget)
{
    BM_STRICT_MATH;
    struct bm_budget within;
    struct bm_error *error;
    int rc;

    if (!out || !refinement)
        return BOUMA_EINVAL;
    *out = NULL;
    error = &refinement->step->ds->error;
    bm_error_clear(error);
    rc = check_budget(&within, error, budget, answer);
    if (!rc)
        rc = bm_api_check_idle(refinement->step);
    return rc ? rc : go_on(out, NULL, answer, refinement, &within);
}

/* The arrays for the variables of the query; to be released in any case. */
static int take_columns(struct bm_into *into,
                        const bouma_particles_refinement *r,
                        const bouma_column *columns)
{
    size_t count = r->asked.variable_count;
    int rc = BOUMA_OK;

    if (r->asked.order == BOUMA_COMPONENT_ORDER_INTERLEAVED)
        return bm_fail(into->error, BOUMA_EINVAL,
                       "arrays tell how components lie: the query must have no "
                       "order");
    into->columns = bm_new(into->a, count, sizeof(*into->columns));
    if (!into->columns)
        return bm_fail(into->error, BOUMA_ENOMEM, "no memory for columns");
    for (size_t i = 0; i < count && !rc; i++) {
        into->column_count++;
        rc = bm_api_column(&into->columns[i], r->set, columns, i,
                           into->capacity);
        if (!rc && into->columns[i].variable != r->asked.variables[i])
            rc =
                bm_fail(into->error, BOUMA_EINVAL,
                        "column %zu is for \"%s\", where the query has \"%s\": "
                        "give a column for each of its variables, in their "
                        "order",
                        i, into->columns[i].variable->name,
                        r->asked.variables[i]->name);
    }
    return rc ? rc
              : bm_api_columns_apart(into->columns, into->column_count,
                                     into->capacity, into->error);
}

int bouma_particles_refinement_next_into(bouma_answer *answer,
                                         bouma_particles_refinement *refinement,
                                         const bouma_budget *budget,
                                         const bouma_column *columns,
                                         size_t column_count, uint64_t capacity)
{
    BM_STRICT_MATH;
    struct bm_budget within;
    struct bm_error *error;
    struct bm_into into;
    bouma_step *step;
    int rc;

    if (!refinement)
        return BOUMA_EINVAL;
    error = &refinement->step->ds->error;
    bm_error_clear(error);
    if (!answer)
        return bm_api_no_output(error, "an answer");
    rc = check_budget(&within, error, budget, answer);
    if (!rc)
        rc = bm_api_check_idle(refinement->step);
    if (!rc && (!columns || column_count != refinement->asked.variable_count))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "there are %zu columns, and the query has %zu variables",
                     columns ? column_count : 0,
                     refinement->asked.variable_count);
    if (!rc && (!capacity || capacity >= BM_MAX_PARTICLES))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "the arrays have a capacity of %s particles",
                     capacity ? "2^62 or more" : "no");
    if (rc)
        return rc;
    within.points = within.points < capacity ? within.points : capacity;
    into = (struct bm_into){
        .a = refinement->step->ds->a, .error = error, .capacity = capacity};
    step = refinement->step;
    bm_api_enter_step(step); /* what it keeps outlives the refinement */
    rc = take_columns(&into, refinement, columns);
    if (!rc)
        rc = go_on(NULL, &into, answer, refinement, &within);
    for (size_t i = 0; i < into.column_count; i++)
        bm_api_column_release(&into.columns[i], into.a);
    bm_drop(into.a, into.columns);
    bm_drop(into.a, into.room.data);
    return bm_api_leave_step(step, rc);
}
