/* cmd_query.c -- bouma query: particles of a set, by quality, box and values of
 * attributes, into a file; or just their number and ranges. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "budget_arguments.h"
#include "end_reading.h"
#include "format_text.h"
#include "locate.h"
#include "npy.h"
#include "particle_query.h"
#include "particle_sink.h"
#include "print_json.h"
#include "progress_bar.h"
#include "stopwatch.h"
#include "text_table.h"

static const struct option_spec options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "OUT",
     .help = "output file, its extension sets the format; -: text on standard "
             "output; default: only count"},
    {.name = "step",
     .argument = "N",
     .help =
         "number of the step; -1: the last, -2: the one before; default: last"},
    {.name = "quality",
     .argument = "Q",
     .help = "fraction of the particles, 0 to 1; default: 1, all"},
    {.name = "from",
     .argument = "Q0",
     .help = "only the particles that quality Q adds to Q0; default: 0"},
    {.name = "box",
     .argument = "BOX",
     .help = "x0:x1,y0:y1,z0:z1 in coordinates; default: all"},
    {.name = "where",
     .argument = "EXPR",
     .help = "conditions, such as '3 < mass <= 5 && velocity[2] > 0'"},
    {.name = "sample",
     .argument = "N",
     .help = "an even sample: N particles, spread uniformly in space"},
    {.name = "seed",
     .argument = "S",
     .help = "with --sample: a simple random sample; S = 1, 2, ...: "
             "independent samples"},
    {.name = "limit",
     .argument = "N",
     .help = "at most N particles, spread evenly; N may end in K, M, G"},
    BUDGET_MAX_BYTES,
    {.name = "variables",
     .argument = "A,B",
     .help = "variables to read; default: all"},
    {0}};

/* A request, and what it needs while it is carried out. */
struct querying {
    const struct arguments *args;
    const char *path, *target;       /* of the dataset; OUT, or NULL */
    const struct exporter *exporter; /* of OUT; or NULL */
    struct progress_bar bar;
    bouma_options opts;
    bouma_dataset *ds;
    bouma_step *step;
    int64_t step_number;
    struct particle_query query;
    struct output output;
    struct particle_sink sink;
    double seconds;
};

static bool to_stream(const struct querying *querying)
{
    return querying->target && strcmp(querying->target, "-") == 0;
}

static int check_target(struct querying *querying, struct context *ctx)
{
    return querying->target ? exporter_find(&querying->exporter, ctx,
                                            EXPORT_PARTICLES, querying->target)
                            : DONE;
}

/* Open the dataset and find what is asked for. Collective. */
static int select_particles(struct querying *querying, struct context *ctx)
{
    const char *variables = arguments_text(querying->args, "variables");
    bouma_particles *particles;
    int status, rc;

    querying->opts = (bouma_options){.size = sizeof(querying->opts)};
    progress_bar_init(&querying->bar, ctx, &querying->opts);
    status = session_open(ctx->session, &querying->ds, querying->path,
                          &querying->opts);
    if (status)
        return context_fail_status(ctx, status,
                                   bouma_error_message(querying->ds));
    rc = locate_step(&querying->step, &querying->step_number, ctx, querying->ds,
                     querying->args);
    if (!rc)
        rc =
            locate_particles(&particles, ctx,
                             (struct located_step){querying->ds, querying->step,
                                                   querying->step_number},
                             querying->args->operands[1]);
    if (!rc)
        rc = particle_query_read(&querying->query, ctx, querying->args,
                                 querying->ds, particles);
    if (!rc)
        rc = variables ? particle_query_these(&querying->query, ctx, variables)
                       : particle_query_all(&querying->query, ctx);
    return rc ? rc : particle_query_read_within(&querying->query, ctx);
}

/* Process 0 reads and writes alone; the others take part in the output's
 * collective calls. Collective. */
static int copy_particles(struct querying *querying, struct context *ctx)
{
    const struct particle_query *query = &querying->query;
    struct particle_sink *sink = &querying->sink;
    int rc = DONE;

    if (querying->exporter)
        rc = output_create(&querying->output, ctx, querying->target);
    if (!rc && session_rank(ctx->session) == 0) {
        rc = particle_sink_open(sink, ctx, querying->exporter, query->infos,
                                query->count, &querying->output);
        if (!rc)
            rc = particle_query_run(query, ctx, particle_sink_take, sink);
        if (!rc)
            rc = particle_sink_finish(sink);
    }
    if (querying->exporter)
        return output_finish(&querying->output, ctx, rc);
    return context_agree(ctx, rc);
}

/* ---- telling ------------------------------------------------------------- */

static json_t *variable_json(const struct querying *querying, size_t v)
{
    const bouma_variable_info *about = &querying->query.infos[v];
    json_t *object = json_object(), *ranges;
    char descr[4];

    json_put(object, "name", json_text(about->name));
    json_put(object, "type", json_text(bouma_type_name(about->type)));
    json_put(object, "dtype", json_text(npy_descr(descr, about->type)));
    json_put(object, "components", json_integer(about->components));
    if (!querying->sink.ranges)
        return object;
    ranges = json_array();
    for (int c = 0; c < about->components; c++) {
        const bouma_range *range = &querying->sink.ranges[v][c];
        json_t *of = json_object();

        json_put(of, "min",
                 range->empty ? json_null() : json_value(range->exact_low));
        json_put(of, "max",
                 range->empty ? json_null() : json_value(range->exact_high));
        json_put(of, "nans", json_count(range->nans));
        json_array_append_new(ranges, of);
    }
    json_put(object, "ranges", ranges);
    return object;
}

static int print_object(const struct querying *querying, struct context *ctx,
                        const bouma_dataset_info *reads)
{
    const struct particle_query *query = &querying->query;
    json_t *root = json_object(), *variables = json_array();

    for (size_t v = 0; v < query->count; v++)
        json_array_append_new(variables, variable_json(querying, v));
    json_put(root, "output",
             querying->target ? json_text(querying->target) : json_null());
    json_put(root, "step", json_integer(querying->step_number));
    json_put(root, "particles", json_text(query->about.name));
    json_put(root, "from", json_number(query->query.from));
    json_put(root, "quality", json_number(query->query.quality));
    if (query->within.given)
        json_put(root, "answer", answer_json(&query->answer));
    json_put(root, "count", json_count(querying->sink.particles));
    json_put(root, "variables", variables);
    json_put(root, "bytes_read", json_count(reads->bytes_read));
    json_put(root, "files_opened", json_count(reads->files_opened));
    json_put(root, "seconds", json_number(querying->seconds));
    return print_json(ctx, root);
}

static void add_range(struct text_table *table, const char *name,
                      bouma_type type, const bouma_range *range)
{
    char low[FORMAT_BYTES], high[FORMAT_BYTES];

    text_table_add(table, "%s", name);
    text_table_add(table, "%s", bouma_type_name(type));
    if (range->empty)
        text_table_add(table, "-");
    else
        text_table_add(table, "%s to %s", format_value(low, range->exact_low),
                       format_value(high, range->exact_high));
    text_table_add(table, "%" PRIu64, range->nans);
}

static int print_ranges(const struct querying *querying, struct context *ctx)
{
    const struct particle_query *query = &querying->query;
    struct text_table table;
    int rc;

    text_table_init(&table, "lllr");
    text_table_add(&table, "VARIABLE");
    text_table_add(&table, "TYPE");
    text_table_add(&table, "RANGE");
    text_table_add(&table, "NAN");
    for (size_t v = 0; v < query->count; v++)
        for (int c = 0; c < query->infos[v].components; c++) {
            char name[300];

            if (query->infos[v].components > 1)
                snprintf(name, sizeof(name), "%s[%d]", query->infos[v].name, c);
            else
                snprintf(name, sizeof(name), "%s", query->infos[v].name);
            add_range(&table, name, query->infos[v].type,
                      &querying->sink.ranges[v][c]);
        }
    rc = text_table_print(&table, ctx, 2);
    text_table_release(&table);
    return rc;
}

/* How far the budget went. */
static void print_answer(const bouma_answer *answer)
{
    char bytes[FORMAT_BYTES], particles[FORMAT_BYTES];

    printf("quality %g", answer->quality);
    if (!answer->complete)
        printf("; ended by %s: the next level of detail has up to %s and takes "
               "up to %s more",
               answer_limit(answer),
               format_count(particles, answer->next_points, "particle"),
               format_bytes(bytes, answer->next_bytes));
    printf("\n");
}

static int print_text(const struct querying *querying, struct context *ctx,
                      const bouma_dataset_info *reads)
{
    const struct particle_query *query = &querying->query;
    char count[FORMAT_BYTES], read[FORMAT_BYTES], files[FORMAT_BYTES],
        seconds[FORMAT_BYTES];

    if (querying->target)
        printf("%s", querying->target);
    else
        print_clean(query->about.name);
    printf(": %s of %" PRIu64 "; read %s from %s, %s\n",
           format_count(count, querying->sink.particles, "particle"),
           query->about.count, format_bytes(read, reads->bytes_read),
           format_count(files, reads->files_opened, "file"),
           format_seconds(seconds, querying->seconds));
    if (query->within.given)
        print_answer(&query->answer);
    return querying->target ? DONE : print_ranges(querying, ctx);
}

/* Standard output may be where the particles go. Collective. */
static int print_result(const struct querying *querying, struct context *ctx)
{
    bouma_dataset_info reads = {.size = sizeof(reads)};

    bouma_dataset_info_get(&reads, querying->ds);
    reads.bytes_read = session_sum(ctx->session, reads.bytes_read);
    reads.files_opened = session_sum(ctx->session, reads.files_opened);
    if (!context_prints(ctx) || to_stream(querying))
        return DONE;
    return ctx->json ? print_object(querying, ctx, &reads)
                     : print_text(querying, ctx, &reads);
}

static int run(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct querying querying = {.args = args,
                                .path = args->operands[0],
                                .target = arguments_text(args, "output")};
    int rc = check_target(&querying, ctx);

    if (!rc)
        rc = select_particles(&querying, ctx);
    if (!rc)
        rc = copy_particles(&querying, ctx);
    progress_bar_clear(&querying.bar);
    querying.seconds = stopwatch_now() - start;
    if (!rc)
        rc = print_result(&querying, ctx);
    particle_sink_release(&querying.sink);
    particle_query_release(&querying.query);
    bouma_step_free(querying.step);
    end_reading(ctx, querying.ds, rc);
    return rc;
}

const struct command cmd_query = {
    .name = "query",
    .summary = "read particles by quality, box and values of variables",
    .operands = "DS PARTICLES [-o OUT] [options]",
    .least = 2,
    .most = 2,
    .examples =
        "  bouma query run.bouma atoms --quality 0.01 -o few.npz\n"
        "  bouma query run.bouma atoms --box 0:5,:,-1.5: -o part.csv\n"
        "  bouma query run.bouma atoms --where '3 < mass <= 5 && x < 0.5'\n"
        "  bouma query run.bouma atoms --sample 1000 --variables "
        "position,mass -o some.npz\n"
        "  bouma query run.bouma atoms --limit 1M --box 0:5,:,: -o few.npz\n",
    .footer =
        "Boxes are half-open, in the order of the position's components; "
        "an end that is\nleft out is unbounded. In EXPR, comparisons (<, "
        "<=, >, >=, ==, !=) of a variable\nwith a number are joined by && or "
        "'and', || or 'or', and negated by ! or 'not', with\nparentheses "
        "where needed; NaN meets no comparison, nor its negation. "
        "name[2] is a\ncomponent, 'a b' a name with blanks, and x, y "
        "and z are the components of the\nposition, unless a variable "
        "has that name. Queries from 0 to 0.1 and "
        "from 0.1 to 1 give each\nparticle once. --limit and --max-bytes "
        "choose the quality: the highest within them,\nup to that of "
        "--quality. Bytes are those of data, heads and trees.\n",
    .options = options,
    .exports = EXPORT_PARTICLES,
    .run = run};
