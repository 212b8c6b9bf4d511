/* error.c -- messages that say what failed, where, and what to do. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_text.h"
#include "bouma_lists.h"

const char *bouma_status_name(int status)
{
    switch (status) {
#define NAME(name, value, text)                                                \
    case value:                                                                \
        return #name;
        BOUMA_STATUS_LIST(NAME)
#undef NAME
    }
    return "UNKNOWN";
}

const char *bouma_status_text(int status)
{
    switch (status) {
#define TEXT(name, value, text)                                                \
    case value:                                                                \
        return text;
        BOUMA_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown status";
}

void bm_error_clear(struct bm_error *error)
{
    error->status = BOUMA_OK;
    error->text[0] = 0;
}

/* The first failure counts: 1 if this is it. */
BM_PRINTF(3, 0)
static int record(struct bm_error *error, int status, const char *format,
                  va_list args)
{
    if (error->status != BOUMA_OK)
        return 0;
    error->status = status;
    bm_format_list(error->text, sizeof(error->text), format, args);
    return 1;
}

int bm_fail(struct bm_error *error, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    record(error, status, format, args);
    va_end(args);
    return status;
}

static int status_of_errno(int code)
{
    switch (code) {
    case ENOSPC:
    case EDQUOT:
        return BOUMA_ENOSPC;
    case ENOMEM:
        return BOUMA_ENOMEM;
    case ENOENT:
    case ENOLINK:
        return BOUMA_ENOTFOUND;
    case EEXIST:
        return BOUMA_EEXISTS;
    }
    return BOUMA_EIO;
}

int bm_fail_io(struct bm_error *error, int code, const char *format, ...)
{
    int status = status_of_errno(code);
    char reason[128];
    va_list args;
    int recorded;
    size_t n;

    va_start(args, format);
    recorded = record(error, status, format, args);
    va_end(args);
    if (!recorded)
        return status;
    n = strlen(error->text);
    /* The GNU and the XSI strerror_r differ in what they return; strerror is
     * not thread-safe. strerrordesc_np is not everywhere. So: a short list of
     * what file systems say, and the number for the rest. */
    switch (code) {
#define REASON(name, words)                                                    \
    case name:                                                                 \
        snprintf(reason, sizeof(reason), words);                               \
        break;
        REASON(ENOSPC, "no space left on the device; free some and try again")
        REASON(EDQUOT, "the disk quota is used up; free some and try again")
        REASON(EIO, "input/output error of the device")
        REASON(ENOENT, "no such file or directory")
        REASON(EEXIST, "exists already")
        REASON(EACCES, "permission denied")
        REASON(EPERM, "operation not permitted")
        REASON(EROFS, "the file system is read-only")
        REASON(ENOTDIR, "a part of the path is not a directory")
        REASON(EISDIR, "is a directory")
        REASON(ENOTSUP, "is a pipe, a socket or a device, and no file")
        REASON(EMFILE, "too many open files in this process (see ulimit -n)")
        REASON(ENFILE, "too many open files on this machine")
        REASON(ELOOP, "is a symbolic link, which a dataset may not contain")
        REASON(ENOLINK, "is a symbolic link that leads nowhere")
        REASON(ENAMETOOLONG, "the path is too long")
        REASON(ESTALE, "stale handle of a network file system")
        REASON(ENOMEM, "out of memory")
        REASON(EFBIG, "the file would be too large")
#undef REASON
    default:
        snprintf(reason, sizeof(reason), "error number %d", code);
    }
    snprintf(error->text + n, sizeof(error->text) - n, ": %s", reason);
    return status;
}

void bm_error_prefix(struct bm_error *error, const char *format, ...)
{
    char old[BM_ERROR_BYTES];
    va_list args;
    size_t n;

    memcpy(old, error->text, sizeof(old));
    va_start(args, format);
    bm_format_list(error->text, sizeof(error->text), format, args);
    va_end(args);
    n = strlen(error->text);
    snprintf(error->text + n, sizeof(error->text) - n, ": %s", old);
}
