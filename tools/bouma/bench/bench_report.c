/* bench_report.c -- see bench_report.h; bench_draw.c has the picture. */
#include "bench_report.h"

#include <inttypes.h>
#include <stdio.h>

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
    if (!context_prints(ctx))
        return DONE;
    if (ctx->json)
        return print_object(ctx, request, report);
    print_heading(request, report);
    return print_table(ctx, request, report);
}
