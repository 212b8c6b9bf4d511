/* hz_partition.c -- see hz_partition.h. */
#include "plan/hz_partition.h"

#include <string.h>

#include "base/bits.h"

struct bm_hz bm_hz_partition_template(const struct bm_hz *hz, int r)
{
    struct bm_hz inside = {.bits = hz->bits - r};

    memcpy(inside.axis, hz->axis + r, (size_t)inside.bits);
    for (int d = 0; d < 3; d++) {
        inside.mask[d] = hz->mask[d] & bm_bits_low(inside.bits);
        inside.count[d] = (uint8_t)bm_bits_count(inside.mask[d]);
    }
    return inside;
}

void bm_hz_partition_origin(const struct bm_hz *hz, int r, int64_t partition,
                            int64_t origin[3])
{
    bm_hz_index_of(hz, (uint64_t)partition << (hz->bits - r), origin);
}

/* A block's number has a 1 in front; behind it are the first characters of all
 * its samples. */
int64_t bm_hz_partition_of_block(int r, uint64_t block)
{
    int known = bm_bits_length(block) - 1;

    if (!r)
        return 0;
    return known < r ? -1 : (int64_t)(block >> (known - r) & bm_bits_low(r));
}

int64_t bm_hz_partition_of_blocks(int r, uint64_t first, uint64_t end)
{
    int64_t partition = bm_hz_partition_of_block(r, first);

    /* Partitions go up along a level, so those between are in it, too. The
     * same partition in two levels has all others between, unless it is the
     * only one. */
    if (r && bm_bits_length(first) != bm_bits_length(end - 1))
        return -1;
    return partition == bm_hz_partition_of_block(r, end - 1) ? partition : -1;
}

/* Partitions that have the same first characters. */
struct half {
    int depth; /* so many */
    int64_t partition;
    int64_t lo[3];
    int bits[3]; /* 2^these samples along each axis */
};

static int meets(const struct half *h, const struct bm_box *box)
{
    for (int d = 0; d < 3; d++)
        if (h->lo[d] >= box->hi[d] ||
            h->lo[d] + ((int64_t)1 << h->bits[d]) <= box->lo[d])
            return 0;
    return 1;
}

void bm_hz_partition_touched(const struct bm_hz *hz, int r,
                             const struct bm_box *box,
                             bm_hz_partition_each each, void *context)
{
    struct half later[BM_HZ_BITS + 1]; /* one of each depth at most */
    int waiting = 1;

    memset(&later[0], 0, sizeof(later[0]));
    for (int d = 0; d < 3; d++)
        later[0].bits[d] = hz->count[d];
    while (waiting) {
        struct half h = later[--waiting];
        int axis;

        if (!meets(&h, box))
            continue;
        if (h.depth == r) {
            each(context, h.partition);
            continue;
        }
        axis = hz->axis[h.depth++];
        h.bits[axis]--;
        h.partition *= 2;
        later[waiting] = h; /* the upper half, for later */
        later[waiting].partition++;
        later[waiting++].lo[axis] += (int64_t)1 << h.bits[axis];
        later[waiting++] = h;
    }
}
