/* cmd_import.c -- bouma import: put arrays from files into a dataset, as the
 * variables of one grid in one step. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "attribute_value.h"
#include "choice_names.h"
#include "division.h"
#include "format_text.h"
#include "import_request.h"
#include "print_json.h"
#include "progress_bar.h"
#include "source.h"
#include "stopwatch.h"

static const struct option_spec options[] = {
    {.name = "into",
     .argument = "DS",
     .help = "the dataset; made if there is none (required)"},
    {.name = "step",
     .argument = "N",
     .help = "number of the step; default: one after the last"},
    {.name = "time", .argument = "T", .help = "its time; default: its number"},
    {.name = "replace", .field = "replace", .help = "write over such a step"},
    {.name = "force",
     .field = "force",
     .help = "although another writer seems to be at work"},
    {.name = "grid",
     .argument = "NAME",
     .help = "name of the grid; default: grid"},
    {.name = "var",
     .argument = "NAME",
     .many = true,
     .help = "name of a variable, for each SRC; default: the file's"},
    {.name = "shape",
     .argument = "NZ,NY,NX",
     .help = "samples along each axis, slowest first (for .raw)"},
    {.name = "type",
     .argument = "TYPE",
     .choices = TYPES,
     .help = "type of the values (for .raw)"},
    {.name = "components",
     .argument = "N",
     .help = "values a sample: the last axis of a .npy file"},
    {.name = "codec",
     .argument = "CODEC",
     .choices = CHOICES(BOUMA_CODEC_LIST),
     .help = "how values are stored; default: interp with a tolerance, zstd "
             "without"},
    {.name = "tolerance",
     .argument = "E",
     .help = "largest error of any value; without one, every bit is kept"},
    {.name = "relative",
     .argument = "E",
     .help = "the same, as a part of the range of the variable's values"},
    {.name = "codec-level",
     .argument = "N",
     .help = "effort of zstd, 1 to 22; default: 1"},
    {.name = "nominal",
     .help = "wavelet: a tolerance of coefficients, not checked; faster"},
    {.name = "patch",
     .argument = "P[,P,P]",
     .help = "samples of a patch along each axis, powers of two"},
    {.name = "levels", .argument = "L", .help = "levels of resolution"},
    {.name = "order",
     .argument = "ORDER",
     .choices = CHOICES(BOUMA_ORDER_LIST),
     .field = "order",
     .help = "coarse levels first, or each chunk's together"},
    {.name = "spacing",
     .argument = "S[,S,S]",
     .help = "distance of samples along each axis"},
    {.name = "origin",
     .argument = "Z,Y,X",
     .help = "position of the first sample"},
    {.name = "length-unit", .argument = "UNIT", .help = "unit of positions"},
    {.name = "unit",
     .argument = "UNIT",
     .many = true,
     .help = "unit of values, for all variables or one for each"},
    {.name = "attr",
     .argument = "NAME=VALUE",
     .many = true,
     .help = "a remark on the step; numbers are kept as such"},
    {.name = "files",
     .argument = "F",
     .field = "files",
     .help = "number of files; default: by bytes and processes"},
    {.name = "file-size",
     .argument = "BYTES",
     .field = "file_size",
     .help = "wanted size of a file, such as 64M"},
    {.name = "distribute",
     .argument = "SCHEME",
     .choices = CHOICES(BOUMA_DISTRIBUTE_LIST),
     .field = "distribute",
     .help = "which process puts a patch together"},
    {.name = "assign",
     .argument = "SCHEME",
     .choices = CHOICES(BOUMA_ASSIGN_LIST),
     .field = "assign",
     .help = "which file holds a chunk"},
    {.name = "place",
     .argument = "SCHEME",
     .choices = CHOICES(BOUMA_PLACE_LIST),
     .field = "place",
     .help = "which process writes a file"},
    {.name = "durability",
     .argument = "MODE",
     .choices = &(BOUMA_DURABILITY_LIST(CHOICE_WORD) "=")[1],
     .field = "durability",
     .help = "what survives a power loss; group=K: K steps at once"},
    {0}};

/* What is needed while the request is carried out. */
struct import {
    struct import_request request;
    struct source *sources;
    int count; /* of sources */
    struct progress_bar bar;
    bouma_dataset *ds;
    bool created; /* the dataset is new */
    bouma_record record;
    double seconds;
};

static int open_sources(struct import *import, struct context *ctx)
{
    const struct arguments *args = import->request.args;
    const struct source *first;

    import->sources = calloc((size_t)args->operand_count, sizeof(*first));
    if (!import->sources)
        return context_fail(ctx, DATA_AT_FAULT, "out of memory");
    import->count = args->operand_count;
    first = import->sources;
    for (int i = 0; i < import->count; i++) {
        struct source *source = &import->sources[i];
        int rc =
            source_open(source, ctx, args->operands[i], &import->request.wish);
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

static int library_failed(const struct import *import, struct context *ctx,
                          int status)
{
    return context_fail_status(ctx, status, bouma_error_message(import->ds));
}

/* Make the dataset, or open the one that is there: when two imports start at
 * once, the second one appends. */
static int open_dataset(struct import *import, struct context *ctx)
{
    struct import_request *request = &import->request;
    int status;

    progress_bar_init(&import->bar, ctx, &request->opts);
    status = session_create(ctx->session, &import->ds, request->path,
                            &request->opts);
    import->created = status == BOUMA_OK;
    if (status == BOUMA_EEXISTS) {
        bouma_dataset_free(import->ds);
        status = session_append(ctx->session, &import->ds, request->path,
                                &request->opts);
    }
    if (status)
        return library_failed(import, ctx, status);
    for (int i = 0; bouma_dataset_note(import->ds, i); i++)
        context_warn(ctx, "note: %s", bouma_dataset_note(import->ds, i));
    return DONE;
}

/* By default, the step after the last one, at a time that is its number. */
static int choose_step(struct import *import, struct context *ctx)
{
    struct import_request *request = &import->request;
    int64_t count = bouma_dataset_step_count(import->ds);
    bouma_step_info last;
    int status;

    if (!request->step_given && count > 0) {
        status = bouma_dataset_step_get(import->ds, count - 1, &last);
        if (status)
            return library_failed(import, ctx, status);
        if (last.step == INT64_MAX)
            return context_fail(ctx, CALL_AT_FAULT,
                                "no number comes after that of the last step; "
                                "say which: --step N");
        request->step = last.step + 1;
    }
    if (!request->time_given)
        request->time = (double)request->step;
    return DONE;
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
        context_warn(ctx,
                     "note: --patch %s is larger than the grid of %s samples; "
                     "patches have %s",
                     arguments_text(request->args, "patch"),
                     format_shape(shape, about.ndims, about.shape),
                     format_shape(patch, about.ndims, about.patch));
}

static int define_variables(struct import *import, const struct context *ctx,
                            bouma_variable **variables)
{
    const struct import_request *request = &import->request;
    bouma_grid *grid;
    int status = bouma_grid_define(&grid, import->ds, request->grid_name,
                                   &request->grid);

    if (!status)
        tell_patch(import, ctx, grid);
    for (int i = 0; !status && i < import->count; i++) {
        bouma_variable_spec spec = request->variable;
        char name[512];

        spec.type = import->sources[i].type;
        spec.components = import->sources[i].components;
        spec.unit = import_request_unit(request, i);
        import_request_name(request, i, name, sizeof(name));
        status = bouma_variable_define(&variables[i], grid, name, &spec);
    }
    return status;
}

static int set_attributes(struct import *import)
{
    const struct arguments *args = import->request.args;
    int status = BOUMA_OK;

    for (int i = 0; !status && i < arguments_count(args, "attr"); i++) {
        const char *text = arguments_nth(args, "attr", i);
        size_t length = strcspn(text, "=");
        char *name = strndup(text, length);

        status =
            name ? attribute_set_text(bouma_dataset_step_attributes(import->ds),
                                      name, text + length + 1)
                 : BOUMA_ENOMEM;
        free(name);
    }
    return status;
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
    int status = variables ? BOUMA_OK : BOUMA_ENOMEM;
    int rc = DONE;

    if (!status)
        status = define_variables(import, ctx, variables);
    if (!status)
        status = bouma_step_begin(import->ds, request->step, request->time);
    if (!status)
        status = set_attributes(import);
    if (!status)
        status = put_variables(import, ctx, variables);
    if (status)
        rc = library_failed(import, ctx, status);
    free(variables);
    rc = context_agree(ctx, rc);
    if (rc) {
        bouma_step_abort(import->ds);
        return rc;
    }
    status = bouma_step_end(import->ds, &import->record);
    return status ? library_failed(import, ctx, status) : DONE;
}

/* Whatever has happened, leave the dataset to the next writer. */
static int close_dataset(struct import *import, struct context *ctx, int rc)
{
    int status = bouma_dataset_close(import->ds);

    return status && !rc ? library_failed(import, ctx, status) : rc;
}

static int write_dataset(struct import *import, struct context *ctx)
{
    int rc = open_dataset(import, ctx);

    if (rc)
        return rc;
    rc = choose_step(import, ctx);
    if (!rc)
        rc = write_step(import, ctx);
    return close_dataset(import, ctx, rc);
}

static int print_text(const struct import *import)
{
    const struct import_request *request = &import->request;
    const bouma_record *record = &import->record;
    char raw[FORMAT_BYTES], stored[FORMAT_BYTES], ratio[FORMAT_BYTES],
        files[FORMAT_BYTES], seconds[FORMAT_BYTES];

    printf("%s%s: step %" PRId64 ", %s -> %s (%s) in %s, %s\n", request->path,
           import->created ? " (new)" : "", request->step,
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
    json_put(root, "created", json_boolean(import->created));
    json_put(root, "step", json_integer(request->step));
    json_put(root, "time", json_number(request->time));
    json_put(root, "grid", json_text(request->grid_name));
    json_put(root, "shape",
             json_integers(request->grid.shape, request->grid.ndims));
    json_put(root, "variables", names);
    json_put_record(root, record);
    json_put(root, "seconds", json_number(import->seconds));
    return print_json(ctx, root);
}

static int run(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct import import = {0};
    int rc = import_request_read(&import.request, ctx, args);

    if (!rc)
        rc = open_sources(&import, ctx);
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = write_dataset(&import, ctx);
    progress_bar_clear(&import.bar);
    import.seconds = stopwatch_now() - start;
    if (!rc && context_prints(ctx))
        rc = ctx->json ? print_object(&import, ctx) : print_text(&import);

    bouma_dataset_free(import.ds);
    for (int i = 0; i < import.count; i++)
        source_close(&import.sources[i]);
    free(import.sources);
    return rc;
}

const struct command cmd_import = {
    .name = "import",
    .summary = "put arrays from files into a dataset",
    .operands = "SRC... --into DS [options]",
    .least = 1,
    .most = -1,
    .examples =
        "  bouma import rho.npy --into run.bouma\n"
        "  bouma import rho.raw --shape 512,512,512 --type f32 --into "
        "run.bouma\n"
        "  bouma import rho.npy T.npy --into run.bouma --step 40 --time 0.4\n"
        "  bouma import v.npy --components 3 --unit m/s --into run.bouma\n"
        "  mpirun -n 8 bouma-mpi import rho.npy --into run.bouma --files 4\n",
    .notes = "SRC is a .npy file (of 1 to 3 axes, in C or Fortran order), or a "
             ".raw file\nof plain values in C order, in the byte order of this "
             "machine. All of them\nbecome variables of one grid, in one "
             "step.\n",
    .options = options,
    .run = run};
