/* fuzz_codec_interp.c -- pieces of codec `interp`. The input is
 *
 *     f64 (1 bit), direction (1), levels - 1 (3), level (3)
 *     | extents - 1 of the patch: 3 x u8 | its coordinates: 3 x u8
 *     | i8, which gives the bound | what the coarser samples are u8 | bytes
 *
 * The bytes are decoded as the piece of the level; or they are samples, which
 * are encoded and must come back within the bound. */
#include <math.h>

#include "codec/codec.h"
#include "fuzz_help.h"

enum { HEADER = 9, MAX_LEVELS = 8, MAX_SAMPLES = 1 << 17 };

struct patch {
    struct bm_lattice lattice[MAX_LEVELS];
    struct bm_field field;
    size_t bytes; /* of level 0 */
};

static size_t level_bytes(const struct patch *p, int k)
{
    return (size_t)bm_lattice_samples(&p->lattice[k]) * p->field.size;
}

/* 0 if it is too large to be of use. */
static int make_patch(struct patch *p, const uint8_t *header)
{
    int wide = header[0] & 1, exponent = (int8_t)header[7];
    size_t samples = 1;
    struct bm_box box;

    for (int d = 0; d < 3; d++) {
        int64_t extent = header[1 + d] + 1, edge = 1;

        while (edge < extent)
            edge *= 2;
        box.lo[d] = (header[4 + d] & 7) * edge;
        box.hi[d] = box.lo[d] + extent;
        samples *= (size_t)extent;
    }
    p->field = (struct bm_field){.type = wide ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32,
                                 .size = wide ? 8 : 4,
                                 .levels = 1 + (header[0] >> 2 & 7),
                                 .lattice = p->lattice,
                                 .bound = ldexp(1, exponent * (wide ? 8 : 1))};
    for (int k = 0; k < p->field.levels; k++)
        p->lattice[k] = bm_lattice_of(&box, k);
    p->bytes = samples * p->field.size;
    return samples <= MAX_SAMPLES;
}

static double sample_at(const struct patch *p, const uint8_t *samples, size_t i)
{
    double wide;
    float narrow;

    if (p->field.size == 8) {
        memcpy(&wide, samples + 8 * i, 8);
        return wide;
    }
    memcpy(&narrow, samples + 4 * i, 4);
    return (double)narrow;
}

/* All alike, or the header again and again, which has holes and wild numbers.
 */
static uint8_t *make_coarse(const struct patch *p, int k, const uint8_t *header)
{
    size_t bytes = k + 1 < p->field.levels ? level_bytes(p, k + 1) : 0;
    uint8_t *coarse = malloc(bytes ? bytes : 1);

    HOLDS(coarse);
    for (size_t i = 0; i < bytes; i++)
        coarse[i] = header[8] & 1 ? header[i % HEADER] : header[8];
    return coarse;
}

/* A part of the level is decoded to the same. What is wrong elsewhere may not be
 * noticed, but only in a piece that is divided into blocks. */
static void decode_part(struct bm_codec_state *state, const struct patch *p,
                        const uint8_t *header, int k, int verdict,
                        const uint8_t *whole, const uint8_t *coarse,
                        const uint8_t *in, size_t size)
{
    const int64_t *n = p->lattice[k].count;
    struct bm_field field = p->field;
    struct bm_window wanted;
    uint8_t *out = malloc(level_bytes(p, k) + !level_bytes(p, k));
    int rc;

    HOLDS(out);
    for (int d = 0; d < 3; d++) {
        wanted.lo[d] = n[d] > 0 ? header[4 + d] / 8 % n[d] : 0;
        wanted.hi[d] = wanted.lo[d] + (n[d] > 0);
    }
    field.wanted = &wanted;
    rc = bm_codec_interp.decode_field(
        state, out, k + 1 < p->field.levels ? coarse : NULL, &field,
        &(struct bm_coded_level){k, in, size});
    HOLDS(rc == verdict ||
          (verdict == BOUMA_EFORMAT && !rc && size > 1 && (in[1] & 3) == 3));
    if (!verdict && level_bytes(p, k)) {
        size_t at = (size_t)((wanted.lo[0] * n[1] + wanted.lo[1]) * n[2] +
                             wanted.lo[2]) *
                    p->field.size;

        HOLDS(!memcmp(out + at, whole + at, p->field.size));
    }
    free(out);
}

static void decode(struct bm_codec_state *state, const struct patch *p,
                   const uint8_t *header, const uint8_t *data, size_t size)
{
    int k = (header[0] >> 5) % p->field.levels, rc;
    uint8_t *coarse = make_coarse(p, k, header), *in = fuzz_copy(data, size);
    uint8_t *out = malloc(level_bytes(p, k) + !level_bytes(p, k));

    HOLDS(out);
    rc = bm_codec_interp.decode_field(
        state, out, k + 1 < p->field.levels ? coarse : NULL, &p->field,
        &(struct bm_coded_level){k, in, size});
    HOLDS(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
    decode_part(state, p, header, k, rc, out, coarse, in, size);
    free(out);
    free(in);
    free(coarse);
}

static void round_trip(struct bm_codec_state *state, const struct patch *p,
                       const uint8_t *data, size_t size)
{
    uint8_t *samples = malloc(p->bytes), *fine = NULL, *coarse = NULL;
    uint32_t sizes[MAX_LEVELS];
    struct bm_loss loss = {0, 0};
    struct bm_buffer out;
    size_t at = 0;

    HOLDS(samples);
    for (size_t i = 0; i < p->bytes; i++)
        samples[i] = size ? data[i % size] : 0;
    bm_buffer_init(&out, state->a);
    HOLDS(!bm_codec_interp.encode_field(state, &out, sizes, &loss, &p->field,
                                        samples));
    HOLDS(loss.largest <= p->field.bound);
    for (int k = p->field.levels - 1; k >= 0; k--) {
        uint8_t *in = fuzz_copy(out.data + at, sizes[k]);

        fine = malloc(level_bytes(p, k) + !level_bytes(p, k));
        HOLDS(fine);
        HOLDS(!bm_codec_interp.decode_field(
            state, fine, coarse, &p->field,
            &(struct bm_coded_level){k, in, sizes[k]}));
        at += sizes[k];
        free(in);
        free(coarse);
        coarse = fine;
    }
    HOLDS(at == out.size);
    for (size_t i = 0; i < p->bytes / p->field.size; i++) {
        double was = sample_at(p, samples, i), is = sample_at(p, fine, i);

        HOLDS(isfinite(was) ? fabs(is - was) <= p->field.bound
                            : !memcmp(samples + i * p->field.size,
                                      fine + i * p->field.size, p->field.size));
    }
    bm_buffer_release(&out);
    free(fine);
    free(samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bm_codec_state state;
    struct patch p;

    if (size < HEADER || !make_patch(&p, data))
        return 0;
    bm_codec_state_init(&state, bm_allocator_default());
    if (data[0] & 2)
        round_trip(&state, &p, data + HEADER, size - HEADER);
    else
        decode(&state, &p, data, data + HEADER, size - HEADER);
    bm_codec_state_release(&state);
    return 0;
}
