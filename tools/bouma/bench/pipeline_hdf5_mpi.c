/* pipeline_hdf5_mpi.c -- parallel HDF5: one file, a dataset of bytes for each
 * variable, collective transfers. */
#include "pipeline.h"

#define NAME "hdf5"
#define HELP "parallel HDF5, one file"

#if BOUMA_WITH_HDF5
#include <hdf5.h>
#include <limits.h>
#include <stdio.h>

#include "session_mpi.h"
#include "shares.h"

/* HDF5 gives identifiers and statuses alike as negative numbers on failure. The
 * first one is told; what is collective goes on. */
struct hdf5 {
    const struct bench_job *job;
    int rc;
};

static hid_t check(struct hdf5 *h, hid_t result, const char *what)
{
    if (result < 0 && !h->rc)
        h->rc = context_fail(h->job->ctx, DATA_AT_FAULT, "%s: HDF5: %s failed",
                             h->job->root, what);
    return result;
}

static hid_t open_file(struct hdf5 *h, bool reading)
{
    hid_t access = check(h, H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"), file;
    char name[BM_NAME_BYTES], path[PATH_MAX];

    pipeline_file(name, &pipeline_hdf5, 0);
    snprintf(path, sizeof(path), "%s/%s", h->job->root, name);
    check(h,
          H5Pset_fapl_mpio(access, session_mpi_comm(h->job->ctx->session),
                           MPI_INFO_NULL),
          "H5Pset_fapl_mpio");
    file = reading
               ? check(h, H5Fopen(path, H5F_ACC_RDONLY, access), "H5Fopen")
               : check(h, H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, access),
                       "H5Fcreate");
    H5Pclose(access);
    return file;
}

/* The bytes of this rank, of those of all. */
static hid_t select_own(struct hdf5 *h, uint64_t all, uint64_t before,
                        uint64_t bytes)
{
    hsize_t shape = all, start = before, count = bytes;
    hid_t space = check(h, H5Screate_simple(1, &shape, NULL), "H5Screate");

    if (count)
        check(h,
              H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count,
                                  NULL),
              "H5Sselect_hyperslab");
    else
        check(h, H5Sselect_none(space), "H5Sselect_none");
    return space;
}

static hid_t open_dataset(struct hdf5 *h, hid_t file, const char *name,
                          hid_t space, bool reading)
{
    hid_t creation, dataset;

    if (reading)
        return check(h, H5Dopen2(file, name, H5P_DEFAULT), "H5Dopen");
    creation = check(h, H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
    /* No time for values that will be overwritten at once. */
    check(h, H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER),
          "H5Pset_fill_time");
    dataset = check(h,
                    H5Dcreate2(file, name, H5T_NATIVE_UINT8, space, H5P_DEFAULT,
                               creation, H5P_DEFAULT),
                    "H5Dcreate");
    H5Pclose(creation);
    return dataset;
}

static void move_variable(struct hdf5 *h, hid_t file, int i,
                          const struct shares *shares, bool reading,
                          uint8_t *data)
{
    uint64_t bytes = h->job->bytes[i];
    hid_t in_file = select_own(h, shares->all[i], shares->before[i], bytes);
    hid_t in_memory = select_own(h, bytes, 0, bytes), dataset;
    hid_t collective = check(h, H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    char name[32];

    check(h, H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE),
          "H5Pset_dxpl_mpio");
    snprintf(name, sizeof(name), "variable_%d", i);
    dataset = open_dataset(h, file, name, in_file, reading);
    if (dataset >= 0) {
        if (!shares->all[i])
            ; /* no rank has any: HDF5 refuses to move nothing */
        else if (reading)
            check(h,
                  H5Dread(dataset, H5T_NATIVE_UINT8, in_memory, in_file,
                          collective, data),
                  "H5Dread");
        else
            check(h,
                  H5Dwrite(dataset, H5T_NATIVE_UINT8, in_memory, in_file,
                           collective, data),
                  "H5Dwrite");
        check(h, H5Dclose(dataset), "H5Dclose");
    }
    H5Pclose(collective);
    H5Sclose(in_memory);
    H5Sclose(in_file);
}

static int transfer(const struct bench_job *job, bool reading,
                    uint8_t *const *data)
{
    struct hdf5 h = {.job = job};
    struct shares shares = {0};
    hid_t file;

    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* our messages are enough */
    h.rc = shares_find(&shares, job, session_mpi_comm(job->ctx->session));
    if (!h.rc) {
        file = open_file(&h, reading);
        if (file >= 0) {
            for (int i = 0; i < job->variables; i++)
                move_variable(&h, file, i, &shares, reading, data[i]);
            if (!reading && job->sync)
                check(&h, H5Fflush(file, H5F_SCOPE_GLOBAL), "H5Fflush");
            check(&h, H5Fclose(file), "H5Fclose");
        }
    }
    shares_release(&shares);
    return h.rc;
}

static int write_hdf5(void *state, const struct bench_job *job,
                      uint8_t *const *data)
{
    (void)state;
    return transfer(job, false, data);
}

static int read_hdf5(void *state, const struct bench_job *job,
                     uint8_t *const *data)
{
    (void)state;
    return transfer(job, true, data);
}

const struct pipeline pipeline_hdf5 = {
    .name = NAME, .help = HELP, .write = write_hdf5, .read = read_hdf5};
#else
const struct pipeline pipeline_hdf5 = {
    .name = NAME, .help = HELP, .missing = "parallel HDF5"};
#endif
