/* Bytes shared out among the ranks of a grid. */
#include <math.h>

#include "check.h"
#include "size_cells.h"

static void a_box_is_shared_out_by_volume(void)
{
    const int64_t ranks[3] = {2, 1, 2};
    struct size_cells c;
    uint64_t bytes[4];

    /* A fourth of it is left of the middle, a half below it. */
    REQUIRE(size_cells_init(&c, ranks, (double[3]){10, 10, 10}));
    size_cells_add_box(&c, (double[3]){4, 0, 3}, (double[3]){8, 5, 7}, 80);
    size_cells_share(&c, 80, bytes);
    CHECK_EQ(bytes[0], 10);
    CHECK_EQ(bytes[1], 30);
    CHECK_EQ(bytes[2], 10);
    CHECK_EQ(bytes[3], 30);
    size_cells_release(&c);
}

static void a_box_may_meet_many_ranks(void)
{
    const int64_t ranks[3] = {7, 1, 1};
    struct size_cells c;
    uint64_t bytes[7];

    REQUIRE(size_cells_init(&c, ranks, (double[3]){1, 1, 1}));
    size_cells_add_box(&c, (double[3]){0, 0, 0}, (double[3]){1, 1, 1}, 1);
    size_cells_share(&c, 700, bytes);
    for (int i = 0; i < 7; i++)
        CHECK(bytes[i] >= 99 && bytes[i] <= 101);
    size_cells_release(&c);
}

static void a_point_is_of_one_rank(void)
{
    const int64_t ranks[3] = {2, 2, 1};
    static const double at[][3] = {{0, 0, 0},       {1.5, 0, 0},     {-1, 3, 0},
                                   {2, 2, 2},       {9, 9, 9},       {1, 1, 0},
                                   {NAN, NAN, NAN}, {INFINITY, 0, 0}};
    struct size_cells c;
    uint64_t bytes[4];

    REQUIRE(size_cells_init(&c, ranks, (double[3]){2, 2, 2}));
    for (int i = 0; i < 8; i++)
        size_cells_add_point(&c, at[i], 1);
    size_cells_share(&c, 8, bytes);
    CHECK_EQ(bytes[0], 2);
    CHECK_EQ(bytes[1], 2);
    CHECK_EQ(bytes[2], 1);
    CHECK_EQ(bytes[3], 3);
    size_cells_release(&c);
}

/* Whatever the weights are. */
static void the_sum_is_exact(void)
{
    const int64_t ranks[3] = {5, 5, 4};
    struct size_cells c;
    uint64_t bytes[100];

    for (uint64_t total = 0; total < 3000; total += 37) {
        uint64_t sum = 0;

        REQUIRE(size_cells_init(&c, ranks, (double[3]){1, 1, 1}));
        for (int i = 0; i < 100 && total % 2; i++)
            c.weight[i] = i % 3 ? sin(i) * sin(i) : 0;
        size_cells_share(&c, total, bytes);
        for (int i = 0; i < 100; i++) {
            sum += bytes[i];
            CHECK(i == 99 || i == 0 || c.weight[i] > 0 || !bytes[i]);
        }
        CHECK_EQ(sum, total);
        size_cells_release(&c);
    }
}

int main(void)
{
    a_box_is_shared_out_by_volume();
    a_box_may_meet_many_ranks();
    a_point_is_of_one_rank();
    the_sum_is_exact();
    return check_result();
}
