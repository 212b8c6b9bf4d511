/* lattice.h -- the samples of a patch at one level, split into those that the
 * next coarser level has too, and the rest, its detail.
 *
 *     level 0        level 1 (kept)   detail of level 0, in C order
 *     0 1 2 3        0 . 2 .          . 1 . 3
 *     4 5 6 7   =    . . . .      +   4 5 6 7
 *
 * Samples are counted by their index in the whole grid divided by 2^level, so
 * "even" means the same in every patch. Three axes always, axis 2 fastest. */
#ifndef BM_LATTICE_H
#define BM_LATTICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/box.h"

struct bm_lattice {
    int64_t start[3]; /* index of the first sample, in units of 2^level */
    int64_t count[3]; /* may be 0 */
};

/* The samples of 'box' whose indices are multiples of 2^level. */
struct bm_lattice bm_lattice_of(const struct bm_box *box, int level);
struct bm_lattice bm_lattice_coarser(const struct bm_lattice *l);
uint64_t bm_lattice_samples(const struct bm_lattice *l);
uint64_t bm_lattice_details(const struct bm_lattice *l);

/* A part of a lattice, counted from its first sample, and the strided array in
 * memory for it: 'data' is at the part's own first sample; strides in bytes. */
struct bm_strided {
    int64_t lo[3], hi[3];
    int64_t stride[3];
};

/* Copy one part of a lattice, of elements of 'size' bytes (1, 2, 4 or 8), from
 * strided memory to the dense arrays of details and of coarser samples of the
 * whole lattice; and back. */
void bm_lattice_split(const struct bm_lattice *l, size_t size,
                      const struct bm_strided *part, const void *data,
                      void *detail, void *coarse);
void bm_lattice_merge(const struct bm_lattice *l, size_t size,
                      const struct bm_strided *part, void *data,
                      const void *detail, const void *coarse);

/* The same without a coarser level: all samples are in 'dense'. */
void bm_lattice_pack(const struct bm_lattice *l, size_t size,
                     const struct bm_strided *part, const void *data,
                     void *dense);
void bm_lattice_unpack(const struct bm_lattice *l, size_t size,
                       const struct bm_strided *part, void *data,
                       const void *dense);

/* The whole lattice, dense. */
struct bm_strided bm_lattice_whole(const struct bm_lattice *l, size_t size);

#endif
