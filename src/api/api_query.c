/* api_query.c -- queries of particles. */
#include <math.h>
#include <string.h>

#include "api/column.h"
#include "read/collector.h"

int bm_api_check_alone(const struct bm_criteria *q, const struct bm_object *set)
{
    return q->shares ? bm_fail(set->schema->error, BOUMA_EINVAL,
                               "equal shares are for "
                               "bouma_particles_restart() only")
                     : BOUMA_OK;
}

/* A query of this rank alone; 'asked' is to be released in any case. */
static int ask(struct bm_particle_query *own, struct bm_asked *asked,
               struct bm_object *set, const bouma_particles_query *query)
{
    int rc;

    bm_error_clear(set->schema->error);
    rc = bm_asked_init(asked, set, query);
    *own = (struct bm_particle_query){
        .step = set->schema->step, .set = set, .query = asked->criteria};
    return rc ? rc : bm_api_check_alone(&own->query, set);
}

int bouma_particles_check_where(const bouma_particles *particles,
                                const char *text)
{
    BM_STRICT_MATH;
    const struct bm_object *set;

    if (!particles)
        return BOUMA_EINVAL;
    set = &particles->object;
    bm_error_clear(set->schema->error);
    if (!set->schema->step)
        return bm_api_being_written(set);
    if (!text)
        return bm_fail(set->schema->error, BOUMA_EINVAL,
                       "the text of conditions is NULL");
    return bm_api_check_where(set, text);
}

int bm_api_query(struct bm_particle_query *own)
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
    rc = bm_api_query(own);
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
    struct bm_asked asked;
    struct bm_object *set;
    int rc;

    if (!particles)
        return BOUMA_EINVAL;
    set = &particles->object;
    rc = ask(&own, &asked, set, query);
    if (!rc && !each)
        rc = bm_fail(set->schema->error, BOUMA_EINVAL,
                     "the query has no function to pass particles to");
    own.each = each;
    own.context = user;
    bm_api_enter_step(own.step);
    if (!rc)
        rc = bm_api_query(&own);
    bm_asked_release(&asked, set->schema->a);
    return bm_api_leave_step(own.step, rc);
}

/* The same with a collector, which is to be released, too. */
static int begin(struct bm_particle_query *own, struct bm_collector *c,
                 struct bm_asked *asked, bouma_particles *particles,
                 const bouma_particles_query *query)
{
    struct bm_object *set = &particles->object;
    int rc = ask(own, asked, set, query);

    memset(c, 0, sizeof(*c));
    if (!rc && bm_collector_init(c, set->schema->a, &asked->criteria))
        rc = bm_fail(set->schema->error, BOUMA_ENOMEM,
                     "no memory for particles");
    return rc;
}

static int finish(bouma_particle_data **out, struct bm_collector *c,
                  struct bm_asked *asked, struct bm_object *set, int rc)
{
    if (!rc) {
        *out = bm_collector_finish(c);
        if (!*out)
            rc = bm_fail(set->schema->error, BOUMA_ENOMEM,
                         "no memory for the particles that were found");
    }
    bm_collector_release(c);
    bm_asked_release(asked, set->schema->a);
    return rc;
}

int bouma_particles_read(bouma_particle_data **out, bouma_particles *particles,
                         const bouma_particles_query *query)
{
    BM_STRICT_MATH;
    struct bm_collector c;
    struct bm_particle_query own;
    struct bm_asked asked;
    int rc;

    if (!out || !particles)
        return BOUMA_EINVAL;
    *out = NULL;
    rc = begin(&own, &c, &asked, particles, query);
    bm_api_enter_step(own.step);
    if (!rc)
        rc = collect(&own, &c);
    rc = finish(out, &c, &asked, &particles->object, rc);
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
    struct bm_asked asked;
    struct bm_object *set;
    int rc;

    if (!out || !particles)
        return BOUMA_EINVAL;
    *out = NULL;
    set = &particles->object;
    rc = begin(&own, &c, &asked, particles, query);
    own.draw = &keys;
    c.draw = &keys;
    bm_api_enter_step(own.step);
    if (!rc)
        rc = draw(&own, &c, count);
    if (!rc && bm_collector_thin(&c, count))
        rc =
            bm_fail(set->schema->error, BOUMA_ENOMEM, "no memory for a sample");
    rc = finish(out, &c, &asked, set, rc);
    return bm_api_leave_step(own.step, rc);
}

int bouma_particles_sample_into(uint64_t *drawn, bouma_particles *particles,
                                const bouma_particles_query *query,
                                const bouma_column *columns,
                                size_t column_count, uint64_t count,
                                uint64_t seed)
{
    BM_STRICT_MATH;
    const struct bm_wanted wanted = {query, columns, column_count, count};
    struct bm_draw keys = {.seed = seed};
    struct bm_particle_query own;
    struct bm_collector c = {0};
    struct bm_asked asked;
    struct bm_object *set;
    struct bm_into into;
    int rc;

    if (drawn)
        *drawn = 0;
    if (!drawn || !particles)
        return bm_api_no_output(particles ? particles->object.schema->error
                                          : NULL,
                                "the number of particles");
    set = &particles->object;
    bm_error_clear(set->schema->error);
    rc = bm_api_into(&into, &asked, set, &wanted);
    own = (struct bm_particle_query){.step = set->schema->step,
                                     .set = set,
                                     .query = asked.criteria,
                                     .draw = &keys};
    if (!rc)
        rc = bm_api_check_alone(&own.query, set);
    if (!rc && bm_collector_init(&c, set->schema->a, &asked.criteria))
        rc =
            bm_fail(set->schema->error, BOUMA_ENOMEM, "no memory for a sample");
    c.draw = &keys;
    bm_api_enter_step(own.step);
    if (!rc)
        rc = draw(&own, &c, count);
    if (!rc && bm_collector_thin(&c, count))
        rc =
            bm_fail(set->schema->error, BOUMA_ENOMEM, "no memory for a sample");
    if (!rc)
        rc = bm_into_collected(&into, &c);
    if (!rc)
        *drawn = c.count;
    bm_collector_release(&c);
    bm_api_into_release(&into, &asked);
    return bm_api_leave_step(own.step, rc);
}
