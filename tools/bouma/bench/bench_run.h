/* bench_run.h -- the buffers of a load through some pipelines, again and again.
 *
 * In each repetition the pipelines take turns, each time from another one on, so
 * that what changes on the machine meanwhile meets all of them. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "load.h"
#include "pipeline.h"
#include "step_data.h"

enum bench_operation { BENCH_WRITE, BENCH_READ, BENCH_OPERATIONS };

/* What is to be done. */
struct bench_request {
    const char
        *directory; /* that is there; files go into one that is made in it
                            */
    struct load_request load;
    const struct pipeline *pipelines[PIPELINES_MOST];
    int count;
    int64_t files;
    int repetitions, warm_up;
    bool sync, read, verify, keep;
    bouma_options options;    /* of the library */
    struct step_request step; /* of pipeline_steps */
};

/* What a pipeline did. */
struct bench_result {
    double *seconds[BENCH_OPERATIONS]; /* [repetitions], of the slowest rank */
    bouma_record *records;             /* [repetitions]; NULL: there are none */
    double *drained; /* [repetitions], from the begin of a write to the moment
                        when all of it is in the dataset; NULL: no 'persist' */
    uint64_t files, largest_file;
};

struct bench_report {
    struct bench_result results[PIPELINES_MOST];
    uint64_t bytes, most; /* of all ranks; of the one that has most */
    int64_t ranks;
    char root[4096]; /* where the files were, or are */
};

/* The caller ends *out with bench_report_release(), after a failure too. Process
 * 0 has all of it. Collective. */
int bench_run(struct bench_report *out, struct context *ctx,
              const struct bench_request *request);
void bench_report_release(struct bench_report *report);

#endif
