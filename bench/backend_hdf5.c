/* backend_hdf5.c -- parallel HDF5: one contiguous dataset, collective
 * transfers. */
#include "backend.h"

#include <hdf5.h>

static const char file_name[] = "field.h5";

/* HDF5 gives identifiers and statuses alike as negative numbers on failure. */
static hid_t check(hid_t result, const char *what)
{
    if (result < 0)
        backend_fail("%s failed", what);
    return result;
}

/* What a write and a read need alike, from the file down to this rank's part
 * of it. */
struct transfer {
    hid_t access, file, in_file, in_memory, dataset, collective;
};

static void transfer_init(struct transfer *t, const struct backend_input *in,
                          char path[BACKEND_PATH_BYTES])
{
    hsize_t shape[FIELD_AXES], start[FIELD_AXES], count[FIELD_AXES];

    for (int axis = 0; axis < FIELD_AXES; axis++) {
        shape[axis] = (hsize_t)in->shape[axis];
        start[axis] = (hsize_t)in->box.lo[axis];
        count[axis] = (hsize_t)(in->box.hi[axis] - in->box.lo[axis]);
    }
    backend_path(path, in, file_name);
    t->access = check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    check(H5Pset_fapl_mpio(t->access, in->comm, MPI_INFO_NULL),
          "H5Pset_fapl_mpio");
    t->in_file = check(H5Screate_simple(FIELD_AXES, shape, NULL), "H5Screate");
    check(H5Sselect_hyperslab(t->in_file, H5S_SELECT_SET, start, NULL, count,
                              NULL),
          "H5Sselect_hyperslab");
    t->in_memory =
        check(H5Screate_simple(FIELD_AXES, count, NULL), "H5Screate");
    t->collective = check(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    check(H5Pset_dxpl_mpio(t->collective, H5FD_MPIO_COLLECTIVE),
          "H5Pset_dxpl_mpio");
}

static void transfer_release(struct transfer *t)
{
    check(H5Dclose(t->dataset), "H5Dclose");
    check(H5Pclose(t->collective), "H5Pclose");
    check(H5Sclose(t->in_memory), "H5Sclose");
    check(H5Sclose(t->in_file), "H5Sclose");
    check(H5Fclose(t->file), "H5Fclose");
    check(H5Pclose(t->access), "H5Pclose");
}

static void hdf5_write(struct backend *backend, const struct backend_input *in)
{
    struct transfer t;
    char path[BACKEND_PATH_BYTES];
    hid_t creation = check(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");

    (void)backend;
    transfer_init(&t, in, path);
    /* No time for values that will be overwritten at once. */
    check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    t.file = check(H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, t.access), path);
    t.dataset = check(H5Dcreate2(t.file, "value", H5T_NATIVE_FLOAT, t.in_file,
                                 H5P_DEFAULT, creation, H5P_DEFAULT),
                      path);
    check(H5Dwrite(t.dataset, H5T_NATIVE_FLOAT, t.in_memory, t.in_file,
                   t.collective, in->data),
          path);
    transfer_release(&t);
    check(H5Pclose(creation), "H5Pclose");
}

static void hdf5_read(struct backend *backend, const struct backend_input *in)
{
    struct transfer t;
    char path[BACKEND_PATH_BYTES];

    (void)backend;
    transfer_init(&t, in, path);
    t.file = check(H5Fopen(path, H5F_ACC_RDONLY, t.access), path);
    t.dataset = check(H5Dopen2(t.file, "value", H5P_DEFAULT), path);
    check(H5Dread(t.dataset, H5T_NATIVE_FLOAT, t.in_memory, t.in_file,
                  t.collective, in->back),
          path);
    transfer_release(&t);
}

static void hdf5_discard(struct backend *backend,
                         const struct backend_input *in)
{
    (void)backend;
    backend_remove(in, file_name);
}

const struct backend backend_hdf5 = {
    .name = "hdf5",
    .write = hdf5_write,
    .read = hdf5_read,
    .discard = hdf5_discard,
};
