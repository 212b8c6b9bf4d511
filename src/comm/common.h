/* common.h -- bytes that the first rank of a node makes and all its ranks read:
 * in shared memory or, where that is not to be had, each rank in a copy of its
 * own. */
#ifndef BM_COMMON_H
#define BM_COMMON_H

#include "comm/comm.h"
#include "comm/shared.h"

struct bm_common {
    const bouma_allocator *a;
    const uint8_t *data; /* what all have; NULL: nothing was told */
    size_t bytes;        /* room there */
    size_t used;         /* the first rank: of it, by what is told */
    struct bm_shared shared;
    uint8_t *copy; /* instead of shared memory */
    struct bm_shared_handle
        handle;   /* the first rank: of memory that others have
                                       yet to map; else of 0 bytes */
    int is_new;   /* the first rank: others have yet to hear of the memory */
    int unshared; /* each has a copy */
};

void bm_common_init(struct bm_common *c, const bouma_allocator *a);
void bm_common_release(struct bm_common *c); /* a zeroed one, too */

/* The first rank: memory for 'bytes' bytes, more than 0, to be filled, whatever
 * is in it. It stays where it is as long as it is large enough; no rank may be
 * reading it. NULL if there is none. */
uint8_t *bm_common_room(struct bm_common *c, size_t bytes);

/* All ranks of the node: what the first has filled in is there for all, and
 * nobody can write to it any more. 'rc' is the status of each, and the worst
 * comes out, on all ranks of the node. Collective among these. */
int bm_common_tell(struct bm_common *c, struct bm_comm *near, int rc,
                   struct bm_error *error);

#endif
