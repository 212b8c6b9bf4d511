/* box.h -- boxes of samples, and the Morton order of patches. */
#ifndef BM_BOX_H
#define BM_BOX_H

#include <stdint.h>

#include "bouma.h"

/* The most axes that a grid or a position has. BOUMA_MAX_DIMS leaves room for
 * more, in public structs. */
enum { BM_MAX_DIMS = 3 };

/* The samples lo <= index < hi. */
struct bm_box {
    int64_t lo[BM_MAX_DIMS];
    int64_t hi[BM_MAX_DIMS];
};

/* Axes past the grid's own are kept as [0, 1), so that code for three axes
 * serves all: axis 0 is the slowest of the three, and a 1-D grid uses axis 2
 * alone. bm_box_lift() brings a caller's box into that form. */
struct bm_box bm_box_lift(const bouma_box *box, int ndims);
bouma_box bm_box_lower(const struct bm_box *box, int ndims);

/* 1 if the intersection is not empty. 'out' may be one of the others. */
int bm_box_meet(struct bm_box *out, const struct bm_box *a,
                const struct bm_box *b);

/* Samples in a box; 0 only if it is empty, and UINT64_MAX if there are more. */
uint64_t bm_box_volume(const struct bm_box *box);

int bm_box_inside(const struct bm_box *inner, const struct bm_box *outer);

/* The smallest box around both; an empty one counts for nothing. */
struct bm_box bm_box_join(const struct bm_box *a, const struct bm_box *b);

/* "[0:4,0:8]", for messages; at most 'bytes' with the NUL. */
void bm_box_text(char *text, size_t bytes, const struct bm_box *lifted,
                 int ndims);

/* Interleave the bits of three coordinates (axis 2 lowest), 21 bits each; with
 * one or two axes, up to 63 or 31 bits of them. */
uint64_t bm_morton(const int64_t at[3], int ndims);
void bm_morton_invert(int64_t at[3], uint64_t key, int ndims);
/* Bits of a coordinate that a key has room for. */
int bm_morton_bits(int ndims);

#endif
