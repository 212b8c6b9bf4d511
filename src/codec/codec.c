/* codec.c -- the table of codecs, and their memory. */
#include "codec/codec.h"

#include <string.h>
#include <zstd.h>

const struct bm_codec *bm_codec_find(int codec)
{
    switch (codec) {
    case BOUMA_CODEC_ZSTD:
        return &bm_codec_zstd;
    case BOUMA_CODEC_RAW:
        return &bm_codec_raw;
    }
    return NULL;
}

void bm_codec_state_init(struct bm_codec_state *state, const bouma_allocator *a)
{
    memset(state, 0, sizeof(*state));
    state->a = a;
}

void bm_codec_state_release(struct bm_codec_state *state)
{
    if (!state->a)
        return;
    bm_drop(state->a, state->scratch);
    ZSTD_freeCCtx(state->zstd_encoder);
    ZSTD_freeDCtx(state->zstd_decoder);
    memset(state, 0, sizeof(*state));
}

void *bm_codec_scratch(struct bm_codec_state *state, size_t bytes)
{
    if (bytes > state->scratch_bytes || !state->scratch) {
        void *scratch = bm_new_raw(state->a, bytes, 1);

        if (!scratch)
            return NULL;
        bm_drop(state->a, state->scratch);
        state->scratch = scratch;
        state->scratch_bytes = bytes;
    }
    return state->scratch;
}
