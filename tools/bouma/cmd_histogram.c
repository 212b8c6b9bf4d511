/* cmd_histogram.c -- bouma histogram: how many samples or particles have which
 * values of a variable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "budget_arguments.h"
#include "end_reading.h"
#include "file_suffix.h"
#include "format_text.h"
#include "histogram_show.h"
#include "locate.h"
#include "numbers.h"
#include "particle_query.h"
#include "print_json.h"
#include "progress_bar.h"
#include "sized.h"
#include "stopwatch.h"

enum { USUAL_BINS = 20, MOST_BINS = 65536, USUAL_BYTES = 16 << 20 };

static const struct option_spec options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "OUT",
     .help = "a picture (.png) or a table (.csv); default: bars of text"},
    {.name = "step",
     .argument = "N",
     .help =
         "number of the step; -1: the last, -2: the one before; default: last"},
    {.name = "bins", .argument = "N", .help = "number of bins; default: 20"},
    {.name = "range",
     .argument = "A:B",
     .help = "ends of the bins; default: the recorded range"},
    {.name = "component",
     .argument = "J",
     .help = "component of a vector variable; default: 0"},
    {.name = "box",
     .argument = "BOX",
     .help = "as in read (grids) and query (particles); default: all"},
    {.name = "where",
     .argument = "EXPR",
     .help = "particles: conditions, as in query"},
    {.name = "max-bytes",
     .argument = "N",
     .help = "read at most N bytes of the step's files; N may end in K, M, G; "
             "default: 16M"},
    {.name = "limit",
     .argument = "N",
     .help = "look at no more than N values; N may end in K, M, G"},
    {.name = "exact", .help = "read and count all values"},
    {.name = "index",
     .help = "read no values, only the index: ranges and bitmaps"},
    {0}};

/* A request, and what it needs while it is carried out. */
struct counting {
    const struct arguments *args;
    const char *path, *target; /* of the dataset; OUT, or NULL */
    struct progress_bar bar;
    bouma_options opts;
    bouma_dataset *ds;
    bouma_step *step;
    int64_t step_number;
    bouma_variable *variable;
    bouma_variable_info about;
    bouma_box box;               /* of a grid */
    struct particle_query query; /* of particles */
    bouma_condition never;
    bool of_particles;
    bouma_histogram_spec spec;
    struct budget_arguments within;
    bouma_bin *bins;
    bouma_histogram histogram;
    char title[700], label[700];
    double seconds;
};

/* ---- what to count ------------------------------------------------------- */

static bool is_table(const struct counting *counting)
{
    return counting->target && ends_in(counting->target, ".csv");
}

static int check_target(const struct counting *counting, struct context *ctx)
{
    const struct exporter *picture;

    if (!counting->target || is_table(counting))
        return DONE;
    if (!ends_in(counting->target, ".png"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "-o %s: must end in .png, a picture, or in .csv, "
                            "a table",
                            counting->target);
    return exporter_find(&picture, ctx, EXPORT_PICTURE, counting->target);
}

/* How much is read: --exact, --index, or within a budget. */
static int choose_basis(struct counting *counting, struct context *ctx)
{
    const struct arguments *args = counting->args;
    bool exact = arguments_has(args, "exact"), index;
    int rc = budget_arguments_read(&counting->within, ctx, args);

    index = arguments_has(args, "index");
    if (!rc && exact && (index || counting->within.given))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--exact and --%s cannot be combined: all values "
                          "are read",
                          index                          ? "index"
                          : arguments_has(args, "limit") ? "limit"
                                                         : "max-bytes");
    if (!rc && index && arguments_has(args, "limit"))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--index and --limit cannot be combined: no value "
                          "is read");
    counting->spec.index_only = index;
    if (!exact && !index && !arguments_has(args, "max-bytes"))
        counting->within.budget.bytes = USUAL_BYTES;
    counting->within.given = counting->within.given || (!exact && !index);
    return rc;
}

static int choose_bins(struct counting *counting, struct context *ctx)
{
    const char *range = arguments_text(counting->args, "range");
    int64_t bins = USUAL_BINS, component = 0;
    char message[256];
    int rc = arguments_integer(counting->args, ctx, "bins", 1, &bins);

    if (!rc && bins > MOST_BINS)
        rc = context_fail(ctx, CALL_AT_FAULT, "--bins %lld: at most %d",
                          (long long)bins, MOST_BINS);
    if (!rc)
        rc = arguments_integer(counting->args, ctx, "component", 0, &component);
    if (!rc && component >= counting->about.components)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--component %lld: %s has components 0 to %d",
                          (long long)component, counting->args->operands[1],
                          counting->about.components - 1);
    counting->spec.size = sizeof(counting->spec);
    counting->spec.bins = (size_t)bins;
    counting->spec.component = (int)component;
    if (!rc && range &&
        (!parse_coordinates(range, 1, &counting->spec.low, &counting->spec.high,
                            message, sizeof(message)) ||
         !(counting->spec.low < counting->spec.high &&
           counting->spec.high - counting->spec.low < HUGE_VAL)))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--range %s: not two ascending numbers with a colon "
                          "between",
                          range);
    return rc;
}

/* ---- finding it ---------------------------------------------------------- */

/* The name of the object in OBJECT/VAR; false if there is no slash. */
static bool split(const char *name, char object[300], const char **variable)
{
    size_t length = strcspn(name, "/");

    if (!name[length] || length >= 300)
        return false;
    memcpy(object, name, length);
    object[length] = '\0';
    *variable = name + length + 1;
    return true;
}

static int find_grid(struct counting *counting, struct context *ctx,
                     struct located_step in)
{
    const char *text = arguments_text(counting->args, "box");
    bouma_grid_info grid;
    bouma_grid *handle;
    char message[256];
    int rc = locate_variable(&handle, &counting->variable, ctx, in,
                             counting->args->operands[1]);

    if (!rc && arguments_has(counting->args, "where"))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--where is for particles, and %s is of a grid",
                          counting->args->operands[1]);
    if (rc)
        return rc;
    bouma_grid_info_get(SIZED(&grid), handle);
    for (int i = 0; i < grid.ndims; i++)
        counting->box.hi[i] = grid.shape[i];
    if (text && !parse_box(text, grid.ndims, grid.shape, &counting->box,
                           message, sizeof(message)))
        return context_fail(ctx, CALL_AT_FAULT, "--box: %s", message);
    return DONE;
}

/* Conditions that nothing can meet, as one of them. */
static void ask_for_nothing(struct counting *counting)
{
    counting->never = (bouma_condition){.size = sizeof(counting->never),
                                        .variable = counting->variable,
                                        .low = bouma_value_int(1),
                                        .high = bouma_value_int(0)};
    counting->query.query.box = NULL;
    counting->query.query.conditions = &counting->never;
    counting->query.query.condition_count = 1;
}

static int find_particles(struct counting *counting, struct context *ctx,
                          bouma_particles *particles, const char *variable)
{
    int rc =
        locate_particle_variable(&counting->variable, ctx, particles, variable);

    if (!rc)
        rc = particle_query_read(&counting->query, ctx, counting->args,
                                 counting->ds, particles);
    if (!rc && counting->query.never)
        ask_for_nothing(counting);
    return rc;
}

/* Open the dataset and find what is asked for. Collective. */
static int select_values(struct counting *counting, struct context *ctx)
{
    const char *name = counting->args->operands[1], *variable = NULL;
    bouma_particles *particles = NULL;
    struct located_step in;
    char object[300];
    int status, rc;

    counting->opts = (bouma_options){.size = sizeof(counting->opts)};
    progress_bar_init(&counting->bar, ctx, &counting->opts);
    status = session_open(ctx->session, &counting->ds, counting->path,
                          &counting->opts);
    if (status)
        return context_fail_status(ctx, status,
                                   bouma_error_message(counting->ds));
    rc = locate_step(&counting->step, &counting->step_number, ctx, counting->ds,
                     counting->args);
    if (rc)
        return rc;
    in = (struct located_step){counting->ds, counting->step,
                               counting->step_number};
    if (split(name, object, &variable))
        particles = bouma_step_find_particles(counting->step, object);
    counting->of_particles = particles != NULL;
    rc = particles ? find_particles(counting, ctx, particles, variable)
                   : find_grid(counting, ctx, in);
    if (rc)
        return rc;
    bouma_variable_info_get(SIZED(&counting->about), counting->variable);
    rc = choose_basis(counting, ctx);
    return rc ? rc : choose_bins(counting, ctx);
}

/* ---- counting ------------------------------------------------------------ */

/* Process 0 counts alone; all learn the result. Collective. */
static int count_values(struct counting *counting, struct context *ctx)
{
    const bouma_budget *budget =
        counting->within.given ? &counting->within.budget : NULL;
    int status = BOUMA_OK, rc = DONE;

    counting->bins = calloc(counting->spec.bins, sizeof(*counting->bins));
    counting->histogram.size = sizeof(counting->histogram);
    if (!counting->bins)
        rc = context_fail_memory(ctx);
    else if (session_rank(ctx->session) == 0)
        status =
            counting->of_particles
                ? bouma_particles_histogram(
                      &counting->histogram, counting->bins, counting->variable,
                      &counting->spec, &counting->query.query, budget)
                : bouma_variable_histogram(&counting->histogram, counting->bins,
                                           counting->variable, &counting->spec,
                                           &counting->box, budget);
    if (status)
        rc =
            context_fail_status(ctx, status, bouma_error_message(counting->ds));
    rc = context_agree(ctx, rc);
    if (rc)
        return rc;
    session_broadcast(ctx->session, &counting->histogram,
                      sizeof(counting->histogram));
    session_broadcast(ctx->session, counting->bins,
                      counting->spec.bins * sizeof(*counting->bins));
    return DONE;
}

/* ---- telling ------------------------------------------------------------- */

static const char *basis_name(const struct counting *counting)
{
    switch (counting->histogram.basis) {
    case BOUMA_BASIS_INDEX:
        return "index";
    case BOUMA_BASIS_SAMPLE:
        return "sample";
    case BOUMA_BASIS_EXACT:
        break;
    }
    return "exact";
}

static const char *limit_name(const struct counting *counting)
{
    const bouma_answer answer = {.limit = counting->histogram.limit};

    return answer_limit(&answer);
}

static void make_texts(struct counting *counting)
{
    const char *unit = counting->about.unit;
    char part[20] = "";

    if (counting->about.components > 1)
        snprintf(part, sizeof(part), "[%d]", counting->spec.component);
    snprintf(counting->label, sizeof(counting->label), "%s%s%s%s",
             counting->about.name, part, unit && *unit ? " in " : "",
             unit ? unit : "");
    snprintf(counting->title, sizeof(counting->title), "%s%s, step %lld (%s)",
             counting->args->operands[1], part,
             (long long)counting->step_number, basis_name(counting));
}

static struct histogram_shown shown_of(const struct counting *counting)
{
    return (struct histogram_shown){counting->title, counting->label,
                                    counting->histogram, counting->bins,
                                    counting->spec.bins};
}

/* Collective. */
static int write_table(const struct counting *counting, struct context *ctx)
{
    struct histogram_shown shown = shown_of(counting);
    struct output output;
    char *text = NULL;
    size_t bytes = 0;
    int rc = output_create(&output, ctx, counting->target);

    if (!rc && session_rank(ctx->session) == 0) {
        rc = histogram_table(&text, &bytes, ctx, &shown);
        if (!rc)
            rc = output_write(&output, ctx, text, bytes, 0);
    }
    free(text);
    return output_finish(&output, ctx, rc);
}

/* Collective. */
static int write_picture(const struct counting *counting, struct context *ctx)
{
    struct histogram_shown shown = shown_of(counting);
    struct canvas canvas = {0};
    int rc = context_agree(ctx, histogram_draw(&canvas, ctx, &shown));

    if (!rc)
        rc = exporter_draw(ctx, counting->target, &canvas);
    canvas_release(&canvas);
    return rc;
}

static json_t *bin_json(const bouma_bin *bin)
{
    json_t *object = json_object();

    json_put(object, "low", json_number(bin->low));
    json_put(object, "high", json_number(bin->high));
    json_put(object, "count", json_number(bin->estimate));
    json_put(object, "error", json_number(bin->error));
    json_put(object, "lower", json_count(bin->lower));
    json_put(object, "upper", json_count(bin->upper));
    return object;
}

static int print_object(const struct counting *counting, struct context *ctx,
                        const bouma_dataset_info *reads)
{
    const bouma_histogram *h = &counting->histogram;
    json_t *root = json_object(), *bins = json_array();

    for (size_t i = 0; i < counting->spec.bins; i++)
        json_array_append_new(bins, bin_json(&counting->bins[i]));
    json_put(root, "output",
             counting->target ? json_text(counting->target) : json_null());
    json_put(root, "step", json_integer(counting->step_number));
    json_put(root, "variable", json_text(counting->args->operands[1]));
    json_put(root, "component", json_integer(counting->spec.component));
    json_put(root, "basis", json_text(basis_name(counting)));
    json_put(root, "level",
             h->level < 0 ? json_null() : json_integer(h->level));
    json_put(root, "limit",
             h->limit ? json_text(limit_name(counting)) : json_null());
    json_put(root, "next_bytes", json_count(h->next_bytes));
    json_put(root, "points", json_count(h->points));
    json_put(root, "all", bin_json(&h->all));
    json_put(root, "below", bin_json(&h->below));
    json_put(root, "above", bin_json(&h->above));
    json_put(root, "bins", bins);
    json_put(root, "bytes_read", json_count(reads->bytes_read));
    json_put(root, "files_opened", json_count(reads->files_opened));
    json_put(root, "seconds", json_number(counting->seconds));
    return print_json(ctx, root);
}

/* How the counts are known. */
static void print_basis(const struct counting *counting)
{
    const bouma_histogram *h = &counting->histogram;
    char points[FORMAT_BYTES], bytes[FORMAT_BYTES];

    if (h->basis == BOUMA_BASIS_EXACT)
        printf("%s counted", format_count(points, h->points, "value"));
    else if (h->basis == BOUMA_BASIS_SAMPLE)
        printf("estimated from %s of about %.0f, down to level %d",
               format_count(points, h->points, "value"), h->all.estimate,
               h->level);
    else
        printf("estimated from the index, of about %.0f values",
               h->all.estimate);
    if (h->limit)
        printf("; ended by %s: more takes up to %s", limit_name(counting),
               format_bytes(bytes, h->next_bytes));
    printf("\n");
}

static int print_text(const struct counting *counting, struct context *ctx,
                      const bouma_dataset_info *reads)
{
    char read[FORMAT_BYTES], files[FORMAT_BYTES], seconds[FORMAT_BYTES];
    struct histogram_shown shown = shown_of(counting);

    print_clean(counting->target ? counting->target
                                 : counting->args->operands[1]);
    printf(": %s; read %s from %s, %s\n", counting->label,
           format_bytes(read, reads->bytes_read),
           format_count(files, reads->files_opened, "file"),
           format_seconds(seconds, counting->seconds));
    print_basis(counting);
    return counting->target ? DONE : histogram_print(&shown, ctx);
}

/* Collective. */
static int tell(const struct counting *counting, struct context *ctx)
{
    bouma_dataset_info reads = {.size = sizeof(reads)};

    bouma_dataset_info_get(&reads, counting->ds);
    reads.bytes_read = session_sum(ctx->session, reads.bytes_read);
    reads.files_opened = session_sum(ctx->session, reads.files_opened);
    if (!context_prints(ctx))
        return DONE;
    return ctx->json ? print_object(counting, ctx, &reads)
                     : print_text(counting, ctx, &reads);
}

static int run(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct counting counting = {.args = args,
                                .path = args->operands[0],
                                .target = arguments_text(args, "output")};
    int rc = check_target(&counting, ctx);

    if (!rc)
        rc = select_values(&counting, ctx);
    if (!rc)
        rc = count_values(&counting, ctx);
    if (!rc)
        make_texts(&counting);
    if (!rc && counting.target)
        rc = is_table(&counting) ? write_table(&counting, ctx)
                                 : write_picture(&counting, ctx);
    progress_bar_clear(&counting.bar);
    counting.seconds = stopwatch_now() - start;
    if (!rc)
        rc = tell(&counting, ctx);
    free(counting.bins);
    particle_query_release(&counting.query);
    bouma_step_free(counting.step);
    end_reading(ctx, counting.ds, rc);
    return rc;
}

const struct command cmd_histogram = {
    .name = "histogram",
    .summary = "count values of a variable in bins, exactly or in a moment",
    .operands = "DS OBJECT/VAR [-o OUT] [options]",
    .least = 2,
    .most = 2,
    .examples =
        "  bouma histogram run.bouma flow/density\n"
        "  bouma histogram run.bouma atoms/mass --where 'x < 0.5' --exact\n"
        "  bouma histogram run.bouma atoms/mass --index --json\n"
        "  bouma histogram run.bouma atoms/mass --bins 100 --range 0:5 "
        "-o mass.png\n",
    .footer =
        "Of data that take more than 16 MiB, or than --max-bytes, coarse "
        "levels are read, and\ncounts are estimated: with a standard error "
        "(+-), and with bounds that hold in any\ncase (LOWEST, HIGHEST). A "
        "bar has # up to a standard error below the count, = up to\nit, and "
        "- up to a standard error above it. Bins are half-open; the last one "
        "has its\nupper end, too.\n",
    .options = options,
    .exports = EXPORT_PICTURE,
    .run = run};
