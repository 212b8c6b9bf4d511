/* Parts of the benchmark without MPI and files: contents, medians, grids of
 * ranks, and the plan of files. */
#include "base/mix.h"
#include "bench/chunk_plan.h"
#include "bench/content.h"
#include "bench/median.h"
#include "check.h"
#include "rank_grid.h"

/* ---- contents ------------------------------------------------------------ */

static void every_wrong_byte_is_found(void)
{
    uint8_t data[67];

    for (size_t bytes = 0; bytes <= sizeof(data); bytes++) {
        content_fill(data, bytes, (struct content){3, 1});
        CHECK_EQ(content_check(data, bytes, (struct content){3, 1}), bytes);
        for (size_t i = 0; i < bytes; i++) {
            data[i] ^= 1;
            CHECK_EQ(content_check(data, bytes, (struct content){3, 1}), i);
            data[i] ^= 1;
        }
    }
}

static void other_ranks_and_variables_have_other_contents(void)
{
    uint8_t data[64];

    content_fill(data, sizeof(data), (struct content){3, 1});
    CHECK(content_check(data, 64, (struct content){3, 2}) < 64);
    CHECK(content_check(data, 64, (struct content){2, 1}) < 64);
    CHECK(content_check(data + 8, 56, (struct content){3, 1}) < 56);
}

/* ---- medians ------------------------------------------------------------- */

static void medians_are_in_the_middle(void)
{
    static const double values[] = {5, 1, 4, 2};

    CHECK(bench_median(values, 1) == 5);
    CHECK(bench_median(values, 3) == 4);
    CHECK(bench_median(values, 4) == 3);
    CHECK(bench_spread(values, 4) == 4);
    CHECK(bench_spread(values, 1) == 0);
}

/* ---- grids of ranks ------------------------------------------------------ */

static void grids_are_near_to_cubes(void)
{
    static const int64_t cubes[][4] = {
        {1, 1, 1, 1},  {2, 2, 1, 1},  {7, 7, 1, 1},      {8, 2, 2, 2},
        {12, 3, 2, 2}, {64, 4, 4, 4}, {1536, 16, 12, 8}, {4096, 16, 16, 16}};
    int64_t g[3];

    for (size_t i = 0; i < sizeof(cubes) / sizeof(cubes[0]); i++) {
        rank_grid_choose(cubes[i][0], 3, g);
        for (int d = 0; d < 3; d++)
            CHECK_EQ(g[d], cubes[i][d + 1]);
    }
    for (int64_t ranks = 1; ranks < 500; ranks++)
        for (int axes = 1; axes <= 3; axes++) {
            rank_grid_choose(ranks, axes, g);
            CHECK_EQ(rank_grid_ranks(g), ranks);
            CHECK(axes > 2 || g[2] == 1);
            CHECK(axes > 1 || g[1] == 1);
        }
}

static void ranks_are_where_they_are(void)
{
    const int64_t g[3] = {3, 4, 2};
    int64_t at[3];

    for (int64_t r = 0; r < 24; r++) {
        rank_grid_at(g, r, at);
        CHECK_EQ(rank_grid_rank(g, at), r);
    }
    rank_grid_at(g, 23, at);
    CHECK_EQ(at[0] * 100 + at[1] * 10 + at[2], 231);
}

static void grids_are_parsed(void)
{
    static const char *const wrong[] = {"",
                                        ",",
                                        "0",
                                        "4,",
                                        "4,0,1",
                                        "1,2,3,4",
                                        "-1,2",
                                        " 1",
                                        "1 , 2",
                                        "4,2,1 ",
                                        "4x2",
                                        "65536,65536",
                                        "99999999999999999999"};
    int64_t g[3];

    CHECK(rank_grid_parse("2,3,4", g) && g[0] == 4 && g[1] == 3 && g[2] == 2);
    CHECK(rank_grid_parse("3,4", g) && g[0] == 4 && g[1] == 3 && g[2] == 1);
    CHECK(rank_grid_parse("12", g) && g[0] == 12 && g[1] == 1 && g[2] == 1);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(!rank_grid_parse(wrong[i], g));
}

/* ---- the plan of files --------------------------------------------------- */

enum { RANKS = 24, VARIABLES = 3 };

static void check_plan(const struct chunk_plan *p, const uint64_t *sizes)
{
    int seen[RANKS * VARIABLES] = {0};

    for (int64_t f = 0; f < p->files.files; f++) {
        CHECK(p->files.writer[f] >= 0 && p->files.writer[f] < RANKS);
        for (size_t c = p->files.first[f]; c < p->files.first[f + 1]; c++) {
            int rank = p->owner[c], v = (int)(c % VARIABLES);

            CHECK_EQ(p->files.chunk[c], c); /* files are runs */
            CHECK_EQ(c, chunk_plan_first(p, rank) + (size_t)v);
            CHECK_EQ(p->bytes[c], sizes[rank * VARIABLES + v]);
            seen[rank * VARIABLES + v]++;
        }
    }
    for (int i = 0; i < RANKS * VARIABLES; i++)
        CHECK_EQ(seen[i], 1);
}

static uint64_t largest_file(const struct chunk_plan *p)
{
    uint64_t most = 0;

    for (int64_t f = 0; f < p->files.files; f++) {
        uint64_t bytes = 0;

        for (size_t c = p->files.first[f]; c < p->files.first[f + 1]; c++)
            bytes += p->bytes[c];
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void each_chunk_is_in_one_file_once(void)
{
    static const bouma_assign schemes[] = {
        BOUMA_ASSIGN_COUNT, BOUMA_ASSIGN_RUNNING, BOUMA_ASSIGN_OPTIMAL};
    const int64_t grid[3] = {3, 4, 2};
    struct bm_place_task place = {.scheme = BOUMA_PLACE_SPREAD, .ranks = RANKS};
    uint64_t sizes[RANKS * VARIABLES], largest[3];
    struct chunk_plan p;

    for (size_t i = 0; i < RANKS * VARIABLES; i++)
        sizes[i] = i % 5 ? bm_mix(i) % 100000 : 0;
    REQUIRE(!chunk_plan_init(&p, bm_allocator_default(), grid, VARIABLES));
    for (int64_t files = 1; files <= RANKS; files++) {
        for (int s = 0; s < 3; s++) {
            REQUIRE(!chunk_plan_make(&p, sizes, schemes[s], files, &place));
            CHECK_EQ(p.files.files, files);
            check_plan(&p, sizes);
            largest[s] = largest_file(&p);
        }
        CHECK(largest[2] <= largest[0] && largest[2] <= largest[1]);
    }
    chunk_plan_release(&p);
}

static void ranks_follow_the_morton_curve(void)
{
    static const int order[] = {0, 1, 4, 5, 2, 3, 6, 7};
    const int64_t grid[3] = {4, 2, 1};
    struct chunk_plan p;

    REQUIRE(!chunk_plan_init(&p, bm_allocator_default(), grid, 1));
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(p.rank_at[i], order[i]);
        CHECK_EQ(p.position[order[i]], i);
    }
    chunk_plan_release(&p);
}

int main(void)
{
    every_wrong_byte_is_found();
    other_ranks_and_variables_have_other_contents();
    medians_are_in_the_middle();
    grids_are_near_to_cubes();
    ranks_are_where_they_are();
    grids_are_parsed();
    each_chunk_is_in_one_file_once();
    ranks_follow_the_morton_curve();
    return check_result();
}
