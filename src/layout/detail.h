/* detail.h -- levels of detail of particles.
 *
 * The particles of a file stand in the order of its tree, so that every region
 * of the tree is a run of slots. A chunk is 'chunk' slots of that order (a
 * power of two; the last one may be shorter). Inside a chunk each slot has a
 * rank, the bits of the slot reversed and scrambled:
 *
 *     the first 2^k ranks have one slot in each of 2^k equal runs, anywhere in
 *     it with the same chance (Owen's scrambling)
 *
 * so those with a rank below q * chunk are a sample of the share q of the
 * particles, spread evenly over every region, and each particle is in it with
 * the same chance. Level k has the ranks from limit[k + 1] up to limit[k]; the
 * coarsest is the last. Chunks differ by a shift, which is xored to the slot.
 *
 * In full, so that others can read what is stored by levels: mix(x) is the end
 * of a step of splitmix64, on 64-bit numbers, and next(x) the whole step:
 *
 *     x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9
 *     x = (x ^ x >> 27) * 0x94d049bb133111eb
 *     mix = x ^ x >> 31
 *     next(x) = mix(x + 0x9e3779b97f4a7c15)
 *
 * With 2^b slots in a chunk, bit h of slot p is decided at a node of the
 * binary tree over the slots, numbered as a heap is:
 *
 *     node = 2^(b-1-h) + floor(p / 2^(h+1))
 *
 *                  1               h = 2     b = 3
 *             2         3          h = 1
 *           4   5     6   7        h = 0
 *          0 1 2 3   4 5 6 7       slots
 *
 * The bit is flipped if the highest bit of mix(node) is set. The b bits that
 * come out, in reversed order (bit 0 is the highest), are the rank that p has
 * without a shift. With the shift s, slot p has the rank of p ^ s. Of seed and
 * chunk number:
 *
 *     h = next(next(seed) ^ chunk)     shift = h mod 2^b
 *                                      offset = floor(h / 2^32) / 2^32
 */
#ifndef BM_DETAIL_H
#define BM_DETAIL_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/tiling.h"

#define BM_MAX_DETAIL_CHUNK 32768

struct bm_detail {
    const bouma_allocator *a;
    uint32_t chunk;
    int levels;
    uint32_t limit[BM_MAX_LEVELS + 1]; /* [levels + 1]; 0 at the end */
    uint16_t *rank;                    /* [chunk] */
    uint8_t *level;                    /* [chunk] of the same slots */
    uint16_t *before; /* [chunk / step + 1][levels], without a shift: how many
                         of the slots before every step-th are of each level */
    uint32_t step;
};

/* The usual limits: tenths down to a tenth of the chunk, then halves as long as
 * there are two particles; those that are no smaller than the one before are
 * left out. limit[0] is the chunk, and a 0 stands after the last. Gives the
 * number of levels. */
int bm_detail_usual(uint32_t limit[BM_MAX_LEVELS + 1], uint32_t chunk);

/* Few: each is a tenth of the one before, as long as there are two particles. */
int bm_detail_few(uint32_t limit[BM_MAX_LEVELS + 1], uint32_t chunk);

/* Whether a chunk and limits can be: a power of two up to the maximum; limits
 * descend from it to above 0. limit[levels]. */
int bm_detail_valid(uint32_t chunk, int levels, const uint32_t *limit);

/* limit[levels], valid; BOUMA_OK or ENOMEM. */
int bm_detail_init(struct bm_detail *d, const bouma_allocator *a,
                   uint32_t chunk, int levels, const uint32_t *limit);
void bm_detail_release(struct bm_detail *d);

/* What is xored to the slots of a chunk; and a number from 0 up to 1 that is
 * added to its ranks, so that any share is met on average: q * chunk is above
 * rank + offset for q * chunk of the ranks, in the mean of all chunks. */
uint32_t bm_detail_shift(const struct bm_detail *d, uint64_t seed,
                         uint64_t chunk);
double bm_detail_offset(uint64_t seed, uint64_t chunk);

/* The share q of the particles are those whose rank and offset add up to less
 * than this. Shares that a level ends at, but for rounding, end there. */
double bm_detail_threshold(const struct bm_detail *d, double q);

/* Particles of each level among the first 'slots' of a chunk. */
void bm_detail_counts(const struct bm_detail *d, uint32_t shift, uint32_t slots,
                      uint64_t counts[BM_MAX_LEVELS]);

/* The same by slots: how many of those before 'slot' are of each level. So a run
 * of slots is a run of values of each level, which are in their order. */
void bm_detail_before(const struct bm_detail *d, uint32_t shift, uint32_t slot,
                      uint32_t counts[BM_MAX_LEVELS]);

/* All levels at once: the slots of each level in ascending order, the coarsest
 * level first. Those of level k are order[first[k]] up to the first of level
 * k - 1 (for level 0: up to 'slots'). */
void bm_detail_order(const struct bm_detail *d, uint32_t shift, uint32_t slots,
                     uint16_t *order, uint32_t first[BM_MAX_LEVELS]);

#endif
