/* zfp_blocks.c -- see zfp_blocks.h. zfp trusts what it reads: it is given a
 * copy with more zeros behind it than a block can need, and asked after each
 * block how far it came. */
#include "codec/zfp_blocks.h"

#include <math.h>
#include <string.h>
#include <zfp.h>

#define BLOCK 64 /* samples at most */
#define WORD  8  /* bytes that zfp reads and writes at once, at most */

/* Where a sample of a block comes from if there are only so many along the
 * axis: what compresses well. */
static const uint8_t fill[5][4] = {
    {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 2, 0}, {0, 1, 2, 3}};

/* zfp's tolerances are powers of two. For those between, numbers are made
 * smaller: 2^(-i/8), and 2^(i/8). */
static const double shrink[8] = {1.0,
                                 0.91700404320467123175,
                                 0.84089641525371454303,
                                 0.77110541270397041180,
                                 0.70710678118654752440,
                                 0.64841977732550483296,
                                 0.59460355750136053336,
                                 0.54525386633262882960};
static const double widen[8] = {1.0,
                                1.09050773266525765921,
                                1.18920711500272106672,
                                1.29683955465100966593,
                                1.41421356237309504880,
                                1.54221082540794082361,
                                1.68179283050742908606,
                                1.83400808640934246349};

int bm_zfp_eighths(double tolerance)
{
    int exponent, i = 7;
    double part = 2 * frexp(tolerance, &exponent); /* 1 to 2 */

    while (i > 0 && widen[i] > part)
        i--;
    return (exponent - 1) * 8 + i;
}

/* The part of an array that one block holds. */
struct part {
    int64_t pitch[2]; /* values from plane to plane, from row to row */
    int have[3];      /* samples */
    int edge[3];      /* 4, or 1 along an axis that is not cut */
};

/* A block from an array, and back, all values multiplied. */
#define MOVE(type)                                                             \
    static void gather_##type(void *block, const void *from,                   \
                              const struct part *p, type by)                   \
    {                                                                          \
        const type *in = from;                                                 \
        type *out = block;                                                     \
                                                                               \
        for (int z = 0; z < p->edge[0]; z++)                                   \
            for (int y = 0; y < p->edge[1]; y++) {                             \
                const type *row = in + fill[p->have[0]][z] * p->pitch[0] +     \
                                  fill[p->have[1]][y] * p->pitch[1];           \
                                                                               \
                if (p->have[2] == 4) {                                         \
                    for (int x = 0; x < 4; x++)                                \
                        out[x] = row[x] * by;                                  \
                    out += 4;                                                  \
                    continue;                                                  \
                }                                                              \
                for (int x = 0; x < p->edge[2]; x++)                           \
                    *out++ = row[fill[p->have[2]][x]] * by;                    \
            }                                                                  \
    }                                                                          \
                                                                               \
    static void scatter_##type(void *to, const void *block,                    \
                               const struct part *p, type by)                  \
    {                                                                          \
        const type *in = block;                                                \
        type *out = to;                                                        \
                                                                               \
        for (int z = 0; z < p->have[0]; z++)                                   \
            for (int y = 0; y < p->have[1]; y++) {                             \
                const type *row = in + (z * p->edge[1] + y) * p->edge[2];      \
                type *at = out + z * p->pitch[0] + y * p->pitch[1];            \
                                                                               \
                if (p->have[2] == 4) {                                         \
                    for (int x = 0; x < 4; x++)                                \
                        at[x] = row[x] * by;                                   \
                    continue;                                                  \
                }                                                              \
                for (int x = 0; x < p->have[2]; x++)                           \
                    at[x] = row[x] * by;                                       \
            }                                                                  \
    }
MOVE(float)
MOVE(double)

static void gather(void *block, const void *from, const struct part *p,
                   const struct bm_zfp *z)
{
    double by = shrink[z->eighths & 7];
    int wide = bouma_type_size(z->type) == 8;

    if (wide)
        gather_double(block, from, p, by);
    else
        gather_float(block, from, p, (float)by);
}

static void scatter(void *to, const void *block, const struct part *p,
                    const struct bm_zfp *z)
{
    double by = widen[z->eighths & 7];
    int wide = bouma_type_size(z->type) == 8;

    if (wide)
        scatter_double(to, block, p, by);
    else
        scatter_float(to, block, p, (float)by);
}

/* ---- zfp's functions for one block, by type and number of axes ----------- */

#define FUNCTIONS(name, axes)                                                  \
    static size_t encode_##name##_##axes(zfp_stream *s, const void *block)     \
    {                                                                          \
        return zfp_encode_block_##name##_##axes(s, block);                     \
    }                                                                          \
                                                                               \
    static size_t decode_##name##_##axes(zfp_stream *s, void *block)           \
    {                                                                          \
        return zfp_decode_block_##name##_##axes(s, block);                     \
    }
#define ALL_AXES(name)                                                         \
    FUNCTIONS(name, 1)                                                         \
    FUNCTIONS(name, 2)                                                         \
    FUNCTIONS(name, 3)
ALL_AXES(float)
ALL_AXES(double)

typedef size_t encode_block(zfp_stream *s, const void *block);
typedef size_t decode_block(zfp_stream *s, void *block);

static encode_block *encoder_of(bouma_type type, int axes)
{
    static encode_block *const all[2][3] = {
        {encode_float_1, encode_float_2, encode_float_3},
        {encode_double_1, encode_double_2, encode_double_3}};

    return all[type == BOUMA_TYPE_F64][axes - 1];
}

static decode_block *decoder_of(bouma_type type, int axes)
{
    static decode_block *const all[2][3] = {
        {decode_float_1, decode_float_2, decode_float_3},
        {decode_double_1, decode_double_2, decode_double_3}};

    return all[type == BOUMA_TYPE_F64][axes - 1];
}

/* zfp's string of bits as bytes that are the same on all machines, and back. It
 * comes in words of this machine; how long they are is chosen where zfp is
 * built: 8 bytes, or (Debian) one. */
static void order_bytes(uint8_t *memory, size_t bytes)
{
    size_t word = stream_word_bits / 8;

    bm_swap_to_little(memory, (bytes + word - 1) / word, word);
}

/* ---- going through all blocks ---------------------------------------------
 */

/* How the level is cut. */
struct cut {
    int edge[3], axes;
    size_t block_bits; /* at most */
};

static struct cut cut_of(const struct bm_zfp *z)
{
    struct cut c = {{1, 1, 1}, 0, 0};
    size_t values = 1;

    for (int d = 0; d < 3; d++)
        if (z->n[d] > 1) {
            c.edge[d] = 4;
            c.axes++;
        }
    if (!c.axes) { /* a single sample: a block of four */
        c.edge[2] = 4;
        c.axes = 1;
    }
    for (int d = 0; d < c.axes; d++)
        values *= 4;
    /* Flag, exponent and precision; a test for each value, and its bits. */
    c.block_bits = 24 + values * (1 + 8 * bouma_type_size(z->type));
    return c;
}

static size_t blocks_of(const struct cut *c, const struct bm_band *band)
{
    size_t blocks = 1;

    for (int d = 0; d < 3; d++)
        blocks *= ((size_t)band->count[d] + (size_t)c->edge[d] - 1) /
                  (size_t)c->edge[d];
    return blocks;
}

/* Block number i of a band: which part of it, and where that begins. */
static size_t part_of(struct part *p, const struct cut *c,
                      const struct bm_band *band, const int64_t first[3])
{
    p->pitch[1] = band->count[2];
    p->pitch[0] = band->count[1] * band->count[2];
    for (int d = 0; d < 3; d++) {
        int64_t left = band->count[d] - first[d];

        p->edge[d] = c->edge[d];
        p->have[d] = left < c->edge[d] ? (int)left : c->edge[d];
    }
    return (size_t)(first[0] * p->pitch[0] + first[1] * p->pitch[1] + first[2]);
}

/* The first sample of the next block; 0 if there is none. */
static int next_block(int64_t first[3], const struct cut *c,
                      const struct bm_band *band)
{
    for (int d = 2; d >= 0; d--) {
        first[d] += c->edge[d];
        if (first[d] < band->count[d])
            return 1;
        first[d] = 0;
    }
    return 0;
}

static void prepare(zfp_stream *s, bitstream *bits, const struct bm_zfp *z)
{
    memset(s, 0, sizeof(*s));
    s->stream = bits;
    s->minbits = ZFP_MIN_BITS;
    s->maxbits = ZFP_MAX_BITS;
    s->maxprec = ZFP_MAX_PREC;
    s->minexp = (z->eighths - (z->eighths & 7)) / 8; /* rounded down */
}

static void encode_band(zfp_stream *s, const struct bm_zfp *z,
                        const struct cut *c, const struct bm_band *band)
{
    encode_block *encode = encoder_of(z->type, c->axes);
    size_t size = bouma_type_size(z->type);
    int64_t first[3] = {0, 0, 0};
    uint64_t block[BLOCK];
    struct part p;

    do {
        size_t at = part_of(&p, c, band, first);

        gather(block, (uint8_t *)band->data + at * size, &p, z);
        encode(s, block);
    } while (next_block(first, c, band));
}

int bm_zfp_encode(struct bm_codec_state *state, struct bm_buffer *out,
                  const struct bm_zfp *z, const struct bm_band *bands,
                  int count)
{
    struct cut c = cut_of(z);
    size_t blocks = 0, room, bytes;
    uint8_t mask = 0, *memory;
    bitstream *bits;
    zfp_stream s;

    for (int i = 0; i < count; i++)
        blocks += blocks_of(&c, &bands[i]);
    room = (blocks * c.block_bits / 8 / WORD + 2) * WORD;
    memory = bm_codec_scratch(state, room);
    bits = memory ? stream_open(memory, room) : NULL;
    if (!bits)
        return BOUMA_ENOMEM;
    prepare(&s, bits, z);
    for (int i = 0; i < count; i++) {
        size_t n = blocks_of(&c, &bands[i]);
        uint64_t at = stream_wtell(bits);

        if (!n)
            continue;
        encode_band(&s, z, &c, &bands[i]);
        if (stream_wtell(bits) - at > n) {
            mask |= (uint8_t)(1 << i);
        } else { /* a bit for each block: all zero */
            stream_flush(bits);
            stream_wseek(bits, at);
        }
    }
    bytes = (size_t)((stream_wtell(bits) + 7) / 8);
    stream_flush(bits);
    stream_close(bits);
    order_bytes(memory, bytes);
    bm_put_u8(out, mask);
    bm_put_bytes(out, memory, bytes);
    return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* Whether no more than 'limit' bits were used. */
static int decode_band(zfp_stream *s, const struct bm_zfp *z,
                       const struct cut *c, const struct bm_band *band,
                       uint64_t limit)
{
    decode_block *decode = decoder_of(z->type, c->axes);
    size_t size = bouma_type_size(z->type);
    int64_t first[3] = {0, 0, 0};
    uint64_t block[BLOCK];
    struct part p;

    do {
        size_t at = part_of(&p, c, band, first);

        decode(s, block);
        if (stream_rtell(s->stream) > limit)
            return 0;
        scatter((uint8_t *)band->data + at * size, block, &p, z);
    } while (next_block(first, c, band));
    return 1;
}

int bm_zfp_decode(struct bm_codec_state *state, const struct bm_band *bands,
                  int count, const struct bm_zfp *z, const uint8_t *in,
                  size_t stored)
{
    struct cut c = cut_of(z);
    /* The longest block of all, not just of this kind; and a word to look
     * ahead. */
    size_t room = (stored / WORD + 3) * WORD + (ZFP_MAX_BITS + 7) / 8;
    size_t bytes = stored ? stored - 1 : 0;
    uint8_t mask, *memory;
    bitstream *bits;
    zfp_stream s;
    int ok = 1;

    if (!stored || in[0] >> count)
        return BOUMA_EFORMAT;
    mask = in[0];
    room = (room + WORD - 1) / WORD * WORD;
    memory = bm_codec_scratch(state, room);
    bits = memory ? stream_open(memory, room) : NULL;
    if (!bits)
        return BOUMA_ENOMEM;
    memcpy(memory, in + 1, bytes);
    memset(memory + bytes, 0, room - bytes);
    order_bytes(memory, room);
    prepare(&s, bits, z);
    for (int i = 0; i < count && ok; i++) {
        size_t n = blocks_of(&c, &bands[i]);

        if (mask >> i & 1)
            ok = n && decode_band(&s, z, &c, &bands[i], (uint64_t)bytes * 8);
        else if (n)
            memset(bands[i].data, 0,
                   (size_t)(bands[i].count[0] * bands[i].count[1] *
                            bands[i].count[2]) *
                       bouma_type_size(z->type));
    }
    ok = ok && (stream_rtell(bits) + 7) / 8 == bytes;
    stream_close(bits);
    return ok ? BOUMA_OK : BOUMA_EFORMAT;
}

/* ---- version ------------------------------------------------------------ */

#define TEXT_OF(x)      #x
#define DOTTED(x, y, z) TEXT_OF(x) "." TEXT_OF(y) "." TEXT_OF(z)

const char *bm_zfp_version(void)
{
    return DOTTED(ZFP_VERSION_MAJOR, ZFP_VERSION_MINOR, ZFP_VERSION_PATCH);
}
