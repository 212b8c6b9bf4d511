/* codec_zstd.c -- bytes of equal significance side by side, then zstd. What
 * does not shrink is kept as it is, and known by its size. */
#include "codec/codec.h"

#include <string.h>
#include <zstd.h>

#include "base/bytes.h"

/* Byte b of value i, the least significant one being the first, goes to plane
 * b, place i. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PLANE(b, bytes) ((bytes)-1 - (b))
#else
#define PLANE(b, bytes) (b)
#endif
#define SHUFFLE(bytes)                                                         \
    static void shuffle_##bytes(uint8_t *restrict out,                         \
                                const uint8_t *restrict in, size_t n)          \
    {                                                                          \
        for (size_t i = 0; i < n; i++)                                         \
            for (size_t b = 0; b < bytes; b++)                                 \
                out[PLANE(b, bytes) * n + i] = in[i * bytes + b];              \
    }                                                                          \
                                                                               \
    static void unshuffle_##bytes(uint8_t *restrict out,                       \
                                  const uint8_t *restrict in, size_t n)        \
    {                                                                          \
        for (size_t i = 0; i < n; i++)                                         \
            for (size_t b = 0; b < bytes; b++)                                 \
                out[i * bytes + b] = in[PLANE(b, bytes) * n + i];              \
    }
SHUFFLE(2)
SHUFFLE(4)
SHUFFLE(8)

typedef void move_function(uint8_t *restrict out, const uint8_t *restrict in,
                           size_t n);

/* By the bytes of a value; those of one byte need not move. */
static move_function *const shuffles[] = {
    [2] = shuffle_2, [4] = shuffle_4, [8] = shuffle_8};
static move_function *const unshuffles[] = {
    [2] = unshuffle_2, [4] = unshuffle_4, [8] = unshuffle_8};

static void move(move_function *const *functions, uint8_t *out,
                 const uint8_t *in, size_t n, size_t size)
{
    if (functions[size])
        functions[size](out, in, n);
    else
        memcpy(out, in, n);
}

static size_t bound(size_t bytes)
{
    return ZSTD_compressBound(bytes);
}

static int encode(struct bm_codec_state *state, uint8_t *out, size_t *stored,
                  const struct bm_samples *in, int effort)
{
    size_t bytes = in->count * in->size;
    uint8_t *scratch;
    size_t n;

    *stored = 0;
    if (!bytes)
        return BOUMA_OK;
    if (!state->zstd_encoder)
        state->zstd_encoder = ZSTD_createCCtx();
    scratch = bm_codec_scratch(state, bytes);
    if (!state->zstd_encoder || !scratch)
        return BOUMA_ENOMEM;
    move(shuffles, scratch, in->data, in->count, in->size);
    n = ZSTD_compressCCtx(state->zstd_encoder, out, bound(bytes), scratch,
                          bytes, effort ? effort : 1);
    if (ZSTD_isError(n) || n >= bytes) {
        memcpy(out, in->data, bytes);
        bm_swap_to_little(out, in->count, in->size);
        n = bytes;
    }
    *stored = n;
    return BOUMA_OK;
}

static int decode(struct bm_codec_state *state, const struct bm_samples *out,
                  const uint8_t *in, size_t stored)
{
    size_t bytes = out->count * out->size;
    uint8_t *scratch;

    if (stored > bytes)
        return BOUMA_EFORMAT;
    if (stored == bytes) {
        if (bytes)
            memcpy(out->data, in, bytes);
        bm_swap_to_little(out->data, out->count, out->size);
    } else {
        if (!state->zstd_decoder)
            state->zstd_decoder = ZSTD_createDCtx();
        scratch = bm_codec_scratch(state, bytes);
        if (!state->zstd_decoder || !scratch)
            return BOUMA_ENOMEM;
        if (ZSTD_decompressDCtx(state->zstd_decoder, scratch, bytes, in,
                                stored) != bytes)
            return BOUMA_EFORMAT;
        move(unshuffles, out->data, scratch, out->count, out->size);
    }
    return BOUMA_OK;
}

static int plausible(size_t bytes, size_t stored)
{
    return stored <= bytes && (stored > 0 || bytes == 0);
}

int bm_zstd_pack(struct bm_codec_state *state, struct bm_buffer *out,
                 const void *values, size_t count, size_t size)
{
    struct bm_samples in = {(void *)values, count, size};
    size_t room = bound(count * size), stored = 0;
    uint8_t *to = bm_buffer_extend(out, room);
    int rc = to ? encode(state, to, &stored, &in, 1) : BOUMA_ENOMEM;

    if (to)
        out->size -= room - stored;
    return rc;
}

int bm_zstd_unpack(struct bm_codec_state *state, void *values, size_t count,
                   size_t size, const uint8_t *in, size_t bytes)
{
    struct bm_samples out = {values, count, size};

    return bytes || !count ? decode(state, &out, in, bytes) : BOUMA_EFORMAT;
}

const struct bm_codec bm_codec_zstd = {.name = "zstd",
                                       .uses = BM_FOR_FIELDS | BM_FOR_LISTS,
                                       .has_effort = 1,
                                       .bound = bound,
                                       .encode = encode,
                                       .decode = decode,
                                       .plausible = plausible};
