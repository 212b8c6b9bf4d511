/* subbands.h -- wavelet subbands in HZ order (see plan/hz_lift.h) of samples in
 * memory, tile by tile, in place: with the words of lift.h. */
#ifndef BM_SUBBANDS_H
#define BM_SUBBANDS_H

#include "base/tiling.h"
#include "codec/lift.h"
#include "plan/hz_lift.h"

struct bm_subbands {
    const struct bm_hz *hz;
    int tile_bits;
    struct bm_words words;
};

/* The tiles of a domain; axes are lifted. NULL, or what is wrong, as the end of
 * a sentence. */
const char *bm_subbands_tiling(struct bm_tiling *t, const struct bm_hz *hz,
                               int tile_bits, const int64_t shape[3]);

/* Samples of a box to coefficients. The array is dense, of one component; the
 * box has whole tiles, as the domain cuts them. With a bound, samples are those
 * that bm_quantise() gives. */
void bm_subbands_forward(const struct bm_subbands *s, void *samples,
                         const struct bm_box *box);
/* The coefficients of a level to its samples. */
void bm_subbands_inverse(const struct bm_subbands *s, void *coefficients,
                         const struct bm_box *box, int level);

#endif
