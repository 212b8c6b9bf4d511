/* test_facts_hz.c -- lies about a grid in HZ order, under the right checksums. In
 * turn, each byte of what a manifest tells of the grid and its files, and each
 * byte of a head, is another one. Verify names it; a read gives an error, or the
 * right samples. The rest of a manifest is times and records, which nothing can
 * be compared with: there, reads give the right samples or an error. */
#include "forge.h"

enum { STEP = 1, MASKS = 2 };

static const uint8_t masks[MASKS] = {0x01, 0xff};

/* Reads give the right samples, or an error. */
static int reads_fail(const struct forge *f)
{
    return forge_read(f, STEP, 0) || forge_read(f, STEP, 2);
}

static int names(const struct forge *f, struct forge_findings *found,
                 bouma_depth depth)
{
    forge_verify(f, found, depth);
    return found->verified.damages > 0 ||
           strstr(found->text, "written by a newer version");
}

/* Verify tells of a damage, or that a newer version has written it; if it must,
 * after a look at the samples. */
static void is_named(const struct forge *f, const char *name, size_t at)
{
    int before = check_counts()->failed;
    struct forge_findings found;

    CHECK(names(f, &found, BOUMA_DEPTH_META) ||
          names(f, &found, BOUMA_DEPTH_DEEP));
    reads_fail(f);
    if (check_counts()->failed != before)
        printf("  byte %zu of %s: %s\n", at, name, found.text);
}

static void lies_of_the_manifest_are_named(int what)
{
    struct forge_file file;
    struct forge f;
    char name[96];
    size_t grid;

    forge_begin(&f, BOUMA_ORDER_LEVEL, what);
    CHECK(!reads_fail(&f));
    forge_name_manifest(name, STEP);
    forge_load(&f, &file, name);
    /* The grid begins with kind, layout, axes, levels and bytes of its name. */
    grid = forge_find(&file, "meadow", 6) - 6;
    CHECK_EQ(file.data[grid + 1], BOUMA_LAYOUT_HZ);
    for (int m = 0; m < MASKS; m++)
        for (size_t i = ENVELOPE_BYTES; i < file.bytes; i++) {
            file.data[i] ^= masks[m];
            mend_envelope(file.data, file.bytes);
            forge_save(&f, name, file.data, file.bytes);
            if (i >= grid)
                is_named(&f, "the manifest", i);
            else
                reads_fail(&f);
            file.data[i] ^= masks[m];
        }
    free(file.data);
    forge_end(&f);
}

static void lies_of_a_head_are_named(int what, int subfile)
{
    struct forge_file file;
    struct forge f;
    char name[96];
    size_t head;

    forge_begin(&f, BOUMA_ORDER_LEVEL, what);
    forge_name_subfile(name, STEP, subfile);
    forge_load(&f, &file, name);
    head = forge_head_bytes(&file);
    for (size_t i = ENVELOPE_BYTES; i < head; i++) {
        file.data[i] ^= masks[i % MASKS];
        forge_seal_head(&f, STEP, &file);
        is_named(&f, name, i);
        file.data[i] ^= masks[i % MASKS];
        forge_seal_head(&f, STEP, &file);
    }
    free(file.data);
    forge_end(&f);
}

int main(void)
{
    for (int what = FORGE_HZ_ROWS; what <= FORGE_HZ_CURVE; what++) {
        lies_of_the_manifest_are_named(what);
        lies_of_a_head_are_named(what, 0);
        lies_of_a_head_are_named(what, 1);
    }
    return check_result();
}
