/* backend.c -- what all ways share: paths, removal, quiet, giving up. */
#include "backend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

void backend_path(char path[BACKEND_PATH_BYTES], const struct backend_input *in,
                  const char *name)
{
    int n = snprintf(path, BACKEND_PATH_BYTES, "%s/%s", in->directory, name);

    if (n < 0 || n >= BACKEND_PATH_BYTES)
        backend_fail("%s: the path is too long", in->directory);
}

void backend_remove(const struct backend_input *in, const char *name)
{
    char path[BACKEND_PATH_BYTES];

    backend_path(path, in, name);
    if (in->rank == 0 && measure_remove(path))
        backend_fail("%s: not removed: %s", path, strerror(errno));
    MPI_Barrier(in->comm);
}

void backend_sync(const struct backend_input *in)
{
    if (in->rank == 0) {
        int fd = open(in->directory, O_RDONLY | O_DIRECTORY);

        if (fd < 0 || syncfs(fd))
            backend_fail("%s: %s", in->directory, strerror(errno));
        close(fd);
    }
    MPI_Barrier(in->comm);
}

void backend_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "bench_write: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}
