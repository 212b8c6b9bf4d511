/* api_query.c -- queries of particles: checked, completed, run. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "api/api.h"
#include "base/hash.h"
#include "read/collector.h"
#include "read/restart.h"

/* ---- conditions --------------------------------------------------------- */

/* The whole numbers from low to high that the type can have; none if the first
 * comes out above the last. */
static void whole_numbers(bouma_condition *out, bouma_type type, double low,
                          double high)
{
    int is_signed = type <= BOUMA_TYPE_I64;
    double least = is_signed ? -0x1p63 : 0;
    double beyond = is_signed ? 0x1p63 : 0x1p64;

    low = ceil(low);
    high = floor(high);
    if (!(low <= high) || low >= beyond || high < least) {
        if (is_signed) {
            out->low.i = 1;
            out->high.i = 0;
        } else {
            out->low.u = 1;
            out->high.u = 0;
        }
        return;
    }
    if (is_signed) {
        out->low.i = low <= least ? INT64_MIN : (int64_t)low;
        out->high.i = high >= beyond ? INT64_MAX : (int64_t)high;
    } else {
        out->low.u = low <= least ? 0 : (uint64_t)low;
        out->high.u = high >= beyond ? UINT64_MAX : (uint64_t)high;
    }
}

int bouma_condition_set(bouma_condition *out, bouma_variable *variable,
                        int component, double low, double high)
{
    BM_STRICT_MATH;
    struct bm_error *error;

    if (!out)
        return bm_api_no_output(
            variable ? variable->object->schema->error : NULL, "a condition");
    memset(out, 0, sizeof(*out));
    if (!variable)
        return BOUMA_EINVAL;
    error = variable->object->schema->error;
    bm_error_clear(error);
    if (component < 0 || component >= variable->components)
        return bm_fail(error, BOUMA_EINVAL,
                       "variable \"%s/%s\" has %d components, counted from 0; "
                       "none is at place %d",
                       variable->object->name, variable->name,
                       variable->components, component);
    if (isnan(low) || isnan(high))
        return bm_fail(error, BOUMA_EINVAL,
                       "a condition on \"%s/%s\" has NaN as a limit",
                       variable->object->name, variable->name);
    out->variable = variable;
    out->component = component;
    if (bm_type_is_float(variable->type)) {
        out->low.f = low;
        out->high.f = high;
    } else {
        whole_numbers(out, variable->type, low, high);
    }
    return BOUMA_OK;
}

/* ---- queries ------------------------------------------------------------ */

void bouma_particles_query_init(bouma_particles_query *query, size_t size)
{
    size_t least = offsetof(bouma_particles_query, boxed);

    if (!query || size < least)
        return;
    memset(query, 0, size);
    query->size = size;
    query->quality = 1;
}

static int check_condition(const struct bm_object *set,
                           const bouma_condition *c, struct bm_error *error)
{
    const bouma_variable *v = c->variable;

    if (!v || v->object != set)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": a condition's variable is not one "
                       "of theirs",
                       set->name);
    if (c->component < 0 || c->component >= v->components)
        return bm_fail(error, BOUMA_EINVAL,
                       "a condition asks for component %d of \"%s/%s\", which "
                       "has %d",
                       c->component, set->name, v->name, v->components);
    if (bm_type_is_float(v->type) && (isnan(c->low.f) || isnan(c->high.f)))
        return bm_fail(error, BOUMA_EINVAL,
                       "a condition on \"%s/%s\" has NaN as a limit", set->name,
                       v->name);
    if (!v->in_step.present && set->particles)
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "variable \"%s/%s\" is not in this step", set->name,
                       v->name);
    return BOUMA_OK;
}

static int check_query(const struct bm_object *set,
                       const bouma_particles_query *q, struct bm_error *error)
{
    int rc = BOUMA_OK;

    if (!(q->from >= 0) || !(q->quality <= 1) || !(q->from <= q->quality))
        return bm_fail(
            error, BOUMA_EINVAL,
            "a quality from %g to %g; both must be 0 to 1, the lower one first",
            q->from, q->quality);
    for (int d = 0; d < set->ndims && q->boxed; d++)
        if (isnan(q->low[d]) || isnan(q->high[d]))
            return bm_fail(error, BOUMA_EINVAL,
                           "the box has a NaN along axis %d", d);
    if (q->shares && (q->shares != 1 || q->boxed))
        return bm_fail(error, BOUMA_EINVAL,
                       "'shares' is 0 or 1, and goes without a box");
    if (q->closed >> set->ndims)
        return bm_fail(error, BOUMA_EINVAL,
                       "'closed' has bits for axes that particles \"%s\" do "
                       "not have",
                       set->name);
    if (q->condition_count && !q->conditions)
        return bm_fail(error, BOUMA_EINVAL, "the conditions are NULL");
    for (size_t i = 0; i < q->condition_count && !rc; i++)
        rc = check_condition(set, &q->conditions[i], error);
    return rc;
}

static int check_variables(const struct bm_object *set,
                           const bouma_particles_query *q,
                           struct bm_error *error)
{
    for (size_t i = 0; i < q->variable_count; i++) {
        const bouma_variable *v = q->variables[i];

        if (!v || v->object != set)
            return bm_fail(error, BOUMA_EINVAL,
                           "particles \"%s\": a variable that is asked for is "
                           "not one of theirs",
                           set->name);
        if (!v->in_step.present && set->particles)
            return bm_fail(error, BOUMA_ENOTFOUND,
                           "variable \"%s/%s\" is not in this step", set->name,
                           v->name);
        for (size_t k = 0; k < i; k++)
            if (q->variables[k] == v)
                return bm_fail(error, BOUMA_EINVAL,
                               "variable \"%s/%s\" is asked for twice",
                               set->name, v->name);
    }
    return BOUMA_OK;
}

/* A caller's query (may be NULL), complete and checked. *list is to be dropped
 * in any case. */
static int complete(bouma_particles_query *out, bouma_variable ***list,
                    const struct bm_object *set,
                    const bouma_particles_query *given)
{
    struct bm_error *error = set->schema->error;
    int rc = BOUMA_OK;

    *list = NULL;
    bouma_particles_query_init(out, sizeof(*out));
    if (!set->schema->step)
        return bm_fail(error, BOUMA_ESTATE,
                       "particles \"%s\" are being written; open a step to "
                       "read",
                       set->name);
    if (given && !bm_struct_copy(out, sizeof(*out), given, given->size)) {
        bouma_particles_query_init(out, sizeof(*out));
        return bm_fail(error, BOUMA_EINVAL,
                       "the query was not set up with "
                       "bouma_particles_query_init()");
    }
    rc = check_query(set, out, error);
    if (!rc)
        rc = bm_api_check_idle(set->schema->step);
    if (!rc && !out->variables) {
        *list = bm_new(set->schema->a, (size_t)set->count, sizeof(**list));
        if (!*list)
            return bm_fail(error, BOUMA_ENOMEM, "no memory for a query");
        out->variable_count = 0;
        for (int i = 0; i < set->count; i++)
            if (set->variables[i]->in_step.present || !set->particles)
                (*list)[out->variable_count++] = set->variables[i];
        out->variables = *list;
    }
    return rc ? rc : check_variables(set, out, error);
}

/* Only a restart divides particles among ranks. */
static int check_alone(const bouma_particles_query *q,
                       const struct bm_object *set)
{
    return q->shares ? bm_fail(set->schema->error, BOUMA_EINVAL,
                               "equal shares are for "
                               "bouma_particles_restart() only")
                     : BOUMA_OK;
}

static int run(struct bm_particle_query *own)
{
    struct bouma_dataset *ds = own->step->ds;
    double begun = bm_trace_now(ds->engine.tracing.trace);

    return bm_api_traced(ds, "query particles", begun, bm_particle_query(own));
}

/* bm_particle_query() into a collector. */
static int collect(struct bm_particle_query *own, struct bm_collector *c)
{
    struct bm_error *error = &own->step->ds->error;
    int rc;

    own->each = bm_collector_add;
    own->context = c;
    rc = run(own);
    if (rc == BOUMA_EABORTED) { /* which the collector does for memory */
        bm_error_clear(error);
        rc = bm_fail(error, BOUMA_ENOMEM,
                     "no memory for the particles that were found");
    }
    return rc;
}

int bouma_particles_query_run(bouma_particles *particles,
                              const bouma_particles_query *query,
                              int (*each)(void *user, const bouma_batch *batch),
                              void *user)
{
    BM_STRICT_MATH;
    struct bm_particle_query own;
    bouma_variable **list;
    struct bm_object *set;
    int rc;

    if (!particles)
        return BOUMA_EINVAL;
    set = &particles->object;
    bm_error_clear(set->schema->error);
    memset(&own, 0, sizeof(own));
    rc = complete(&own.query, &list, set, query);
    if (!rc)
        rc = check_alone(&own.query, set);
    if (!rc && !each)
        rc = bm_fail(set->schema->error, BOUMA_EINVAL,
                     "a query has no function to hand particles to");
    own.step = set->schema->step;
    own.set = set;
    own.each = each;
    own.context = user;
    bm_api_enter_step(own.step);
    if (!rc)
        rc = run(&own);
    bm_drop(set->schema->a, list);
    return bm_api_leave_step(own.step, rc);
}

/* What is wrong before anything is read: as complete(), with a collector. */
static int begin(struct bm_particle_query *own, struct bm_collector *c,
                 bouma_variable ***list, bouma_particles *particles,
                 const bouma_particles_query *query)
{
    struct bm_object *set = &particles->object;
    int rc;

    bm_error_clear(set->schema->error);
    memset(own, 0, sizeof(*own));
    memset(c, 0, sizeof(*c));
    rc = complete(&own->query, list, set, query);
    if (!rc)
        rc = check_alone(&own->query, set);
    own->step = set->schema->step;
    own->set = set;
    if (!rc && bm_collector_init(c, set->schema->a, own->query.variables,
                                 own->query.variable_count))
        rc = bm_fail(set->schema->error, BOUMA_ENOMEM,
                     "no memory for particles");
    return rc;
}

static int finish(bouma_particle_data **out, struct bm_collector *c,
                  bouma_variable **list, struct bm_object *set, int rc)
{
    if (!rc) {
        *out = bm_collector_finish(c);
        if (!*out)
            rc = bm_fail(set->schema->error, BOUMA_ENOMEM,
                         "no memory for the particles that were found");
    }
    bm_collector_release(c);
    bm_drop(set->schema->a, list);
    return rc;
}

int bouma_particles_read(bouma_particle_data **out, bouma_particles *particles,
                         const bouma_particles_query *query)
{
    BM_STRICT_MATH;
    struct bm_collector c;
    struct bm_particle_query own;
    bouma_variable **list;
    int rc;

    if (!out || !particles)
        return BOUMA_EINVAL;
    *out = NULL;
    rc = begin(&own, &c, &list, particles, query);
    bm_api_enter_step(own.step);
    if (!rc)
        rc = collect(&own, &c);
    rc = finish(out, &c, list, &particles->object, rc);
    return bm_api_leave_step(own.step, rc);
}

/* ---- samples ------------------------------------------------------------ */

/* So many of all particles that 'count' of them are hardly missed. */
static uint64_t some_more(uint64_t count)
{
    return count + count / 20 + 4 * (uint64_t)sqrt((double)count) + 1;
}

/* The key that a share of all keys lies below, if it is less than 1. */
static uint64_t key_at(double share)
{
    return (uint64_t)(share * 0x1p64);
}

/* Of all particles, look at a share that has enough of them if all match, and
 * at more of them as long as too few were found. The even sample takes the
 * share by quality; the others by key, so that what is in them depends on keys
 * only, and not on the shares. */
static int draw(struct bm_particle_query *own, struct bm_collector *c,
                uint64_t count)
{
    uint64_t all = own->set->particles;
    uint64_t wanted = some_more(count < all ? count : all);
    double share = all ? (double)wanted / (double)all : 1, before = 0;
    int even = own->draw->seed == 0, rc = BOUMA_OK;

    while (!rc && count && before < 1) {
        uint64_t factor = c->count ? wanted / c->count + 1 : 8;

        if (before > 0)
            share = before * (double)(factor < 8 ? factor : 8);
        share = fmin(share, 1);
        own->query.from = even ? before : 0;
        own->query.quality = even ? share : 1;
        own->draw->first = even ? 0 : key_at(before);
        own->draw->last = even || share >= 1 ? UINT64_MAX : key_at(share) - 1;
        rc = collect(own, c);
        before = c->count >= count ? 1 : share;
    }
    return rc;
}

int bouma_particles_sample(bouma_particle_data **out,
                           bouma_particles *particles,
                           const bouma_particles_query *query, uint64_t count,
                           uint64_t seed)
{
    BM_STRICT_MATH;
    struct bm_draw keys = {.seed = seed};
    struct bm_collector c;
    struct bm_particle_query own;
    bouma_variable **list;
    struct bm_object *set;
    int rc;

    if (!out || !particles)
        return BOUMA_EINVAL;
    *out = NULL;
    set = &particles->object;
    rc = begin(&own, &c, &list, particles, query);
    own.draw = &keys;
    c.draw = &keys;
    bm_api_enter_step(own.step);
    if (!rc)
        rc = draw(&own, &c, count);
    if (!rc && bm_collector_thin(&c, count))
        rc =
            bm_fail(set->schema->error, BOUMA_ENOMEM, "no memory for a sample");
    rc = finish(out, &c, list, set, rc);
    return bm_api_leave_step(own.step, rc);
}

/* ---- restart ------------------------------------------------------------ */

/* A hash of all that ranks must ask alike. */
static uint64_t hash_query(const struct bm_object *set,
                           const bouma_particles_query *q, int shares)
{
    uint64_t h = bm_hash64(&shares, sizeof(shares), 1);

    h = bm_hash64(&set->schema->step->manifest.step, sizeof(uint64_t), h);
    h = bm_hash64(&set->number, sizeof(set->number), h);
    h = bm_hash64(&q->from, sizeof(q->from), h);
    h = bm_hash64(&q->quality, sizeof(q->quality), h);
    for (size_t i = 0; i < q->variable_count; i++)
        h = bm_hash64(&q->variables[i]->id, sizeof(uint32_t), h);
    for (size_t i = 0; i < q->condition_count; i++) {
        const bouma_condition *c = &q->conditions[i];

        h = bm_hash64(&c->variable->id, sizeof(uint32_t), h);
        h = bm_hash64(&c->component, sizeof(c->component), h);
        h = bm_hash64(&c->low, sizeof(c->low), h);
        h = bm_hash64(&c->high, sizeof(c->high), h);
    }
    return h;
}

int bouma_particles_restart(bouma_particle_data **out,
                            bouma_particles *particles,
                            const bouma_particles_query *query)
{
    BM_STRICT_MATH;
    bouma_particles_query own;
    bouma_variable **list = NULL;
    struct bm_object *set;
    bouma_dataset *ds;
    bouma_step *step;
    double begun;
    int rc, shares;

    if (out)
        *out = NULL;
    if (!particles)
        return BOUMA_EINVAL;
    set = &particles->object;
    ds = set->schema->dataset;
    bm_error_clear(set->schema->error);
    step = set->schema->step;
    if (!step)
        return bm_fail(set->schema->error, BOUMA_ESTATE,
                       "particles \"%s\" are being written; open a step to "
                       "read",
                       set->name);
    rc = bm_api_begin(ds, BM_TO_READ);
    if (!rc)
        rc = bm_api_check_together(step);
    if (rc)
        return rc;
    rc = complete(&own, &list, set, query);
    if (!rc && !out)
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "a rank has no place for the particles of a restart");
    shares = !query || own.shares;
    rc = bm_comm_begin(ds->comm, "a restart read",
                       rc ? 0 : hash_query(set, &own, shares), NULL, rc,
                       &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc,
                "the ranks ask for different steps, particles, variables, "
                "conditions or qualities, or some for a box and some for a "
                "share; only their boxes may differ");
    begun = bm_trace_now(ds->engine.tracing.trace);
    bm_api_enter_step(step);
    if (!rc)
        rc = bm_restart(out, step, set, &own, shares, rc);
    bm_drop(set->schema->a, list);
    rc = bm_api_traced(ds, "read for restart", begun, rc);
    return bm_api_leave_step(step, rc);
}
