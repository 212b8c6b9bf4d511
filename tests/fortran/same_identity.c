/* same_identity.c -- to be preloaded: datasets get the same identity, which is in
 * each of their files, so that the files of two programs can be compared. */
#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *out, size_t bytes, unsigned flags)
{
    (void)flags;
    memset(out, 7, bytes);
    return (ssize_t)bytes;
}
