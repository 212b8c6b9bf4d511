/* entropy.h -- small integers to few bytes and back.
 *
 * An integer becomes a symbol, of which small ones have one each and large ones
 * share one with others of about their size, told apart by bits that are kept
 * as they are. Symbols are coded by a range coder (rANS, eight states in turn, or
 * fewer if symbols are few) with tables of frequencies (frequencies.h), which
 * contexts share. */
#ifndef BM_ENTROPY_H
#define BM_ENTROPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "bouma.h"

/* ---- bits --------------------------------------------------------------- */

/* The lowest bit of a byte comes first. */
struct bm_bit_writer {
    struct bm_buffer *out;
    uint64_t held;
    int count;
};
/* At most 32 bits, the others of 'value' being 0. */
static inline void bm_bits_put(struct bm_bit_writer *w, uint32_t value,
                               int bits)
{
    w->held |= (uint64_t)value << w->count;
    w->count += bits;
    if (w->count >= 32) {
        bm_put_u32(w->out, (uint32_t)w->held);
        w->held >>= 32;
        w->count -= 32;
    }
}
void bm_bits_end(struct bm_bit_writer *w); /* up to a whole byte */

/* Past the end come zeros, and 'failed' is set. */
struct bm_bit_reader {
    const uint8_t *p, *end;
    uint64_t held;
    int count, failed;
};
struct bm_bit_reader bm_bit_reader_of(const uint8_t *data, size_t bytes);
void bm_bits_refill(struct bm_bit_reader *r, int bits);
static inline uint32_t bm_bits_get(struct bm_bit_reader *r,
                                   int bits) /* <= 32 */
{
    uint32_t value;

    if (r->count < bits)
        bm_bits_refill(r, bits);
    value = (uint32_t)(r->held & (((uint64_t)1 << bits) - 1));
    r->held >>= bits;
    r->count -= bits;
    return value;
}

/* Whether nothing but the zeros that fill the last byte is left. */
static inline int bm_bits_used_up(const struct bm_bit_reader *r)
{
    return r->p == r->end && r->count < 8 && !r->failed;
}

/* A number in few bits if it is small: exponential Golomb code of order k. */
void bm_golomb_put(struct bm_bit_writer *w, uint32_t value, int k);
uint32_t bm_golomb_get(struct bm_bit_reader *r, int k);

/* ---- symbols ------------------------------------------------------------ */

/* Integers are folded (0, 1, -1, 2, -2, ... become 0, 1, 2, 3, 4, ...). Below
 * 32 that is the symbol; above, one for each half octave, and the bits below.
 *
 *     32-47  48-63  64-95  96-127  128-191 ...
 *       32     33     34      35       36  ...
 */
#define BM_DIRECT_SYMBOLS 32
#define BM_ESCAPE         72 /* stands for no integer */
#define BM_SYMBOLS        73
#define BM_FOLDED_LIMIT   ((uint32_t)1 << 25)

static inline uint32_t bm_fold(int32_t v)
{
    return v > 0 ? 2 * (uint32_t)v - 1 : 2 * (0 - (uint32_t)v);
}

static inline int32_t bm_unfold(uint32_t u)
{
    return u & 1 ? (int32_t)((u + 1) >> 1) : -(int32_t)(u >> 1);
}

/* The symbol of a folded integer below the limit; the bits that go with it. */
static inline uint8_t bm_symbol_put(struct bm_bit_writer *w, uint32_t folded)
{
    int e;

    if (folded < BM_DIRECT_SYMBOLS)
        return (uint8_t)folded;
    e = 31 - __builtin_clz(folded);
    bm_bits_put(w, folded & (((uint32_t)1 << (e - 1)) - 1), e - 1);
    return (uint8_t)(BM_DIRECT_SYMBOLS + (e - 5) * 2 +
                     (int)((folded >> (e - 1)) & 1));
}

/* Whether eight symbols have no further bits. */
static inline int bm_symbols_are_direct(const uint8_t *symbols)
{
    uint64_t eight;

    memcpy(&eight, symbols, sizeof(eight));
    return !(eight & UINT64_C(0xe0e0e0e0e0e0e0e0));
}

/* Back; not for BM_ESCAPE. */
static inline uint32_t bm_symbol_get(struct bm_bit_reader *r, uint8_t symbol)
{
    int e;

    if (symbol < BM_DIRECT_SYMBOLS)
        return symbol;
    e = 5 + (symbol - BM_DIRECT_SYMBOLS) / 2;
    return ((uint32_t)(2 + (symbol & 1)) << (e - 1)) | bm_bits_get(r, e - 1);
}

/* ---- the range coder ---------------------------------------------------- */

#define BM_RANS_STATES   8 /* at most */
#define BM_RANS_CONTEXTS 23
#define BM_RANS_TABLES   16

/* How symbols of a context are coded: x -> (x / f) * TOTAL + x % f + start for a
 * frequency f, the division being a multiplication by a reciprocal that is exact
 * for x < 2^31. */
struct bm_rans_code {
    uint32_t limit;      /* a state from here on gives 16 bits away first */
    uint32_t reciprocal; /* with f = 1: 2^32 - 1 */
    uint32_t bias;
    uint16_t complement; /* TOTAL - f */
    uint16_t shift;
};
struct bm_rans_encoder {
    uint32_t counts[BM_RANS_CONTEXTS][BM_SYMBOLS];
    struct bm_rans_code codes[BM_RANS_CONTEXTS][BM_SYMBOLS];
};

/* Count symbols, 'context' saying for each in which one it is; zero the counts
 * at first. Append the tables that fit all of them, in 'contexts' contexts, of
 * which neighbours may share a table. Then append symbols, with so many states
 * (1, 4 or 8): a stream that is decoded by itself. BOUMA_OK or ENOMEM. */
void bm_rans_count(struct bm_rans_encoder *e, const uint8_t *symbols,
                   const uint8_t *context, size_t count);
void bm_rans_put_tables(struct bm_rans_encoder *e, struct bm_buffer *out,
                        int contexts);
int bm_rans_put_stream(struct bm_buffer *out, const struct bm_rans_encoder *e,
                       const uint8_t *symbols, const uint8_t *context,
                       size_t count, unsigned states);

/* Tables and one stream. How many states there are is chosen by 'samples', which
 * the decoder knows. */
int bm_rans_encode(struct bm_buffer *out, const uint8_t *symbols,
                   const uint8_t *context, size_t count, int contexts,
                   size_t samples);

/* About how many bytes that takes without contexts. */
size_t bm_rans_estimate(const uint8_t *symbols, size_t count);

/* Where a decoder is in a stream. */
struct bm_rans_stream {
    uint32_t state[BM_RANS_STATES];
    unsigned states, turn;
    int rarely; /* do symbols need further bytes */
    const uint8_t *p, *end;
};

/* A decoder, which has to be large. */
struct bm_rans_decoder {
    struct bm_rans_stream stream;
    uint8_t table[BM_RANS_CONTEXTS];       /* of each context */
    uint8_t symbols[BM_RANS_TABLES][4096]; /* of each slot */
    uint32_t spans[BM_RANS_TABLES][128];   /* of each symbol: its frequency, and
                                              its first slot << 16 */
};

/* Begin with all bytes that bm_rans_encode() appended for so many samples.
 * EFORMAT if they cannot be such. */
int bm_rans_begin(struct bm_rans_decoder *d, const uint8_t *data, size_t bytes,
                  size_t samples, int contexts);
/* With several streams: the tables, of which the cursor is moved to the end, and
 * then all bytes of a stream of about so many samples. */
int bm_rans_begin_tables(struct bm_rans_decoder *d, struct bm_cursor *in,
                         int contexts);
int bm_rans_begin_stream(struct bm_rans_stream *s, const uint8_t *data,
                         size_t bytes, unsigned states, size_t samples);
/* The next symbols of a stream. 'table' has d->table of their contexts. */
void bm_rans_next_of(const struct bm_rans_decoder *d, struct bm_rans_stream *s,
                     uint8_t *symbols, const uint8_t *table, size_t count);
void bm_rans_next(struct bm_rans_decoder *d, uint8_t *symbols,
                  const uint8_t *table, size_t count);
/* 1 if all bytes were used, to the last. */
int bm_rans_ended_of(const struct bm_rans_stream *s);
int bm_rans_ended(const struct bm_rans_decoder *d);

#endif
