/* zfp.h -- what src/codec/zfp_blocks.c uses of zfp, for reading alone. The
 * library is there for this machine only; blocks are decoded as docs/format.md
 * describes them, in zfp_decode.c. */
#ifndef BOUMA_WASM_ZFP_H
#define BOUMA_WASM_ZFP_H

#include <stddef.h>
#include <stdint.h>

/* The version whose blocks these are. */
#define ZFP_VERSION_MAJOR 1
#define ZFP_VERSION_MINOR 0
#define ZFP_VERSION_PATCH 0

#define ZFP_MIN_BITS 1
#define ZFP_MAX_BITS 16658
#define ZFP_MAX_PREC 64
#define ZFP_MIN_EXP  (-1074)

typedef uint64_t bitstream_offset; /* in bits */
typedef struct bitstream bitstream;

/* Only 'stream' and 'minexp' matter: the other limits are those of the format,
 * which no block reaches. */
typedef struct zfp_stream {
    unsigned minbits, maxbits, maxprec;
    int minexp;
    bitstream *stream;
} zfp_stream;

extern const size_t stream_word_bits;

/* Bits of 'bytes' bytes, which stay the caller's. Whoever decodes a block has
 * ZFP_MAX_BITS and 8 bytes more behind where it begins. */
bitstream *stream_open(void *buffer, size_t bytes);
void stream_close(bitstream *s);
bitstream_offset stream_rtell(const bitstream *s);

/* Of writing, which the module does not do: nothing has been written. */
bitstream_offset stream_wtell(const bitstream *s);
void stream_wseek(bitstream *s, bitstream_offset offset);
size_t stream_flush(bitstream *s);

#define BLOCKS(name, type)                                                     \
    size_t zfp_encode_block_##name##_1(zfp_stream *s, const type *block);      \
    size_t zfp_encode_block_##name##_2(zfp_stream *s, const type *block);      \
    size_t zfp_encode_block_##name##_3(zfp_stream *s, const type *block);      \
    size_t zfp_decode_block_##name##_1(zfp_stream *s, type *block);            \
    size_t zfp_decode_block_##name##_2(zfp_stream *s, type *block);            \
    size_t zfp_decode_block_##name##_3(zfp_stream *s, type *block);
BLOCKS(int32, int32_t)
BLOCKS(int64, int64_t)
BLOCKS(float, float)
BLOCKS(double, double)
#undef BLOCKS

#endif
