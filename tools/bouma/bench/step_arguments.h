/* step_arguments.h -- what a call of `bouma bench write` asks for, beside the
 * load. */
#ifndef STEP_ARGUMENTS_H
#define STEP_ARGUMENTS_H

#include "arguments.h"
#include "bench_run.h"

/* Reads the options into request->step, and those of the library that it has
 * not; the load is known. */
int step_arguments(struct bench_request *request, struct context *ctx,
                   const struct arguments *args);

#endif
