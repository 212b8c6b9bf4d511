/* mapped_file.c -- a file to import, mapped into memory. */
#include "mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_descriptor(struct mapped_file *file, struct context *ctx, int fd)
{
    struct stat info;

    if (fstat(fd, &info))
        return context_fail_errno(ctx, "read", file->path);
    if (!S_ISREG(info.st_mode))
        return context_fail(ctx, CALL_AT_FAULT, "%s: is not a regular file",
                            file->path);
    if (info.st_size == 0)
        return context_fail(ctx, DATA_AT_FAULT, "%s: the file is empty",
                            file->path);
    file->size = (size_t)info.st_size;
    file->bytes = mmap(NULL, file->size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (file->bytes == MAP_FAILED) {
        file->bytes = NULL;
        return context_fail_errno(ctx, "read", file->path);
    }
    return DONE;
}

int mapped_file_open(struct mapped_file *out, struct context *ctx,
                     const char *path)
{
    /* A pipe that nobody writes to would be waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc;

    *out = (struct mapped_file){.path = path};
    if (fd < 0)
        return context_fail_errno(ctx, "read", path);
    rc = map_descriptor(out, ctx, fd);
    close(fd);
    return rc;
}

void mapped_file_forget(struct mapped_file *file)
{
    madvise(file->bytes, file->size, MADV_DONTNEED);
}

void mapped_file_close(struct mapped_file *file)
{
    if (file->bytes)
        munmap(file->bytes, file->size);
    file->bytes = NULL;
}
