/* codec_raw.c -- samples as they are, little-endian. */
#include "codec/codec.h"

#include <string.h>

#include "base/bytes.h"

static size_t bound(size_t bytes)
{
    return bytes;
}

static int encode(struct bm_codec_state *state, uint8_t *out, size_t *stored,
                  const struct bm_samples *in, int effort)
{
    (void)state;
    (void)effort;
    *stored = in->count * in->size;
    /* The pipeline hands over samples that already lie where they go. */
    if (out != in->data)
        memcpy(out, in->data, *stored);
    bm_swap_to_little(out, in->count, in->size);
    return BOUMA_OK;
}

static int decode(struct bm_codec_state *state, const struct bm_samples *out,
                  const uint8_t *in, size_t stored)
{
    (void)state;
    if (stored != out->count * out->size)
        return BOUMA_EFORMAT;
    if (out->data != in)
        memcpy(out->data, in, stored);
    bm_swap_to_little(out->data, out->count, out->size);
    return BOUMA_OK;
}

static int plausible(size_t bytes, size_t stored)
{
    return bytes == stored;
}

const struct bm_codec bm_codec_raw = {.name = "raw",
                                      .uses = BM_FOR_FIELDS | BM_FOR_LISTS,
                                      .sized = 1,
                                      .bound = bound,
                                      .encode = encode,
                                      .decode = decode,
                                      .plausible = plausible};
