/* machine_hwloc.h -- what is inside of a node: the one user of hwloc. */
#ifndef BM_MACHINE_HWLOC_H
#define BM_MACHINE_HWLOC_H

#include "base/error.h"
#include "base/memory.h"

struct hwloc_topology; /* hwloc_topology_t points to one */
struct hwloc_bitmap_s;

struct bm_inside {
    uint64_t dram; /* bytes of the node */
    uint64_t hbm;  /* bytes of memory of high bandwidth; 0: there is none */
    int hbm_node;  /* the nearest one, hwloc's logical index; -1: none */
};

/* Look at a loaded topology for a process that may run on 'binding'; NULL: on
 * all of it. Memory is of high bandwidth if hwloc calls it HBM or MCDRAM, or if
 * its bandwidth is twice that of the slowest memory of the same processors, or
 * more. */
void bm_hwloc_look(struct bm_inside *out, struct hwloc_topology *topology,
                   const struct hwloc_bitmap_s *binding);

/* The same for this process on its node. 1, or 0 if hwloc cannot tell. */
int bm_hwloc_here(struct bm_inside *out);

/* Memory on one node of memory of this machine: hwloc's logical index, or -1
 * for the nearest of high bandwidth. 'owner' is needed to free it. ENOTFOUND or
 * ENOMEM. */
int bm_hwloc_memory(void **out, void **owner, size_t bytes, int node,
                    const bouma_allocator *a, struct bm_error *error);
void bm_hwloc_memory_free(void *owner);

#endif
