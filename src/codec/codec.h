/* codec.h -- one level of one chunk, to bytes and back.
 *
 * A codec is a row of the table in codec.c. What it is given are dense samples
 * in the machine's byte order; what it makes is independent of the machine. */
#ifndef BM_CODEC_H
#define BM_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/strict_math.h"
#include "bouma.h"
#include "codec/lattice.h"

/* Memory that only grows. */
struct bm_block_of_memory {
    void *data;
    size_t bytes;
};

/* At least 'bytes' of it; what was there is lost if it grows. BOUMA_OK or
 * ENOMEM. */
int bm_block_grow(const bouma_allocator *a, struct bm_block_of_memory *block,
                  size_t bytes);

/* What codecs keep from one call to the next. Zeroed but for 'a' at first; each
 * thread of work has its own. */
struct bm_codec_state {
    const bouma_allocator *a;
    struct bm_block_of_memory scratch, work;
    void *zstd_encoder, *zstd_decoder;
};

void bm_codec_state_init(struct bm_codec_state *state,
                         const bouma_allocator *a);
void bm_codec_state_release(struct bm_codec_state *state);

/* At least 'bytes' of memory, or NULL: the scratch memory is zstd's, the work
 * memory of those that may use zstd while they work. */
void *bm_codec_scratch(struct bm_codec_state *state, size_t bytes);
void *bm_codec_work(struct bm_codec_state *state, size_t bytes);

/* Samples of one level, all components after each other. */
struct bm_samples {
    void *data;
    size_t count; /* of values */
    size_t size;  /* bytes of a value: 1, 2, 4 or 8 */
};

/* Parts of one block of memory, one after the other; with NULL it only
 * counts. */
struct bm_carver {
    uint8_t *at;
    size_t bytes;
};

static inline void *bm_carve(struct bm_carver *c, size_t bytes)
{
    void *part = c->at ? c->at + c->bytes : NULL;

    c->bytes += (bytes + 63) / 64 * 64;
    return part;
}

/* A variable of a chunk, for codecs that know where samples lie. They take its
 * components one by one. */
struct bm_field {
    const struct bm_codec *codec;
    bouma_type type;
    int components;
    size_t size; /* bytes of a sample */
    int levels;
    const struct bm_lattice *lattice; /* [levels] */
    double bound; /* largest error that is allowed; 0: none */
    int effort;
    int nominal; /* the bound is one for coefficients, and is not checked */
    /* When decoding: only the samples of a part are wanted, counted from the
     * first of the level; the others may be left out, and bytes that only they
     * need are not looked at. NULL: all. */
    const struct bm_window *wanted;
};

struct bm_window {
    int64_t lo[3], hi[3];
};

/* A level of a field as it is stored. */
struct bm_coded_level {
    int level;
    const uint8_t *data;
    size_t bytes;
};

/* What a lossy codec did to some samples. */
struct bm_loss {
    double largest; /* absolute error */
    double squares; /* sum of squared errors */
};

/* Values of one variable of particles: [components][count]. */
struct bm_list {
    bouma_type type;
    size_t count; /* less than 2^32 */
    int components;
    double bound;
    int effort;
};

/* What codecs are made for, as bits; a layout offers one of them. */
enum bm_codec_use { BM_FOR_FIELDS = 1, BM_FOR_LISTS = 2 };

/* There are three kinds. Those with 'encode' are exact, and take the values of
 * one level that the next coarser one has not, or those of particles. Those
 * with 'encode_field' make the samples of a level from its bytes and the
 * samples of the next coarser one. Those with 'decode_list' take values of
 * particles. */
struct bm_codec {
    const char *name;
    unsigned uses; /* see bm_codec_use */
    /* The stored size is that of the samples, so it is known before. */
    int sized;
    /* Needs a bound, and f32 or f64. */
    int lossy;
    /* Can do without a check of the bound. */
    int nominal;
    /* 'encode' asks for an effort. */
    int has_effort;
    /* Coarser levels are averages, for which no bound holds, not samples. */
    int averages;
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

    /* Append all levels of the dense 'samples' of level 0, the coarsest first,
     * and add to *loss. sizes[k] is 0 where a level has no samples. BOUMA_OK or
     * ENOMEM. */
    int (*encode_field)(struct bm_codec_state *state, struct bm_buffer *out,
                        uint32_t *sizes, struct bm_loss *loss,
                        const struct bm_field *field, const void *samples);
    /* The samples of a piece's level, dense; 'coarse' are those of the next
     * coarser one (NULL for the coarsest). As 'decode'. */
    int (*decode_field)(struct bm_codec_state *state, void *samples,
                        const void *coarse, const struct bm_field *field,
                        const struct bm_coded_level *piece);

    /* Round values of particles, in place, before they are sorted, indexed and
     * encoded, and add to *loss. */
    void (*round)(bouma_type type, void *values, size_t count, double bound,
                  struct bm_loss *loss);
    /* Rounded values to bytes (appended), and back. */
    int (*encode_list)(struct bm_codec_state *state, struct bm_buffer *out,
                       const void *values, const struct bm_list *list);
    int (*decode_list)(struct bm_codec_state *state, void *values,
                       const struct bm_list *list, const uint8_t *in,
                       size_t stored);
};

/* All components of a field whose codec has 'encode_field': 'samples' are
 * [components][samples of the level]. Several components of a level are stored
 * as their sizes (u32 each) and then their bytes. */
int bm_codec_encode_fields(struct bm_codec_state *state, struct bm_buffer *out,
                           uint32_t *sizes, struct bm_loss *loss,
                           const struct bm_field *field, const void *samples);
int bm_codec_decode_fields(struct bm_codec_state *state, void *samples,
                           const void *coarse, const struct bm_field *field,
                           const struct bm_coded_level *piece);

/* NULL if there is none with that number. */
const struct bm_codec *bm_codec_find(int codec);

/* All codecs, with their names in BOUMA_CODEC_LIST: a new one adds a line here
 * and there. */
#define BM_CODECS(X)                                                           \
    X(raw, RAW)                                                                \
    X(zstd, ZSTD)                                                              \
    X(interp, INTERP)                                                          \
    X(wavelet, WAVELET)                                                        \
    X(quantise, QUANTISE)                                                      \
    X(exact, EXACT)
#define BM_CODECS_ENTRY(name, number)                                          \
    extern const struct bm_codec bm_codec_##name;
BM_CODECS(BM_CODECS_ENTRY)
#undef BM_CODECS_ENTRY

/* What zstd makes of 'count' values, byte-shuffled, or the values themselves if
 * that is not smaller; appended. And back from exactly 'bytes' bytes. */
int bm_zstd_pack(struct bm_codec_state *state, struct bm_buffer *out,
                 const void *values, size_t count, size_t size);
int bm_zstd_unpack(struct bm_codec_state *state, void *values, size_t count,
                   size_t size, const uint8_t *in, size_t bytes);

#endif
