/* slow_io.c -- see slow_io.h. */
#include "slow_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"

#define LEAST_SLEEP 0.001 /* s */

struct slow_file {
    void *inner; /* of the POSIX table, which needs no 'user' */
    int is_subfile;
};

static int slow_open(void *user, void *root, void **out, const char *name,
                     bouma_open_mode mode)
{
    struct slow_file *f = malloc(sizeof(*f));
    int code;

    (void)user;
    if (!f)
        return ENOMEM;
    f->is_subfile = strstr(name, "/d.") != NULL;
    code = bouma_io_posix()->open(NULL, root, &f->inner, name, mode);
    if (code)
        free(f);
    else
        *out = f;
    return code;
}

static int slow_close(void *user, void *file)
{
    struct slow_file *f = file;
    int code = bouma_io_posix()->close(NULL, f->inner);

    (void)user;
    free(f);
    return code;
}

static int slow_size(void *user, void *file, uint64_t *bytes)
{
    struct slow_file *f = file;

    (void)user;
    return bouma_io_posix()->file_size(NULL, f->inner, bytes);
}

static int slow_read(void *user, void *file, void *data, size_t bytes,
                     uint64_t offset, size_t *done)
{
    struct slow_file *f = file;

    (void)user;
    return bouma_io_posix()->read(NULL, f->inner, data, bytes, offset, done);
}

/* Sleeps are at least some 50 us too long: short ones are saved up, and what
 * was slept too much counts for the next. */
static void take_time(struct slow_io *io, double seconds)
{
    double begun = measure_now();
    struct timespec t;

    io->busy += seconds;
    io->debt += seconds;
    if (io->debt < LEAST_SLEEP)
        return;
    t.tv_sec = (time_t)io->debt;
    t.tv_nsec = (long)((io->debt - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
    io->debt -= measure_now() - begun;
}

static int slow_write(void *user, void *file, const void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    struct slow_io *io = user;
    struct slow_file *f = file;

    if (!f->is_subfile)
        return bouma_io_posix()->write(NULL, f->inner, data, bytes, offset,
                                       done);
    *done = bytes;
    io->bytes += bytes;
    if (io->bytes_per_second > 0)
        take_time(io, (double)bytes / io->bytes_per_second);
    return 0;
}

static int slow_sync(void *user, void *file)
{
    struct slow_file *f = file;

    (void)user;
    return f->is_subfile ? 0 : bouma_io_posix()->sync(NULL, f->inner);
}

static int slow_reserve(void *user, void *file, uint64_t bytes)
{
    (void)user;
    (void)file;
    (void)bytes;
    return 0;
}

void slow_io_init(struct slow_io *io)
{
    memset(io, 0, sizeof(*io));
    io->table = *bouma_io_posix();
    io->table.user = io;
    io->table.open = slow_open;
    io->table.close = slow_close;
    io->table.file_size = slow_size;
    io->table.read = slow_read;
    io->table.write = slow_write;
    io->table.sync = slow_sync;
    io->table.reserve = slow_reserve;
}
