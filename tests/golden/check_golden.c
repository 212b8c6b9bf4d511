/* check_golden.c -- the checked-in datasets read as they always did, and are
 * written as they always were: check_golden DIRECTORY (tests/golden/v1). */
#include <dirent.h>
#include <unistd.h>
#include <zstd.h>

#include "../helpers/check.h"
#include "../helpers/files.h"
#include "golden_sets.h"

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
            if (same_zstd || !golden_has_zstd(i))
                compare_step(old, new, golden_step(i, k));
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
    return check_result();
}
