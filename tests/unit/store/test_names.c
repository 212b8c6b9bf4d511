/* Names of files: from numbers and back, and nothing else is taken for one. */
#include "check.h"
#include "store/index.h"

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');

    REQUIRE(slash);
    return slash + 1;
}

/* What is behind the directory of a step. */
static const char *entry_of(const char *name)
{
    REQUIRE(!strncmp(name, "steps/", 6));
    return strchr(name + 6, '/') + 1;
}

static void names_are_those_of_the_design(void)
{
    struct bm_generation g = {7, 1};
    char name[BM_NAME_BYTES];

    bm_name_step(name, 42);
    CHECK(!strcmp(name, "steps/00000042"));
    bm_name_manifest(name, 42);
    CHECK(!strcmp(name, "steps/00000042/manifest"));
    bm_name_manifest_new(name, 42, g);
    CHECK(!strcmp(name, "steps/00000042/manifest.tmp.e7a1"));
    bm_name_subfile(name, 42, 3, g);
    CHECK(!strcmp(name, "steps/00000042/d.0003.e7a1"));
    bm_name_subfile(name, 42, 1023, g);
    CHECK(!strcmp(name, "steps/00000042/d.1023.e7a1"));
    bm_name_subfile(name, 42, 1024, g);
    CHECK(!strcmp(name, "steps/00000042/0001/d.1024.e7a1"));
    bm_name_subfile(name, 42, (1 << 20) - 1, g);
    CHECK(!strcmp(name, "steps/00000042/1023/d.1048575.e7a1"));
    bm_name_copy(name, 42, 3, g, 0x1a2b);
    CHECK(!strcmp(name, "steps/00000042/copy.0003.00001a2b.e7a1"));
    bm_name_copy(name, 42, 2048, g, 0);
    CHECK(!strcmp(name, "steps/00000042/0002/copy.2048.00000000.e7a1"));
    bm_name_mended(name, "steps/00000042/d.0003.e7a1", 8);
    CHECK(!strcmp(name, "steps/00000042/mended.tmp.e8"));
    bm_name_mended(name, "steps/00000042/0001/d.1024.e7a1", 8);
    CHECK(!strcmp(name, "steps/00000042/0001/mended.tmp.e8"));
    bm_name_in_step(name, 42, "0001/other");
    CHECK(!strcmp(name, "steps/00000042/0001/other"));
    bm_name_epoch(name, 7);
    CHECK(!strcmp(name, "epochs/000007"));
    bm_name_epoch_owner(name, 7);
    CHECK(!strcmp(name, "epochs/000007/owner"));
    bm_name_epoch_closed(name, 7);
    CHECK(!strcmp(name, "epochs/000007/closed"));
}

static const uint64_t numbers[] = {
    0,        1,         9,          10,         9999,      10000,
    99999999, 100000000, 4294967295, 4294967296, INT64_MAX, 123456789012345};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static void every_number_comes_back(void)
{
    char name[BM_NAME_BYTES];

    for (int i = 0; i < NUMBERS; i++) {
        uint64_t step = 1;

        bm_name_step(name, numbers[i]);
        CHECK(strlen(name) < BM_NAME_BYTES - 1);
        CHECK(bm_name_parse_step(last_part(name), &step));
        CHECK_EQ(step, numbers[i]);
        if (numbers[i] <= UINT32_MAX) {
            uint32_t epoch = 1;

            bm_name_epoch(name, (uint32_t)numbers[i]);
            CHECK(bm_name_parse_epoch(last_part(name), &epoch));
            CHECK_EQ(epoch, numbers[i]);
        }
    }
    for (int i = 0; i < NUMBERS; i++)
        for (int j = 0; j < NUMBERS; j++) {
            struct bm_generation g = {(uint32_t)numbers[i],
                                      (uint32_t)numbers[j]},
                                 back = {1, 2};
            char again[BM_NAME_BYTES];
            uint32_t subfile = 77;

            bm_name_manifest_new(name, INT64_MAX, g);
            CHECK(strlen(name) < BM_NAME_BYTES - 1);
            CHECK(bm_name_parse_manifest_new(last_part(name), &back));
            CHECK(back.epoch == g.epoch && back.attempt == g.attempt);
            CHECK(bm_name_written(again, INT64_MAX, last_part(name)));
            CHECK(!strcmp(again, name));
            bm_name_subfile(name, INT64_MAX, g.epoch, g);
            CHECK(strlen(name) < BM_NAME_BYTES - 1);
            CHECK(bm_name_parse_subfile(entry_of(name), &subfile, &back));
            CHECK_EQ(subfile, g.epoch);
            CHECK(back.epoch == g.epoch && back.attempt == g.attempt);
            CHECK(bm_name_written(again, INT64_MAX, entry_of(name)));
            CHECK(!strcmp(again, name));
            bm_name_copy(name, INT64_MAX, g.epoch, g, 7);
            CHECK(bm_name_is_copy(entry_of(name), &back));
            CHECK(bm_generation_is_same(back, g));
        }
}

/* Which of the four kinds takes it for its own. */
static int kinds(const char *entry)
{
    struct bm_generation g;
    uint64_t step;
    uint32_t n;

    return bm_name_parse_step(entry, &step) |
           bm_name_parse_epoch(entry, &n) << 1 |
           bm_name_parse_manifest_new(entry, &g) << 2 |
           bm_name_parse_subfile(entry, &n, &g) << 3;
}

static void other_names_are_not_taken(void)
{
    static const char *const others[] = {
        "",
        ".",
        "..",
        "0",
        "42",
        "0000042",   /* seven digits */
        "000000042", /* nine, one too many zeros */
        "0000004a",
        "00000042 ",
        " 00000042",
        "+0000042",
        "-0000042",
        "0x000042",
        "9223372036854775808",  /* 2^63 */
        "99999999999999999999", /* beyond 2^64 */
        "18446744073709551617", /* 2^64 + 1 */
        "manifest",
        "manifest.tmp.",
        "manifest.tmp.e1",
        "manifest.tmp.e1a",
        "manifest.tmp.ea1",
        "manifest.tmp.e1a1x",
        "manifest.tmp.e01a1",
        "manifest.tmp.e1a01",
        "manifest.tmp.e4294967296a1",
        "manifest.tmp.e1a4294967296",
        "Manifest.tmp.e1a1",
        "d.",
        "d.0001",
        "d.0001.",
        "d.0001.e1",
        "d.0001.e1a1.bak",
        "d.001.e1a1",
        "d.00001.e1a1",
        "d.4294967296.e1a1",
        "d.0001e1a1",
        "d.-001.e1a1",
        "d",
        "D.0001.e1a1",
        "index",
        "00000042/manifest",
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        CHECK_EQ(kinds(others[i]), 0);
        if (kinds(others[i]))
            printf("    \"%s\"\n", others[i]);
    }
    CHECK_EQ(kinds("00000042"), 1);
    CHECK_EQ(kinds("000042"), 2);
    CHECK_EQ(kinds("manifest.tmp.e1a1"), 4);
    CHECK_EQ(kinds("d.0001.e1a1"), 8);
    CHECK_EQ(kinds("d.1023.e1a1"), 8);
    CHECK_EQ(kinds("0012/d.12345.e1a1"), 8);
}

static void a_subfile_is_in_one_directory_only(void)
{
    static const char *const others[] = {
        "d.1024.e1a1",      "0000/d.0001.e1a1",      "0001/d.1023.e1a1",
        "0002/d.1024.e1a1", "1/d.1024.e1a1",         "00001/d.1024.e1a1",
        "/d.1024.e1a1",     "0001//d.1024.e1a1",     "x/0001/d.1024.e1a1",
        "0001/d.1024",      "0001/manifest.tmp.e1a1"};
    static const char *const other_copies[] = {
        "copy.1024.00000000.e1a1", "0001/copy.0003.00000000.e1a1",
        "0002/copy.1024.00000000.e1a1", "0001/copy.1024.0000000.e1a1"};
    struct bm_generation g;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK_EQ(kinds(others[i]), 0);
    for (size_t i = 0; i < sizeof(other_copies) / sizeof(other_copies[0]); i++)
        CHECK(!bm_name_is_copy(other_copies[i], &g));
}

static void directories_of_subfiles_are_known(void)
{
    static const char *const others[] = {"",         "0000",  "0",    "1",
                                         "00001",    "0001x", "d001", "0001/x",
                                         "42949673", "-001"};
    char folder[BM_NAME_BYTES];
    uint32_t epoch;

    CHECK(bm_name_is_folder("0001"));
    CHECK(bm_name_is_folder("1023"));
    CHECK(bm_name_is_folder("4194303")); /* of the last 32-bit number */
    CHECK(!bm_name_is_folder("4194304"));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(!bm_name_is_folder(others[i]));
    CHECK(bm_name_folder(folder, "steps/00000042/0001/d.1024.e7a1"));
    CHECK(!strcmp(folder, "steps/00000042/0001"));
    CHECK(!bm_name_folder(folder, "steps/00000042/d.0003.e7a1"));
    CHECK(!bm_name_folder(folder, "steps/00000042"));
    CHECK(!bm_name_folder(folder, "epochs/000001/owner"));
    CHECK(!bm_name_folder(folder, "index"));
    CHECK(bm_name_same_folder("a/b", "a/c") && bm_name_same_folder("b", "c"));
    CHECK(!bm_name_same_folder("a/b", "b") && !bm_name_same_folder("a/b", ""));
    CHECK(!bm_name_same_folder("a/1/b", "a/2/b"));
    CHECK(bm_name_parse_mended("0001/mended.tmp.e8", &epoch) && epoch == 8);
    CHECK(bm_name_parse_mended("mended.tmp.e9", &epoch) && epoch == 9);
    CHECK(!bm_name_parse_mended("0000/mended.tmp.e8", &epoch));
    CHECK(!bm_name_parse_mended("x/mended.tmp.e8", &epoch));
    CHECK(!bm_name_parse_mended("/mended.tmp.e8", &epoch));
    CHECK(bm_name_is_ghost("0001/.nfs1") && bm_name_is_ghost(".nfs1"));
}

/* Change any one character of a good name: it is refused, or it is the name of
 * another number. */
static void a_name_is_one_way_only(void)
{
    static const char *const good[] = {"00000042",     "123456789",
                                       "000042",       "manifest.tmp.e12a3",
                                       "d.0007.e12a3", "0001/d.1027.e12a3"};
    char entry[64], name[BM_NAME_BYTES];

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        for (size_t at = 0; at < strlen(good[i]); at++)
            for (int c = 1; c < 256; c++) {
                struct bm_generation g;
                uint64_t step;
                uint32_t n;

                snprintf(entry, sizeof(entry), "%s", good[i]);
                entry[at] = (char)c;
                if (bm_name_parse_step(entry, &step)) {
                    bm_name_step(name, step);
                    CHECK(!strcmp(last_part(name), entry));
                }
                if (bm_name_parse_epoch(entry, &n)) {
                    bm_name_epoch(name, n);
                    CHECK(!strcmp(last_part(name), entry));
                }
                if (bm_name_parse_manifest_new(entry, &g)) {
                    bm_name_manifest_new(name, 0, g);
                    CHECK(!strcmp(last_part(name), entry));
                }
                if (bm_name_parse_subfile(entry, &n, &g)) {
                    bm_name_subfile(name, 0, n, g);
                    CHECK(!strcmp(entry_of(name), entry));
                }
            }
}

int main(void)
{
    names_are_those_of_the_design();
    every_number_comes_back();
    other_names_are_not_taken();
    a_subfile_is_in_one_directory_only();
    directories_of_subfiles_are_known();
    a_name_is_one_way_only();
    return check_result();
}
