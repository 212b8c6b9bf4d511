/* store.c -- see store.h. */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Files of so many bytes are loaded whatever the memory limit: it is there
 * against what is large. */
#define SMALL 4096

/* One call of the table. */
#define CALL(s, result, call)                                                  \
    do {                                                                       \
        pthread_mutex_lock(&(s)->lock);                                        \
        (result) = (s)->io->call;                                              \
        pthread_mutex_unlock(&(s)->lock);                                      \
    } while (0)

/* The outermost directory of 'path' that is not there: 'path' is cut behind it,
 * and stays as it is if its parent is there. */
static int cut_to_missing(char *path, const bouma_io *io)
{
    int cut = 0;

    for (;;) {
        size_t n = strlen(path);
        void *root = NULL;
        char kept;
        int code;

        while (n && path[n - 1] == '/')
            n--;
        while (n && path[n - 1] != '/')
            n--;
        while (n && path[n - 1] == '/')
            n--;
        if (!n)
            return cut;
        kept = path[n];
        path[n] = 0;
        code = io->attach(io->user, &root, path, 0);
        if (!code)
            io->detach(io->user, root);
        if (code != ENOENT) {
            path[n] = kept;
            return cut;
        }
        cut = 1;
    }
}

/* A directory cannot be created in one that is not there. */
static int tell_parent(const struct bm_store *s, const char *path,
                       struct bm_error *error)
{
    char *missing = bm_copy_text(s->a, path);
    int rc;

    if (missing && cut_to_missing(missing, s->io))
        rc = bm_fail(error, BOUMA_ENOTFOUND,
                     "%s: could not be created: there is no directory %s", path,
                     missing);
    else
        rc = bm_fail_io(error, ENOENT, "%s: could not be created", path);
    bm_drop(s->a, missing);
    return rc;
}

int bm_store_open(struct bm_store *s, const bouma_io *io,
                  const bouma_allocator *a, const char *path, int create,
                  struct bm_error *error)
{
    int code;

    memset(s, 0, sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
    s->io = io;
    s->a = a;
    s->memory_limit = (uint64_t)16 << 30;
    s->path = bm_copy_text(a, path);
    if (!s->path)
        return bm_fail(error, BOUMA_ENOMEM, "%s: no memory to open it", path);
    code = io->attach(io->user, &s->root, path, create);
    if (code) {
        s->root = NULL;
        if (code == ENOTDIR && !create)
            return bm_fail(error, BOUMA_EINVAL,
                           "%s: is a file, or is inside one; a dataset is a "
                           "directory",
                           path);
        if (code == ENOENT && create)
            return tell_parent(s, path, error);
        return bm_fail_io(error, code, "%s: could not be %s", path,
                          create ? "created" : "opened");
    }
    return BOUMA_OK;
}

void bm_store_close(struct bm_store *s)
{
    if (s->root)
        s->io->detach(s->io->user, s->root);
    if (s->a) {
        bm_drop(s->a, s->path);
        pthread_mutex_destroy(&s->lock);
    }
    s->a = NULL;
    s->root = NULL;
    s->path = NULL;
}

int bm_store_same(const struct bm_store *s, const struct bm_store *other)
{
    return !strcmp(s->path, other->path) ||
           (s->io->same && s->io->same(s->io->user, s->root, other->root));
}

uint64_t bm_store_block(const struct bm_store *s)
{
    uint64_t bytes = 0;

    if (s->io->block_bytes && s->io->block_bytes(s->io->user, s->root, &bytes))
        return 0;
    return bytes;
}

/* Of what has the name of a file and is none: a directory, a pipe, a device. */
static int is_no_file(int code)
{
    return code == EISDIR || code == ENOTSUP;
}

int bm_file_open(struct bm_file *f, struct bm_store *s, const char *name,
                 bouma_open_mode mode, struct bm_error *error)
{
    struct bm_error why = {0};
    int code, status;

    memset(f, 0, sizeof(*f));
    f->store = s;
    snprintf(f->name, sizeof(f->name), "%s", name);
    CALL(s, code, open(s->io->user, s->root, &f->handle, name, mode));
    if (code) {
        f->handle = NULL;
        f->store = NULL;
        status = bm_fail_io(&why, code, "%s/%s: could not be %s", s->path, name,
                            mode == BOUMA_OPEN_MODE_READ ||
                                    mode == BOUMA_OPEN_MODE_UPDATE
                                ? "opened"
                                : "created");
        /* That is no failure of the device: there is no such file. */
        if (mode == BOUMA_OPEN_MODE_READ && is_no_file(code))
            status = BOUMA_EFORMAT;
        return bm_fail(error, status, "%s", why.text);
    }
    s->files_opened++;
    return BOUMA_OK;
}

int bm_file_size(struct bm_file *f, uint64_t *bytes, struct bm_error *error)
{
    struct bm_store *s = f->store;
    int code;

    CALL(s, code, file_size(s->io->user, f->handle, bytes));
    if (code)
        return bm_fail_io(error, code, "%s/%s: its size could not be read",
                          s->path, f->name);
    return BOUMA_OK;
}

int bm_file_read(struct bm_file *f, void *data, size_t bytes, uint64_t offset,
                 struct bm_error *error)
{
    struct bm_store *s = f->store;
    uint8_t *p = data;

    while (bytes) {
        size_t done = 0;
        int code;

        CALL(s, code, read(s->io->user, f->handle, p, bytes, offset, &done));
        if (code)
            return bm_fail_io(error, code,
                              "%s/%s: read at byte %" PRIu64 " failed", s->path,
                              f->name, offset);
        if (!done)
            return bm_fail(error, BOUMA_EFORMAT,
                           "%s/%s: ends at byte %" PRIu64
                           ", %zu bytes too early; the file is truncated",
                           s->path, f->name, offset, bytes);
        s->bytes_read += done;
        p += done;
        offset += done;
        bytes -= done;
    }
    return BOUMA_OK;
}

int bm_file_write(struct bm_file *f, const void *data, size_t bytes,
                  uint64_t offset, struct bm_error *error)
{
    struct bm_store *s = f->store;
    const uint8_t *p = data;

    while (bytes) {
        size_t done = 0;
        int code;

        CALL(s, code, write(s->io->user, f->handle, p, bytes, offset, &done));
        if (!code && !done)
            code = EIO;
        if (code)
            return bm_fail_io(error, code,
                              "%s/%s: write of %zu bytes at byte %" PRIu64
                              " failed",
                              s->path, f->name, bytes, offset);
        s->bytes_written += done;
        p += done;
        offset += done;
        bytes -= done;
    }
    return BOUMA_OK;
}

int bm_file_reserve(struct bm_file *f, uint64_t bytes, struct bm_error *error)
{
    struct bm_store *s = f->store;
    int code = 0;

    if (s->io->reserve && bytes)
        CALL(s, code, reserve(s->io->user, f->handle, bytes));
    if (code)
        return bm_fail_io(error, code,
                          "%s/%s: there is no room for %" PRIu64 " bytes",
                          s->path, f->name, bytes);
    return BOUMA_OK;
}

int bm_file_sync(struct bm_file *f, struct bm_error *error)
{
    struct bm_store *s = f->store;
    int code;

    CALL(s, code, sync(s->io->user, f->handle));
    if (code)
        return bm_fail_io(error, code, "%s/%s: could not be synced to storage",
                          s->path, f->name);
    return BOUMA_OK;
}

int bm_file_close(struct bm_file *f, struct bm_error *error)
{
    struct bm_store *s = f->store;
    int code;

    if (!f->handle)
        return BOUMA_OK;
    CALL(s, code, close(s->io->user, f->handle));
    f->handle = NULL;
    if (code)
        return bm_fail_io(error, code, "%s/%s: could not be closed", s->path,
                          f->name);
    return BOUMA_OK;
}

int bm_store_load(struct bm_store *s, const char *name, struct bm_buffer *out,
                  uint64_t limit, struct bm_error *error)
{
    struct bm_error ignored = {0};
    struct bm_file f;
    uint64_t bytes = 0;
    int rc;

    bm_buffer_clear(out);
    rc = bm_file_open(&f, s, name, BOUMA_OPEN_MODE_READ, error);
    if (rc)
        return rc;
    rc = bm_file_size(&f, &bytes, error);
    if (!rc && bytes > SMALL && bytes > s->memory_limit)
        rc = bm_fail(error, BOUMA_ELIMIT,
                     "%s/%s: has %" PRIu64 " bytes, more than the option "
                     "'memory_limit' allows",
                     s->path, name, bytes);
    else if (!rc && limit != s->memory_limit && bytes > limit)
        rc = bm_fail(error, BOUMA_ELIMIT,
                     "%s/%s: has %" PRIu64 " bytes, more than such a file may "
                     "have",
                     s->path, name, bytes);
    if (!rc && !bm_buffer_extend(out, (size_t)bytes))
        rc = bm_fail(error, BOUMA_ENOMEM,
                     "%s/%s: no memory for %" PRIu64 " bytes", s->path, name,
                     bytes);
    if (!rc)
        rc = bm_file_read(&f, out->data, (size_t)bytes, 0, error);
    bm_file_close(&f, &ignored); /* only read from */
    return rc;
}

int bm_store_save(struct bm_store *s, const char *name, const void *data,
                  size_t bytes, int sync, struct bm_error *error)
{
    struct bm_file f;
    int rc = bm_file_open(&f, s, name, BOUMA_OPEN_MODE_CREATE, error), closed;

    if (rc)
        return rc;
    rc = bm_file_write(&f, data, bytes, 0, error);
    if (!rc && sync)
        rc = bm_file_sync(&f, error);
    closed = bm_file_close(&f, error);
    if (!rc)
        rc = closed;
    if (rc)
        bm_store_remove(s, name);
    return rc;
}

int bm_store_make_dir(struct bm_store *s, const char *name, int existing,
                      struct bm_error *error)
{
    int code;

    CALL(s, code, make_dir(s->io->user, s->root, name));
    if (!code || (code == EEXIST && existing))
        return BOUMA_OK;
    return bm_fail_io(error, code, "%s/%s: the directory could not be created",
                      s->path, name);
}

int bm_store_sync_dir(struct bm_store *s, const char *name,
                      struct bm_error *error)
{
    int code;

    CALL(s, code, sync_dir(s->io->user, s->root, name));
    if (code)
        return bm_fail_io(error, code,
                          "%s/%s: the directory could not be synced to storage",
                          s->path, name);
    return BOUMA_OK;
}

int bm_store_publish(struct bm_store *s, const char *from, const char *to,
                     int replace, struct bm_error *error)
{
    int code;

    CALL(s, code, publish(s->io->user, s->root, from, to, replace));
    if (code)
        return bm_fail_io(error, code, "%s/%s: could not be renamed to %s",
                          s->path, from, to);
    return BOUMA_OK;
}

void bm_store_read_link(struct bm_store *s, const char *name,
                        char text[BM_NAME_BYTES])
{
    int code = ENOTSUP;

    if (bm_io_has_links(s->io))
        CALL(s, code,
             read_link(s->io->user, s->root, name, text, BM_NAME_BYTES));
    if (code)
        text[0] = 0;
}

int bm_store_is_link_to(struct bm_store *s, const char *name, const char *text)
{
    char is[BM_NAME_BYTES];

    bm_store_read_link(s, name, is);
    return !strcmp(is, text);
}

int bm_store_link(struct bm_store *s, const char *name, const char *text,
                  struct bm_error *error)
{
    int code = ENOTSUP;

    if (bm_io_has_links(s->io))
        CALL(s, code, link(s->io->user, s->root, name, text));
    if (!code || (code == EEXIST && bm_store_is_link_to(s, name, text)))
        return BOUMA_OK;
    return bm_fail_io(error, code, "%s/%s: the symbolic link could not be made",
                      s->path, name);
}

void bm_store_remove(struct bm_store *s, const char *name)
{
    int ignored;

    CALL(s, ignored, remove(s->io->user, s->root, name));
    (void)ignored;
}

void bm_store_remove_dir(struct bm_store *s, const char *name)
{
    int ignored = 0;

    if (s->io->remove_dir)
        CALL(s, ignored, remove_dir(s->io->user, s->root, name));
    (void)ignored;
}

int bm_store_list(struct bm_store *s, const char *name,
                  int (*each)(void *context, const char *entry), void *context,
                  struct bm_error *error)
{
    int code = s->io->list(s->io->user, s->root, name, each, context);

    if (code)
        return bm_fail_io(error, code,
                          "%s/%s: the directory could not be listed", s->path,
                          name);
    return BOUMA_OK;
}

/* Whether it can be opened: 0 or an errno. */
static int try_open(struct bm_store *s, const char *name)
{
    void *file = NULL;
    int code;

    CALL(s, code,
         open(s->io->user, s->root, &file, name, BOUMA_OPEN_MODE_READ));

    if (!code)
        s->io->close(s->io->user, file);
    return code;
}

int bm_store_exists(struct bm_store *s, const char *name)
{
    return try_open(s, name) == 0;
}

int bm_store_is_no_file(struct bm_store *s, const char *name)
{
    return is_no_file(try_open(s, name));
}

int bm_store_is_absent(struct bm_store *s, const char *name)
{
    return try_open(s, name) == ENOENT;
}
