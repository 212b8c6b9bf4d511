/* exact_bits.h -- bits of codec exact, many at once: see struct bm_exact_writer
 * and bm_exact_reader. */
#ifndef BM_EXACT_BITS_H
#define BM_EXACT_BITS_H

#include "codec/exact.h"

/* At most 63 bits, all others being 0. */
static inline void bm_exact_put_some(struct bm_exact_writer *w, uint64_t value,
                                     int bits)
{
    w->held |= value << w->count;
    w->count += bits;
    bm_store_u64(w->p, w->held);
    w->p += w->count >> 3;
    w->held >>= w->count & ~7;
    w->count &= 7;
}

static inline void bm_exact_put_bits(struct bm_exact_writer *w, uint64_t value,
                                     int bits)
{
    if (bits > 56) {
        bm_exact_put_some(w, value & 0xffffffff, 32);
        value >>= 32;
        bits -= 32;
    }
    bm_exact_put_some(w, value, bits);
}

static inline uint64_t bm_exact_get_some(struct bm_exact_reader *r, int bits)
{
    uint64_t value = bm_load_u64(r->data + r->at / 8) >> (r->at & 7);

    r->at += (uint64_t)bits;
    return value & (((uint64_t)1 << bits) - 1);
}

/* There are 16 bytes more. */
static inline uint64_t bm_exact_get_bits(struct bm_exact_reader *r, int bits)
{
    uint64_t low;

    if (bits <= 56)
        return bm_exact_get_some(r, bits);
    low = bm_exact_get_some(r, 32);
    return low | bm_exact_get_some(r, bits - 32) << 32;
}

static inline uint64_t bm_exact_get_last_bits(struct bm_exact_reader *r,
                                              int bits)
{
    uint8_t last[24] = {0};
    uint64_t byte = r->at / 8, value;
    struct bm_exact_reader end = {last, sizeof(last), r->at & 7};

    for (size_t i = 0; i < 16 && byte + i < r->bytes; i++)
        last[i] = r->data[byte + i];
    value = bm_exact_get_bits(&end, bits);
    r->at += (uint64_t)bits;
    return value;
}

#endif
