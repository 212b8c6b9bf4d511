/* Localized aggregation: writers inside the groups of their files, the formula
 * of the middle, files that share a place, against a slow search; and the
 * figures of the paper. */
#include "plan/placement.h"

#include <stdlib.h>

#include "check.h"
#include "fault_alloc.h"
#include "hz_groups.h"
#include "seconds.h"
#include "templates.h"
#include "torus.h"

static const bouma_allocator *memory(void)
{
    return bm_allocator_default();
}

/* ---- groups that are made by hand ---------------------------------------- */

static void groups_init(struct bm_gathering *g, int64_t files, int ranks,
                        size_t senders)
{
    *g = (struct bm_gathering){.a = memory(), .files = files, .ranks = ranks};
    g->first = bm_new(g->a, (size_t)files + 1, sizeof(*g->first));
    g->rank = bm_new(g->a, senders, sizeof(*g->rank));
    g->bytes = bm_new(g->a, senders, sizeof(*g->bytes));
    g->series = bm_new(g->a, (size_t)files, sizeof(*g->series));
    REQUIRE(g->first && g->rank && g->bytes && g->series);
}

/* One more rank of a file; files and their ranks ascend. */
static void add_sender(struct bm_gathering *g, int64_t file, int rank)
{
    size_t n = g->first[file + 1];

    if (n < g->first[file])
        n = g->first[file];
    g->rank[n] = rank;
    g->bytes[n] = 1;
    for (int64_t f = file; f < g->files; f++)
        g->first[f + 1] = n + 1;
}

static void place(int *writer, const struct bm_gathering *g)
{
    struct bm_place_task task = {.scheme = BOUMA_PLACE_LOCAL,
                                 .ranks = g->ranks};

    REQUIRE(!bm_place_files(writer, NULL, memory(), &task, g->files, g));
}

static int is_sender(const struct bm_gathering *g, int64_t file, int rank)
{
    for (size_t i = g->first[file]; i < g->first[file + 1]; i++)
        if (g->rank[i] == rank)
            return 1;
    return 0;
}

/* ---- the formula --------------------------------------------------------- */

/* All ranks of a range send to each of some files: of their series. */
static void check_range(int first, int last, const int *series,
                        const int *expected, int files)
{
    struct bm_gathering g;
    int writer[16];

    groups_init(&g, files, last + 1, (size_t)(files * (last - first + 1)));
    for (int f = 0; f < files; f++) {
        g.series[f] = series[f];
        for (int r = first; r <= last; r++)
            add_sender(&g, f, r);
    }
    place(writer, &g);
    for (int f = 0; f < files; f++)
        CHECK_EQ(writer[f], expected[f]);
    bm_gathering_release(&g);
}

static void one_file_is_written_in_the_middle(void)
{
    static const int ranges[][3] = {
        {0, 0, 0},     {0, 1, 0},       {7, 8, 7},         {3, 5, 4},
        {0, 511, 255}, {100, 131, 115}, {1000, 1000, 1000}};

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        check_range(ranges[i][0], ranges[i][1], (int[]){0}, &ranges[i][2], 1);
}

static void series_share_a_range_evenly(void)
{
    /* f + (i + 1) (l - f) / (n + 1): the printed formula would give 400, 800
     * and 1200. */
    check_range(700, 900, (int[]){0, 1, 2}, (int[]){750, 800, 850}, 3);
    check_range(700, 900, (int[]){5, 9}, (int[]){766, 833}, 2);
    /* Whatever the order of files and the numbers of series. */
    check_range(700, 900, (int[]){2, 0, 1}, (int[]){850, 750, 800}, 3);
    /* The first file of a series begins at f. */
    check_range(0, 15, (int[]){0, 0}, (int[]){0, 7}, 2);
    check_range(64, 127, (int[]){0, 0}, (int[]){64, 95}, 2);
    /* Two files each: 0, 1/2 and 1/3, 2/3. */
    check_range(0, 60, (int[]){0, 0, 1, 1}, (int[]){0, 20, 30, 40}, 4);
    /* Three of one: the middle is that of the last; thirds for the others. */
    check_range(0, 60, (int[]){0, 0, 0}, (int[]){0, 20, 30}, 3);
}

static void files_have_writers_of_their_own_while_ranks_are_free(void)
{
    static const int same[16] = {0};

    /* 5, 5 and 6 are wanted. */
    check_range(5, 7, same, (int[]){5, 6, 7}, 3);
    check_range(5, 5, same, (int[]){5, 5, 5}, 3);
    for (int ranks = 1; ranks <= 16; ranks++)
        for (int files = 1; files <= 16; files++) {
            int writer[16], count[16] = {0};
            struct bm_gathering g;

            groups_init(&g, files, ranks, (size_t)(files * ranks));
            for (int f = 0; f < files; f++)
                for (int r = 0; r < ranks; r++)
                    add_sender(&g, f, r);
            place(writer, &g);
            for (int f = 0; f < files; f++)
                count[writer[f]]++;
            for (int r = 0; r < ranks; r++)
                CHECK(count[r] == files / ranks ||
                      count[r] == (files + ranks - 1) / ranks);
            bm_gathering_release(&g);
        }
}

/* Files of chunks that layouts have fixed: each is a series of its grid's. Those
 * behind them are one more. */
static void fixed_files_are_of_their_grids(void)
{
    static const int series[2] = {0, 1};
    struct bm_place_task task = {.scheme = BOUMA_PLACE_LOCAL, .ranks = 11};
    uint64_t bytes[33];
    uint32_t fixed[33];
    int owner[33];
    struct bm_chunk_sizes sizes = {.count = 33,
                                   .bytes = bytes,
                                   .owner = owner,
                                   .fixed = fixed,
                                   .fixed_files = 2,
                                   .series = series};

    for (int i = 0; i < 33; i++) {
        bytes[i] = 100;
        owner[i] = i % 11;
        fixed[i] = i < 22 ? (uint32_t)(i / 11) : BM_ANY_FILE;
    }
    for (int known = 0; known < 2; known++) {
        struct bm_assignment files;

        sizes.series = known ? series : NULL;
        REQUIRE(
            !bm_assign(&files, memory(), BOUMA_ASSIGN_OPTIMAL, &sizes, 3, 11));
        CHECK_EQ(files.files, 3);
        REQUIRE(!bm_place_chunks(&files, &task, &sizes));
        /* Series -1, 0 and 1: 1/4, 1/2 and 3/4 of 10. Of one: 0, 1/3, 1/2. */
        CHECK_EQ(files.writer[0], known ? 5 : 0);
        CHECK_EQ(files.writer[1], known ? 7 : 3);
        CHECK_EQ(files.writer[2], known ? 2 : 5);
        bm_assignment_release(&files);
    }
}

/* A file with many senders leaves the only one of another alone. */
static void small_groups_choose_first(void)
{
    struct bm_gathering g;
    int writer[2];

    groups_init(&g, 2, 5, 6);
    for (int r = 0; r < 5; r++)
        add_sender(&g, 0, r);
    add_sender(&g, 1, 2);
    place(writer, &g);
    CHECK_EQ(writer[0], 1); /* as near as 3, and lower */
    CHECK_EQ(writer[1], 2);
    bm_gathering_release(&g);
}

/* ---- groups with gaps ---------------------------------------------------- */

/* Boxes of ranks in a grid of them: the middle along each axis. */
static void boxes_are_written_in_their_middle(void)
{
    enum { N = 16 };
    static const int extents[] = {1, 2, 3, 4, 5, 8};
    enum { KINDS = sizeof(extents) / sizeof(extents[0]) };

    for (int n = 0; n < KINDS * KINDS * KINDS; n++) {
        int e[3] = {extents[n / KINDS / KINDS], extents[n / KINDS % KINDS],
                    extents[n % KINDS]};
        int at[3] = {n % 8, n % 5, n % 7}, writer;
        struct bm_gathering g;

        groups_init(&g, 1, N * N * N, (size_t)(e[0] * e[1] * e[2]));
        for (int z = at[0]; z < at[0] + e[0]; z++)
            for (int y = at[1]; y < at[1] + e[1]; y++)
                for (int x = at[2]; x < at[2] + e[2]; x++)
                    add_sender(&g, 0, (z * N + y) * N + x);
        place(&writer, &g);
        CHECK_EQ(writer / N / N, at[0] + (e[0] - 1) / 2);
        CHECK_EQ(writer / N % N, at[1] + (e[1] - 1) / 2);
        CHECK_EQ(writer % N, at[2] + (e[2] - 1) / 2);
        bm_gathering_release(&g);
    }
}

/* The next file, after 'before', that chooses: by senders, then by number; -1:
 * none. */
static int64_t next_to_choose(const struct bm_gathering *g, int64_t before)
{
    int64_t next = -1;
    size_t least = 0, n;

    for (int64_t f = 0; f < g->files; f++) {
        size_t old = before < 0 ? 0 : g->first[before + 1] - g->first[before];

        n = g->first[f + 1] - g->first[f];
        if (n > old || (n == old && f > before))
            if (next < 0 || n < least) {
                next = f;
                least = n;
            }
    }
    return next;
}

/* Groups of any kind: each writer is a sender, and at its turn no other one had
 * fewer files. */
static void writers_send_to_their_files(void)
{
    uint64_t state = 1;

    for (int n = 0; n < 2000; n++) {
        int ranks = 1 + (int)check_below(&state, 40);
        int files = 1 + (int)check_below(&state, 12);
        int sparse = 1 + (int)check_below(&state, 6);
        int writer[12], again[12], count[40] = {0};
        struct bm_gathering g;

        groups_init(&g, files, ranks, (size_t)(files * ranks));
        for (int f = 0; f < files; f++) {
            g.series[f] = (int)check_below(&state, 3);
            for (int r = 0; r < ranks; r++)
                if (!check_below(&state, sparse))
                    add_sender(&g, f, r);
        }
        place(writer, &g);
        place(again, &g);
        for (int f = 0; f < files; f++) {
            CHECK_EQ(writer[f], again[f]);
            if (g.first[f + 1] == g.first[f])
                CHECK_EQ(writer[f], bm_spread_file(files, ranks, f));
        }
        for (int64_t f = next_to_choose(&g, -1); f >= 0;
             f = next_to_choose(&g, f)) {
            if (g.first[f + 1] == g.first[f])
                continue;
            CHECK(is_sender(&g, f, writer[f]));
            for (size_t i = g.first[f]; i < g.first[f + 1]; i++)
                CHECK(count[g.rank[i]] >= count[writer[f]]);
            count[writer[f]]++;
        }
        bm_gathering_release(&g);
    }
}

/* ---- the paper's figures ------------------------------------------------- */

/* The ranks that hold samples of each file of some blocks. */
static void groups_of_order(struct bm_gathering *g, const struct bm_hz_ranks *r,
                            const struct bm_hz *hz, int block_bits,
                            int64_t files)
{
    struct hz_groups groups;
    uint64_t blocks =
        ((uint64_t)1 << (hz->bits - block_bits)) / (uint64_t)files;
    size_t senders = 0;

    REQUIRE(!hz_groups_init(&groups, memory(), r, hz, block_bits));
    for (int64_t f = 0; f < files; f++)
        senders += (size_t)hz_groups_find(&groups, (uint64_t)f * blocks,
                                          (uint64_t)(f + 1) * blocks)
                       .count;
    groups_init(g, files, r->count, senders);
    for (int64_t f = 0; f < files; f++) {
        size_t n = g->first[f];
        struct hz_group group = hz_groups_find(&groups, (uint64_t)f * blocks,
                                               (uint64_t)(f + 1) * blocks);

        for (int rank = group.first; rank >= 0 && rank <= group.last; rank++)
            if (groups.seen[rank] == groups.turn) {
                g->rank[n] = rank;
                g->bytes[n++] = (blocks << block_bits) / (uint64_t)group.count;
            }
        g->first[f + 1] = n;
    }
    hz_groups_release(&groups);
}

static struct bm_hz_ranks ranks_of(const int64_t shape[3],
                                   const int64_t block[3],
                                   const int64_t grid[3],
                                   bouma_rank_order order)
{
    struct bm_hz_ranks r;

    REQUIRE(!bm_hz_ranks_init(&r, shape, block, grid, order));
    return r;
}

/* 16 ranks of 4 x 4 samples in Morton order, 32 samples a file. */
static void figure_3_has_these_writers(void)
{
    static const int expected[8] = {0, 7, 3, 11, 1, 5, 9, 13};
    struct bm_hz_ranks r =
        ranks_of((int64_t[3]){1, 16, 16}, (int64_t[3]){1, 4, 4},
                 (int64_t[3]){1, 4, 4}, BOUMA_RANK_ORDER_MORTON);
    struct bm_hz hz = template_of("yxyxyxyx");

    for (int b = 0; b <= 5; b++) {
        struct bm_gathering g;
        int writer[8];

        groups_of_order(&g, &r, &hz, b, 8);
        place(writer, &g);
        for (int f = 0; f < 8; f++)
            CHECK_EQ(writer[f], expected[f]);
        bm_gathering_release(&g);
    }
}

/* 512 ranks of 32^3 samples, row-major, 32 files. The prefix that conforms to
 * the ranks has the figure's writers. The figure goes by the first and the last
 * sample of a file; with other prefixes, few of its writers hold samples of
 * their files. */
static void figure_6_has_these_writers(void)
{
    static const struct {
        const char *prefix;
        int inside, same; /* how many of the figure's are in their groups, and
                             ours too */
        int figure[32];
    } cases[] = {
        {"zzzyyyxxx", 32, 32, {0,   255, 127, 383, 63,  191, 319, 447,
                               31,  95,  159, 223, 287, 351, 415, 479,
                               15,  47,  79,  111, 143, 175, 207, 239,
                               271, 303, 335, 367, 399, 431, 463, 495}},
        {"xxxyyyzzz", 2, 1, {0,   255, 253, 257, 252, 254, 256, 258,
                             252, 253, 254, 255, 256, 257, 258, 259,
                             236, 268, 237, 269, 238, 270, 239, 271,
                             240, 272, 241, 273, 242, 274, 243, 275}},
        {"zyxzyxzyx", 4, 4, {0,   255, 127, 383, 111, 143, 367, 399,
                             109, 113, 141, 145, 365, 369, 397, 401,
                             45,  173, 49,  177, 77,  205, 81,  209,
                             301, 429, 305, 433, 333, 461, 337, 465}},
    };
    struct bm_hz_ranks r =
        ranks_of((int64_t[3]){256, 256, 256}, (int64_t[3]){32, 32, 32},
                 (int64_t[3]){8, 8, 8}, BOUMA_RANK_ORDER_ROW_MAJOR);

    for (int c = 0; c < 3; c++) {
        int writer[32], same = 0, inside = 0;
        char text[BM_HZ_BITS + 1];
        struct bm_gathering g;
        struct bm_hz hz;

        snprintf(text, sizeof(text), "%szyxzyxzyxzyxzyx", cases[c].prefix);
        hz = template_of(text);
        groups_of_order(&g, &r, &hz, 19, 32);
        place(writer, &g);
        for (int f = 0; f < 32; f++) {
            CHECK(is_sender(&g, f, writer[f]));
            for (int k = 0; k < f; k++)
                CHECK(writer[f] != writer[k]);
            same += writer[f] == cases[c].figure[f];
            inside += is_sender(&g, f, cases[c].figure[f]);
            CHECK_EQ(bm_spread_file(32, 512, f), 16 * f);
        }
        CHECK_EQ(same, cases[c].same);
        CHECK_EQ(inside, cases[c].inside);
        bm_gathering_release(&g);
    }
}

/* ---- many ranks ---------------------------------------------------------- */

/* The HZ order of 32^3 samples a rank that conforms to the ranks of a torus. */
static void compare_with_spread(int edge, int64_t files)
{
    struct torus torus = {{edge, edge, edge}, 1};
    struct bm_network network = torus_network(&torus);
    const int64_t grid[3] = {edge, edge, edge}, block[3] = {32, 32, 32};
    const int64_t shape[3] = {32 * edge, 32 * edge, 32 * edge};
    struct bm_hz_ranks r =
        ranks_of(shape, block, grid, BOUMA_RANK_ORDER_ROW_MAJOR);
    int local[2048], spread[2048];
    struct bm_gathering g;
    struct bm_hz hz;
    double ratio;

    REQUIRE(!bm_hz_ranks_template(&hz, &r));
    groups_of_order(&g, &r, &hz, 15, files);
    place(local, &g);
    for (int f = 0; f < files; f++)
        spread[f] = bm_spread_file(files, r.count, f);
    ratio =
        bm_byte_hops(&network, &g, local) / bm_byte_hops(&network, &g, spread);
    printf("byte-hops of place=local, HZ order, torus:%dx%dx%d, %d files: %.3f "
           "of spread\n",
           edge, edge, edge, (int)files, ratio);
    CHECK(ratio < 0.65);
    bm_gathering_release(&g);
}

static void bytes_go_over_fewer_links(void)
{
    compare_with_spread(8, 32);
    compare_with_spread(8, 256);
    compare_with_spread(16, 256);
    compare_with_spread(16, 2048);
}

/* 131,072 ranks with 32^3 samples each, 8192 files: all writers differ, and
 * those of a level are evenly apart. */
static void many_ranks_have_writers_evenly_apart(void)
{
    enum { FILES = 8192, RANKS = 131072 };
    struct bm_hz_ranks r =
        ranks_of((int64_t[3]){1024, 2048, 2048}, (int64_t[3]){32, 32, 32},
                 (int64_t[3]){32, 64, 64}, BOUMA_RANK_ORDER_ROW_MAJOR);
    int *writer = calloc(FILES, sizeof(*writer));
    char *writes = calloc(RANKS, 1);
    struct bm_gathering g;
    struct bm_hz hz;
    double since;

    REQUIRE(writer && writes && !bm_hz_ranks_template(&hz, &r));
    since = now();
    groups_of_order(&g, &r, &hz, 15, FILES);
    printf("%d ranks, %d files: groups in %.3f s, ", RANKS, FILES,
           now() - since);
    since = now();
    place(writer, &g);
    printf("%zu senders placed in %.3f s\n", g.first[FILES], now() - since);
    CHECK_EQ(writer[0], 0);
    for (int level = 1; level < FILES; level *= 2)
        for (int f = level; f < 2 * level; f++) {
            int group = RANKS / level;

            CHECK_EQ(writer[f], (f - level) * group + (group - 1) / 2);
        }
    for (int f = 0; f < FILES; f++) {
        CHECK(!writes[writer[f]]);
        writes[writer[f]] = 1;
    }
    bm_gathering_release(&g);
    free(writer);
    free(writes);
}

static void no_memory_is_told_and_none_is_lost(void)
{
    struct bm_place_task task = {.scheme = BOUMA_PLACE_LOCAL, .ranks = 4};
    struct fault_alloc faults;
    int writer[2], rc = BOUMA_ENOMEM, tries = 0;
    struct bm_gathering g;

    groups_init(&g, 2, 4, 8);
    for (int i = 0; i < 8; i++)
        add_sender(&g, i / 4, i % 4);
    fault_alloc_init(&faults);
    for (; rc; tries++) {
        fault_alloc_arm(&faults, tries + 1, 1);
        rc = bm_place_files(writer, NULL, &faults.table, &task, 2, &g);
        CHECK(!rc || rc == BOUMA_ENOMEM);
        CHECK_EQ(faults.live, 0);
    }
    CHECK(tries > 1);
    bm_gathering_release(&g);
}

int main(void)
{
    one_file_is_written_in_the_middle();
    series_share_a_range_evenly();
    files_have_writers_of_their_own_while_ranks_are_free();
    fixed_files_are_of_their_grids();
    small_groups_choose_first();
    boxes_are_written_in_their_middle();
    writers_send_to_their_files();
    figure_3_has_these_writers();
    figure_6_has_these_writers();
    bytes_go_over_fewer_links();
    many_ranks_have_writers_evenly_apart();
    no_memory_is_told_and_none_is_lost();
    return check_result();
}
