/* tier_memory_memkind.h -- memory of high bandwidth through memkind, if that
 * library is on this machine; bouma does not need it. */
#ifndef BM_TIER_MEMORY_MEMKIND_H
#define BM_TIER_MEMORY_MEMKIND_H

#include "base/memory.h"

/* Aligned to 'alignment'; NULL: no library, no such memory, or too little of it
 * is free. */
void *bm_memkind_new(size_t bytes, size_t alignment);
void bm_memkind_free(void *data);

#endif
