/* Levels of detail: ranks, shares, and the slots of each level. */
#include "layout/detail.h"

#include "check.h"

static const uint32_t chunks[] = {1, 2, 4, 16, 64, 1024, 8192, 32768};
#define CHUNKS (sizeof(chunks) / sizeof(chunks[0]))

static struct bm_detail usual(uint32_t chunk)
{
    uint32_t limit[BM_MAX_LEVELS + 1];
    int levels = bm_detail_usual(limit, chunk);
    struct bm_detail d;

    REQUIRE(!bm_detail_init(&d, bm_allocator_default(), chunk, levels, limit));
    return d;
}

static void the_usual_limits_are_tenths_and_halves(void)
{
    static const uint32_t expected[] = {
        8192, 7373, 6554, 5734, 4915, 4096, 3277, 2458, 1638, 819,
        410,  205,  102,  51,   26,   13,   6,    3,    2,    0};
    uint32_t limit[BM_MAX_LEVELS + 1];

    CHECK_EQ(bm_detail_usual(limit, 8192), 19);
    CHECK(!memcmp(limit, expected, sizeof(expected)));
    for (uint32_t chunk = 1; chunk <= BM_MAX_DETAIL_CHUNK; chunk *= 2) {
        int levels = bm_detail_usual(limit, chunk);

        CHECK(bm_detail_valid(chunk, levels, limit));
        CHECK_EQ(limit[levels], 0);
    }
    CHECK_EQ(bm_detail_usual(limit, 2), 2);
    CHECK_EQ(limit[1], 1);
}

static void few_limits_are_tenths_of_each_other(void)
{
    static const uint32_t expected[] = {512, 51, 5, 0};
    uint32_t limit[BM_MAX_LEVELS + 1];

    CHECK_EQ(bm_detail_few(limit, 512), 3);
    CHECK(!memcmp(limit, expected, sizeof(expected)));
    for (uint32_t chunk = 1; chunk <= BM_MAX_DETAIL_CHUNK; chunk *= 2) {
        int levels = bm_detail_few(limit, chunk);

        CHECK(bm_detail_valid(chunk, levels, limit));
        CHECK_EQ(limit[levels], 0);
    }
}

static void wrong_limits_are_refused(void)
{
    uint32_t many[BM_MAX_LEVELS + 1];

    for (uint32_t k = 0; k <= BM_MAX_LEVELS; k++)
        many[k] = 64 - k;
    CHECK(bm_detail_valid(64, 1, many));
    CHECK(bm_detail_valid(64, BM_MAX_LEVELS, many));
    CHECK(!bm_detail_valid(64, BM_MAX_LEVELS + 1, many));
    CHECK(!bm_detail_valid(64, 0, many));
    CHECK(!bm_detail_valid(64, -1, many));
    CHECK(!bm_detail_valid(32, 2, many));
    CHECK(!bm_detail_valid(0, 1, (uint32_t[]){0}));
    CHECK(!bm_detail_valid(48, 1, (uint32_t[]){48}));
    CHECK(bm_detail_valid(32768, 1, (uint32_t[]){32768}));
    CHECK(!bm_detail_valid(65536, 1, (uint32_t[]){65536}));
    CHECK(!bm_detail_valid(64, 2, (uint32_t[]){64, 64}));
    CHECK(!bm_detail_valid(64, 2, (uint32_t[]){64, 65}));
    CHECK(!bm_detail_valid(64, 2, (uint32_t[]){64, 0}));
    CHECK(!bm_detail_valid(64, 3, (uint32_t[]){64, 8, 9}));
    CHECK(bm_detail_valid(64, 3, (uint32_t[]){64, 9, 8}));
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* From the words of detail.h, bit by bit. */
static void ranks_are_those_of_the_description(void)
{
    static const uint16_t eight[8] = {6, 2, 4, 0, 5, 1, 3, 7};

    for (size_t c = 0; c < CHUNKS; c++) {
        struct bm_detail d = usual(chunks[c]);
        int b = 0, same = 1;

        while (1u << b < d.chunk)
            b++;
        for (uint32_t p = 0; p < d.chunk; p++) {
            uint32_t rank = 0;

            for (int h = b - 1; h >= 0; h--) {
                uint64_t node = ((uint64_t)1 << (b - 1 - h)) + (p >> (h + 1));

                rank |= ((p >> h & 1) ^ (uint32_t)(mix(node) >> 63))
                        << (b - 1 - h);
            }
            same &= rank == d.rank[p];
        }
        CHECK(same);
        bm_detail_release(&d);
    }
    /* These stay: files depend on them. */
    {
        uint32_t limit = 8;
        struct bm_detail d;

        REQUIRE(!bm_detail_init(&d, bm_allocator_default(), 8, 1, &limit));
        for (int p = 0; p < 8; p++)
            CHECK_EQ(d.rank[p], eight[p]);
        bm_detail_release(&d);
    }
}

/* A permutation; and each 2^k ranks that begin at a multiple of 2^k (so the
 * first 2^k, too) have one slot in each of 2^k equal runs. */
static void ranks_are_spread_over_equal_runs(void)
{
    static uint32_t slot[BM_MAX_DETAIL_CHUNK];
    static uint8_t seen[BM_MAX_DETAIL_CHUNK];

    for (size_t c = 0; c < CHUNKS; c++) {
        struct bm_detail d = usual(chunks[c]);
        int all = 1;

        memset(seen, 0, sizeof(seen));
        for (uint32_t p = 0; p < d.chunk; p++) {
            REQUIRE(d.rank[p] < d.chunk);
            all &= !seen[d.rank[p]];
            seen[d.rank[p]] = 1;
            slot[d.rank[p]] = p;
        }
        CHECK(all);
        for (uint32_t n = 1; n <= d.chunk; n *= 2) {
            int one_each = 1;

            for (uint32_t r = 0; r < d.chunk; r += n) {
                memset(seen, 0, n);
                for (uint32_t i = 0; i < n; i++) {
                    uint8_t *run = &seen[slot[r + i] / (d.chunk / n)];

                    one_each &= !*run;
                    *run = 1;
                }
            }
            CHECK(one_each);
        }
        bm_detail_release(&d);
    }
}

/* An aligned run of 2^j slots has its share of the first q ranks but for less
 * than one; any run, which is put together of these, for less than 2b. */
static void every_run_of_slots_has_its_share(void)
{
    enum { CHUNK = 512, BITS = 9 };
    struct bm_detail d = usual(CHUNK);
    uint32_t shift = bm_detail_shift(&d, 3, 4);
    int even = 1, fair = 1, worst = 0;

    for (uint32_t q = 0; q <= CHUNK; q++) {
        int below[CHUNK + 1] = {0};

        for (uint32_t p = 0; p < CHUNK; p++)
            below[p + 1] = below[p] + (d.rank[p ^ shift] < q);
        for (int n = 1; n <= CHUNK; n *= 2)
            for (int p = 0; p < CHUNK; p += n) {
                int off = (below[p + n] - below[p]) * CHUNK - (int)q * n;

                even &= off < CHUNK && off > -CHUNK;
            }
        for (int p = 0; p < CHUNK; p++)
            for (int end = p + 1; end <= CHUNK; end++) {
                int off = (below[end] - below[p]) * CHUNK - (int)q * (end - p);

                off = off < 0 ? -off : off;
                fair &= off < 2 * BITS * CHUNK;
                worst = off > worst ? off : worst;
            }
    }
    CHECK(even && fair);
    printf("any run of slots, any share: off by %.2f at most\n",
           (double)worst / CHUNK);
    bm_detail_release(&d);
}

static void every_slot_is_equally_often_in_a_sample(void)
{
    static uint32_t times[1024];
    struct bm_detail d = usual(1024);

    for (int k = 0; k < d.levels; k++) {
        int same = 1;

        memset(times, 0, sizeof(times));
        for (uint32_t shift = 0; shift < d.chunk; shift++)
            for (uint32_t p = 0; p < d.chunk; p++)
                times[p] += d.rank[p ^ shift] < d.limit[k];
        for (uint32_t p = 0; p < d.chunk; p++)
            same &= times[p] == d.limit[k];
        CHECK(same);
    }
    bm_detail_release(&d);
}

static void shifts_and_offsets_are_even(void)
{
    struct bm_detail d = usual(16);
    uint32_t times[16] = {0};
    double sum = 0;

    for (uint64_t i = 0; i < 16000; i++) {
        uint32_t shift = bm_detail_shift(&d, 7, i);
        double offset = bm_detail_offset(i, 7);

        REQUIRE(shift < 16);
        CHECK(offset >= 0 && offset < 1);
        times[shift]++;
        sum += offset;
    }
    for (int i = 0; i < 16; i++)
        CHECK(times[i] > 850 && times[i] < 1150);
    CHECK(sum > 7800 && sum < 8200);
    /* next() of 0 is the first number of splitmix64 with the seed 0. */
    CHECK_EQ(mix(0x9e3779b97f4a7c15u) >> 1, 0xe220a8397b1dcdafu >> 1);
    bm_detail_release(&d);
    d = usual(32768);
    CHECK_EQ(bm_detail_shift(&d, 0, 5),
             mix((0xe220a8397b1dcdafu ^ 5) + 0x9e3779b97f4a7c15u) & 32767);
    CHECK(bm_detail_offset(0, 5) ==
          (double)(mix((0xe220a8397b1dcdafu ^ 5) + 0x9e3779b97f4a7c15u) >> 32) /
              4294967296.0);
    bm_detail_release(&d);
}

static int in_level(const struct bm_detail *d, int k, uint32_t p)
{
    return d->rank[p] < d->limit[k] && d->rank[p] >= d->limit[k + 1];
}

static void check_order(const struct bm_detail *d, uint32_t shift,
                        uint32_t slots)
{
    static uint16_t order[BM_MAX_DETAIL_CHUNK];
    uint32_t first[BM_MAX_LEVELS], n = 0;
    uint64_t counts[BM_MAX_LEVELS];
    int right = 1;

    bm_detail_order(d, shift, slots, order, first);
    bm_detail_counts(d, shift, slots, counts);
    for (int k = d->levels - 1; k >= 0; k--) {
        right &= first[k] == n;
        for (uint32_t p = 0; p < slots; p++)
            if (in_level(d, k, p ^ shift))
                right &= n < slots && order[n++] == p;
        right &= counts[k] == n - first[k];
    }
    CHECK(right && n == slots);
}

static void order_and_count_are_those_of_a_search(void)
{
    uint64_t state = 1;

    for (size_t c = 0; c < CHUNKS; c++) {
        struct bm_detail d = usual(chunks[c]);

        for (int i = 0; i < 30; i++) {
            uint32_t shift = (uint32_t)check_below(&state, d.chunk);

            check_order(&d, shift, (uint32_t)check_below(&state, d.chunk + 1));
            check_order(&d, shift, d.chunk);
        }
        check_order(&d, 0, 0);
        check_order(&d, d.chunk - 1, 1);
        bm_detail_release(&d);
    }
}

static void one_level_has_all(void)
{
    uint32_t limit = 64, first[BM_MAX_LEVELS];
    uint16_t order[64];
    struct bm_detail d;

    REQUIRE(!bm_detail_init(&d, bm_allocator_default(), 64, 1, &limit));
    bm_detail_order(&d, 9, 64, order, first);
    CHECK_EQ(first[0], 0);
    for (int p = 0; p < 64; p++)
        CHECK_EQ(order[p], p);
    bm_detail_release(&d);
    bm_detail_release(&d); /* twice does no harm */
}

/* Against a count of the slots, one by one. */
static void runs_of_slots_are_runs_of_each_level(void)
{
    for (size_t c = 0; c < CHUNKS; c++) {
        struct bm_detail d = usual(chunks[c]);

        for (uint64_t seed = 0; seed < 3; seed++) {
            uint32_t shift = bm_detail_shift(&d, seed, c);
            uint32_t counted[BM_MAX_LEVELS] = {0};
            uint32_t before[BM_MAX_LEVELS];
            int same = 1;

            for (uint32_t p = 0; p <= d.chunk; p++) {
                bm_detail_before(&d, shift, p, before);
                same &= !memcmp(before, counted,
                                sizeof(*before) * (size_t)d.levels);
                if (p < d.chunk)
                    counted[d.level[p ^ shift]]++;
            }
            CHECK(same);
        }
        bm_detail_release(&d);
    }
}

int main(void)
{
    the_usual_limits_are_tenths_and_halves();
    few_limits_are_tenths_of_each_other();
    wrong_limits_are_refused();
    ranks_are_those_of_the_description();
    ranks_are_spread_over_equal_runs();
    every_run_of_slots_has_its_share();
    every_slot_is_equally_often_in_a_sample();
    shifts_and_offsets_are_even();
    order_and_count_are_those_of_a_search();
    one_level_has_all();
    runs_of_slots_are_runs_of_each_level();
    return check_result();
}
