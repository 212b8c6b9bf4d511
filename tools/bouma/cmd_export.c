/* cmd_export.c -- bouma export: grids in the formats of other programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset_steps.h"
#include "end_reading.h"
#include "export_format.h"
#include "file_suffix.h"
#include "format_text.h"
#include "locate.h"
#include "print_json.h"
#include "stopwatch.h"
#include "suggest.h"

static const struct option_spec options[] = {
    {.name = "format",
     .argument = "FMT",
     .choices = EXPORT_FORMAT_CHOICES,
     .help = "the format; default: by the name of OUT"},
    {.name = "output",
     .letter = 'o',
     .argument = "OUT",
     .help = "what is written, such as NAME.idx; default, with --format: the "
             "name of DS, in this directory"},
    {.name = "step",
     .argument = "S",
     .help = "steps: N, -N (from the end), last, all or FIRST:END[:EACH]; "
             "default: all"},
    {.name = "codec",
     .argument = "CODEC",
     .choices = "raw|zip|lz4|zfp",
     .help = "how blocks are stored; default: raw, which all programs read"},
    {.name = "tolerance",
     .argument = "E",
     .help = "codec zfp: largest error of any value; default: none, every bit "
             "is kept"},
    {.name = "block-bits",
     .argument = "B",
     .help = "log2 of the samples in a block; default: 15, or all"},
    {.name = "blocks-per-file",
     .argument = "N",
     .help = "blocks of a variable in a file; default: 512, or all"},
    {0}};

#define FORMAT_ENTRY(name) &export_format_##name,
static const struct export_format *const formats[] = {
    EXPORT_FORMAT_LIST(FORMAT_ENTRY)};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* ---- what to write ------------------------------------------------------- */

static const struct export_format *find_format(const char *name)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(name, formats[i]->name) == 0)
            return formats[i];
    return NULL;
}

/* What is written if nothing is said: dir/run.bouma becomes run.idx. */
static int name_target(struct export_request *request, struct context *ctx,
                       const struct export_format *format)
{
    const char *path = request->args->operands[0];
    size_t end = strlen(path), first, stem;

    while (end > 0 && path[end - 1] == '/')
        end--;
    for (first = end; first > 0 && path[first - 1] != '/';)
        first--;
    stem = end;
    if (end - first > 6 && strncmp(path + end - 6, ".bouma", 6) == 0)
        stem = end - 6;
    request->named = malloc(stem - first + strlen(format->suffix) + 1);
    if (!request->named)
        return context_fail_memory(ctx);
    memcpy(request->named, path + first, stem - first);
    strcpy(request->named + (stem - first), format->suffix);
    request->target = request->named;
    return DONE;
}

static int choose_format(const struct export_format **out,
                         struct export_request *request, struct context *ctx)
{
    const struct arguments *args = request->args;
    const char *name = NULL, *target = arguments_text(args, "output");
    int rc = arguments_choice(args, ctx, "format", &name);

    if (rc)
        return rc;
    request->target = target;
    if (!target && name) {
        *out = find_format(name);
        return name_target(request, ctx, *out);
    }
    if (!target)
        return context_fail(ctx, CALL_AT_FAULT, "no output; add -o NAME%s",
                            formats[0]->suffix);
    *out = NULL;
    for (int i = 0; i < FORMATS; i++)
        if (name ? strcmp(name, formats[i]->name) == 0
                 : ends_in(target, formats[i]->suffix))
            *out = formats[i];
    if (!*out)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "-o %s: no format has that suffix; choose one: --format %s", target,
            EXPORT_FORMAT_CHOICES);
    if (!ends_in(target, (*out)->suffix))
        return context_fail(ctx, CALL_AT_FAULT,
                            "-o %s: the name must end with %s", target,
                            (*out)->suffix);
    return DONE;
}

/* Those of the dataset that --step chooses. */
static int choose_steps(struct export_request *request, struct context *ctx)
{
    struct dataset_choice choice = {.ds = request->ds,
                                    .path = request->args->operands[0],
                                    .text =
                                        arguments_text(request->args, "step")};

    return dataset_steps(&request->steps, &request->step_count, ctx, &choice);
}

static int refuse_particles(struct context *ctx, const char *name)
{
    return context_fail(ctx, CALL_AT_FAULT,
                        "'%s' is a set of particles, and this format holds "
                        "grids; write it with: %s query DS %s -o OUT.npz",
                        name, session_program(), name);
}

/* The grid that a step has, if it has just one. */
static int only_grid(bouma_grid **out, struct context *ctx, bouma_step *step)
{
    struct name_list names = {.near = {.word = ""}};
    int count = bouma_step_grid_count(step);
    bouma_particles_info particles = {.size = sizeof(particles)};
    bouma_grid_info about = {.size = sizeof(about)};

    for (int i = 0; i < count; i++) {
        *out = bouma_step_grid(step, i);
        bouma_grid_info_get(&about, *out);
        name_list_add(&names, about.name, NULL);
    }
    if (count == 1)
        return DONE;
    if (count)
        return context_fail(ctx, CALL_AT_FAULT, "say which grid; there are %s",
                            names.list);
    if (bouma_step_particles_count(step)) {
        bouma_particles_info_get(&particles, bouma_step_particles(step, 0));
        return refuse_particles(ctx, particles.name);
    }
    return context_fail_missing(ctx, "the step has no grid");
}

/* Add a variable to the request, which has room for it. */
static int add_variable(struct export_request *request, struct context *ctx,
                        const bouma_variable_info *about)
{
    struct exported_variable *to = &request->variables[request->variable_count];

    for (int i = 0; i < request->variable_count; i++)
        if (strcmp(request->variables[i].name, about->name) == 0)
            return context_fail(ctx, CALL_AT_FAULT, "%s/%s is named twice",
                                request->grid_name, about->name);
    *to = (struct exported_variable){.name = strdup(about->name),
                                     .type = about->type,
                                     .components = about->components};
    if (!to->name)
        return context_fail_memory(ctx);
    request->variable_count++;
    return DONE;
}

/* All variables of a grid that the step has. */
static int add_all(struct export_request *request, struct context *ctx,
                   bouma_grid *grid)
{
    bouma_variable_info about = {.size = sizeof(about)};
    int rc = DONE;

    for (int i = 0; !rc && i < bouma_grid_variable_count(grid); i++) {
        bouma_variable_info_get(&about, bouma_grid_variable(grid, i));
        if (about.present)
            rc = add_variable(request, ctx, &about);
    }
    return rc;
}

/* Make room for the variables of a grid, which is the one of the request. */
static int enter_grid(struct export_request *request, struct context *ctx,
                      bouma_grid *grid)
{
    bouma_grid_info about = {.size = sizeof(about)};

    bouma_grid_info_get(&about, grid);
    if (request->grid_name && strcmp(request->grid_name, about.name) != 0)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "%s and %s are two grids; export them one at a time",
            request->grid_name, about.name);
    if (request->grid_name)
        return DONE;
    request->grid = about;
    request->grid_name = strdup(about.name);
    request->variables = calloc((size_t)bouma_grid_variable_count(grid) + 1,
                                sizeof(*request->variables));
    return request->grid_name && request->variables ? DONE
                                                    : context_fail_memory(ctx);
}

/* What OBJECT[/VAR] stands for. Collective. */
static int add_operand(struct export_request *request, struct context *ctx,
                       struct located_step in, const char *name)
{
    bouma_variable *variable = NULL;
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_grid *grid;
    int rc = DONE;

    if (!strchr(name, '/')) {
        grid = bouma_step_find_grid(in.step, name);
        if (!grid && bouma_step_find_particles(in.step, name))
            return refuse_particles(ctx, name);
        if (!grid)
            return locate_drawable(&grid, &variable, ctx, in, name);
        rc = enter_grid(request, ctx, grid);
        return rc ? rc : add_all(request, ctx, grid);
    }
    rc = locate_variable(&grid, &variable, ctx, in, name);
    if (!rc)
        rc = enter_grid(request, ctx, grid);
    if (rc)
        return rc;
    bouma_variable_info_get(&about, variable);
    return add_variable(request, ctx, &about);
}

/* The grid and its variables, by the first step. Collective. */
static int choose_variables(struct export_request *request, struct context *ctx)
{
    struct located_step in = {.ds = request->ds, .number = request->steps[0]};
    const struct arguments *args = request->args;
    int status = bouma_step_open(&in.step, request->ds, in.number);
    bouma_grid *grid = NULL;
    int rc = DONE;

    if (status)
        return context_fail_status(ctx, status,
                                   bouma_error_message(request->ds));
    for (int i = 1; !rc && i < args->operand_count; i++)
        rc = add_operand(request, ctx, in, args->operands[i]);
    if (args->operand_count == 1) {
        rc = only_grid(&grid, ctx, in.step);
        if (!rc)
            rc = enter_grid(request, ctx, grid);
        if (!rc)
            rc = add_all(request, ctx, grid);
    }
    if (!rc && request->variable_count == 0)
        rc = context_fail_missing(ctx, "%s has no variable in step %lld",
                                  request->grid_name, (long long)in.number);
    bouma_step_free(in.step);
    return rc;
}

/* ---- for the formats ----------------------------------------------------- */

static int check_grid(const struct export_request *request, struct context *ctx,
                      bouma_grid *grid, int64_t step)
{
    bouma_grid_info about = {.size = sizeof(about)};
    bool same;

    if (!grid)
        return context_fail_missing(ctx,
                                    "step %lld has no grid %s; leave it out: "
                                    "--step",
                                    (long long)step, request->grid_name);
    bouma_grid_info_get(&about, grid);
    same = about.ndims == request->grid.ndims;
    for (int i = 0; same && i < about.ndims; i++)
        same = about.shape[i] == request->grid.shape[i];
    if (!same)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s has another shape in step %lld than in step "
                            "%lld; export them separately: --step",
                            request->grid_name, (long long)step,
                            (long long)request->steps[0]);
    return DONE;
}

int export_open_step(bouma_step **step, bouma_variable **variables,
                     const struct export_request *request, struct context *ctx,
                     size_t i)
{
    int64_t number = request->steps[i];
    int status = bouma_step_open(step, request->ds, number), rc;
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_grid *grid;

    if (status)
        return context_fail_status(ctx, status,
                                   bouma_error_message(request->ds));
    grid = bouma_step_find_grid(*step, request->grid_name);
    rc = check_grid(request, ctx, grid, number);
    for (int k = 0; !rc && k < request->variable_count; k++) {
        const struct exported_variable *want = &request->variables[k];

        about = (bouma_variable_info){.size = sizeof(about)};
        variables[k] = bouma_grid_find_variable(grid, want->name);
        if (variables[k])
            bouma_variable_info_get(&about, variables[k]);
        if (!about.present)
            rc = context_fail_missing(
                ctx, "step %lld has no %s/%s; leave it out: --step",
                (long long)number, request->grid_name, want->name);
        else if (about.type != want->type ||
                 about.components != want->components)
            rc = context_fail(ctx, CALL_AT_FAULT,
                              "%s/%s has another type in step %lld than in "
                              "step %lld; export them separately: --step",
                              request->grid_name, want->name, (long long)number,
                              (long long)request->steps[0]);
    }
    return rc;
}

/* ---- telling ------------------------------------------------------------- */

static int print_object(const struct export_request *request,
                        struct context *ctx, uint64_t bytes_read,
                        double seconds)
{
    json_t *root = json_object(), *names = json_array();

    for (int i = 0; i < request->variable_count; i++)
        json_array_append_new(names, json_text(request->variables[i].name));
    json_put(root, "output", json_text(request->target));
    json_put(root, "object", json_text(request->grid_name));
    json_put(root, "shape",
             json_integers(request->grid.shape, request->grid.ndims));
    json_put(root, "variables", names);
    json_put(root, "steps", json_count(request->step_count));
    json_put(root, "files", json_count(request->files));
    json_put(root, "bytes", json_count(request->bytes));
    json_put(root, "bytes_read", json_count(bytes_read));
    json_put(root, "seconds", json_number(seconds));
    return print_json(ctx, root);
}

/* Collective. */
static int print_result(const struct export_request *request,
                        struct context *ctx, double seconds)
{
    char variables[FORMAT_BYTES], steps[FORMAT_BYTES], files[FORMAT_BYTES],
        bytes[FORMAT_BYTES], time[FORMAT_BYTES];
    bouma_dataset_info reads = {.size = sizeof(reads)};

    bouma_dataset_info_get(&reads, request->ds);
    reads.bytes_read = session_sum(ctx->session, reads.bytes_read);
    if (!context_prints(ctx))
        return DONE;
    if (ctx->json)
        return print_object(request, ctx, reads.bytes_read, seconds);
    printf(
        "%s: %s, %s; %s in %s, %s\n", request->target,
        format_count(variables, (uint64_t)request->variable_count, "variable"),
        format_count(steps, request->step_count, "step"),
        format_bytes(bytes, request->bytes),
        format_count(files, request->files, "file"),
        format_seconds(time, seconds));
    return DONE;
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct progress_bar bar;
    struct export_request request = {.args = args, .bar = &bar};
    const struct export_format *format = NULL;
    double start = stopwatch_now();
    bouma_options opts = {.size = sizeof(opts)};
    int rc, status;

    rc = choose_format(&format, &request, ctx);
    if (rc)
        return rc;
    progress_bar_init(&bar, ctx, &opts);
    status = session_open(ctx->session, &request.ds, args->operands[0], &opts);
    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(request.ds));
    if (!rc)
        rc = choose_steps(&request, ctx);
    if (!rc)
        rc = choose_variables(&request, ctx);
    if (!rc)
        rc = format->run(&request, ctx);
    progress_bar_clear(&bar);
    if (!rc)
        rc = print_result(&request, ctx, stopwatch_now() - start);
    for (int i = 0; i < request.variable_count; i++)
        free(request.variables[i].name);
    free(request.variables);
    free(request.named);
    free(request.grid_name);
    free(request.steps);
    end_reading(ctx, request.ds, rc);
    return rc;
}

const struct command cmd_export = {
    .name = "export",
    .summary = "write a grid in a format of other programs",
    .operands = "DS [OBJECT[/VAR]...] [-o OUT] [options]",
    .least = 1,
    .most = -1,
    .examples =
        "  bouma export run.bouma --format idx\n"
        "  bouma export run.bouma grid/rho grid/T --step last -o last.idx\n"
        "  mpirun -n 8 bouma-mpi export run.bouma grid --step ::10 -o "
        "run.idx\n",
    .footer = "Without OBJECT it is the only grid, with all its variables. All "
              "variables are of\n"
              "one grid, and all steps have them.\n"
              "\n"
              "idx: NAME.idx and the directory NAME, which must not exist yet. "
              "OpenVisus reads\n"
              "it; with the codec raw, so do PIDX and VisIt. Sample 0 is at "
              "the low end of the\n"
              "(physic_box), and the last one a spacing before its high end. "
              "Grids have 2 or 3\n"
              "axes.\n",
    .options = options,
    .run = run};
