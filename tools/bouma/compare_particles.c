/* compare_particles.c -- the values of two sets of particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_steps.h"
#include "locate.h"
#include "sample_value.h"
#include "sized.h"

/* The variables that both sets have, alike: position is the first, if it is
 * among them. */
struct shared {
    bouma_variable **a, **b;
    bouma_variable_info *about; /* in A */
    size_t count;
};

/* A particle to be sorted. */
struct particle {
    const struct table *table;
    uint64_t number;
};

/* One of the sets in memory. */
struct table {
    const struct shared *shared;
    bouma_particle_data *data;
    struct particle *order; /* [count] */
};

static bouma_value value_of(const struct table *table, size_t variable,
                            int component, uint64_t particle)
{
    return sample_value(table->shared->about[variable].type,
                        table->data->columns[variable],
                        (uint64_t)component * table->data->count + particle);
}

/* ---- order --------------------------------------------------------------- */

/* NaN comes last. */
static int compare_two(bouma_value a, bouma_value b)
{
    if (a.type == BOUMA_TYPE_I64)
        return (a.i > b.i) - (a.i < b.i);
    if (a.type == BOUMA_TYPE_U64)
        return (a.u > b.u) - (a.u < b.u);
    if (isnan(a.f) || isnan(b.f))
        return (isnan(a.f) != 0) - (isnan(b.f) != 0);
    return (a.f > b.f) - (a.f < b.f);
}

static bool is_integer(bouma_type type)
{
    return type != BOUMA_TYPE_F32 && type != BOUMA_TYPE_F64;
}

/* By all integers, then by all reals. */
static int by_values(const void *x, const void *y)
{
    const struct particle *a = x, *b = y;
    const struct shared *shared = a->table->shared;

    for (int real = 0; real < 2; real++)
        for (size_t v = 0; v < shared->count; v++)
            for (int c = 0; is_integer(shared->about[v].type) == !real &&
                            c < shared->about[v].components;
                 c++) {
                int order = compare_two(value_of(a->table, v, c, a->number),
                                        value_of(b->table, v, c, b->number));

                if (order)
                    return order;
            }
    return 0;
}

/* ---- values -------------------------------------------------------------- */

static void locate_particle(struct difference *found, const struct table *a,
                            uint64_t number)
{
    bool known = strcmp(a->shared->about[0].name, "position") == 0;

    found->ndims = known ? a->shared->about[0].components : 0;
    for (int c = 0; c < found->ndims; c++)
        found->position[c] = value_number(value_of(a, 0, c, number));
}

/* Compare a variable in the order of both tables. */
static struct difference compare_column(const struct comparison *comparison,
                                        const struct difference *at,
                                        const struct table *a,
                                        const struct table *b, size_t variable,
                                        double *largest)
{
    const bouma_variable_info *about = &a->shared->about[variable];
    struct difference found = *at;

    found.variable = about->name;
    found.particles = true;
    found.components = about->components;
    found.total = a->data->count * (uint64_t)about->components;
    for (uint64_t i = 0; i < a->data->count; i++)
        for (int c = 0; c < about->components; c++)
            if (compare_values(&found, comparison,
                               value_of(a, variable, c, a->order[i].number),
                               value_of(b, variable, c, b->order[i].number),
                               largest)) {
                found.component = c;
                locate_particle(&found, a, a->order[i].number);
            }
    return found;
}

/* How many values differ in all; *largest is by how much. */
static uint64_t compare_columns(struct difference *found,
                                const struct comparison *comparison,
                                const struct difference *at,
                                const struct table *a, const struct table *b,
                                double *largest)
{
    uint64_t count = 0;

    *largest = 0;
    for (size_t v = 0; v < a->shared->count; v++) {
        found[v] = compare_column(comparison, at, a, b, v, largest);
        count += found[v].count;
    }
    return count;
}

/* First as they are stored; if that is not equal, sorted. What is more alike is
 * told. 'found' has room for twice the variables. */
static void compare_tables(struct comparison *comparison,
                           const struct difference *at, struct table *a,
                           struct table *b, struct difference *found)
{
    size_t variables = a->shared->count;
    double largest, sorted_largest;
    uint64_t count = compare_columns(found, comparison, at, a, b, &largest);

    if (count) {
        struct difference *sorted = found + variables;

        qsort(a->order, a->data->count, sizeof(*a->order), by_values);
        qsort(b->order, b->data->count, sizeof(*b->order), by_values);
        if (compare_columns(sorted, comparison, at, a, b, &sorted_largest) <
            count) {
            found = sorted;
            largest = sorted_largest;
        }
    }
    if (largest > comparison->largest)
        comparison->largest = largest;
    for (size_t v = 0; v < variables; v++) {
        comparison->variables++;
        comparison->values += found[v].total;
        if (found[v].count)
            comparison_tell(comparison, &found[v]);
    }
}

/* ---- both sets ----------------------------------------------------------- */

static int load(struct table *table, struct context *ctx, bouma_dataset *ds,
                bouma_particles *particles, bouma_variable *const *variables)
{
    bouma_particles_query query = {.size = sizeof(query),
                                   .variables = variables,
                                   .variable_count = table->shared->count};
    int status = bouma_particles_read(&table->data, particles, &query);

    if (status)
        return context_fail_status(ctx, status, bouma_error_message(ds));
    table->order = calloc(table->data->count + 1, sizeof(*table->order));
    if (!table->order)
        return context_fail_memory(ctx);
    for (uint64_t i = 0; i < table->data->count; i++)
        table->order[i] = (struct particle){table, i};
    return DONE;
}

static void share(struct shared *shared, bouma_particles *a, bouma_particles *b)
{
    for (int i = 0; i < particle_variable_count(a); i++) {
        bouma_variable_info of_a, of_b = {.size = sizeof(of_b)};
        bouma_variable *mine = particle_variable(a, i), *other;

        bouma_variable_info_get(SIZED(&of_a), mine);
        other = bouma_particles_find_variable(b, of_a.name);
        if (!other)
            continue;
        bouma_variable_info_get(&of_b, other);
        if (!of_a.present || !of_b.present || of_a.type != of_b.type ||
            of_a.components != of_b.components)
            continue;
        shared->a[shared->count] = mine;
        shared->b[shared->count] = other;
        shared->about[shared->count++] = of_a;
    }
}

static int compare_shared(struct comparison *comparison, struct context *ctx,
                          const struct difference *at, bouma_particles *a,
                          bouma_particles *b, const struct shared *shared)
{
    struct table of_a = {.shared = shared}, of_b = {.shared = shared};
    struct difference *found = calloc(2 * shared->count + 1, sizeof(*found));
    int rc = found ? DONE : context_fail_memory(ctx);

    if (!rc)
        rc = load(&of_a, ctx, comparison->a, a, shared->a);
    if (!rc)
        rc = load(&of_b, ctx, comparison->b, b, shared->b);
    if (!rc && of_a.data->count != of_b.data->count)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "%s: the number of particles has changed meanwhile",
                          at->object);
    if (!rc)
        compare_tables(comparison, at, &of_a, &of_b, found);
    bouma_particle_data_free(of_a.data);
    bouma_particle_data_free(of_b.data);
    free(of_a.order);
    free(of_b.order);
    free(found);
    return rc;
}

int compare_particles(struct comparison *comparison, struct context *ctx,
                      const struct difference *at, bouma_particles *a,
                      bouma_particles *b)
{
    size_t most = (size_t)particle_variable_count(a);
    struct shared shared = {.a = calloc(most, sizeof(*shared.a)),
                            .b = calloc(most, sizeof(*shared.b)),
                            .about = calloc(most, sizeof(*shared.about))};
    bool room = shared.a && shared.b && shared.about;
    int rc = room ? DONE : context_fail_memory(ctx);

    if (!rc)
        share(&shared, a, b);
    if (!rc && shared.count)
        rc = compare_shared(comparison, ctx, at, a, b, &shared);
    free(shared.a);
    free(shared.b);
    free(shared.about);
    return rc;
}
