/* test_unreadable.c -- a device that cannot read one file. Every step stands
 * alone: the others are listed, read, checked and mended; of the one with that
 * file it is told that it could not be looked at, and nothing is done to it. */
#include "damage_io.h"
#include "forge.h"

#include "dataset/dataset.h"
#include "store/losses.h"

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

    forge_verify(&t->f, &found, BOUMA_DEPTH_DEEP);
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
    forge_verify(&t->f, &found, BOUMA_DEPTH_DEEP);
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
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
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
    CHECK_EQ(found.repaired.actions, 1); /* the other step's */
    CHECK_TEXT(found.text, "3 1 ");
    CHECK_TEXT(found.text, "1 2 ");
    forge_load(&t.f, &after, name);
    CHECK(after.bytes == file.bytes &&
          !memcmp(after.data, file.data, file.bytes));
    for (int epoch = 1; epoch < 10; epoch++) {
        snprintf(name, sizeof(name), "steps/00000001/mended.tmp.e%d", epoch);
        CHECK(!forge_exists(&t.f, name));
    }
    t.io.damage.kind = DAMAGE_NONE;
    forge_verify(&t.f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 1);
    forge_repair(&t.f, &found, 1);
    forge_verify(&t.f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    free(after.data);
    free(file.data);
    forge_end(&t.f);
}

/* Step 1 is gone, and only the index knows, which cannot be read: it is neither
 * replaced by repair nor by a writer. */
static void an_index_is_not_replaced(enum damage_kind kind)
{
    static const char *const files[] = {
        "steps/00000001/d.0000.e1a2", "steps/00000001/d.0001.e1a2",
        "steps/00000001/manifest", "steps/00000001"};
    struct forge_file before, after;
    struct forge_findings found;
    struct trial t;
    void *root;

    begin(&t, "index", kind, 20, 1);
    REQUIRE(!t.f.io->attach(t.f.io->user, &root, FORGE_PATH, 0));
    for (int i = 0; i < 3; i++)
        REQUIRE(!t.f.io->remove(t.f.io->user, root, files[i]));
    REQUIRE(!t.f.io->remove_dir(t.f.io->user, root, files[3]));
    t.f.io->detach(t.f.io->user, root);
    forge_load(&t.f, &before, "index");
    forge_verify(&t.f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 0);
    CHECK_EQ(found.verified.unchecked, 1);
    CHECK_TEXT(found.text, "3 -1 index ");
    forge_repair(&t.f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK_EQ(found.repaired.unchecked, 1);
    CHECK_TEXT(found.text, "a damaged head replaced");
    CHECK_EQ(forge_read(&t.f, 2, 0), BOUMA_OK);
    forge_load(&t.f, &after, "index");
    CHECK_EQ(after.bytes, before.bytes);
    free(after.data);
    {
        bouma_dataset *ds;

        CHECK_EQ(bouma_dataset_append(&ds, FORGE_PATH, &t.f.options), BOUMA_OK);
        CHECK_TEXT(bouma_dataset_note(ds, 0), "index");
        CHECK_EQ(bouma_step_begin(ds, 9, 9), BOUMA_OK);
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
        bouma_dataset_free(ds);
    }
    forge_load(&t.f, &after, "index");
    CHECK(after.bytes >= before.bytes &&
          !memcmp(after.data, before.data, before.bytes));
    t.io.damage.kind = DAMAGE_NONE;
    forge_verify(&t.f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 1);
    CHECK_TEXT(found.text, "step 1 (time 0.5) was committed and is lost");
    free(after.data);
    free(before.data);
    forge_end(&t.f);
}

/* A record says that step 1 is lost, and its manifest cannot be read today: who
 * forgets the loss does not move the step away. */
static void a_step_is_not_forgotten(void)
{
    struct bm_lost_step lost = {.entry = {STEP, 0.5, {1, 2}}, .recorded = 7};
    struct forge_findings found;
    struct bm_buffer b;
    struct trial t;
    void *root;
    char name[96];

    forge_name_manifest(name, STEP);
    begin(&t, name, DAMAGE_SECTOR, 80, 1);
    REQUIRE(!t.f.io->attach(t.f.io->user, &root, FORGE_PATH, 0));
    REQUIRE(!t.f.io->make_dir(t.f.io->user, root, "lost"));
    t.f.io->detach(t.f.io->user, root);
    bm_buffer_init(&b, bm_allocator_default());
    bm_loss_encode(&b, &lost, t.f.options.id);
    forge_save(&t.f, "lost/00000001.loss", b.data, b.size);
    CHECK_EQ(bouma_repair_forget(NULL, FORGE_PATH, STEP, 1, &t.f.options, NULL,
                                 NULL, NULL, 0),
             BOUMA_EIO);
    t.io.damage.kind = DAMAGE_NONE;
    CHECK_EQ(forge_read(&t.f, STEP, 0), BOUMA_OK);
    forge_repair(&t.f, &found, 1);
    forge_verify(&t.f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    bm_buffer_release(&b);
    forge_end(&t.f);
}

static void count_loss(void *user, const bouma_loss *loss)
{
    *(int *)user += loss->step == STEP;
}

/* Step 1 is gone and its loss on record, and then the index cannot be read:
 * what is on record is known all the same. */
static void a_loss_is_known_without_the_index(enum damage_kind kind)
{
    static const char *const files[] = {"steps/00000001/d.0000.e1a2",
                                        "steps/00000001/d.0001.e1a2",
                                        "steps/00000001/manifest"};
    struct forge_findings found;
    char message[640] = "";
    struct trial t;
    int count = 0;

    begin(&t, "index", DAMAGE_NONE, 20, 1);
    for (int i = 0; i < 3; i++)
        forge_remove(&t.f, files[i]);
    forge_repair(&t.f, &found, 1);
    t.io.damage.kind = kind;
    CHECK_EQ(forge_read(&t.f, STEP, 0), BOUMA_EFORMAT);
    CHECK_EQ(forge_read(&t.f, 7, 0), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_losses(FORGE_PATH, &t.f.options, count_loss, &count, message,
                          sizeof(message)),
             BOUMA_EIO);
    CHECK_EQ(count, 1);
    CHECK_TEXT(message, "index");
    forge_verify(&t.f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 1);
    CHECK_EQ(found.verified.unchecked, 1);
    CHECK_TEXT(found.text, "3 -1 index ");
    CHECK(!strstr(strstr(found.text, "index") + 1, "index")); /* told once */
    CHECK_EQ(bouma_repair_forget(NULL, FORGE_PATH, 7, 1, &t.f.options, NULL,
                                 NULL, NULL, 0),
             BOUMA_EIO);
    CHECK_EQ(bouma_repair_forget(NULL, FORGE_PATH, STEP, 1, &t.f.options, NULL,
                                 NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK(!forge_exists(&t.f, "lost/00000001.loss"));
    CHECK_EQ(forge_read(&t.f, STEP, 0), BOUMA_ENOTFOUND);
    t.io.damage.kind = DAMAGE_NONE;
    forge_verify(&t.f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 0);
    forge_end(&t.f);
}

static int has_no_memory(void *context, const char *text)
{
    (void)text;
    ++*(int *)context;
    return BOUMA_ENOMEM;
}

/* No memory to note what cannot be read: that is the message, and not what was
 * to be noted. */
static void a_note_that_fails_is_no_damage(const char *name)
{
    struct bm_error error = {0};
    struct bm_step_list found;
    struct bm_store s;
    struct trial t;
    int notes = 0;
    struct bm_step_search search = {.store = &s,
                                    .id = t.f.options.id,
                                    .found = &found,
                                    .how = BM_FIND_EXACT,
                                    .note = has_no_memory,
                                    .context = &notes};

    begin(&t, name, DAMAGE_CLOSED, 0, 1);
    memset(&s, 0, sizeof(s));
    REQUIRE(!bm_store_open(&s, &t.io.io, bm_allocator_default(), FORGE_PATH, 0,
                           &error));
    s.memory_limit = 1 << 20;
    bm_step_list_init(&found, bm_allocator_default());
    CHECK_EQ(bm_steps_find(&search, &error), BOUMA_ENOMEM);
    CHECK_EQ(notes, 1);
    CHECK_TEXT(error.text, "no memory");
    bm_step_list_release(&found);
    bm_store_close(&s);
    forge_end(&t.f);
}

/* DATASET, or a directory: nothing is done, and nothing is made anew. */
static void nothing_is_made_anew(const char *name)
{
    bouma_repair_report report = {.size = sizeof(report)};
    bouma_verify_report counts = {.size = sizeof(counts)};
    struct forge_findings found;
    struct trial t;
    char message[640] = "";

    begin(&t, name, DAMAGE_CLOSED, 0, 1);
    CHECK_EQ(bouma_repair(&report, FORGE_PATH, 0, &t.f.options, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_EIO);
    CHECK_TEXT(message, name);
    CHECK_EQ(t.io.changes, 0);
    CHECK_EQ(bouma_repair(&report, FORGE_PATH, 1, &t.f.options, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_EIO);
    CHECK_EQ(report.actions, 0);
    if (strcmp(name, "epochs"))
        CHECK_EQ(bouma_verify(&counts, FORGE_PATH, BOUMA_DEPTH_QUICK,
                              &t.f.options, NULL, NULL, message,
                              sizeof(message)),
                 BOUMA_EIO);
    t.io.damage.kind = DAMAGE_NONE;
    forge_repair(&t.f, &found, 1);
    forge_verify(&t.f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
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
    a_file_that_is_to_be_mended_fails(middle());
    a_subfile_fails(DAMAGE_SECTOR, middle(), 1, BOUMA_EIO);
    an_index_is_not_replaced(DAMAGE_CLOSED);
    an_index_is_not_replaced(DAMAGE_SECTOR);
    a_step_is_not_forgotten();
    a_loss_is_known_without_the_index(DAMAGE_CLOSED);
    a_loss_is_known_without_the_index(DAMAGE_SECTOR);
    a_note_that_fails_is_no_damage("index");
    a_note_that_fails_is_no_damage("steps/00000001/manifest");
    nothing_is_made_anew("DATASET");
    nothing_is_made_anew("steps");
    nothing_is_made_anew("epochs");
    return check_result();
}
