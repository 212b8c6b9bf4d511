/* What repair chooses, and what does not stop it. */
#include "forge.h"

#include "store/index.h"

enum { STEP = 1 };

/* ---- several writings of a step ------------------------------------------ */

/* Without a manifest, and without an index that would tell which it was. */
static void take_manifest(const struct forge *f)
{
    char name[96];

    forge_name_manifest(name, STEP);
    forge_remove(f, name);
    forge_remove(f, "index");
}

/* The step is there again, by a repair that tells beforehand what it does. */
static void is_made_anew(const struct forge *f)
{
    struct forge_findings found;

    for (int apply = 0; apply < 2; apply++) {
        forge_repair(f, &found, apply);
        CHECK_TEXT(found.text, "made anew from the subfiles");
        CHECK_TEXT(found.text, "later ones are not whole");
    }
    CHECK_EQ(forge_read(f, STEP, 0), BOUMA_OK);
    forge_repair(f, &found, 1);
    CHECK_EQ(found.repaired.actions, 0);
}

/* A killed writer has begun to write the step again. */
static void a_writing_that_is_whole_wins_over_a_later_one_that_is_not(void)
{
    static const char *const names[] = {"steps/00000001/d.0000.e2a1",
                                        "steps/00000001/d.0000.e3a1",
                                        "steps/00000001/d.0001.e4a1"};
    struct forge_file file;
    struct forge f;
    char name[96];

    for (int several = 0; several < 2; several++) {
        forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
        take_manifest(&f);
        forge_save(&f, names[0], (const uint8_t *)"", 0);
        if (several) {
            forge_name_subfile(name, STEP, 0);
            forge_load(&f, &file, name);
            forge_save(&f, names[1], file.data, file.bytes / 2);
            forge_save(&f, names[2], (const uint8_t *)"x", 1);
            free(file.data);
        }
        is_made_anew(&f);
        forge_end(&f);
    }
}

/* A manifest that was written and not published, and a later one that was cut.
 */
static void so_does_a_manifest(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_name_manifest(name, STEP);
    forge_load(&f, &file, name);
    take_manifest(&f);
    forge_save(&f, "steps/00000001/manifest.tmp.e1a2", file.data, file.bytes);
    forge_save(&f, "steps/00000001/manifest.tmp.e2a1", file.data, 40);
    forge_repair(&f, &found, 1);
    CHECK_TEXT(found.text, "the step is whole, its manifest published");
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    free(file.data);
    forge_end(&f);
}

/* The index says that a later writing was committed: its loss is not to be
 * hidden by an earlier one. */
static void but_not_over_one_that_was_committed(void)
{
    struct bm_step_entry later = {STEP, 0.5, {2, 1}};
    uint8_t record[BM_INDEX_RECORD];
    struct forge_findings found;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    take_manifest(&f);
    forge_save(&f, "steps/00000001/d.0000.e2a1", (const uint8_t *)"", 0);
    bm_index_encode(record, &later, f.options.id);
    forge_save(&f, "index", record, sizeof(record));
    forge_repair(&f, &found, 1);
    CHECK(!strstr(found.text, "made anew from the subfiles"));
    CHECK(found.repaired.hopeless > 0);
    CHECK(forge_read(&f, STEP, 0) != BOUMA_OK);
    forge_end(&f);
}

/* ---- what is no file, or no directory ------------------------------------ */

static void make_dir(const struct forge *f, const char *name)
{
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->make_dir(io->user, root, name));
    io->detach(io->user, root);
}

/* After a repair all is as it should be, and steps can be written. */
static void is_mended(const struct forge *f, const char *what)
{
    bouma_repair_report report = {.size = sizeof(report)};
    struct forge_findings found;
    char message[640] = "";
    bouma_dataset *ds;

    forge_verify(f, &found, BOUMA_DEPTH_QUICK);
    CHECK_TEXT(found.text, what);
    CHECK_EQ(found.verified.unchecked, 0);
    for (int apply = 0; apply < 2; apply++) {
        int rc = bouma_repair(&report, FORGE_PATH, apply, &f->options,
                              forge_record, &found, message, sizeof(message));

        if (rc)
            printf("%s, apply %d: %s\n", what, apply, message);
        CHECK_EQ(rc, BOUMA_OK);
        CHECK(report.actions > 0);
    }
    if (!strstr(found.text, "moved to lost/"))
        printf("%s: %s", what, found.text);
    CHECK_TEXT(found.text, "moved to lost/");
    forge_repair(f, &found, 1);
    if (found.text[0])
        printf("%s, again: %s", what, found.text);
    CHECK_EQ(found.repaired.actions, 0);
    for (int step = 0; step < FORGE_STEPS; step++)
        CHECK_EQ(forge_read(f, step, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_append(&ds, FORGE_PATH, &f->options), BOUMA_OK);
    CHECK_EQ(bouma_dataset_truncate(ds, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void directories_named_as_files_are_moved(void)
{
    static const char *const names[] = {
        "epochs/000001/owner", "epochs/000001/closed", "index",
        "index.tmp",           "truncations",          "truncations.tmp"};
    struct forge f;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (int full = 0; full < 2; full++) {
            char inside[96];

            forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
            if (forge_exists(&f, names[i]))
                forge_remove(&f, names[i]);
            make_dir(&f, names[i]);
            snprintf(inside, sizeof(inside), "%s/file", names[i]);
            if (full)
                forge_save(&f, inside, (const uint8_t *)"x", 1);
            is_mended(&f, names[i]);
            forge_end(&f);
        }
}

static void a_file_named_lost_is_moved(void)
{
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_save(&f, "lost", (const uint8_t *)"x", 1);
    make_dir(&f, "index.tmp"); /* which is to be moved there */
    is_mended(&f, "lost");
    forge_end(&f);
}

/* ---- two copies of a file ------------------------------------------------ */

static void copy(const struct forge *f, const char *from, const char *to)
{
    struct forge_file file;

    forge_load(f, &file, from);
    forge_save(f, to, file.data, file.bytes);
    free(file.data);
}

/* Flip a bit of the data, just before the second head. */
static void flip(const struct forge *f, const char *name)
{
    struct forge_file file;

    forge_load(f, &file, name);
    file.data[file.bytes - forge_head_bytes(&file) - 1] ^= 4;
    forge_save(f, name, file.data, file.bytes);
    free(file.data);
}

/* All is whole after a repair that tells 'text'. */
static void is_whole_again(const struct forge *f, const char *text)
{
    struct forge_findings found;

    for (int apply = 0; apply < 2; apply++) {
        forge_repair(f, &found, apply);
        CHECK_TEXT(found.text, text);
        CHECK_EQ(found.repaired.hopeless, 0);
    }
    forge_repair(f, &found, 1);
    CHECK_EQ(found.repaired.actions, 0);
    forge_verify(f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    for (int step = 0; step < FORGE_STEPS; step++)
        CHECK_EQ(forge_read(f, step, 0), BOUMA_OK);
}

static void of_two_copies_the_one_that_is_whole_is_taken(void)
{
    static const char stray[] = "steps/00000002/d.0000.e1a2";
    struct forge f;
    char name[96];

    forge_name_subfile(name, STEP, 0);
    for (int own = 0; own < 2; own++) {
        forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
        copy(&f, name, stray);
        flip(&f, own ? name : stray);
        is_whole_again(&f, own ? "put in its place, and the damaged one "
                                 "moved to lost/"
                               : "is a copy of a file of step 1, which is "
                                 "there; moved to lost/");
        CHECK(!forge_exists(&f, stray));
        forge_end(&f);
    }
}

/* A copy of a whole step, under another number. */
static void so_it_is_in_a_copy_of_the_step(void)
{
    static const char *const names[] = {"manifest", "d.0000.e1a2",
                                        "d.0001.e1a2"};
    char from[96], to[96];
    struct forge f;

    for (int damaged = 1; damaged < 3; damaged++) {
        forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
        make_dir(&f, "steps/00000007");
        for (int i = 0; i < 3; i++) {
            snprintf(from, sizeof(from), "steps/00000001/%s", names[i]);
            snprintf(to, sizeof(to), "steps/00000007/%s", names[i]);
            copy(&f, from, to);
        }
        snprintf(from, sizeof(from), "steps/00000001/%s", names[damaged]);
        flip(&f, from);
        is_whole_again(&f, "put in its place");
        forge_end(&f);
    }
}

int main(void)
{
    a_writing_that_is_whole_wins_over_a_later_one_that_is_not();
    so_does_a_manifest();
    but_not_over_one_that_was_committed();
    directories_named_as_files_are_moved();
    a_file_named_lost_is_moved();
    of_two_copies_the_one_that_is_whole_is_taken();
    so_it_is_in_a_copy_of_the_step();
    return check_result();
}
