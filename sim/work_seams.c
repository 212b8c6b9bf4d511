/* work_seams.c -- where the library computes: each function here is called in
 * the place of one of the library (ld --wrap, see sim.cmake), does what that
 * does, and pays for it (work.h). */
#include <math.h>

#include "base/gather.h"
#include "base/hash.h"
#include "codec/codec.h"
#include "codec/subbands.h"
#include "layout/grid_hz.h"
#include "layout/particle_summary.h"
#include "layout/patch.h"
#include "layout/tree.h"
#include "plan/hz_order.h"
#include "work.h"

/* SEAM(type, name, parameters) begins what is called instead of name(), and
 * declares what the library has, REAL(name). */
#define REAL(name) __real_##name
#define SEAM(type, name, ...)                                                  \
    type __real_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)

/* 'call' as a whole, and then what it takes. */
#define PAY(bytes, rate, call)                                                 \
    do {                                                                       \
        double paid_bytes = (bytes);                                           \
        uint64_t copied = sim_whole_begin();                                   \
                                                                               \
        call;                                                                  \
        sim_whole_end(copied);                                                 \
        sim_work(paid_bytes, (rate));                                          \
    } while (0)

static double rate_of(enum bm_work kind)
{
    return sim_rates()->work[kind];
}

static double lattice_bytes(const struct bm_lattice *l, size_t size)
{
    return (double)bm_lattice_samples(l) * (double)size;
}

static double value_bytes(const struct bouma_variable *v, uint64_t count)
{
    return (double)count * (double)v->components *
           (double)bouma_type_size(v->type);
}

static double strided_bytes(const struct bm_strided *part, size_t size)
{
    double n = (double)size;

    for (int d = 0; d < 3; d++)
        n *=
            part->hi[d] > part->lo[d] ? (double)(part->hi[d] - part->lo[d]) : 0;
    return n;
}

static double patch_bytes(const struct bm_patch *p, const struct bm_box *box)
{
    struct bm_box both;

    return bm_box_meet(&both, &p->box, box)
               ? (double)bm_box_volume(&both) * (double)p->components *
                     (double)p->size
               : 0;
}

/* ---- codecs -------------------------------------------------------------- */

/* A codec that leaves bytes as they are copies them, or not even that. */
static double exact_rate(const struct bm_codec *codec, double rate,
                         const void *to, const void *from)
{
    return !codec->sized ? rate : to != from ? rate_of(BM_WORK_COPY) : 0;
}

/* The functions of one codec, which are paid for. */
#define PAID(name, number)                                                     \
    static int name##_encode(struct bm_codec_state *state, uint8_t *out,       \
                             size_t *stored, const struct bm_samples *in,      \
                             int effort)                                       \
    {                                                                          \
        const struct bm_codec *codec = &bm_codec_##name;                       \
        int rc;                                                                \
                                                                               \
        PAY((double)(in->count * in->size),                                    \
            exact_rate(codec,                                                  \
                       sim_rates()->codecs[BOUMA_CODEC_##number].encode, out,  \
                       in->data),                                              \
            rc = codec->encode(state, out, stored, in, effort));               \
        return rc;                                                             \
    }                                                                          \
    static int name##_decode(struct bm_codec_state *state,                     \
                             const struct bm_samples *out, const uint8_t *in,  \
                             size_t stored)                                    \
    {                                                                          \
        const struct bm_codec *codec = &bm_codec_##name;                       \
        int rc;                                                                \
                                                                               \
        PAY((double)(out->count * out->size),                                  \
            exact_rate(codec,                                                  \
                       sim_rates()->codecs[BOUMA_CODEC_##number].decode,       \
                       out->data, in),                                         \
            rc = codec->decode(state, out, in, stored));                       \
        return rc;                                                             \
    }                                                                          \
    static int name##_encode_field(                                            \
        struct bm_codec_state *state, struct bm_buffer *out, uint32_t *sizes,  \
        struct bm_loss *loss, const struct bm_field *field,                    \
        const void *samples)                                                   \
    {                                                                          \
        int rc;                                                                \
                                                                               \
        PAY(lattice_bytes(&field->lattice[0], field->size),                    \
            sim_rates()->codecs[BOUMA_CODEC_##number].encode,                  \
            rc = bm_codec_##name.encode_field(state, out, sizes, loss, field,  \
                                              samples));                       \
        return rc;                                                             \
    }                                                                          \
    static int name##_decode_field(                                            \
        struct bm_codec_state *state, void *samples, const void *coarse,       \
        const struct bm_field *field, const struct bm_coded_level *piece)      \
    {                                                                          \
        int rc;                                                                \
                                                                               \
        PAY(lattice_bytes(&field->lattice[piece->level], field->size),         \
            sim_rates()->codecs[BOUMA_CODEC_##number].decode,                  \
            rc = bm_codec_##name.decode_field(state, samples, coarse, field,   \
                                              piece));                         \
        return rc;                                                             \
    }                                                                          \
    static void name##_round(bouma_type type, void *values, size_t count,      \
                             double bound, struct bm_loss *loss)               \
    {                                                                          \
        PAY((double)(count * bouma_type_size(type)), rate_of(BM_WORK_COPY),    \
            bm_codec_##name.round(type, values, count, bound, loss));          \
    }
BM_CODECS(PAID)
#undef PAID

SEAM(const struct bm_codec *, bm_codec_find, int codec)
{
    static struct bm_codec paid[BM_RATED_CODECS];
    const struct bm_codec *real = REAL(bm_codec_find)(codec);

    if (!real || paid[codec].name)
        return real ? &paid[codec] : NULL;
    paid[codec] = *real;
#define REPLACE(function, name)                                                \
    if (real->function)                                                        \
        paid[codec].function = name##_##function;
#define PAID(name, number)                                                     \
    if (codec == BOUMA_CODEC_##number) {                                       \
        REPLACE(encode, name)                                                  \
        REPLACE(decode, name)                                                  \
        REPLACE(encode_field, name)                                            \
        REPLACE(decode_field, name)                                            \
        REPLACE(round, name)                                                   \
    }
    BM_CODECS(PAID)
#undef PAID
#undef REPLACE
    return &paid[codec];
}

/* ---- values of particles ------------------------------------------------- */

SEAM(int, bm_values_encode, struct bm_codec_state *state, struct bm_buffer *out,
     const struct bouma_variable *v, const void *values, size_t count)
{
    int rc;

    PAY(value_bytes(v, count), sim_rates()->codecs[v->codec].encode_list,
        rc = REAL(bm_values_encode)(state, out, v, values, count));
    return rc;
}

SEAM(int, bm_values_decode, struct bm_codec_state *state, void *values,
     const struct bouma_variable *v, size_t count, const uint8_t *in,
     size_t stored)
{
    int rc;

    PAY(value_bytes(v, count), sim_rates()->codecs[v->codec].decode_list,
        rc = REAL(bm_values_decode)(state, values, v, count, in, stored));
    return rc;
}

/* A particle takes as much longer among more of them as the logarithm of their
 * number says. The function waits for threads of its own, which take no time. */
SEAM(int, bm_tree_build, struct bm_tree *t, uint32_t *order,
     const struct bm_positions *positions, uint32_t leaf, int threads,
     struct bm_tree_route *route)
{
    int rc = REAL(bm_tree_build)(t, order, positions, leaf, threads, route);
    double n = (double)positions->count;
    double depth = log2(fmax(n, 2)) / log2((double)BM_SORTED_PARTICLES);
    double bytes =
        n * positions->ndims * (double)bouma_type_size(positions->type) * depth;
    double at_once = fmin(fmin(threads, sim_cores()), floor(n / 16384) + 1);

    sim_work(bytes / fmax(at_once, 1), rate_of(BM_WORK_SORT));
    return rc;
}

SEAM(void, bm_gather, void *to, const void *from, const uint32_t *indices,
     size_t n, size_t size)
{
    PAY((double)(n * size), rate_of(BM_WORK_ARRANGE),
        REAL(bm_gather)(to, from, indices, n, size));
}

/* ---- samples of grids ---------------------------------------------------- */

SEAM(void, bm_patch_take, const struct bm_patch *p,
     const struct bm_memory_box *from, uint8_t *const level[], uint8_t *scratch)
{
    PAY(patch_bytes(p, &from->box), rate_of(BM_WORK_PATCH),
        REAL(bm_patch_take)(p, from, level, scratch));
}

SEAM(void, bm_patch_take_dense, const struct bm_patch *p,
     const struct bm_memory_box *from, uint8_t *dense)
{
    PAY(patch_bytes(p, &from->box), rate_of(BM_WORK_PATCH),
        REAL(bm_patch_take_dense)(p, from, dense));
}

SEAM(void, bm_patch_merge, const struct bm_patch *p,
     const struct bm_patch_samples *s, const struct bm_window *wanted,
     uint8_t *dense)
{
    PAY((double)bm_patch_dense_bytes(p, s->level), rate_of(BM_WORK_PATCH),
        REAL(bm_patch_merge)(p, s, wanted, dense));
}

SEAM(void, bm_patch_give, const struct bm_patch *p,
     const struct bm_patch_samples *s, const struct bm_box *clip,
     const struct bm_level_memory *to)
{
    PAY(ldexp(patch_bytes(p, clip), -3 * s->level), rate_of(BM_WORK_PATCH),
        REAL(bm_patch_give)(p, s, clip, to));
}

SEAM(void, bm_grid_hz_take, struct bm_encoding *e,
     const struct bm_memory_part *from)
{
    PAY(value_bytes(e->variable, bm_footprint_samples(&from->samples)),
        rate_of(BM_WORK_PATCH), REAL(bm_grid_hz_take)(e, from));
}

/* As many of the chunk's samples as the target has of the box around them. */
SEAM(void, bm_grid_hz_give, const struct bm_decoding *d,
     const struct bm_target *target)
{
    struct bm_box all = bm_chunk_bounds(d->variable->object, d->key);
    struct bm_box wanted = bm_footprint_bounds(&target->samples), both;
    double share =
        bm_box_meet(&both, &all, &wanted)
            ? (double)bm_box_volume(&both) / (double)bm_box_volume(&all)
            : 0;

    PAY(share * (double)bm_grid_hz_sample_bytes(d, 0), rate_of(BM_WORK_PATCH),
        REAL(bm_grid_hz_give)(d, target));
}

SEAM(void, bm_hz_pack, uint8_t *out, const struct bm_hz *hz,
     enum bm_hz_order order, const struct bm_hz_rows *rows)
{
    PAY(ldexp((double)rows->size, hz->bits), rate_of(BM_WORK_ORDER),
        REAL(bm_hz_pack)(out, hz, order, rows));
}

SEAM(void, bm_hz_unpack, const struct bm_hz_rows *rows, const struct bm_hz *hz,
     enum bm_hz_order order, const uint8_t *in)
{
    PAY(ldexp((double)rows->size, hz->bits), rate_of(BM_WORK_ORDER),
        REAL(bm_hz_unpack)(rows, hz, order, in));
}

static double tile_bytes(const struct bm_subbands *s, const struct bm_box *box)
{
    return (double)bm_box_volume(box) * (double)bouma_type_size(s->words.type);
}

SEAM(void, bm_subbands_forward, const struct bm_subbands *s, void *samples,
     const struct bm_box *box)
{
    PAY(tile_bytes(s, box), rate_of(BM_WORK_FORWARD),
        REAL(bm_subbands_forward)(s, samples, box));
}

SEAM(void, bm_subbands_inverse, const struct bm_subbands *s, void *coefficients,
     const struct bm_box *box, int level)
{
    PAY(ldexp(tile_bytes(s, box), -3 * level), rate_of(BM_WORK_INVERSE),
        REAL(bm_subbands_inverse)(s, coefficients, box, level));
}

SEAM(void, bm_lattice_pack, const struct bm_lattice *l, size_t size,
     const struct bm_strided *part, const void *data, void *dense)
{
    PAY(strided_bytes(part, size), rate_of(BM_WORK_COPY),
        REAL(bm_lattice_pack)(l, size, part, data, dense));
}

SEAM(void, bm_lattice_unpack, const struct bm_lattice *l, size_t size,
     const struct bm_strided *part, void *data, const void *dense)
{
    PAY(strided_bytes(part, size), rate_of(BM_WORK_COPY),
        REAL(bm_lattice_unpack)(l, size, part, data, dense));
}

SEAM(uint32_t, bm_hash_chunk, const struct bm_address *address,
     const void *data, size_t bytes)
{
    uint32_t hash;

    PAY((double)bytes, rate_of(BM_WORK_HASH),
        hash = REAL(bm_hash_chunk)(address, data, bytes));
    return hash;
}
