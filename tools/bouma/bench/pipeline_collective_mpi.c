/* pipeline_collective_mpi.c -- MPI-IO: collective writes to one file of all
 * ranks, or to one of each group of ranks that follow each other.
 *
 * In a file are all bytes of the first variable, then those of the next. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "session_mpi.h"
#include "shares.h"

/* What one call moves at most: counts are ints. */
#define PIECE ((uint64_t)1 << 30)

enum { ONE_FILE, GROUPS };

struct collective {
    const struct pipeline *pipeline;
    MPI_Comm comm; /* of the ranks that share a file */
    int64_t file;
};

/* The first failure is told; the calls go on, as other ranks are in them, too.
 */
static int check(const struct bench_job *job, int outcome, int status,
                 const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (outcome || status == MPI_SUCCESS)
        return outcome;
    MPI_Error_string(status, text, &length);
    return context_fail(job->ctx, DATA_AT_FAULT, "%s: %s: %s", job->root, what,
                        text);
}

static int open_collective(void **state, const struct pipeline *pipeline,
                           const struct bench_job *job)
{
    struct collective *c = calloc(1, sizeof(*c));
    MPI_Comm all = session_mpi_comm(job->ctx->session);
    int64_t ranks = job->comm->size;
    int64_t files = pipeline->choice == GROUPS ? job->files : 1;
    int rc = context_agree(job->ctx, c ? DONE : context_fail_memory(job->ctx));

    *state = c;
    if (rc)
        return rc;
    c->pipeline = pipeline;
    c->comm = MPI_COMM_NULL;
    c->file = job->comm->rank * (files < ranks ? files : ranks) / ranks;
    MPI_Comm_split(all, (int)c->file, job->comm->rank, &c->comm);
    return DONE;
}

static void close_collective(void *state, const struct bench_job *job)
{
    struct collective *c = state;

    (void)job;
    if (c && c->comm != MPI_COMM_NULL)
        MPI_Comm_free(&c->comm);
    free(c);
}

/* A variable, in as many calls as the rank that has most of it needs. A file
 * that is too short is no failure to MPI. */
static int move_variable(const struct bench_job *job, MPI_File file,
                         bool reading, uint8_t *data, uint64_t bytes,
                         uint64_t most, uint64_t offset)
{
    int rc = DONE;

    for (uint64_t at = 0; at < most; at += PIECE) {
        uint64_t from = at < bytes ? at : bytes;
        int n = (int)(bytes - from < PIECE ? bytes - from : PIECE), moved = 0;
        MPI_Offset to = (MPI_Offset)(offset + from);
        MPI_Status status;
        int code = reading ? MPI_File_read_at_all(file, to, data + from, n,
                                                  MPI_BYTE, &status)
                           : MPI_File_write_at_all(file, to, data + from, n,
                                                   MPI_BYTE, &status);

        rc = check(job, rc, code, reading ? "reading" : "writing");
        if (!rc && n &&
            MPI_Get_count(&status, MPI_BYTE, &moved) == MPI_SUCCESS &&
            moved != n)
            rc = context_fail(job->ctx, DATA_AT_FAULT,
                              "%s: MPI moved %d bytes of %d", job->root, moved,
                              n);
    }
    return rc;
}

static int move_all(const struct bench_job *job, MPI_File file, bool reading,
                    uint8_t *const *data, const struct shares *shares)
{
    uint64_t base = 0;
    int rc = DONE;

    for (int i = 0; i < job->variables; i++) {
        int moved = move_variable(job, file, reading, data[i], job->bytes[i],
                                  shares->most[i], base + shares->before[i]);

        rc = rc ? rc : moved;
        base += shares->all[i];
    }
    if (!reading && job->sync)
        rc = check(job, rc, MPI_File_sync(file), "syncing");
    return rc;
}

static int transfer(const struct collective *c, const struct bench_job *job,
                    bool reading, uint8_t *const *data)
{
    int mode = reading ? MPI_MODE_RDONLY
                       : MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY;
    char name[BM_NAME_BYTES], path[PATH_MAX];
    struct shares shares = {0};
    MPI_File file;
    int rc = shares_find(&shares, job, c->comm);

    if (!rc) {
        pipeline_file(name, c->pipeline, c->file);
        snprintf(path, sizeof(path), "%s/%s", job->root, name);
        /* Files, unlike communicators, return their errors by default. */
        rc = check(job, DONE,
                   MPI_File_open(c->comm, path, mode, MPI_INFO_NULL, &file),
                   "opening");
        if (!rc) {
            rc = move_all(job, file, reading, data, &shares);
            rc = check(job, rc, MPI_File_close(&file), "closing");
        }
    }
    shares_release(&shares);
    return rc;
}

static int write_collective(void *state, const struct bench_job *job,
                            uint8_t *const *data)
{
    return transfer(state, job, false, data);
}

static int read_collective(void *state, const struct bench_job *job,
                           uint8_t *const *data)
{
    return transfer(state, job, true, data);
}

const struct pipeline pipeline_collective = {.name = "collective",
                                             .help =
                                                 "MPI-IO, collective, one file",
                                             .open = open_collective,
                                             .write = write_collective,
                                             .read = read_collective,
                                             .close = close_collective,
                                             .choice = ONE_FILE};

const struct pipeline pipeline_group_collective = {
    .name = "group-collective",
    .help = "MPI-IO, collective, a file for each group of ranks",
    .open = open_collective,
    .write = write_collective,
    .read = read_collective,
    .close = close_collective,
    .choice = GROUPS};
