/* backend.h -- one way to store the field: what bench_write compares.
 *
 * Here HDF5 and MPI-IO store an array: each rank's box goes where it lies among
 * the rows of the whole, so that any box can be read, as of a grid of bouma. The
 * pipelines of `bouma-mpi bench io` (tools/bouma/bench/pipeline.h) move bytes
 * that mean nothing, of other sizes on each rank, one rank's behind the other's.
 *
 * A way is opened once; then, for each repetition, it writes the field anew,
 * reads it back and discards the files. All functions are collective and end
 * the program where something fails. */
#ifndef BENCH_BACKEND_H
#define BENCH_BACKEND_H

#include <mpi.h>
#include <stddef.h>

#include "bouma_mpi.h"
#include "field.h"

/* What this rank holds, and where the files go. */
struct backend_input {
    MPI_Comm comm;
    int rank;
    int64_t shape[FIELD_AXES];
    bouma_box box;     /* of this rank */
    const float *data; /* dense */
    float *back;       /* as large: a read fills it */
    size_t count;      /* samples of each */
    const char *directory;
    bouma_codec codec;
};

struct backend {
    const char *name;
    void (*open)(struct backend *backend,
                 const struct backend_input *in); /* may be NULL */
    void (*write)(struct backend *backend, const struct backend_input *in);
    void (*read)(struct backend *backend,
                 const struct backend_input *in); /* may be NULL */
    void (*discard)(struct backend *backend, const struct backend_input *in);
    void (*close)(struct backend *backend,
                  const struct backend_input *in); /* may be NULL */

    void *state;         /* the way's own */
    bouma_record record; /* of bouma's last write, zero for the others */
};

/* Each rank a file of its own, with write(). It bounds what any library can
 * reach. Only the one without fsync is read back: a warm read is the same. */
extern const struct backend backend_plain, backend_plain_fsync;
extern const struct backend backend_bouma_fast, backend_bouma_durable;
/* Shared files, written collectively, without fsync. */
extern const struct backend backend_hdf5, backend_mpiio, backend_pnetcdf;

/* "directory/name" in 'path'. */
enum { BACKEND_PATH_BYTES = 4096 };
void backend_path(char path[BACKEND_PATH_BYTES], const struct backend_input *in,
                  const char *name);

/* Rank 0 removes "directory/name" and what is below it, while all wait. */
void backend_remove(const struct backend_input *in, const char *name);

/* Rank 0 has the file system finish what it still does in the background, such
 * as giving back the blocks of removed files, while all wait. */
void backend_sync(const struct backend_input *in);

/* Say what went wrong and end all ranks. */
_Noreturn void backend_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
