/* api_particles_refine.c -- queries of particles that are read from coarse to
 * fine. */
#include "api/api_budget.h"
#include "api/criteria.h"
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

int bouma_particles_refinement_next(bouma_particle_data **out,
                                    bouma_answer *answer,
                                    bouma_particles_refinement *refinement,
                                    const bouma_budget *budget)
{
    BM_STRICT_MATH;
    bouma_answer own = {0};
    struct bm_budget within;
    bouma_step *step;
    double begun;
    int rc;

    if (!out || !refinement)
        return BOUMA_EINVAL;
    *out = NULL;
    step = refinement->step;
    bm_error_clear(&step->ds->error);
    rc = check_budget(&within, &step->ds->error, budget, answer);
    if (!rc)
        rc = bm_api_check_idle(step);
    if (rc)
        return rc;
    begun = bm_trace_now(step->ds->engine.tracing.trace);
    bm_api_enter_step(step);
    refinement->calls++;
    rc = bm_particle_refinement_next(out, &own, refinement, &within);
    bm_api_tell_answer(answer, &own, rc);
    if (--refinement->calls == 0 && refinement->freed)
        bm_particle_refinement_free(refinement);
    rc = bm_api_traced(step->ds, "refine particles", begun, rc);
    return bm_api_leave_step(step, rc);
}
