/* Entropy coding: what goes in comes out, in about as many bits as its entropy,
 * and damaged bytes are noticed or give some symbols. */
#include "codec/entropy.h"

#include <math.h>

#include "check.h"

static void bits_come_back(void)
{
    struct bm_buffer b;
    struct bm_bit_writer w = {&b, 0, 0};
    struct bm_bit_reader r;
    uint64_t random = 1, again = 1;

    bm_buffer_init(&b, bm_allocator_default());
    for (int i = 0; i < 5000; i++) {
        int bits = (int)check_below(&random, 33);
        uint64_t v = check_random(&random);

        bm_bits_put(&w, (uint32_t)(v & (((uint64_t)1 << bits) - 1)), bits);
    }
    bm_bits_end(&w);
    r = bm_bit_reader_of(b.data, b.size);
    for (int i = 0; i < 5000; i++) {
        int bits = (int)check_below(&again, 33);
        uint64_t v = check_random(&again);

        CHECK_EQ(bm_bits_get(&r, bits), v & (((uint64_t)1 << bits) - 1));
    }
    CHECK(bm_bits_used_up(&r));
    bm_bits_get(&r, 32);
    CHECK(r.failed);
    bm_buffer_release(&b);
}

static void golomb_numbers_come_back(void)
{
    static const uint32_t values[] = {0, 1, 2, 3, 7, 8, 100, 65535, 1u << 25};
    struct bm_buffer b;
    struct bm_bit_writer w = {&b, 0, 0};
    struct bm_bit_reader r;

    bm_buffer_init(&b, bm_allocator_default());
    for (int k = 0; k <= 16; k++)
        for (int i = 0; i < 9; i++)
            bm_golomb_put(&w, values[i], k);
    bm_bits_end(&w);
    r = bm_bit_reader_of(b.data, b.size);
    for (int k = 0; k <= 16; k++)
        for (int i = 0; i < 9; i++)
            CHECK_EQ(bm_golomb_get(&r, k), values[i]);
    CHECK(!r.failed);
    bm_buffer_release(&b);
}

static void integers_have_symbols(void)
{
    struct bm_buffer b;
    struct bm_bit_writer w = {&b, 0, 0};
    struct bm_bit_reader r;
    uint8_t symbols[2000];
    uint32_t folded[2000];
    uint64_t random = 2;

    bm_buffer_init(&b, bm_allocator_default());
    for (int i = 0; i < 2000; i++) {
        int32_t v = (int32_t)check_below(&random, (int64_t)1 << (i % 25)) -
                    (1 << (i % 25) >> 1);

        CHECK_EQ(bm_unfold(bm_fold(v)), v);
        folded[i] = bm_fold(v);
        symbols[i] = bm_symbol_put(&w, folded[i]);
        CHECK(symbols[i] < BM_ESCAPE);
    }
    bm_bits_end(&w);
    r = bm_bit_reader_of(b.data, b.size);
    for (int i = 0; i < 2000; i++)
        CHECK_EQ(bm_symbol_get(&r, symbols[i]), folded[i]);
    CHECK(!r.failed);
    CHECK(bm_symbol_put(&w, BM_FOLDED_LIMIT - 1) < BM_ESCAPE);
    bm_buffer_release(&b);
}

/* Symbols with a geometric distribution that depends on the table. */
static void fill(uint8_t *symbols, uint8_t *table, size_t n, int tables,
                 int kind, uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        int s = 0, t = (int)check_below(random, tables);

        while (kind == 0 && s < BM_SYMBOLS - 1 && check_below(random, t + 2))
            s++;
        if (kind == 1)
            s = (int)check_below(random, BM_SYMBOLS);
        if (kind == 2)
            s = BM_ESCAPE;
        if (kind == 3)
            s = check_below(random, 5000) ? 0 : 17;
        symbols[i] = (uint8_t)s;
        table[i] = (uint8_t)t;
    }
}

static double entropy(const uint8_t *symbols, const uint8_t *table, size_t n,
                      int tables)
{
    double bits = 0;

    for (int t = 0; t < tables; t++) {
        size_t count[BM_SYMBOLS] = {0}, all = 0;

        for (size_t i = 0; i < n; i++)
            if (table[i] == t) {
                count[symbols[i]]++;
                all++;
            }
        for (int s = 0; s < BM_SYMBOLS; s++)
            if (count[s])
                bits -= (double)count[s] * log2((double)count[s] / (double)all);
    }
    return bits / 8;
}

static void symbols_come_back(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 4, 63, 1000, 60001, 70003};
    struct bm_rans_decoder *d = malloc(sizeof(*d));
    uint8_t *symbols = malloc(70003), *table = malloc(70003);
    uint8_t *back = malloc(70004);
    uint64_t random = 3;

    REQUIRE(d && symbols && table && back);
    for (int kind = 0; kind < 4; kind++)
        for (int tables = 1; tables <= BM_RANS_CONTEXTS; tables += 7)
            for (int c = 0; c < 9; c++) {
                size_t n = counts[c], done = 0, room;
                struct bm_buffer b;
                uint8_t *exact;

                fill(symbols, table, n, tables, kind, &random);
                bm_buffer_init(&b, bm_allocator_default());
                bm_put_u32(&b, 99);
                CHECK_EQ(bm_rans_encode(&b, symbols, table, n, tables, n),
                         BOUMA_OK);
                room = b.size - 4;
                CHECK((double)room <=
                      entropy(symbols, table, n, tables) * 1.03 + 20 +
                          80 * tables);
                exact = malloc(room);
                REQUIRE(exact);
                memcpy(exact, b.data + 4, room);
                back[n] = 0x5a;
                CHECK_EQ(bm_rans_begin(d, exact, room, n, tables), BOUMA_OK);
                for (size_t i = 0; i < n; i++)
                    table[i] = d->table[table[i]];
                while (done < n) { /* in runs of any length */
                    size_t run = 1 + (size_t)check_below(&random, 700);

                    run = run < n - done ? run : n - done;
                    bm_rans_next(d, back + done, table + done, run);
                    done += run;
                }
                CHECK(!memcmp(back, symbols, n));
                CHECK(bm_rans_ended(d));
                CHECK_EQ(back[n], 0x5a);
                free(exact);
                bm_buffer_release(&b);
            }
    free(d);
    free(symbols);
    free(table);
    free(back);
}

/* Parts of one list, each in a stream of its own, with other numbers of states:
 * any of them is decoded without the others. */
static void streams_share_tables(void)
{
    enum { STREAMS = 6, EACH = 5000, N = STREAMS * EACH };
    static const unsigned states[STREAMS] = {1, 4, 8, 8, 4, 1};
    struct bm_rans_encoder *e = calloc(1, sizeof(*e));
    struct bm_rans_decoder *d = malloc(sizeof(*d));
    uint8_t *symbols = malloc(N), *table = malloc(N), back[EACH];
    size_t ends[STREAMS + 1];
    uint64_t random = 5;
    struct bm_cursor in;
    struct bm_buffer b;

    REQUIRE(e && d && symbols && table);
    fill(symbols, table, N, 9, 0, &random);
    bm_buffer_init(&b, bm_allocator_default());
    for (int i = 0; i < STREAMS; i++)
        bm_rans_count(e, symbols + i * EACH, table + i * EACH, EACH);
    bm_rans_put_tables(e, &b, 9);
    ends[0] = b.size;
    for (int i = 0; i < STREAMS; i++) {
        CHECK_EQ(bm_rans_put_stream(&b, e, symbols + i * EACH, table + i * EACH,
                                    EACH, states[i]),
                 BOUMA_OK);
        ends[i + 1] = b.size;
    }
    in = bm_cursor_of(b.data, b.size);
    CHECK_EQ(bm_rans_begin_tables(d, &in, 9), BOUMA_OK);
    CHECK(in.p == b.data + ends[0]);
    for (size_t i = 0; i < N; i++)
        table[i] = d->table[table[i]];
    for (int i = STREAMS - 1; i >= 0; i--) {
        struct bm_rans_stream s;

        CHECK_EQ(bm_rans_begin_stream(&s, b.data + ends[i],
                                      ends[i + 1] - ends[i], states[i], EACH),
                 BOUMA_OK);
        bm_rans_next_of(d, &s, back, table + i * EACH, EACH);
        CHECK(!memcmp(back, symbols + i * EACH, EACH));
        CHECK(bm_rans_ended_of(&s));
        CHECK_EQ(bm_rans_begin_stream(&s, b.data, 4 * states[i] - 1, states[i],
                                      EACH),
                 BOUMA_EFORMAT);
    }
    bm_buffer_release(&b);
    free(e);
    free(d);
    free(symbols);
    free(table);
}

/* 'n' symbols of a kind, 'times' over: cut, or with one bit changed. */
static void damage(size_t n, int kind, int times)
{
    struct bm_rans_decoder *d = malloc(sizeof(*d));
    uint8_t *symbols = malloc(n), *table = malloc(n), *back = malloc(n);
    uint64_t random = 4;
    int noticed = 0;

    REQUIRE(d && symbols && table && back);
    for (int i = 0; i < times; i++) {
        struct bm_buffer b;
        size_t cut;
        uint8_t *exact;

        fill(symbols, table, n, 4, kind, &random);
        bm_buffer_init(&b, bm_allocator_default());
        bm_rans_encode(&b, symbols, table, n, 4, n);
        cut = i & 1 ? b.size : (size_t)check_below(&random, (int64_t)b.size);
        exact = malloc(cut ? cut : 1);
        REQUIRE(exact);
        memcpy(exact, b.data, cut);
        if (i & 1)
            exact[check_below(&random, (int64_t)cut)] ^=
                (uint8_t)(1 << check_below(&random, 8));
        if (bm_rans_begin(d, exact, cut, n, 4)) {
            noticed++;
        } else {
            for (size_t k = 0; k < n; k++)
                table[k] = d->table[table[k]];
            bm_rans_next(d, back, table, n);
            noticed += !bm_rans_ended(d);
        }
        free(exact);
        bm_buffer_release(&b);
    }
    CHECK(noticed > times * 29 / 30);
    free(d);
    free(symbols);
    free(table);
    free(back);
}

/* With one state, four, and eight, which need bytes often or rarely. */
static void damage_is_noticed_or_harmless(void)
{
    damage(1000, 0, 900);
    damage(3000, 0, 3000);
    damage(66000, 0, 60);
    damage(66000, 3, 120);
}

int main(void)
{
    bits_come_back();
    golomb_numbers_come_back();
    integers_have_symbols();
    symbols_come_back();
    streams_share_tables();
    damage_is_noticed_or_harmless();
    return check_result();
}
