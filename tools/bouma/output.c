/* output.c -- the file that a command writes, with all processes at once. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* On process 0: the name has its number in it, so that two commands with one
 * output do not meet in one temporary file. */
static int make_temporary(struct output *out, struct context *ctx)
{
    struct stat info;
    int length;

    /* Renaming would replace a device or a pipe by a file. */
    if (stat(out->path, &info) == 0 && !S_ISREG(info.st_mode))
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s exists and is not a regular file", out->path);
    length = snprintf(out->temporary, sizeof(out->temporary), "%s.%ld.part",
                      out->path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof(out->temporary))
        return context_fail(ctx, CALL_AT_FAULT,
                            "the name of the output is too long");
    out->file =
        open(out->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->file < 0)
        return context_fail_errno(ctx, "write", out->path);
    out->made = true;
    return DONE;
}

int output_create(struct output *out, struct context *ctx, const char *path)
{
    int rc = DONE;

    memset(out, 0, sizeof(*out));
    out->path = path;
    out->file = -1;
    out->stream = strcmp(path, "-") == 0;
    if (out->stream) {
        out->file = STDOUT_FILENO;
        return DONE;
    }
    if (session_rank(ctx->session) == 0)
        rc = make_temporary(out, ctx);
    rc = context_agree(ctx, rc);
    if (rc)
        return rc;
    session_broadcast(ctx->session, out->temporary, sizeof(out->temporary));
    if (session_rank(ctx->session) > 0) {
        out->file = open(out->temporary, O_WRONLY | O_CLOEXEC);
        if (out->file < 0)
            rc = context_fail_errno(ctx, "write", out->path);
    }
    return context_agree(ctx, rc);
}

int output_write(struct output *output, struct context *ctx, const void *data,
                 size_t bytes, uint64_t offset)
{
    const char *from = data;

    while (bytes > 0) {
        ssize_t n = output->stream
                        ? write(output->file, from, bytes)
                        : pwrite(output->file, from, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return context_fail_errno(ctx, "write", output->path);
        from += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return DONE;
}

int output_finish(struct output *output, struct context *ctx, int outcome)
{
    /* A full file system may tell only now. */
    if (!output->stream && output->file >= 0 && close(output->file) &&
        outcome == DONE)
        outcome = context_fail_errno(ctx, "write", output->path);
    outcome = context_agree(ctx, outcome);
    if (output->made && outcome == DONE &&
        rename(output->temporary, output->path))
        outcome = context_fail_errno(ctx, "write", output->path);
    if (output->made && outcome != DONE)
        unlink(output->temporary);
    return context_agree(ctx, outcome);
}
