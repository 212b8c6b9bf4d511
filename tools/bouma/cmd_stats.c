/* cmd_stats.c -- bouma stats: ranges, means and deviations of variables. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "dataset_steps.h"
#include "end_reading.h"
#include "format_text.h"
#include "print_json.h"
#include "progress_bar.h"
#include "read_pieces.h"
#include "sample_value.h"
#include "sized.h"
#include "text_table.h"

static const struct option_spec options[] = {
    {.name = "step",
     .argument = "S",
     .help = "N, -N (counted from the end), last, all or FIRST:END[:EACH]; "
             "default: last"},
    {0}};

/* ---- the values of a component ------------------------------------------- */

struct summary {
    uint64_t values, nans, infinite; /* values: the finite ones */
    bouma_value low, high;           /* of all but NaN; type 0: there is none */
    double mean, squares;            /* of finite values, and the sum of squares
                                        of their distances from the mean */
};

static bool is_below(bouma_value a, bouma_value b)
{
    return a.type == BOUMA_TYPE_I64   ? a.i < b.i
           : a.type == BOUMA_TYPE_U64 ? a.u < b.u
                                      : a.f < b.f;
}

/* Welford, "Note on a method for calculating corrected sums of squares and
 * products" (1962): no digits cancel. */
static void summary_add(struct summary *summary, bouma_value value)
{
    double number = value_number(value), distance = number - summary->mean;

    if (isnan(number)) {
        summary->nans++;
        return;
    }
    if (!summary->low.type || is_below(value, summary->low))
        summary->low = value;
    if (!summary->high.type || is_below(summary->high, value))
        summary->high = value;
    if (isinf(number)) {
        summary->infinite++;
        return;
    }
    summary->values++;
    summary->mean += distance / (double)summary->values;
    summary->squares += distance * (number - summary->mean);
}

static double summary_mean(const struct summary *summary)
{
    return summary->values ? summary->mean : NAN;
}

/* That of the values themselves, and not of what they are a sample of. */
static double summary_deviation(const struct summary *summary)
{
    return summary->values ? sqrt(summary->squares / (double)summary->values)
                           : NAN;
}

/* ---- a variable ---------------------------------------------------------- */

struct tally {
    const bouma_variable_info *about;
    struct summary *summaries; /* [components] */
};

static int add_piece(void *user, struct context *ctx,
                     const struct grid_piece *piece)
{
    struct tally *tally = user;
    size_t components = (size_t)tally->about->components, i = 0;

    (void)ctx;
    for (uint64_t s = 0; s < piece->samples; s++)
        for (size_t c = 0; c < components; c++)
            summary_add(&tally->summaries[c],
                        sample_value(tally->about->type, piece->values, i++));
    return DONE;
}

static int add_batch(void *user, const bouma_batch *batch)
{
    struct tally *tally = user;
    size_t i = 0;

    for (int c = 0; c < tally->about->components; c++)
        for (uint64_t p = 0; p < batch->count; p++)
            summary_add(
                &tally->summaries[c],
                sample_value(tally->about->type, batch->columns[0], i++));
    return 0;
}

static int tally_variable(struct tally *tally, struct context *ctx,
                          bouma_dataset *ds, const struct entry *entry)
{
    bouma_particles_query query = {.size = sizeof(query),
                                   .variables = &entry->variable,
                                   .variable_count = 1};
    int status;

    if (entry->grid)
        return read_grid_pieces(ctx, ds, entry, add_piece, tally);
    status =
        bouma_particles_query_run(entry->particles, &query, add_batch, tally);
    return status ? context_fail_status(ctx, status, bouma_error_message(ds))
                  : DONE;
}

/* ---- all of them --------------------------------------------------------- */

struct statistics {
    const struct arguments *args;
    bouma_dataset *ds;
    struct progress_bar bar;
    bool several; /* steps, so that each line has its number */
    uint64_t found;
    struct text_table table;
    json_t *entries;
};

static void add_row(struct statistics *all, const struct entry *entry,
                    int64_t step, int component, const struct summary *summary)
{
    struct text_table *table = &all->table;
    char text[FORMAT_BYTES], which[32] = "";

    if (all->several)
        text_table_add(table, "%" PRId64, step);
    if (entry->about.components > 1)
        snprintf(which, sizeof(which), "[%d]", component);
    text_table_add(table, "%s/%s%s", entry->object, entry->about.name, which);
    text_table_add(table, "%" PRIu64,
                   summary->values + summary->infinite + summary->nans);
    text_table_add(table, "%" PRIu64, summary->nans);
    text_table_add(table, "%" PRIu64, summary->infinite);
    text_table_add(table, "%s",
                   summary->low.type ? format_value(text, summary->low) : "-");
    text_table_add(table, "%s",
                   summary->high.type ? format_value(text, summary->high)
                                      : "-");
    if (summary->values) {
        text_table_add(table, "%.9g", summary_mean(summary));
        text_table_add(table, "%.9g", summary_deviation(summary));
    } else {
        text_table_add(table, "-");
        text_table_add(table, "-");
    }
    text_table_add(table, "%s", entry->about.unit ? entry->about.unit : "");
}

static void add_element(struct statistics *all, const struct entry *entry,
                        int64_t step, int component,
                        const struct summary *summary)
{
    json_t *element = json_object();

    json_put(element, "step", json_integer(step));
    json_put(element, "object", json_text(entry->object));
    json_put(element, "variable", json_text(entry->about.name));
    json_put(element, "component", json_integer(component));
    json_put(element, "count",
             json_count(summary->values + summary->infinite + summary->nans));
    json_put(element, "nans", json_count(summary->nans));
    json_put(element, "infinite", json_count(summary->infinite));
    json_put(element, "low",
             summary->low.type ? json_value(summary->low) : json_null());
    json_put(element, "high",
             summary->high.type ? json_value(summary->high) : json_null());
    json_put(element, "mean",
             summary->values ? json_number(summary_mean(summary))
                             : json_null());
    json_put(element, "deviation",
             summary->values ? json_number(summary_deviation(summary))
                             : json_null());
    json_array_append_new(all->entries, element);
}

static int add_variable(struct statistics *all, struct context *ctx,
                        const struct entry *entry, int64_t step)
{
    size_t components = (size_t)entry->about.components;
    struct tally tally = {.about = &entry->about,
                          .summaries =
                              calloc(components, sizeof(*tally.summaries))};
    int rc = tally.summaries ? tally_variable(&tally, ctx, all->ds, entry)
                             : context_fail_memory(ctx);

    for (int c = 0; !rc && c < entry->about.components; c++)
        if (ctx->json)
            add_element(all, entry, step, c, &tally.summaries[c]);
        else
            add_row(all, entry, step, c, &tally.summaries[c]);
    free(tally.summaries);
    return rc;
}

static int add_step(struct statistics *all, struct context *ctx, int64_t step)
{
    struct entry_cursor cursor = {.patterns = all->args->operands + 1,
                                  .pattern_count =
                                      all->args->operand_count - 1};
    int status = bouma_step_open(&cursor.step, all->ds, step);
    struct entry entry;
    int rc = DONE;

    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(all->ds));
    if (!rc && !all->several)
        rc = entry_check_patterns(ctx, cursor, step);
    while (!rc && entry_next(&entry, &cursor))
        if (entry.about.present) {
            rc = add_variable(all, ctx, &entry, step);
            all->found++;
        }
    bouma_step_free(cursor.step);
    return rc;
}

static int print_all(struct statistics *all, struct context *ctx)
{
    json_t *root;

    progress_bar_clear(&all->bar);
    if (!ctx->json)
        return text_table_print(&all->table, ctx, 0);
    root = json_object();
    json_put(root, "dataset", json_text(all->args->operands[0]));
    json_put(root, "entries", json_incref(all->entries));
    return print_json(ctx, root);
}

static int add_steps(struct statistics *all, struct context *ctx)
{
    static const char *const heads[] = {"STEP",      "NAME", "COUNT", "NAN",
                                        "INF",       "LOW",  "HIGH",  "MEAN",
                                        "DEVIATION", "UNIT"};
    const char *text = arguments_text(all->args, "step");
    struct dataset_choice choice = {.ds = all->ds,
                                    .path = all->args->operands[0],
                                    .text = text ? text : "last"};
    int64_t *steps = NULL;
    size_t count = 0;
    int rc = dataset_steps(&steps, &count, ctx, &choice);

    all->several = count > 1;
    text_table_init(&all->table, all->several ? "rlrrrrrrrl" : "lrrrrrrrl");
    for (int i = all->several ? 0 : 1; i < 10; i++)
        text_table_add(&all->table, "%s", heads[i]);
    if (ctx->json)
        all->entries = json_array();
    for (size_t i = 0; !rc && i < count; i++) {
        progress_bar_piece(&all->bar, (int64_t)i, (int64_t)count);
        rc = add_step(all, ctx, steps[i]);
    }
    if (!rc && !all->found)
        rc = context_fail_missing(
            ctx, "there are no data of '%s' in %s",
            all->args->operand_count > 1 ? all->args->operands[1] : "*",
            count > 1 ? "these steps" : "this step");
    if (!rc)
        rc = print_all(all, ctx);
    text_table_release(&all->table);
    json_decref(all->entries);
    free(steps);
    return rc;
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct statistics all = {.args = args};
    bouma_options opts = {.size = sizeof(opts)};
    int status, rc;

    if (!context_prints(ctx)) /* process 0 reads all */
        return DONE;
    progress_bar_init(&all.bar, ctx, &opts);
    status = bouma_dataset_open(&all.ds, args->operands[0], &opts);
    rc = status ? context_fail_status(ctx, status, bouma_error_message(all.ds))
                : add_steps(&all, ctx);
    progress_bar_clear(&all.bar);
    end_reading_alone(ctx, all.ds);
    return rc;
}

const struct command cmd_stats = {
    .name = "stats",
    .summary = "ranges, means and deviations of variables",
    .operands = "DS [OBJECT[/VAR]] [options]",
    .least = 1,
    .most = 2,
    .examples = "  bouma stats run.bouma\n"
                "  bouma stats run.bouma flow/rho --step all\n"
                "  bouma stats run.bouma 'dust/v*' --step ::10\n",
    .footer =
        "All values are read, as they are stored: within a tolerance, if "
        "there is one. Mean and\n"
        "standard deviation are those of the finite values. OBJECT and VAR "
        "may have *, ? and\n"
        "[...] as in a shell.\n",
    .options = options,
    .run = run};
