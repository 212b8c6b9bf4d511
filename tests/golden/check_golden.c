/* check_golden.c -- the checked-in datasets read as they always did, and are
 * written as they always were: check_golden DIRECTORY (tests/golden/v1). */
#include <dirent.h>
#include <unistd.h>
#include <zstd.h>

#include "../helpers/arrays.h"
#include "../helpers/check.h"
#include "../helpers/files.h"
#include "golden_sets.h"
#include "layout/sheet.h"
#include "read/read.h"

static void check_same(const char *left, const char *right)
{
    int same = same_file(left, right);

    CHECK(same);
    if (!same)
        printf("%s and %s differ\n", left, right);
}

static unsigned zstd_version(const char *dir)
{
    char path[1024];
    unsigned version = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/zstd-version", dir);
    f = fopen(path, "r");
    if (!f || fscanf(f, "%u", &version) != 1)
        version = 0;
    if (f)
        fclose(f);
    return version;
}

/* Subfiles begin so; a manifest has timings in it. */
static int is_subfile(const char *name)
{
    return !strncmp(name, "d.", 2);
}

static int is_dataset(const char *name)
{
    return strstr(name, ".bouma") != NULL;
}

static int count(const char *dir, int (*is_one)(const char *name))
{
    struct dirent *e;
    DIR *d = opendir(dir);
    int found = 0;

    while (d && (e = readdir(d)))
        found += is_one(e->d_name);
    if (d)
        closedir(d);
    return found;
}

/* All that are there. */
static void golden_datasets_read_as_ever(const char *dir)
{
    int i = 0;

    for (; golden_name(i); i++) {
        char path[1024];

        snprintf(path, sizeof(path), "%s/%s.bouma", dir, golden_name(i));
        CHECK_EQ(golden_differences(i, path), 0);
    }
    CHECK_EQ(i, count(dir, is_dataset));
}

/* All subfiles of one step. */
static void compare_step(const char *old, const char *new, int64_t step)
{
    char dir[1100], other_dir[1100], one[1400], other[1400];
    struct dirent *e;
    int files = 0;
    DIR *d;

    snprintf(dir, sizeof(dir), "%s/steps/%08" PRId64, old, step);
    snprintf(other_dir, sizeof(other_dir), "%s/steps/%08" PRId64, new, step);
    d = opendir(dir);
    CHECK(d != NULL);
    while (d && (e = readdir(d))) {
        if (!is_subfile(e->d_name))
            continue;
        snprintf(one, sizeof(one), "%s/%s", dir, e->d_name);
        snprintf(other, sizeof(other), "%s/%s", other_dir, e->d_name);
        check_same(one, other);
        files++;
    }
    CHECK(files > 0);
    CHECK_EQ(files, count(other_dir, is_subfile));
    if (d)
        closedir(d);
}

/* The sheets of a step, which have no timings: of two datasets the same. */
static void compare_sheets(const char *old, const char *new, int64_t step)
{
    bouma_dataset *ds[2];
    bouma_step *s[2];
    const char *paths[2] = {old, new};

    for (int i = 0; i < 2; i++) {
        REQUIRE(!bouma_dataset_open(&ds[i], paths[i], NULL));
        REQUIRE(!bouma_step_open(&s[i], ds[i], step));
    }
    CHECK(s[0]->manifest.sheet_count > 1);
    REQUIRE(s[0]->manifest.sheet_count == s[1]->manifest.sheet_count);
    for (size_t k = 0; k < s[0]->manifest.sheet_count; k++) {
        CHECK_EQ(s[0]->manifest.sheets[k].bytes,
                 s[1]->manifest.sheets[k].bytes);
        CHECK(!memcmp(s[0]->manifest.sheets[k].hash,
                      s[1]->manifest.sheets[k].hash, 16));
    }
    for (int i = 0; i < 2; i++) {
        bouma_step_free(s[i]);
        bouma_dataset_free(ds[i]);
    }
}

/* A step with sheets as writers make them, of 1,024 files and of two; all of
 * their bytes are in the checksums. */
static void the_writer_makes_sheets_as_ever(void)
{
    static const char *hashes[2] = {"6869b3b1290babf2c1f696a09e864fa3",
                                    "71fd5ac7f3f2ece1277f7f67c64d8103"};
    enum { FILES = 1026 };
    char base[] = "/tmp/bouma-golden-XXXXXX", path[64], text[40];
    bouma_options o = {.size = sizeof(o),
                       .durability = BOUMA_DURABILITY_FAST,
                       .files = FILES,
                       .id = "golden sheets"};
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 1,
                         .shape = {2 * FILES},
                         .patch = {2},
                         .levels = 1};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_U16, .codec = BOUMA_CODEC_RAW};
    uint16_t data[2 * FILES], back[2 * FILES];
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_step *step;

    for (int i = 0; i < 2 * FILES; i++)
        data[i] = (uint16_t)(7 * i);
    REQUIRE(mkdtemp(base));
    snprintf(path, sizeof(path), "%s/d", base);
    REQUIRE(!bouma_dataset_create(&ds, path, &o));
    REQUIRE(!bouma_grid_define(&grid, ds, "g", &g));
    REQUIRE(!bouma_variable_define(&v, grid, "v", &spec));
    REQUIRE(!bouma_step_begin(ds, 3, 0.5));
    REQUIRE(!test_put(v, NULL, data));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    REQUIRE(!bouma_dataset_open(&ds, path, NULL));
    REQUIRE(!bouma_step_open(&step, ds, 3));
    CHECK_EQ(step->manifest.count, FILES);
    REQUIRE(step->manifest.sheet_count == 2);
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < 16; i++)
            snprintf(text + 2 * i, 3, "%02x", step->manifest.sheets[k].hash[i]);
        CHECK_TEXT(text, hashes[k]);
    }
    v = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    CHECK_EQ(test_read(v, 0, NULL, back), BOUMA_OK);
    CHECK(!memcmp(back, data, sizeof(data)));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    remove_tree(base);
}

static void the_writer_writes_as_ever(const char *dir)
{
    char base[] = "/tmp/bouma-golden-XXXXXX";
    int same_zstd = zstd_version(dir) == ZSTD_versionNumber();

    REQUIRE(mkdtemp(base));
    for (int i = 0; golden_name(i); i++) {
        char old[1024], new[1024], one[1100], other[1100];

        if (golden_is_old(i))
            continue;
        snprintf(old, sizeof(old), "%s/%s.bouma", dir, golden_name(i));
        snprintf(new, sizeof(new), "%s/%s.bouma", base, golden_name(i));
        CHECK_EQ(golden_write(i, new), BOUMA_OK);
        CHECK_EQ(golden_differences(i, new), 0);
        snprintf(one, sizeof(one), "%s/DATASET", old);
        snprintf(other, sizeof(other), "%s/DATASET", new);
        check_same(one, other);
        for (int k = 0; golden_step(i, k) >= 0; k++)
            if (same_zstd || !golden_has_zstd(i)) {
                compare_step(old, new, golden_step(i, k));
                if (golden_has_sheets(i))
                    compare_sheets(old, new, golden_step(i, k));
            }
    }
    if (!same_zstd)
        printf("zstd is another version: compressed files not compared\n");
    remove_tree(base);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : "tests/golden/v1";

    golden_datasets_read_as_ever(dir);
    the_writer_writes_as_ever(dir);
    the_writer_makes_sheets_as_ever();
    return check_result();
}
