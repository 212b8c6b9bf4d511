/* io_javascript.c -- the I/O table over three functions that JavaScript gives
 * the module: list a directory, look for a file, read some of its bytes. They
 * return when they are done; bouma.js says what can be behind them. It is the
 * only table here, in place of the one for POSIX. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bouma.h"

#define IMPORT(name) __attribute__((import_module("bouma"), import_name(#name)))

/* An answer of JavaScript that is below 0 tells of a failure. */
enum { NO_ENTRY = -1 /* any other: EIO */ };

/* The entries of a directory, each with its NUL, into 'to' if they fit; how
 * many bytes they take. */
IMPORT(list)
int32_t js_list(const char *name, size_t length, char *to, size_t room);

/* The bytes of a file. */
IMPORT(size) double js_size(const char *name, size_t length);

/* How many bytes were read: 0 at the end of the file. */
IMPORT(read)
int32_t js_read(const char *name, size_t length, void *to, size_t bytes,
                double offset);

struct file {
    uint64_t bytes;
    size_t length;
    char name[];
};

static int code_of(double answer)
{
    return answer >= 0 ? 0 : answer == NO_ENTRY ? ENOENT : EIO;
}

/* ---- reading ------------------------------------------------------------- */

/* There is one dataset: whatever the path, it is what JavaScript reads. */
static int io_attach(void *user, void **root, const char *path, int create)
{
    (void)path;
    *root = user;
    return create ? EROFS : 0;
}

static void io_detach(void *user, void *root)
{
    (void)user;
    (void)root;
}

static int io_list(void *user, void *root, const char *name,
                   int (*each)(void *context, const char *entry), void *context)
{
    size_t length = strlen(name), room = 0;
    char *entries = NULL;
    int32_t bytes = js_list(name, length, NULL, 0);
    int rc = code_of(bytes);

    (void)user;
    (void)root;
    if (rc || !bytes)
        return rc;
    room = (size_t)bytes;
    entries = malloc(room);
    if (!entries)
        return ENOMEM;
    bytes = js_list(name, length, entries, room);
    rc = (size_t)bytes == room && !entries[room - 1] ? 0 : EIO;
    for (size_t at = 0; !rc && at < room; at += strlen(entries + at) + 1)
        rc = each(context, entries + at);
    free(entries);
    return rc;
}

static int io_open(void *user, void *root, void **out, const char *name,
                   bouma_open_mode mode)
{
    size_t length = strlen(name);
    struct file *file;
    double bytes;

    (void)user;
    (void)root;
    if (mode != BOUMA_OPEN_MODE_READ && mode != BOUMA_OPEN_MODE_VIEW)
        return EROFS;
    bytes = js_size(name, length);
    if (code_of(bytes))
        return code_of(bytes);
    file = malloc(sizeof(*file) + length + 1);
    if (!file)
        return ENOMEM;
    file->bytes = (uint64_t)bytes;
    file->length = length;
    memcpy(file->name, name, length + 1);
    *out = file;
    return 0;
}

static int io_file_size(void *user, void *file, uint64_t *bytes)
{
    (void)user;
    *bytes = ((struct file *)file)->bytes;
    return 0;
}

static int io_read(void *user, void *file, void *data, size_t bytes,
                   uint64_t offset, size_t *done)
{
    const struct file *f = file;
    size_t most = (size_t)1
                  << 30; /* so that what comes is no negative number */
    int32_t n = 0;

    (void)user;
    *done = 0;
    if (offset < f->bytes)
        n = js_read(f->name, f->length, data, bytes < most ? bytes : most,
                    (double)offset);
    if (n < 0)
        return code_of(n);
    if ((size_t)n > bytes)
        return EIO;
    *done = (size_t)n;
    return 0;
}

static int io_close(void *user, void *file)
{
    (void)user;
    free(file);
    return 0;
}

static int io_identity(void *user, char *text, size_t bytes)
{
    (void)user;
    if (bytes)
        *text = 0;
    return 0;
}

static int io_alive(void *user, const char *text)
{
    (void)user;
    (void)text;
    return -1;
}

/* ---- writing: nothing can be changed ------------------------------------- */

static int refuse_name(void *user, void *root, const char *name)
{
    (void)user;
    (void)root;
    (void)name;
    return EROFS;
}

static int refuse_publish(void *user, void *root, const char *from,
                          const char *to, int replace)
{
    (void)user;
    (void)root;
    (void)from;
    (void)to;
    (void)replace;
    return EROFS;
}

static int refuse_write(void *user, void *file, const void *data, size_t bytes,
                        uint64_t offset, size_t *done)
{
    (void)user;
    (void)file;
    (void)data;
    (void)bytes;
    (void)offset;
    *done = 0;
    return EROFS;
}

static int refuse_sync(void *user, void *file)
{
    (void)user;
    (void)file;
    return EROFS;
}

const bouma_io *bouma_io_posix(void)
{
    static const bouma_io table = {.size = sizeof(table),
                                   .attach = io_attach,
                                   .detach = io_detach,
                                   .make_dir = refuse_name,
                                   .list = io_list,
                                   .sync_dir = refuse_name,
                                   .publish = refuse_publish,
                                   .remove = refuse_name,
                                   .open = io_open,
                                   .file_size = io_file_size,
                                   .read = io_read,
                                   .write = refuse_write,
                                   .sync = refuse_sync,
                                   .close = io_close,
                                   .identity = io_identity,
                                   .alive = io_alive};

    return &table;
}
