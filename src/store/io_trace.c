/* io_trace.c -- see io_trace.h. Roots are those of the table behind; a file is
 * one with its name, in memory that any thread can give back. */
#include "store/io_trace.h"

#include <errno.h>
#include <string.h>

#include "bouma.h"
#include "store/store.h"

struct traced_file {
    void *file;
    char name[BM_TRACE_FILE_BYTES];
};

static void tell(struct bm_io_trace *t, const char *what, double begun,
                 const char *file)
{
    bm_trace_add(t->trace, "file", what, begun,
                 &(struct bm_trace_args){.file = file});
}

static void tell_bytes(struct bm_io_trace *t, const char *what, double begun,
                       const struct traced_file *f, const uint64_t moved[2])
{
    bm_trace_add(t->trace, "file", what, begun,
                 &(struct bm_trace_args){.bytes = moved[0],
                                         .counted = "offset",
                                         .number = moved[1],
                                         .file = f->name});
}

/* ---- directories -------------------------------------------------------- */

static int trace_attach(void *user, void **root, const char *path, int create)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->attach(t->io->user, root, path, create);

    tell(t, create ? "create" : "attach", begun, path);
    return code;
}

static void trace_detach(void *user, void *root)
{
    struct bm_io_trace *t = user;

    t->io->detach(t->io->user, root);
}

static int trace_make_dir(void *user, void *root, const char *name)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->make_dir(t->io->user, root, name);

    tell(t, "make directory", begun, name);
    return code;
}

static int trace_list(void *user, void *root, const char *name,
                      int (*each)(void *context, const char *entry),
                      void *context)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->list(t->io->user, root, name, each, context);

    tell(t, "list", begun, name);
    return code;
}

static int trace_sync_dir(void *user, void *root, const char *name)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->sync_dir(t->io->user, root, name);

    tell(t, "sync directory", begun, name[0] ? name : ".");
    return code;
}

static int trace_publish(void *user, void *root, const char *from,
                         const char *to, int replace)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->publish(t->io->user, root, from, to, replace);

    tell(t, "rename", begun, to);
    return code;
}

static int trace_remove(void *user, void *root, const char *name)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->remove(t->io->user, root, name);

    tell(t, "remove", begun, name);
    return code;
}

static int trace_remove_dir(void *user, void *root, const char *name)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->remove_dir(t->io->user, root, name);

    tell(t, "remove directory", begun, name);
    return code;
}

static int trace_link(void *user, void *root, const char *name,
                      const char *text)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->link(t->io->user, root, name, text);

    tell(t, "link", begun, name);
    return code;
}

static int trace_read_link(void *user, void *root, const char *name, char *text,
                           size_t bytes)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    int code = t->io->read_link(t->io->user, root, name, text, bytes);

    tell(t, "read link", begun, name);
    return code;
}

/* ---- files -------------------------------------------------------------- */

static int trace_open(void *user, void *root, void **file, const char *name,
                      bouma_open_mode mode)
{
    struct bm_io_trace *t = user;
    double begun = bm_clock();
    struct traced_file *f = bm_new(bm_allocator_default(), 1, sizeof(*f));
    size_t n = strlen(name);
    int code = ENOMEM;

    if (f)
        code = t->io->open(t->io->user, root, &f->file, name, mode);
    tell(t, "open", begun, name);
    if (code) {
        bm_drop(bm_allocator_default(), f);
        return code;
    }
    if (n >= sizeof(f->name))
        name += n - sizeof(f->name) + 1;
    memcpy(f->name, name, strlen(name) + 1);
    *file = f;
    return 0;
}

static int trace_file_size(void *user, void *file, uint64_t *bytes)
{
    struct bm_io_trace *t = user;
    struct traced_file *f = file;

    return t->io->file_size(t->io->user, f->file, bytes);
}

static int trace_read(void *user, void *file, void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    struct bm_io_trace *t = user;
    struct traced_file *f = file;
    double begun = bm_clock();
    int code = t->io->read(t->io->user, f->file, data, bytes, offset, done);

    tell_bytes(t, "read", begun, f, (uint64_t[]){code ? 0 : *done, offset});
    return code;
}

static int trace_write(void *user, void *file, const void *data, size_t bytes,
                       uint64_t offset, size_t *done)
{
    struct bm_io_trace *t = user;
    struct traced_file *f = file;
    double begun = bm_clock();
    int code = t->io->write(t->io->user, f->file, data, bytes, offset, done);

    tell_bytes(t, "write", begun, f, (uint64_t[]){code ? 0 : *done, offset});
    return code;
}

static int trace_sync(void *user, void *file)
{
    struct bm_io_trace *t = user;
    struct traced_file *f = file;
    double begun = bm_clock();
    int code = t->io->sync(t->io->user, f->file);

    tell(t, "sync", begun, f->name);
    return code;
}

static int trace_close(void *user, void *file)
{
    struct bm_io_trace *t = user;
    struct traced_file *f = file;
    double begun = bm_clock();
    int code = t->io->close(t->io->user, f->file);

    tell(t, "close", begun, f->name);
    bm_drop(bm_allocator_default(), f);
    return code;
}

static int trace_reserve(void *user, void *file, uint64_t bytes)
{
    struct bm_io_trace *t = user;
    struct traced_file *f = file;
    double begun = bm_clock();
    int code = t->io->reserve(t->io->user, f->file, bytes);

    tell(t, "reserve", begun, f->name);
    return code;
}

/* ---- passed on ---------------------------------------------------------- */

static int pass_identity(void *user, char *text, size_t bytes)
{
    struct bm_io_trace *t = user;

    return t->io->identity(t->io->user, text, bytes);
}

static int pass_alive(void *user, const char *text)
{
    struct bm_io_trace *t = user;

    return t->io->alive(t->io->user, text);
}

static int pass_block_bytes(void *user, void *root, uint64_t *bytes)
{
    struct bm_io_trace *t = user;

    return t->io->block_bytes(t->io->user, root, bytes);
}

static int pass_same(void *user, void *root, void *other)
{
    struct bm_io_trace *t = user;

    return t->io->same(t->io->user, root, other);
}

void bm_io_trace_init(struct bm_io_trace *t, const bouma_io *io,
                      struct bm_trace *trace)
{
    t->trace = trace;
    t->io = io;
    t->table = (bouma_io){
        .size = sizeof(bouma_io),
        .user = t,
        .attach = trace_attach,
        .detach = trace_detach,
        .make_dir = trace_make_dir,
        .list = trace_list,
        .sync_dir = trace_sync_dir,
        .publish = trace_publish,
        .remove = trace_remove,
        .open = trace_open,
        .file_size = trace_file_size,
        .read = trace_read,
        .write = trace_write,
        .sync = trace_sync,
        .close = trace_close,
        .identity = pass_identity,
        .alive = pass_alive,
        .reserve = io->reserve ? trace_reserve : NULL,
        .remove_dir = io->remove_dir ? trace_remove_dir : NULL,
        .block_bytes = io->block_bytes ? pass_block_bytes : NULL,
        .concurrent = io->concurrent,
        .same = io->same ? pass_same : NULL,
        .link = bm_io_has_links(io) ? trace_link : NULL,
        .read_link = bm_io_has_links(io) ? trace_read_link : NULL,
    };
}
