/* bench_report.h -- what a benchmark has measured: as a table, as JSON, and as a
 * picture. Process 0 alone has it. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench_run.h"
#include "canvas.h"
#include "median.h"

int bench_report_print(struct context *ctx, const struct bench_request *request,
                       const struct bench_report *report);
int bench_report_draw(struct canvas *out, struct context *ctx,
                      const struct bench_request *request,
                      const struct bench_report *report);

/* The operations that were measured. */
static inline int bench_operations(const struct bench_request *request)
{
    return request->read ? BENCH_OPERATIONS : BENCH_READ;
}

extern const char *const bench_operation_names[BENCH_OPERATIONS];

#endif
