/* Sizes of ranks: read from JSON, and interpolated for other grids of ranks. */
#include "check.h"
#include "size_grid.h"

static bool parse(struct size_grid *grid, const char *text)
{
    char message[200] = "";
    bool done =
        size_grid_parse(grid, text, strlen(text), message, sizeof(message));

    CHECK_EQ(done, !*message);
    return done;
}

/* Two variables on 3 x 2 x 2 ranks. */
static const char example[] =
    "{\"format\": \"bouma-size-grid\", \"ranks\": [3, 2, 2], \"variables\": ["
    "{\"name\": \"T\", \"bytes\": [10, 20, 30, 40, 50, 60,"
    " 110, 120, 130, 140, 150, 160]},"
    "{\"name\": \"p\", \"bytes\": [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,"
    " 9007199254740992]}]}";

static void a_file_is_read(void)
{
    struct size_grid grid;

    REQUIRE(parse(&grid, example));
    CHECK_EQ(grid.ranks[0], 3);
    CHECK_EQ(grid.ranks[1], 2);
    CHECK_EQ(grid.ranks[2], 2);
    CHECK_EQ(grid.count, 2);
    CHECK_EQ(size_grid_find(&grid, "p"), 1);
    CHECK_EQ(size_grid_find(&grid, "q"), -1);
    CHECK_EQ(grid.variables[0].bytes[5], 60);
    CHECK_EQ(grid.variables[1].bytes[11], SIZE_GRID_MOST_BYTES);
    size_grid_release(&grid);
}

#define FILE_OF(ranks, variables)                                              \
    "{\"format\": \"bouma-size-grid\", \"ranks\": " ranks                      \
    ", \"variables\": " variables "}"

static void what_is_no_size_grid_is_refused(void)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"format\": \"other\", \"ranks\": [1, 1, 1], \"variables\": "
        "[{\"name\": \"T\", \"bytes\": [1]}]}",
        FILE_OF("[1, 1]", "[{\"name\": \"T\", \"bytes\": [1]}]"),
        FILE_OF("[1, 1, 0]", "[{\"name\": \"T\", \"bytes\": []}]"),
        FILE_OF("[1, 1, -1]", "[{\"name\": \"T\", \"bytes\": [1]}]"),
        FILE_OF("[1, 1, 1.0]", "[{\"name\": \"T\", \"bytes\": [1]}]"),
        FILE_OF("[4294967296, 4294967296, 4294967296]",
                "[{\"name\": \"T\", \"bytes\": [1]}]"),
        FILE_OF("[4096, 4097, 1]", "[{\"name\": \"T\", \"bytes\": [1]}]"),
        FILE_OF("[1, 1, 1]", "[]"),
        FILE_OF("[1, 1, 1]", "{}"),
        FILE_OF("[1, 1, 1]", "[1]"),
        FILE_OF("[1, 1, 1]", "[{\"bytes\": [1]}]"),
        FILE_OF("[1, 1, 1]", "[{\"name\": \"\", \"bytes\": [1]}]"),
        FILE_OF("[1, 1, 1]", "[{\"name\": \"T\"}]"),
        FILE_OF("[1, 1, 1]", "[{\"name\": \"T\", \"bytes\": [1, 2]}]"),
        FILE_OF("[1, 1, 1]", "[{\"name\": \"T\", \"bytes\": [-1]}]"),
        FILE_OF("[1, 1, 1]", "[{\"name\": \"T\", \"bytes\": [0.5]}]"),
        FILE_OF("[1, 1, 1]", "[{\"name\": \"T\", \"bytes\": [\"1\"]}]"),
        FILE_OF("[1, 1, 1]",
                "[{\"name\": \"T\", \"bytes\": [9007199254740993]}]"),
        FILE_OF("[1, 1, 1]", "[{\"name\": \"T\", \"bytes\": [1]}, "
                             "{\"name\": \"T\", \"bytes\": [1]}]"),
        FILE_OF("[1, 1, 1]", "[{\"name\": \"T\", \"bytes\": [1]}]") "x",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct size_grid grid;

        if (parse(&grid, texts[i])) {
            printf("accepted: %s\n", texts[i]);
            CHECK(!"refused");
        }
        size_grid_release(&grid);
    }
}

static void the_same_ranks_have_the_same_sizes(void)
{
    struct size_grid grid;

    REQUIRE(parse(&grid, example));
    for (int64_t i = 0; i < 12; i++) {
        int64_t at[3] = {i % 3, i / 3 % 2, i / 6};

        CHECK_EQ(size_grid_bytes(&grid, 0, grid.ranks, at),
                 grid.variables[0].bytes[i]);
        CHECK_EQ(size_grid_bytes(&grid, 1, grid.ranks, at),
                 grid.variables[1].bytes[i]);
        CHECK_EQ(size_grid_bytes_of_all(&grid, grid.ranks, at),
                 grid.variables[0].bytes[i] + grid.variables[1].bytes[i]);
    }
    size_grid_release(&grid);
}

/* Sizes 100, 200, 400 at 1/6, 1/2 and 5/6; centres of 6 blocks at 1/12, 3/12,
 * ...: a quarter of the way between, and constant outside. */
static void sizes_are_interpolated_between_centres(void)
{
    static const uint64_t expected[6] = {100, 125, 175, 250, 350, 400};
    static const int64_t ranks[3] = {6, 1, 1}, middle[3] = {1, 1, 1};
    struct size_grid grid;

    REQUIRE(parse(&grid, FILE_OF("[3, 1, 1]", "[{\"name\": \"T\", \"bytes\": "
                                              "[100, 200, 400]}]")));
    for (int64_t x = 0; x < 6; x++) {
        int64_t at[3] = {x, 0, 0};

        CHECK_EQ(size_grid_bytes(&grid, 0, ranks, at), expected[x]);
    }
    CHECK_EQ(size_grid_bytes(&grid, 0, middle, (int64_t[3]){0, 0, 0}), 200);
    size_grid_release(&grid);
}

/* What is linear in all three axes stays so, between the outermost centres. */
static void each_axis_counts(void)
{
    static const int64_t ranks[3] = {6, 4, 4};
    struct size_grid grid;

    REQUIRE(parse(&grid, example));
    for (int64_t z = 1; z < 3; z++)
        for (int64_t y = 1; y < 3; y++)
            for (int64_t x = 1; x < 5; x++) {
                /* 10 + 10 X + 30 Y + 100 Z at the centres */
                double expected = 10 + 10 * ((double)x / 2 - 0.25) +
                                  30 * ((double)y / 2 - 0.25) +
                                  100 * ((double)z / 2 - 0.25);
                int64_t at[3] = {x, y, z};

                CHECK_EQ(size_grid_bytes(&grid, 0, ranks, at),
                         (uint64_t)(expected + 0.5));
            }
    size_grid_release(&grid);
}

/* Of 2^20 ranks, none has more than the largest or less than the smallest. */
static void a_million_ranks_stay_within_bounds(void)
{
    static const int64_t ranks[3] = {128, 128, 64};
    struct size_grid grid;
    uint64_t low = UINT64_MAX, high = 0;

    REQUIRE(parse(&grid, example));
    for (int64_t z = 0; z < 64; z++)
        for (int64_t y = 0; y < 128; y++)
            for (int64_t x = 0; x < 128; x++) {
                uint64_t n =
                    size_grid_bytes(&grid, 0, ranks, (int64_t[3]){x, y, z});

                low = n < low ? n : low;
                high = n > high ? n : high;
            }
    CHECK_EQ(low, 10);
    CHECK_EQ(high, 160);
    size_grid_release(&grid);
}

int main(void)
{
    a_file_is_read();
    what_is_no_size_grid_is_refused();
    the_same_ranks_have_the_same_sizes();
    sizes_are_interpolated_between_centres();
    each_axis_counts();
    a_million_ranks_stay_within_bounds();
    return check_result();
}
