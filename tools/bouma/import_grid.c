/* import_grid.c -- bouma import: arrays from files become the variables of one
 * grid in one step. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "division.h"
#include "format_text.h"
#include "import_memory.h"
#include "import_run.h"
#include "import_target.h"
#include "print_json.h"
#include "stopwatch.h"

/* What is needed while the request is carried out. */
struct import {
    struct import_request request;
    struct source *sources;
    int count; /* of sources */
    struct import_target target;
    bouma_record record;
    double seconds;
};

static int open_sources(struct import *import, struct context *ctx)
{
    const struct arguments *args = import->request.args;
    const struct source *first;

    import->sources = calloc((size_t)args->operand_count, sizeof(*first));
    if (!import->sources)
        return context_fail_memory(ctx);
    import->count = args->operand_count;
    first = import->sources;
    for (int i = 0; i < import->count; i++) {
        struct source *source = &import->sources[i];
        int rc = source_open(source, ctx, args->operands[i],
                             &import->request.request);
        char here[FORMAT_BYTES], there[FORMAT_BYTES];

        if (rc)
            return rc;
        if (source->ndims != first->ndims ||
            memcmp(source->shape, first->shape, sizeof(first->shape)) != 0)
            return context_fail(
                ctx, CALL_AT_FAULT,
                "%s has %s samples, but %s has %s; the variables of a grid "
                "have one shape",
                source->path, format_shape(here, source->ndims, source->shape),
                first->path, format_shape(there, first->ndims, first->shape));
    }
    return import_request_shape(&import->request, ctx, first->ndims,
                                first->shape);
}

/* Patches that were asked for and are larger than the grid are cut down. */
static void tell_patch(const struct import *import, const struct context *ctx,
                       const bouma_grid *grid)
{
    const struct import_request *request = &import->request;
    char shape[FORMAT_BYTES], patch[FORMAT_BYTES];
    bouma_grid_info about;
    bool smaller = false;

    bouma_grid_info_get(grid, &about);
    for (int i = 0; i < about.ndims; i++)
        smaller = smaller || about.patch[i] < request->grid.patch[i];
    if (smaller)
        context_note(ctx,
                     "--patch %s is larger than the grid of %s samples; "
                     "patches have %s",
                     arguments_text(request->args, "patch"),
                     format_shape(shape, about.ndims, about.shape),
                     format_shape(patch, about.ndims, about.patch));
}

/* Define all in the target; *grid is the grid. */
static int define_variables(struct import *import, bouma_grid **grid,
                            bouma_variable **variables)
{
    const struct import_request *request = &import->request;
    int status = bouma_grid_define(grid, import->target.ds, request->grid_name,
                                   &request->grid);

    for (int i = 0; !status && i < import->count; i++) {
        bouma_variable_spec spec = request->variable;
        char name[512];

        spec.type = import->sources[i].type;
        spec.components = import->sources[i].components;
        spec.unit = import_request_unit(request, i);
        import_request_name(request, i, name, sizeof(name));
        status = bouma_variable_define(&variables[i], *grid, name, &spec);
    }
    return status;
}

/* Everything that can be refused without the samples, in 'target.ds'. */
static int define_all(void *user, struct context *ctx)
{
    struct import *import = user;
    bouma_variable **variables =
        calloc((size_t)import->count, sizeof(*variables));
    bouma_grid *grid;
    int status = variables ? BOUMA_OK : BOUMA_ENOMEM;

    if (!status)
        status = define_variables(import, &grid, variables);
    if (!status)
        status = bouma_step_begin(import->target.ds, import->request.step,
                                  import->request.time);
    if (!status)
        status = import_target_attributes(&import->target, &import->request);
    free(variables);
    return status ? import_target_failed(&import->target, ctx, status) : DONE;
}

/* Hand over the layers of every variable that are this process's. */
static int put_variables(struct import *import, const struct context *ctx,
                         bouma_variable **variables)
{
    int status = BOUMA_OK;

    for (int i = 0; !status && i < import->count; i++) {
        struct source *source = &import->sources[i];
        int64_t first, last;
        bouma_box box;
        const void *data;

        divide_evenly(source->shape[source->slow_axis],
                      session_size(ctx->session), session_rank(ctx->session),
                      &first, &last);
        if (first == last)
            continue;
        data = source_layers(source, first, last, &box);
        status = bouma_variable_put(variables[i], &box, data, &source->memory);
    }
    return status;
}

/* A process that cannot hand over its part takes the others along before the
 * collective end. */
static int write_step(struct import *import, struct context *ctx)
{
    const struct import_request *request = &import->request;
    bouma_variable **variables =
        calloc((size_t)import->count, sizeof(*variables));
    bouma_grid *grid;
    int status = variables ? BOUMA_OK : BOUMA_ENOMEM;
    int rc = DONE;

    if (!status)
        status = define_variables(import, &grid, variables);
    if (!status)
        tell_patch(import, ctx, grid);
    if (!status)
        status =
            bouma_step_begin(import->target.ds, request->step, request->time);
    if (!status)
        status = import_target_attributes(&import->target, request);
    if (!status)
        status = put_variables(import, ctx, variables);
    if (status)
        rc = import_target_failed(&import->target, ctx, status);
    free(variables);
    rc = context_agree(ctx, rc);
    if (rc) {
        bouma_step_abort(import->target.ds);
        return rc;
    }
    status = bouma_step_end(import->target.ds, &import->record);
    if (!status)
        import_target_tell(&import->target, ctx);
    if (!status)
        import_target_tell_files(ctx, request, &import->record,
                                 "a patch is never cut; --patch makes smaller "
                                 "ones");
    return status ? import_target_failed(&import->target, ctx, status) : DONE;
}

static int write_dataset(struct import *import, struct context *ctx)
{
    int rc = import_target_open(&import->target, ctx, &import->request);

    if (rc)
        return rc;
    rc = import_target_choose_step(&import->target, ctx, &import->request);
    if (!rc)
        rc = write_step(import, ctx);
    return import_target_close(&import->target, ctx, &import->request, rc);
}

static int print_text(const struct import *import)
{
    const struct import_request *request = &import->request;
    const bouma_record *record = &import->record;
    char raw[FORMAT_BYTES], stored[FORMAT_BYTES], ratio[FORMAT_BYTES],
        files[FORMAT_BYTES], seconds[FORMAT_BYTES];

    printf("%s%s: step %" PRId64 ", %s -> %s (%s) in %s, %s\n", request->path,
           import->target.created ? " (new)" : "", request->step,
           format_bytes(raw, record->raw_bytes),
           format_bytes(stored, record->stored_bytes),
           format_ratio(ratio, record->raw_bytes, record->stored_bytes),
           format_count(files, (uint64_t)record->files, "file"),
           format_seconds(seconds, import->seconds));
    return DONE;
}

static int print_object(const struct import *import, struct context *ctx)
{
    const struct import_request *request = &import->request;
    const bouma_record *record = &import->record;
    json_t *root = json_object();
    json_t *names = json_array();
    char name[512];

    for (int i = 0; i < import->count; i++) {
        import_request_name(request, i, name, sizeof(name));
        json_array_append_new(names, json_text(name));
    }
    json_put(root, "dataset", json_text(request->path));
    json_put(root, "created", json_boolean(import->target.created));
    json_put(root, "step", json_integer(request->step));
    json_put(root, "time", json_number(request->time));
    json_put(root, "grid", json_text(request->grid_name));
    json_put(root, "shape",
             json_integers(request->grid.shape, request->grid.ndims));
    json_put(root, "variables", names);
    json_put_record(root, record);
    json_put(root, "seconds", json_number(import->seconds));
    json_put(root, "notes", json_notes(import->target.ds));
    return print_json(ctx, root);
}

int import_grid(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct import import = {0};
    int rc = import_request_read(&import.request, ctx, args);
    uint64_t limit = import_memory_limit(ctx, &import.request.opts);

    if (!rc)
        rc = open_sources(&import, ctx);
    if (!rc)
        rc = import_memory_check_sources(ctx, import.sources, import.count,
                                         limit,
                                         arguments_has(args, "memory-limit"));
    if (!rc)
        rc = import_target_rehearse(&import.target, ctx, define_all, &import);
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = write_dataset(&import, ctx);
    progress_bar_clear(&import.target.bar);
    import.seconds = stopwatch_now() - start;
    if (!rc && context_prints(ctx))
        rc = ctx->json ? print_object(&import, ctx) : print_text(&import);

    bouma_dataset_free(import.target.ds);
    for (int i = 0; i < import.count; i++)
        source_close(&import.sources[i]);
    free(import.sources);
    return rc;
}
