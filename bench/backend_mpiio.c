/* backend_mpiio.c -- MPI-IO: one shared file, a collective write through a view
 * of this rank's part of the array. */
#include "backend.h"

#include <limits.h>

static const char file_name[] = "field.raw";

static void check(int rc, const char *what)
{
    if (rc != MPI_SUCCESS)
        backend_fail("%s failed", what);
}

static void mpiio_write(struct backend *backend, const struct backend_input *in)
{
    int shape[FIELD_AXES], start[FIELD_AXES], count[FIELD_AXES];
    MPI_Datatype part;
    MPI_File file;
    char path[BACKEND_PATH_BYTES];

    (void)backend;
    if (in->count > INT_MAX)
        backend_fail("MPI-IO takes at most %d samples a rank", INT_MAX);
    for (int axis = 0; axis < FIELD_AXES; axis++) {
        shape[axis] = (int)in->shape[axis];
        start[axis] = (int)in->box.lo[axis];
        count[axis] = (int)(in->box.hi[axis] - in->box.lo[axis]);
    }
    backend_path(path, in, file_name);

    /* Files, unlike communicators, return their errors by default. */
    check(MPI_Type_create_subarray(FIELD_AXES, shape, count, start, MPI_ORDER_C,
                                   MPI_FLOAT, &part),
          "MPI_Type_create_subarray");
    check(MPI_Type_commit(&part), "MPI_Type_commit");
    check(MPI_File_open(in->comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY,
                        MPI_INFO_NULL, &file),
          "MPI_File_open");
    check(MPI_File_set_view(file, 0, MPI_FLOAT, part, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
    check(MPI_File_write_all(file, in->data, (int)in->count, MPI_FLOAT,
                             MPI_STATUS_IGNORE),
          "MPI_File_write_all");
    check(MPI_File_close(&file), "MPI_File_close");
    check(MPI_Type_free(&part), "MPI_Type_free");
}

static void mpiio_discard(struct backend *backend,
                          const struct backend_input *in)
{
    (void)backend;
    backend_remove(in, file_name);
}

const struct backend backend_mpiio = {
    .name = "mpi-io",
    .write = mpiio_write,
    .discard = mpiio_discard,
};
