/* zstd_planes.h -- shuffled values as one zstd frame, made plane by plane.
 *
 * A plane is the bytes of equal significance. Those of the lowest bits of
 * measured numbers are noise: zstd would look for what is not there, and code
 * them with the same frequencies as the others. So noise is a block as it is, a
 * plane of equal bytes is a block of one byte, and only the other planes are
 * compressed. Any decoder of zstd reads the frame. */
#ifndef BM_ZSTD_PLANES_H
#define BM_ZSTD_PLANES_H

#include "codec/codec.h"

/* What bm_zstd_planes() may need for so many bytes. */
size_t bm_zstd_planes_bound(size_t bytes);

/* Fill 'out', which has that room, with the frame of up to 8 planes of n bytes
 * each; 'effort' 0: what pays. Gives the size of the frame, or 0 if zstd has no
 * memory. */
size_t bm_zstd_planes(struct bm_codec_state *state, uint8_t *out,
                      const uint8_t *in, size_t n, size_t planes, int effort);

#endif
