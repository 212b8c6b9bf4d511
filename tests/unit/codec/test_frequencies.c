/* Tables of frequencies: contexts that are alike share one, those that are not
 * have their own; what is read back is what was written; no bits lead outside.
 */
#include "codec/frequencies.h"

#include "check.h"

/* Counts that fall by a factor from one magnitude to the next. */
static void geometric(uint32_t *counts, uint32_t most, int percent)
{
    memset(counts, 0, sizeof(*counts) * BM_SYMBOLS);
    for (int s = 0; s < BM_DIRECT_SYMBOLS && most; s++) {
        counts[s] = most;
        if (s % 2 == 0)
            most = most * (uint32_t)percent / 100;
    }
}

static void check_table(const uint32_t *frequency, const uint32_t *counts)
{
    uint32_t sum = 0;
    int missing = 0;

    for (int s = 0; s < BM_SYMBOLS; s++) {
        sum += frequency[s];
        missing += counts[s] && !frequency[s];
    }
    CHECK_EQ(sum, BM_RANS_TOTAL);
    CHECK_EQ(missing, 0);
}

static size_t round_trip(uint32_t (*counts)[BM_SYMBOLS], int contexts,
                         struct bm_frequencies *f)
{
    uint32_t before[BM_RANS_CONTEXTS][BM_SYMBOLS];
    struct bm_frequencies back;
    struct bm_bit_writer w;
    struct bm_bit_reader r;
    struct bm_buffer b;
    size_t bytes;

    memcpy(before, counts, sizeof(**counts) * BM_SYMBOLS * (size_t)contexts);
    memset(&back, 0, sizeof(back));
    bm_buffer_init(&b, bm_allocator_default());
    w = (struct bm_bit_writer){&b, 0, 0};
    bm_frequencies_put(f, &w, counts, contexts);
    bm_bits_end(&w);
    r = bm_bit_reader_of(b.data, b.size);
    CHECK(bm_frequencies_get(&back, &r, contexts));
    CHECK(bm_bits_used_up(&r));
    CHECK_EQ(back.tables, f->tables);
    CHECK(!memcmp(back.table, f->table, (size_t)contexts));
    for (int t = 0; t < f->tables; t++)
        CHECK(!memcmp(back.of[t], f->of[t], sizeof(f->of[t])));
    for (int c = 0; c < contexts; c++)
        check_table(f->of[f->table[c]], before[c]);
    bytes = b.size;
    bm_buffer_release(&b);
    return bytes;
}

static void contexts_that_are_alike_share_a_table(void)
{
    uint32_t counts[BM_RANS_CONTEXTS][BM_SYMBOLS];
    struct bm_frequencies f;

    for (int c = 0; c < BM_RANS_CONTEXTS; c++)
        geometric(counts[c], 1000, 60);
    CHECK(round_trip(counts, BM_RANS_CONTEXTS, &f) < 30);
    CHECK_EQ(f.tables, 1);
    for (int c = 0; c < BM_RANS_CONTEXTS; c++)
        geometric(counts[c], 100000, c < 10 ? 10 : 90);
    round_trip(counts, BM_RANS_CONTEXTS, &f);
    CHECK_EQ(f.tables, 2);
    CHECK_EQ(f.table[9], 0);
    CHECK_EQ(f.table[10], 1);
}

/* There are fewer tables than contexts, however different these are. */
static void tables_are_limited(void)
{
    uint32_t counts[BM_RANS_CONTEXTS][BM_SYMBOLS];
    struct bm_frequencies f;

    memset(counts, 0, sizeof(counts));
    for (int c = 0; c < BM_RANS_CONTEXTS; c++)
        counts[c][3 * c] = 1000000;
    round_trip(counts, BM_RANS_CONTEXTS, &f);
    CHECK_EQ(f.tables, BM_RANS_TABLES);
}

static void any_counts_come_back(void)
{
    uint32_t counts[BM_RANS_CONTEXTS][BM_SYMBOLS];
    struct bm_frequencies f;
    uint64_t random = 5;

    for (int i = 0; i < 2000; i++) {
        int contexts = 1 + (int)check_below(&random, BM_RANS_CONTEXTS);

        memset(counts, 0, sizeof(counts));
        for (int n = (int)check_below(&random, 300); n > 0; n--)
            counts[check_below(&random, contexts)]
                  [check_below(&random, BM_SYMBOLS)] += (uint32_t)check_below(
                      &random, (int64_t)1 << check_below(&random, 22));
        round_trip(counts, contexts, &f);
    }
}

static void random_bits_do_no_harm(void)
{
    struct bm_frequencies f;
    uint64_t random = 6;
    uint8_t bytes[64];
    int tables = 0;

    for (int i = 0; i < 100000; i++) {
        size_t n = (size_t)check_below(&random, 64);
        struct bm_bit_reader r;

        for (size_t k = 0; k < n; k++)
            bytes[k] = (uint8_t)check_random(&random);
        r = bm_bit_reader_of(bytes, n);
        if (!bm_frequencies_get(&f, &r, BM_RANS_CONTEXTS))
            continue;
        tables++;
        for (int c = 0; c < BM_RANS_CONTEXTS; c++) {
            uint32_t sum = 0;

            for (int s = 0; s < BM_SYMBOLS; s++)
                sum += f.of[f.table[c]][s];
            CHECK(f.table[c] < f.tables && sum == BM_RANS_TOTAL);
        }
    }
    CHECK(tables > 10);
}

int main(void)
{
    contexts_that_are_alike_share_a_table();
    tables_are_limited();
    any_counts_come_back();
    random_bits_do_no_harm();
    return check_result();
}
