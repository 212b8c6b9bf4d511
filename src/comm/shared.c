/* shared.c -- see shared.h. On systems without memfd_create() there is no such
 * memory; messages do instead. */
#include "comm/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

#ifdef MFD_CLOEXEC

/* Get the pages of a file, a part at a time: a signal ends the call, and what
 * it has done then is done for nothing. */
static int reserve(int file, size_t bytes)
{
    const size_t part = (size_t)8 << 20;
    int code = 0;

    for (size_t at = 0; at < bytes && !code; at += part) {
        size_t n = bytes - at < part ? bytes - at : part;

        do
            code = posix_fallocate(file, (off_t)at, (off_t)n);
        while (code == EINTR);
    }
    return code;
}

/* Memory that is shared counts as a file here, and one that is too long would
 * not fail, but kill (SIGXFSZ). */
static int is_allowed(size_t bytes)
{
    struct rlimit limit;

    return bytes <= INT64_MAX && !getrlimit(RLIMIT_FSIZE, &limit) &&
           (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

static int map(struct bm_shared *out, int file, size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (data == MAP_FAILED)
        return errno;
    out->data = data;
    out->bytes = bytes;
    return 0;
}

int bm_shared_make(struct bm_shared *out, struct bm_shared_handle *handle,
                   size_t bytes)
{
    struct stat s;
    int code;

    *out = (struct bm_shared){NULL, 0, -1};
    if (!is_allowed(bytes))
        return EFBIG;
    out->file = memfd_create("bouma", MFD_CLOEXEC);
    if (out->file < 0)
        return errno;
    code = reserve(out->file, bytes);
    if (!code && fstat(out->file, &s))
        code = errno;
    if (!code)
        code = map(out, out->file, bytes);
    if (code)
        bm_shared_release(out);
    else
        *handle = (struct bm_shared_handle){
            (uint64_t)getpid(), (uint64_t)out->file, (uint64_t)s.st_dev,
            (uint64_t)s.st_ino, bytes};
    return code;
}

/* The file is looked at before it is opened: if it is not the right one, who
 * knows what opening it would do. */
int bm_shared_map(struct bm_shared *out, const struct bm_shared_handle *handle)
{
    char path[64];
    struct stat s;
    int found, file = -1, code = 0;

    *out = (struct bm_shared){NULL, 0, -1};
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/fd/%" PRIu64,
             handle->process, handle->file);
    found = open(path, O_PATH | O_CLOEXEC);
    if (found < 0 || fstat(found, &s))
        code = errno;
    else if ((uint64_t)s.st_dev != handle->device ||
             (uint64_t)s.st_ino != handle->inode ||
             (uint64_t)s.st_size != handle->bytes)
        code = ESTALE;
    if (!code) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
        file = open(path, O_RDWR | O_CLOEXEC);
        code = file < 0 ? errno : map(out, file, (size_t)handle->bytes);
    }
    if (file >= 0)
        close(file);
    if (found >= 0)
        close(found);
    return code;
}

#else

int bm_shared_make(struct bm_shared *out, struct bm_shared_handle *handle,
                   size_t bytes)
{
    (void)handle;
    (void)bytes;
    *out = (struct bm_shared){NULL, 0, -1};
    return ENOSYS;
}

int bm_shared_map(struct bm_shared *out, const struct bm_shared_handle *handle)
{
    (void)handle;
    *out = (struct bm_shared){NULL, 0, -1};
    return ENOSYS;
}

#endif

void bm_shared_seal(struct bm_shared *s)
{
    if (s->data && s->file >= 0)
        close(s->file);
    s->file = -1;
}

/* If it cannot be done, nothing is wrong: nobody means to write. */
void bm_shared_protect(struct bm_shared *s)
{
    if (s->data)
        (void)mprotect(s->data, s->bytes, PROT_READ);
}

int bm_shared_unprotect(struct bm_shared *s)
{
    return s->data && mprotect(s->data, s->bytes, PROT_READ | PROT_WRITE)
               ? errno
               : 0;
}

void bm_shared_release(struct bm_shared *s)
{
    if (s->data)
        munmap(s->data, s->bytes);
    if (s->file >= 0)
        close(s->file);
    *s = (struct bm_shared){NULL, 0, -1};
}

/* The kernel that runs, and what it lets one see of other processes. */
uint64_t bm_shared_node(void)
{
    char text[256];
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t boot = file < 0 ? -1 : read(file, text, 64), space;

    if (file >= 0)
        close(file);
    if (boot <= 0)
        return 0;
    space =
        readlink("/proc/self/ns/pid", text + boot, sizeof(text) - (size_t)boot);
    return space > 0 ? bm_hash64(text, (size_t)(boot + space), 0) : 0;
}
