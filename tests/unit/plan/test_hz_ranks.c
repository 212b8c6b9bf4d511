/* Ranks and templates: numbers, which templates conform, and groups, against
 * loops over all samples; and the figures of the paper on index templates. */
#include "plan/hz_ranks.h"

#include "check.h"
#include "hz_groups.h"
#include "templates.h"

static struct bm_hz_ranks ranks_of(const int64_t shape[3], const int64_t *block,
                                   const int64_t grid[3],
                                   bouma_rank_order order)
{
    struct bm_hz_ranks r;

    REQUIRE(!bm_hz_ranks_init(&r, shape, block, grid, order));
    return r;
}

/* Ranks of a plane: blocks of one size. */
static struct bm_hz_ranks plane_ranks(int64_t edge, int64_t along,
                                      bouma_rank_order order)
{
    return ranks_of((int64_t[3]){1, edge, edge},
                    (int64_t[3]){1, edge / along, edge / along},
                    (int64_t[3]){1, along, along}, order);
}

/* ---- numbers ------------------------------------------------------------ */

/* The usual Morton key, bit by bit. */
static uint64_t slow_morton(const int64_t cell[3])
{
    uint64_t key = 0;

    for (int b = 0; b < 10; b++)
        for (int d = 0; d < 3; d++)
            key |= (uint64_t)(cell[d] >> b & 1) << (3 * b + 2 - d);
    return key;
}

static int comes_before(const int64_t a[3], const int64_t b[3],
                        bouma_rank_order order)
{
    if (order == BOUMA_RANK_ORDER_MORTON)
        return slow_morton(a) < slow_morton(b);
    for (int i = 0; i < 3; i++) {
        int d = order == BOUMA_RANK_ORDER_ROW_MAJOR ? i : 2 - i;

        if (a[d] != b[d])
            return a[d] < b[d];
    }
    return 0;
}

static void check_numbers(const struct bm_hz_ranks *r)
{
    int64_t before[3] = {0, 0, 0};

    CHECK_EQ(r->count, r->grid[0] * r->grid[1] * r->grid[2]);
    for (int rank = 0; rank < r->count; rank++) {
        int64_t cell[3], index[3];

        bm_hz_ranks_cell(r, rank, cell);
        for (int d = 0; d < 3; d++) {
            CHECK(cell[d] >= 0 && cell[d] < r->grid[d]);
            index[d] = cell[d] * r->block[d] + r->block[d] - 1;
        }
        CHECK_EQ(bm_hz_ranks_at(r, cell), rank);
        CHECK_EQ(bm_hz_ranks_of_sample(r, index), rank);
        CHECK(!rank || comes_before(before, cell, r->order));
        memcpy(before, cell, sizeof(before));
    }
}

static void ranks_are_numbered_without_gaps(void)
{
    uint64_t state = 11;

    for (int n = 0; n < 300; n++) {
        int64_t grid[3], block[3], shape[3];
        struct bm_hz_ranks r;

        for (int d = 0; d < 3; d++) {
            grid[d] = 1 + check_below(&state, n % 2 ? 9 : 4);
            block[d] = 1 + check_below(&state, 5);
            shape[d] = grid[d] * block[d];
        }
        r = ranks_of(shape, block, grid, 1 + n % 3);
        check_numbers(&r);
    }
}

static void bad_decompositions_are_refused(void)
{
    static const struct {
        int64_t shape[3], block[3], grid[3];
        int status;
    } cases[] = {
        {{8, 8, 8}, {4, 4, 4}, {2, 2, 2}, BOUMA_OK},
        {{5, 5, 5}, {4, 4, 4}, {2, 2, 3}, BOUMA_OK},
        {{8, 8, 9}, {4, 4, 4}, {2, 2, 2}, BOUMA_EINVAL},
        {{8, 0, 8}, {4, 4, 4}, {2, 2, 2}, BOUMA_EINVAL},
        {{8, 8, 8}, {4, 0, 4}, {2, 2, 2}, BOUMA_EINVAL},
        {{8, 8, 8}, {8, 8, 8}, {1, 1, 0}, BOUMA_EINVAL},
        {{1, 1, 1}, {1, 1, 1}, {1, 1 << 16, 1 << 15}, BOUMA_EINVAL},
        {{1, 1, 1},
         {1, 1, 1},
         {(int64_t)1 << 40, (int64_t)1 << 40, 1},
         BOUMA_EINVAL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bm_hz_ranks r;

        CHECK_EQ(bm_hz_ranks_init(&r, cases[i].shape, cases[i].block,
                                  cases[i].grid, BOUMA_RANK_ORDER_ROW_MAJOR),
                 cases[i].status);
    }
}

/* ---- what conforms ------------------------------------------------------ */

/* By all samples of all levels. */
static int slowly_conforms(const struct bm_hz_ranks *r, const char *text)
{
    uint64_t count = (uint64_t)1 << strlen(text);

    for (int level = 0; level <= (int)strlen(text); level++) {
        int last = -1;

        for (uint64_t z = 0; z < count; z++) {
            int64_t index[3];
            int rank;

            slow_index(text, z, index);
            if (slow_level(text, z) != level || index[0] >= r->shape[0] ||
                index[1] >= r->shape[1] || index[2] >= r->shape[2])
                continue;
            rank = bm_hz_ranks_of_sample(r, index);
            if (rank < last)
                return 0;
            last = rank;
        }
    }
    return 1;
}

/* A random decomposition of what a template covers, or of less. */
static struct bm_hz_ranks random_ranks(const struct bm_hz *hz, uint64_t *state)
{
    int powers = (int)check_below(state, 2), whole = (int)check_below(state, 2);
    int equal = check_below(state, 4) > 0; /* or as equal as possible */
    int64_t grid[3], block[3], shape[3];

    for (int d = 0; d < 3; d++) {
        int64_t most = (int64_t)1 << hz->count[d];

        shape[d] = whole ? most : 1 + check_below(state, most);
        block[d] = powers ? (int64_t)1 << check_below(state, hz->count[d] + 1)
                          : 1 + check_below(state, most);
        grid[d] =
            (shape[d] + block[d] - 1) / block[d] + (check_below(state, 4) == 0);
    }
    return ranks_of(shape, equal ? block : NULL, grid,
                    1 + (int)check_below(state, 3));
}

static void conforming_is_what_all_samples_say(void)
{
    uint64_t state = 12;
    int conforming = 0;

    for (int n = 0; n < 20000; n++) {
        char text[BM_HZ_BITS + 1];
        struct bm_hz_ranks r;
        struct bm_hz hz;
        int expected;

        random_template(text, (int)check_below(&state, n % 10 ? 7 : 11),
                        &state);
        hz = template_of(text);
        r = random_ranks(&hz, &state);
        expected = slowly_conforms(&r, text);
        conforming += expected;
        CHECK_EQ(bm_hz_ranks_conform(&r, &hz), expected);
    }
    CHECK(conforming > 2000 && conforming < 18000); /* both are tested */
}

/* The boxes of all ranks, which may be empty, hold each sample once, on the
 * rank that it belongs to. */
static void boxes_hold_their_samples(void)
{
    uint64_t state = 21;

    for (int n = 0; n < 300; n++) {
        int64_t shape[3], grid[3], held = 0;
        struct bm_hz_ranks r;

        for (int d = 0; d < 3; d++) {
            shape[d] = 1 + check_below(&state, 12);
            grid[d] = 1 + check_below(&state, n % 3 ? 4 : 20);
        }
        r = ranks_of(shape, NULL, grid, 1 + n % 3);
        for (int rank = 0; rank < r.count; rank++) {
            struct bm_box box = bm_hz_ranks_box(&r, rank);
            int64_t at[3];

            held += (int64_t)bm_box_volume(&box);
            for (at[0] = box.lo[0]; at[0] < box.hi[0]; at[0]++)
                for (at[1] = box.lo[1]; at[1] < box.hi[1]; at[1]++)
                    for (at[2] = box.lo[2]; at[2] < box.hi[2]; at[2]++)
                        CHECK_EQ(bm_hz_ranks_of_sample(&r, at), rank);
        }
        CHECK_EQ(held, shape[0] * shape[1] * shape[2]);
    }
    { /* numbers that overflow where they are multiplied */
        static const int64_t shape[3] = {1, 1, ((int64_t)1 << 40) - 1};
        static const int64_t grid[3] = {1, 1, 2147483647};
        struct bm_hz_ranks r = ranks_of(shape, NULL, grid, 0);

        for (int rank = 0; rank < r.count - 1000000; rank += 999983) {
            struct bm_box box = bm_hz_ranks_box(&r, rank);
            struct bm_box next = bm_hz_ranks_box(&r, rank + 1);

            CHECK_EQ(box.hi[2], next.lo[2]);
            CHECK_EQ(bm_hz_ranks_of_sample(&r, box.lo), rank);
            CHECK_EQ(bm_hz_ranks_of_sample(&r, next.lo), rank + 1);
        }
    }
}

/* Blocks of any size get the template of the power of two above them. */
static void near_templates_cover_the_domain(void)
{
    uint64_t state = 22;

    for (int n = 0; n < 2000; n++) {
        int64_t shape[3], grid[3], block[3];
        struct bm_hz_ranks r, equal;
        struct bm_hz near, own;

        for (int d = 0; d < 3; d++) {
            grid[d] = 1 + check_below(&state, 9);
            block[d] = (int64_t)1 << check_below(&state, 5);
            shape[d] =
                (grid[d] - 1) * block[d] + 1 + check_below(&state, block[d]);
        }
        r = ranks_of(shape, NULL, grid, 1 + n % 3);
        REQUIRE(!bm_hz_ranks_template_near(&near, &r));
        for (int d = 0; d < 3; d++)
            CHECK((int64_t)1 << near.count[d] >= shape[d]);
        /* Whoever cuts the domain into powers of two gets what fits. */
        equal = ranks_of(shape, block, grid, 1 + n % 3);
        REQUIRE(!bm_hz_ranks_template_near(&near, &equal));
        CHECK_EQ(bm_hz_ranks_conform(&equal, &near), 1);
        REQUIRE(!bm_hz_ranks_template(&own, &equal));
        CHECK(!memcmp(&own, &near, sizeof(own)));
    }
}

static void templates_of_ranks_conform(void)
{
    uint64_t state = 13;

    for (int n = 0; n < 400; n++) {
        int64_t grid[3], block[3], shape[3];
        char text[BM_HZ_BITS + 1];
        struct bm_hz_ranks r;
        struct bm_hz hz;

        for (int d = 0; d < 3; d++) {
            grid[d] = 1 + check_below(&state, 5);
            block[d] = (int64_t)1 << check_below(&state, 3);
            shape[d] =
                (grid[d] - 1) * block[d] + 1 + check_below(&state, block[d]);
        }
        r = ranks_of(shape, block, grid, 1 + n % 3);
        REQUIRE(!bm_hz_ranks_template(&hz, &r));
        bm_hz_text(text, &hz);
        for (int d = 0; d < 3; d++)
            CHECK((int64_t)1 << hz.count[d] >= shape[d]);
        CHECK(slowly_conforms(&r, text));
        CHECK_EQ(bm_hz_ranks_conform(&r, &hz), 1);
    }
}

static void check_template(const struct bm_hz_ranks *r, const char *expected)
{
    char text[BM_HZ_BITS + 1];
    struct bm_hz hz, same = template_of(expected);

    REQUIRE(!bm_hz_ranks_template(&hz, r));
    bm_hz_text(text, &hz);
    CHECK_TEXT(text, expected);
    CHECK(!memcmp(&hz, &same, sizeof(hz)));
}

static void templates_of_ranks_begin_as_ranks_go(void)
{
    const int64_t shape[3] = {16, 16, 32}, block[3] = {4, 4, 4};
    const int64_t grid[3] = {4, 4, 8};
    struct bm_hz_ranks r =
        ranks_of(shape, block, grid, BOUMA_RANK_ORDER_ROW_MAJOR);
    struct bm_hz hz;

    check_template(&r, "zzyyxxxzyxzyx");
    r = ranks_of(shape, block, grid, BOUMA_RANK_ORDER_COLUMN_MAJOR);
    check_template(&r, "xxxyyzzzyxzyx");
    r = ranks_of(shape, block, grid, BOUMA_RANK_ORDER_MORTON);
    check_template(&r, "xzyxzyxzyxzyx");
    /* Blocks that are no powers of two have none. */
    r = ranks_of(shape, (int64_t[3]){4, 4, 5}, grid, BOUMA_RANK_ORDER_MORTON);
    CHECK_EQ(bm_hz_ranks_template(&hz, &r), BOUMA_EINVAL);
    r = ranks_of(shape, (int64_t[3]){(int64_t)1 << 32, (int64_t)1 << 32, 4},
                 grid, BOUMA_RANK_ORDER_MORTON);
    CHECK_EQ(bm_hz_ranks_template(&hz, &r), BOUMA_EINVAL);
}

/* ---- groups ------------------------------------------------------------- */

static struct hz_group slow_group(const struct bm_hz_ranks *r, const char *text,
                                  uint64_t first, uint64_t end)
{
    struct hz_group g = {-1, -1, 0};
    char *seen = calloc((size_t)r->count, 1);

    REQUIRE(seen);
    for (uint64_t z = 0; z < (uint64_t)1 << strlen(text); z++) {
        uint64_t h = slow_hz(text, z);
        int64_t index[3];

        slow_index(text, z, index);
        if (h >= first && h < end && index[0] < r->shape[0] &&
            index[1] < r->shape[1] && index[2] < r->shape[2])
            seen[bm_hz_ranks_of_sample(r, index)] = 1;
    }
    for (int i = 0; i < r->count; i++)
        if (seen[i]) {
            g.first = g.count++ ? g.first : i;
            g.last = i;
        }
    free(seen);
    return g;
}

static void groups_are_the_ranks_with_samples(void)
{
    uint64_t state = 14;

    for (int n = 0; n < 3000; n++) {
        char text[BM_HZ_BITS + 1];
        int length = (int)check_below(&state, n % 10 ? 8 : 12);
        int b = (int)check_below(&state, length + 1);
        struct hz_groups groups;
        struct bm_hz_ranks r;
        struct bm_hz hz;

        random_template(text, length, &state);
        hz = template_of(text);
        do /* the helper is for blocks of one size */
            r = random_ranks(&hz, &state);
        while (!r.block[0] || !r.block[1] || !r.block[2]);
        REQUIRE(!hz_groups_init(&groups, bm_allocator_default(), &r, &hz, b));
        for (int i = 0; i < 8; i++) {
            uint64_t all = (uint64_t)1 << (length - b);
            uint64_t first = (uint64_t)check_below(&state, (int64_t)all);
            uint64_t end = first + (uint64_t)check_below(&state, 12);
            struct hz_group got, expected;

            if (i == 7) /* turns begin anew */
                groups.turn = UINT32_MAX;
            first = i ? first : 0;
            got = hz_groups_find(&groups, first, end);
            expected = slow_group(&r, text, first << b, end << b);
            CHECK_EQ(got.first, expected.first);
            CHECK_EQ(got.last, expected.last);
            CHECK_EQ(got.count, expected.count);
        }
        hz_groups_release(&groups);
    }
}

/* 131,072 ranks with 32^3 samples each, files of 16 blocks of 2^15: groups of
 * a level follow each other, and each rank has samples in each fine level. */
static void many_ranks_have_groups_that_follow_each_other(void)
{
    const int64_t grid[3] = {32, 64, 64}, block[3] = {32, 32, 32};
    const int64_t shape[3] = {1024, 2048, 2048};

    for (int order = BOUMA_RANK_ORDER_ROW_MAJOR;
         order <= BOUMA_RANK_ORDER_MORTON; order++) {
        struct bm_hz_ranks r = ranks_of(shape, block, grid, order);
        uint64_t blocks, first_of_level = 16;
        struct hz_groups groups;
        struct bm_hz hz;
        int last = -1;

        REQUIRE(!bm_hz_ranks_template(&hz, &r));
        CHECK_EQ(bm_hz_ranks_conform(&r, &hz), 1);
        REQUIRE(!hz_groups_init(&groups, bm_allocator_default(), &r, &hz, 15));
        blocks = (uint64_t)1 << (hz.bits - 15);
        CHECK_EQ(blocks, 131072);
        CHECK_EQ(hz_groups_find(&groups, 0, 16).count, 131072);
        for (uint64_t at = 16; at < blocks; at += 16) {
            struct hz_group g = hz_groups_find(&groups, at, at + 16);

            if (at == 2 * first_of_level) { /* the next level begins */
                CHECK_EQ(last, 131071);
                first_of_level = at;
                last = -1;
            }
            CHECK_EQ(g.first, last + 1);
            CHECK_EQ(g.count, g.last - g.first + 1);
            last = g.last;
        }
        CHECK_EQ(last, 131071);
        hz_groups_release(&groups);
    }
}

/* ---- the paper ---------------------------------------------------------- */

/* The ranks that a level visits: up to 16, each visit once. */
static void check_visits(const struct bm_hz_ranks *r, const char *text,
                         int level, const int *expected, int count)
{
    struct bm_hz hz = template_of(text);
    uint64_t first = level ? (uint64_t)1 << (level - 1) : 0;
    int last = -1, n = 0;

    for (uint64_t h = first; h < (level ? 2 * first : 1); h++) {
        int64_t index[3];
        int rank;

        bm_hz_index_of(&hz, bm_hz_to_z(&hz, h), index);
        rank = bm_hz_ranks_of_sample(r, index);
        if (rank == last)
            continue;
        CHECK(n < count);
        if (n < count)
            CHECK_EQ(rank, expected[n]);
        n++;
        last = rank;
    }
    CHECK_EQ(n, count);
}

static void figures_2_and_4_conform_or_do_not(void)
{
    static const int four[] = {0, 1, 2, 3}, two[] = {0}, three[] = {2};
    static const int odd[] = {1, 3}, even[] = {0, 2};
    static const int twice[] = {0, 1, 0, 1, 2, 3, 2, 3};
    static const int all[] = {0, 1, 2,  3,  4,  5,  6,  7,
                              8, 9, 10, 11, 12, 13, 14, 15};
    static const int mixed[] = {0, 1, 4,  5,  2,  3,  6,  7,
                                8, 9, 12, 13, 10, 11, 14, 15};
    struct bm_hz_ranks r = plane_ranks(8, 2, BOUMA_RANK_ORDER_ROW_MAJOR);
    struct bm_hz turns = template_of("yxyxyx"), rows = template_of("yyxxyx");

    CHECK_EQ(bm_hz_ranks_conform(&r, &turns), 1);
    CHECK_EQ(bm_hz_ranks_conform(&r, &rows), 0);
    check_visits(&r, "yxyxyx", 0, two, 1);
    check_visits(&r, "yxyxyx", 1, three, 1);
    check_visits(&r, "yxyxyx", 2, odd, 2);
    for (int level = 3; level <= 6; level++)
        check_visits(&r, "yxyxyx", level, four, 4);
    check_visits(&r, "yyxxyx", 0, two, 1);
    check_visits(&r, "yyxxyx", 1, three, 1);
    check_visits(&r, "yyxxyx", 2, even, 2);
    check_visits(&r, "yyxxyx", 3, odd, 2);
    for (int level = 4; level <= 6; level++)
        check_visits(&r, "yyxxyx", level, twice, 8);

    r = plane_ranks(8, 4, BOUMA_RANK_ORDER_ROW_MAJOR);
    check_template(&r, "yyxxyx");
    CHECK_EQ(bm_hz_ranks_conform(&r, &rows), 1);
    CHECK_EQ(bm_hz_ranks_conform(&r, &turns), 0);
    check_visits(&r, "yyxxyx", 6, all, 16);
    check_visits(&r, "yxyxyx", 6, mixed, 16);
    r = plane_ranks(8, 4, BOUMA_RANK_ORDER_MORTON);
    check_template(&r, "yxyxyx");
    CHECK_EQ(bm_hz_ranks_conform(&r, &turns), 1);
    CHECK_EQ(bm_hz_ranks_conform(&r, &rows), 0);
    check_visits(&r, "yxyxyx", 6, all, 16);
    check_visits(&r, "yyxxyx", 6, mixed, 16);
}

static void figure_3_has_these_groups(void)
{
    static const int expected[8][4] = {
        /* first, last, count, their middle */
        {0, 15, 16, 7}, {0, 15, 16, 7}, {0, 7, 8, 3},  {8, 15, 8, 11},
        {0, 3, 4, 1},   {4, 7, 4, 5},   {8, 11, 4, 9}, {12, 15, 4, 13}};
    struct bm_hz_ranks r = plane_ranks(16, 4, BOUMA_RANK_ORDER_MORTON);
    struct bm_hz hz = template_of("yxyxyxyx");
    struct hz_groups groups;

    for (int b = 0; b <= 5; b++) { /* blocks of any size: 32 samples a file */
        uint64_t blocks = (uint64_t)1 << (5 - b);

        REQUIRE(!hz_groups_init(&groups, bm_allocator_default(), &r, &hz, b));
        for (uint64_t f = 0; f < 8; f++) {
            struct hz_group g =
                hz_groups_find(&groups, f * blocks, (f + 1) * blocks);

            CHECK_EQ(g.first, expected[f][0]);
            CHECK_EQ(g.last, expected[f][1]);
            CHECK_EQ(g.count, expected[f][2]);
            CHECK_EQ((g.first + g.last) / 2, expected[f][3]);
        }
        hz_groups_release(&groups);
    }
}

/* 512 ranks of 32^3 samples, row-major, 32 files. */
static void figure_6_has_one_prefix_that_conforms(void)
{
    static const struct {
        const char *prefix;
        int conforms;
        int middle[31]; /* of files 1 to 31: between the ranks of their first
                           and last sample */
    } cases[] = {
        {"zzzyyyxxx", 1, {255, 127, 383, 63,  191, 319, 447, 31,  95,  159, 223,
                          287, 351, 415, 479, 15,  47,  79,  111, 143, 175, 207,
                          239, 271, 303, 335, 367, 399, 431, 463, 495}},
        {"xxxyyyzzz", 0, {255, 253, 257, 252, 254, 256, 258, 252, 253, 254, 255,
                          256, 257, 258, 259, 236, 268, 237, 269, 238, 270, 239,
                          271, 240, 272, 241, 273, 242, 274, 243, 275}},
        {"zyxzyxzyx", 0, {255, 127, 383, 111, 143, 367, 399, 109, 113, 141, 145,
                          365, 369, 397, 401, 45,  173, 49,  177, 77,  205, 81,
                          209, 301, 429, 305, 433, 333, 461, 337, 465}},
    };
    const int64_t shape[3] = {256, 256, 256}, block[3] = {32, 32, 32};
    struct bm_hz_ranks r = ranks_of(shape, block, (int64_t[3]){8, 8, 8},
                                    BOUMA_RANK_ORDER_ROW_MAJOR);

    check_template(&r, "zzzyyyxxxzyxzyxzyxzyxzyx");
    for (int c = 0; c < 3; c++) {
        char text[BM_HZ_BITS + 1];
        struct hz_groups groups;
        struct bm_hz hz;

        snprintf(text, sizeof(text), "%szyxzyxzyxzyxzyx", cases[c].prefix);
        hz = template_of(text);
        CHECK_EQ(bm_hz_ranks_conform(&r, &hz), cases[c].conforms);
        REQUIRE(!hz_groups_init(&groups, bm_allocator_default(), &r, &hz, 19));
        for (uint64_t f = 1; f < 32; f++) {
            struct hz_group g = hz_groups_find(&groups, f, f + 1);
            int64_t at[3];
            int first, last;

            bm_hz_index_of(&hz, bm_hz_to_z(&hz, f << 19), at);
            first = bm_hz_ranks_of_sample(&r, at);
            bm_hz_index_of(&hz, bm_hz_to_z(&hz, (f << 19) + (1 << 19) - 1), at);
            last = bm_hz_ranks_of_sample(&r, at);
            CHECK_EQ((first + last) / 2, cases[c].middle[f - 1]);
            if (cases[c].conforms) {
                CHECK_EQ(g.first, first);
                CHECK_EQ(g.last, last);
            }
        }
        hz_groups_release(&groups);
    }
}

int main(void)
{
    ranks_are_numbered_without_gaps();
    bad_decompositions_are_refused();
    conforming_is_what_all_samples_say();
    boxes_hold_their_samples();
    near_templates_cover_the_domain();
    templates_of_ranks_conform();
    templates_of_ranks_begin_as_ranks_go();
    groups_are_the_ranks_with_samples();
    many_ranks_have_groups_that_follow_each_other();
    figures_2_and_4_conform_or_do_not();
    figure_3_has_these_groups();
    figure_6_has_one_prefix_that_conforms();
    return check_result();
}
