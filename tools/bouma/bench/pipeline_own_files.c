/* pipeline_own_files.c -- file per process: each rank a file of its own. It
 * needs no message, and as many files as there are ranks. */
#include "pipeline.h"

/* The variables one after the other, to the file or from it. */
static int move(const struct bench_job *job, struct bm_file *file, bool reading,
                uint8_t *const *data, struct bm_error *error)
{
    uint64_t at = 0;
    int rc = BOUMA_OK;

    for (int i = 0; i < job->variables && !rc; i++) {
        rc = reading ? bm_file_read(file, data[i], job->bytes[i], at, error)
                     : bm_file_write(file, data[i], job->bytes[i], at, error);
        at += job->bytes[i];
    }
    return rc;
}

static int transfer(const struct bench_job *job, bool reading,
                    uint8_t *const *data)
{
    struct bm_file file = {0};
    struct bm_error error = {0};
    char name[BM_NAME_BYTES];
    int rc, closed = BOUMA_OK;

    pipeline_file(name, &pipeline_own_files, job->comm->rank);
    rc = bm_file_open(&file, job->store, name,
                      reading ? BOUMA_OPEN_MODE_READ : BOUMA_OPEN_MODE_CREATE,
                      &error);
    if (!rc)
        rc = move(job, &file, reading, data, &error);
    if (!rc && !reading && job->sync)
        rc = bm_file_sync(&file, &error);
    if (file.store)
        closed = bm_file_close(&file, &error);
    return rc || closed ? pipeline_fail(job, &error) : DONE;
}

static int write_own(void *state, const struct bench_job *job,
                     uint8_t *const *data)
{
    (void)state;
    return transfer(job, false, data);
}

static int read_own(void *state, const struct bench_job *job,
                    uint8_t *const *data)
{
    (void)state;
    return transfer(job, true, data);
}

const struct pipeline pipeline_own_files = {.name = "file-per-process",
                                            .help =
                                                "each rank a file of its own",
                                            .write = write_own,
                                            .read = read_own};
