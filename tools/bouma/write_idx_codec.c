/* write_idx_codec.c -- see write_idx_codec.h. */
#include "write_idx_codec.h"

#include <zlib.h>
#if BOUMA_WITH_LZ4
#include <lz4.h>
#endif

bool idx_can_compress(enum idx_write_codec codec)
{
    /* The words of a stream of zfp are in the order of the machine. */
    if (codec == IDX_WRITE_ZFP)
        return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return codec != IDX_WRITE_LZ4 || BOUMA_WITH_LZ4;
}

static size_t compress_zip(void *out, const void *in, size_t bytes)
{
    uLongf room = bytes;

    return compress2(out, &room, in, bytes, Z_DEFAULT_COMPRESSION) == Z_OK
               ? room
               : 0;
}

static size_t compress_lz4(void *out, const void *in, size_t bytes)
{
#if BOUMA_WITH_LZ4
    int size = LZ4_compress_default(in, out, (int)bytes, (int)bytes);

    return size > 0 ? (size_t)size : 0;
#else
    (void)out;
    (void)in;
    return 0 * bytes;
#endif
}

size_t idx_compress(void *out, const void *in, size_t bytes,
                    enum idx_write_codec codec)
{
    size_t size = codec == IDX_WRITE_ZIP   ? compress_zip(out, in, bytes)
                  : codec == IDX_WRITE_LZ4 ? compress_lz4(out, in, bytes)
                                           : 0;

    return size < bytes ? size : 0;
}
