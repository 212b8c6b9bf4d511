/* fuzz_codec.h -- the body of the targets for codecs. The input is
 *
 *     size of a value (2 bits), direction (1 bit) | count u16 | bytes
 *
 * The bytes are decoded into 'count' values; or they are values, which are
 * encoded and must come back. */
#ifndef FUZZ_CODEC_H
#define FUZZ_CODEC_H

#include "codec/codec.h"
#include "fuzz_help.h"

static void fuzz_decode(const struct bm_codec *codec,
                        struct bm_codec_state *state, const uint8_t *data,
                        size_t bytes, size_t size, size_t count)
{
    uint8_t *in = fuzz_copy(data, bytes);
    uint8_t *out = malloc(count ? size * count : 1);
    struct bm_samples samples = {out, count, size};
    int rc;

    HOLDS(out);
    rc = codec->decode(state, &samples, in, bytes);
    HOLDS(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
    if (!rc)
        HOLDS(codec->plausible(size * count, bytes));
    free(out);
    free(in);
}

static void fuzz_round_trip(const struct bm_codec *codec,
                            struct bm_codec_state *state, const uint8_t *data,
                            size_t bytes, size_t size)
{
    size_t count = bytes / size, stored = 0;
    uint8_t *in = fuzz_copy(data, count * size);
    uint8_t *middle = malloc(codec->bound(count * size) + 1);
    uint8_t *out = malloc(count * size + 1);
    struct bm_samples from = {in, count, size}, to = {out, count, size};

    HOLDS(middle && out);
    HOLDS(!codec->encode(state, middle, &stored, &from, 1));
    HOLDS(stored <= codec->bound(count * size));
    HOLDS(codec->plausible(count * size, stored));
    HOLDS(!codec->decode(state, &to, middle, stored));
    HOLDS(!memcmp(out, data, count * size));
    free(in);
    free(middle);
    free(out);
}

static inline int fuzz_codec(const struct bm_codec *codec, const uint8_t *data,
                             size_t bytes)
{
    struct bm_codec_state state;
    size_t size;

    if (bytes < 3)
        return 0;
    size = (size_t)1 << (data[0] & 3);
    bm_codec_state_init(&state, bm_allocator_default());
    if (data[0] & 4)
        fuzz_round_trip(codec, &state, data + 3, bytes - 3, size);
    else
        fuzz_decode(codec, &state, data + 3, bytes - 3, size,
                    (size_t)data[1] | (size_t)data[2] << 8);
    bm_codec_state_release(&state);
    return 0;
}

#endif
