/* codec_zstd.c -- bytes of equal significance side by side, then zstd. What
 * does not shrink is kept as it is, and known by its size. */
#include "codec/codec.h"

#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "codec/zstd_planes.h"

/* Byte b of value i, the least significant one being the first, goes to plane
 * b, at index i. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PLANE(b, bytes) ((bytes)-1 - (b))
#else
#define PLANE(b, bytes) (b)
#endif

/* 16 values at once, where compilers can. The bits of an address in such a
 * block are those of the index, then those of the byte; interleaving its two
 * halves rotates them by one. So four turns bring the byte to the front, and
 * as many as it has bits bring it back. */
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector) &&                                  \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WIDE 16
#endif
#endif

#ifdef WIDE
typedef uint8_t wide __attribute__((vector_size(WIDE)));

static inline void interleave(wide *v, int n)
{
    wide from[8];

    memcpy(from, v, (size_t)n * sizeof(*v));
    for (int k = 0; k < n / 2; k++) {
        wide a = from[k], b = from[k + n / 2];

        v[2 * k] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                           20, 5, 21, 6, 22, 7, 23);
        v[2 * k + 1] = __builtin_shufflevector(
            a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
}

/* As many of n values as come in 16. */
static inline size_t shuffle_wide(uint8_t *restrict out,
                                  const uint8_t *restrict in, size_t n,
                                  int bytes)
{
    size_t i = 0;

    for (; i + WIDE <= n; i += WIDE) {
        wide v[8];

        memcpy(v, in + i * (size_t)bytes, (size_t)bytes * WIDE);
        for (int turn = 0; turn < 4; turn++)
            interleave(v, bytes);
        for (int b = 0; b < bytes; b++)
            memcpy(out + (size_t)b * n + i, &v[b], WIDE);
    }
    return i;
}

static inline size_t unshuffle_wide(uint8_t *restrict out,
                                    const uint8_t *restrict in, size_t n,
                                    int bytes)
{
    size_t i = 0;

    for (; i + WIDE <= n; i += WIDE) {
        wide v[8];

        for (int b = 0; b < bytes; b++)
            memcpy(&v[b], in + (size_t)b * n + i, WIDE);
        for (int turn = bytes; turn > 1; turn /= 2)
            interleave(v, bytes);
        memcpy(out + i * (size_t)bytes, v, (size_t)bytes * WIDE);
    }
    return i;
}
#else
#define shuffle_wide(out, in, n, bytes)   0
#define unshuffle_wide(out, in, n, bytes) 0
#endif

#define SHUFFLE(bytes)                                                         \
    static void shuffle_##bytes(uint8_t *restrict out,                         \
                                const uint8_t *restrict in, size_t n)          \
    {                                                                          \
        for (size_t i = shuffle_wide(out, in, n, bytes); i < n; i++)           \
            for (size_t b = 0; b < bytes; b++)                                 \
                out[PLANE(b, bytes) * n + i] = in[i * bytes + b];              \
    }                                                                          \
                                                                               \
    static void unshuffle_##bytes(uint8_t *restrict out,                       \
                                  const uint8_t *restrict in, size_t n)        \
    {                                                                          \
        for (size_t i = unshuffle_wide(out, in, n, bytes); i < n; i++)         \
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

/* Values of particles are near each other in no other way than by their
 * magnitude, so each plane is looked at. */
static int encode_list(struct bm_codec_state *state, struct bm_buffer *out,
                       const void *values, const struct bm_list *list)
{
    size_t size = bouma_type_size(list->type), n;
    size_t count = list->count * (size_t)list->components;
    size_t bytes = count * size, room = bm_zstd_planes_bound(bytes);
    uint8_t *to, *scratch;

    if (!bytes)
        return BOUMA_OK;
    to = bm_buffer_extend(out, room);
    scratch = bm_codec_scratch(state, bytes);
    if (!to || !scratch)
        return BOUMA_ENOMEM;
    move(shuffles, scratch, values, count, size);
    n = bm_zstd_planes(state, to, scratch, count, size, list->effort);
    if (!n || n >= bytes) {
        memcpy(to, values, bytes);
        bm_swap_to_little(to, count, size);
        n = bytes;
    }
    out->size -= room - n;
    return state->zstd_encoder ? BOUMA_OK : BOUMA_ENOMEM;
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
                                       .encode_list = encode_list,
                                       .plausible = plausible};
