/* entropy.h -- small integers to few bytes and back.
 *
 * An integer becomes a symbol, of which small ones have one each and large ones
 * share one with others of about their size, told apart by bits that are kept
 * as they are. Symbols are coded by a range coder (rANS, four states in turn)
 * with one table of frequencies for each context. */
#ifndef BM_ENTROPY_H
#define BM_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "bouma.h"

/* ---- bits --------------------------------------------------------------- */

/* The lowest bit of a byte comes first. */
struct bm_bit_writer {
    struct bm_buffer *out;
    uint64_t held;
    int count;
};
void bm_bits_put(struct bm_bit_writer *w, uint32_t value, int bits); /* <= 32 */
void bm_bits_end(struct bm_bit_writer *w); /* up to a whole byte */

/* Past the end come zeros, and 'failed' is set. */
struct bm_bit_reader {
    const uint8_t *p, *end;
    uint64_t held;
    int count, failed;
};
struct bm_bit_reader bm_bit_reader_of(const uint8_t *data, size_t bytes);
uint32_t bm_bits_get(struct bm_bit_reader *r, int bits); /* <= 32 */

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
uint8_t bm_symbol_put(struct bm_bit_writer *w, uint32_t folded);
/* Back; not for BM_ESCAPE. */
uint32_t bm_symbol_get(struct bm_bit_reader *r, uint8_t symbol);

/* ---- the range coder ---------------------------------------------------- */

#define BM_RANS_TABLES 16

/* Append the tables that fit these symbols, 'table' saying for each which one
 * it belongs to (below 'tables'), and then the symbols. BOUMA_OK or ENOMEM. */
int bm_rans_encode(struct bm_buffer *out, const uint8_t *symbols,
                   const uint8_t *table, size_t count, int tables);

/* A decoder, which has to be large. */
struct bm_rans_decoder {
    uint32_t state[4];
    unsigned turn;
    const uint8_t *p, *end;
    int tables;
    uint32_t slots[BM_RANS_TABLES][4096];
};

/* Begin with all bytes that the encoder appended. EFORMAT if they cannot be
 * such. */
int bm_rans_begin(struct bm_rans_decoder *d, const uint8_t *data, size_t bytes,
                  int tables);
/* The next symbols. 'table' has only values below 'tables'. */
void bm_rans_next(struct bm_rans_decoder *d, uint8_t *symbols,
                  const uint8_t *table, size_t count);
/* 1 if all bytes were used, to the last. */
int bm_rans_ended(const struct bm_rans_decoder *d);

#endif
