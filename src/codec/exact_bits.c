/* exact_bits.c -- see exact.h: folded differences to symbols and bits beside them,
 * and back. codec_exact.c has the table of symbols.
 *
 * Most f32 have some 20 bits beside a symbol, so two of them go at once. What
 * symbols and numbers of bits are is found before, for many at once. */
#include "codec/exact_bits.h"
#include "codec/clones.h"

#define MANY 256 /* at once */

/* ---- f32 ---------------------------------------------------------------- */

#define DIRECT_F32 16
#define LAST_F32   71

static inline uint32_t bits_of_float(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Symbols, how many bits are beside them, and these. The highest bit h of v is
 * told by a float, for which the bit below is cleared, so that it is not rounded
 * to the next; v >> rest is 2 or 3, unless v is direct. */
BM_CLONES static void split(uint8_t *restrict symbols, uint32_t *restrict rest,
                            uint32_t *restrict low,
                            const uint32_t *restrict folded, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t v = folded[i], half = (v | 8) >> 1, direct = v < DIRECT_F32;
        uint32_t h, r;

        half &= ~(half >> 1);
        h = (bits_of_float((float)(int32_t)half) >> 23) - 126;
        r = direct ? 0 : h - 1;
        symbols[i] = (uint8_t)((direct ? 0 : 2 * h + 6) + (v >> r));
        rest[i] = r;
        low[i] = v & (((uint32_t)1 << r) - 1);
    }
}

void bm_exact_put_f32(uint8_t *symbols, struct bm_exact_writer *bits,
                      const void *folded, int64_t n)
{
    struct bm_exact_writer w = *bits;

    for (int64_t first = 0; first < n; first += MANY) {
        int64_t count = n - first < MANY ? n - first : MANY, i = 0;
        uint32_t rest[MANY], low[MANY];

        split(symbols + first, rest, low, (const uint32_t *)folded + first,
              count);
        for (; i + 2 <= count; i += 2) {
            uint32_t both = rest[i] + rest[i + 1];

            if (both > 56) {
                bm_exact_put_some(&w, low[i], (int)rest[i]);
                bm_exact_put_some(&w, low[i + 1], (int)rest[i + 1]);
            } else {
                bm_exact_put_some(&w, low[i] | (uint64_t)low[i + 1] << rest[i],
                                  (int)both);
            }
        }
        if (i < count)
            bm_exact_put_some(&w, low[i], (int)rest[i]);
    }
    *bits = w;
}

/* What symbols tell, and how many bits are beside them. */
BM_CLONES static void join(uint32_t *restrict folded, uint32_t *restrict rest,
                           const uint8_t *restrict symbols, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t s = symbols[i], direct = s < DIRECT_F32;
        uint32_t r = direct ? 0 : (s >> 1) - 5;
        uint32_t v = direct ? s : 2 + (s & 1);

        r = s > LAST_F32 ? 0 : r; /* BM_ESCAPE, or damage */
        v = s > LAST_F32 ? 0 : v;
        rest[i] = r;
        folded[i] = v << r;
    }
}

void bm_exact_get_f32(void *folded, struct bm_exact_reader *bits,
                      const uint8_t *symbols, int64_t n)
{
    struct bm_exact_reader r = *bits;

    for (int64_t first = 0; first < n; first += MANY) {
        int64_t count = n - first < MANY ? n - first : MANY, i = 0;
        uint32_t *f = (uint32_t *)folded + first, rest[MANY];
        int near_end = r.at / 8 + 4 * (uint64_t)count + 16 > r.bytes;

        join(f, rest, symbols + first, count);
        for (; i + 2 <= count && !near_end; i += 2) {
            uint64_t both = rest[i] + rest[i + 1], low;

            if (both > 56) {
                f[i] |= (uint32_t)bm_exact_get_some(&r, (int)rest[i]);
                f[i + 1] |= (uint32_t)bm_exact_get_some(&r, (int)rest[i + 1]);
                continue;
            }
            low = bm_load_u64(r.data + r.at / 8) >> (r.at & 7);
            f[i] |= (uint32_t)low & (((uint32_t)1 << rest[i]) - 1);
            low >>= rest[i];
            f[i + 1] |= (uint32_t)low & (((uint32_t)1 << rest[i + 1]) - 1);
            r.at += both;
        }
        for (; i < count; i++)
            f[i] |= (uint32_t)bm_exact_get_last_bits(&r, (int)rest[i]);
    }
    *bits = r;
}

/* ---- f64 ---------------------------------------------------------------- */

#define DIRECT_F64 8
#define LAST_F64   68

void bm_exact_put_f64(uint8_t *symbols, struct bm_exact_writer *bits,
                      const void *folded, int64_t n)
{
    const uint64_t *f = folded;
    struct bm_exact_writer w = *bits;

    for (int64_t i = 0; i < n; i++) {
        int h;

        if (f[i] < DIRECT_F64) {
            symbols[i] = (uint8_t)f[i];
            continue;
        }
        h = 63 - __builtin_clzll(f[i]);
        symbols[i] = (uint8_t)(DIRECT_F64 + h - 3);
        bm_exact_put_bits(&w, f[i] & (((uint64_t)1 << h) - 1), h);
    }
    *bits = w;
}

void bm_exact_get_f64(void *folded, struct bm_exact_reader *bits,
                      const uint8_t *symbols, int64_t n)
{
    uint64_t *f = folded;
    struct bm_exact_reader r = *bits;
    int near_end = r.at / 8 + 8 * (uint64_t)n + 16 > r.bytes;

    for (int64_t i = 0; i < n; i++) {
        int h = symbols[i] - DIRECT_F64 + 3;

        if (symbols[i] < DIRECT_F64 || symbols[i] > LAST_F64)
            f[i] = symbols[i] < DIRECT_F64 ? symbols[i] : 0;
        else
            f[i] = (uint64_t)1 << h | (near_end ? bm_exact_get_last_bits(&r, h)
                                                : bm_exact_get_bits(&r, h));
    }
    *bits = r;
}
