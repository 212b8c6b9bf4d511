/* tier_memory.h -- memory in a tier: DRAM, memory of high bandwidth (hwloc,
 * memkind), or a file on storage of the node that is mapped. */
#ifndef BM_TIER_MEMORY_H
#define BM_TIER_MEMORY_H

#include "base/error.h"
#include "base/memory.h"
#include "bouma.h"

struct bm_tier_memory {
    bouma_tier tier; /* 0: holds nothing */
    uint8_t *data;
    size_t bytes;
    const bouma_allocator *a;
    void *owner; /* what is needed to free it */
};

/* Get 'bytes' bytes, aligned to pages. 'local' is the directory for
 * BOUMA_TIER_LOCAL: the file there has no name any more when this returns, so
 * nothing is left behind by a killed program. ENOMEM, ENOSPC (the file's blocks
 * are reserved: writing to the memory cannot fail later), EIO, or ENOTFOUND if
 * there is no such tier on this node. A zeroed memory of a tier can be freed.
 */
int bm_tier_memory_new(struct bm_tier_memory *out, bouma_tier tier,
                       size_t bytes, const char *local,
                       const bouma_allocator *a, struct bm_error *error);
void bm_tier_memory_free(struct bm_tier_memory *memory);

#endif
