/* sys/mman.h -- of a system whose memory is one array: nothing is mapped. What
 * the library would map serves several ranks, or writing. */
#ifndef BOUMA_WASM_MMAN_H
#define BOUMA_WASM_MMAN_H

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#define PROT_READ     1
#define PROT_WRITE    2
#define MAP_SHARED    1
#define MAP_PRIVATE   2
#define MAP_ANONYMOUS 4
#define MAP_NORESERVE 8
#define MAP_FAILED    ((void *)-1)

static inline void *mmap(void *at, size_t bytes, int protection, int flags,
                         int file, off_t offset)
{
    (void)at;
    (void)bytes;
    (void)protection;
    (void)flags;
    (void)file;
    (void)offset;
    errno = ENOSYS;
    return MAP_FAILED;
}

static inline int munmap(void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
    errno = ENOSYS;
    return -1;
}

static inline int mincore(void *at, size_t bytes, unsigned char *resident)
{
    (void)at;
    (void)bytes;
    (void)resident;
    errno = ENOSYS;
    return -1;
}

#endif
