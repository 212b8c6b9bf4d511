/* import_grid.c -- bouma import: arrays from files become the variables of one
 * grid in one step, or in several if a file lists them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format_text.h"
#include "import_memory.h"
#include "import_run.h"
#include "import_target.h"
#include "importer.h"
#include "print_json.h"
#include "sized.h"
#include "stopwatch.h"

/* A step that was written. */
struct written {
    int64_t step;
    double time;
    bouma_record record;
};

/* What is needed while the request is carried out. */
struct import {
    struct import_request request;
    struct grid_series series; /* if the request says so: it has the sources */
    struct source *sources;
    int count; /* of sources */
    struct import_target target;
    int rehearses; /* whether that can be defined */
    bouma_grid *grid;
    bouma_variable **variables; /* [count] */
    struct written *steps;      /* [step_count] */
    size_t step_count;
    double seconds;
};

/* What is not asked for is as it was there. */
static void keep_order(bouma_grid_spec *grid, const struct grid_series *series)
{
    if (!grid->hz_template)
        grid->hz_template = series->hz_template;
    if (!grid->hz_block_bits)
        grid->hz_block_bits = series->hz_block_bits;
    if (!grid->hz_blocks_per_file)
        grid->hz_blocks_per_file = series->hz_blocks_per_file;
}

/* What the file says of positions, unless the command line does. */
static int open_series(struct import *import, struct context *ctx)
{
    struct import_request *request = &import->request;
    struct grid_series *series = &import->series;
    int rc = grid_series_open(series, ctx, request->args->operands[0],
                              request->args);

    if (rc)
        return rc;
    import->sources = series->sources;
    import->count = series->source_count;
    request->step = series->steps[0];
    rc = import_request_shape(request, ctx, series->sources[0].ndims,
                              series->sources[0].shape);
    for (int i = 0; i < request->grid.ndims; i++) {
        if (!request->origins)
            request->grid.origin[i] = series->origin[i];
        if (!request->spacings)
            request->grid.spacing[i] = series->spacing[i];
    }
    if (request->grid.layout == BOUMA_LAYOUT_HZ && *series->hz_template)
        keep_order(&request->grid, series);
    return rc;
}

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
    bouma_grid_info about = {.size = sizeof(about)};
    bool smaller = false;

    bouma_grid_info_get(&about, grid);
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

/* Blocks along the curve are filled up, and take more than the samples did. How
 * many that are is known if all blocks are of one size. */
static void tell_padding(const struct import *import, const struct context *ctx,
                         const bouma_record *record)
{
    char stored[FORMAT_BYTES], raw[FORMAT_BYTES];
    uint64_t samples = 1, filled;
    bouma_grid_info about = {.size = sizeof(about)};

    bouma_grid_info_get(&about, import->grid);
    if (about.layout != BOUMA_LAYOUT_HZ ||
        about.hz_order != BOUMA_HZ_ORDER_CURVE ||
        about.hz_index == BOUMA_HZ_INDEX_LOCAL ||
        record->stored_bytes <= record->raw_bytes)
        return;
    for (int i = 0; i < about.ndims; i++)
        samples *= (uint64_t)about.shape[i];
    filled = (uint64_t)about.patches << about.hz_block_bits;
    if (filled > samples)
        context_note(ctx,
                     "%s fills up blocks at the border: %" PRIu64
                     " samples are stored for the %" PRIu64
                     " of the grid, %s for %s; %s",
                     about.idx ? "--idx" : "--hz-order hz", filled, samples,
                     format_bytes(stored, record->stored_bytes),
                     format_bytes(raw, record->raw_bytes),
                     about.idx ? "a smaller --hz-block-bits stores less padding"
                               : "--hz-order rows stores no padding");
}

/* In global index space as many files as there are partitions are shared by
 * several, and written by all ranks. */
static void tell_shared_files(const struct import *import,
                              const struct context *ctx,
                              const bouma_record *record)
{
    const bouma_grid_spec *grid = &import->request.grid;

    if (grid->hz_partitions > 1 && grid->hz_index != BOUMA_HZ_INDEX_LOCAL &&
        record->files <= grid->hz_partitions)
        context_note(ctx,
                     "--hz-partitions %d has no effect: all ranks write all "
                     "files, as partitions share them; a smaller "
                     "--hz-blocks-per-file makes more files",
                     grid->hz_partitions);
}

static void variable_name(const struct import *import, int i, char *out,
                          size_t bytes)
{
    if (import->sources[i].name)
        snprintf(out, bytes, "%s", import->sources[i].name);
    else
        import_request_name(&import->request, i, out, bytes);
}

/* Whether the sources can be variables of a grid that the step has. */
static int check_grid(const struct import *import, struct context *ctx,
                      bouma_grid *grid)
{
    static const char *const new_only[] = {"patch", "levels", "spacing",
                                           "origin", "length-unit"};
    const struct import_request *request = &import->request;
    bouma_grid_info info = {.size = sizeof(info)};
    char here[FORMAT_BYTES], there[FORMAT_BYTES];

    bouma_grid_info_get(&info, grid);
    if (info.ndims != request->grid.ndims ||
        memcmp(info.shape, request->grid.shape, sizeof(info.shape)) != 0)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "%s has %s samples, but grid \"%s\" of step %" PRId64 " has %s",
            import->sources[0].path,
            format_shape(here, request->grid.ndims, request->grid.shape),
            request->grid_name, request->step,
            format_shape(there, info.ndims, info.shape));
    for (size_t i = 0; i < sizeof(new_only) / sizeof(*new_only); i++)
        if (arguments_has(request->args, new_only[i]))
            return context_fail(ctx, CALL_AT_FAULT,
                                "grid \"%s\" of step %" PRId64
                                " is there already, so --%s has no meaning; "
                                "it is for a new grid",
                                request->grid_name, request->step, new_only[i]);
    return DONE;
}

/* Define a grid as a step has it, without its variables: those that it defines
 * and does not have are added as the options say. */
static int define_again(bouma_grid **out, bouma_dataset *ds,
                        const bouma_grid *grid)
{
    bouma_grid_info info = {.size = sizeof(info)};
    bouma_grid_spec spec = {.size = sizeof(spec)};

    bouma_grid_info_get(&info, grid);
    spec.ndims = info.ndims;
    spec.levels = info.levels;
    spec.unit = info.unit;
    spec.layout = info.layout;
    memcpy(spec.shape, info.shape, sizeof(spec.shape));
    memcpy(spec.origin, info.origin, sizeof(spec.origin));
    memcpy(spec.spacing, info.spacing, sizeof(spec.spacing));
    if (info.layout == BOUMA_LAYOUT_HZ) {
        spec.hz_template = info.hz_template;
        spec.hz_block_bits = info.hz_block_bits;
        spec.hz_blocks_per_file = info.hz_blocks_per_file;
        spec.hz_order = info.hz_order;
        spec.hz_partitions = info.hz_partitions;
        spec.hz_index = info.hz_index;
        spec.hz_wavelet = info.hz_wavelet;
        spec.hz_tile_bits = info.hz_tile_bits;
        spec.idx = info.idx;
    } else {
        memcpy(spec.patch, info.patch, sizeof(spec.patch));
    }
    return bouma_grid_define(out, ds, info.name, &spec);
}

/* The grid of the step that is added to, if it has one of that name, is defined
 * as it is there. */
static int adopt_grid(struct import *import, struct context *ctx)
{
    struct import_request *request = &import->request;
    bouma_dataset *ds = import->target.ds;
    bouma_step *step;
    bouma_grid *grid;
    int rc, status = bouma_step_open(&step, ds, request->step);

    if (status)
        return import_target_failed(&import->target, ctx, status);
    grid = bouma_step_find_grid(step, request->grid_name);
    rc = grid ? check_grid(import, ctx, grid) : DONE;
    if (!rc && grid)
        status = define_again(&import->grid, ds, grid);
    bouma_step_free(step);
    return status ? import_target_failed(&import->target, ctx, status) : rc;
}

/* Define all in the target, but for a grid that is there. */
static int define_variables(struct import *import)
{
    const struct import_request *request = &import->request;
    const struct grid_series *series = &import->series;
    bouma_grid_spec grid = request->grid;
    int status = BOUMA_OK;

    /* One process rehearses for all; what else is wrong with partitions does
     * not depend on the index, but IDX has none of its own for each. */
    if (import->rehearses && grid.hz_partitions > 1 && !grid.idx)
        grid.hz_index = BOUMA_HZ_INDEX_LOCAL;
    else if (import->rehearses && grid.hz_index != BOUMA_HZ_INDEX_LOCAL)
        grid.hz_partitions = 0;
    if (!import->grid)
        status = bouma_grid_define(&import->grid, import->target.ds,
                                   request->grid_name, &grid);
    if (!status && request->series)
        status = series->importer->describe_series(series, import->grid);
    for (int i = 0; !status && i < import->count; i++) {
        bouma_variable_spec spec = request->variable;
        char name[512];

        spec.type = import->sources[i].type;
        spec.components = import->sources[i].components;
        spec.unit = import_request_unit(request, i);
        variable_name(import, i, name, sizeof(name));
        /* That the step has data of it is told at the end. */
        status = bouma_variable_define(&import->variables[i], import->grid,
                                       name, &spec);
    }
    return status;
}

/* Everything that can be refused without the samples, in 'target.ds'. */
static int define_all(void *user, struct context *ctx)
{
    struct import *import = user;
    int status = define_variables(import);

    if (!status)
        status = bouma_step_begin(import->target.ds, import->request.step,
                                  import->request.time);
    if (!status)
        status = import_target_attributes(&import->target, &import->request);
    return status ? import_target_failed(&import->target, ctx, status) : DONE;
}

/* Hand over the layers of every variable that are this process's. */
static int put_variables(struct import *import, const struct context *ctx)
{
    int status = BOUMA_OK;

    for (int i = 0; !status && i < import->count; i++) {
        struct source *source = &import->sources[i];
        int64_t first, last;
        bouma_box box;
        bouma_array array;

        source_part(source, ctx, &first, &last);
        if (first == last)
            continue;
        array = source_layers(source, first, last, &box);
        status = bouma_variable_put_borrow(import->variables[i], &box, &array);
    }
    return status;
}

/* A process that cannot hand over its part takes the others along before the
 * collective end. */
static int write_step(struct import *import, struct context *ctx)
{
    const struct import_request *request = &import->request;
    struct written *out = &import->steps[import->step_count];
    int status = import_target_begin(&import->target, request);
    int rc = DONE;

    if (!status)
        status = import_target_attributes(&import->target, request);
    if (!status)
        status = put_variables(import, ctx);
    if (status)
        rc = import_target_failed(&import->target, ctx, status);
    rc = context_agree(ctx, rc);
    if (rc) {
        bouma_step_abort(import->target.ds);
        return rc;
    }
    *out = (struct written){.step = request->step, .time = request->time};
    status = bouma_step_end(import->target.ds);
    bouma_dataset_record_get(SIZED(&out->record), import->target.ds);
    if (status)
        return import_target_failed(&import->target, ctx, status);
    import_target_tell(&import->target, ctx);
    if (import->step_count == 0) {
        tell_padding(import, ctx, &out->record);
        tell_shared_files(import, ctx, &out->record);
    }
    if (import->step_count++ == 0 && request->grid.layout != BOUMA_LAYOUT_HZ)
        import_target_tell_files(ctx, request, &out->record,
                                 "a patch is never cut; --patch makes smaller "
                                 "ones");
    return DONE;
}

/* Steps that a file lists have its numbers. */
static int write_series(struct import *import, struct context *ctx)
{
    struct import_request *request = &import->request;
    struct grid_series *series = &import->series;
    int rc = DONE;

    for (size_t i = 0; !rc && i < series->step_count; i++) {
        rc = series->importer->load_series(series, ctx, i);
        request->step = series->steps[i];
        if (!request->time_given)
            request->time = (double)request->step;
        if (!rc)
            rc = write_step(import, ctx);
    }
    return rc;
}

static int write_dataset(struct import *import, struct context *ctx)
{
    int status, rc = import_target_open(&import->target, ctx, &import->request);

    if (rc)
        return rc;
    if (!import->request.series)
        rc = import_target_choose_step(&import->target, ctx, &import->request);
    if (!rc && import->request.adds)
        rc = adopt_grid(import, ctx);
    status = rc ? BOUMA_OK : define_variables(import);
    if (status)
        rc = import_target_failed(&import->target, ctx, status);
    rc = context_agree(ctx, rc);
    if (!rc) {
        tell_patch(import, ctx, import->grid);
        rc = import->request.series ? write_series(import, ctx)
                                    : write_step(import, ctx);
    }
    return import_target_close(&import->target, ctx, &import->request, rc);
}

static int print_text(const struct import *import)
{
    const struct import_request *request = &import->request;
    const struct written *last = &import->steps[import->step_count - 1];
    char raw[FORMAT_BYTES], stored[FORMAT_BYTES], ratio[FORMAT_BYTES],
        files[FORMAT_BYTES], seconds[FORMAT_BYTES];
    uint64_t raw_bytes = 0, stored_bytes = 0, file_count = 0;

    for (size_t i = 0; i < import->step_count; i++) {
        raw_bytes += import->steps[i].record.raw_bytes;
        stored_bytes += import->steps[i].record.stored_bytes;
        file_count += (uint64_t)import->steps[i].record.files;
    }
    printf("%s%s: ", request->path, import->target.created ? " (new)" : "");
    if (import->step_count == 1)
        printf("step %" PRId64, last->step);
    else
        printf("%zu steps, %" PRId64 " to %" PRId64, import->step_count,
               import->steps[0].step, last->step);
    printf(", %s -> %s (%s) in %s, %s\n", format_bytes(raw, raw_bytes),
           format_bytes(stored, stored_bytes),
           format_ratio(ratio, raw_bytes, stored_bytes),
           format_count(files, file_count, "file"),
           format_seconds(seconds, import->seconds));
    return DONE;
}

static void put_step(json_t *object, const struct written *step)
{
    json_put(object, "step", json_integer(step->step));
    json_put(object, "time", json_number(step->time));
    json_put_record(object, &step->record);
}

/* The last step is told twice, so that scripts for one need not look into the
 * list. */
static int print_object(const struct import *import, struct context *ctx)
{
    const struct import_request *request = &import->request;
    json_t *root = json_object();
    json_t *names = json_array(), *steps = json_array();
    char name[512];

    for (int i = 0; i < import->count; i++) {
        variable_name(import, i, name, sizeof(name));
        json_array_append_new(names, json_text(name));
    }
    for (size_t i = 0; i < import->step_count; i++) {
        json_t *object = json_object();

        put_step(object, &import->steps[i]);
        json_array_append_new(steps, object);
    }
    json_put(root, "dataset", json_text(request->path));
    json_put(root, "created", json_boolean(import->target.created));
    json_put(root, "grid", json_text(request->grid_name));
    json_put(root, "shape",
             json_integers(request->grid.shape, request->grid.ndims));
    json_put(root, "variables", names);
    put_step(root, &import->steps[import->step_count - 1]);
    json_put(root, "steps", steps);
    json_put(root, "seconds", json_number(import->seconds));
    json_put(root, "notes", json_notes(import->target.ds));
    return print_json(ctx, root);
}

/* Room for what is defined and written. */
static int make_room(struct import *import, struct context *ctx)
{
    size_t steps = import->request.series ? import->series.step_count : 1;

    import->variables =
        calloc((size_t)import->count, sizeof(*import->variables));
    import->steps = calloc(steps, sizeof(*import->steps));
    return import->variables && import->steps ? DONE : context_fail_memory(ctx);
}

static int prepare(struct import *import, struct context *ctx)
{
    const struct arguments *args = import->request.args;
    uint64_t limit = import_memory_limit(ctx, &import->request.opts);
    int rc = import->request.series ? open_series(import, ctx)
                                    : open_sources(import, ctx);

    if (!rc && import->request.adds && import->request.series)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "%s lists steps of its own; `bouma add` takes files "
                          "of one step",
                          args->operands[0]);
    if (!rc)
        rc = import_memory_check_sources(ctx, import->sources, import->count,
                                         limit,
                                         arguments_has(args, "memory-limit"));
    if (!rc)
        rc = make_room(import, ctx);
    import->rehearses = 1;
    if (!rc)
        rc = import_target_rehearse(&import->target, ctx, define_all, import);
    import->rehearses = 0;
    import->grid = NULL; /* of what is no more */
    rc = context_agree(ctx, rc);
    if (!rc && import->request.series)
        rc = import->series.importer->check_series(&import->series, ctx);
    return rc;
}

static void release(struct import *import)
{
    bouma_dataset_free(import->target.ds);
    if (import->request.series) {
        grid_series_close(&import->series);
    } else {
        for (int i = 0; i < import->count; i++)
            source_close(&import->sources[i]);
        free(import->sources);
    }
    free(import->variables);
    free(import->steps);
}

int import_grid(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct import import = {0};
    int rc =
        context_agree(ctx, import_request_read(&import.request, ctx, args));

    if (!rc)
        rc = prepare(&import, ctx);
    if (!rc)
        rc = write_dataset(&import, ctx);
    progress_bar_clear(&import.target.bar);
    import.seconds = stopwatch_now() - start;
    if (!rc && context_prints(ctx))
        rc = ctx->json ? print_object(&import, ctx) : print_text(&import);
    release(&import);
    return rc;
}
