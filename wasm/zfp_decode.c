/* zfp_decode.c -- blocks of zfp from bits, as docs/format.md has them (section
 * 5, zfp blocks). The words are those of that page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zfp.h>

const size_t stream_word_bits = 8;

/* ---- bits, from the lowest of each byte on ------------------------------- */

struct bitstream {
    const uint8_t *data;
    uint64_t at;
};

bitstream *stream_open(void *buffer, size_t bytes)
{
    bitstream *s = malloc(sizeof(*s));

    (void)bytes;
    if (s)
        *s = (bitstream){buffer, 0};
    return s;
}

void stream_close(bitstream *s)
{
    free(s);
}

bitstream_offset stream_rtell(const bitstream *s)
{
    return s->at;
}

/* The next bits, at least 57 of them. */
static inline uint64_t peek(const bitstream *s)
{
    uint64_t word;

    memcpy(&word, s->data + s->at / 8, 8);
    return word >> (s->at & 7);
}

static inline uint64_t low_bits(uint64_t word, unsigned n)
{
    return n < 64 ? word & ((UINT64_C(1) << n) - 1) : word;
}

/* A number of up to 64 bits, the lowest first. */
static inline uint64_t take(bitstream *s, unsigned n)
{
    uint64_t number = peek(s);

    if (n > 57) {
        s->at += 32;
        number = low_bits(number, 32) | peek(s) << 32;
        s->at += n - 32;
    } else {
        s->at += n;
    }
    return low_bits(number, n);
}

/* How many bits 0 come before the next bit 1, which is taken too; if there are
 * 'most' of them, nothing is looked at behind. */
static inline unsigned take_zeros(bitstream *s, unsigned most)
{
    unsigned n = 0;

    while (n < most) {
        uint64_t word = low_bits(peek(s), 56);
        unsigned zeros = word ? (unsigned)__builtin_ctzll(word) : 56;

        if (n + zeros >= most) {
            s->at += most - n;
            return most;
        }
        n += zeros;
        s->at += zeros;
        if (word) {
            s->at++;
            return n;
        }
    }
    return most;
}

/* The next plane of 'size' numbers, of which the first *n have had a bit. */
static uint64_t take_plane(bitstream *s, unsigned size, unsigned *n)
{
    uint64_t plane = take(s, *n);

    while (*n < size && take(s, 1)) {
        *n += take_zeros(s, size - 1 - *n);
        plane |= UINT64_C(1) << *n;
        ++*n;
    }
    return plane;
}

/* Where each number belongs in a block, by the number of axes. */
static const uint8_t order_1[4] = {0, 1, 2, 3};
static const uint8_t order_2[16] = {0, 1,  4,  5, 2,  8,  6,  9,
                                    3, 12, 10, 7, 13, 11, 14, 15};
static const uint8_t order_3[64] = {
    0,  1,  4,  16, 20, 17, 5,  2,  8,  32, 21, 6,  18, 24, 9,  33,
    36, 3,  12, 48, 22, 25, 37, 40, 34, 10, 7,  19, 28, 13, 49, 52,
    41, 38, 26, 23, 29, 53, 11, 35, 44, 14, 50, 56, 42, 27, 39, 45,
    30, 54, 57, 60, 51, 15, 43, 46, 58, 61, 55, 31, 62, 59, 47, 63};
static const uint8_t *const orders[3] = {order_1, order_2, order_3};

/* ---- integers, of 32 and 64 bits ----------------------------------------- */

/* Arithmetic is modulo 2^width: it is done without signs. */
#define INTEGERS(width)                                                        \
    static void integers_##width(bitstream *s, int axes, unsigned planes,      \
                                 uint##width##_t *block)                       \
    {                                                                          \
        const uint##width##_t mask = (uint##width##_t)0xaaaaaaaaaaaaaaaa;      \
        unsigned size = 1u << 2 * axes, n = 0;                                 \
        uint##width##_t u[64] = {0};                                           \
                                                                               \
        for (unsigned p = 0; p < planes; p++) {                                \
            uint##width##_t bit = (uint##width##_t)1 << (width - 1 - p);       \
                                                                               \
            for (uint64_t x = take_plane(s, size, &n); x; x &= x - 1)          \
                u[__builtin_ctzll(x)] |= bit;                                  \
        }                                                                      \
        for (unsigned i = 0; i < size; i++)                                    \
            block[orders[axes - 1][i]] = (u[i] ^ mask) - mask;                 \
    }                                                                          \
                                                                               \
    static inline uint##width##_t half_##width(uint##width##_t x)              \
    {                                                                          \
        return (uint##width##_t)((int##width##_t)x >> 1);                      \
    }                                                                          \
                                                                               \
    static inline void lift_##width(uint##width##_t *b, int step)              \
    {                                                                          \
        uint##width##_t x = b[0], y = b[step], z = b[2 * step],                \
                        w = b[3 * step];                                       \
                                                                               \
        y += half_##width(w), w -= half_##width(y);                            \
        y += w, w = 2 * w - y;                                                 \
        z += x, x = 2 * x - z;                                                 \
        y += z, z = 2 * z - y;                                                 \
        w += x, x = 2 * x - w;                                                 \
        b[0] = x, b[step] = y, b[2 * step] = z, b[3 * step] = w;               \
    }                                                                          \
                                                                               \
    static inline void sum_##width(uint##width##_t *b, int step)               \
    {                                                                          \
        uint##width##_t x = b[0], y = b[step], z = b[2 * step],                \
                        w = b[3 * step];                                       \
                                                                               \
        w += z, z += y, w += z, y += x, z += y, w += z;                        \
        b[step] = y, b[2 * step] = z, b[3 * step] = w;                         \
    }                                                                          \
                                                                               \
    /* Each line of four, along one axis after the other. */                   \
    static void lines_##width(uint##width##_t *block, int axes, int exact)     \
    {                                                                          \
        int size = 1 << 2 * axes;                                              \
                                                                               \
        for (int step = size / 4; step; step /= 4)                             \
            for (int i = 0; i < size; i++) {                                   \
                if (i / step % 4)                                              \
                    continue;                                                  \
                if (exact)                                                     \
                    sum_##width(block + i, step);                              \
                else                                                           \
                    lift_##width(block + i, step);                             \
            }                                                                  \
    }                                                                          \
                                                                               \
    static void lossless_##width(bitstream *s, int axes,                       \
                                 uint##width##_t *block)                       \
    {                                                                          \
        unsigned planes = (unsigned)take(s, width == 32 ? 5 : 6) + 1;          \
                                                                               \
        integers_##width(s, axes, planes, block);                              \
        lines_##width(block, axes, 1);                                         \
    }
INTEGERS(32)
INTEGERS(64)

/* ---- floating-point numbers ---------------------------------------------- */

#define REALS(type, width, exponent_bits)                                      \
    static void scale_##type(type *to, const uint##width##_t *from, int axes,  \
                             int exponent)                                     \
    {                                                                          \
        const type unit = (type)ldexp(1.0, exponent - width + 2);              \
                                                                               \
        for (int i = 0; i < 1 << 2 * axes; i++)                                \
            to[i] = unit * (type)(int##width##_t)from[i];                      \
    }                                                                          \
                                                                               \
    static void bits_##type(type *to, uint##width##_t *from, int axes)         \
    {                                                                          \
        const uint##width##_t most = ~(uint##width##_t)0 >> 1;                 \
                                                                               \
        for (int i = 0; i < 1 << 2 * axes; i++)                                \
            if (from[i] > most)                                                \
                from[i] ^= most;                                               \
        memcpy(to, from, ((size_t)1 << 2 * axes) * sizeof(*to));               \
    }                                                                          \
                                                                               \
    static int exponent_##type(bitstream *s)                                   \
    {                                                                          \
        return (int)take(s, exponent_bits) - ((1 << (exponent_bits - 1)) - 1); \
    }                                                                          \
                                                                               \
    static void decode_##type(zfp_stream *z, int axes, type *to)               \
    {                                                                          \
        uint##width##_t block[64];                                             \
        bitstream *s = z->stream;                                              \
        int exponent, planes;                                                  \
                                                                               \
        if (!take(s, 1)) {                                                     \
            memset(to, 0, ((size_t)1 << 2 * axes) * sizeof(*to));              \
        } else if (z->minexp >= ZFP_MIN_EXP) {                                 \
            exponent = exponent_##type(s);                                     \
            planes = exponent - z->minexp + 2 * (axes + 1);                    \
            planes = planes < 0 ? 0 : planes > width ? width : planes;         \
            integers_##width(s, axes, (unsigned)planes, block);                \
            lines_##width(block, axes, 0);                                     \
            scale_##type(to, block, axes, exponent);                           \
        } else if (take(s, 1)) {                                               \
            lossless_##width(s, axes, block);                                  \
            bits_##type(to, block, axes);                                      \
        } else {                                                               \
            exponent = exponent_##type(s);                                     \
            lossless_##width(s, axes, block);                                  \
            if (exponent == -((1 << (exponent_bits - 1)) - 1))                 \
                memset(block, 0, sizeof(block));                               \
            scale_##type(to, block, axes, exponent);                           \
        }                                                                      \
    }
REALS(float, 32, 8)
REALS(double, 64, 11)

static void decode_int32_t(zfp_stream *z, int axes, int32_t *to)
{
    lossless_32(z->stream, axes, (uint32_t *)to);
}

static void decode_int64_t(zfp_stream *z, int axes, int64_t *to)
{
    lossless_64(z->stream, axes, (uint64_t *)to);
}

/* ---- by their names ------------------------------------------------------ */

#define DECODE(name, type, axes)                                               \
    size_t zfp_decode_block_##name##_##axes(zfp_stream *z, type *block)        \
    {                                                                          \
        uint64_t before = z->stream->at;                                       \
                                                                               \
        decode_##type(z, axes, block);                                         \
        return (size_t)(z->stream->at - before);                               \
    }
#define DECODE_ALL(name, type)                                                 \
    DECODE(name, type, 1) DECODE(name, type, 2) DECODE(name, type, 3)
DECODE_ALL(int32, int32_t)
DECODE_ALL(int64, int64_t)
DECODE_ALL(float, float)
DECODE_ALL(double, double)
