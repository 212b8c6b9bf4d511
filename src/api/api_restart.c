/* api_restart.c -- particles for all ranks at once. */
#include "api/column.h"
#include "base/hash.h"
#include "read/restart.h"

/* A hash of all that ranks must ask alike. */
static uint64_t hash_query(const struct bm_object *set,
                           const struct bm_criteria *q, int shares)
{
    uint64_t h = bm_hash64(&shares, sizeof(shares), 1);

    h = bm_hash64(&set->schema->step->manifest.step, sizeof(uint64_t), h);
    h = bm_hash64(&set->number, sizeof(set->number), h);
    h = bm_hash64(&q->from, sizeof(q->from), h);
    h = bm_hash64(&q->quality, sizeof(q->quality), h);
    h = bm_hash64(&q->order, sizeof(q->order), h);
    h = bm_hash64(&q->never, sizeof(q->never), h);
    for (size_t i = 0; i < q->variable_count; i++)
        h = bm_hash64(&q->variables[i]->id, sizeof(uint32_t), h);
    for (size_t i = 0; i < q->condition_count; i++) {
        const struct bm_condition *c = &q->conditions[i];

        h = bm_hash64(&c->variable->id, sizeof(uint32_t), h);
        h = bm_hash64(&c->component, sizeof(c->component), h);
        h = bm_hash64(&c->low, sizeof(c->low), h);
        h = bm_hash64(&c->high, sizeof(c->high), h);
        h = bm_hash64(&c->group, sizeof(c->group), h);
    }
    return h;
}

/* How such a call begins. A set that is being written is refused later, where
 * all ranks hear of it. */
static int begin(struct bm_object *set)
{
    int rc;

    bm_error_clear(set->schema->error);
    rc = bm_api_begin(set->schema->dataset, BM_TO_READ);
    return rc || !set->schema->step ? rc
                                    : bm_api_check_together(set->schema->step);
}

/* 'rc' is this rank's status so far. Collective. */
static int read_together(struct bm_restart_out *out, struct bm_object *set,
                         const struct bm_criteria *asked, int shares, int rc)
{
    bouma_dataset *ds = set->schema->dataset;
    double begun;

    rc = bm_comm_begin(ds->comm, "a restart read",
                       rc ? 0 : hash_query(set, asked, shares), NULL, rc,
                       &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc,
                "the ranks ask for different steps, particles, variables, "
                "conditions, qualities or orders of components, or some for a "
                "box and some for a share; only their boxes may differ");
    begun = bm_trace_now(ds->engine.tracing.trace);
    if (!rc)
        rc = bm_restart(out, set->schema->step, set, asked, shares, rc);
    return bm_api_traced(ds, "read for restart", begun, rc);
}

/* 'lacks' names what the caller's pointer is NULL for; NULL: nothing. Collective. */
static int restart(struct bm_restart_out *out, struct bm_object *set,
                   const struct bm_wanted *w, const char *lacks)
{
    struct bm_asked asked;
    bouma_step *step;
    int rc = begin(set);

    if (rc)
        return rc;
    step = set->schema->step;
    bm_api_enter_step(step);
    rc = out->into ? bm_api_into(out->into, &asked, set, w)
                   : bm_asked_init(&asked, set, w->query);
    if (!rc && lacks)
        rc = bm_fail(set->schema->error, BOUMA_EINVAL,
                     "on some rank the pointer for the %s of a restart is NULL",
                     lacks);
    rc = read_together(out, set, &asked.criteria,
                       !w->query || asked.criteria.shares, rc);
    if (out->into)
        bm_api_into_release(out->into, &asked);
    else
        bm_asked_release(&asked, set->schema->a);
    return bm_api_leave_step(step, rc);
}

int bouma_particles_restart(bouma_particle_data **out,
                            bouma_particles *particles,
                            const bouma_particles_query *query)
{
    BM_STRICT_MATH;
    const struct bm_wanted wanted = {.query = query};
    struct bm_restart_out to = {0};
    int rc;

    if (out)
        *out = NULL;
    if (!particles)
        return BOUMA_EINVAL;
    rc = restart(&to, &particles->object, &wanted, out ? NULL : "particles");
    if (out)
        *out = to.data;
    return rc;
}

int bouma_particles_restart_into(uint64_t *count, bouma_particles *particles,
                                 const bouma_particles_query *query,
                                 const bouma_column *columns,
                                 size_t column_count, uint64_t capacity)
{
    BM_STRICT_MATH;
    const struct bm_wanted wanted = {query, columns, column_count, capacity};
    struct bm_into into;
    struct bm_restart_out to = {.into = &into};
    int rc;

    if (count)
        *count = 0;
    if (!particles)
        return BOUMA_EINVAL;
    rc = restart(&to, &particles->object, &wanted,
                 count ? NULL : "number of particles");
    if (count && to.counted)
        *count = into.count;
    return rc;
}
