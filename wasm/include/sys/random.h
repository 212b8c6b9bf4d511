/* sys/random.h -- of a system without a source of randomness. Readers need
 * none. */
#ifndef BOUMA_WASM_RANDOM_H
#define BOUMA_WASM_RANDOM_H

#include <errno.h>
#include <sys/types.h>

static inline ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
    (void)to;
    (void)bytes;
    (void)flags;
    errno = ENOSYS;
    return -1;
}

#endif
