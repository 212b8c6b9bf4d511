/* frequencies.c -- see frequencies.h. All arithmetic is in integers, so that all
 * encoders give the same bytes. */
#include "codec/frequencies.h"

#include <string.h>

/* ---- a table ------------------------------------------------------------ */

/* Counts are kept to a few significant bits: their number of bits relative to
 * that of the symbol before, and up to three bits below the highest. Symbols
 * that stand for v and -v may have one count for both. */
struct form {
    int paired, kept;
};

#define FORMS 8
static struct form form_of(int number)
{
    return (struct form){number >> 2, number & 3};
}

static int length_of(uint32_t count)
{
    return count ? 32 - __builtin_clz(count) : 0;
}

/* How many symbols from s on have one count. */
static int unit_of(struct form f, int s)
{
    return f.paired && s % 2 && s + 1 < BM_DIRECT_SYMBOLS ? 2 : 1;
}

static uint32_t rounded(uint32_t count, int kept)
{
    int drop = length_of(count) - 1 - kept;

    if (drop <= 0)
        return count;
    count += (uint32_t)1 << (drop - 1);
    drop = length_of(count) - 1 - kept;
    return count >> drop << drop;
}

/* Make counts those that can be stored in a form. */
static void round_counts(uint32_t *out, const uint32_t *counts, struct form f)
{
    for (int s = 0, n; s < BM_SYMBOLS; s += n) {
        uint32_t count = counts[s];

        n = unit_of(f, s);
        if (n == 2)
            count = (count + counts[s + 1] + 1) / 2;
        for (int i = 0; i < n; i++)
            out[s + i] = rounded(count, f.kept);
    }
}

static int golomb_bits(uint32_t value)
{
    return 2 * length_of(value + 1) - 1;
}

static int symbols_of(const uint32_t *counts)
{
    int symbols = BM_SYMBOLS;

    while (symbols && !counts[symbols - 1])
        symbols--;
    return symbols;
}

/* Bits that put_table() takes for counts of this form. */
static int table_bits(const uint32_t *counts, struct form f)
{
    int symbols = symbols_of(counts), before = 0, bits = 7 + 3;

    for (int s = 0; s < symbols; s += unit_of(f, s)) {
        int length = length_of(counts[s]);

        bits += golomb_bits(bm_fold(length - before));
        if (length > 1)
            bits += length - 1 < f.kept ? length - 1 : f.kept;
        before = length;
    }
    return bits;
}

static void put_table(struct bm_bit_writer *w, const uint32_t *counts, int form)
{
    struct form f = form_of(form);
    int symbols = symbols_of(counts), before = 0;

    bm_bits_put(w, (uint32_t)symbols, 7);
    bm_bits_put(w, (uint32_t)form, 3); /* kept, then paired */
    for (int s = 0; s < symbols; s += unit_of(f, s)) {
        int length = length_of(counts[s]);
        int kept = length - 1 < f.kept ? length - 1 : f.kept;

        bm_golomb_put(w, bm_fold(length - before), 0);
        if (kept > 0)
            bm_bits_put(w,
                        (counts[s] >> (length - 1 - kept)) & ((1u << kept) - 1),
                        kept);
        before = length;
    }
}

/* 0 if there is no such table. */
static int get_table(struct bm_bit_reader *r, uint32_t *counts)
{
    int symbols = (int)bm_bits_get(r, 7), before = 0;
    struct form f = form_of((int)bm_bits_get(r, 3));

    memset(counts, 0, sizeof(*counts) * BM_SYMBOLS);
    if (symbols > BM_SYMBOLS)
        return 0;
    for (int s = 0, n; s < symbols; s += n) {
        uint32_t folded = bm_golomb_get(r, 0);
        int length, kept;

        n = unit_of(f, s);
        if (folded > 64)
            return 0;
        length = before + bm_unfold(folded);
        if (length < 0 || length > 31)
            return 0;
        kept = length - 1 < f.kept ? length - 1 : f.kept;
        for (int i = 0; i < n && length; i++)
            counts[s + i] = i ? counts[s]
                              : ((1u << kept) | bm_bits_get(r, kept))
                                    << (length - 1 - kept);
        before = length;
    }
    return !r->failed;
}

/* Scale rounded counts to sum up to TOTAL, none of them to 0. Returns 0 if there
 * are none. */
static int scale(uint32_t *frequency, const uint32_t *counts)
{
    uint64_t sum = 0;
    int64_t left = BM_RANS_TOTAL;
    int most = 0;

    for (int s = 0; s < BM_SYMBOLS; s++) {
        sum += counts[s];
        if (counts[s] > counts[most])
            most = s;
    }
    if (!sum)
        return 0;
    for (int s = 0; s < BM_SYMBOLS; s++) {
        uint64_t f = (uint64_t)counts[s] * BM_RANS_TOTAL / sum;

        frequency[s] = counts[s] && !f ? 1 : (uint32_t)f;
        left -= frequency[s];
    }
    /* What is missing or too much is the most frequent one's. It has enough: if
     * r symbols were raised to 1, they have less than r / TOTAL of the sum, and
     * the largest of the others at least (TOTAL - r) / (SYMBOLS - r) > r + 1.
     */
    frequency[most] = (uint32_t)((int64_t)frequency[most] + left);
    return 1;
}

/* ---- what is short ------------------------------------------------------ */

/* log2(v) * 2^16, less than 2^-13 of a bit off: within an octave, m + m (1 - m)
 * times a polynomial. */
static uint64_t log2_of(uint32_t v)
{
    int e = 31 - __builtin_clz(v);
    int64_t m = ((int64_t)v << (31 - e) & 0x7fffffff) >> 15;
    int64_t q = 9635 - (2900 * m >> 16);

    q = 28956 + ((q * m >> 16) - 17468) * m / 65536;
    return ((uint64_t)e << 16) +
           (uint64_t)(m + ((m * (65536 - m) >> 16) * q >> 16));
}

/* Bits, times 2^16, that symbols take with these frequencies. */
static uint64_t symbol_bits(const uint32_t *counts, const uint32_t *frequency)
{
    uint64_t bits = 0;

    for (int s = 0; s < BM_SYMBOLS; s++)
        if (counts[s])
            bits += counts[s] *
                    (((uint64_t)BM_RANS_BITS << 16) - log2_of(frequency[s]));
    return bits;
}

/* The form that makes a table and its symbols shortest, and its frequencies. */
static int choose_form(uint32_t *stored, uint32_t *frequency,
                       const uint32_t *counts)
{
    uint64_t least = UINT64_MAX;
    int best = 0;

    /* In pairs; and not in pairs, with as many bits as are best in pairs. */
    for (int i = FORMS - 1; i >= 0; i = i == FORMS / 2  ? best - FORMS / 2
                                        : i > FORMS / 2 ? i - 1
                                                        : -1) {
        uint64_t bits;

        round_counts(stored, counts, form_of(i));
        scale(frequency, stored);
        bits = symbol_bits(counts, frequency) +
               ((uint64_t)table_bits(stored, form_of(i)) << 16);
        if (bits < least) {
            least = bits;
            best = i;
        }
    }
    round_counts(stored, counts, form_of(best));
    scale(frequency, stored);
    return best;
}

/* About how many bits, times 2^16, a table of these counts takes with its
 * symbols. */
static uint64_t cost_of(const uint32_t *counts)
{
    struct form f = form_of(6); /* in pairs, three significant bits */
    uint64_t bits = 0, sum = 0;
    int symbols = symbols_of(counts), before = 0;

    for (int s = 0, n; s < symbols; s += n) {
        uint32_t count = 0;
        int length;

        n = unit_of(f, s);
        for (int i = 0; i < n; i++) {
            if (counts[s + i])
                bits -= counts[s + i] * log2_of(counts[s + i]);
            count += counts[s + i];
        }
        sum += count;
        length = length_of(count / (uint32_t)n);
        bits += (uint64_t)(golomb_bits(bm_fold(length - before)) + 2) << 16;
        before = length;
    }
    return bits + (sum ? sum * log2_of((uint32_t)sum) : 0) + (10 << 16);
}

static void add_counts(uint32_t *out, const uint32_t *a, const uint32_t *b)
{
    for (int s = 0; s < BM_SYMBOLS; s++)
        out[s] = a[s] + b[s];
}

/* Contexts that still have a table of their own, in order. */
struct sharing {
    uint32_t (*counts)[BM_SYMBOLS]; /* of each context, and those that joined */
    int first[BM_RANS_CONTEXTS], count;
    uint64_t cost[BM_RANS_CONTEXTS]; /* of each that is left */
    uint64_t both[BM_RANS_CONTEXTS]; /* with the next one */
};

/* As little as logarithms are off counts for nothing. */
static uint64_t cost_of_both(const struct sharing *s, int i)
{
    uint32_t sum[BM_SYMBOLS];
    uint64_t all = 0, cost;

    add_counts(sum, s->counts[s->first[i]], s->counts[s->first[i + 1]]);
    for (int k = 0; k < BM_SYMBOLS; k++)
        all += sum[k];
    cost = cost_of(sum);
    return cost > 8 * all ? cost - 8 * all : 0;
}

/* The next one joins table i. */
static void join(struct sharing *s, int i)
{
    uint32_t *counts = s->counts[s->first[i]];

    add_counts(counts, counts, s->counts[s->first[i + 1]]);
    s->cost[i] = cost_of(counts);
    s->count--;
    for (int k = i + 1; k < s->count; k++) {
        s->first[k] = s->first[k + 1];
        s->cost[k] = s->cost[k + 1];
        s->both[k] = s->both[k + 1];
    }
    if (i + 1 < s->count)
        s->both[i] = cost_of_both(s, i);
    if (i)
        s->both[i - 1] = cost_of_both(s, i - 1);
}

static int symbols_in(uint32_t (*counts)[BM_SYMBOLS], int contexts)
{
    int any = 0;

    for (int c = 0; c < contexts; c++)
        any |= symbols_of(counts[c]);
    return any;
}

/* Join neighbours as long as that makes the whole shorter. */
static void share(struct sharing *s, int contexts)
{
    s->count = 0;
    if (!symbols_in(s->counts, contexts))
        s->counts[0][0] = 1; /* there is always a table */
    for (int c = 0; c < contexts; c++)
        if (symbols_of(s->counts[c]))
            s->first[s->count++] = c;
    for (int i = 0; i < s->count; i++) {
        s->cost[i] = cost_of(s->counts[s->first[i]]);
        if (i + 1 < s->count)
            s->both[i] = cost_of_both(s, i);
    }
    while (s->count > 1) {
        int64_t most = INT64_MIN;
        int best = 0;

        for (int i = 0; i + 1 < s->count; i++) {
            int64_t gain =
                (int64_t)(s->cost[i] + s->cost[i + 1]) - (int64_t)s->both[i];

            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        if (most < 0 && s->count <= BM_RANS_TABLES)
            break;
        join(s, best);
    }
}

/* ---- all ---------------------------------------------------------------- */

/* Context c has the table of the context before it unless 'first' has it: one
 * bit if all have one table, else one bit more for each context but 0. */
void bm_frequencies_put(struct bm_frequencies *f, struct bm_bit_writer *w,
                        uint32_t (*counts)[BM_SYMBOLS], int contexts)
{
    struct sharing s = {.counts = counts};

    share(&s, contexts);
    f->tables = s.count;
    bm_bits_put(w, s.count > 1, 1);
    for (int c = 0, t = 0; c < contexts; c++) {
        int next = t + 1 < s.count && s.first[t + 1] == c;

        t += next;
        f->table[c] = (uint8_t)t;
        if (s.count > 1 && c)
            bm_bits_put(w, (uint32_t)next, 1);
    }
    for (int t = 0; t < s.count; t++) {
        uint32_t stored[BM_SYMBOLS];
        int form = choose_form(stored, f->of[t], counts[s.first[t]]);

        put_table(w, stored, form);
    }
}

uint64_t bm_frequencies_cost(const uint32_t *counts)
{
    return cost_of(counts) >> 16;
}

int bm_frequencies_get(struct bm_frequencies *f, struct bm_bit_reader *r,
                       int contexts)
{
    int several = (int)bm_bits_get(r, 1), t = 0;

    for (int c = 0; c < contexts; c++) {
        if (several && c)
            t += (int)bm_bits_get(r, 1);
        f->table[c] = (uint8_t)t;
    }
    f->tables = t + 1;
    if (f->tables > BM_RANS_TABLES)
        return 0;
    for (t = 0; t < f->tables; t++) {
        uint32_t counts[BM_SYMBOLS];

        if (!get_table(r, counts) || !scale(f->of[t], counts))
            return 0;
    }
    return 1;
}
