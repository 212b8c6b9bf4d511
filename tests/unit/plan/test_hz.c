/* Index templates against their definition, and the figures of the paper on
 * index templates (Kumar et al., 2019). */
#include "plan/hz.h"

#include "base/bits.h"
#include "check.h"
#include "templates.h"

static void bits_are_spread_alike_on_any_processor(void)
{
    uint64_t state = 1;

    for (int n = 0; n < 20000; n++) {
        uint64_t word = check_random(&state), mask = check_random(&state);
        uint64_t spread = 0, collected = 0;
        int at = 0;

        for (int i = n % 3; i; i--) /* some of them sparse */
            mask &= check_random(&state);
        mask = n == 1 ? 0 : n == 2 ? UINT64_MAX : mask;
        for (int i = 0; i < 64; i++)
            if (mask >> i & 1) {
                spread |= (word >> at & 1) << i;
                collected |= (word >> i & 1) << at++;
            }
        CHECK(bm_bits_spread(word, mask) == spread);
        CHECK(bm_bits_spread_in_steps(word, mask) == spread);
        CHECK(bm_bits_collect(word, mask) == collected);
        CHECK(bm_bits_collect_in_steps(word, mask) == collected);
    }
}

/* All functions for one address. 1 if they are right. */
static int address_is_right(const struct bm_hz *hz, const char *text,
                            uint64_t z)
{
    uint64_t h = slow_hz(text, z);
    int64_t index[3], got[3];

    slow_index(text, z, index);
    bm_hz_index_of(hz, z, got);
    return slow_z(text, index) == z && bm_hz_z_of(hz, index) == z &&
           !memcmp(got, index, sizeof(got)) && bm_hz_of_z(hz, z) == h &&
           bm_hz_to_z(hz, h) == z && bm_hz_level(h) == slow_level(text, z);
}

static void short_templates_give_every_address(void)
{
    char text[BM_HZ_BITS + 1], back[BM_HZ_BITS + 1];

    for (int length = 0, many = 1; length <= 9; length++, many *= 3)
        for (int n = 0; n < many; n++) {
            struct bm_hz hz;
            int wrong = 0;

            nth_template(text, length, n);
            hz = template_of(text);
            for (uint64_t z = 0; z < (uint64_t)1 << length; z++)
                wrong += !address_is_right(&hz, text, z);
            CHECK_EQ(wrong, 0);
            bm_hz_text(back, &hz);
            CHECK(!strcmp(back, text));
        }
}

static void long_templates_give_every_address(void)
{
    uint64_t state = 2;
    char text[BM_HZ_BITS + 1];

    for (int n = 0; n < 400; n++) {
        int length = n % 4 ? 10 + (int)check_below(&state, 27)
                           : 37 + (int)check_below(&state, 26);
        struct bm_hz hz;

        random_template(text, length, &state);
        hz = template_of(text);
        for (int i = 0; i < 300; i++) {
            uint64_t z = check_random(&state) & (((uint64_t)1 << length) - 1);

            z = i == 0 ? 0 : i == 1 ? ((uint64_t)1 << length) - 1 : z;
            z &= ~(uint64_t)0 << check_below(&state, length + 1);
            CHECK(address_is_right(&hz, text, z));
        }
    }
    memset(text, 'x', BM_HZ_BITS); /* the longest axis there is */
    text[BM_HZ_BITS] = 0;
    {
        struct bm_hz hz = template_of(text);

        CHECK(address_is_right(&hz, text, ((uint64_t)1 << BM_HZ_BITS) - 1));
        CHECK(address_is_right(&hz, text, 0));
    }
}

/* ---- lattices and blocks ------------------------------------------------ */

/* Levels 0 to 'level' are the samples that the lattice has, all of them. */
static void check_lattice(const struct bm_hz *hz, const char *text, int level)
{
    int shift[3];

    bm_hz_lattice(hz, level, shift);
    for (uint64_t z = 0; z < (uint64_t)1 << hz->bits; z++) {
        int64_t index[3];
        int in = 1;

        slow_index(text, z, index);
        for (int d = 0; d < 3; d++)
            in = in && index[d] % ((int64_t)1 << shift[d]) == 0;
        CHECK_EQ(in, slow_level(text, z) <= level);
    }
}

/* Sample i of a block, in the order of its shorter template. */
static void check_block_sample(const struct bm_hz *hz, const char *text, int b,
                               uint64_t block, uint64_t i)
{
    struct bm_footprint f = bm_hz_block(hz, b, block);
    struct bm_hz part = bm_hz_block_template(hz, b, block);
    char own[BM_HZ_BITS + 1];
    int64_t at[3], index[3];

    bm_hz_text(own, &part);
    CHECK_EQ(strlen(own), b);
    slow_index(own, i, at);
    for (int d = 0; d < 3; d++) {
        CHECK_EQ(f.count[d], (int64_t)1 << part.count[d]);
        CHECK(at[d] < f.count[d]);
        index[d] = f.start[d] + at[d] * ((int64_t)1 << f.shift[d]);
    }
    CHECK_EQ(slow_hz(text, slow_z(text, index)),
             (block << b) + (block ? i : slow_hz(own, i)));
    CHECK_EQ(bm_footprint_samples(&f), (uint64_t)1 << b);
    CHECK(bm_hz_z_of(&part, at) == i); /* its masks and counts */
}

static void blocks_are_lattices(void)
{
    char text[BM_HZ_BITS + 1];
    uint64_t state = 3;

    for (int length = 0, many = 1; length <= 6; length++, many *= 3)
        for (int n = 0; n < many; n++) {
            struct bm_hz hz;

            nth_template(text, length, n);
            hz = template_of(text);
            for (int b = 0; b <= length; b++) {
                check_lattice(&hz, text, b);
                for (uint64_t h = 0; h < (uint64_t)1 << length; h++)
                    check_block_sample(&hz, text, b, h >> b,
                                       h & (((uint64_t)1 << b) - 1));
            }
        }
    for (int n = 0; n < 20000; n++) {
        int length = 7 + (int)check_below(&state, BM_HZ_BITS - 6);
        int b = (int)check_below(&state, length + 1);
        uint64_t h = check_random(&state) & (((uint64_t)1 << length) - 1);
        struct bm_hz hz;

        h >>= check_below(&state, length + 1);
        random_template(text, length, &state);
        hz = template_of(text);
        check_block_sample(&hz, text, b, h >> b, h & (((uint64_t)1 << b) - 1));
    }
}

/* ---- from shapes and from text ------------------------------------------ */

static void check_shape(int64_t nz, int64_t ny, int64_t nx,
                        enum bm_hz_rule rule, const char *expected)
{
    const int64_t shape[3] = {nz, ny, nx};
    char text[BM_HZ_BITS + 1];
    struct bm_hz hz, same;
    struct bm_error error = {0};

    REQUIRE(!bm_hz_from_shape(&hz, shape, rule));
    bm_hz_text(text, &hz);
    if (strcmp(text, expected))
        printf("%s, not %s\n", text, expected);
    CHECK(!strcmp(text, expected));
    REQUIRE(!bm_hz_parse(&same, text, 3, shape, &error));
    CHECK(!memcmp(&same, &hz, sizeof(hz)));
}

static void shapes_give_the_templates_of_pidx_and_openvisus(void)
{
    check_shape(13, 21, 37, BM_HZ_LONGEST, "xyxzyxzyxzyxzyx");
    check_shape(13, 21, 37, BM_HZ_TURNS, "xyzxyzxyzxyzxyx");
    check_shape(1, 8, 8, BM_HZ_LONGEST, "yxyxyx");
    check_shape(1, 8, 8, BM_HZ_TURNS, "xyxyxy");
    check_shape(1, 1, 9, BM_HZ_LONGEST, "xxxx");
    check_shape(1, 1, 1, BM_HZ_LONGEST, "");
    check_shape(1, 1, 1, BM_HZ_TURNS, "");
    check_shape(64, 1, 2, BM_HZ_TURNS, "xzzzzzz");
    check_shape(64, 1, 2, BM_HZ_LONGEST, "zzzzzzx");
}

static void shapes_that_are_too_large_are_refused(void)
{
    const int64_t most[3] = {(int64_t)1 << 21, (int64_t)1 << 21,
                             (int64_t)1 << 20};
    const int64_t more[3] = {(int64_t)1 << 21, (int64_t)1 << 21,
                             ((int64_t)1 << 20) + 1};
    const int64_t none[3] = {1, 0, 1};
    struct bm_hz hz;

    for (int rule = BM_HZ_LONGEST; rule <= BM_HZ_TURNS; rule++) {
        CHECK_EQ(bm_hz_from_shape(&hz, most, rule), BOUMA_OK);
        CHECK_EQ(hz.bits, BM_HZ_BITS);
        CHECK_EQ(bm_hz_from_shape(&hz, more, rule), BOUMA_EINVAL);
        CHECK_EQ(bm_hz_from_shape(&hz, none, rule), BOUMA_EINVAL);
    }
}

static void check_refused(const char *text, int ndims, int64_t edge,
                          const char *message)
{
    int64_t shape[3] = {1, 1, 1};
    struct bm_error error = {0};
    struct bm_hz hz;

    for (int d = 3 - ndims; d < 3; d++)
        shape[d] = edge;
    CHECK_EQ(bm_hz_parse(&hz, text, ndims, shape, &error), BOUMA_EINVAL);
    CHECK_EQ(error.status, BOUMA_EINVAL);
    if (strcmp(error.text, message))
        printf("%s\n", error.text);
    CHECK(!strcmp(error.text, message));
}

static void bad_templates_are_told_apart(void)
{
    char text[BM_HZ_BITS + 3];

    check_refused("zyqzyx", 3, 4,
                  "the template has a 'q' at position 3: axes are x, y and z");
    check_refused(
        "yX", 2, 2,
        "the template has a 'X' at position 2: write axes in lower case");
    check_refused("V210", 3, 2,
                  "the template has a 'V' at position 1: axes are x, y and z; "
                  "a bitmask of IDX has 0 for x, 1 for y, 2 for z, and V in "
                  "front");
    check_refused("x x", 1, 2,
                  "the template has a ' ' at position 2: axes are x");
    check_refused("x\xc3\xa9", 1, 2,
                  "the template has byte 0xc3 at position 2: axes are x");
    check_refused(
        "zyxzyx", 2, 4,
        "the template has a 'z' at position 1, but the grid has 2 axes: "
        "only x and y");
    check_refused(
        "xy", 1, 2,
        "the template has a 'y' at position 2, but the grid has 1 axis: "
        "only x");
    check_refused("yxx", 2, 4,
                  "the template \"yxx\" is too short: the grid has 4 samples "
                  "along y, so it needs 2 of this letter, not 1");
    check_refused("", 1, 5,
                  "the template \"\" is too short: the grid has 5 samples "
                  "along x, so it needs 3 of this letter, not 0");
    memset(text, 'x', BM_HZ_BITS + 1);
    text[BM_HZ_BITS + 1] = 0;
    check_refused(text, 1, 5,
                  "the template has 63 characters: 62 are the most");
}

/* ---- the paper ---------------------------------------------------------- */

static void figure_1_is_the_hz_order_of_yxyxyx(void)
{
    static const int hz_of[8][8] = {
        {0, 32, 8, 34, 2, 40, 10, 42},  {16, 33, 17, 35, 20, 41, 21, 43},
        {4, 36, 9, 38, 5, 44, 11, 46},  {18, 37, 19, 39, 22, 45, 23, 47},
        {1, 48, 12, 50, 3, 56, 14, 58}, {24, 49, 25, 51, 28, 57, 29, 59},
        {6, 52, 13, 54, 7, 60, 15, 62}, {26, 53, 27, 55, 30, 61, 31, 63},
    };
    static const int level_of[8][8] = {
        {0, 6, 4, 6, 2, 6, 4, 6}, {5, 6, 5, 6, 5, 6, 5, 6},
        {3, 6, 4, 6, 3, 6, 4, 6}, {5, 6, 5, 6, 5, 6, 5, 6},
        {1, 6, 4, 6, 2, 6, 4, 6}, {5, 6, 5, 6, 5, 6, 5, 6},
        {3, 6, 4, 6, 3, 6, 4, 6}, {5, 6, 5, 6, 5, 6, 5, 6},
    };
    struct bm_hz hz = template_of("yxyxyx");

    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            uint64_t h =
                bm_hz_of_z(&hz, bm_hz_z_of(&hz, (int64_t[3]){0, y, x}));

            CHECK_EQ(h, hz_of[y][x]);
            CHECK_EQ(bm_hz_level(h), level_of[y][x]);
        }
}

/* Four partitions of 16 x 16; the first two characters tell which. */
static void figure_10_has_partitions_in_blocks_of_the_whole(void)
{
    static const int touching[16] = {4, 4, 2, 2, 1, 1, 1, 1,
                                     1, 1, 1, 1, 1, 1, 1, 1};
    static const int first_block[16] = {0, 2, 1, 3, 0, 1, 2, 3,
                                        0, 0, 1, 1, 2, 2, 3, 3};
    static const int third[16] = {0, 0, 0, 0, 0, 0, 0, 0,
                                  1, 1, 1, 1, 1, 1, 1, 1};
    struct bm_hz hz = template_of("yxyxyxyx");

    for (uint64_t block = 0; block < 16; block++) {
        int seen = 0;

        for (uint64_t i = 0; i < 16; i++) {
            int64_t at[3];
            int partition;

            bm_hz_index_of(&hz, bm_hz_to_z(&hz, block * 16 + i), at);
            partition = (int)(at[1] / 8 * 2 + at[2] / 8);
            seen |= 1 << partition;
            if (block == 0)
                CHECK_EQ(partition, first_block[i]);
            if (block == 1)
                CHECK_EQ(partition, i / 4);
            if (block == 2 || block == 3)
                CHECK_EQ(partition, third[i] + (block == 3) * 2);
        }
        CHECK_EQ(bm_bits_count((uint64_t)seen), touching[block]);
    }
}

/* The same partitions, each with an order of its own. */
static void figure_11_has_an_order_for_each_partition(void)
{
    static const int whole[4][16] = {
        {0, 4, 8, 9, 16, 17, 18, 19, 32, 33, 34, 35, 36, 37, 38, 39},
        {2, 5, 10, 11, 20, 21, 22, 23, 40, 41, 42, 43, 44, 45, 46, 47},
        {1, 6, 12, 13, 24, 25, 26, 27, 48, 49, 50, 51, 52, 53, 54, 55},
        {3, 7, 14, 15, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63},
    };
    struct bm_hz hz = template_of("yxyxyxyx"), local = template_of("yxyxyx");

    for (int p = 0; p < 4; p++)
        for (uint64_t h = 0; h < 16; h++) {
            int64_t at[3];

            bm_hz_index_of(&local, bm_hz_to_z(&local, h), at);
            at[1] += p / 2 * 8;
            at[2] += p % 2 * 8;
            CHECK_EQ(bm_hz_of_z(&hz, bm_hz_z_of(&hz, at)), whole[p][h]);
        }
}

int main(void)
{
    bits_are_spread_alike_on_any_processor();
    short_templates_give_every_address();
    long_templates_give_every_address();
    blocks_are_lattices();
    shapes_give_the_templates_of_pidx_and_openvisus();
    shapes_that_are_too_large_are_refused();
    bad_templates_are_told_apart();
    figure_1_is_the_hz_order_of_yxyxyx();
    figure_10_has_partitions_in_blocks_of_the_whole();
    figure_11_has_an_order_for_each_partition();
    return check_result();
}
