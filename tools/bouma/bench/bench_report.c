/* bench_report.c -- see bench_report.h; bench_draw.c has the picture. */
#include "bench_report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format_text.h"
#include "print_json.h"
#include "text_table.h"

const char *const bench_operation_names[BENCH_OPERATIONS] = {"write", "read"};

static void add_times(struct text_table *table, uint64_t bytes,
                      const double *seconds, int n)
{
    double median = bench_median(seconds, n);
    char text[FORMAT_BYTES];

    text_table_add(table, "%s", format_seconds(text, median));
    text_table_add(table, "%s", format_seconds(text, bench_spread(seconds, n)));
    text_table_add(table, "%s/s",
                   format_bytes(text, median > 0
                                          ? (uint64_t)((double)bytes / median)
                                          : 0));
}

/* ---- phases -------------------------------------------------------------- */

static const struct phase {
    const char *name;
    size_t at; /* in a record */
} phases[] = {{"describe", offsetof(bouma_record, describe_seconds)},
              {"plan", offsetof(bouma_record, plan_seconds)},
              {"distribute", offsetof(bouma_record, distribute_seconds)},
              {"shape", offsetof(bouma_record, shape_seconds)},
              {"ship", offsetof(bouma_record, ship_seconds)},
              {"store", offsetof(bouma_record, store_seconds)},
              {"commit", offsetof(bouma_record, commit_seconds)},
              {"slowest_encode", offsetof(bouma_record, slowest_encode)},
              {"mean_encode", offsetof(bouma_record, mean_encode)}};
enum { PHASES = sizeof(phases) / sizeof(phases[0]), PHASES_OF_STEP = 7 };

/* The record is the last one; times are medians. 'times' has room for all. */
static double phase_median(const struct bench_request *request,
                           const struct bench_result *r, int phase,
                           double *times)
{
    for (int i = 0; i < request->repetitions; i++)
        memcpy(&times[i], (const char *)&r->records[i] + phases[phase].at,
               sizeof(times[i]));
    return bench_median(times, request->repetitions);
}

static json_t *json_phases(const struct bench_request *request,
                           const struct bench_result *r)
{
    double *times = calloc((size_t)request->repetitions, sizeof(*times));
    json_t *object = json_object();

    for (int i = 0; i < PHASES && times; i++)
        json_put(object, phases[i].name,
                 json_number(phase_median(request, r, i, times)));
    free(times);
    return object;
}

static void json_record(json_t *object, const struct bench_request *request,
                        const struct bench_result *r)
{
    const bouma_record *last = &r->records[request->repetitions - 1];

    json_put(object, "stored_bytes", json_count(last->stored_bytes));
    json_put(object, "moved_bytes", json_count(last->moved_bytes));
    json_put(object, "moved_messages", json_count(last->moved_messages));
    json_put(object, "shipped_bytes", json_count(last->shipped_bytes));
    json_put(object, "shipped_messages", json_count(last->shipped_messages));
    json_put(object, "most_patches", json_integer(last->most_patches));
    json_put(object, "mean_file", json_count(last->mean_file));
    if (r->drained)
        json_put(object, "drained_seconds",
                 json_number(bench_median(r->drained, request->repetitions)));
    json_put(object, "phases", json_phases(request, r));
}

/* The phases of a write, below the table. */
static int print_phases(struct context *ctx,
                        const struct bench_request *request,
                        const struct bench_result *r)
{
    double *times = calloc((size_t)request->repetitions, sizeof(*times));
    const bouma_record *last = &r->records[request->repetitions - 1];
    char text[FORMAT_BYTES];

    if (!times)
        return context_fail_memory(ctx);
    printf("stored %s", format_bytes(text, last->stored_bytes));
    printf(", moved %s", format_bytes(text, last->moved_bytes));
    printf(", shipped %s\nphases:", format_bytes(text, last->shipped_bytes));
    for (int i = 0; i < PHASES_OF_STEP; i++)
        printf("%s %s %s", i ? "," : "", phases[i].name,
               format_seconds(text, phase_median(request, r, i, times)));
    printf("\n");
    if (r->drained)
        printf("in the dataset after %s\n",
               format_seconds(text,
                              bench_median(r->drained, request->repetitions)));
    free(times);
    return DONE;
}

/* ---- all of it ----------------------------------------------------------- */

static int print_table(struct context *ctx, const struct bench_request *request,
                       const struct bench_report *report)
{
    static const char *const names[] = {"PIPELINE", "FILES",  "LARGEST",
                                        "WRITE",    "SPREAD", "BANDWIDTH",
                                        "READ",     "SPREAD", "BANDWIDTH"};
    int columns = request->read ? 9 : 6, rc;
    char text[FORMAT_BYTES];
    struct text_table table;

    text_table_init(&table, request->read ? "lrrrrrrrr" : "lrrrrr");
    for (int i = 0; i < columns; i++)
        text_table_add(&table, "%s", names[i]);
    for (int i = 0; i < request->count; i++) {
        const struct bench_result *r = &report->results[i];

        text_table_add(&table, "%s", request->pipelines[i]->name);
        text_table_add(&table, "%" PRIu64, r->files);
        text_table_add(&table, "%s", format_bytes(text, r->largest_file));
        for (int k = 0; k < bench_operations(request); k++)
            add_times(&table, report->bytes, r->seconds[k],
                      request->repetitions);
    }
    rc = text_table_print(&table, ctx, 0);
    text_table_release(&table);
    return rc;
}

static void print_heading(const struct bench_request *request,
                          const struct bench_report *report)
{
    char ranks[FORMAT_BYTES], grid[FORMAT_BYTES], all[FORMAT_BYTES];
    char mean[FORMAT_BYTES], most[FORMAT_BYTES];

    printf("%s (%s), load %s: %s, %s a rank, %s at most; median of %d%s\n",
           format_count(ranks, (uint64_t)report->ranks, "rank"),
           format_shape(grid, 3, request->load.grid), request->load.load->name,
           format_bytes(all, report->bytes),
           format_bytes(mean, report->bytes / (uint64_t)report->ranks),
           format_bytes(most, report->most), request->repetitions,
           request->verify ? "; every byte that was read is right" : "");
    if (request->keep)
        printf("files are in %s\n", report->root);
}

static json_t *json_operation(const struct bench_request *request,
                              const struct bench_report *report, int i, int k)
{
    const struct bench_result *r = &report->results[i];
    int n = request->repetitions;
    json_t *object = json_object();

    json_put(object, "pipeline", json_text(request->pipelines[i]->name));
    json_put(object, "operation", json_text(bench_operation_names[k]));
    json_put(object, "ranks", json_integer(report->ranks));
    json_put(object, "files", json_count(r->files));
    json_put(object, "largest_file", json_count(r->largest_file));
    json_put(object, "bytes", json_count(report->bytes));
    json_put(object, "seconds", json_number(bench_median(r->seconds[k], n)));
    json_put(object, "spread", json_number(bench_spread(r->seconds[k], n)));
    json_put(object, "times", json_numbers(r->seconds[k], n));
    if (r->records && k == BENCH_WRITE)
        json_record(object, request, r);
    return object;
}

static int print_object(struct context *ctx,
                        const struct bench_request *request,
                        const struct bench_report *report)
{
    json_t *root = json_object(), *results = json_array();

    json_put(root, "load", json_text(request->load.load->name));
    json_put(root, "ranks", json_integer(report->ranks));
    json_put(root, "rank_grid", json_integers(request->load.grid, 3));
    json_put(root, "variables", json_integer(request->load.variables));
    json_put(root, "bytes", json_count(report->bytes));
    json_put(root, "largest_rank", json_count(report->most));
    json_put(root, "sync", json_boolean(request->sync));
    json_put(root, "verified", json_boolean(request->verify));
    if (request->keep)
        json_put(root, "directory", json_text(report->root));
    for (int i = 0; i < request->count; i++)
        for (int k = 0; k < bench_operations(request); k++)
            json_array_append_new(results,
                                  json_operation(request, report, i, k));
    json_put(root, "results", results);
    return print_json(ctx, root);
}

int bench_report_print(struct context *ctx, const struct bench_request *request,
                       const struct bench_report *report)
{
    int rc;

    if (!context_prints(ctx))
        return DONE;
    if (ctx->json)
        return print_object(ctx, request, report);
    print_heading(request, report);
    rc = print_table(ctx, request, report);
    if (!rc && report->results[0].records)
        rc = print_phases(ctx, request, &report->results[0]);
    return rc;
}
