/* api_mpi.c -- the calls that take a communicator of MPI. */
#include "bouma_mpi.h"

#include "api/api.h"
#include "api/build_info.h"
#include "check/check.h"
#include "comm/comm_mpi.h"

/* A communicator of the library's own. The options are looked at again later,
 * where there is a handle for a message. */
static int make_comm(struct bm_comm **out, MPI_Comm mpi,
                     const bouma_options *opts, struct bm_error *error)
{
    struct bm_error ignored = {0};
    struct bm_options options;

    bm_options_complete(&options, opts, &ignored);
    return bm_comm_mpi_new(out, bm_api_allocator(opts), mpi, options.timeout,
                           error);
}

static int open_together(bouma_dataset **out, MPI_Comm mpi, enum bm_mode mode,
                         const char *path, const bouma_options *opts)
{
    struct bm_error error = {0};
    struct bm_comm *comm;

    if (out)
        *out = NULL;
    if (!make_comm(&comm, mpi, opts, &error))
        return bm_api_open(out, comm, mode, path, opts);
    return out ? bm_api_not_opened(out, bm_api_allocator(opts), NULL, &error)
               : error.status;
}

int bouma_dataset_create_mpi(bouma_dataset **out, MPI_Comm comm,
                             const char *path, const bouma_options *opts)
{
    BM_STRICT_MATH;

    return open_together(out, comm, BM_MODE_CREATE, path, opts);
}

int bouma_dataset_append_mpi(bouma_dataset **out, MPI_Comm comm,
                             const char *path, const bouma_options *opts)
{
    BM_STRICT_MATH;

    return open_together(out, comm, BM_MODE_APPEND, path, opts);
}

int bouma_dataset_open_mpi(bouma_dataset **out, MPI_Comm comm, const char *path,
                           const bouma_options *opts)
{
    BM_STRICT_MATH;

    return open_together(out, comm, BM_MODE_READ, path, opts);
}

int bouma_file_open_mpi(bouma_file **out, MPI_Comm mpi, const char *path,
                        bouma_file_mode mode, const bouma_options *opts)
{
    BM_STRICT_MATH;
    struct bm_error error = {0};
    struct bm_comm *comm;

    if (out)
        *out = NULL;
    if (!make_comm(&comm, mpi, opts, &error))
        return bm_api_io_open(out, comm, path, mode, opts);
    return out ? bm_api_io_not_opened(out, bm_api_allocator(opts), &error)
               : error.status;
}

/* For calls that have no handle to keep a message in. */
static int together(struct bm_comm **out, MPI_Comm mpi,
                    const bouma_options *opts, char *message, size_t bytes)
{
    struct bm_error error = {0};
    int rc = make_comm(out, mpi, opts, &error);

    if (rc)
        bm_api_tell(message, bytes, error.text);
    return rc;
}

int bouma_verify_mpi(bouma_verify_report *report, MPI_Comm mpi,
                     const char *path, bouma_depth depth,
                     const bouma_options *opts,
                     void (*each)(void *user, const bouma_finding *f),
                     void *user, char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_comm *comm;
    int rc = together(&comm, mpi, opts, message, bytes);
    struct bm_request q = bm_api_ask(path, opts, each, user, message, bytes);

    return rc ? rc : bm_api_verify(comm, &q, depth, report);
}

int bouma_probe_mpi(bouma_probe_report *report, MPI_Comm mpi,
                    const bouma_probe_spec *spec, const bouma_options *opts,
                    char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_comm *comm;
    int rc = together(&comm, mpi, opts, message, bytes);

    return rc ? rc : bm_api_probe(comm, spec, opts, report, message, bytes);
}

int bouma_drain_mpi(bouma_drain_report *report, MPI_Comm mpi, const char *local,
                    const char *path, int remove, const bouma_options *opts,
                    char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_comm *comm;
    int rc = together(&comm, mpi, opts, message, bytes);
    struct bm_request q = bm_api_ask(path, opts, NULL, NULL, message, bytes);

    return rc ? rc : bm_api_drain(comm, &q, local, remove, report);
}

/* ---- the build ---------------------------------------------------------- */

#define TEXT(x)         #x
#define TEXT_OF(x)      TEXT(x)
#define DOTTED(x, y, z) TEXT_OF(x) "." TEXT_OF(y) "." TEXT_OF(z)

const char *bm_build_mpi(void)
{
#if defined(OMPI_MAJOR_VERSION)
    return "Open MPI " DOTTED(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                              OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
    return "MPICH " MPICH_VERSION;
#else
    return "MPI " TEXT_OF(MPI_VERSION) "." TEXT_OF(MPI_SUBVERSION);
#endif
}

/* ---- communicators of Fortran ----------------------------------------------- */

int bouma_dataset_create_fint(bouma_dataset **out, MPI_Fint comm,
                              const char *path, const bouma_options *opts)
{
    return bouma_dataset_create_mpi(out, MPI_Comm_f2c(comm), path, opts);
}

int bouma_dataset_append_fint(bouma_dataset **out, MPI_Fint comm,
                              const char *path, const bouma_options *opts)
{
    return bouma_dataset_append_mpi(out, MPI_Comm_f2c(comm), path, opts);
}

int bouma_dataset_open_fint(bouma_dataset **out, MPI_Fint comm,
                            const char *path, const bouma_options *opts)
{
    return bouma_dataset_open_mpi(out, MPI_Comm_f2c(comm), path, opts);
}

int bouma_file_open_fint(bouma_file **out, MPI_Fint comm, const char *path,
                         bouma_file_mode mode, const bouma_options *opts)
{
    return bouma_file_open_mpi(out, MPI_Comm_f2c(comm), path, mode, opts);
}

int bouma_verify_fint(bouma_verify_report *report, MPI_Fint comm,
                      const char *path, bouma_depth depth,
                      const bouma_options *opts,
                      void (*each)(void *user, const bouma_finding *f),
                      void *user, char *message, size_t bytes)
{
    return bouma_verify_mpi(report, MPI_Comm_f2c(comm), path, depth, opts, each,
                            user, message, bytes);
}

int bouma_probe_fint(bouma_probe_report *report, MPI_Fint comm,
                     const bouma_probe_spec *spec, const bouma_options *opts,
                     char *message, size_t bytes)
{
    return bouma_probe_mpi(report, MPI_Comm_f2c(comm), spec, opts, message,
                           bytes);
}

int bouma_drain_fint(bouma_drain_report *report, MPI_Fint comm,
                     const char *local, const char *path, int remove,
                     const bouma_options *opts, char *message, size_t bytes)
{
    return bouma_drain_mpi(report, MPI_Comm_f2c(comm), local, path, remove,
                           opts, message, bytes);
}
