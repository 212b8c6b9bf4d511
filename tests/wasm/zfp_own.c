/* zfp_own.c -- the decoder of the WebAssembly module under other names, so that
 * a program can have zfp as well. */
#include "zfp_own.h"

#define stream_open               own_stream_open
#define stream_close              own_stream_close
#define stream_rtell              own_stream_rtell
#define stream_word_bits          own_stream_word_bits
#define zfp_decode_block_int32_1  own_int32_1
#define zfp_decode_block_int32_2  own_int32_2
#define zfp_decode_block_int32_3  own_int32_3
#define zfp_decode_block_int64_1  own_int64_1
#define zfp_decode_block_int64_2  own_int64_2
#define zfp_decode_block_int64_3  own_int64_3
#define zfp_decode_block_float_1  own_float_1
#define zfp_decode_block_float_2  own_float_2
#define zfp_decode_block_float_3  own_float_3
#define zfp_decode_block_double_1 own_double_1
#define zfp_decode_block_double_2 own_double_2
#define zfp_decode_block_double_3 own_double_3

#include "../../wasm/zfp_decode.c"

#define BY_AXES(name)                                                          \
    (axes == 1   ? own_##name##_1(&z, to)                                      \
     : axes == 2 ? own_##name##_2(&z, to)                                      \
                 : own_##name##_3(&z, to))

uint64_t own_decode(void *to, bouma_type type, int axes, int minexp, void *bits,
                    size_t bytes)
{
    zfp_stream z = {.minexp = minexp, .stream = stream_open(bits, bytes)};
    uint64_t used;

    if (!z.stream)
        return 0;
    if (type == BOUMA_TYPE_I32)
        BY_AXES(int32);
    else if (type == BOUMA_TYPE_I64)
        BY_AXES(int64);
    else if (type == BOUMA_TYPE_F32)
        BY_AXES(float);
    else
        BY_AXES(double);
    used = stream_rtell(z.stream);
    stream_close(z.stream);
    return used;
}
