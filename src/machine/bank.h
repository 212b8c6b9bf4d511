/* bank.h -- memory in a tier: DRAM, memory of high bandwidth (hwloc, memkind),
 * or a file on storage of the node that is mapped. */
#ifndef BM_BANK_H
#define BM_BANK_H

#include "base/error.h"
#include "base/memory.h"
#include "bouma.h"

struct bm_bank {
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
 * there is no such tier on this node. A zeroed bank can be freed. */
int bm_bank_new(struct bm_bank *out, bouma_tier tier, size_t bytes,
                const char *local, const bouma_allocator *a,
                struct bm_error *error);
void bm_bank_free(struct bm_bank *bank);

#endif
