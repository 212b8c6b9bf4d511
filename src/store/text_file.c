/* text_file.c -- see text_file.h. */
#include "store/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* As read(2), but not interrupted. */
static ssize_t read_some(int fd, void *data, size_t bytes)
{
    ssize_t done;

    do
        done = read(fd, data, bytes);
    while (done < 0 && errno == EINTR);
    return done;
}

int bm_text_file_load(struct bm_buffer *out, const char *path,
                      struct bm_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = BOUMA_OK;
    size_t size = 0;
    char some[4096];
    ssize_t done = fd < 0 ? -1 : 1;

    while (done > 0 && !rc) {
        done = read_some(fd, some, sizeof(some));
        if (done > 0 && (size_t)done > BM_TEXT_FILE_BYTES - size) {
            rc = bm_fail(error, BOUMA_ELIMIT,
                         "%s: is longer than %zu bytes; is it the right file?",
                         path, BM_TEXT_FILE_BYTES);
        } else if (done > 0) {
            bm_put_bytes(out, some, (size_t)done);
            size += (size_t)done;
        }
    }
    if (done < 0)
        rc = bm_fail_io(error, errno, "%s: could not be %s", path,
                        fd < 0 ? "opened" : "read");
    if (!rc && out->failed)
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory to read it", path);
    if (fd >= 0)
        close(fd);
    return rc;
}
