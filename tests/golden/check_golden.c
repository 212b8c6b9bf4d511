/* check_golden.c -- the checked-in datasets read as they always did, and are
 * written as they always were: check_golden DIRECTORY (tests/golden/v1). */
#include <dirent.h>
#include <unistd.h>
#include <zstd.h>

#include "../unit/check.h"
#include "../unit/files.h"
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

static void golden_datasets_read_as_ever(const char *dir)
{
    for (int i = 0; golden_name(i); i++) {
        char path[1024];

        snprintf(path, sizeof(path), "%s/%s.bouma", dir, golden_name(i));
        CHECK_EQ(golden_differences(i, path), 0);
    }
}

/* Files of golden sets that read as ever but are cut elsewhere now: `optimal`
 * did not count tables when they were written. */
static int is_cut_otherwise(const char *dataset, const char *file)
{
    const char *name = strrchr(dataset, '/');

    return name && !strcmp(name, "/cube.bouma") &&
           (!strncmp(file, "d.0002.", 7) || !strncmp(file, "d.0003.", 7));
}

/* The subfiles of one step; a manifest has timings in it. */
static void compare_step(const char *old, const char *new, int64_t step)
{
    char dir[1100], one[1400], other[1400];
    struct dirent *e;
    int files = 0;
    DIR *d;

    snprintf(dir, sizeof(dir), "%s/steps/%08" PRId64, old, step);
    d = opendir(dir);
    CHECK(d != NULL);
    while (d && (e = readdir(d))) {
        if (strncmp(e->d_name, "d.", 2) || is_cut_otherwise(old, e->d_name))
            continue;
        snprintf(one, sizeof(one), "%s/%s", dir, e->d_name);
        snprintf(other, sizeof(other), "%s/steps/%08" PRId64 "/%s", new, step,
                 e->d_name);
        check_same(one, other);
        files++;
    }
    CHECK(files > 0);
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
