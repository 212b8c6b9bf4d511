/* cmd_copy.c -- bouma copy: a dataset, or a part of it, stored anew. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribute_sets.h"
#include "choice_names.h"
#include "copy.h"
#include "dataset_steps.h"
#include "format_text.h"
#include "import_memory.h"
#include "print_json.h"
#include "sized.h"
#include "stopwatch.h"

static const struct option_spec options[] = {
    {.name = "step",
     .argument = "S",
     .help = "N, -N (counted from the end), last, all or FIRST:END[:EACH]; "
             "default: all"},
    {.name = "codec",
     .argument = "CODEC",
     .choices = CHOICES(BOUMA_CODEC_LIST),
     .help = "how values are stored; default: as in DS where that keeps every "
             "bit, else zstd; with a tolerance interp"},
    {.name = "tolerance",
     .argument = "E",
     .help = "largest error of any value of a grid, in addition to that of "
             "DS; default: none, every bit is kept"},
    {.name = "relative",
     .argument = "E",
     .help = "largest error, as a fraction of the range of the variable"},
    {.name = "codec-level",
     .argument = "N",
     .help = "effort of zstd, 1 to 22; default: 1"},
    {.name = "nominal",
     .help = "wavelet: faster, but the tolerance is that of coefficients, and "
             "errors are not checked"},
    {.name = "layout",
     .argument = "LAYOUT",
     .choices = "patch|hz",
     .help = "of all grids: patches, or one HZ order; default: as in DS"},
    {.name = "hz-block-bits",
     .argument = "B",
     .help = "layout hz: blocks have 2^B samples; default: 15, less for a "
             "smaller grid"},
    {.name = "hz-blocks-per-file",
     .argument = "N",
     .help = "layout hz: blocks of each variable in a file; default: 512"},
    {.name = "hz-order",
     .argument = "ORDER",
     .choices = CHOICES(BOUMA_HZ_ORDER_LIST),
     .help = "layout hz: samples of a block in rows (default), or in HZ "
             "order"},
    {.name = "hz-wavelet",
     .help = "layout hz: wavelet coefficients in place of samples; coarse "
             "levels of f32 and f64 are averages"},
    {.name = "hz-tile-bits",
     .argument = "T",
     .help = "hz-wavelet: transform tiles of 2^T samples, which are read "
             "whole; default: 15, less for a smaller grid"},
    {.name = "patch",
     .argument = "P[,P,P]",
     .help = "samples of a patch along each axis, powers of two; default: as "
             "in DS"},
    {.name = "levels",
     .argument = "L",
     .help = "levels of resolution; default: as in DS"},
    {.field = "memory_limit",
     .help = "memory that a process may take for the values of a step; "
             "default: half of the node's, divided among its processes"},
    {0}};

/* ---- the target ---------------------------------------------------------- */

/* The attributes of the source are those of its newest step. */
static int describe(struct copy *copy, struct context *ctx)
{
    int status = attributes_copy(bouma_dataset_attributes(copy->target.ds),
                                 bouma_dataset_attributes(copy->source));

    return status ? import_target_failed(&copy->target, ctx, status) : DONE;
}

static int create(struct copy *copy, struct context *ctx)
{
    int status = session_create(ctx->session, &copy->target.ds,
                                copy->request.path, &copy->request.opts);

    copy->target.created = status == BOUMA_OK;
    if (status == BOUMA_EEXISTS) {
        context_fail(ctx, CALL_AT_FAULT,
                     "%s exists already; choose another name",
                     copy->request.path);
        ctx->failure.status = status;
        return CALL_AT_FAULT;
    }
    if (status)
        return import_target_failed(&copy->target, ctx, status);
    import_target_tell(&copy->target, ctx);
    return context_agree(ctx, describe(copy, ctx));
}

/* A writer cannot define a name twice: what comes now has a new one. */
static int reopen(struct copy *copy, struct context *ctx)
{
    int status = bouma_dataset_close(copy->target.ds);

    if (status)
        return import_target_failed(&copy->target, ctx, status);
    bouma_dataset_free(copy->target.ds);
    copy->target.notes = 0;
    status = session_append(ctx->session, &copy->target.ds, copy->request.path,
                            &copy->request.opts);
    if (status)
        return import_target_failed(&copy->target, ctx, status);
    import_target_tell(&copy->target, ctx);
    return context_agree(ctx, describe(copy, ctx));
}

/* ---- steps --------------------------------------------------------------- */

/* Takes the step, and keeps it as long as its definitions are in use. */
static int copy_step(struct copy *copy, struct context *ctx, bouma_step *step)
{
    int rc = DONE;

    if (!copy_is_defined(copy, step)) {
        if (copy->defined)
            rc = reopen(copy, ctx);
        if (!rc)
            rc = context_agree(ctx, copy_define(copy, ctx, step));
        bouma_step_free(copy->defined);
        copy->defined = step;
        return rc ? rc : copy_write(copy, ctx, step);
    }
    rc = copy_write(copy, ctx, step);
    bouma_step_free(step);
    return rc;
}

static bool is_chosen(const struct copy *copy, bouma_step *step)
{
    struct entry_cursor cursor = copy_entries(copy, step);
    struct entry entry;

    return cursor.pattern_count == 0 || entry_next(&entry, &cursor);
}

static int copy_steps(struct copy *copy, struct context *ctx,
                      const int64_t *steps, size_t count)
{
    int rc = DONE;

    for (size_t i = 0; !rc && i < count; i++) {
        bouma_step *step = NULL;
        int status = bouma_step_open(&step, copy->source, steps[i]);

        progress_bar_piece(&copy->target.bar, (int64_t)i, (int64_t)count);
        if (status)
            rc = context_fail_status(ctx, status,
                                     bouma_error_message(copy->source));
        else if (is_chosen(copy, step))
            rc = copy_step(copy, ctx, step);
        else
            bouma_step_free(step);
    }
    if (!rc && !copy->steps)
        rc = context_fail_missing(
            ctx,
            "there is no '%s' in these steps; '%s ls %s --step all' lists "
            "what there is",
            copy->args->operands[2], session_program(),
            copy->args->operands[0]);
    return rc;
}

/* ---- the command --------------------------------------------------------- */

static int print_end(const struct copy *copy, struct context *ctx,
                     double seconds)
{
    char steps[FORMAT_BYTES], raw[FORMAT_BYTES], stored[FORMAT_BYTES],
        ratio[FORMAT_BYTES];
    json_t *root;

    if (!context_prints(ctx))
        return DONE;
    if (!ctx->json) {
        printf("%s: %s copied, %s in %s (%s)\n", copy->request.path,
               format_count(steps, copy->steps, "step"),
               format_bytes(raw, copy->raw_bytes),
               format_bytes(stored, copy->stored_bytes),
               format_ratio(ratio, copy->raw_bytes, copy->stored_bytes));
        return DONE;
    }
    root = json_object();
    json_put(root, "source", json_text(copy->args->operands[0]));
    json_put(root, "dataset", json_text(copy->request.path));
    json_put(root, "steps", json_count(copy->steps));
    json_put(root, "raw_bytes", json_count(copy->raw_bytes));
    json_put(root, "stored_bytes", json_count(copy->stored_bytes));
    json_put(root, "ratio", json_ratio(copy->raw_bytes, copy->stored_bytes));
    json_put(root, "seconds", json_number(seconds));
    return print_json(ctx, root);
}

static int read_request(struct copy *copy, struct context *ctx)
{
    struct import_request *request = &copy->request;
    bouma_codec_info about = {.size = sizeof(about)};
    int rc;

    *request =
        (struct import_request){.args = copy->args,
                                .path = copy->args->operands[1],
                                .grid = {.size = sizeof(request->grid)},
                                .variable = {.size = sizeof(request->variable)},
                                .opts = {.size = sizeof(request->opts)}};
    rc = import_request_storage(request, ctx);
    if (!rc && request->opts.clobber) /* it could be DS itself */
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--clobber: a copy replaces nothing; choose another "
                          "name for it");
    if (rc || !request->variable.codec)
        return rc;
    bouma_codec_info_get(&about, request->variable.codec);
    if (!about.grids)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--codec %s is for particles within a tolerance, "
                            "and copies of particles are exact",
                            arguments_text(copy->args, "codec"));
    if (about.tolerance && !(request->variable.tolerance > 0))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--codec %s needs --tolerance or --relative",
                            arguments_text(copy->args, "codec"));
    return DONE;
}

static int copy_chosen(struct copy *copy, struct context *ctx)
{
    struct dataset_choice choice = {.ds = copy->source,
                                    .path = copy->args->operands[0],
                                    .text = arguments_text(copy->args, "step")};
    int64_t *steps = NULL;
    size_t count = 0;
    int rc = dataset_steps(&steps, &count, ctx, &choice);

    rc = context_agree(ctx, rc);
    if (!rc)
        rc = create(copy, ctx);
    if (!rc)
        rc = copy_steps(copy, ctx, steps, count);
    if (rc && copy->steps)
        context_note(ctx, "%" PRIu64 " of %zu steps were copied to %s",
                     copy->steps, count, copy->request.path);
    if (copy->target.created)
        rc = import_target_close(&copy->target, ctx, &copy->request, rc);
    free(steps);
    return rc;
}

static int run(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct copy copy = {.args = args};
    bouma_options opts = {.size = sizeof(opts)};
    int status, rc = read_request(&copy, ctx);

    if (rc)
        return rc;
    copy.memory_limit = import_memory_limit(ctx, &copy.request.opts);
    progress_bar_init(&copy.target.bar, ctx, &copy.request.opts);
    status = session_open(ctx->session, &copy.source, args->operands[0], &opts);
    rc = status ? context_fail_status(ctx, status,
                                      bouma_error_message(copy.source))
                : copy_chosen(&copy, ctx);
    progress_bar_clear(&copy.target.bar);
    if (!rc)
        rc = print_end(&copy, ctx, stopwatch_now() - start);
    bouma_step_free(copy.defined);
    bouma_dataset_free(copy.target.ds);
    bouma_dataset_free(copy.source);
    return rc;
}

const struct command cmd_copy = {
    .name = "copy",
    .summary = "copy a dataset or a part of it, stored as you say",
    .operands = "DS NEW [OBJECT[/VAR]...] [options]",
    .least = 2,
    .most = -1,
    .examples = "  bouma copy run.bouma small.bouma --relative 1e-4\n"
                "  bouma copy run.bouma last.bouma --step last\n"
                "  bouma copy run.bouma few.bouma 'flow/v*' dust --step ::10\n"
                "  mpirun -n 8 bouma-mpi copy run.bouma hz.bouma --layout hz\n",
    .footer =
        "NEW must not exist. Numbers, times and attributes are kept. So is "
        "every bit of the\n"
        "values, unless there is a tolerance, which is for f32 and f64 of "
        "grids: what DS has\n"
        "stored within a tolerance is then stored as it reads now, by "
        "default with zstd.\n"
        "Particles are always exact; of a set, the position is always "
        "copied.\n"
        "\n"
        "One step is in memory at a time, divided among the processes. If the "
        "command is\n"
        "interrupted, NEW has the steps so far, each complete.\n",
    .options = options,
    .takes = BOUMA_OPTION_USE_STEPS,
    .run = run};
