/* temp_file.c -- see temp_file.h. */
#include "machine/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bm_temp_file_open(const char *directory, const bouma_allocator *a,
                      struct bm_error *error)
{
    int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    size_t bytes = strlen(directory) + 32;
    char *path;

    if (file >= 0)
        return file;
    /* Not every file system can do that: one with a name, for a moment. */
    path = bm_new(a, bytes, 1);
    if (!path) {
        bm_fail(error, BOUMA_ENOMEM, "no memory for a path in %s", directory);
        return -1;
    }
    snprintf(path, bytes, "%s/.bouma-XXXXXX", directory);
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        bm_fail_io(error, errno, "%s: no file can be made in this directory",
                   directory);
    else
        unlink(path);
    bm_drop(a, path);
    return file;
}
