/* trace_file.c -- see trace_file.h. */
#include "engine/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BEGIN     "{\"otherData\":{\"writer\":\"bouma\",\"process\":"
#define MOST      1000 /* files of one process */
#define HEAD_SIZE 1024

/* The directory of the path is attached, its name is f->name. */
static int attach(struct bm_trace_file *f, struct bm_error *error)
{
    char dir[BOUMA_PATH_BYTES];
    const char *slash = strrchr(f->path, '/');
    const char *name = slash ? slash + 1 : f->path;
    int code;

    if (!*name || strlen(name) + 8 > sizeof(f->name) ||
        strlen(f->path) >= sizeof(dir))
        return bm_fail(error, BOUMA_EINVAL,
                       "%s: is not the name of a file for a trace", f->path);
    memcpy(f->name, name, strlen(name) + 1);
    snprintf(dir, sizeof(dir), "%s", slash ? f->path : ".");
    if (slash)
        dir[slash > f->path ? slash - f->path : 1] = 0;
    code = f->io->attach(f->io->user, &f->root, dir, 0);
    if (code) {
        f->root = NULL;
        return bm_fail_io(error, code, "%s: the trace could not be written",
                          f->path);
    }
    return BOUMA_OK;
}

/* "trace.json", "trace-2.json", ... */
static void number_name(struct bm_trace_file *f, int number)
{
    const char *slash = strrchr(f->path, '/');
    const char *name = slash ? slash + 1 : f->path;
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - name) : strlen(name);

    if (number > 1)
        snprintf(f->name, sizeof(f->name), "%.*s-%d%s", (int)stem, name, number,
                 name + stem);
}

/* What is under the name. */
enum found { NOTHING, OURS, OTHERS, NO_TRACE };

static enum found look(struct bm_trace_file *f, const struct bm_buffer *head)
{
    char there[HEAD_SIZE];
    size_t done = 0;
    void *file;
    int code =
        f->io->open(f->io->user, f->root, &file, f->name, BOUMA_OPEN_VIEW);

    if (code)
        return code == ENOENT ? NOTHING : NO_TRACE;
    code = f->io->read(f->io->user, file, there, sizeof(there), 0, &done);
    f->io->close(f->io->user, file);
    if (code)
        return NO_TRACE;
    if (!done)
        return OTHERS;
    if (done >= head->size && !memcmp(there, head->data, head->size))
        return OURS;
    return done >= strlen(BEGIN) && !memcmp(there, BEGIN, strlen(BEGIN))
               ? OTHERS
               : NO_TRACE;
}

/* Choose the name, and open it. */
static int create(struct bm_trace_file *f, const struct bm_buffer *head,
                  struct bm_error *error)
{
    enum found found = OURS;
    int code;

    for (int i = 1; i <= MOST && found == OURS; i++) {
        number_name(f, i);
        found = look(f, head);
    }
    if (found == OURS || found == NO_TRACE) {
        bm_fail(error, BOUMA_EEXISTS,
                "%s: the trace was not written, since there is a file %s "
                "that is no trace, or cannot be read",
                f->path, f->name);
        f->name[0] = 0;
        return BOUMA_EEXISTS;
    }
    code = f->io->open(f->io->user, f->root, &f->file, f->name,
                       found == NOTHING ? BOUMA_OPEN_CREATE : BOUMA_OPEN_EMPTY);
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
    bm_buffer_init(&head, about->a);
    bm_trace_put(&head, "%s", BEGIN);
    bm_trace_put_string(&head, process);
    rc = head.failed || about->failed
             ? bm_fail(error, BOUMA_ENOMEM, "%s: no memory to write the trace",
                       path)
             : attach(f, error);
    if (!rc)
        rc = create(f, &head, error);
    bm_put_bytes(&head, ",\n", 2);
    if (about->size)
        bm_put_bytes(&head, about->data, about->size);
    bm_put_bytes(&head, begin, strlen(begin));
    if (!rc && head.failed)
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory to write the trace",
                     path);
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
        if (rc)
            f->io->remove(f->io->user, f->root, f->name);
    }
    if (f->root)
        f->io->detach(f->io->user, f->root);
    memset(f, 0, sizeof(*f));
    return rc;
}
