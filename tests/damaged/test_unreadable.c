/* test_unreadable.c -- a device that cannot read one file. Every step stands
 * alone: the others are listed, read, checked and mended; of the one with that
 * file it is told that it could not be looked at, and nothing is done to it. */
#include "damage_io.h"
#include "forge.h"

enum { STEP = 1 };

struct trial {
    struct forge f;
    struct damage_io io;
};

/* A file of step 1 fails at a byte, or at once. Step 2 can be mended: a head of
 * it is damaged. */
static void begin(struct trial *t, const char *name, enum damage_kind kind,
                  uint64_t at, int with_index)
{
    struct forge_file file;
    char other[96];

    forge_begin(&t->f, BOUMA_ORDER_LEVEL, 0);
    if (!with_index)
        forge_remove(&t->f, "index");
    forge_name_subfile(other, 2, 0);
    forge_load(&t->f, &file, other);
    file.data[70] ^= 1;
    forge_save(&t->f, other, file.data, file.bytes);
    free(file.data);
    damage_io_init(&t->io, t->f.io);
    t->io.damage = (struct damage){.kind = kind, .name = name, .at = at};
    t->f.options.io = &t->io.io;
}

static void step_1_is_unchecked(const struct trial *t, const char *name)
{
    struct forge_findings found;

    forge_verify(&t->f, &found, BOUMA_VERIFY_DEEP);
    CHECK_EQ(found.verified.steps, FORGE_STEPS);
    CHECK(found.verified.unchecked > 0);
    CHECK_TEXT(found.text, "3 1 ");
    CHECK_TEXT(found.text, name);
    CHECK(!strstr(found.text, "2 1 ")); /* no damage of it */
    CHECK_EQ(found.verified.damages, 1);
    CHECK_TEXT(found.text, "2 2 ");
}

static void others_are_mended(struct trial *t, const char *name, int told)
{
    struct forge_findings found;

    forge_repair(&t->f, &found, 0);
    CHECK_EQ(t->io.changes, 0);
    forge_repair(&t->f, &found, 1);
    CHECK_EQ(found.repaired.unchecked > 0, told);
    CHECK_EQ(found.repaired.hopeless, 0);
    if (told)
        CHECK_TEXT(found.text, name);
    CHECK(!strstr(found.text, "1 1 ")); /* nothing is done to it */
    CHECK_TEXT(found.text, "a damaged head replaced");
    t->io.damage.kind = DAMAGE_NONE; /* the device has got well again */
    forge_verify(&t->f, &found, BOUMA_VERIFY_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    CHECK_EQ(found.verified.unchecked, 0);
    for (int s = 0; s < FORGE_STEPS; s++)
        CHECK_EQ(forge_read(&t->f, s, 0), BOUMA_OK);
}

/* The time of a step is that of its manifest, or of the index. */
static void all_steps_are_listed(const struct trial *t)
{
    bouma_dataset *ds;

    CHECK_EQ(bouma_dataset_open(&ds, FORGE_PATH, &t->f.options), BOUMA_OK);
    CHECK_EQ(bouma_dataset_step_count(ds), FORGE_STEPS);
    bouma_dataset_free(ds);
}

/* Steps can be added all the same, and the step is not forgotten. */
static void steps_are_appended(const struct trial *t)
{
    bouma_dataset *ds;

    CHECK_EQ(bouma_dataset_append(&ds, FORGE_PATH, &t->f.options), BOUMA_OK);
    CHECK_EQ(bouma_dataset_step_count(ds), FORGE_STEPS);
    CHECK_EQ(bouma_step_begin(ds, FORGE_STEPS, 9), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds, NULL), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void a_manifest_fails(enum damage_kind kind, int with_index)
{
    struct trial t;
    char name[96];

    forge_name_manifest(name, STEP);
    begin(&t, name, kind, 80, with_index);
    all_steps_are_listed(&t);
    CHECK_EQ(forge_read(&t.f, 0, 0), BOUMA_OK);
    CHECK_EQ(forge_read(&t.f, 2, 0), BOUMA_OK);
    CHECK_EQ(forge_read(&t.f, STEP, 0), BOUMA_EIO);
    step_1_is_unchecked(&t, name);
    others_are_mended(&t, name, 1);
    forge_end(&t.f);
}

static void a_writer_goes_on(enum damage_kind kind, int with_index)
{
    struct trial t;
    char name[96];

    forge_name_manifest(name, STEP);
    begin(&t, name, kind, 80, with_index);
    steps_are_appended(&t);
    t.io.damage.kind = DAMAGE_NONE;
    for (int s = 0; s < FORGE_STEPS; s++)
        CHECK_EQ(forge_read(&t.f, s, 0), BOUMA_OK);
    forge_end(&t.f);
}

/* With 'status', that of reading the step. */
static void a_subfile_fails(enum damage_kind kind, uint64_t at, int is_told,
                            int status)
{
    struct trial t;
    char name[96];

    forge_name_subfile(name, STEP, 1);
    begin(&t, name, kind, at, 1);
    all_steps_are_listed(&t);
    CHECK_EQ(forge_read(&t.f, 0, 0), BOUMA_OK);
    CHECK_EQ(forge_read(&t.f, 2, 0), BOUMA_OK);
    CHECK_EQ(forge_read(&t.f, STEP, 0), status);
    step_1_is_unchecked(&t, name);
    others_are_mended(&t, name, is_told);
    forge_end(&t.f);
}

/* A subfile that could be mended, if only its data could be read: it is left as
 * it is, and the other is mended. */
static void a_file_that_is_to_be_mended_fails(uint64_t at)
{
    struct forge_findings found;
    struct forge_file file, after;
    struct trial t;
    char name[96];

    forge_name_subfile(name, STEP, 1);
    begin(&t, name, DAMAGE_NONE, at, 1);
    forge_load(&t.f, &file, name);
    file.data[70] ^= 1;
    forge_save(&t.f, name, file.data, file.bytes);
    t.io.damage.kind = DAMAGE_SECTOR;
    forge_repair(&t.f, &found, 1);
    CHECK_EQ(found.repaired.unchecked, 1);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK_TEXT(found.text, "3 1 ");
    CHECK_TEXT(found.text, "1 2 ");
    forge_load(&t.f, &after, name);
    CHECK(after.bytes == file.bytes &&
          !memcmp(after.data, file.data, file.bytes));
    CHECK(!forge_exists(&t.f, "steps/00000001/mended.tmp"));
    t.io.damage.kind = DAMAGE_NONE;
    forge_verify(&t.f, &found, BOUMA_VERIFY_DEEP);
    CHECK_EQ(found.verified.damages, 1);
    forge_repair(&t.f, &found, 1);
    forge_verify(&t.f, &found, BOUMA_VERIFY_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    free(after.data);
    free(file.data);
    forge_end(&t.f);
}

/* A byte in the middle of the data of subfile 1 of step 1. */
static uint64_t middle(void)
{
    struct forge_file file;
    struct forge f;
    uint64_t at;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_name_subfile(name, STEP, 1);
    forge_load(&f, &file, name);
    at = file.bytes / 2;
    free(file.data);
    forge_end(&f);
    return at;
}

int main(void)
{
    for (int with_index = 0; with_index < 2; with_index++) {
        a_manifest_fails(DAMAGE_CLOSED, with_index);
        a_manifest_fails(DAMAGE_SECTOR, with_index);
        a_writer_goes_on(DAMAGE_CLOSED, with_index);
        a_writer_goes_on(DAMAGE_SECTOR, with_index);
    }
    a_subfile_fails(DAMAGE_CLOSED, 0, 1, BOUMA_EIO);
    a_subfile_fails(DAMAGE_SECTOR, 10, 1, BOUMA_OK); /* there are two heads */
    /* Repair reads no data. */
    a_subfile_fails(DAMAGE_SECTOR, middle(), 0, BOUMA_EIO);
    a_file_that_is_to_be_mended_fails(middle());
    return check_result();
}
