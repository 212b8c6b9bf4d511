/* zfp_blocks.h -- some arrays to one string of bits and back, by zfp. The only
 * file that knows of it is zfp_blocks.c.
 *
 * Each array is cut into blocks of four samples along each axis, in C order;
 * those at the end may be filled up. The arrays belong to one level of a chunk:
 * an axis along which the level has a single sample is not cut, so blocks have
 * one, two or three axes. */
#ifndef BM_ZFP_BLOCKS_H
#define BM_ZFP_BLOCKS_H

#include "codec/codec.h"

#define BM_MAX_BANDS 8

/* A dense array, maybe empty. */
struct bm_band {
    void *data;
    int64_t count[3];
};

/* How: numbers to about 2^(eighths / 8). */
struct bm_zfp {
    bouma_type type; /* f32, f64 */
    int64_t n[3];    /* samples of the level along each axis */
    int eighths;
};

/* What 'eighths' can be. */
#define BM_EIGHTHS_MIN (-1074 * 8)
#define BM_EIGHTHS_MAX (1023 * 8 + 7)

/* The largest 'eighths' whose number is not above 'tolerance'. */
int bm_zfp_eighths(double tolerance);

/* Append a byte, bit i of which tells whether band i is not all zero, and the
 * blocks of these bands. BOUMA_OK or ENOMEM. */
int bm_zfp_encode(struct bm_codec_state *state, struct bm_buffer *out,
                  const struct bm_zfp *z, const struct bm_band *bands,
                  int count);

/* BOUMA_OK, ENOMEM, or EFORMAT unless exactly these bytes are used. */
int bm_zfp_decode(struct bm_codec_state *state, const struct bm_band *bands,
                  int count, const struct bm_zfp *z, const uint8_t *in,
                  size_t stored);

/* That of the header, such as "1.0.0". */
const char *bm_zfp_version(void);

#endif
