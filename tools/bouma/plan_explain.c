/* plan_explain.c -- see plan_explain.h. */
#include "plan_explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "choice_names.h"
#include "format_text.h"
#include "print_json.h"
#include "text_table.h"

enum { MOST_ROWS = 12 }; /* of a table */

/* All costs of a file. */
struct costs {
    bouma_plan_cost *rows;
    size_t count, room;
    bool failed;
};

static void add_row(void *user, const bouma_plan_cost *cost)
{
    struct costs *costs = user;
    size_t room = costs->room ? 2 * costs->room : 64;

    if (costs->count == costs->room) {
        bouma_plan_cost *grown = realloc(costs->rows, room * sizeof(*grown));

        if (!grown) {
            costs->failed = true;
            return;
        }
        costs->rows = grown;
        costs->room = room;
    }
    costs->rows[costs->count++] = *cost;
}

static double sum_of(const bouma_plan_cost *cost)
{
    return cost->gather + cost->store + cost->links + cost->wait;
}

/* The choice, then what fits, then what costs less. */
static int by_cost(const void *left, const void *right)
{
    const bouma_plan_cost *a = left, *b = right;

    if (a->chosen != b->chosen)
        return b->chosen - a->chosen;
    if (a->fits != b->fits)
        return b->fits - a->fits;
    if (sum_of(a) < sum_of(b) || sum_of(a) > sum_of(b))
        return sum_of(a) < sum_of(b) ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (int)a->tier - (int)b->tier;
}

/* The caller frees the rows, after a failure too. */
static int find_costs(struct costs *costs, struct context *ctx,
                      const bouma_plan *plan, int64_t file)
{
    int status = bouma_plan_explain(plan, file, add_row, costs);

    if (status || costs->failed)
        return context_fail_status(ctx, BOUMA_ENOMEM,
                                   "no memory for the table of costs");
    if (costs->count)
        qsort(costs->rows, costs->count, sizeof(*costs->rows), by_cost);
    return DONE;
}

/* The files to tell of: from *first up to, but without, the result. */
static int64_t files_told(const bouma_plan *plan, int64_t file, int64_t *first)
{
    bouma_plan_report report = {.size = sizeof(report)};

    bouma_plan_report_get(&report, plan);
    *first = file >= 0 ? file : 0;
    if (file >= 0)
        return file + 1;
    return report.files < EXPLAINED_FILES ? report.files : EXPLAINED_FILES;
}

static void pass_over(void *user, const bouma_plan_cost *cost)
{
    (void)user;
    (void)cost;
}

int plan_explain_check(struct context *ctx, const bouma_plan *plan,
                       int64_t file)
{
    bouma_plan_report report = {.size = sizeof(report)};
    int status = bouma_plan_explain(plan, file > 0 ? file : 0, pass_over, NULL);

    bouma_plan_report_get(&report, plan);
    if (status == BOUMA_EINVAL)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--explain is about costs: add --place cost");
    if (file >= report.files)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--file %" PRId64 ": the plan has %" PRId64
                            " files, counted from 0",
                            file, report.files);
    return DONE;
}

/* ---- text ---------------------------------------------------------------- */

static void add_heading(struct text_table *table)
{
    static const char *const names[] = {"",   "RANK",  "NODE", "TIER", "C1",
                                        "C2", "LINKS", "WAIT", "SUM"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        text_table_add(table, "%s", names[i]);
}

static void add_cost(struct text_table *table, const bouma_plan_cost *cost)
{
    double seconds[5] = {cost->gather, cost->store, cost->links, cost->wait,
                         sum_of(cost)};

    text_table_add(table, "%s", cost->chosen ? "*" : cost->fits ? "" : "-");
    text_table_add(table, "%d", cost->rank);
    text_table_add(table, "%d", cost->node);
    text_table_add(table, "%s", choice_text(bouma_tier_name(cost->tier)));
    for (int i = 0; i < 5; i++)
        text_table_add(table, "%.4f", 1e3 * seconds[i]);
}

static int print_costs(struct context *ctx, const bouma_plan *plan,
                       int64_t file, const struct costs *costs)
{
    size_t shown = costs->count < MOST_ROWS ? costs->count : MOST_ROWS;
    struct text_table table;
    bouma_plan_file info = {.size = sizeof(info)};
    char bytes[FORMAT_BYTES];
    int rc;

    bouma_plan_file_get(&info, plan, file);
    printf("\nfile %" PRId64 ", %s: gathered by rank %d in %s; in ms:\n", file,
           format_bytes(bytes, info.bytes), info.writer,
           choice_text(bouma_tier_name(info.tier)));
    text_table_init(&table, "lrrlrrrrr");
    add_heading(&table);
    for (size_t i = 0; i < shown; i++)
        add_cost(&table, &costs->rows[i]);
    rc = text_table_print(&table, ctx, 0);
    text_table_release(&table);
    if (!rc && shown < costs->count)
        printf("and %zu more that cost as much or more; --json has all\n",
               costs->count - shown);
    return rc;
}

int plan_explain_print(struct context *ctx, const bouma_plan *plan,
                       int64_t file)
{
    int64_t first, end = files_told(plan, file, &first);
    int rc = DONE;

    for (int64_t f = first; f < end && !rc; f++) {
        struct costs costs = {0};

        rc = find_costs(&costs, ctx, plan, f);
        if (!rc)
            rc = print_costs(ctx, plan, f, &costs);
        free(costs.rows);
    }
    return rc;
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *cost_json(const bouma_plan_cost *cost)
{
    json_t *object = json_object();

    json_put(object, "rank", json_integer(cost->rank));
    json_put(object, "node", json_integer(cost->node));
    json_put(object, "tier",
             json_text(choice_text(bouma_tier_name(cost->tier))));
    json_put(object, "fits", json_boolean(cost->fits));
    json_put(object, "chosen", json_boolean(cost->chosen));
    json_put(object, "c1", json_number(cost->gather));
    json_put(object, "c2", json_number(cost->store));
    json_put(object, "links", json_number(cost->links));
    json_put(object, "wait", json_number(cost->wait));
    json_put(object, "sum", json_number(sum_of(cost)));
    return object;
}

static json_t *file_json(const bouma_plan *plan, int64_t file,
                         const struct costs *costs)
{
    json_t *object = json_object(), *rows = json_array();
    bouma_plan_file info = {.size = sizeof(info)};

    bouma_plan_file_get(&info, plan, file);
    json_put(object, "file", json_integer(file));
    json_put(object, "bytes", json_count(info.bytes));
    json_put(object, "writer", json_integer(info.writer));
    json_put(object, "tier",
             json_text(choice_text(bouma_tier_name(info.tier))));
    for (size_t i = 0; i < costs->count; i++)
        json_array_append_new(rows, cost_json(&costs->rows[i]));
    json_put(object, "costs", rows);
    return object;
}

json_t *plan_explain_json(struct context *ctx, const bouma_plan *plan,
                          int64_t file)
{
    int64_t first, end = files_told(plan, file, &first);
    json_t *files = json_array();
    int rc = DONE;

    for (int64_t f = first; f < end && !rc; f++) {
        struct costs costs = {0};

        rc = find_costs(&costs, ctx, plan, f);
        if (!rc)
            json_array_append_new(files, file_json(plan, f, &costs));
        free(costs.rows);
    }
    if (!rc)
        return files;
    json_decref(files);
    return NULL;
}
