/* query.c -- queries of particles, for bouma_wasm.h. */
#include <stdlib.h>

#include "dataset.h"

/* Far more than anyone asks for, and what an array of them takes is small. */
enum { MOST_CONDITIONS = 64, MOST_VARIABLES = 4096 };

struct bw_query {
    struct bw_dataset *d;
    bouma_particles *particles;
    bouma_bounds box;
    int has_box, ndims;
    bouma_condition conditions[MOST_CONDITIONS];
    size_t condition_count;
    bouma_variable *variables[MOST_VARIABLES];
    size_t variable_count;
};

struct bw_query *bw_query_new(struct bw_dataset *d, bouma_step *step,
                              const char *particles)
{
    bouma_particles_info about = {.size = sizeof(about)};
    bouma_particles *found = NULL;
    struct bw_query *q;

    bw_begin(d);
    found = bouma_step_find_particles(step, particles);
    if (!found) {
        bw_keep(d, BOUMA_ENOTFOUND);
        return NULL;
    }
    if (bw_keep(d, bouma_particles_info_get(&about, found)))
        return NULL;
    q = calloc(1, sizeof(*q));
    if (!q)
        return bw_fail(d, BOUMA_ENOMEM, "no memory for a query");
    q->d = d;
    q->particles = found;
    q->ndims = about.ndims;
    return q;
}

void bw_query_free(struct bw_query *q)
{
    free(q);
}

int bw_query_box(struct bw_query *q, const double *box, unsigned closed)
{
    bw_begin(q->d);
    q->has_box = 1;
    q->box.axes = BOUMA_AXES_XYZ;
    q->box.closed = closed;
    for (int i = 0; i < q->ndims; i++) {
        q->box.low[i] = box[i];
        q->box.high[i] = box[q->ndims + i];
    }
    return BOUMA_OK;
}

static bouma_variable *find(struct bw_query *q, const char *name)
{
    bouma_variable *v = bouma_particles_find_variable(q->particles, name);

    if (!v)
        bw_keep(q->d, BOUMA_ENOTFOUND);
    return v;
}

int bw_query_where(struct bw_query *q, const char *variable, int component)
{
    bouma_variable *v;

    bw_begin(q->d);
    v = find(q, variable);
    if (!v)
        return q->d->status;
    if (q->condition_count == MOST_CONDITIONS) {
        bw_fail(q->d, BOUMA_ELIMIT, "too many conditions");
        return q->d->status;
    }
    q->conditions[q->condition_count++] = (bouma_condition){
        .size = sizeof(bouma_condition), .variable = v, .component = component};
    return BOUMA_OK;
}

int bw_query_limit(struct bw_query *q, int high, int type, int64_t integer,
                   double real)
{
    bouma_value value = {0};
    bouma_condition *last;

    bw_begin(q->d);
    if (!q->condition_count) {
        bw_fail(q->d, BOUMA_EINVAL, "a limit without a condition");
        return q->d->status;
    }
    if (type == BOUMA_TYPE_I64)
        value = bouma_value_int(integer);
    else if (type == BOUMA_TYPE_U64)
        value = bouma_value_uint((uint64_t)integer);
    else if (type == BOUMA_TYPE_F64)
        value = bouma_value_real(real);
    last = &q->conditions[q->condition_count - 1];
    *(high ? &last->high : &last->low) = value;
    return BOUMA_OK;
}

int bw_query_variable(struct bw_query *q, const char *name)
{
    bouma_variable *v;

    bw_begin(q->d);
    v = find(q, name);
    if (!v)
        return q->d->status;
    if (q->variable_count == MOST_VARIABLES) {
        bw_fail(q->d, BOUMA_ELIMIT, "too many variables");
        return q->d->status;
    }
    q->variables[q->variable_count++] = v;
    return BOUMA_OK;
}

static int add_column(struct bw_dataset *d, const bouma_variable *v)
{
    bouma_variable_info about = {.size = sizeof(about)};
    struct json *j = &d->json;

    if (bw_keep(d, bouma_variable_info_get(&about, v)))
        return d->status;
    json_key(j, NULL);
    json_add(j, "{");
    json_string(j, "name", about.name);
    json_string(j, "type", bouma_type_name(about.type));
    json_integer(j, "components", about.components);
    json_integer(
        j, "bytes",
        (long long)(d->particles->count * bouma_type_size(about.type)) *
            about.components);
    json_add(j, "}");
    return BOUMA_OK;
}

const char *bw_query_run(struct bw_query *q, double from, double quality)
{
    struct bw_dataset *d = q->d;
    bouma_particles_query query = {
        .size = sizeof(query),
        .from = from,
        .quality = quality,
        .box = q->has_box ? &q->box : NULL,
        .conditions = q->condition_count ? q->conditions : NULL,
        .condition_count = q->condition_count,
        .variables = q->variable_count ? q->variables : NULL,
        .variable_count = q->variable_count,
        .order = BOUMA_COMPONENT_ORDER_INTERLEAVED};

    bw_begin(d);
    if (bw_keep(d, bouma_particles_read(&d->particles, q->particles, &query)))
        return NULL;
    json_add(&d->json, "{");
    json_unsigned(&d->json, "count", d->particles->count);
    json_key(&d->json, "columns");
    json_add(&d->json, "[");
    for (size_t i = 0; i < d->particles->variable_count; i++)
        if (add_column(d, d->particles->variables[i]))
            return NULL;
    json_add(&d->json, "]}");
    return bw_answer(d);
}

const void *bw_column(const struct bw_dataset *d, int i)
{
    const bouma_particle_data *found = d->particles;

    return found && i >= 0 && (size_t)i < found->variable_count
               ? found->columns[i]
               : NULL;
}
