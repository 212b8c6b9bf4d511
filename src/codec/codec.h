/* codec.h -- one level of one chunk, to bytes and back.
 *
 * A codec is a row of the table in codec.c. What it is given are dense samples
 * in the machine's byte order; what it makes is independent of the machine. */
#ifndef BM_CODEC_H
#define BM_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "bouma.h"

/* What codecs keep from one call to the next. Zeroed but for 'a' at first; each
 * thread of work has its own. */
struct bm_codec_state {
    const bouma_allocator *a;
    void *scratch; /* [scratch_bytes] */
    size_t scratch_bytes;
    void *zstd_encoder, *zstd_decoder;
};

void bm_codec_state_init(struct bm_codec_state *state,
                         const bouma_allocator *a);
void bm_codec_state_release(struct bm_codec_state *state);

/* At least 'bytes' of scratch memory, or NULL. */
void *bm_codec_scratch(struct bm_codec_state *state, size_t bytes);

/* Samples of one level, all components after each other. */
struct bm_samples {
    void *data;
    size_t count; /* of values */
    size_t size;  /* bytes of a value: 1, 2, 4 or 8 */
};

struct bm_codec {
    const char *name;
    /* The stored size is that of the samples, so it is known before. */
    int sized;
    /* Room that 'encode' needs for 'bytes' bytes of samples. */
    size_t (*bound)(size_t bytes);
    /* BOUMA_OK or ENOMEM; *stored is at most 'bound'. */
    int (*encode)(struct bm_codec_state *state, uint8_t *out, size_t *stored,
                  const struct bm_samples *in, int effort);
    /* BOUMA_OK, ENOMEM, or EFORMAT if the bytes do not give exactly the samples
     * asked for. Never reads or writes beyond. */
    int (*decode)(struct bm_codec_state *state, const struct bm_samples *out,
                  const uint8_t *in, size_t stored);
    /* Whether 'stored' bytes can be what so many bytes of samples became. */
    int (*plausible)(size_t bytes, size_t stored);
};

/* NULL if there is none with that number. */
const struct bm_codec *bm_codec_find(int codec);

extern const struct bm_codec bm_codec_raw, bm_codec_zstd;

#endif
