/* fault_io.c -- count, decide whether this call goes wrong, hand on. */
#include "fault_io.h"

#include <errno.h>
#include <string.h>

const struct fault fault_list[] = {
    {"EIO", FAULT_ERROR, EIO},
    {"ENOSPC", FAULT_ERROR, ENOSPC},
    {"EDQUOT", FAULT_ERROR, EDQUOT},
    {"EINTR", FAULT_ERROR, EINTR},
    {"ESTALE", FAULT_ERROR, ESTALE},
    {"EMFILE", FAULT_ERROR, EMFILE},
    {"EIO after the effect", FAULT_AFTER, EIO},
    {"half of the bytes", FAULT_SHORT, 0},
    {"none of the bytes", FAULT_NOTHING, 0},
    {"a flipped bit", FAULT_FLIP, 0},
};
const int fault_count = (int)(sizeof(fault_list) / sizeof(fault_list[0]));

void fault_io_arm(struct fault_io *io, const struct fault *fault, long at,
                  int sticky)
{
    io->fault = *fault;
    io->at = at;
    io->sticky = sticky;
    io->calls = 0;
    io->fired = 0;
    io->kept = 0;
}

void fault_io_disarm(struct fault_io *io)
{
    io->at = 0;
}

/* What to do in this call. 'before' is an error to return at once, 'after' one
 * to return when all is done; 'effect' is for reads and writes. */
struct verdict {
    int before, after;
    enum fault_effect effect;
};

static struct verdict decide(struct fault_io *io, int removes)
{
    struct verdict v = {0, 0, FAULT_ERROR};

    io->calls++;
    if (io->before)
        io->before(io->before_user, io->calls);
    if (!io->at || io->calls < io->at || (io->calls > io->at && !io->sticky))
        return v;
    v.effect = io->fault.effect;
    if (v.effect == FAULT_ERROR)
        v.before = io->fault.error;
    if (v.effect == FAULT_AFTER)
        v.after = io->fault.error;
    if (v.before || v.after) {
        io->fired++;
        io->kept |= removes;
    }
    return v;
}

/* The result of a call whose inner one gave 'rc'. */
static int outcome(struct verdict v, int rc)
{
    return rc ? rc : v.after;
}

static int fault_attach(void *user, void **root, const char *path, int create)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);
    int rc;

    if (v.before)
        return v.before;
    rc = io->inner->attach(io->inner->user, root, path, create);
    if (!rc && v.after)
        io->inner->detach(io->inner->user, *root);
    rc = outcome(v, rc);
    if (!rc)
        io->open++;
    return rc;
}

static void fault_detach(void *user, void *root)
{
    struct fault_io *io = user;

    io->open--;
    io->inner->detach(io->inner->user, root);
}

static int fault_make_dir(void *user, void *root, const char *name)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before)
        return v.before;
    return outcome(v, io->inner->make_dir(io->inner->user, root, name));
}

static int fault_list_dir(void *user, void *root, const char *name,
                          int (*each)(void *context, const char *entry),
                          void *context)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before)
        return v.before;
    return outcome(v,
                   io->inner->list(io->inner->user, root, name, each, context));
}

static int fault_sync_dir(void *user, void *root, const char *name)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before)
        return v.before;
    return outcome(v, io->inner->sync_dir(io->inner->user, root, name));
}

static int fault_publish(void *user, void *root, const char *from,
                         const char *to, int replace)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before)
        return v.before;
    return outcome(
        v, io->inner->publish(io->inner->user, root, from, to, replace));
}

static int fault_remove(void *user, void *root, const char *name)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 1);

    if (v.before)
        return v.before;
    return outcome(v, io->inner->remove(io->inner->user, root, name));
}

static int fault_remove_dir(void *user, void *root, const char *name)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 1);

    if (v.before)
        return v.before;
    return outcome(v, io->inner->remove_dir(io->inner->user, root, name));
}

static int fault_link(void *user, void *root, const char *name,
                      const char *text)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before)
        return v.before;
    return outcome(v, io->inner->link(io->inner->user, root, name, text));
}

static int fault_read_link(void *user, void *root, const char *name, char *text,
                           size_t bytes)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before)
        return v.before;
    return outcome(
        v, io->inner->read_link(io->inner->user, root, name, text, bytes));
}

static int fault_open(void *user, void *root, void **file, const char *name,
                      bouma_open_mode mode)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);
    int rc;

    if (v.before)
        return v.before;
    rc = io->inner->open(io->inner->user, root, file, name, mode);
    if (!rc && v.after)
        io->inner->close(io->inner->user, *file);
    rc = outcome(v, rc);
    if (!rc)
        io->open++;
    return rc;
}

static int fault_file_size(void *user, void *file, uint64_t *bytes)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before)
        return v.before;
    return outcome(v, io->inner->file_size(io->inner->user, file, bytes));
}

/* How many of 'bytes' bytes a read or write is to move. A half is never zero:
 * that is what a program can count on when it asks for the rest. */
static size_t shortened(struct fault_io *io, struct verdict v, size_t bytes)
{
    if (v.effect == FAULT_NOTHING) {
        io->fired++;
        return 0;
    }
    if (v.effect == FAULT_SHORT && bytes > 1) {
        io->fired++;
        return bytes / 2;
    }
    return bytes;
}

static int fault_read(void *user, void *file, void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);
    int rc;

    *done = 0;
    if (v.before)
        return v.before;
    bytes = shortened(io, v, bytes);
    if (!bytes)
        return 0;
    rc = io->inner->read(io->inner->user, file, data, bytes, offset, done);
    if (!rc && v.effect == FAULT_FLIP && *done) {
        size_t at = (size_t)(io->at * 2654435761u) % (*done * 8);

        ((unsigned char *)data)[at / 8] ^= (unsigned char)(1u << at % 8);
        io->fired++;
    }
    return outcome(v, rc);
}

static int fault_write(void *user, void *file, const void *data, size_t bytes,
                       uint64_t offset, size_t *done)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    *done = 0;
    if (v.before)
        return v.before;
    bytes = shortened(io, v, bytes);
    if (!bytes)
        return 0;
    return outcome(
        v, io->inner->write(io->inner->user, file, data, bytes, offset, done));
}

static int fault_sync(void *user, void *file)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before) {
        if (io->sync_failed)
            io->sync_failed(io->sync_failed_user, file);
        return v.before;
    }
    return outcome(v, io->inner->sync(io->inner->user, file));
}

/* A close that fails closes nevertheless, as on Linux. */
static int fault_close(void *user, void *file)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);
    int rc = io->inner->close(io->inner->user, file);

    io->open--;
    return v.before ? v.before : outcome(v, rc);
}

static int fault_identity(void *user, char *text, size_t bytes)
{
    struct fault_io *io = user;
    struct verdict v = decide(io, 0);

    if (v.before)
        return v.before;
    return outcome(v, io->inner->identity(io->inner->user, text, bytes));
}

static int fault_alive(void *user, const char *text)
{
    struct fault_io *io = user;

    return io->inner->alive(io->inner->user, text);
}

void fault_io_init(struct fault_io *io, const bouma_io *inner)
{
    memset(io, 0, sizeof(*io));
    io->inner = inner;
    io->table = (bouma_io){.size = sizeof(io->table),
                           .user = io,
                           .attach = fault_attach,
                           .detach = fault_detach,
                           .make_dir = fault_make_dir,
                           .list = fault_list_dir,
                           .sync_dir = fault_sync_dir,
                           .publish = fault_publish,
                           .remove = fault_remove,
                           .remove_dir = fault_remove_dir,
                           .open = fault_open,
                           .file_size = fault_file_size,
                           .read = fault_read,
                           .write = fault_write,
                           .sync = fault_sync,
                           .close = fault_close,
                           .identity = fault_identity,
                           .alive = fault_alive};
    if (inner->link) {
        io->table.link = fault_link;
        io->table.read_link = fault_read_link;
    }
}
