/* hz_partition.h -- the domain of an HZ order, cut into 2^r partitions: the
 * boxes in which the first r characters of the template put samples.
 *
 *     template yxyx, r = 2:    0 0 1 1      each has a template of its own,
 *                              0 0 1 1      the characters behind: yx
 *                              2 2 3 3
 *                              2 2 3 3
 *
 * Of the blocks of 2^b samples, number 0 and those of levels b + 1 to b + r,
 * 2^r in all, may have samples of several partitions. All others lie in one.
 *
 * (Kumar et al., "Reducing network congestion and synchronization overhead
 * during data aggregation when writing hierarchical data", IV.) Pure; no
 * memory. Axes are lifted. */
#ifndef BM_HZ_PARTITION_H
#define BM_HZ_PARTITION_H

#include "plan/hz.h"

/* The template inside of partitions. r is at most hz->bits. */
struct bm_hz bm_hz_partition_template(const struct bm_hz *hz, int r);

/* The first sample of a partition. It has 2^n samples along an axis, n being
 * how often the axis is in the template inside; those beyond the domain are
 * padding, as ever. */
void bm_hz_partition_origin(const struct bm_hz *hz, int r, int64_t partition,
                            int64_t origin[3]);

/* The partition that a block lies in; -1: several have samples of it. */
int64_t bm_hz_partition_of_block(int r, uint64_t block);
/* The same of blocks 'first' up to 'end', which is none of them; there is one
 * at least. */
int64_t bm_hz_partition_of_blocks(int r, uint64_t first, uint64_t end);

/* Call 'each' for the partitions that a box meets, ascending. */
typedef void (*bm_hz_partition_each)(void *context, int64_t partition);
void bm_hz_partition_touched(const struct bm_hz *hz, int r,
                             const struct bm_box *box,
                             bm_hz_partition_each each, void *context);

#endif
