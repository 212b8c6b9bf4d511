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
    if (r->end - r->p >= 8) { /* as many whole bytes as there is room for */
        int bytes = (63 - r->count) / 8;

        r->held |= bm_load_u64(r->p) << r->count;
        r->p += bytes;
        r->count += 8 * bytes;
    }
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
    int ones, n;

    if (r->count <= 32)
        bm_bits_refill(r, 0);
    ones = __builtin_ctzll(~r->held | (uint64_t)1 << 32);
    n = k + ones;
    if (n > 31) {
        r->failed = 1;
        return 0;
    }
    bm_bits_get(r, ones + 1);
    return ((uint32_t)1 << n) + bm_bits_get(r, n) - ((uint32_t)1 << k);
}

#define RANS_LOW ((uint32_t)1 << 15) /* states are in [LOW, LOW * 2^16) */

/* A state costs 3 bytes more than it holds, but several are faster, as they do
 * not wait for each other. */
static unsigned states_for(size_t samples)
{
    return samples < 2048 ? 1 : samples < 65536 ? 4 : BM_RANS_STATES;
}

/* ---- encoding ----------------------------------------------------------- */

static void prepare(struct bm_rans_code *e, uint32_t start, uint32_t f)
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

static void prepare_all(struct bm_rans_code *codes, const uint32_t *frequency)
{
    uint32_t start = 0;

    for (int s = 0; s < BM_SYMBOLS; s++) {
        if (frequency[s])
            prepare(&codes[s], start, frequency[s]);
        start += frequency[s];
    }
}

/* In two parts, as the same symbol may come again and again. */
void bm_rans_count(struct bm_rans_encoder *e, const uint8_t *symbols,
                   const uint8_t *context, size_t count)
{
    uint32_t odd[BM_RANS_CONTEXTS][BM_SYMBOLS] = {{0}};
    size_t i = 0;

    for (; i + 2 <= count; i += 2) {
        e->counts[context[i]][symbols[i]]++;
        odd[context[i + 1]][symbols[i + 1]]++;
    }
    if (i < count)
        e->counts[context[i]][symbols[i]]++;
    for (int c = 0; c < BM_RANS_CONTEXTS; c++)
        for (int s = 0; s < BM_SYMBOLS; s++)
            e->counts[c][s] += odd[c][s];
}

size_t bm_rans_estimate(const uint8_t *symbols, size_t count)
{
    uint32_t counts[4][256] = {{0}};
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            counts[k][symbols[i + (size_t)k]]++;
    for (; i < count; i++)
        counts[0][symbols[i]]++;
    for (int s = 0; s < BM_SYMBOLS; s++)
        counts[0][s] += counts[1][s] + counts[2][s] + counts[3][s];
    return (size_t)(bm_frequencies_cost(counts[0]) / 8);
}

/* The encoder stores 16 bits at each symbol, so it is told that this is a word.
 */
static inline void store_word(uint8_t *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint16_t word = (uint16_t)v;

    memcpy(p, &word, sizeof(word));
#else
    bm_store_u16(p, (uint16_t)v);
#endif
}

/* Code one symbol: the new state. What is given away goes before *p, which has
 * room: without a branch, as nobody can tell when that happens. */
static inline uint32_t push(uint32_t x, const struct bm_rans_code *e,
                            uint8_t **p)
{
    uint32_t away = x >= e->limit, q;

    store_word(*p - 2, x);
    *p -= 2 * away;
    x >>= 16 * away;
    q = (uint32_t)(((uint64_t)x * e->reciprocal) >> 32) >> e->shift;
    return x + e->bias + q * e->complement;
}

/* The symbols up to number 'count' that fill whole turns, the last one first. */
static inline uint8_t *push_turns(const struct bm_rans_encoder *e,
                                  uint32_t *state, const unsigned states,
                                  uint8_t *p, const uint8_t *symbols,
                                  const uint8_t *context, size_t count)
{
    uint32_t x[BM_RANS_STATES];

    memcpy(x, state, states * sizeof(*x));
    for (; count; count -= states)
        for (unsigned k = 1; k <= states; k++) {
            size_t i = count - k;

            x[states - k] =
                push(x[states - k], &e->codes[context[i]][symbols[i]], &p);
        }
    memcpy(state, x, states * sizeof(*x));
    return p;
}

void bm_rans_put_tables(struct bm_rans_encoder *e, struct bm_buffer *out,
                        int contexts)
{
    struct bm_bit_writer bits = {out, 0, 0};
    struct bm_frequencies f;

    bm_frequencies_put(&f, &bits, e->counts, contexts);
    bm_bits_end(&bits);
    for (int c = 0; c < contexts; c++)
        prepare_all(e->codes[c], f.of[f.table[c]]);
}

int bm_rans_put_stream(struct bm_buffer *out, const struct bm_rans_encoder *e,
                       const uint8_t *symbols, const uint8_t *context,
                       size_t count, unsigned states)
{
    size_t room = 4 * BM_RANS_STATES + 2 * count, left = count, used;
    uint32_t x[BM_RANS_STATES];
    uint8_t *data = bm_buffer_extend(out, room), *p;

    if (!data)
        return BOUMA_ENOMEM;
    p = data + room; /* backwards, as the decoder goes forwards */
    for (unsigned i = 0; i < states; i++)
        x[i] = RANS_LOW;
    for (; left % states; left--) {
        uint32_t *state = &x[(left - 1) % states];

        *state =
            push(*state, &e->codes[context[left - 1]][symbols[left - 1]], &p);
    }
    if (states == BM_RANS_STATES)
        p = push_turns(e, x, BM_RANS_STATES, p, symbols, context, left);
    else if (states == 4)
        p = push_turns(e, x, 4, p, symbols, context, left);
    else
        p = push_turns(e, x, 1, p, symbols, context, left);
    for (unsigned i = states; i > 0; i--) {
        p -= 4;
        bm_store_u32(p, x[i - 1]);
    }
    used = (size_t)(data + room - p);
    memmove(data, p, used);
    out->size -= room - used;
    return BOUMA_OK;
}

int bm_rans_encode(struct bm_buffer *out, const uint8_t *symbols,
                   const uint8_t *context, size_t count, int contexts,
                   size_t samples)
{
    struct bm_rans_encoder e;

    memset(e.counts, 0, sizeof(e.counts));
    bm_rans_count(&e, symbols, context, count);
    bm_rans_put_tables(&e, out, contexts);
    return bm_rans_put_stream(out, &e, symbols, context, count,
                              states_for(samples));
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

int bm_rans_begin_tables(struct bm_rans_decoder *d, struct bm_cursor *in,
                         int contexts)
{
    struct bm_bit_reader bits = bm_bit_reader_of(in->p, bm_cursor_left(in));
    struct bm_frequencies f;

    if (!bm_frequencies_get(&f, &bits, contexts) || bits.failed)
        return BOUMA_EFORMAT;
    memcpy(d->table, f.table, sizeof(d->table));
    for (int t = 0; t < f.tables; t++)
        fill_slots(d->symbols[t], d->spans[t], f.of[t]);
    in->p = bits.p - bits.count / 8; /* whole bytes that were not needed */
    return BOUMA_OK;
}

int bm_rans_begin_stream(struct bm_rans_stream *s, const uint8_t *data,
                         size_t bytes, unsigned states, size_t samples)
{
    if (bytes < 4 * states)
        return BOUMA_EFORMAT;
    *s = (struct bm_rans_stream){.states = states,
                                 .rarely = bytes < samples / 16,
                                 .p = data + 4 * states,
                                 .end = data + bytes};
    for (unsigned i = 0; i < BM_RANS_STATES; i++)
        s->state[i] = i < states ? bm_load_u32(data + 4 * i) : RANS_LOW;
    return BOUMA_OK;
}

int bm_rans_begin(struct bm_rans_decoder *d, const uint8_t *data, size_t bytes,
                  size_t samples, int contexts)
{
    struct bm_cursor in = bm_cursor_of(data, bytes);
    int rc = bm_rans_begin_tables(d, &in, contexts);

    return rc ? rc
              : bm_rans_begin_stream(&d->stream, in.p, bm_cursor_left(&in),
                                     states_for(samples), samples);
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

/* Fill a state up. Two bytes are there in any case; without a branch, unless it
 * is rarely taken. */
static inline uint32_t refill(uint32_t x, const uint8_t **p, const int rarely)
{
    uint32_t low = x < RANS_LOW, word = bm_load_u16(*p);

    if (rarely && __builtin_expect(!low, 1))
        return x;
    *p += 2 * low;
    return x << 16 * low | (word & (0 - low));
}

/* Whole turns, as long as there are bytes for all states. Returns how many
 * symbols that are. */
static inline size_t pop_turns(const struct bm_rans_decoder *d,
                               struct bm_rans_stream *s, const unsigned states,
                               const int rarely, uint8_t *restrict symbols,
                               const uint8_t *restrict table, size_t count)
{
    const uint8_t *p = s->p, *end = s->end - 2 * (ptrdiff_t)states;
    uint32_t x[BM_RANS_STATES];
    size_t i = 0;

    if (s->end - s->p < 2 * (ptrdiff_t)states)
        return 0;
    for (unsigned k = 0; k < states; k++)
        x[k] = s->state[(s->turn + k) & (states - 1)];
    for (; i + states <= count && p <= end; i += states) {
        for (unsigned k = 0; k < states; k++)
            symbols[i + k] = pop(d, table[i + k], &x[k]);
        for (unsigned k = 0; k < states; k++)
            x[k] = refill(x[k], &p, rarely);
    }
    for (unsigned k = 0; k < states; k++)
        s->state[(s->turn + k) & (states - 1)] = x[k];
    s->p = p;
    return i;
}

/* All symbols of a stream with one state. */
static void pop_each(const struct bm_rans_decoder *d, struct bm_rans_stream *s,
                     uint8_t *restrict symbols, const uint8_t *restrict table,
                     size_t count)
{
    uint32_t x = s->state[0];

    for (size_t i = 0; i < count; i++) {
        symbols[i] = pop(d, table[i], &x);
        if (x < RANS_LOW && s->end - s->p >= 2)
            x = refill(x, &s->p, 1);
    }
    s->state[0] = x;
}

void bm_rans_next_of(const struct bm_rans_decoder *d, struct bm_rans_stream *s,
                     uint8_t *symbols, const uint8_t *table, size_t count)
{
    size_t i = 0;

    if (s->states == 1) {
        pop_each(d, s, symbols, table, count);
        return;
    }
    if (s->states == BM_RANS_STATES && s->rarely)
        i = pop_turns(d, s, BM_RANS_STATES, 1, symbols, table, count);
    else if (s->states == BM_RANS_STATES)
        i = pop_turns(d, s, BM_RANS_STATES, 0, symbols, table, count);
    else if (s->states == 4)
        i = pop_turns(d, s, 4, 0, symbols, table, count);
    for (; i < count; i++) { /* close to the end of the data */
        unsigned turn = (unsigned)((s->turn + i) & (s->states - 1));
        uint32_t x = s->state[turn];

        symbols[i] = pop(d, table[i], &x);
        if (x < RANS_LOW && s->end - s->p >= 2)
            x = refill(x, &s->p, 1);
        s->state[turn] = x;
    }
    s->turn = (unsigned)((s->turn + count) & (s->states - 1));
}

void bm_rans_next(struct bm_rans_decoder *d, uint8_t *symbols,
                  const uint8_t *table, size_t count)
{
    bm_rans_next_of(d, &d->stream, symbols, table, count);
}

int bm_rans_ended_of(const struct bm_rans_stream *s)
{
    int ended = s->p == s->end;

    for (unsigned i = 0; i < BM_RANS_STATES; i++)
        ended &= s->state[i] == RANS_LOW;
    return ended;
}

int bm_rans_ended(const struct bm_rans_decoder *d)
{
    return bm_rans_ended_of(&d->stream);
}
