/* hz_groups.h -- the ranks that hold samples of a file: its group.
 *
 * A file is some blocks in a row of an HZ order (see hz.h). In runs of a power
 * of two they are a lattice, and the cells that a lattice meets are known
 * along each axis: the effort is by ranks of the group, not by samples.
 *
 * If the template conforms to the ranks (see hz_ranks.h), the groups of a
 * level's files go up the ranks, and two in a row share one rank at most. */
#ifndef BM_HZ_GROUPS_H
#define BM_HZ_GROUPS_H

#include "base/memory.h"
#include "plan/hz_ranks.h"

struct bm_hz_group {
    int first, last; /* the lowest and the highest rank; -1 if there are none */
    int count;       /* of ranks; those between may hold no samples */
};

/* Finds groups, one after the other. The ranks and the template stay the
 * caller's. */
struct bm_hz_groups {
    const bouma_allocator *a;
    const struct bm_hz_ranks *ranks;
    const struct bm_hz *hz;
    int block_bits; /* 2^these samples are a block */
    uint32_t turn;
    uint32_t *seen; /* [ranks], the turn in which it was seen last */
};

/* 'block_bits' is at most hz->bits. BOUMA_OK or ENOMEM. */
int bm_hz_groups_init(struct bm_hz_groups *g, const bouma_allocator *a,
                      const struct bm_hz_ranks *ranks, const struct bm_hz *hz,
                      int block_bits);
void bm_hz_groups_release(struct bm_hz_groups *g);

/* The group of blocks 'first' up to 'end', which is none of them. Those beyond
 * the template have no samples. */
struct bm_hz_group bm_hz_groups_find(struct bm_hz_groups *g, uint64_t first,
                                     uint64_t end);

#endif
