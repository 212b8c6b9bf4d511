/* way_plain.c -- each rank a file of its own, by write() and read(). */
#include "way.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void own_name(char name[32], const struct way_input *in)
{
    snprintf(name, 32, "plain.%d", in->rank);
}

static int open_own(char path[WAY_PATH_BYTES], const struct way_input *in,
                    int flags)
{
    char name[32];
    int fd;

    own_name(name, in);
    way_path(path, in, name);
    fd = open(path, flags, 0666);
    if (fd < 0)
        way_fail("%s: %s", path, strerror(errno));
    return fd;
}

static void write_file(const struct way_input *in, int durable)
{
    char path[WAY_PATH_BYTES];
    int fd = open_own(path, in, O_WRONLY | O_CREAT | O_EXCL);
    const char *next = (const char *)in->data;
    size_t left = in->count * sizeof(*in->data);

    while (left > 0) {
        ssize_t n = write(fd, next, left);

        if (n < 0)
            way_fail("%s: %s", path, strerror(errno));
        next += n;
        left -= (size_t)n;
    }
    if (durable && fsync(fd))
        way_fail("%s: %s", path, strerror(errno));
    if (close(fd))
        way_fail("%s: %s", path, strerror(errno));
}

static void plain_write(struct way *way, const struct way_input *in)
{
    (void)way;
    write_file(in, 0);
}

static void plain_write_fsync(struct way *way, const struct way_input *in)
{
    (void)way;
    write_file(in, 1);
}

static void plain_read(struct way *way, const struct way_input *in)
{
    char path[WAY_PATH_BYTES];
    int fd = open_own(path, in, O_RDONLY);
    char *next = (char *)in->back;
    size_t left = in->count * sizeof(*in->back);

    (void)way;
    while (left > 0) {
        ssize_t n = read(fd, next, left);

        if (n <= 0)
            way_fail("%s: %s", path, n ? strerror(errno) : "too short");
        next += n;
        left -= (size_t)n;
    }
    close(fd);
}

static void plain_discard(struct way *way, const struct way_input *in)
{
    char name[32], path[WAY_PATH_BYTES];

    (void)way;
    own_name(name, in);
    way_path(path, in, name);
    if (unlink(path))
        way_fail("%s: %s", path, strerror(errno));
}

const struct way way_plain = {
    .name = "plain",
    .write = plain_write,
    .read = plain_read,
    .discard = plain_discard,
};

const struct way way_plain_fsync = {
    .name = "plain+fsync",
    .write = plain_write_fsync,
    .discard = plain_discard,
};
