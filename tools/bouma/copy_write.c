/* copy_write.c -- bouma copy: the values of a step, read and written. */
#include <stdlib.h>
#include <string.h>

#include "attribute_sets.h"
#include "copy.h"
#include "division.h"
#include "format_text.h"
#include "locate.h"
#include "sized.h"

/* What is borrowed until the step ends. */
struct loan {
    void *values;              /* of a variable of a grid */
    bouma_particle_data *data; /* of a set of particles */
};

struct loans {
    struct loan *list;
    size_t count;
};

static void loans_release(struct loans *loans)
{
    for (size_t i = 0; i < loans->count; i++) {
        free(loans->list[i].values);
        bouma_particle_data_free(loans->list[i].data);
    }
    free(loans->list);
}

/* ---- memory -------------------------------------------------------------- */

/* The samples that this process copies: layers of patches or, if there are
 * fewer of these than processes, of samples. False if it has none. */
static bool part_of(const struct context *ctx, bouma_grid *grid, bouma_box *out)
{
    int size = session_size(ctx->session);
    int64_t layers, thickness, first, last;
    bouma_grid_info about;

    bouma_grid_info_get(SIZED(&about), grid);
    thickness = about.patch[0];
    layers = (about.shape[0] - 1) / thickness + 1;
    if (layers < size) {
        thickness = 1;
        layers = about.shape[0];
    }
    divide_evenly(layers, size, session_rank(ctx->session), &first, &last);
    *out = (bouma_box){{0}, {0}};
    for (int i = 0; i < about.ndims; i++)
        out->hi[i] = about.shape[i];
    out->lo[0] = first * thickness;
    if (last < layers)
        out->hi[0] = last * thickness;
    return first < last;
}

static uint64_t bytes_of(struct context *ctx, const struct entry *entry)
{
    bouma_selection part = {.size = sizeof(part)};
    bouma_box box;

    if (!entry->about.present)
        return 0;
    if (entry->particles)
        return entry->about.raw_bytes / (uint64_t)session_size(ctx->session);
    if (part_of(ctx, entry->grid, &box))
        bouma_variable_select(&part, entry->variable, 0, &box);
    return part.bytes;
}

static int check_memory(const struct copy *copy, struct context *ctx,
                        bouma_step *step, size_t *variables)
{
    struct entry_cursor cursor = copy_entries(copy, step);
    char need[FORMAT_BYTES], limit[FORMAT_BYTES];
    bouma_step_details details;
    uint64_t bytes = 0;
    struct entry entry;

    for (*variables = 0; entry_next(&entry, &cursor); (*variables)++)
        bytes += bytes_of(ctx, &entry);
    if (bytes <= copy->memory_limit)
        return DONE;
    bouma_step_details_get(SIZED(&details), step);
    context_fail(ctx, DATA_AT_FAULT,
                 "step %lld has %s of values for this process, and %s are "
                 "allowed; run bouma-mpi with more processes, copy fewer "
                 "objects, or raise --memory-limit",
                 (long long)details.step, format_bytes(need, bytes),
                 format_bytes(limit, copy->memory_limit));
    ctx->failure.status = BOUMA_ELIMIT;
    return DATA_AT_FAULT;
}

/* ---- values -------------------------------------------------------------- */

static int source_failed(const struct copy *copy, struct context *ctx,
                         int status)
{
    return context_fail_status(ctx, status, bouma_error_message(copy->source));
}

static int put_samples(struct copy *copy, struct context *ctx,
                       const struct entry *entry, struct loans *loans)
{
    struct loan *loan = &loans->list[loans->count];
    bouma_selection part;
    bouma_array array;
    bouma_grid *grid;
    bouma_box box;
    int status;

    if (!part_of(ctx, entry->grid, &box))
        return DONE;
    status = bouma_variable_select(SIZED(&part), entry->variable, 0, &box);
    if (status)
        return source_failed(copy, ctx, status);
    loan->values = malloc(part.bytes);
    if (!loan->values)
        return context_fail_memory(ctx);
    loans->count++;
    array = BOUMA_ARRAY(entry->about.type, loan->values, part.bytes);
    status = bouma_variable_read(entry->variable, 0, &box, &array);
    if (status)
        return source_failed(copy, ctx, status);
    status = bouma_dataset_find_grid(&grid, copy->target.ds, entry->object);
    if (!status)
        status = bouma_variable_put_borrow(
            bouma_grid_find_variable(grid, entry->about.name), &box, &array);
    return status ? import_target_failed(&copy->target, ctx, status) : DONE;
}

/* Hand over a set that is in memory, component by component. */
static int put_set(struct copy *copy, const bouma_particle_data *data,
                   const char *name)
{
    bouma_column *columns = calloc(data->variable_count, sizeof(*columns));
    bouma_array *arrays = calloc(data->variable_count, sizeof(*arrays));
    bouma_particles *set = NULL;
    int status = columns && arrays ? BOUMA_OK : BOUMA_ENOMEM;

    if (!status)
        status = bouma_dataset_find_particles(&set, copy->target.ds, name);
    for (size_t i = 0; !status && i < data->variable_count; i++) {
        bouma_variable_info about;
        size_t value, all;

        bouma_variable_info_get(SIZED(&about), data->variables[i]);
        value = bouma_type_size(about.type);
        all = (size_t)data->count * value;
        arrays[i] = BOUMA_ARRAY(about.type, data->columns[i],
                                all * (size_t)about.components);
        if (about.components > 1)
            arrays[i].component_stride = (int64_t)all;
        columns[i] = (bouma_column){
            sizeof(*columns), bouma_particles_find_variable(set, about.name),
            &arrays[i]};
    }
    if (!status)
        status = bouma_particles_put_borrow(set, data->count, columns,
                                            data->variable_count, NULL);
    free(columns);
    free(arrays);
    return status;
}

/* The variables of a set that are copied: its position, and those that are
 * chosen and there. 'out' has room for all. */
static size_t choose_variables(const struct copy *copy, bouma_step *step,
                               bouma_particles *set, bouma_variable **out)
{
    struct entry_cursor cursor = copy_entries(copy, step);
    struct entry entry;
    size_t count = 1;

    out[0] = bouma_particles_position(set);
    while (entry_next(&entry, &cursor))
        if (entry.particles == set && entry.about.present &&
            entry.variable != out[0])
            out[count++] = entry.variable;
    return count;
}

/* Every process gets an equal share of the particles. Collective. */
static int copy_set(struct copy *copy, struct context *ctx, bouma_step *step,
                    const struct entry *entry, struct loans *loans)
{
    size_t most = (size_t)particle_variable_count(entry->particles);
    bouma_variable **variables = calloc(most, sizeof(*variables));
    bouma_particles_query query = {.size = sizeof(query), .shares = 1};
    struct loan *loan = &loans->list[loans->count];
    int status, rc = variables ? DONE : context_fail_memory(ctx);

    rc = context_agree(ctx, rc);
    if (!rc) {
        query.variables = variables;
        query.variable_count =
            choose_variables(copy, step, entry->particles, variables);
        status = bouma_particles_restart(&loan->data, entry->particles, &query);
        if (status)
            rc = source_failed(copy, ctx, status);
    }
    if (!rc) {
        loans->count++;
        status = put_set(copy, loan->data, entry->object);
        if (status)
            rc = import_target_failed(&copy->target, ctx, status);
    }
    free(variables);
    return context_agree(ctx, rc);
}

/* ---- the step ------------------------------------------------------------ */

static int put_all(struct copy *copy, struct context *ctx, bouma_step *step,
                   struct loans *loans)
{
    struct entry_cursor cursor = copy_entries(copy, step);
    const bouma_particles *set = NULL;
    struct entry entry;
    int rc = DONE;

    while (!rc && entry_next(&entry, &cursor)) {
        if (entry.grid && entry.about.present)
            rc = context_agree(ctx, put_samples(copy, ctx, &entry, loans));
        else if (entry.particles && entry.particles != set)
            rc = copy_set(copy, ctx, step, &entry, loans);
        set = entry.particles;
    }
    return rc;
}

static int begin(struct copy *copy, struct context *ctx, bouma_step *step)
{
    bouma_step_details details;
    int status;

    bouma_step_details_get(SIZED(&details), step);
    status = bouma_step_begin(copy->target.ds, details.step, details.time);
    if (!status)
        status = attributes_copy(bouma_dataset_step_attributes(copy->target.ds),
                                 bouma_step_attributes(step));
    return status ? import_target_failed(&copy->target, ctx, status) : DONE;
}

/* Commit it, or drop it. Collective. */
static int finish(struct copy *copy, struct context *ctx, int rc)
{
    bouma_record record;
    int status;

    if (rc) {
        bouma_step_abort(copy->target.ds);
        return rc;
    }
    status = bouma_step_end(copy->target.ds);
    import_target_tell(&copy->target, ctx);
    if (status)
        return import_target_failed(&copy->target, ctx, status);
    bouma_dataset_record_get(SIZED(&record), copy->target.ds);
    copy->steps++;
    copy->raw_bytes += record.raw_bytes;
    copy->stored_bytes += record.stored_bytes;
    return DONE;
}

int copy_write(struct copy *copy, struct context *ctx, bouma_step *step)
{
    struct loans loans = {0};
    size_t variables = 0;
    int rc = check_memory(copy, ctx, step, &variables);

    if (!rc) {
        loans.list = calloc(variables + 1, sizeof(*loans.list));
        rc = loans.list ? DONE : context_fail_memory(ctx);
    }
    rc = context_agree(ctx, rc);
    if (!rc) {
        rc = context_agree(ctx, begin(copy, ctx, step));
        if (!rc)
            rc = put_all(copy, ctx, step, &loans);
        rc = finish(copy, ctx, rc);
    }
    loans_release(&loans);
    return rc;
}
