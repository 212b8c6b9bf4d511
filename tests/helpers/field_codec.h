/* field_codec.h -- fields of many kinds, through a codec that wants all samples
 * of a patch and back, for the tests of such codecs. */
#ifndef FIELD_CODEC_H
#define FIELD_CODEC_H

#include <math.h>

#include "base/tiling.h"
#include "base/type.h"
#include "check.h"
#include "codec/codec.h"
#include "fault_alloc.h"

/* A patch, its levels, and the samples of all components. */
struct patch {
    struct bm_lattice lattice[BM_MAX_LEVELS];
    struct bm_field field;
    size_t samples, bytes; /* of one component; of all */
    uint8_t *data;
};

/* From 'lo' on; n samples along each axis. */
static inline void patch_init(struct patch *p, bouma_type type,
                              const int64_t lo[3], const int64_t n[3],
                              int levels, int components, double bound)
{
    struct bm_box box;

    memset(p, 0, sizeof(*p));
    for (int d = 0; d < 3; d++) {
        box.lo[d] = lo[d];
        box.hi[d] = lo[d] + n[d];
    }
    for (int k = 0; k < levels; k++)
        p->lattice[k] = bm_lattice_of(&box, k);
    p->field = (struct bm_field){.type = type,
                                 .components = components,
                                 .size = bouma_type_size(type),
                                 .levels = levels,
                                 .lattice = p->lattice,
                                 .bound = bound};
    p->samples = (size_t)(n[0] * n[1] * n[2]);
    p->bytes = p->samples * p->field.size * (size_t)components;
    p->data = calloc(p->bytes + 1, 1);
    REQUIRE(p->data);
}

static inline void patch_release(struct patch *p)
{
    free(p->data);
}

static inline void patch_put(struct patch *p, size_t i, double v)
{
    float f = (float)v;
    int64_t l = bm_type_is_float(p->field.type) ? 0 : (int64_t)v;
    int8_t b = (int8_t)l;
    int16_t s = (int16_t)l;
    int32_t w = (int32_t)l;
    uint8_t *to = p->data + p->field.size * i;

    if (p->field.type == BOUMA_TYPE_F32)
        memcpy(to, &f, 4);
    else if (p->field.type == BOUMA_TYPE_F64)
        memcpy(to, &v, 8);
    else if (p->field.size == 8)
        memcpy(to, &l, 8);
    else if (p->field.size == 4)
        memcpy(to, &w, 4);
    else if (p->field.size == 2)
        memcpy(to, &s, 2);
    else
        memcpy(to, &b, 1);
}

static inline double number_at(bouma_type type, const uint8_t *data, size_t i)
{
    float f;
    double v;

    if (type == BOUMA_TYPE_F32) {
        memcpy(&f, data + 4 * i, 4);
        return (double)f;
    }
    memcpy(&v, data + 8 * i, 8);
    return v;
}

enum {
    SMOOTH,
    NOISE,
    CONSTANT,
    ZERO,
    ALL_NAN,
    ONE_NAN,
    INFINITIES,
    MASKED,
    DENORMAL,
    EXTREMES,
    SPIKE,
    HUGE_VALUES,
    KINDS
};

/* Samples of some kind; those of integers are multiplied. */
static inline void patch_fill(struct patch *p, int kind, uint64_t *random)
{
    size_t all = p->samples * (size_t)p->field.components;
    int wide = p->field.type == BOUMA_TYPE_F64;
    double times = bm_type_is_float(p->field.type) ? 1
                   : p->field.size < 4             ? 30
                                                   : 1e6;
    const int64_t *n = p->lattice[0].count;

    for (size_t i = 0; i < all; i++) {
        double x = (double)((int64_t)i % n[2]);
        double y = (double)((int64_t)i / n[2] % n[1]);
        double z = (double)((int64_t)i / (n[2] * n[1]));
        double noise = (double)check_below(random, 1 << 20) / (1 << 20);
        double v = sin(0.1 * x + 0.3) * cos(0.07 * y) + 0.1 * z;

        if (kind == NOISE)
            v = noise - 0.5;
        else if (kind == CONSTANT)
            v = 273.15;
        else if (kind == ZERO)
            v = i % 3 ? 0.0 : -0.0;
        else if (kind == ALL_NAN || (kind == ONE_NAN && i == all / 2) ||
                 (kind == MASKED && x + y < 9))
            v = (double)NAN;
        else if (kind == INFINITIES && i % 7 == 3)
            v = i & 1 ? (double)INFINITY : -(double)INFINITY;
        else if (kind == DENORMAL)
            v = (noise - 0.5) * (wide ? 0x1p-1060 : 0x1p-135);
        else if (kind == EXTREMES)
            v = i % 2 ? 1e-30 : (i % 4 ? 1e30 : -1e30);
        else if (kind == SPIKE)
            v = i == all / 3 ? 1e6 : v;
        else if (kind == HUGE_VALUES)
            v = (noise - 0.5) * (wide ? 1.7e308 : 3.3e38);
        if (!bm_type_is_float(p->field.type) && !(fabs(v) < 2000))
            v = 2000;
        patch_put(p, i, v * times);
    }
}

/* Encode, decode every level, and give the samples of level 0, which the caller
 * frees; NULL if memory was short. */
static inline uint8_t *round_trip(const struct bm_codec *codec,
                                  struct bm_codec_state *state, struct patch *p,
                                  struct bm_loss *loss, size_t *stored)
{
    struct bm_buffer out;
    uint32_t sizes[BM_MAX_LEVELS];
    uint8_t *fine = NULL, *coarse = NULL, *before = malloc(p->bytes + 1);
    size_t at = 0;
    int rc;

    REQUIRE(before);
    memcpy(before, p->data, p->bytes);
    p->field.codec = codec;
    bm_buffer_init(&out, state->a);
    memset(loss, 0, sizeof(*loss));
    rc = bm_codec_encode_fields(state, &out, sizes, loss, &p->field, p->data);
    CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
    CHECK(!memcmp(before, p->data, p->bytes));
    for (int k = p->field.levels - 1; k >= 0 && !rc; k--) {
        const struct bm_lattice *l = &p->lattice[k];
        size_t bytes = (size_t)bm_lattice_samples(l) * p->field.size *
                       (size_t)p->field.components;
        size_t held = (size_t)(k + 1 < p->field.levels ? bm_lattice_details(l)
                                                       : bm_lattice_samples(l));
        /* Just as long as told, for a sanitizer to see. */
        uint8_t *piece = malloc(sizes[k] ? sizes[k] : 1);

        fine = malloc(bytes ? bytes : 1);
        REQUIRE(piece && fine);
        memcpy(piece, out.data + at, sizes[k]);
        CHECK(codec->plausible(
            held * p->field.size * (size_t)p->field.components, sizes[k]));
        rc = bm_codec_decode_fields(
            state, fine, k + 1 < p->field.levels ? coarse : NULL, &p->field,
            &(struct bm_coded_level){k, piece, sizes[k]});
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        at += sizes[k];
        free(piece);
        free(coarse);
        coarse = fine;
    }
    *stored = at;
    if (!rc)
        CHECK_EQ(at, out.size);
    bm_buffer_release(&out);
    free(before);
    if (rc) {
        free(coarse);
        return NULL;
    }
    return coarse;
}

/* Every allocation fails in turn: that is told, and nothing is lost. */
static inline void memory_can_be_short(const struct bm_codec *codec,
                                       struct patch *p)
{
    struct fault_alloc memory;
    int done = 0, most;

    fault_alloc_init(&memory);
    for (most = 0; !done && most < 200; most++) {
        struct bm_codec_state state;
        struct bm_loss loss;
        size_t stored;
        uint8_t *back;

        fault_alloc_arm(&memory, most + 1, 1);
        bm_codec_state_init(&state, &memory.table);
        back = round_trip(codec, &state, p, &loss, &stored);
        done = back != NULL;
        free(back);
        bm_codec_state_release(&state);
        CHECK_EQ(memory.live, 0);
    }
    CHECK(done);
    CHECK(most > 2);
}

#endif
