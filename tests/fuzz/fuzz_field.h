/* fuzz_field.h -- the body of the targets for codecs that know where samples
 * lie. The input is
 *
 *     type, direction | shape (4 bits each, 2 bytes) | levels, components |
 *     place | bound (a power of ten) | bytes
 *
 * The bytes are decoded as the pieces of all levels, each with its length (u32)
 * before it; or they are samples, which are encoded and must come back. */
#ifndef FUZZ_FIELD_H
#define FUZZ_FIELD_H

#include <math.h>

#include "base/tiling.h"
#include "codec/codec.h"
#include "fuzz_help.h"

struct fuzz_field {
    struct bm_lattice lattice[BM_MAX_LEVELS];
    struct bm_field field;
};

static inline size_t fuzz_bytes(const struct fuzz_field *f, int k)
{
    return (size_t)bm_lattice_samples(&f->lattice[k]) * f->field.size *
           (size_t)f->field.components;
}

/* Decode all levels; level 0 in *out, which the caller frees. */
static inline int fuzz_decode_levels(struct bm_codec_state *state,
                                     const struct fuzz_field *f, uint8_t **out,
                                     struct bm_cursor *c)
{
    uint8_t *coarse = NULL, *fine = NULL;
    int rc = BOUMA_OK;

    for (int k = f->field.levels - 1; k >= 0 && !rc; k--) {
        size_t most = bm_cursor_left(c), size = bm_get_u32(c);
        uint8_t *piece;

        size = size < bm_cursor_left(c) ? size : bm_cursor_left(c);
        size = most < 4 ? 0 : size;
        piece = fuzz_copy(bm_get_bytes(c, size), size);
        fine = calloc(fuzz_bytes(f, k) + 1, 1);
        HOLDS(fine);
        rc = bm_codec_decode_fields(state, fine, coarse, &f->field,
                                    &(struct bm_coded_level){k, piece, size});
        HOLDS(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
        free(piece);
        free(coarse);
        coarse = fine;
    }
    *out = coarse;
    return rc;
}

static inline void fuzz_field_round_trip(struct bm_codec_state *state,
                                         const struct fuzz_field *f,
                                         const uint8_t *data, size_t bytes)
{
    const struct bm_codec *codec = f->field.codec;
    size_t all = fuzz_bytes(f, 0), n = all / f->field.size, at = 0;
    uint8_t *samples = calloc(all + 1, 1), *back;
    struct bm_loss loss = {0, 0};
    uint32_t sizes[BM_MAX_LEVELS];
    struct bm_buffer out, framed;
    struct bm_cursor c;

    HOLDS(samples);
    for (size_t i = 0; i < all && bytes; i++)
        samples[i] = data[i % bytes];
    bm_buffer_init(&out, state->a);
    bm_buffer_init(&framed, state->a);
    HOLDS(
        !bm_codec_encode_fields(state, &out, sizes, &loss, &f->field, samples));
    for (int k = f->field.levels - 1; k >= 0; k--) {
        bm_put_u32(&framed, sizes[k]);
        bm_put_bytes(&framed, out.data + at, sizes[k]);
        at += sizes[k];
    }
    c = bm_cursor_of(framed.data, framed.size);
    HOLDS(!fuzz_decode_levels(state, f, &back, &c));
    for (size_t i = 0; i < n; i++) {
        float x, y;

        if (codec->lossy && f->field.type == BOUMA_TYPE_F32) {
            memcpy(&x, samples + 4 * i, 4);
            memcpy(&y, back + 4 * i, 4);
            if (isfinite(x)) {
                HOLDS(fabs((double)x - (double)y) <= f->field.bound);
                continue;
            }
        } else if (codec->lossy) {
            double u, v;

            memcpy(&u, samples + 8 * i, 8);
            memcpy(&v, back + 8 * i, 8);
            if (isfinite(u)) {
                HOLDS(fabs(u - v) <= f->field.bound);
                continue;
            }
        }
        HOLDS(!memcmp(samples + i * f->field.size, back + i * f->field.size,
                      f->field.size));
    }
    bm_buffer_release(&out);
    bm_buffer_release(&framed);
    free(samples);
    free(back);
}

static inline int fuzz_field(const struct bm_codec *codec, const uint8_t *data,
                             size_t bytes)
{
    static const bouma_type types[10] = {
        BOUMA_TYPE_F32, BOUMA_TYPE_F64, BOUMA_TYPE_I32, BOUMA_TYPE_I64,
        BOUMA_TYPE_I8,  BOUMA_TYPE_U8,  BOUMA_TYPE_I16, BOUMA_TYPE_U16,
        BOUMA_TYPE_U32, BOUMA_TYPE_U64};
    struct bm_codec_state state;
    struct fuzz_field f;
    struct bm_cursor c;
    struct bm_box box;
    uint8_t *back = NULL;

    if (bytes < 6)
        return 0;
    memset(&f, 0, sizeof(f));
    f.field.codec = codec;
    f.field.type =
        types[codec->lossy ? data[0] & 1
                           : ((data[0] & 3) | (data[0] >> 1 & 12)) % 10];
    f.field.size = bouma_type_size(f.field.type);
    f.field.levels = 1 + (data[3] & 7) % 5;
    f.field.lattice = f.lattice;
    f.field.bound = codec->lossy ? pow(10, (int8_t)data[5]) : 0;
    f.field.components = 1 + (data[3] >> 6) % 3;
    for (int d = 0; d < 3; d++) {
        int n = d == 2 ? data[2] & 15 : data[1] >> 4 * d & 15;
        int times = data[4] & 8 ? 4 : 1; /* large enough for all states */

        box.lo[d] = (data[4] >> d & 1) * 16 * times;
        box.hi[d] = box.lo[d] + (1 + n) * times;
    }
    for (int k = 0; k < f.field.levels; k++)
        f.lattice[k] = bm_lattice_of(&box, k);
    bm_codec_state_init(&state, bm_allocator_default());
    c = bm_cursor_of(data + 6, bytes - 6);
    if (data[0] & 4)
        fuzz_field_round_trip(&state, &f, data + 6, bytes - 6);
    else
        fuzz_decode_levels(&state, &f, &back, &c);
    free(back);
    bm_codec_state_release(&state);
    return 0;
}

#endif
