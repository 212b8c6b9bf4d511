/* read_idx_order.h -- which samples the blocks of an IDX dataset hold, and in
 * which order.
 *
 * A mask is a list of axes: each halves the domain, the coarsest split first.
 * The Z address of a sample has a bit for each split, the first one the
 * highest; along each axis, the bits of its index in their order. HZ order sorts
 * the same samples by level, and each level by Z.
 *
 * 2^b addresses in a row are a block. Block 0 has levels 0 to b. The others are
 * a tree: block B has the children 2 B and 2 B + 1, which are in the next level,
 * and each in a half of its region. Where a mask is one of full blocks ("F"), a
 * block has all samples of its region, and only those without children count.
 *
 * Axes are those of boxes of 3 axes: axis 2 is x. Pure; no memory. */
#ifndef READ_IDX_ORDER_H
#define READ_IDX_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

#define IDX_BITS 62 /* at most, so that addresses fit into int64_t */

struct idx_order {
    bool full; /* an F mask */
    int bits;
    uint8_t axis[IDX_BITS];        /* of each split, coarsest first */
    uint8_t left[IDX_BITS + 1][3]; /* [i]: splits of each axis from i on */
    int block_bits;                /* b; no more than 'bits' */
};

/* From bits, axes and block_bits: the rest. */
void idx_order_complete(struct idx_order *order);

/* The number of a dataset's last block, and 1. */
uint64_t idx_order_blocks(const struct idx_order *order);

/* The samples of a block, as a lattice: first + (i << shift), i < 1 << count. */
struct idx_lattice {
    int64_t first[3];
    int shift[3], count[3];
    int inner; /* the first split of those that tell its samples apart */
};
struct idx_lattice idx_order_lattice(const struct idx_order *order,
                                     uint64_t block);

/* The part of a lattice that is in a box: lo <= i < hi along each axis. Returns
 * the number of samples. */
uint64_t idx_lattice_inside(const struct idx_lattice *lattice,
                            const bouma_box *box, bouma_box *out);

/* Call 'each' with all blocks that have samples in 'box', in ascending order;
 * what it returns, unless 0, ends the walk and is returned. */
int idx_order_walk(const struct idx_order *order, const bouma_box *box,
                   int (*each)(void *user, uint64_t block), void *user);

/* Samples of 'size' bytes in memory: data is that of the box's low end. */
struct idx_rows {
    uint8_t *data;
    int64_t stride[3]; /* bytes from one sample to the next */
    size_t size;
};

/* Copy the samples of a block that are in 'box' from 'in', which has all of the
 * block: in rows, or in the order of the addresses. */
void idx_order_unpack(const struct idx_rows *rows,
                      const struct idx_order *order, uint64_t block,
                      const bouma_box *box, const uint8_t *in, bool row_major);

/* ---- for writing: samples whose addresses follow one another -------------- */

/* The region of the first 'depth' splits, 'prefix' says which half at each: its
 * low end, and its samples in 'domain'. False if there are none. */
bool idx_order_region(const struct idx_order *order, int depth, uint64_t prefix,
                      const bouma_box *domain, bouma_box *out);

/* Addresses first <= h < first + (1 << bits), in one level. */
struct idx_run {
    uint64_t first;
    int bits;
    struct idx_lattice lattice;
};

/* All samples of level 'level' > 'depth' in a region. */
struct idx_run idx_order_run(const struct idx_order *order, int depth,
                             uint64_t prefix, int level);

/* The sample at the low end of a region, which is in one of the levels up to
 * 'depth'. */
struct idx_run idx_order_corner(const struct idx_order *order, int depth,
                                uint64_t prefix);

/* Copy the samples of a run that are in 'box' to 'out', which has room for all
 * of the run; the others become 0. Returns the number of those in the box; if
 * there are none, 'out' is left as it is. */
uint64_t idx_order_pack(uint8_t *out, const struct idx_order *order,
                        const struct idx_run *run, const bouma_box *box,
                        const struct idx_rows *rows);

#endif
