/* pipeline.c -- the pipelines by name, and what they share. */
#include "pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ENTRY(id, text) &pipeline_##id,
const struct pipeline *const pipelines[] = {PIPELINES_ANYWHERE(ENTRY)
                                                PIPELINES_OF_MPI(ENTRY) NULL};

const struct pipeline *pipeline_find(const char *name)
{
    for (int i = 0; pipelines[i]; i++)
        if (!strcmp(pipelines[i]->name, name))
            return pipelines[i];
    return NULL;
}

void pipeline_file(char name[BM_NAME_BYTES], const struct pipeline *pipeline,
                   int64_t i)
{
    snprintf(name, BM_NAME_BYTES, "%s/%06" PRId64, pipeline->name, i);
}

int pipeline_fail(const struct bench_job *job, const struct bm_error *error)
{
    return context_fail_status(job->ctx, error->status, error->text);
}
