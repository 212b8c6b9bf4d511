/* What a write would do, without ranks and data. That real writes do just that
 * is tested in tests/mpi/test_mpi_plan.c. */
#include "bouma.h"
#include "check.h"
#include "fault_alloc.h"

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
    bouma_plan_report report;
    bouma_options opts;
    char message[256], text[128], *at = text;
    bouma_plan *plan;

    bouma_options_init(&opts, sizeof(opts));
    snprintf(text, sizeof(text), "%s", options);
    for (char *name; (name = strtok_r(at, ";", &at));) {
        char *equals = strchr(name, '=');

        *equals = 0;
        REQUIRE(!bouma_options_set(&opts, name, equals + 1, NULL, 0));
    }
    if (bouma_plan_make(&plan, spec, &opts, message, sizeof(message)))
        printf("%s\n", message);
    REQUIRE(plan);
    CHECK_EQ(bouma_plan_report_get(plan, &report), BOUMA_OK);
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
    CHECK_EQ(r.rounds, 2); /* of 4 MiB */
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
    bouma_plan_report r;

    spec.patch[0] = 64;
    spec.type = BOUMA_F64;
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
    bouma_plan_report r;

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
    bouma_plan_report r;
    bouma_plan *plan;

    spec.patch[0] = spec.patch[1] = spec.patch[2] = 16;
    spec.ratio = 4;
    r = report_of(&spec, "files=7");
    CHECK(has_tables(r.stored_bytes, raw / 4, r.patches));
    spec.vary = 16;
    REQUIRE(!bouma_plan_make(&plan, &spec, NULL, NULL, 0));
    CHECK_EQ(bouma_plan_report_get(plan, &r), BOUMA_OK);
    CHECK(has_tables(r.stored_bytes, raw / 4, r.patches));
    /* Whole patches only: those at the end are smaller. */
    for (int64_t z = 0; z < 18; z++)
        for (int64_t y = 0; y < 18; y++)
            for (int64_t x = 0; x < 18; x++) {
                bouma_plan_patch p;

                CHECK_EQ(bouma_plan_patch_get(plan, (int64_t[]){z, y, x}, &p),
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
    bouma_plan_report r;
    bouma_plan_file file;
    bouma_plan_patch patch;
    bouma_options opts;
    bouma_plan *plan;

    bouma_options_init(&opts, sizeof(opts));
    opts.files = 5;
    spec.patch[0] = spec.patch[1] = 64;
    REQUIRE(!bouma_plan_make(&plan, &spec, &opts, NULL, 0));
    CHECK_EQ(bouma_plan_report_get(plan, &r), BOUMA_OK);
    CHECK_EQ(r.files, 5);
    for (at[0] = 0; at[0] < r.grid[0]; at[0]++)
        for (at[1] = 0; at[1] < r.grid[1]; at[1]++) {
            CHECK_EQ(bouma_plan_patch_get(plan, at, &patch), BOUMA_OK);
            REQUIRE(patch.file >= 0 && patch.file < 5);
            CHECK(patch.owner >= 0 && patch.owner < 6);
            bytes[patch.file] += patch.bytes;
            patches[patch.file]++;
        }
    for (int64_t f = 0; f < 5; f++) {
        CHECK_EQ(bouma_plan_file_get(plan, f, &file), BOUMA_OK);
        CHECK(has_tables(file.bytes, bytes[f], patches[f]));
        CHECK_EQ(file.patches, patches[f]);
        CHECK_EQ(file.writer, f * 6 / 5);
        CHECK(file.bytes >= r.smallest_file && file.bytes <= r.largest_file);
    }
    CHECK_EQ(bouma_plan_file_get(plan, 5, &file), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_plan_file_get(plan, -1, &file), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_plan_patch_get(plan, r.grid, &patch), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_plan_file_get(NULL, 0, &file), BOUMA_EINVAL);
    CHECK_EQ(bouma_plan_patch_get(NULL, at, &patch), BOUMA_EINVAL);
    CHECK_EQ(bouma_plan_report_get(NULL, &r), BOUMA_EINVAL);
    bouma_plan_free(plan);
    bouma_plan_free(NULL);
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
    REFUSE(type, BOUMA_STRING, BOUMA_EINVAL, "no type");
    REFUSE(type, (bouma_type)77, BOUMA_EINVAL, "no type 77");
    REFUSE(components, -1, BOUMA_EINVAL, "-1 components");
    REFUSE(ratio, -1, BOUMA_EINVAL, "a ratio of -1");
    REFUSE(vary, 0.5, BOUMA_EINVAL, "vary by 0.5");
#undef REFUSE
    bad = spec_of(1, 3, (int64_t)1 << 30, (int64_t)1 << 30, 2);
    bad.patch[0] = bad.patch[1] = (int64_t)1 << 25;
    bad.components = 200;
    refuse(&bad, BOUMA_ELIMIT, "more bytes than can be counted");
}

/* Whichever request for memory fails, that is told and nothing leaks. */
static void failing_memory_is_told(void)
{
    bouma_plan_spec spec = spec_of(6, 2, 500, 700, 0);
    struct fault_alloc memory;
    char message[256];
    bouma_options opts;
    bouma_plan *plan;
    long at = 0;
    int rc;

    fault_alloc_init(&memory);
    bouma_options_init(&opts, sizeof(opts));
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
    failing_memory_is_told();
    return check_result();
}
