/* octants.h -- the samples of a lattice sorted by which of their indices are
 * odd, so that neighbours along an axis are neighbours in memory, too:
 *
 *     0 1 0 1 0       0 0 0   1 1
 *     2 3 2 3 2  ->   0 0 0   1 1
 *     0 1 0 1 0       2 2 2   3 3
 *
 * An octant's number has bit 2 set for an odd index along axis 0, bit 1 along
 * axis 1, bit 0 along axis 2. Octant 0 is the next coarser level; the others
 * follow it, those of one odd index first, then of two, then of three. */
#ifndef BM_OCTANTS_H
#define BM_OCTANTS_H

#include <stddef.h>
#include <stdint.h>

#define BM_OCTANTS 8

struct bm_octants {
    int64_t n[3];
    int64_t count[BM_OCTANTS][3];
    size_t at[BM_OCTANTS];   /* index of its first sample in the sorted array */
    size_t size[BM_OCTANTS]; /* samples */
};

/* Octants in the order in which they lie. */
extern const uint8_t bm_octant_order[BM_OCTANTS];

/* Of a dense array of n[0] x n[1] x n[2] samples, whose first index is even. */
void bm_octants_init(struct bm_octants *o, const int64_t n[3]);

/* Sort, and put back with octant 0 ('first') in an array of its own; 'size' (1,
 * 2, 4 or 8) bytes a sample. */
void bm_octants_split(const struct bm_octants *o, size_t size, void *sorted,
                      const void *dense);
void bm_octants_merge_with(const struct bm_octants *o, size_t size, void *dense,
                           const void *sorted, const void *first);
/* Only the rows lo[1] to hi[1] of the planes lo[0] to hi[0]. */
void bm_octants_merge_rows(const struct bm_octants *o, size_t size, void *dense,
                           const void *sorted, const void *first,
                           const int64_t *lo, const int64_t *hi);

#endif
