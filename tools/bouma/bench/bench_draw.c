/* bench_draw.c -- the bandwidth of each pipeline, as a picture: bars are the
 * medians, lines go from the slowest repetition to the fastest. */
#include "bench_report.h"

#include <math.h>
#include <stdio.h>

#include "format_text.h"
#include "plot_data.h"

#define MEBIBYTE (1024.0 * 1024.0)

/* MiB/s; those of no time at all are none. */
static double speed(const struct bench_report *report, double seconds)
{
    return seconds > 0 ? (double)report->bytes / MEBIBYTE / seconds : 0;
}

static void add_result(struct plot_series *s, int i,
                       const struct bench_report *report, const double *seconds,
                       int repetitions)
{
    double fastest = seconds[0], slowest = seconds[0];

    for (int k = 1; k < repetitions; k++) {
        fastest = fmin(fastest, seconds[k]);
        slowest = fmax(slowest, seconds[k]);
    }
    s->y[i] = speed(report, bench_median(seconds, repetitions));
    s->low[i] = speed(report, slowest);
    s->high[i] = speed(report, fastest);
}

/* False: no memory. */
static bool fill(struct plot *plot, const struct bench_request *request,
                 const struct bench_report *report)
{
    char bytes[FORMAT_BYTES], ranks[FORMAT_BYTES], title[3 * FORMAT_BYTES];

    snprintf(title, sizeof(title), "%s, load %s, %s",
             format_count(ranks, (uint64_t)report->ranks, "rank"),
             request->load.load->name, format_bytes(bytes, report->bytes));
    if (!plot_init(plot, PLOT_BARS, title, "", "MiB/s"))
        return false;
    for (int i = 0; i < request->count; i++)
        if (!plot_add_label(plot, request->pipelines[i]->name))
            return false;
    for (int k = 0; k < bench_operations(request); k++) {
        struct plot_series *s = plot_add_series(plot, bench_operation_names[k],
                                                (size_t)request->count);

        if (!s)
            return false;
        for (int i = 0; i < request->count; i++)
            add_result(s, i, report, report->results[i].seconds[k],
                       request->repetitions);
    }
    return true;
}

int bench_report_draw(struct canvas *out, struct context *ctx,
                      const struct bench_request *request,
                      const struct bench_report *report)
{
    struct plot plot;
    int rc = fill(&plot, request, report) ? plot_draw(out, ctx, &plot)
                                          : context_fail_memory(ctx);

    plot_release(&plot);
    return rc;
}
