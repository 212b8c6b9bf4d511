/* trace_file.c -- see trace_file.h. */
#include "engine/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/option.h"

#define BEGIN     "{\"otherData\":{\"writer\":\"bouma\",\"process\":"
#define MOST      1000 /* files of one process */
#define HEAD_SIZE 1024

/* The last part of the path. */
static const char *name_of(const struct bm_trace_file *f)
{
    const char *slash = strrchr(f->path, '/');

    return slash ? slash + 1 : f->path;
}

/* Attach the directory of the path. */
static int attach(struct bm_trace_file *f, struct bm_error *error)
{
    char dir[BM_PATH_BYTES];
    const char *name = name_of(f);
    int code;

    if (!*name || strlen(name) + 24 > BM_NAME_BYTES ||
        strlen(f->path) >= sizeof(dir))
        return bm_fail(error, BOUMA_EINVAL,
                       "%s: is not the name of a file for a trace", f->path);
    snprintf(dir, sizeof(dir), "%s", name > f->path ? f->path : ".");
    if (name > f->path)
        dir[name - f->path > 1 ? name - f->path - 1 : 1] = 0;
    code = f->io->attach(f->io->user, &f->root, dir, 0);
    if (code) {
        f->root = NULL;
        return bm_fail_io(error, code, "%s: the trace could not be written",
                          f->path);
    }
    return BOUMA_OK;
}

/* "trace.json", "trace-2.json", ... */
static void number_name(const struct bm_trace_file *f, int number,
                        char out[BM_NAME_BYTES])
{
    const char *name = name_of(f), *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - name) : strlen(name);

    if (number > 1)
        snprintf(out, BM_NAME_BYTES, "%.*s-%d%s", (int)stem, name, number,
                 name + stem);
    else
        snprintf(out, BM_NAME_BYTES, "%s", name);
}

/* What is under the name. */
enum found { NOTHING, OURS, OTHERS, DIRECTORY, NO_TRACE };

static enum found look(const struct bm_trace_file *f, const char *name)
{
    char there[HEAD_SIZE];
    size_t done = 0;
    void *file;
    int code =
        f->io->open(f->io->user, f->root, &file, name, BOUMA_OPEN_MODE_READ);

    if (code)
        return code == ENOENT ? NOTHING : code == EISDIR ? DIRECTORY : NO_TRACE;
    code = f->io->read(f->io->user, file, there, sizeof(there), 0, &done);
    f->io->close(f->io->user, file);
    if (code)
        return NO_TRACE;
    if (!done) /* made to be written to */
        return OTHERS;
    if (done >= f->mark.size && !memcmp(there, f->mark.data, f->mark.size))
        return OURS;
    return done >= strlen(BEGIN) && !memcmp(there, BEGIN, strlen(BEGIN))
               ? OTHERS
               : NO_TRACE;
}

/* The first number, from *number on, whose name is not a trace of this process.
 * EEXISTS if it is taken for good. */
static int choose(const struct bm_trace_file *f, int *number, enum found *found,
                  struct bm_error *error)
{
    char name[BM_NAME_BYTES];

    do {
        number_name(f, *number, name);
        *found = look(f, name);
    } while (*found == OURS && ++*number <= MOST);
    if (*found == NOTHING || *found == OTHERS)
        return BOUMA_OK;
    if (*found == OURS)
        return bm_fail(error, BOUMA_EEXISTS,
                       "%s: the trace was not written, since this process has "
                       "written %d of that name",
                       f->path, MOST);
    if (*found == DIRECTORY)
        return bm_fail(error, BOUMA_EEXISTS,
                       "%s: the trace was not written, since %s is a directory",
                       f->path, name);
    return bm_fail(error, BOUMA_EEXISTS,
                   "%s: the trace was not written, since there is a file %s "
                   "that is no trace, or cannot be read",
                   f->path, name);
}

/* A trace of another process makes way. It is moved aside first, and looked at
 * there: meanwhile another thread may have put its own under that name. */
static int make_way(const struct bm_trace_file *f, const char *name)
{
    char aside[BM_NAME_BYTES + 8], free_name[BM_NAME_BYTES];
    int code;

    snprintf(aside, sizeof(aside), "%s.old", f->part);
    code = f->io->publish(f->io->user, f->root, name, aside, 1);
    if (code)
        return code == ENOENT ? 0 : code;
    if (look(f, aside) == OTHERS)
        return f->io->remove(f->io->user, f->root, aside);
    code = f->io->publish(f->io->user, f->root, aside, name, 0);
    for (int i = 2; code == EEXIST && i <= MOST; i++) {
        number_name(f, i, free_name);
        code = f->io->publish(f->io->user, f->root, aside, free_name, 0);
    }
    return code;
}

/* The file is whole: now it gets its name, which others may want, too. */
static int publish_file(const struct bm_trace_file *f, struct bm_error *error)
{
    enum found found;
    int number = 1, code = EEXIST, rc;

    for (int i = 0; i < MOST && code == EEXIST; i++) {
        char name[BM_NAME_BYTES];

        rc = choose(f, &number, &found, error);
        if (rc)
            return rc;
        number_name(f, number, name);
        if (found == OTHERS)
            code = make_way(f, name);
        if (found == NOTHING || !code)
            code = f->io->publish(f->io->user, f->root, f->part, name, 0);
    }
    return code ? bm_fail_io(error, code, "%s: the trace could not be written",
                             f->path)
                : BOUMA_OK;
}

/* A file under a name that nobody else has. */
static int create(struct bm_trace_file *f, struct bm_error *error)
{
    enum found found;
    int number = 1, code = EEXIST, rc = choose(f, &number, &found, error);

    if (rc)
        return rc;
    for (int i = 1; i <= MOST && code == EEXIST; i++) {
        snprintf(f->part, sizeof(f->part), "%s.%d.part", name_of(f), i);
        code = f->io->open(f->io->user, f->root, &f->file, f->part,
                           BOUMA_OPEN_MODE_CREATE);
    }
    if (code) {
        f->file = NULL;
        return bm_fail_io(error, code, "%s: the trace could not be written",
                          f->path);
    }
    return BOUMA_OK;
}

int bm_trace_file_open(struct bm_trace_file *f, const char *path,
                       const struct bm_buffer *about, struct bm_error *error)
{
    static const char begin[] =
        "\"time_unit\":\"us\"},\n\"displayTimeUnit\":\"ms\",\n"
        "\"traceEvents\":[\n";
    char process[512] = "";
    struct bm_buffer head;
    int rc;

    memset(f, 0, sizeof(*f));
    f->path = path;
    f->io = bouma_io_posix();
    f->io->identity(f->io->user, process, sizeof(process));
    bm_buffer_init(&f->mark, about->a);
    bm_trace_put(&f->mark, "%s", BEGIN);
    bm_trace_put_string(&f->mark, process);
    bm_buffer_init(&head, about->a);
    if (!f->mark.failed)
        bm_put_bytes(&head, f->mark.data, f->mark.size);
    bm_put_bytes(&head, ",\n", 2);
    if (about->size)
        bm_put_bytes(&head, about->data, about->size);
    bm_put_bytes(&head, begin, strlen(begin));
    rc = f->mark.failed || head.failed || about->failed
             ? bm_fail(error, BOUMA_ENOMEM, "%s: no memory to write the trace",
                       path)
             : attach(f, error);
    if (!rc)
        rc = create(f, error);
    if (!rc)
        rc = bm_trace_file_write(f, head.data, head.size, error);
    bm_buffer_release(&head);
    return rc;
}

int bm_trace_file_write(struct bm_trace_file *f, const void *text, size_t bytes,
                        struct bm_error *error)
{
    const char *p = text;

    while (bytes) {
        size_t done = 0;
        int code = f->io->write(f->io->user, f->file, p, bytes, f->at, &done);

        if (code || !done)
            return bm_fail_io(error, code ? code : EIO,
                              "%s: the trace could not be written", f->path);
        p += done;
        f->at += done;
        bytes -= done;
    }
    return BOUMA_OK;
}

int bm_trace_file_close(struct bm_trace_file *f, int rc, struct bm_error *error)
{
    static const char end[] = "\n]}\n";
    int code;

    if (f->file) {
        f->at -= 2; /* the comma behind the last event */
        if (!rc)
            rc = bm_trace_file_write(f, end, strlen(end), error);
        code = f->io->close(f->io->user, f->file);
        if (code && !rc)
            rc = bm_fail_io(error, code, "%s: the trace could not be written",
                            f->path);
        if (!rc)
            rc = publish_file(f, error);
        if (rc)
            f->io->remove(f->io->user, f->root, f->part);
    }
    if (f->root)
        f->io->detach(f->io->user, f->root);
    bm_buffer_release(&f->mark);
    memset(f, 0, sizeof(*f));
    return rc;
}
