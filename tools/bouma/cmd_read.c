/* cmd_read.c -- bouma read: a box of a variable, at any level, into a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "budget_arguments.h"
#include "component.h"
#include "end_reading.h"
#include "exporter.h"
#include "extract.h"
#include "format_text.h"
#include "locate.h"
#include "npy.h"
#include "numbers.h"
#include "output.h"
#include "print_json.h"
#include "progress_bar.h"
#include "sized.h"
#include "stopwatch.h"

static const struct option_spec options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "OUT",
     .help = "output file, its extension sets the format; -: plain values on "
             "standard output (required)"},
    {.name = "step",
     .argument = "N",
     .help =
         "number of the step; -1: the last, -2: the one before; default: last"},
    {.name = "level",
     .argument = "K",
     .help = "one in 2^K samples along each axis; default: 0, all"},
    {.name = "box",
     .argument = "BOX",
     .help = "z0:z1,y0:y1,x0:x1 in samples of level 0; default: all"},
    {.name = "component",
     .argument = "K",
     .help = "one component of a vector variable; default: all"},
    BUDGET_MAX_BYTES,
    {.name = "max-error",
     .argument = "E",
     .help = "go to finer levels until the last one changes no value by more "
             "than E"},
    {.name = "limit",
     .argument = "N",
     .help = "read at most N samples; N may end in K, M, G"},
    {0}};

/* A request, and what it needs while it is carried out. */
struct reading {
    const struct arguments *args;
    const char *path, *target; /* of the dataset; OUT */
    const struct exporter *exporter;
    struct progress_bar bar;
    bouma_options opts;
    bouma_dataset *ds;
    bouma_step *step;
    int64_t step_number;
    bouma_variable *variable;
    bouma_variable_info about;
    bouma_grid_info grid;
    int component; /* -1: all */
    int level;
    bouma_box box;
    bouma_selection selection; /* of all of the box */
    struct budget_arguments within;
    bouma_refinement *refinement; /* with a budget, on process 0 */
    bouma_answer answer;
    struct output output;
    uint64_t header_bytes;
    double seconds;
};

static int library_failed(const struct reading *reading, struct context *ctx,
                          int status)
{
    return context_fail_status(ctx, status, bouma_error_message(reading->ds));
}

/* ---- what to read -------------------------------------------------------- */

static bool to_stream(const struct reading *reading)
{
    return strcmp(reading->target, "-") == 0;
}

static int choose_level(struct reading *reading, struct context *ctx)
{
    int64_t level = 0;
    int rc = arguments_integer(reading->args, ctx, "level", 0, &level);

    if (!rc)
        rc = budget_arguments_read(&reading->within, ctx, reading->args);
    if (!rc && reading->within.given && arguments_has(reading->args, "level"))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--level and a budget (--limit, --max-bytes, "
                          "--max-error) cannot be combined: the budget "
                          "chooses the level");
    if (!rc && level >= reading->grid.levels)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--level %lld: %s has levels 0 to %d",
                          (long long)level, reading->args->operands[1],
                          reading->grid.levels - 1);
    reading->level = (int)level;
    return rc;
}

static int choose_box(struct reading *reading, struct context *ctx)
{
    const char *text = arguments_text(reading->args, "box");
    char message[256];

    for (int i = 0; i < reading->grid.ndims; i++)
        reading->box.hi[i] = reading->grid.shape[i];
    if (text && !parse_box(text, reading->grid.ndims, reading->grid.shape,
                           &reading->box, message, sizeof(message)))
        return context_fail(ctx, CALL_AT_FAULT, "--box: %s", message);
    return DONE;
}

/* Whether a multiple of 2^level is in [lo, hi). */
static bool has_sample(int64_t lo, int64_t hi, int level)
{
    int64_t unit = (int64_t)1 << level;

    return (lo + unit - 1) / unit * unit < hi;
}

/* A small box can lie between the samples of a coarse level: tell how far down
 * it would have to begin, and which level has samples in it. */
static int refuse_nothing(const struct reading *reading, struct context *ctx)
{
    const bouma_box *box = &reading->box;
    int level = reading->level, ndims = reading->grid.ndims;
    char text[FORMAT_BYTES] = "";
    size_t used = 0;

    for (int i = 0; i < ndims && used < sizeof(text); i++) {
        bool some = has_sample(box->lo[i], box->hi[i], reading->level);

        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s%lld:%lld", i ? "," : "",
            (long long)(some ? box->lo[i]
                             : box->lo[i] >> reading->level << reading->level),
            (long long)box->hi[i]);
        while (!has_sample(box->lo[i], box->hi[i], level))
            level--;
    }
    return context_fail(ctx, CALL_AT_FAULT,
                        "--box %s has no samples at level %d, where indices "
                        "are multiples of %lld; take --box %s or --level %d",
                        arguments_text(reading->args, "box"), reading->level,
                        1LL << reading->level, text, level);
}

/* Process 0 reads alone, as far as the budget goes; all learn how far that is.
 * Collective. */
static int read_within(struct reading *reading, struct context *ctx)
{
    int status = BOUMA_OK, rc = DONE;

    if (!reading->within.given)
        return DONE;
    if (session_rank(ctx->session) == 0)
        status = bouma_refinement_open_within(
            &reading->refinement, SIZED(&reading->answer), reading->variable,
            &reading->box, &reading->within.budget);
    if (status)
        rc = library_failed(reading, ctx, status);
    if (status == BOUMA_ELIMIT) /* it is the budget that is too small */
        rc = CALL_AT_FAULT;
    rc = context_agree(ctx, rc);
    session_broadcast(ctx->session, &reading->answer, sizeof(reading->answer));
    reading->level = reading->answer.level;
    return rc;
}

/* Open the dataset and find what is asked for. Collective. */
static int select_samples(struct reading *reading, struct context *ctx)
{
    bouma_grid *grid;
    int status, rc;

    reading->opts = (bouma_options){.size = sizeof(reading->opts)};
    progress_bar_init(&reading->bar, ctx, &reading->opts);
    status =
        session_open(ctx->session, &reading->ds, reading->path, &reading->opts);
    if (status)
        return library_failed(reading, ctx, status);
    rc = locate_step(&reading->step, &reading->step_number, ctx, reading->ds,
                     reading->args);
    if (!rc)
        rc = locate_variable(&grid, &reading->variable, ctx,
                             (struct located_step){reading->ds, reading->step,
                                                   reading->step_number},
                             reading->args->operands[1]);
    if (rc)
        return rc;
    bouma_grid_info_get(SIZED(&reading->grid), grid);
    bouma_variable_info_get(SIZED(&reading->about), reading->variable);
    rc = choose_level(reading, ctx);
    if (!rc)
        rc = component_argument(&reading->component, ctx, reading->args,
                                &reading->about, -1);
    if (!rc)
        rc = choose_box(reading, ctx);
    if (!rc)
        rc = read_within(reading, ctx);
    if (rc)
        return rc;
    status =
        bouma_variable_select(SIZED(&reading->selection), reading->variable,
                              reading->level, &reading->box);
    if (status)
        return library_failed(reading, ctx, status);
    return reading->selection.bytes ? DONE : refuse_nothing(reading, ctx);
}

/* ---- reading ------------------------------------------------------------- */

/* The shape of the output: that of the samples, and the components of each. */
static int output_shape(const struct reading *reading, int64_t *shape)
{
    int ndims = reading->selection.ndims;

    memcpy(shape, reading->selection.shape, (size_t)ndims * sizeof(*shape));
    if (reading->about.components > 1 && reading->component < 0)
        shape[ndims++] = reading->about.components;
    return ndims;
}

static uint64_t output_bytes(const struct reading *reading)
{
    return reading->component < 0
               ? reading->selection.bytes
               : reading->selection.bytes / (uint64_t)reading->about.components;
}

static int write_header(struct reading *reading, struct context *ctx)
{
    int64_t shape[NPY_MAX_DIMS];
    char header[EXPORT_HEADER];

    if (!reading->exporter->header)
        return DONE;
    reading->header_bytes = reading->exporter->header(
        header, reading->about.type, output_shape(reading, shape), shape);
    if (session_rank(ctx->session) > 0)
        return DONE;
    return output_write(&reading->output, ctx, header, reading->header_bytes,
                        0);
}

/* What process 0 has read within the budget. */
static int copy_refinement(struct reading *reading, struct context *ctx)
{
    uint64_t bytes = output_bytes(reading);
    const void *data;
    void *own = NULL;
    int status, rc;

    if (session_rank(ctx->session) > 0)
        return DONE;
    status = bouma_refinement_get(&data, NULL, NULL, reading->refinement);
    if (status)
        return library_failed(reading, ctx, status);
    if (reading->component >= 0) {
        own = malloc(bytes);
        if (!own)
            return context_fail(ctx, DATA_AT_FAULT, "no memory for %llu bytes",
                                (unsigned long long)bytes);
        component_pick(own, data, bytes / bouma_type_size(reading->about.type),
                       &reading->about, reading->component);
    }
    rc = output_write(&reading->output, ctx, own ? own : data, bytes,
                      reading->header_bytes);
    free(own);
    return rc;
}

/* Collective. */
static int copy_samples(struct reading *reading, struct context *ctx)
{
    struct extract extract = {.ds = reading->ds,
                              .step = reading->step,
                              .variable = reading->variable,
                              .component = reading->component,
                              .level = reading->level,
                              .box = reading->box,
                              .selection = reading->selection,
                              .patch = reading->grid.patch[0],
                              .output = &reading->output,
                              .bar = &reading->bar};
    int rc = output_create(&reading->output, ctx, reading->target);

    if (!rc)
        rc = write_header(reading, ctx);
    extract.header_bytes = reading->header_bytes;
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = reading->within.given
                 ? context_agree(ctx, copy_refinement(reading, ctx))
                 : extract_samples(&extract, ctx);
    return output_finish(&reading->output, ctx, rc);
}

/* ---- telling ------------------------------------------------------------- */

/* Bytes and files of all processes. Collective. */
static bouma_dataset_info count_reads(const struct reading *reading,
                                      struct context *ctx)
{
    bouma_dataset_info about = {.size = sizeof(about)};

    bouma_dataset_info_get(&about, reading->ds);
    about.bytes_read = session_sum(ctx->session, about.bytes_read);
    about.files_opened = session_sum(ctx->session, about.files_opened);
    return about;
}

static json_t *budget_json(const struct reading *reading)
{
    json_t *object = answer_json(&reading->answer);

    json_put(object, "error", json_number(reading->answer.error));
    json_put(object, "error_is_bound",
             json_boolean(reading->answer.error_is_bound));
    return object;
}

static int print_object(const struct reading *reading, struct context *ctx,
                        const bouma_dataset_info *reads)
{
    const bouma_selection *selection = &reading->selection;
    json_t *root = json_object();
    int64_t shape[NPY_MAX_DIMS];
    int ndims = output_shape(reading, shape);
    char descr[4];

    json_put(root, "output", json_text(reading->target));
    json_put(root, "step", json_integer(reading->step_number));
    json_put(root, "level", json_integer(reading->level));
    json_put(root, "shape", json_integers(shape, ndims));
    json_put(root, "first", json_integers(selection->first, selection->ndims));
    json_put(root, "origin", json_numbers(selection->origin, selection->ndims));
    json_put(root, "spacing",
             json_numbers(selection->spacing, selection->ndims));
    json_put(root, "type", json_text(bouma_type_name(reading->about.type)));
    json_put(root, "dtype", json_text(npy_descr(descr, reading->about.type)));
    if (reading->component >= 0)
        json_put(root, "component", json_integer(reading->component));
    json_put(root, "bytes", json_count(output_bytes(reading)));
    if (reading->within.given)
        json_put(root, "answer", budget_json(reading));
    json_put(root, "bytes_read", json_count(reads->bytes_read));
    json_put(root, "files_opened", json_count(reads->files_opened));
    json_put(root, "seconds", json_number(reading->seconds));
    return print_json(ctx, root);
}

/* How far the budget went. */
static void print_answer(const struct reading *reading)
{
    const bouma_answer *answer = &reading->answer;
    char bytes[FORMAT_BYTES], samples[FORMAT_BYTES];

    printf("level %d, error ", answer->level);
    if (isinf(answer->error))
        printf("not known");
    else
        printf("%s %g", answer->error_is_bound ? "at most" : "about",
               answer->error);
    if (!answer->complete)
        printf("; ended by %s: level %d has %s and takes up to %s more",
               answer_limit(answer), answer->level - 1,
               format_count(samples, answer->next_points, "sample"),
               format_bytes(bytes, answer->next_bytes));
    printf("\n");
}

static int print_text(const struct reading *reading,
                      const bouma_dataset_info *reads)
{
    int64_t extents[NPY_MAX_DIMS];
    int ndims = output_shape(reading, extents);
    char shape[FORMAT_BYTES], bytes[FORMAT_BYTES], read[FORMAT_BYTES],
        files[FORMAT_BYTES], seconds[FORMAT_BYTES];

    printf("%s: %s %s, %s; read %s from %s, %s\n", reading->target,
           format_shape(shape, ndims, extents),
           bouma_type_name(reading->about.type),
           format_bytes(bytes, output_bytes(reading)),
           format_bytes(read, reads->bytes_read),
           format_count(files, reads->files_opened, "file"),
           format_seconds(seconds, reading->seconds));
    if (reading->within.given)
        print_answer(reading);
    return DONE;
}

/* Standard output may be where the samples go. Collective. */
static int print_result(const struct reading *reading, struct context *ctx)
{
    bouma_dataset_info reads = count_reads(reading, ctx);

    if (!context_prints(ctx) || to_stream(reading))
        return DONE;
    return ctx->json ? print_object(reading, ctx, &reads)
                     : print_text(reading, &reads);
}

static int run(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct reading reading = {.args = args,
                              .path = args->operands[0],
                              .target = arguments_text(args, "output")};
    int rc =
        exporter_find(&reading.exporter, ctx, EXPORT_SAMPLES, reading.target);

    if (!rc)
        rc = select_samples(&reading, ctx);
    if (!rc)
        rc = copy_samples(&reading, ctx);
    progress_bar_clear(&reading.bar);
    reading.seconds = stopwatch_now() - start;
    if (!rc)
        rc = print_result(&reading, ctx);
    bouma_refinement_free(reading.refinement);
    bouma_step_free(reading.step);
    end_reading(ctx, reading.ds, rc);
    return rc;
}

const struct command cmd_read = {
    .name = "read",
    .summary = "read a box of a variable, at any level, into a file",
    .operands = "DS OBJECT/VAR -o OUT [options]",
    .least = 2,
    .most = 2,
    .examples =
        "  bouma read run.bouma grid/rho -o rho.npy\n"
        "  bouma read run.bouma grid/rho --level 3 -o small.npy\n"
        "  bouma read run.bouma grid/rho --step 40 --box :,100:200,-64: -o "
        "part.npy\n"
        "  bouma read run.bouma grid/flow --component 2 -o flow-z.npy\n"
        "  bouma read run.bouma grid/rho --level 2 -o - | od -f | head\n"
        "  bouma read run.bouma grid/rho --max-bytes 1M -o best.npy\n",
    .footer =
        "Boxes are half-open. An end that is left out is that of the "
        "grid; a negative one\n"
        "counts back from there. A box that extends beyond the grid is an "
        "error.\n"
        "\n"
        "Level K has the samples whose indices are multiples of 2^K. With "
        "the codec wavelet,\n"
        "or hz-wavelet, it has averages around them, for which no tolerance "
        "holds; `bouma info`\n"
        "marks such variables.\n"
        "\n"
        "--limit, --max-bytes and --max-error choose the level: the finest "
        "within them. The\n"
        "error of a coarse level is measured, as the largest difference from "
        "the next coarser\n"
        "one, interpolated; it is no bound. Bytes are those of data and of "
        "heads of files.\n",
    .options = options,
    .exports = EXPORT_SAMPLES,
    .run = run};
