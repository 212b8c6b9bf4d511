/* pipeline_pnetcdf_mpi.c -- PnetCDF: one file of the format CDF-5, a variable of
 * bytes for each, collective transfers. */
#include "pipeline.h"

#define NAME "pnetcdf"
#define HELP "PnetCDF, one file"

#if BOUMA_WITH_PNETCDF
#include <limits.h>
#include <pnetcdf.h>
#include <stdio.h>

#include "session_mpi.h"
#include "shares.h"

/* The first failure is told; what is collective goes on. */
struct netcdf {
    const struct bench_job *job;
    int rc;
};

static int check(struct netcdf *n, int status, const char *what)
{
    if (status != NC_NOERR && !n->rc)
        n->rc = context_fail(n->job->ctx, DATA_AT_FAULT, "%s: PnetCDF: %s: %s",
                             n->job->root, what, ncmpi_strerror(status));
    return status;
}

/* Variable i has the number i. A dimension of no bytes would be the unlimited
 * one, so each has one byte more than is used. */
static void define(struct netcdf *n, int file, const struct shares *shares)
{
    char name[32];
    int dimension = 0, variable;

    for (int i = 0; i < n->job->variables; i++) {
        snprintf(name, sizeof(name), "bytes_%d", i);
        check(n,
              ncmpi_def_dim(file, name, (MPI_Offset)shares->all[i] + 1,
                            &dimension),
              "ncmpi_def_dim");
        snprintf(name, sizeof(name), "variable_%d", i);
        check(n, ncmpi_def_var(file, name, NC_UBYTE, 1, &dimension, &variable),
              "ncmpi_def_var");
    }
    check(n, ncmpi_enddef(file), "ncmpi_enddef");
}

static void move_variable(struct netcdf *n, int file, int i, bool reading,
                          uint64_t before, uint8_t *data)
{
    MPI_Offset start = (MPI_Offset)before;
    MPI_Offset count = (MPI_Offset)n->job->bytes[i];

    if (reading)
        check(n, ncmpi_get_vara_uchar_all(file, i, &start, &count, data),
              "ncmpi_get_vara_uchar_all");
    else
        check(n, ncmpi_put_vara_uchar_all(file, i, &start, &count, data),
              "ncmpi_put_vara_uchar_all");
}

static int transfer(const struct bench_job *job, bool reading,
                    uint8_t *const *data)
{
    struct netcdf n = {.job = job};
    MPI_Comm comm = session_mpi_comm(job->ctx->session);
    char name[BM_NAME_BYTES], path[PATH_MAX];
    struct shares shares = {0};
    int file, status = NC_NOERR;

    n.rc = shares_find(&shares, job, comm);
    if (!n.rc) {
        pipeline_file(name, &pipeline_pnetcdf, 0);
        snprintf(path, sizeof(path), "%s/%s", job->root, name);
        status = reading
                     ? ncmpi_open(comm, path, NC_NOWRITE, MPI_INFO_NULL, &file)
                     : ncmpi_create(comm, path, NC_NOCLOBBER | NC_64BIT_DATA,
                                    MPI_INFO_NULL, &file);
        check(&n, status, reading ? "ncmpi_open" : "ncmpi_create");
        if (status == NC_NOERR) {
            if (!reading)
                define(&n, file, &shares);
            for (int i = 0; i < job->variables; i++)
                move_variable(&n, file, i, reading, shares.before[i], data[i]);
            if (!reading && job->sync)
                check(&n, ncmpi_sync(file), "ncmpi_sync");
            check(&n, ncmpi_close(file), "ncmpi_close");
        }
    }
    shares_release(&shares);
    return n.rc;
}

static int write_pnetcdf(void *state, const struct bench_job *job,
                         uint8_t *const *data)
{
    (void)state;
    return transfer(job, false, data);
}

static int read_pnetcdf(void *state, const struct bench_job *job,
                        uint8_t *const *data)
{
    (void)state;
    return transfer(job, true, data);
}

const struct pipeline pipeline_pnetcdf = {
    .name = NAME, .help = HELP, .write = write_pnetcdf, .read = read_pnetcdf};
#else
const struct pipeline pipeline_pnetcdf = {
    .name = NAME, .help = HELP, .missing = "PnetCDF"};
#endif
