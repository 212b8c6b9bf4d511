/* way.h -- one way to store the field: what bench_write compares.
 *
 * A way is opened once; then, for each repetition, it writes the field anew,
 * reads it back and discards the files. All functions are collective and end
 * the program where something fails. */
#ifndef BENCH_WAY_H
#define BENCH_WAY_H

#include <mpi.h>
#include <stddef.h>

#include "bouma_mpi.h"

/* What this rank holds, and where the files go. */
struct way_input {
    MPI_Comm comm;
    int rank;
    int64_t shape[BOUMA_MAX_DIMS];
    bouma_box box;     /* of this rank */
    const float *data; /* dense */
    float *back;       /* as large: a read fills it */
    size_t count;      /* samples of each */
    const char *directory;
    bouma_codec codec;
};

struct way {
    const char *name;
    void (*open)(struct way *way, const struct way_input *in); /* may be NULL */
    void (*write)(struct way *way, const struct way_input *in);
    void (*read)(struct way *way, const struct way_input *in); /* may be NULL */
    void (*discard)(struct way *way, const struct way_input *in);
    void (*close)(struct way *way,
                  const struct way_input *in); /* may be NULL */

    void *state;         /* the way's own */
    bouma_record record; /* of bouma's last write, zero for the others */
};

/* Each rank a file of its own, with write(). It bounds what any library can
 * reach. Only the one without fsync is read back: a warm read is the same. */
extern const struct way way_plain, way_plain_fsync;
extern const struct way way_bouma_fast, way_bouma_durable;
/* Shared files, written collectively, without fsync. */
extern const struct way way_hdf5, way_mpiio;

/* "directory/name" in 'path'. */
enum { WAY_PATH_BYTES = 4096 };
void way_path(char path[WAY_PATH_BYTES], const struct way_input *in,
              const char *name);

/* Rank 0 removes "directory/name" and what is below it, while all wait. */
void way_remove(const struct way_input *in, const char *name);

/* Rank 0 has the file system finish what it still does in the background, such
 * as giving back the blocks of removed files, while all wait. */
void way_settle(const struct way_input *in);

/* Say what went wrong and end all ranks. */
_Noreturn void way_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
