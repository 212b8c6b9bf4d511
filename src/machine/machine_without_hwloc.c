/* machine_without_hwloc.c -- replaces machine_hwloc.c in a build
 * without hwloc: nobody can tell what is inside of a node. */
#include "machine/machine_hwloc.h"

#include <string.h>

int bm_hwloc_here(struct bm_inside *out)
{
    memset(out, 0, sizeof(*out));
    return 0;
}

int bm_hwloc_memory(void **out, void **owner, size_t bytes, int node,
                    const bouma_allocator *a, struct bm_error *error)
{
    (void)bytes, (void)node, (void)a;
    *out = NULL;
    *owner = NULL;
    return bm_fail(error, BOUMA_ENOTFOUND,
                   "this libbouma is built without hwloc, which finds memory "
                   "of high bandwidth (hbm); use the tier dram");
}

void bm_hwloc_memory_free(void *owner)
{
    (void)owner; /* there is none */
}
