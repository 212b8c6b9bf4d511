/* hostlist.h -- names as Slurm writes many of them: "a[01-16,20],b[1-2]x[0-3]".
 */
#ifndef BM_HOSTLIST_H
#define BM_HOSTLIST_H

#include <stddef.h>

#include "base/error.h"

#define BM_HOST_BYTES 256 /* of a name, with the NUL */

/* Takes one name; what it returns but BOUMA_OK ends the list. */
typedef int bm_each_host(void *context, const char *name, size_t bytes);

/* Every name of a list, in order. EINVAL with a message that has the list, or
 * what 'each' returned. */
int bm_hostlist_each(const char *list, size_t bytes, bm_each_host *each,
                     void *context, struct bm_error *error);

#endif
