/* hz.h -- index templates: Z order and HZ order of a grid, in both directions.
 *
 * A template is a string over the axes, such as "yxyxyx": each character halves
 * an axis, the coarsest split first. x is the last axis of a grid (the one whose
 * samples are next to each other), y the one before it, z the one before that.
 * Along an axis, the template covers 2^n samples, n being how often the axis is
 * in it.
 *
 * Z order: the address of a sample has a bit for each character, the first one
 * the highest; along each axis, the bits of its index in their order.
 *
 *     template yx:   Z 0 1    HZ 0 2
 *                      2 3       1 3
 *
 * HZ order sorts the same samples by level, and each level by Z. Level 0 is the
 * first sample; level l > 0 has those whose Z address has its lowest bit set at
 * place bits - l: 2^(l-1) addresses, from 2^(l-1) on. Levels 0 to l together are
 * a lattice: every 2^s-th sample of each axis, s being how often the axis is in
 * the characters behind the first l.
 *
 * The template covers at least the domain; addresses beyond it are padding.
 * Pure; no memory. Axes are lifted, as in boxes (see box.h): axis 2 is x. */
#ifndef BM_HZ_H
#define BM_HZ_H

#include "base/error.h"
#include "plan/chunking.h"

#define BM_HZ_BITS 62 /* at most, so that addresses fit into int64_t */

struct bm_hz {
    int bits;                 /* characters; 0: one sample */
    uint8_t axis[BM_HZ_BITS]; /* of each character, coarsest first: 0 to 2 */
    uint8_t count[3];         /* how often an axis is in it */
    uint64_t mask[3];         /* the bits of a Z address that an axis has */
};

/* How a template follows from the shape of a domain. */
enum bm_hz_rule {
    BM_HZ_LONGEST, /* split the longest remaining axis, ties z, y, x (PIDX) */
    BM_HZ_TURNS    /* x, y, z in turn, as long as an axis has splits left
                      (OpenVisus since 2023) */
};

/* The smallest template that covers a shape. EINVAL if it needs more than
 * BM_HZ_BITS characters. */
int bm_hz_from_shape(struct bm_hz *hz, const int64_t shape[3],
                     enum bm_hz_rule rule);
/* From text; the shape is what it must cover, of a grid of 'ndims' axes. What is
 * wrong is a message in 'error' ("the template has a 'q' at place 3: ..."):
 * EINVAL. */
int bm_hz_parse(struct bm_hz *hz, const char *text, int ndims,
                const int64_t shape[3], struct bm_error *error);
/* The text, with its NUL. */
void bm_hz_text(char text[BM_HZ_BITS + 1], const struct bm_hz *hz);

/* ---- addresses ---- */

uint64_t bm_hz_z_of(const struct bm_hz *hz, const int64_t index[3]);
void bm_hz_index_of(const struct bm_hz *hz, uint64_t z, int64_t index[3]);
/* From Z to HZ, and back. */
uint64_t bm_hz_of_z(const struct bm_hz *hz, uint64_t z);
uint64_t bm_hz_to_z(const struct bm_hz *hz, uint64_t h);
/* Of an HZ address: 0 to bits. */
int bm_hz_level(uint64_t h);

/* The lattice that levels 0 to 'level' are: every 2^shift-th sample. */
void bm_hz_lattice(const struct bm_hz *hz, int level, int shift[3]);

/* ---- blocks of 2^b addresses ---- */

/* Block 0 has levels 0 to b; block B > 0 is a part of level b + (bits of B).
 * The samples of each are a lattice: counts are powers of two, not yet cut to
 * the domain. b is at most hz->bits. */
struct bm_footprint bm_hz_block(const struct bm_hz *hz, int b, uint64_t block);
/* The characters that order the samples inside it: those of block 0 are in HZ
 * order of this shorter template, those of other blocks in Z order. */
struct bm_hz bm_hz_block_template(const struct bm_hz *hz, int b,
                                  uint64_t block);

#endif
