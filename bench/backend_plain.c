/* backend_plain.c -- each rank a file of its own, by write() and read(). */
#include "backend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void own_name(char name[32], const struct backend_input *in)
{
    snprintf(name, 32, "plain.%d", in->rank);
}

static int open_own(char path[BACKEND_PATH_BYTES],
                    const struct backend_input *in, int flags)
{
    char name[32];
    int fd;

    own_name(name, in);
    backend_path(path, in, name);
    fd = open(path, flags, 0666);
    if (fd < 0)
        backend_fail("%s: %s", path, strerror(errno));
    return fd;
}

static void write_file(const struct backend_input *in, int durable)
{
    char path[BACKEND_PATH_BYTES];
    int fd = open_own(path, in, O_WRONLY | O_CREAT | O_EXCL);
    const char *next = (const char *)in->data;
    size_t left = in->count * sizeof(*in->data);

    while (left > 0) {
        ssize_t n = write(fd, next, left);

        if (n < 0)
            backend_fail("%s: %s", path, strerror(errno));
        next += n;
        left -= (size_t)n;
    }
    if (durable && fsync(fd))
        backend_fail("%s: %s", path, strerror(errno));
    if (close(fd))
        backend_fail("%s: %s", path, strerror(errno));
}

static void plain_write(struct backend *backend, const struct backend_input *in)
{
    (void)backend;
    write_file(in, 0);
}

static void plain_write_fsync(struct backend *backend,
                              const struct backend_input *in)
{
    (void)backend;
    write_file(in, 1);
}

static void plain_read(struct backend *backend, const struct backend_input *in)
{
    char path[BACKEND_PATH_BYTES];
    int fd = open_own(path, in, O_RDONLY);
    char *next = (char *)in->back;
    size_t left = in->count * sizeof(*in->back);

    (void)backend;
    while (left > 0) {
        ssize_t n = read(fd, next, left);

        if (n <= 0)
            backend_fail("%s: %s", path, n ? strerror(errno) : "too short");
        next += n;
        left -= (size_t)n;
    }
    close(fd);
}

static void plain_discard(struct backend *backend,
                          const struct backend_input *in)
{
    char name[32], path[BACKEND_PATH_BYTES];

    (void)backend;
    own_name(name, in);
    backend_path(path, in, name);
    if (unlink(path))
        backend_fail("%s: %s", path, strerror(errno));
}

const struct backend backend_plain = {
    .name = "plain",
    .write = plain_write,
    .read = plain_read,
    .discard = plain_discard,
};

const struct backend backend_plain_fsync = {
    .name = "plain+fsync",
    .write = plain_write_fsync,
    .discard = plain_discard,
};
