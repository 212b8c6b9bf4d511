/* Boxes and Morton keys, against counting cells and bits one by one. */
#include "base/box.h"

#include "check.h"

static struct bm_box random_box(uint64_t *state, int64_t n)
{
    struct bm_box b;

    for (int d = 0; d < 3; d++) {
        b.lo[d] = check_below(state, n) - 2;
        b.hi[d] = b.lo[d] + check_below(state, n) - 1;
    }
    return b;
}

static int holds(const struct bm_box *b, const int64_t at[3])
{
    for (int d = 0; d < 3; d++)
        if (at[d] < b->lo[d] || at[d] >= b->hi[d])
            return 0;
    return 1;
}

static int same(const struct bm_box *a, const struct bm_box *b)
{
    return !memcmp(a, b, sizeof(*a));
}

static void a_lifted_box_has_its_axes_last(void)
{
    bouma_box b = {{1, 2, 3}, {4, 6, 8}};
    struct bm_box l;

    l = bm_box_lift(&b, 1);
    CHECK(same(&l, &(struct bm_box){{0, 0, 1}, {1, 1, 4}}));
    l = bm_box_lift(&b, 2);
    CHECK(same(&l, &(struct bm_box){{0, 1, 2}, {1, 4, 6}}));
    l = bm_box_lift(&b, 3);
    CHECK(same(&l, &(struct bm_box){{1, 2, 3}, {4, 6, 8}}));
}

static void lowering_undoes_lifting(void)
{
    uint64_t state = 3;

    for (int i = 0; i < 1000; i++) {
        int ndims = 1 + (int)check_below(&state, 3);
        struct bm_box random = random_box(&state, 100), lifted;
        bouma_box b = bm_box_lower(&random, 3), back;

        lifted = bm_box_lift(&b, ndims);
        back = bm_box_lower(&lifted, ndims);
        for (int d = 0; d < BOUMA_MAX_DIMS; d++) {
            CHECK_EQ(back.lo[d], d < ndims ? b.lo[d] : 0);
            CHECK_EQ(back.hi[d], d < ndims ? b.hi[d] : 0);
        }
    }
}

/* All of the box functions at once, by looking at every cell around. */
static void boxes_agree_with_their_cells(void)
{
    uint64_t state = 4;

    for (int i = 0; i < 400; i++) {
        struct bm_box a = random_box(&state, 6), b = random_box(&state, 6);
        struct bm_box meet, join = bm_box_join(&a, &b), alias = a;
        int met = bm_box_meet(&meet, &a, &b), inside = 1;
        uint64_t in_a = 0, in_b = 0, in_both = 0;
        struct bm_box around = {{99, 99, 99}, {-99, -99, -99}};
        int64_t at[3];

        for (at[0] = -3; at[0] < 12; at[0]++)
            for (at[1] = -3; at[1] < 12; at[1]++)
                for (at[2] = -3; at[2] < 12; at[2]++) {
                    int of_a = holds(&a, at), of_b = holds(&b, at);

                    in_a += (uint64_t)of_a;
                    in_b += (uint64_t)of_b;
                    in_both += (uint64_t)(of_a && of_b);
                    inside &= !of_a || of_b;
                    CHECK_EQ(met && holds(&meet, at), of_a && of_b);
                    for (int d = 0; d < 3 && (of_a || of_b); d++) {
                        if (at[d] < around.lo[d])
                            around.lo[d] = at[d];
                        if (at[d] >= around.hi[d])
                            around.hi[d] = at[d] + 1;
                    }
                }
        CHECK_EQ(bm_box_volume(&a), in_a);
        CHECK_EQ(bm_box_volume(&b), in_b);
        CHECK_EQ(met, in_both > 0);
        if (in_a)
            CHECK_EQ(bm_box_inside(&a, &b), inside);
        if (in_a || in_b)
            CHECK(same(&join, &around));
        else
            CHECK_EQ(bm_box_volume(&join), 0);
        CHECK_EQ(bm_box_meet(&alias, &alias, &b), met);
        CHECK(same(&alias, &meet));
    }
}

static void a_box_is_told_in_the_axes_of_its_grid(void)
{
    struct bm_box b = {{0, 4, 7}, {1, 8, 1000000000000}};
    char text[64];

    bm_box_text(text, sizeof(text), &b, 3);
    CHECK(!strcmp(text, "[0:1,4:8,7:1000000000000]"));
    bm_box_text(text, sizeof(text), &b, 2);
    CHECK(!strcmp(text, "[4:8,7:1000000000000]"));
    bm_box_text(text, sizeof(text), &b, 1);
    CHECK(!strcmp(text, "[7:1000000000000]"));
}

static void a_text_never_runs_over(void)
{
    struct bm_box b = {{123, 456, 789}, {1234, 4567, 7890}};
    char full[64];

    bm_box_text(full, sizeof(full), &b, 3);
    for (size_t n = 1; n < sizeof(full); n++) {
        char *text = malloc(n);

        REQUIRE(text);
        memset(text, '#', n);
        bm_box_text(text, n, &b, 3);
        CHECK(memchr(text, 0, n) != NULL);
        CHECK(!strncmp(text, full, n - 1));
        free(text);
    }
}

/* One bit at a time: bit i of axis d goes to bit i * ndims + (2 - d). */
static uint64_t slow_morton(const int64_t at[3], int ndims)
{
    uint64_t key = 0;

    for (int d = 3 - ndims; d < 3; d++)
        for (int i = 0; i < bm_morton_bits(ndims); i++)
            key |= ((uint64_t)at[d] >> i & 1) << (i * ndims + 2 - d);
    return key;
}

static void keys_interleave_bits(void)
{
    uint64_t state = 5;

    CHECK_EQ(bm_morton_bits(1), 63);
    CHECK_EQ(bm_morton_bits(2), 31);
    CHECK_EQ(bm_morton_bits(3), 21);
    for (int ndims = 1; ndims <= 3; ndims++)
        for (int i = 0; i < 3000; i++) {
            int bits = 1 + (int)check_below(&state, bm_morton_bits(ndims));
            int64_t at[3] = {0, 0, 0}, back[3] = {-1, -1, -1};
            uint64_t key;

            for (int d = 3 - ndims; d < 3; d++)
                at[d] = (int64_t)(check_random(&state) >> (64 - bits));
            key = bm_morton(at, ndims);
            CHECK(key == slow_morton(at, ndims));
            CHECK_EQ(key >> 63, 0);
            bm_morton_invert(back, key, ndims);
            for (int d = 0; d < 3; d++)
                CHECK_EQ(back[d], at[d]);
        }
}

static void each_single_bit_goes_round(void)
{
    for (int ndims = 1; ndims <= 3; ndims++)
        for (int d = 3 - ndims; d < 3; d++)
            for (int i = 0; i < bm_morton_bits(ndims); i++) {
                int64_t at[3] = {0, 0, 0}, back[3];

                at[d] = (int64_t)1 << i;
                CHECK(bm_morton(at, ndims) == (uint64_t)1
                                                  << (i * ndims + 2 - d));
                bm_morton_invert(back, bm_morton(at, ndims), ndims);
                CHECK(!memcmp(at, back, sizeof(at)));
            }
}

int main(void)
{
    a_lifted_box_has_its_axes_last();
    lowering_undoes_lifting();
    boxes_agree_with_their_cells();
    a_box_is_told_in_the_axes_of_its_grid();
    a_text_never_runs_over();
    keys_interleave_bits();
    each_single_bit_goes_round();
    return check_result();
}
