/* backend_pnetcdf.c -- PnetCDF: one shared file of the format CDF-5, a variable
 * that all ranks write together. */
#include "backend.h"

#include <pnetcdf.h>

static const char file_name[] = "field.nc";

static void check(int rc, const char *what)
{
    if (rc != NC_NOERR)
        backend_fail("%s: %s", what, ncmpi_strerror(rc));
}

/* This rank's part of the variable. */
static void part(MPI_Offset start[FIELD_AXES], MPI_Offset count[FIELD_AXES],
                 const struct backend_input *in)
{
    for (int axis = 0; axis < FIELD_AXES; axis++) {
        start[axis] = in->box.lo[axis];
        count[axis] = in->box.hi[axis] - in->box.lo[axis];
    }
}

static void pnetcdf_write(struct backend *backend,
                          const struct backend_input *in)
{
    static const char *const names[FIELD_AXES] = {"z", "y", "x"};
    MPI_Offset start[FIELD_AXES], count[FIELD_AXES];
    int file, variable, axes[FIELD_AXES];
    char path[BACKEND_PATH_BYTES];

    (void)backend;
    backend_path(path, in, file_name);
    part(start, count, in);
    check(ncmpi_create(in->comm, path, NC_CLOBBER | NC_64BIT_DATA,
                       MPI_INFO_NULL, &file),
          "ncmpi_create");
    for (int axis = 0; axis < FIELD_AXES; axis++)
        check(ncmpi_def_dim(file, names[axis], in->shape[axis], &axes[axis]),
              "ncmpi_def_dim");
    check(ncmpi_def_var(file, "value", NC_FLOAT, FIELD_AXES, axes, &variable),
          "ncmpi_def_var");
    check(ncmpi_enddef(file), "ncmpi_enddef");
    check(ncmpi_put_vara_float_all(file, variable, start, count, in->data),
          "ncmpi_put_vara_float_all");
    check(ncmpi_close(file), "ncmpi_close");
}

static void pnetcdf_read(struct backend *backend,
                         const struct backend_input *in)
{
    MPI_Offset start[FIELD_AXES], count[FIELD_AXES];
    char path[BACKEND_PATH_BYTES];
    int file, variable;

    (void)backend;
    backend_path(path, in, file_name);
    part(start, count, in);
    check(ncmpi_open(in->comm, path, NC_NOWRITE, MPI_INFO_NULL, &file),
          "ncmpi_open");
    check(ncmpi_inq_varid(file, "value", &variable), "ncmpi_inq_varid");
    check(ncmpi_get_vara_float_all(file, variable, start, count, in->back),
          "ncmpi_get_vara_float_all");
    check(ncmpi_close(file), "ncmpi_close");
}

static void pnetcdf_discard(struct backend *backend,
                            const struct backend_input *in)
{
    (void)backend;
    backend_remove(in, file_name);
}

const struct backend backend_pnetcdf = {
    .name = "pnetcdf",
    .write = pnetcdf_write,
    .read = pnetcdf_read,
    .discard = pnetcdf_discard,
};
