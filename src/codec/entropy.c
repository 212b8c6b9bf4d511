/* entropy.c -- see entropy.h. After "Asymmetric numeral systems" (Duda). */
#include "codec/entropy.h"

#include <string.h>

#include "codec/frequencies.h"

/* ---- bits --------------------------------------------------------------- */

void bm_bits_end(struct bm_bit_writer *w)
{
    for (; w->count > 0; w->count -= 8, w->held >>= 8)
        bm_put_u8(w->out, (uint8_t)w->held);
    w->count = 0;
    w->held = 0;
}

struct bm_bit_reader bm_bit_reader_of(const uint8_t *data, size_t bytes)
{
    /* Without bytes there may be no pointer to add to. */
    struct bm_bit_reader r = {data, bytes ? data + bytes : data, 0, 0, 0};

    return r;
}

void bm_bits_refill(struct bm_bit_reader *r, int bits)
{
    while (r->count <= 56 && r->p < r->end) {
        r->held |= (uint64_t)*r->p++ << r->count;
        r->count += 8;
    }
    if (r->count < bits) { /* zeros from here on */
        r->failed = 1;
        r->count = 56;
    }
}

static int floor_log2(uint32_t v)
{
    return 31 - __builtin_clz(v);
}

/* value + 2^k has n bits: n - 1 - k ones, a zero, and all bits but the first.
 */
void bm_golomb_put(struct bm_bit_writer *w, uint32_t value, int k)
{
    uint32_t v = value + ((uint32_t)1 << k);
    int n = floor_log2(v);

    bm_bits_put(w, (uint32_t)(((uint64_t)1 << (n - k)) - 1), n - k + 1);
    bm_bits_put(w, v & (((uint32_t)1 << n) - 1), n);
}

uint32_t bm_golomb_get(struct bm_bit_reader *r, int k)
{
    int n = k;

    while (bm_bits_get(r, 1))
        if (++n > 31) {
            r->failed = 1;
            return 0;
        }
    return ((uint32_t)1 << n) + bm_bits_get(r, n) - ((uint32_t)1 << k);
}

#define RANS_LOW ((uint32_t)1 << 15) /* states are in [LOW, LOW * 2^16) */

/* A state costs 3 bytes more than it holds. */
static unsigned states_for(size_t count)
{
    return count < 2048 ? 1 : 4;
}

/* ---- encoding ----------------------------------------------------------- */

/* x -> (x / f) * TOTAL + x % f + start, the division being a multiplication by
 * a reciprocal that is exact for x < 2^31. */
struct encode_symbol {
    uint32_t limit;      /* a state from here on gives 16 bits away first */
    uint32_t reciprocal; /* with f = 1: 2^32 - 1 */
    uint32_t bias;
    uint16_t complement; /* TOTAL - f */
    uint16_t shift;
};

static void prepare(struct encode_symbol *e, uint32_t start, uint32_t f)
{
    e->limit = f << (31 - BM_RANS_BITS);
    e->complement = (uint16_t)(BM_RANS_TOTAL - f);
    if (f < 2) {
        e->reciprocal = ~(uint32_t)0;
        e->shift = 0;
        e->bias = start + BM_RANS_TOTAL - 1;
        return;
    }
    e->shift = 0;
    while (f > (uint32_t)1 << e->shift)
        e->shift++;
    e->reciprocal = (uint32_t)((((uint64_t)1 << (e->shift + 31)) + f - 1) / f);
    e->bias = start;
    e->shift--;
}

static void prepare_all(struct encode_symbol *codes, const uint32_t *frequency)
{
    uint32_t start = 0;

    for (int s = 0; s < BM_SYMBOLS; s++) {
        if (frequency[s])
            prepare(&codes[s], start, frequency[s]);
        start += frequency[s];
    }
}

static void count_symbols(uint32_t (*counts)[BM_SYMBOLS],
                          const uint8_t *symbols, const uint8_t *context,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        counts[context[i]][symbols[i]]++;
}

/* Code one symbol: the new state. What is given away goes before *p, which has
 * room: without a branch, as nobody can tell when that happens. */
static inline uint32_t push(uint32_t x, const struct encode_symbol *e,
                            uint8_t **p)
{
    uint32_t away = x >= e->limit, q;

    bm_store_u16(*p - 2, (uint16_t)x);
    *p -= 2 * away;
    x >>= 16 * away;
    q = (uint32_t)(((uint64_t)x * e->reciprocal) >> 32) >> e->shift;
    return x + e->bias + q * e->complement;
}

int bm_rans_encode(struct bm_buffer *out, const uint8_t *symbols,
                   const uint8_t *context, size_t count, int contexts)
{
    struct encode_symbol codes[BM_RANS_CONTEXTS][BM_SYMBOLS];
    uint32_t counts[BM_RANS_CONTEXTS][BM_SYMBOLS];
    uint32_t x[4] = {RANS_LOW, RANS_LOW, RANS_LOW, RANS_LOW}, x0, x1, x2, x3;
    struct bm_bit_writer bits = {out, 0, 0};
    unsigned states = states_for(count);
    size_t room = 2 * count, left = count, used;
    struct bm_frequencies f;
    uint8_t *data, *p;

    memset(counts, 0, sizeof(counts));
    count_symbols(counts, symbols, context, count);
    bm_frequencies_put(&f, &bits, counts, contexts);
    bm_bits_end(&bits);
    for (int c = 0; c < contexts; c++)
        prepare_all(codes[c], f.of[f.table[c]]);
    data = bm_buffer_extend(out, 16 + room);
    if (!data)
        return BOUMA_ENOMEM;
    p = data + 16 + room; /* backwards, as the decoder goes forwards */
    for (; left % 4 || (left && states == 1); left--) {
        uint32_t *state = &x[(left - 1) % states];

        *state = push(*state, &codes[context[left - 1]][symbols[left - 1]], &p);
    }
    x0 = x[0];
    x1 = x[1];
    x2 = x[2];
    x3 = x[3];
    for (; left; left -= 4) {
        x3 = push(x3, &codes[context[left - 1]][symbols[left - 1]], &p);
        x2 = push(x2, &codes[context[left - 2]][symbols[left - 2]], &p);
        x1 = push(x1, &codes[context[left - 3]][symbols[left - 3]], &p);
        x0 = push(x0, &codes[context[left - 4]][symbols[left - 4]], &p);
    }
    x[0] = x0;
    x[1] = x1;
    x[2] = x2;
    x[3] = x3;
    for (unsigned i = states; i > 0; i--) {
        p -= 4;
        bm_store_u32(p, x[i - 1]);
    }
    used = (size_t)(data + 16 + room - p);
    memmove(data, p, used);
    out->size -= 16 + room - used;
    return BOUMA_OK;
}

/* ---- decoding ----------------------------------------------------------- */

static void fill_slots(uint8_t *symbols, uint32_t *spans,
                       const uint32_t *frequency)
{
    uint32_t at = 0;

    for (uint32_t s = 0; s < BM_SYMBOLS; s++) {
        memset(symbols + at, (int)s, frequency[s]);
        spans[s] = frequency[s] | at << 16;
        at += frequency[s];
    }
}

int bm_rans_begin(struct bm_rans_decoder *d, const uint8_t *data, size_t bytes,
                  size_t count, int contexts)
{
    struct bm_bit_reader bits = bm_bit_reader_of(data, bytes);
    struct bm_frequencies f;

    if (!bm_frequencies_get(&f, &bits, contexts))
        return BOUMA_EFORMAT;
    memcpy(d->table, f.table, sizeof(d->table));
    for (int t = 0; t < f.tables; t++)
        fill_slots(d->symbols[t], d->spans[t], f.of[t]);
    d->p = bits.p - bits.count / 8; /* whole bytes that were not needed */
    d->end = bits.end;
    d->turn = 0;
    d->states = states_for(count);
    if (bits.failed || d->end - d->p < 4 * (ptrdiff_t)d->states)
        return BOUMA_EFORMAT;
    for (unsigned i = 0; i < 4; i++)
        d->state[i] = RANS_LOW;
    for (unsigned i = 0; i < d->states; i++, d->p += 4)
        d->state[i] = bm_load_u32(d->p);
    return BOUMA_OK;
}

/* The next symbol of a state, which is changed, but not yet filled up. */
static inline uint8_t pop(const struct bm_rans_decoder *d, uint8_t table,
                          uint32_t *x)
{
    uint32_t slot = *x & (uint32_t)(BM_RANS_TOTAL - 1);
    uint8_t symbol = d->symbols[table][slot];
    uint32_t span = d->spans[table][symbol];

    *x = (span & 0xffff) * (*x >> BM_RANS_BITS) + slot - (span >> 16);
    return symbol;
}

/* Fill a state up, without a branch: two bytes are there in any case. */
static inline uint32_t refill(uint32_t x, const uint8_t **p)
{
    uint32_t low = x < RANS_LOW, more = x << 16 | bm_load_u16(*p);

    *p += 2 * low;
    return low ? more : x;
}

void bm_rans_next(struct bm_rans_decoder *d, uint8_t *symbols,
                  const uint8_t *table, size_t count)
{
    uint32_t x0 = d->state[d->turn & 3], x1 = d->state[(d->turn + 1) & 3];
    uint32_t x2 = d->state[(d->turn + 2) & 3], x3 = d->state[(d->turn + 3) & 3];
    const uint8_t *p = d->p;
    size_t i = 0;

    for (; d->states == 4 && i + 4 <= count && d->end - p >= 8; i += 4) {
        symbols[i] = pop(d, table[i], &x0);
        symbols[i + 1] = pop(d, table[i + 1], &x1);
        symbols[i + 2] = pop(d, table[i + 2], &x2);
        symbols[i + 3] = pop(d, table[i + 3], &x3);
        x0 = refill(x0, &p);
        x1 = refill(x1, &p);
        x2 = refill(x2, &p);
        x3 = refill(x3, &p);
    }
    d->state[d->turn & 3] = x0;
    d->state[(d->turn + 1) & 3] = x1;
    d->state[(d->turn + 2) & 3] = x2;
    d->state[(d->turn + 3) & 3] = x3;
    for (; i < count; i++) { /* close to the end of the data, or one state */
        unsigned turn = (unsigned)((d->turn + i) & (d->states - 1));
        uint32_t x = d->state[turn];

        symbols[i] = pop(d, table[i], &x);
        if (x < RANS_LOW && d->end - p >= 2)
            x = refill(x, &p);
        d->state[turn] = x;
    }
    d->turn = (unsigned)((d->turn + count) & (d->states - 1));
    d->p = p;
}

int bm_rans_ended(const struct bm_rans_decoder *d)
{
    return d->p == d->end && d->state[0] == RANS_LOW &&
           d->state[1] == RANS_LOW && d->state[2] == RANS_LOW &&
           d->state[3] == RANS_LOW;
}
