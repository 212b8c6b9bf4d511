/* mapped.c -- see mapped.h. */
#include "base/mapped.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES_AT_ONCE = 4096 };

int bm_is_mapped(const void *from, size_t bytes)
{
    unsigned char resident[PAGES_AT_ONCE]; /* which nobody asks for */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)from / page * page;
    uintptr_t end = (uintptr_t)from + bytes;

    while (bytes && at < end) {
        size_t n =
            PAGES_AT_ONCE * page < end - at ? PAGES_AT_ONCE * page : end - at;

        if (mincore((void *)at, n, (void *)resident) && errno == ENOMEM)
            return 0;
        at += n;
    }
    return 1;
}
