/* What a write would do, without ranks and data. That real writes do just that
 * is tested in tests/mpi/test_mpi_plan.c. */
#include <stdlib.h>

#include "bouma.h"
#include "check.h"
#include "fault_alloc.h"
#include "hz_groups.h"

static bouma_plan_spec spec_of(int ranks, int ndims, int64_t z, int64_t y,
                               int64_t x)
{
    return (bouma_plan_spec){.size = sizeof(bouma_plan_spec),
                             .ranks = ranks,
                             .ndims = ndims,
                             .shape = {z, y, x}};
}

static bouma_plan_report report_of(const bouma_plan_spec *spec,
                                   const char *options)
{
    bouma_plan_report report = {.size = sizeof(report)};
    bouma_options opts = {.size = sizeof(opts)};
    char message[256], text[128], *at = text;
    bouma_plan *plan;

    snprintf(text, sizeof(text), "%s", options);
    for (char *name; (name = strtok_r(at, ";", &at));) {
        char *equals = strchr(name, '=');

        *equals = 0;
        REQUIRE(!bouma_options_set(&opts, name, equals + 1, NULL, 0));
    }
    if (bouma_plan_make(&plan, spec, &opts, message, sizeof(message)))
        printf("%s\n", message);
    REQUIRE(plan);
    CHECK_EQ(bouma_plan_report_get(&report, plan), BOUMA_OK);
    bouma_plan_free(plan);
    return report;
}

static void aligned_blocks_move_nothing(void)
{
    bouma_plan_spec spec = spec_of(8, 3, 128, 128, 128);
    bouma_plan_report r = report_of(&spec, "files=1");

    for (int d = 0; d < 3; d++) {
        CHECK_EQ(r.blocks[d], 2);
        CHECK_EQ(r.patch[d], 64);
        CHECK_EQ(r.grid[d], 2);
    }
    CHECK_EQ(r.ranks, 8);
    CHECK_EQ(r.patches, 8);
    CHECK_EQ(r.fewest_patches, 1);
    CHECK_EQ(r.most_patches, 1);
    CHECK_EQ(r.shared_patches, 0);
    CHECK_EQ(r.moved_bytes, 0);
    CHECK_EQ(r.moved_messages, 0);
    CHECK_EQ(r.raw_bytes, 4 << 21);
    /* In tables, twice: the section, and of each patch its key, range, number
     * of NaN, five sizes and five checksums. */
    CHECK_EQ(r.stored_bytes,
             (4 << 21) + 2 * (28 + 8 * (1 + 8 + 3 + (3 + 3 + 2 + 2 + 2) + 20)));
    CHECK_EQ(r.files, 1);
    CHECK_EQ(r.writers, 1);
    CHECK_EQ(r.largest_file, r.stored_bytes);
    /* All but the writer's own. */
    CHECK_EQ(r.shipped_bytes, 7 << 20);
    CHECK_EQ(r.shipped_messages, 7);
    CHECK_EQ(r.rounds, 8); /* of 1 MiB */
    CHECK_EQ(report_of(&spec, "files=1;buffer_bytes=2M").rounds, 4);
    r = report_of(&spec, "assign=per-rank");
    CHECK_EQ(r.files, 8);
    CHECK_EQ(r.shipped_bytes, 0);
    CHECK_EQ(r.shipped_messages, 0);
    CHECK_EQ(r.writers, 8);
}

/* |0 ... 49|50 ... 99| on two ranks, |0 ... 63|64 ... 99| in patches: rank 0
 * gets 14 samples from rank 1. */
static void a_shared_patch_moves_its_smaller_part(void)
{
    bouma_plan_spec spec = spec_of(2, 1, 100, 0, 0);
    bouma_plan_report r = {.size = sizeof(r)};

    spec.patch[0] = 64;
    spec.type = BOUMA_TYPE_F64;
    spec.components = 3;
    r = report_of(&spec, "");
    CHECK_EQ(r.patches, 2);
    CHECK_EQ(r.shared_patches, 1);
    CHECK_EQ(r.moved_bytes, 14 * 24);
    CHECK_EQ(r.moved_messages, 1);
    CHECK_EQ(r.distribute, BOUMA_DISTRIBUTE_BALANCED);
}

/* One rank holds all of its neighbour's two patches: both parts go in one
 * message. */
static void parts_for_one_rank_are_one_message(void)
{
    bouma_plan_spec spec = spec_of(2, 2, 128, 100, 0);
    bouma_plan_report r = {.size = sizeof(r)};

    spec.patch[0] = spec.patch[1] = 64;
    spec.blocks[0] = 1;
    spec.blocks[1] = 2;
    r = report_of(&spec, "distribute=greedy");
    CHECK_EQ(r.shared_patches, 2);
    CHECK_EQ(r.moved_bytes, 2 * 64 * 14 * 4);
    CHECK_EQ(r.moved_messages, 1);
}

static void check_blocks(int ranks, int ndims, const int64_t *shape,
                         const int64_t *blocks)
{
    bouma_plan_spec spec = spec_of(ranks, ndims, shape[0], shape[1], shape[2]);
    bouma_plan_report r = report_of(&spec, "");

    for (int d = 0; d < ndims; d++)
        CHECK_EQ(r.blocks[d], blocks[d]);
}

static void blocks_are_like_cubes(void)
{
    check_blocks(64, 3, (int64_t[]){100, 100, 100}, (int64_t[]){4, 4, 4});
    check_blocks(6, 3, (int64_t[]){300, 200, 100}, (int64_t[]){3, 2, 1});
    check_blocks(2, 3, (int64_t[]){64, 64, 64}, (int64_t[]){2, 1, 1});
    check_blocks(12, 2, (int64_t[]){300, 400, 1}, (int64_t[]){3, 4});
    check_blocks(12, 1, (int64_t[]){300, 1, 1}, (int64_t[]){12});
    check_blocks(7, 3, (int64_t[]){1, 1, 70}, (int64_t[]){1, 1, 7});
    check_blocks(1, 3, (int64_t[]){5, 5, 5}, (int64_t[]){1, 1, 1});
}

/* Ranks without samples are no fault. The target of `balanced` for the only
 * patch is on rank 0, which holds nothing of it. */
static void more_ranks_than_samples(void)
{
    bouma_plan_spec spec = spec_of(101, 1, 50, 0, 0);
    bouma_plan_report r = report_of(&spec, "");

    CHECK_EQ(r.patches, 1);
    CHECK_EQ(r.fewest_patches, 0);
    CHECK_EQ(r.most_patches, 1);
    CHECK_EQ(r.moved_bytes, 50 * 4);
    CHECK_EQ(r.moved_messages, 50);
}

/* Whether files of so many bytes have 50 to 80 bytes of tables for each patch.
 */
static int has_tables(uint64_t files, uint64_t chunks, int64_t patches)
{
    return files > chunks + 50 * (uint64_t)patches &&
           files < chunks + 80 * (uint64_t)patches;
}

static void sizes_follow_ratio_and_vary(void)
{
    bouma_plan_spec spec = spec_of(10, 3, 300, 300, 300);
    uint64_t raw = 4ull * 300 * 300 * 300, lo = UINT64_MAX, hi = 0;
    bouma_plan_report r = {.size = sizeof(r)};
    bouma_plan *plan;

    spec.patch[0] = spec.patch[1] = spec.patch[2] = 16;
    spec.ratio = 4;
    r = report_of(&spec, "files=7");
    CHECK(has_tables(r.stored_bytes, raw / 4, r.patches));
    spec.vary = 16;
    REQUIRE(!bouma_plan_make(&plan, &spec, NULL, NULL, 0));
    CHECK_EQ(bouma_plan_report_get(&r, plan), BOUMA_OK);
    CHECK(has_tables(r.stored_bytes, raw / 4, r.patches));
    /* Whole patches only: those at the end are smaller. */
    for (int64_t z = 0; z < 18; z++)
        for (int64_t y = 0; y < 18; y++)
            for (int64_t x = 0; x < 18; x++) {
                bouma_plan_patch p = {.size = sizeof(p)};

                CHECK_EQ(bouma_plan_patch_get(&p, plan, (int64_t[]){z, y, x}),
                         BOUMA_OK);
                lo = p.bytes < lo ? p.bytes : lo;
                hi = p.bytes > hi ? p.bytes : hi;
            }
    CHECK(hi > 10 * lo && hi < 17 * lo);
    bouma_plan_free(plan);
    /* Where sizes vary, it matters how files are cut. */
    CHECK(report_of(&spec, "files=7").largest_file <
          report_of(&spec, "files=7;assign=count").largest_file);
}

static void patches_and_files_agree(void)
{
    bouma_plan_spec spec = spec_of(6, 2, 1000, 700, 0);
    uint64_t bytes[5] = {0};
    int64_t patches[5] = {0}, at[2];
    bouma_plan_report r = {.size = sizeof(r)};
    bouma_plan_file file = {.size = sizeof(file)};
    bouma_plan_patch patch = {.size = sizeof(patch)};
    bouma_options opts = {.size = sizeof(opts)};
    bouma_plan *plan;

    opts.files = 5;
    spec.patch[0] = spec.patch[1] = 64;
    REQUIRE(!bouma_plan_make(&plan, &spec, &opts, NULL, 0));
    CHECK_EQ(bouma_plan_report_get(&r, plan), BOUMA_OK);
    CHECK_EQ(r.files, 5);
    for (at[0] = 0; at[0] < r.grid[0]; at[0]++)
        for (at[1] = 0; at[1] < r.grid[1]; at[1]++) {
            CHECK_EQ(bouma_plan_patch_get(&patch, plan, at), BOUMA_OK);
            REQUIRE(patch.file >= 0 && patch.file < 5);
            CHECK(patch.owner >= 0 && patch.owner < 6);
            bytes[patch.file] += patch.bytes;
            patches[patch.file]++;
        }
    for (int64_t f = 0; f < 5; f++) {
        CHECK_EQ(bouma_plan_file_get(&file, plan, f), BOUMA_OK);
        CHECK(has_tables(file.bytes, bytes[f], patches[f]));
        CHECK_EQ(file.patches, patches[f]);
        CHECK_EQ(file.writer, f * 6 / 5);
        CHECK(file.bytes >= r.smallest_file && file.bytes <= r.largest_file);
    }
    CHECK_EQ(bouma_plan_file_get(&file, plan, 5), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_plan_file_get(&file, plan, -1), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_plan_patch_get(&patch, plan, r.grid), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_plan_file_get(&file, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_plan_patch_get(&patch, NULL, at), BOUMA_EINVAL);
    CHECK_EQ(bouma_plan_report_get(&r, NULL), BOUMA_EINVAL);
    bouma_plan_free(plan);
    bouma_plan_free(NULL);
}

/* ---- HZ order ------------------------------------------------------------ */

struct seen {
    uint8_t *rank;
    int count;
};

static void list_holder(void *user, int rank)
{
    struct seen *seen = user;

    CHECK(!seen->rank[rank]);
    seen->rank[rank] = 1;
    seen->count++;
}

/* The ranks with samples of each file are those that another search finds, and
 * the report sums them up. */
static void check_holders(const bouma_plan *plan, const bouma_plan_spec *spec)
{
    static const int64_t one[3] = {1, 1, 1};
    bouma_plan_report report = {.size = sizeof(report)};
    int64_t shape[3], grid[3], sum = 0;
    struct bm_hz_ranks ranks;
    struct hz_groups groups;
    struct seen seen = {0};
    struct bm_hz hz;

    bouma_plan_report_get(&report, plan);
    memcpy(shape, one, sizeof(one));
    memcpy(grid, one, sizeof(one));
    for (int d = 0; d < spec->ndims; d++) {
        shape[3 - spec->ndims + d] = spec->shape[d];
        grid[3 - spec->ndims + d] = report.blocks[d];
    }
    REQUIRE(!bm_hz_parse(&hz, report.hz_template, spec->ndims, shape, NULL));
    REQUIRE(!bm_hz_ranks_init(&ranks, shape, NULL, grid, spec->rank_order));
    REQUIRE(!hz_groups_init(&groups, bm_allocator_default(), &ranks, &hz,
                            report.hz_block_bits));
    CHECK_EQ(bm_hz_ranks_conform(&ranks, &hz), report.hz_conforms);
    seen.rank = calloc((size_t)spec->ranks, 1);
    REQUIRE(seen.rank);
    for (int64_t f = 0; f < report.files; f++) {
        uint64_t first = (uint64_t)f * (uint64_t)report.hz_blocks_per_file;
        struct hz_group group = hz_groups_find(
            &groups, first, first + (uint64_t)report.hz_blocks_per_file);

        memset(seen.rank, 0, (size_t)spec->ranks);
        seen.count = 0;
        CHECK_EQ(bouma_plan_holders(plan, f, list_holder, &seen), BOUMA_OK);
        CHECK_EQ(seen.count, group.count);
        CHECK(seen.rank[group.first] && seen.rank[group.last]);
        CHECK(seen.count >= report.fewest_holders);
        CHECK(seen.count <= report.most_holders);
        sum += seen.count;
    }
    CHECK_EQ(sum, report.held_files);
    CHECK_EQ(bouma_plan_holders(plan, report.files, list_holder, &seen),
             BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_plan_holders(NULL, 0, list_holder, &seen), BOUMA_EINVAL);
    hz_groups_release(&groups);
    free(seen.rank);
}

/* The 512 ranks and 32 files of the paper's figure 6. */
static void plans_of_an_order_tell_who_holds_it(void)
{
    static const char *const templates[] = {"ranks", NULL,
                                            "xxxyyyzzzzyxzyxzyxzyxzyx"};
    static const int levels[][2] = {{0, 19},  {20, 20}, {21, 21},
                                    {21, 21}, {22, 22}, {22, 22}};

    for (int i = 0; i < 9; i++) {
        bouma_plan_spec spec = spec_of(512, 3, 256, 256, 256);
        bouma_plan_report report = {.size = sizeof(report)};
        bouma_plan_patch patch = {.size = sizeof(patch)};
        bouma_options opts = {.size = sizeof(opts)};
        char message[256];
        bouma_plan *plan;

        spec.layout = BOUMA_LAYOUT_HZ;
        spec.hz_template = templates[i % 3];
        spec.hz_blocks_per_file = 16;
        spec.rank_order = (bouma_rank_order)(1 + i / 3);
        opts.place = BOUMA_PLACE_LOCAL;
        REQUIRE(
            !bouma_plan_make(&plan, &spec, &opts, message, sizeof(message)));
        bouma_plan_report_get(&report, plan);
        CHECK_EQ(report.layout, BOUMA_LAYOUT_HZ);
        CHECK_EQ(report.files, 32);
        CHECK_EQ(report.patches, 512);
        CHECK_EQ(report.assign, 0);
        CHECK_EQ(report.hz_block_bits, 15);
        /* The last template is that of column-major, the default Morton's. */
        CHECK_EQ(report.hz_conforms, i % 3 == 0 || i == 5 || i == 7);
        check_holders(plan, &spec);
        for (int f = 0; f < 6; f++) {
            bouma_plan_file file = {.size = sizeof(file)};

            CHECK_EQ(bouma_plan_file_get(&file, plan, f), BOUMA_OK);
            CHECK_EQ(file.first_level, levels[f][0]);
            CHECK_EQ(file.last_level, levels[f][1]);
            CHECK_EQ(file.patches, 16);
        }
        CHECK_EQ(bouma_plan_patch_get(&patch, plan, (int64_t[]){0, 0, 0}),
                 BOUMA_ENOTFOUND);
        bouma_plan_free(plan);
    }
}

/* A template that does not conform spreads the samples of a rank over more
 * files: that is what it costs. */
static void templates_of_ranks_touch_the_fewest_files(void)
{
    bouma_plan_spec spec = spec_of(64, 3, 128, 128, 128);
    bouma_plan_report near = {.size = sizeof(near)},
                      far = {.size = sizeof(far)};

    spec.layout = BOUMA_LAYOUT_HZ;
    spec.hz_block_bits = 12;
    spec.hz_blocks_per_file = 8;
    spec.hz_template = "ranks";
    near = report_of(&spec, "");
    spec.hz_template = "zzzzzzzyyyyyyyxxxxxxx";
    far = report_of(&spec, "");
    CHECK_EQ(near.hz_conforms, 1);
    CHECK_EQ(far.hz_conforms, 0);
    /* A block of the finest level is one of two ranks, and one of them gets
     * it: 1/2 of 1/2 moves; 3/4 of the next, 1/4, and so on. */
    CHECK(near.moved_bytes < near.raw_bytes * 7 / 10);
    CHECK(far.held_files > 2 * near.held_files);
    CHECK(far.most_held > near.most_held);
}

/* 131,072 ranks with 32^3 samples each, and 8192 files: owners, groups and
 * writers. The seconds are for people. */
static void many_ranks_are_no_trouble(void)
{
    bouma_plan_spec spec = spec_of(131072, 3, 1024, 2048, 2048);
    bouma_plan_report r = {.size = sizeof(r)};

    spec.layout = BOUMA_LAYOUT_HZ;
    spec.hz_blocks_per_file = 16;
    spec.hz_template = "ranks";
    r = report_of(&spec, "place=local");
    CHECK(!strcmp(r.hz_template, "zzzzzyyyyyyxxxxxxzyxzyxzyxzyxzyx"));
    CHECK_EQ(r.hz_conforms, 1);
    CHECK_EQ(r.files, 8192);
    CHECK_EQ(r.writers, 8192);
    CHECK_EQ(r.fewest_patches, 1);
    CHECK_EQ(r.most_patches, 1);
    CHECK_EQ(r.fewest_holders, 32);
    CHECK_EQ(r.most_holders, 131072);
    CHECK_EQ(r.most_held, 14);
    CHECK_EQ(r.held_files, 131072 * 14);
    CHECK(r.memory_bytes < (uint64_t)64 << 20);
    printf("131072 ranks in HZ order planned in %.3f s\n", r.seconds);
}

static void check_template(const char *expected, int ndims,
                           const int64_t *shape, const int64_t *ranks,
                           bouma_rank_order order)
{
    char text[64] = "?", why[200] = "?";

    CHECK_EQ(bouma_hz_template(text, sizeof(text), ndims, shape, ranks, order,
                               why, sizeof(why)),
             BOUMA_OK);
    CHECK(!strcmp(text, expected));
    CHECK_EQ(why[0], 0);
    if (strcmp(text, expected))
        printf("got %s\n", text);
}

static void check_no_template(const char *expected, int ndims,
                              const int64_t *shape, const int64_t *ranks,
                              bouma_rank_order order)
{
    char text[64] = "?", why[200] = "";

    CHECK_EQ(bouma_hz_template(text, sizeof(text), ndims, shape, ranks, order,
                               why, sizeof(why)),
             BOUMA_EINVAL);
    CHECK_EQ(text[0], 0);
    CHECK(strstr(why, expected) != NULL);
    if (!strstr(why, expected))
        printf("got %s\n", why);
}

static void templates_follow_from_ranks(void)
{
    int64_t cube[] = {32, 32, 32}, ranks[] = {4, 4, 2};
    char small[63] = "?", why[200] = "";

    check_template("zzyyxxzyxzyxzyx", 3, cube, ranks, 0);
    check_template("zzyyxxzyxzyxzyx", 3, cube, ranks,
                   BOUMA_RANK_ORDER_ROW_MAJOR);
    check_template("xyyzzxzyxzyxzyx", 3, cube, ranks,
                   BOUMA_RANK_ORDER_COLUMN_MAJOR);
    check_template("zyzyxxzyxzyxzyx", 3, cube, ranks, BOUMA_RANK_ORDER_MORTON);
    /* 1000 samples on 8 ranks: as if each had 128. */
    check_template("yyyxxxyxyxyxyxyxyxyx", 2, (int64_t[]){1000, 1000},
                   (int64_t[]){8, 8}, 0);
    check_no_template("shape[1] is 0", 2, (int64_t[]){1000, 0},
                      (int64_t[]){8, 8}, 0);
    check_no_template("ranks[0] is -2", 2, (int64_t[]){1000, 9},
                      (int64_t[]){-2, 8}, 0);
    check_no_template("ndims is 4", 4, cube, ranks, 0);
    check_no_template("shape is NULL", 3, NULL, ranks, 0);
    check_no_template("ranks is NULL", 3, cube, NULL, 0);
    check_no_template("order of ranks 4", 3, cube, ranks, (bouma_rank_order)4);
    check_no_template("at most 62 characters", 3,
                      (int64_t[]){(int64_t)1 << 40, (int64_t)1 << 40, 16},
                      ranks, 0);
    check_no_template("too many", 1, (int64_t[]){INT64_MAX}, (int64_t[]){1}, 0);
    CHECK_EQ(bouma_hz_template(small, sizeof(small), 3, cube, ranks, 0, why,
                               sizeof(why)),
             BOUMA_EINVAL);
    CHECK_EQ(small[0], 0);
    CHECK(strstr(why, "room for 63 bytes; a template needs 64") != NULL);
    CHECK_EQ(bouma_hz_template(NULL, 64, 3, cube, ranks, 0, NULL, 0),
             BOUMA_EINVAL);
}

/* Blocks that are filled up are stored as such. */
static void padding_is_counted(void)
{
    bouma_plan_spec spec = spec_of(4, 2, 100, 70, 0);
    bouma_plan_report rows = {.size = sizeof(rows)},
                      curve = {.size = sizeof(curve)};

    spec.layout = BOUMA_LAYOUT_HZ;
    spec.hz_block_bits = 8;
    rows = report_of(&spec, "");
    spec.hz_order = BOUMA_HZ_ORDER_CURVE;
    curve = report_of(&spec, "");
    CHECK_EQ(rows.raw_bytes, 100 * 70 * 4);
    CHECK_EQ(curve.raw_bytes, 100 * 70 * 4);
    CHECK_EQ(rows.patches, curve.patches);
    CHECK(rows.stored_bytes < rows.raw_bytes + 100 * (uint64_t)rows.patches);
    CHECK(curve.stored_bytes > (uint64_t)curve.patches * 256 * 4);
}

static void refuse(const bouma_plan_spec *spec, int status, const char *text)
{
    char message[256] = "";
    bouma_plan *plan;

    CHECK_EQ(bouma_plan_make(&plan, spec, NULL, message, sizeof(message)),
             status);
    CHECK(!plan);
    CHECK_TEXT(message, text);
}

static void wrong_specs_are_told(void)
{
    const bouma_plan_spec good = spec_of(8, 3, 100, 100, 100);
    bouma_plan_spec bad;

#define REFUSE(field, value, status, text)                                     \
    do {                                                                       \
        bad = good;                                                            \
        bad.field = value;                                                     \
        refuse(&bad, status, text);                                            \
    } while (0)
    refuse(NULL, BOUMA_EINVAL, "NULL");
    REFUSE(size, 0, BOUMA_EINVAL, "'size' is not set");
    REFUSE(ranks, 0, BOUMA_EINVAL, "0 ranks");
    REFUSE(ndims, 4, BOUMA_EINVAL, "ndims is 4");
    REFUSE(shape[1], 0, BOUMA_EINVAL, "no samples");
    REFUSE(patch[1], 63, BOUMA_EINVAL, "not a power of two");
    REFUSE(blocks[1], 2, BOUMA_EINVAL, "must multiply to the 8 ranks");
    REFUSE(type, BOUMA_TYPE_STRING, BOUMA_EINVAL, "no type");
    REFUSE(type, (bouma_type)77, BOUMA_EINVAL, "no type 77");
    REFUSE(components, -1, BOUMA_EINVAL, "-1 components");
    REFUSE(ratio, -1, BOUMA_EINVAL, "a ratio of -1");
    REFUSE(vary, 0.5, BOUMA_EINVAL, "vary by 0.5");
    REFUSE(rank_order, (bouma_rank_order)9, BOUMA_EINVAL, "no order 9");
    REFUSE(layout, BOUMA_LAYOUT_TREE, BOUMA_EINVAL,
           "the grid: there is no layout 2 for grids");
    REFUSE(hz_block_bits, 3, BOUMA_EINVAL, "the grid has fields hz_...");
    bad = good;
    bad.layout = BOUMA_LAYOUT_HZ;
    bad.hz_template = "ranks";
    bad.shape[2] = INT64_MAX;
    refuse(&bad, BOUMA_EINVAL, "the grid has an axis of more than 2^40");
    bad.shape[2] = good.shape[2];
    bad.hz_template = "zyx";
    refuse(&bad, BOUMA_EINVAL, "the grid: the template \"zyx\" is too short");
    bad.hz_template = NULL;
    bad.hz_block_bits = 22;
    refuse(&bad, BOUMA_EINVAL, "the grid has blocks of 2^22 samples");
    bad.hz_block_bits = 0;
    bad.patch[0] = 64;
    refuse(&bad, BOUMA_EINVAL, "the grid is in HZ order, which has no patches");
#undef REFUSE
    bad = spec_of(1, 3, (int64_t)1 << 30, (int64_t)1 << 30, 2);
    bad.patch[0] = bad.patch[1] = (int64_t)1 << 25;
    bad.components = 200;
    refuse(&bad, BOUMA_ELIMIT, "more bytes than can be counted");
}

/* Whichever request for memory fails, that is told and nothing leaks. */
static void failing_memory_is_told(bouma_layout layout)
{
    bouma_plan_spec spec = spec_of(6, 2, 500, 700, 0);
    struct fault_alloc memory;
    char message[256];
    bouma_options opts = {.size = sizeof(opts)};
    bouma_plan *plan;
    long at = 0;
    int rc;

    spec.layout = layout;
    fault_alloc_init(&memory);
    opts.allocator = &memory.table;
    opts.files = 3;
    do {
        fault_alloc_arm(&memory, ++at, 0);
        rc = bouma_plan_make(&plan, &spec, &opts, message, sizeof(message));
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        if (rc)
            CHECK_TEXT(message, "no memory");
        bouma_plan_free(plan);
        CHECK_EQ(memory.live, 0);
    } while (rc && at < 1000);
    CHECK(at > 10 && at < 1000);
}

int main(void)
{
    aligned_blocks_move_nothing();
    a_shared_patch_moves_its_smaller_part();
    parts_for_one_rank_are_one_message();
    blocks_are_like_cubes();
    more_ranks_than_samples();
    sizes_follow_ratio_and_vary();
    patches_and_files_agree();
    wrong_specs_are_told();
    failing_memory_is_told(BOUMA_LAYOUT_PATCH);
    failing_memory_is_told(BOUMA_LAYOUT_HZ);
    plans_of_an_order_tell_who_holds_it();
    templates_of_ranks_touch_the_fewest_files();
    many_ranks_are_no_trouble();
    templates_follow_from_ranks();
    padding_is_counted();
    return check_result();
}
