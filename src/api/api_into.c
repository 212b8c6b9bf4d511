/* api_into.c -- particles counted, and read into arrays of the caller. */
#include <string.h>

#include "api/column_overlap.h"

/* The query with the variables of the columns. 'own' is the memory for them. */
static int take_query(bouma_particles_query *q, bouma_variable **own,
                      const struct bm_object *set, const struct bm_wanted *w)
{
    struct bm_error *error = set->schema->error;
    int rc = w->query
                 ? bm_api_copy_spec(error, q, sizeof(*q), w->query,
                                    w->query->size, "bouma_particles_query")
                 : BOUMA_OK;

    if (rc)
        return rc;
    if (q->variables || q->variable_count || q->order)
        return bm_fail(
            error, BOUMA_EINVAL,
            "columns say which variables are read, and in which layout: leave "
            "'variables' and 'order' of the query empty");
    q->size = sizeof(*q);
    for (size_t i = 0; i < w->column_count && !rc; i++) {
        bouma_column c;

        rc = bm_api_copy_element(error, &c, sizeof(c), w->columns, i,
                                 "bouma_column");
        own[i] = rc ? NULL : c.variable;
    }
    q->variables = w->column_count ? own : NULL;
    q->variable_count = w->column_count;
    return rc;
}

int bm_api_into(struct bm_into *into, struct bm_asked *asked,
                const struct bm_object *set, const struct bm_wanted *w)
{
    const bouma_allocator *a = set->schema->a;
    struct bm_error *error = set->schema->error;
    bouma_particles_query q = {.size = sizeof(q)};
    bouma_variable **own;
    int rc;

    memset(asked, 0, sizeof(*asked));
    *into = (struct bm_into){.a = a, .error = error, .capacity = w->capacity};
    if (!w->columns != !w->column_count)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": there are %s; to count only, "
                       "give neither",
                       set->name,
                       w->columns ? "columns, but their number is 0"
                                  : "no columns, but a number of them");
    if (w->capacity >= BM_MAX_PARTICLES)
        return bm_fail(error, BOUMA_ELIMIT,
                       "particles \"%s\": a capacity of 2^62 or more",
                       set->name);
    own = bm_new(a, w->column_count, sizeof(*own));
    into->columns = bm_new(a, w->column_count, sizeof(*into->columns));
    rc = own && into->columns
             ? take_query(&q, own, set, w)
             : bm_fail(error, BOUMA_ENOMEM, "no memory for a query");
    if (!rc)
        rc = bm_asked_init(asked, set, &q);
    bm_drop(a, asked->variables);
    asked->variables = own;
    asked->criteria.variable_count = w->column_count;
    asked->criteria.variables = own;
    for (size_t i = 0; i < w->column_count && !rc; i++) {
        into->column_count++;
        rc = bm_api_column(&into->columns[i], set, w->columns, i, w->capacity);
    }
    return rc ? rc
              : bm_api_columns_apart(into->columns, into->column_count,
                                     w->capacity, error);
}

void bm_api_into_release(struct bm_into *into, struct bm_asked *asked)
{
    for (size_t i = 0; i < into->column_count; i++)
        bm_api_column_release(&into->columns[i], into->a);
    bm_drop(into->a, into->columns);
    bm_drop(into->a, into->room.data);
    bm_asked_release(asked, into->a);
}

/* Not collective. */
static int read_into(uint64_t *count, struct bm_object *set,
                     const struct bm_wanted *wanted)
{
    struct bm_particle_query own;
    struct bm_asked asked;
    struct bm_into into;
    int rc;

    bm_error_clear(set->schema->error);
    rc = bm_api_into(&into, &asked, set, wanted);
    own = (struct bm_particle_query){.step = set->schema->step,
                                     .set = set,
                                     .query = asked.criteria,
                                     .each = bm_into_batch,
                                     .context = &into};
    bm_api_enter_step(own.step);
    if (!rc)
        rc = bm_api_check_alone(&own.query, set);
    if (!rc)
        rc = bm_api_query(&own);
    rc = into.rc ? into.rc : rc;
    if (!rc) { /* another limit would have ended the query before the last */
        *count = into.count;
        rc = bm_into_check(&into, set);
    }
    bm_api_into_release(&into, &asked);
    return bm_api_leave_step(own.step, rc);
}

int bouma_particles_count(uint64_t *count, bouma_particles *particles,
                          const bouma_particles_query *query)
{
    BM_STRICT_MATH;
    struct bm_error *error = particles ? particles->object.schema->error : NULL;
    bouma_particles_query own = {.size = sizeof(own)};
    int rc = BOUMA_OK;

    if (!count)
        return bm_api_no_output(error, "the number of particles");
    *count = 0;
    if (!particles)
        return BOUMA_EINVAL;
    bm_error_clear(error);
    if (query)
        rc = bm_api_copy_spec(error, &own, sizeof(own), query, query->size,
                              "bouma_particles_query");
    own.size = sizeof(own);
    own.variables = NULL;
    own.variable_count = 0;
    own.order = (bouma_component_order)0;
    return rc ? rc
              : read_into(count, &particles->object,
                          &(struct bm_wanted){.query = &own});
}

int bouma_particles_read_into(uint64_t *count, bouma_particles *particles,
                              const bouma_particles_query *query,
                              const bouma_column *columns, size_t column_count,
                              uint64_t capacity)
{
    BM_STRICT_MATH;
    const struct bm_wanted wanted = {query, columns, column_count, capacity};

    if (!count)
        return bm_api_no_output(particles ? particles->object.schema->error
                                          : NULL,
                                "the number of particles");
    *count = 0;
    return particles ? read_into(count, &particles->object, &wanted)
                     : BOUMA_EINVAL;
}
