/* test_losses.c -- a committed step that is gone is damage: verify and repair
 * name it, its loss goes on record, stays there whatever happens to the index,
 * and ends when it is forgotten, or the step is written again. */
#include <errno.h>

#include "forge.h"

#include "dataset/local_copy.h"
#include "layout/manifest.h"
#include "sized.h"
#include "store/losses.h"

enum { STEP = 1 };

static int remove_entry(void *context, const char *entry)
{
    char name[128];

    snprintf(name, sizeof(name), "steps/%08d/%s", STEP, entry);
    forge_remove(context, name);
    return 0;
}

static void remove_step(struct forge *f, int with_directory)
{
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->list(io->user, root, "steps/00000001", remove_entry, f));
    if (with_directory)
        REQUIRE(!io->remove_dir(io->user, root, "steps/00000001"));
    io->detach(io->user, root);
}

/* Open to append, and write steps from 'first' on. */
static void append(const struct forge *f, int first, int count)
{
    bouma_dataset *ds;

    REQUIRE(!bouma_dataset_append(&ds, FORGE_PATH, &f->options));
    for (int s = first; s < first + count; s++) {
        REQUIRE(!bouma_step_begin(ds, s, s * 0.5));
        REQUIRE(!bouma_step_end(ds));
    }
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

struct known {
    int count;
    bouma_loss last;
};

static void add_loss(void *user, const bouma_loss *loss)
{
    struct known *k = user;

    k->count++;
    k->last = *loss;
}

static struct known losses(const struct forge *f)
{
    struct known k;

    memset(&k, 0, sizeof(k));
    CHECK_EQ(bouma_losses(FORGE_PATH, &f->options, add_loss, &k, NULL, 0),
             BOUMA_OK);
    return k;
}

/* What opening a step says that is not there. */
static void opening_tells(const struct forge *f, int64_t step, int status,
                          const char *what, const char *more)
{
    bouma_dataset *ds;
    bouma_step *s;

    REQUIRE(!bouma_dataset_open(&ds, FORGE_PATH, &f->options));
    CHECK_EQ(bouma_step_open(&s, ds, step), status);
    CHECK(!s);
    CHECK_TEXT(bouma_error_message(ds), what);
    CHECK_TEXT(bouma_error_message(ds), more);
    bouma_dataset_free(ds);
}

/* Verify names the step at all depths, the others can be read. */
static void step_1_is_lost(const struct forge *f, int recorded)
{
    struct forge_findings found;
    struct known k = losses(f);

    for (int depth = BOUMA_DEPTH_QUICK; depth <= BOUMA_DEPTH_DEEP; depth++) {
        forge_verify(f, &found, (bouma_depth)depth);
        CHECK_EQ(found.verified.damages, 1);
        CHECK_TEXT(found.text, "2 1 steps/00000001 step 1 (time 0.5) was "
                               "committed and is lost (");
        CHECK_TEXT(found.text, recorded ? "(recorded 20" : "(not on record)");
    }
    CHECK_EQ(k.count, 1);
    CHECK_EQ(k.last.step, STEP);
    CHECK(k.last.time == 0.5 && k.last.is_known);
    CHECK_EQ(k.last.recorded > 0, recorded);
    CHECK_EQ(k.last.files, 0);
    CHECK_EQ(forge_read(f, 0, 0), BOUMA_OK);
    CHECK_EQ(forge_read(f, STEP, 0), BOUMA_EFORMAT);
    CHECK_EQ(forge_read(f, 2, 0), BOUMA_OK);
    opening_tells(f, STEP, BOUMA_EFORMAT,
                  recorded ? "step 1 was committed and is lost (recorded 20"
                           : "step 1 was committed and is lost (not on record)",
                  "`bouma repair --forget 1 --apply` forgets it");
}

static void nothing_is_lost(const struct forge *f)
{
    struct forge_findings found;

    CHECK_EQ(losses(f).count, 0);
    forge_verify(f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    CHECK_EQ(found.verified.unchecked, 0);
    forge_repair(f, &found, 0);
    CHECK_EQ(found.repaired.hopeless, 0);
}

/* A second repair finds nothing to do. */
static void end_repaired(struct forge *f)
{
    struct forge_findings found;

    forge_repair(f, &found, 1);
    CHECK_EQ(found.repaired.actions, 0);
    forge_end(f);
}

static void forget(const struct forge *f, int64_t step, int apply, int status)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[256] = "";

    CHECK_EQ(bouma_repair_forget(&report, FORGE_PATH, step, apply, &f->options,
                                 NULL, NULL, message, sizeof(message)),
             status);
    if (!status)
        CHECK_EQ(report.actions, 1);
    else
        CHECK_TEXT(message, "is on record; `bouma repair --apply` finds");
}

/* Write step 1 again, instead of what is there. */
static void append_anew(const struct forge *f)
{
    bouma_options options = f->options;
    bouma_dataset *ds;

    options.replace = 1;
    REQUIRE(!bouma_dataset_append(&ds, FORGE_PATH, &options));
    REQUIRE(!bouma_step_begin(ds, STEP, 0.5));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* The manifest of step 1 was made anew. All data are there, and what is not is
 * on record, until it is forgotten. */
static void only_attributes_are_lost(const struct forge *f)
{
    struct forge_findings found;

    CHECK_EQ(forge_read(f, STEP, 0), BOUMA_OK);
    for (int forgotten = 0; forgotten < 2; forgotten++) {
        CHECK_EQ(losses(f).count, 1);
        CHECK_EQ(losses(f).last.step, STEP);
        CHECK_EQ(losses(f).last.files, 1);
        CHECK_EQ(losses(f).last.accepted, forgotten);
        forge_verify(f, &found, BOUMA_DEPTH_DEEP);
        CHECK_EQ(found.verified.damages, !forgotten);
        CHECK_EQ(found.verified.unchecked, 0);
        CHECK_TEXT(found.text, forgotten ? "1 1 steps/00000001/manifest was "
                                           "made anew"
                                         : "2 1 steps/00000001/manifest was "
                                           "made anew");
        CHECK_TEXT(found.text, "are lost (recorded 20");
        forge_repair(f, &found, 1);
        CHECK_EQ(found.repaired.hopeless, !forgotten);
        CHECK_EQ(found.repaired.actions, 0);
        if (!forgotten)
            forget(f, STEP, 1, BOUMA_OK);
    }
    append_anew(f);
    nothing_is_lost(f);
}

static void repair_puts_it_on_record(const struct forge *f)
{
    struct forge_findings found;

    forge_repair(f, &found, 0);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_TEXT(found.text, "would be done: the loss of the step put on record");
    step_1_is_lost(f, 0); /* nothing was done */
    forge_repair(f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_TEXT(found.text, "step 1 (time 0.5) was committed and is lost");
    step_1_is_lost(f, 1);
    forge_repair(f, &found, 1); /* there is nothing more to do */
    CHECK_EQ(found.repaired.actions, 0);
    CHECK_EQ(found.repaired.hopeless, 1);
    step_1_is_lost(f, 1);
}

static void a_loss_stays_until_it_is_forgotten(void)
{
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forget(&f, STEP, 1, BOUMA_ENOTFOUND);
    remove_step(&f, 1);
    step_1_is_lost(&f, 0);
    repair_puts_it_on_record(&f);
    forge_remove(&f, "index");
    step_1_is_lost(&f, 1);
    append(&f, 3, 1);
    step_1_is_lost(&f, 1);
    forget(&f, STEP, 0, BOUMA_OK);
    step_1_is_lost(&f, 1);
    forget(&f, 2, 1, BOUMA_ENOTFOUND);
    forget(&f, STEP, 1, BOUMA_OK);
    nothing_is_lost(&f);
    append(&f, 4, 1);
    nothing_is_lost(&f);
    forge_end(&f);
}

/* Who forgets one loss is told of the others; nothing has to be written anew
 * after that. */
static void other_losses_stay(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    remove_step(&f, 1);
    forge_name_subfile(name, 2, 0);
    forge_load(&f, &file, name);
    file.data[file.bytes / 2] ^= 1;
    forge_save(&f, name, file.data, file.bytes);
    free(file.data);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 2);
    for (int apply = 0; apply < 2; apply++) {
        memset(&found, 0, sizeof(found));
        CHECK_EQ(bouma_repair_forget(SIZED(&found.repaired), FORGE_PATH, STEP,
                                     apply, &f.options, forge_record, &found,
                                     NULL, 0),
                 BOUMA_OK);
        CHECK_EQ(found.repaired.actions, 1);
        CHECK_EQ(found.repaired.hopeless, 1);
        CHECK_TEXT(found.text, "2 2 steps/00000002 1 file of step 2 (time 1)");
    }
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.notes, 0);
    CHECK_EQ(bouma_repair_forget(SIZED(&found.repaired), FORGE_PATH, -1, 1,
                                 &f.options, NULL, NULL, NULL, 0),
             BOUMA_OK);
    CHECK_EQ(found.repaired.hopeless, 0);
    end_repaired(&f);
}

/* The next writer makes the index anew, and repair has not been there. */
static void a_writer_does_not_forget_it(void)
{
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    remove_step(&f, 1);
    append(&f, 3, 1);
    step_1_is_lost(&f, 1);
    forget(&f, -1, 1, BOUMA_OK);
    nothing_is_lost(&f);
    forge_end(&f);
}

static void what_is_not_on_record_can_be_forgotten(void)
{
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    remove_step(&f, 1);
    forget(&f, -1, 1, BOUMA_OK);
    nothing_is_lost(&f);
    forge_end(&f);
}

static void writing_it_again_ends_the_loss(int recorded)
{
    struct forge_findings found;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    remove_step(&f, 1);
    if (recorded)
        forge_repair(&f, &found, 1);
    append(&f, STEP, 1);
    nothing_is_lost(&f);
    CHECK(!forge_exists(&f, "lost/00000001.loss"));
    append(&f, 3, 1);
    nothing_is_lost(&f);
    forge_end(&f);
}

/* A power loss has brought its record back: that is not the one of the step as
 * it was written again. */
static void a_step_that_is_lost_again_is_another_loss(void)
{
    struct forge_findings found;
    struct forge_file record;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    remove_step(&f, 1);
    forge_repair(&f, &found, 1);
    step_1_is_lost(&f, 1);
    forge_load(&f, &record, "lost/00000001.loss");
    append(&f, STEP, 1);
    nothing_is_lost(&f);
    forge_save(&f, "lost/00000001.loss", record.data, record.bytes);
    remove_step(&f, 1);
    step_1_is_lost(&f, 0);
    forge_repair(&f, &found, 1);
    CHECK_TEXT(found.text, "the loss of the step put on record");
    step_1_is_lost(&f, 1);
    free(record.data);
    forge_end(&f);
}

/* A record that a power loss has brought back. */
static void a_record_of_a_step_that_is_there_means_nothing(void)
{
    struct bm_lost_step lost = {.entry = {STEP, 0.5, {1, 2}}, .recorded = 7};
    struct forge_findings found;
    struct bm_buffer b;
    struct forge f;
    const bouma_io *io;
    void *root;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    io = f.io;
    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->make_dir(io->user, root, "lost"));
    io->detach(io->user, root);
    bm_buffer_init(&b, bm_allocator_default());
    bm_loss_encode(&b, &lost, f.options.id);
    forge_save(&f, "lost/00000001.loss", b.data, b.size);
    CHECK_EQ(losses(&f).count, 0);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 0);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK(!forge_exists(&f, "lost/00000001.loss"));
    /* One that is damaged still tells that something is lost. */
    b.data[100] ^= 1;
    forge_save(&f, "lost/00000009.loss", b.data, b.size);
    CHECK_EQ(losses(&f).count, 1);
    CHECK_EQ(losses(&f).last.step, 9);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 1);
    CHECK_TEXT(found.text, "is lost (recorded)");
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 0);
    forget(&f, 9, 1, BOUMA_OK);
    nothing_is_lost(&f);
    bm_buffer_release(&b);
    forge_end(&f);
}

static void save_junk_as_record(const struct forge *f)
{
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    io->make_dir(io->user, root, "lost"); /* unless it is there */
    io->detach(io->user, root);
    forge_save(f, "lost/00000001.loss", (const uint8_t *)"junk", 4);
}

/* Step 1 is there and whole. */
static void a_damaged_record_is_no_loss(void)
{
    struct forge_findings found;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    save_junk_as_record(&f);
    CHECK_EQ(losses(&f).count, 0);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 1);
    CHECK_TEXT(found.text, "2 1 lost/00000001.loss the record of a loss is ");
    forget(&f, STEP, 1, BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_repair_forget(NULL, FORGE_PATH, -1, 1, &f.options, NULL,
                                 NULL, NULL, 0),
             BOUMA_OK);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    CHECK(forge_exists(&f, "lost/00000001.loss"));
    for (int apply = 0; apply < 2; apply++) {
        forge_repair(&f, &found, apply);
        CHECK_EQ(found.repaired.hopeless, 0);
        CHECK_EQ(found.repaired.actions, 1);
        CHECK_EQ(forge_exists(&f, "lost/00000001.loss"), !apply);
    }
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    nothing_is_lost(&f);
    forge_end(&f);
}

/* Of step 1 something is lost, and its record is damaged. */
static void a_damaged_record_is_written_anew(void)
{
    struct forge_findings found;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    save_junk_as_record(&f);
    forge_name_subfile(name, STEP, 0);
    forge_remove(&f, name);
    forget(&f, STEP, 1, BOUMA_ENOTFOUND);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK_EQ(losses(&f).count, 1);
    CHECK_EQ(losses(&f).last.files, 1);
    forget(&f, STEP, 1, BOUMA_OK);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    forge_end(&f);
}

/* The manifest is damaged as well, but can be made anew: nobody may forget the
 * step before that was tried. */
static void a_step_that_can_be_mended_is_not_forgotten(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    save_junk_as_record(&f);
    forge_name_manifest(name, STEP);
    forge_load(&f, &file, name);
    file.data[100] ^= 1;
    forge_save(&f, name, file.data, file.bytes);
    CHECK_EQ(bouma_repair_forget(NULL, FORGE_PATH, STEP, 1, &f.options, NULL,
                                 NULL, NULL, 0),
             BOUMA_EFORMAT);
    CHECK(forge_exists(&f, name));
    forge_repair(&f, &found, 1);
    only_attributes_are_lost(&f);
    free(file.data);
    forge_end(&f);
}

/* The directory is there, but nothing that makes a step. */
static void a_step_without_its_manifest_is_lost(void)
{
    struct forge_findings found;
    struct forge f;
    char name[96];

    for (int left = 0; left < 2; left++) {
        forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
        remove_step(&f, 0);
        forge_name_subfile(name, STEP, 0);
        if (left)
            forge_save(&f, name, (const uint8_t *)"rest", 4);
        forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
        CHECK_EQ(found.verified.damages, 1);
        CHECK_TEXT(found.text, "2 1 ");
        forge_repair(&f, &found, 0);
        CHECK_EQ(found.repaired.hopeless, 1);
        CHECK_EQ(strstr(found.text, "what is left of the step moved") != NULL,
                 left);
        CHECK_EQ(strstr(found.text, "empty directory of the step removed") !=
                     NULL,
                 !left);
        forge_repair(&f, &found, 1);
        CHECK_EQ(found.repaired.hopeless, 1);
        step_1_is_lost(&f, 1);
        CHECK(!left || forge_exists(&f, "lost/steps.00000001.d.0000.e1a2.0"));
        forget(&f, STEP, 1, BOUMA_OK);
        nothing_is_lost(&f);
        forge_end(&f);
    }
}

/* A step that a writer has begun to replace, and no more, was forgotten by the
 * index before. */
static void a_step_that_the_index_forgot_is_not_lost(void)
{
    uint8_t record[BM_INDEX_RECORD];
    struct bm_step_entry entry = {7, 0, {0, 0}};
    struct forge_file file;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_load(&f, &file, "index");
    bm_index_encode(record, &entry, f.options.id);
    file.data = realloc(file.data, file.bytes + BM_INDEX_RECORD);
    REQUIRE(file.data);
    memcpy(file.data + file.bytes, record, BM_INDEX_RECORD);
    forge_save(&f, "index", file.data, file.bytes + BM_INDEX_RECORD);
    nothing_is_lost(&f);
    free(file.data);
    forge_end(&f);
}

/* ---- a step where another was -------------------------------------------- */

static int copy_entry(void *context, const char *entry)
{
    const struct forge *f = context;
    struct forge_file file;
    char name[96];

    snprintf(name, sizeof(name), "steps/00000001/%.60s", entry);
    forge_load(f, &file, name);
    snprintf(name, sizeof(name), "steps/00000007/%.60s", entry);
    forge_save(f, name, file.data, file.bytes);
    free(file.data);
    return 0;
}

/* Step 1 under the number 7, as well or instead. */
static void move_step(struct forge *f, int is_copied)
{
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    if (!is_copied)
        REQUIRE(!io->publish(io->user, root, "steps/00000001", "steps/00000007",
                             0));
    else
        REQUIRE(!io->make_dir(io->user, root, "steps/00000007"));
    if (is_copied)
        REQUIRE(!io->list(io->user, root, "steps/00000001", copy_entry, f));
    io->detach(io->user, root);
}

/* Repair has a way out, and step 7 was never there, so it is never lost. */
static void a_stray_step_is_put_right(int is_copied)
{
    struct forge_findings found;
    struct forge f;

    for (int recorded = 0; recorded < 2; recorded++) {
        forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
        move_step(&f, is_copied);
        if (recorded) /* the next writer misses it */
            append(&f, 3, 1);
        forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
        CHECK_EQ(found.verified.damages, 2 - is_copied);
        CHECK_TEXT(found.text,
                   "2 7 steps/00000007/manifest holds the manifest of step 1, "
                   "not of step 7; `bouma repair --apply` fixes that");
        for (int apply = 0; apply < 2; apply++) {
            forge_repair(&f, &found, apply);
            CHECK_EQ(found.repaired.hopeless, 0);
            CHECK_TEXT(found.text, is_copied ? "holds a copy of step 1, which "
                                               "is there; moved to lost/"
                                             : "holds step 1, which is "
                                               "missing; renamed back to "
                                               "steps/00000001");
        }
        CHECK(!forge_exists(&f, "lost/00000001.loss"));
        CHECK(!forge_exists(&f, "lost/00000007.loss"));
        CHECK_EQ(forge_exists(&f, "lost/steps.00000007.manifest.0"), is_copied);
        nothing_is_lost(&f);
        CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
        end_repaired(&f);
    }
}

/* Step 2 had been there, and is lost. */
static void a_stray_step_hides_no_loss(void)
{
    struct forge_findings found;
    struct forge f;
    const bouma_io *io;
    void *root;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    io = f.io;
    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->publish(io->user, root, "steps/00000002", "elsewhere", 0));
    REQUIRE(
        !io->publish(io->user, root, "steps/00000001", "steps/00000002", 0));
    io->detach(io->user, root);
    for (int apply = 0; apply < 3; apply++) {
        forge_repair(&f, &found, apply > 0);
        CHECK_EQ(found.repaired.hopeless, 1);
        CHECK_EQ(found.repaired.actions, apply == 2 ? 0 : 3);
    }
    CHECK_EQ(losses(&f).count, 1);
    CHECK_EQ(losses(&f).last.step, 2);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    forge_end(&f);
}

/* Of two directories of a step its own lacks files: it gets them back. */
static void a_stray_step_may_be_the_better_one(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    move_step(&f, 1);
    forge_name_manifest(name, STEP);
    forge_load(&f, &file, name);
    file.data[100] ^= 1;
    forge_save(&f, name, file.data, file.bytes);
    forge_name_subfile(name, STEP, 0);
    forge_remove(&f, name);
    forge_repair(&f, &found, 1);
    CHECK_TEXT(found.text, "is a file of step 1; moved back to that");
    CHECK_TEXT(found.text, "is the manifest of step 1; moved back to that");
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK(forge_exists(&f, "lost/steps.00000001.manifest.0"));
    nothing_is_lost(&f);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    free(file.data);
    forge_end(&f);
}

/* Rename an entry of the dataset. */
static void rename_entry(const struct forge *f, const char *from,
                         const char *to)
{
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->publish(io->user, root, from, to, 1));
    io->detach(io->user, root);
}

struct carrier {
    const struct forge *f;
    int from, to;
    const char *prefix; /* of what is moved */
};

static int carry(void *context, const char *entry)
{
    const struct carrier *c = context;
    char from[96], to[96];

    if (strncmp(entry, c->prefix, strlen(c->prefix)))
        return 0;
    snprintf(from, sizeof(from), "steps/%08d/%.60s", c->from, entry);
    snprintf(to, sizeof(to), "steps/%08d/%.60s", c->to, entry);
    rename_entry(c->f, from, to);
    return 0;
}

/* mv steps/FROM/PREFIX* steps/TO/ */
static void move_files(const struct forge *f, int from, int to,
                       const char *prefix)
{
    struct carrier c = {f, from, to, prefix};
    const bouma_io *io = f->io;
    char dir[96];
    void *root;

    snprintf(dir, sizeof(dir), "steps/%08d", from);
    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->list(io->user, root, dir, carry, &c));
    io->detach(io->user, root);
}

/* All steps can be read; 'hopeless' damages stay, and a second repair finds
 * nothing to do. */
static void all_are_back(const struct forge *f, int hopeless)
{
    struct forge_findings found;

    forge_repair(f, &found, 0);
    forge_repair(f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, hopeless);
    for (int s = 0; s < 3; s++)
        CHECK_EQ(forge_read(f, s, 0), BOUMA_OK);
    forge_repair(f, &found, 1);
    CHECK_EQ(found.repaired.actions, 0);
    CHECK_EQ(found.repaired.hopeless, hopeless);
}

/* By their names these files are an earlier writing of step 2. */
static void files_of_another_step_go_back(void)
{
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    move_files(&f, 1, 2, "d.");
    all_are_back(&f, 0);
    nothing_is_lost(&f);
    forge_end(&f);

    /* With the manifest: that of step 1 is lost, its subfiles stay. */
    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    move_files(&f, 2, 1, "");
    all_are_back(&f, 1);
    CHECK(!forge_exists(&f, "lost/00000002.loss"));
    forge_end(&f);
}

/* The subfiles beside it are whole, and those of their own step. */
static void a_stray_manifest_does_not_hide_subfiles(void)
{
    struct forge_file file;
    struct forge f;
    char from[96], to[96];

    forge_name_manifest(from, 1);
    forge_name_manifest(to, 2);
    for (int is_moved = 0; is_moved < 2; is_moved++) {
        forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
        forge_load(&f, &file, from);
        forge_save(&f, to, file.data, file.bytes);
        free(file.data);
        if (is_moved)
            forge_remove(&f, from);
        all_are_back(&f, 1);
        CHECK(!forge_exists(&f, "lost/00000001.loss"));
        CHECK_EQ(forge_exists(&f, "lost/steps.00000002.manifest.0"), !is_moved);
        forge_end(&f);
    }
}

static void swapped_steps_are_put_right(void)
{
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    rename_entry(&f, "steps/00000001", "elsewhere");
    rename_entry(&f, "steps/00000002", "steps/00000001");
    rename_entry(&f, "elsewhere", "steps/00000002");
    all_are_back(&f, 0);
    nothing_is_lost(&f);
    forge_end(&f);

    /* Three in a ring. */
    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    rename_entry(&f, "steps/00000000", "elsewhere");
    rename_entry(&f, "steps/00000001", "steps/00000000");
    rename_entry(&f, "steps/00000002", "steps/00000001");
    rename_entry(&f, "elsewhere", "steps/00000002");
    all_are_back(&f, 0);
    nothing_is_lost(&f);
    forge_end(&f);
}

/* The copy is whole, and the step is not. */
static void a_whole_copy_replaces_a_cut_file(void)
{
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    move_step(&f, 1);
    forge_name_subfile(name, STEP, 0);
    forge_load(&f, &file, name);
    forge_save(&f, name, file.data, 100);
    free(file.data);
    all_are_back(&f, 0);
    nothing_is_lost(&f);
    forge_end(&f);
}

/* Step 5 is one of another dataset: no loss of this one. */
static void a_foreign_step_is_no_loss(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    move_step(&f, 1);
    forge_load(&f, &file, "steps/00000007/manifest");
    file.data[32] ^= 1; /* of the id */
    mend_envelope(file.data, file.bytes);
    forge_save(&f, "steps/00000007/manifest", file.data, file.bytes);
    free(file.data);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_TEXT(found.text, "belongs to another dataset; `bouma repair --apply` "
                           "moves it to lost/");
    forge_repair(&f, &found, 1);
    CHECK_TEXT(found.text, "belongs to another dataset; moved to lost/");
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK(!forge_exists(&f, "lost/00000007.loss"));
    CHECK(!forge_exists(&f, "steps/00000007/manifest"));
    nothing_is_lost(&f);
    forge_end(&f);
}

/* DATASET, the index and all manifests are gone: the subfiles have it all. */
static void subfiles_tell_which_dataset_it_is(void)
{
    struct forge_findings found;
    struct forge_file file, dataset;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_load(&f, &dataset, "DATASET");
    forge_remove(&f, "DATASET");
    forge_remove(&f, "index");
    for (int step = 0; step < FORGE_STEPS; step++) {
        forge_name_manifest(name, step);
        forge_remove(&f, name);
    }
    forge_save(&f, "DATASET", dataset.data, dataset.bytes);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_TEXT(found.text, "step 0 has no manifest, ignored; its files seem to "
                           "be all there (2): `bouma repair` checks them");
    forge_name_subfile(name, 1, 1);
    forge_load(&f, &file, name);
    forge_remove(&f, name);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_TEXT(found.text, "step 1 is incomplete (1 file, no manifest), "
                           "ignored\n");
    forge_save(&f, name, file.data, file.bytes);
    free(file.data);
    forge_remove(&f, "DATASET");
    free(dataset.data);
    forge_name_subfile(name, 0, 0); /* one that tells nothing */
    forge_load(&f, &file, name);
    file.data[70] ^= 1;
    forge_save(&f, name, file.data, file.bytes);
    forge_repair(&f, &found, 1);
    CHECK_TEXT(found.text, "DATASET written anew, with the identity found");
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    CHECK_EQ(forge_read(&f, 2, 0), BOUMA_OK);
    free(file.data);
    forge_end(&f);
}

/* ---- many leftovers ------------------------------------------------------ */

static struct {
    const bouma_io *inner;
    void *subfile; /* the last one that was opened */
    int opens, reads;
    size_t bytes;
} looks;

static int open_counted(void *user, void *root, void **file, const char *name,
                        bouma_open_mode mode)
{
    int rc = looks.inner->open(user, root, file, name, mode);
    int is_subfile = strstr(name, "/d.") != NULL;

    looks.opens += is_subfile;
    if (!rc && is_subfile)
        looks.subfile = *file;
    else if (!rc && looks.subfile == *file)
        looks.subfile = NULL;
    return rc;
}

static int read_counted(void *user, void *file, void *data, size_t bytes,
                        uint64_t offset, size_t *done)
{
    if (file == looks.subfile) {
        looks.reads++;
        looks.bytes += bytes;
    }
    return looks.inner->read(user, file, data, bytes, offset, done);
}

/* Opening to append looks into one file of a step without a manifest, once, and
 * into none if a file is missing. */
static void leftovers_cost_one_small_read(void)
{
    bouma_options options;
    bouma_dataset *ds;
    struct forge f;
    char name[96];
    bouma_io io;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_remove(&f, "index");
    for (int step = 0; step < FORGE_STEPS; step++) {
        forge_name_manifest(name, step);
        forge_remove(&f, name);
    }
    forge_name_subfile(name, 1, 0);
    forge_remove(&f, name);
    io = *f.io;
    io.open = open_counted;
    io.read = read_counted;
    looks.inner = f.io;
    options = f.options;
    options.io = &io;
    REQUIRE(!bouma_dataset_append(&ds, FORGE_PATH, &options));
    REQUIRE(bouma_dataset_note(ds, FORGE_STEPS - 1) != NULL);
    CHECK_TEXT(bouma_dataset_note(ds, 0), "its files seem to be all there (2)");
    CHECK_TEXT(bouma_dataset_note(ds, 1), "step 1 is incomplete (1 file, ");
    CHECK_EQ(looks.opens, FORGE_STEPS - 1);
    CHECK_EQ(looks.reads, FORGE_STEPS - 1);
    CHECK(looks.bytes <= 128 * (FORGE_STEPS - 1));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    looks.opens = looks.reads = 0;
    REQUIRE(!bouma_dataset_open(&ds, FORGE_PATH, &options));
    CHECK_EQ(bouma_dataset_step_count(ds), 0);
    CHECK_EQ(looks.opens, 0); /* who reads is told nothing of them */
    bouma_dataset_free(ds);
    forge_end(&f);
}

/* ---- what is no file ----------------------------------------------------- */

static void put_directory(const struct forge *f, const char *name)
{
    const bouma_io *io = f->io;
    void *root;

    if (forge_exists(f, name))
        forge_remove(f, name);
    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->make_dir(io->user, root, name));
    io->detach(io->user, root);
}

/* It is there. */
static void put_directory_fails(const struct forge *f, const char *name)
{
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    CHECK_EQ(io->make_dir(io->user, root, name), EEXIST);
    io->detach(io->user, root);
}

/* A directory instead of a file is as if that were missing: it is damage,
 * and is moved away. 'stays': of what was in the file something is lost. */
static void a_directory_is_no_file(const char *name, int stays, int reads)
{
    struct forge_findings found;
    struct forge f;
    char moved[128];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    put_directory(&f, name);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK(found.verified.damages > 0);
    CHECK_EQ(found.verified.unchecked, 0);
    CHECK_TEXT(found.text, "is a directory");
    for (int apply = 0; apply < 2; apply++) {
        forge_repair(&f, &found, apply);
        CHECK_EQ(found.repaired.hopeless, stays);
        CHECK_EQ(found.repaired.unchecked, 0);
        CHECK_TEXT(found.text, name);
    }
    snprintf(moved, sizeof(moved), "lost/%.100s.0.other", name);
    for (char *p = moved + 5; *p; p++)
        if (*p == '/')
            *p = '.';
    put_directory_fails(&f, moved);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 0);
    CHECK_EQ(found.repaired.hopeless, stays);
    CHECK_EQ(forge_read(&f, STEP, 0), reads);
    if (stays && !reads)
        only_attributes_are_lost(&f);
    else if (!stays)
        nothing_is_lost(&f);
    forge_end(&f);
}

static void directories_are_moved_away(void)
{
    a_directory_is_no_file("steps/00000001/manifest", 1, BOUMA_OK);
    a_directory_is_no_file("steps/00000001/d.0000.e1a2", 1, BOUMA_EFORMAT);
    a_directory_is_no_file("index", 0, BOUMA_OK);
    a_directory_is_no_file("DATASET", 0, BOUMA_OK);
}

/* What has the name of a mended copy does not keep repair from the rest. */
static void a_mended_copy_is_no_file(void)
{
    struct forge_findings found;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    put_directory(&f, "steps/00000000/mended.tmp.e5");
    forge_remove(&f, "steps/00000001/manifest");
    for (int apply = 0; apply < 2; apply++) {
        forge_repair(&f, &found, apply);
        CHECK_TEXT(found.text, "mended.tmp.e5");
        CHECK_TEXT(found.text, "and no file; moved to lost/");
        CHECK_EQ(found.repaired.hopeless, 1);
    }
    put_directory_fails(&f, "lost/steps.00000000.mended.tmp.e5.0.other");
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    only_attributes_are_lost(&f);
    forge_end(&f);
}

/* ---- records and dropped steps ------------------------------------------- */

/* Put the loss of step 1 on record, at the time 7. */
static void record_loss(const struct forge *f)
{
    struct bm_lost_step lost = {.entry = {STEP, 0.5, {1, 2}}, .recorded = 7};
    struct bm_buffer b;

    put_directory(f, "lost");
    bm_buffer_init(&b, bm_allocator_default());
    bm_loss_encode(&b, &lost, f->options.id);
    forge_save(f, "lost/00000001.loss", b.data, b.size);
    bm_buffer_release(&b);
}

/* A manifest of another dataset does not end a loss, and what is lost of a step
 * that is there was lost at that time. */
static void a_record_ends_when_the_step_is_whole(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    record_loss(&f);
    forge_load(&f, &file, "steps/00000001/manifest");
    file.data[32] ^= 1; /* of the id */
    mend_envelope(file.data, file.bytes);
    remove_step(&f, 0);
    forge_save(&f, "steps/00000001/manifest", file.data, file.bytes);
    free(file.data);
    CHECK_EQ(losses(&f).count, 1);
    CHECK_EQ(losses(&f).last.recorded, 7);
    forge_repair(&f, &found, 1);
    CHECK_EQ(losses(&f).count, 1);
    CHECK_EQ(losses(&f).last.recorded, 7);
    forge_end(&f);

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    record_loss(&f);
    forge_name_subfile(name, STEP, 0);
    forge_remove(&f, name);
    forge_repair(&f, &found, 1);
    CHECK(!strstr(found.text, "the record of a loss removed"));
    CHECK_EQ(losses(&f).count, 1);
    CHECK_EQ(losses(&f).last.files, 1);
    CHECK_EQ(losses(&f).last.recorded, 7);
    forge_end(&f);
}

/* A truncation has removed the manifest of step 1, and its files are left. */
static void a_dropped_step_does_not_come_back(int is_stray)
{
    const char *dir = is_stray ? "steps/00000007" : "steps/00000001";
    struct forge_findings found;
    bouma_dataset *ds;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    rename_entry(&f, "steps/00000001", "elsewhere");
    REQUIRE(!bouma_dataset_append(&ds, FORGE_PATH, &f.options));
    REQUIRE(!bouma_dataset_truncate(ds, 0));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    rename_entry(&f, "elsewhere", dir);
    if (!is_stray) {
        forge_remove(&f, "steps/00000001/manifest");
        REQUIRE(!bouma_dataset_append(&ds, FORGE_PATH, &f.options));
        CHECK(bouma_dataset_note(ds, 0));
        CHECK_TEXT(bouma_dataset_note(ds, 0), "was dropped on purpose");
        CHECK(!strstr(bouma_dataset_note(ds, 0), "repair"));
        bouma_dataset_free(ds);
    }
    for (int apply = 0; apply < 2; apply++) {
        forge_repair(&f, &found, apply);
        CHECK_TEXT(found.text, "dropped on purpose");
        CHECK_TEXT(found.text, "moved to lost/");
        CHECK_EQ(found.repaired.hopeless, 0);
    }
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_ENOTFOUND);
    nothing_is_lost(&f);
    end_repaired(&f);
}

/* Of a local copy of several nodes: what is not here is on others. */
static void a_part_does_not_lose_steps(void)
{
    struct forge_findings found;
    struct forge f;

    for (int with_directory = 0; with_directory < 2; with_directory++) {
        forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
        forge_save(&f, BM_NAME_PART, f.options.id, 16);
        remove_step(&f, with_directory);
        forge_repair(&f, &found, 1);
        CHECK_EQ(found.repaired.hopeless, 0);
        CHECK(!forge_exists(&f, "lost/00000001.loss"));
        forge_end(&f);
    }
}

/* ---- a step that is removed just now ------------------------------------- */

static struct {
    const struct forge *f;
    int truncates; /* before the next list of steps */
} race;

static int list_late(void *user, void *root, const char *name,
                     int (*each)(void *context, const char *entry),
                     void *context)
{
    if (race.truncates && !strcmp(name, "steps")) {
        bouma_dataset *ds;

        race.truncates = 0;
        REQUIRE(!bouma_dataset_append(&ds, FORGE_PATH, &race.f->options));
        REQUIRE(!bouma_dataset_truncate(ds, 0));
        REQUIRE(!bouma_dataset_close(ds));
        bouma_dataset_free(ds);
    }
    return race.f->io->list(user, root, name, each, context);
}

/* Who looks has read the index, and then finds no directory. */
static void steps_that_are_dropped_meanwhile_are_not_lost(void)
{
    bouma_options options;
    struct known k = {0};
    struct forge f;
    bouma_io io;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    race.f = &f;
    race.truncates = 1;
    io = *f.io;
    io.list = list_late;
    options = f.options;
    options.io = &io;
    CHECK_EQ(bouma_losses(FORGE_PATH, &options, add_loss, &k, NULL, 0),
             BOUMA_OK);
    CHECK_EQ(race.truncates, 0);
    CHECK_EQ(k.count, 0);
    nothing_is_lost(&f);
    forge_end(&f);
}

static int make_dir_late(void *user, void *root, const char *name)
{
    if (race.truncates && !strncmp(name, "epochs/", 7)) {
        bouma_dataset *ds;

        race.truncates = 0;
        REQUIRE(!bouma_dataset_append(&ds, FORGE_PATH, &race.f->options));
        REQUIRE(!bouma_dataset_truncate(ds, 0));
        REQUIRE(!bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        REQUIRE(!race.f->io->make_dir(user, root, "steps/00000002"));
        forge_save(race.f, "steps/00000002/d.0000.e5a1",
                   (const uint8_t *)"rest", 4);
    }
    return race.f->io->make_dir(user, root, name);
}

/* Before repair has claimed the dataset, steps are dropped, and a writer begins
 * one of them again and is killed. */
static void steps_that_are_dropped_before_repair_are_not_lost(void)
{
    struct forge_findings found;
    struct forge f, late;
    bouma_io io;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    race.f = &f;
    race.truncates = 1;
    io = *f.io;
    io.make_dir = make_dir_late;
    late = f;
    late.options.io = &io;
    forge_repair(&late, &found, 1);
    CHECK_EQ(race.truncates, 0);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK_TEXT(found.text, "a step that was never complete");
    nothing_is_lost(&f);
    forge_end(&f);
}

/* ---- damaged data -------------------------------------------------------- */

static void flip(const struct forge *f, const char *name, uint64_t at)
{
    struct forge_file file;

    forge_load(f, &file, name);
    REQUIRE(at < file.bytes);
    file.data[at] ^= 4;
    forge_save(f, name, file.data, file.bytes);
    free(file.data);
}

static void has_damage(const struct forge *f, int recorded)
{
    struct forge_findings found;

    forge_verify(f, &found, BOUMA_DEPTH_FULL);
    CHECK(found.verified.damages > 0);
    CHECK_EQ(strstr(found.text, "(recorded 20") != NULL, recorded);
    forge_repair(f, &found, 0);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_EQ(found.repaired.actions, !recorded);
}

/* Bytes 'at' and 'more' of subfile 'i' are damaged, one after the other; the
 * first damage may need two flips. */
static void damage_is_accepted(int what, int i, uint64_t at, uint64_t second,
                               uint64_t more)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, what);
    forge_name_subfile(name, STEP, i);
    forge_load(&f, &file, name);
    flip(&f, name, at % file.bytes);
    if (second)
        flip(&f, name, file.bytes - second);
    has_damage(&f, 0);
    forget(&f, STEP, 1, BOUMA_ENOTFOUND);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK_TEXT(found.text, "put on record; the rest can be read");
    CHECK_EQ(losses(&f).last.files, 1);
    has_damage(&f, 1);
    forget(&f, STEP, 1, BOUMA_OK);
    forge_verify(&f, &found, BOUMA_DEPTH_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    CHECK(found.verified.notes > 0);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK_EQ(found.repaired.actions, 0);
    /* What is damaged after that is another loss, and not accepted. */
    if (more) {
        flip(&f, name, more);
        forge_verify(&f, &found, BOUMA_DEPTH_FULL);
        CHECK_EQ(found.verified.damages, 1);
        forge_repair(&f, &found, 1);
        CHECK_EQ(found.repaired.hopeless, 1);
        CHECK_EQ(losses(&f).last.accepted, 0);
        forget(&f, STEP, 1, BOUMA_OK);
    }
    /* A file that comes back ends it. */
    forge_save(&f, name, file.data, file.bytes);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK(!forge_exists(&f, "lost/00000001.loss"));
    nothing_is_lost(&f);
    free(file.data);
    forge_end(&f);
}

/* Verify and repair tell the same damages, and count them the same way. */
static void damages_are_counted_alike(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_GRID);
    forge_load(&f, &file, "steps/00000001/d.0000.e1a2");
    flip(&f, file.name, file.bytes / 2);
    flip(&f, file.name, file.bytes - forge_head_bytes(&file) - 1);
    flip(&f, "steps/00000002/d.0000.e1a3", 70); /* both heads */
    free(file.data);
    forge_load(&f, &file, "steps/00000002/d.0000.e1a3");
    flip(&f, file.name, file.bytes - 10);
    for (int apply = 0; apply < 3; apply++) {
        forge_verify(&f, &found, BOUMA_DEPTH_FULL);
        CHECK_EQ(found.verified.damages, 3);
        forge_repair(&f, &found, apply > 0);
        CHECK_EQ(found.repaired.hopeless, 3);
    }
    free(file.data);
    forge_end(&f);
}

static void damaged_data_can_be_accepted(void)
{
    struct forge_file file;
    struct forge f;
    uint64_t data;

    forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_GRID);
    forge_load(&f, &file, "steps/00000001/d.0000.e1a2");
    data = forge_head_bytes(&file);
    damage_is_accepted(FORGE_GRID, 0, file.bytes / 2, 0, file.bytes - data - 1);
    damage_is_accepted(FORGE_GRID, 0, 70, 10, 0); /* both heads */
    free(file.data);
    forge_end(&f);
    /* The tree, which lies behind the head. */
    forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_DUST);
    forge_load(&f, &file, "steps/00000001/d.0002.e1a2");
    data = (forge_head_bytes(&file) + 63) / 64 * 64;
    damage_is_accepted(FORGE_DUST, 2, data + 8, 0, file.bytes / 2);
    free(file.data);
    forge_end(&f);
}

/* No manifest can be made anew: the step can be given up. */
static void a_damaged_manifest_can_be_accepted(void)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_name_subfile(name, STEP, 0);
    forge_load(&f, &file, name);
    flip(&f, name, file.bytes / 2);
    forge_name_manifest(name, STEP);
    flip(&f, name, 100);
    for (int apply = 0; apply < 3; apply++) {
        forge_repair(&f, &found, apply);
        CHECK_EQ(found.repaired.hopeless, 1);
        CHECK_EQ(found.repaired.actions, apply < 2);
        CHECK(forge_exists(&f, name));
    }
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK(found.verified.damages > 0);
    CHECK_EQ(losses(&f).count, 1);
    forget(&f, STEP, 1, BOUMA_OK);
    CHECK(!forge_exists(&f, name));
    CHECK(forge_exists(&f, "lost/steps.00000001.manifest.0"));
    CHECK(forge_exists(&f, "lost/steps.00000001.d.0000.e1a2.0"));
    nothing_is_lost(&f);
    free(file.data);
    forge_end(&f);
}

/* A killed writer has left a piece of a later writing, and then the manifest is
 * damaged or lost: the files that the index knows are whole. */
static void a_leftover_does_not_hide_the_step(int with_manifest)
{
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_name_subfile(name, STEP, 0);
    forge_load(&f, &file, name);
    forge_save(&f, "steps/00000001/d.0000.e9a1", file.data, 100);
    forge_name_manifest(name, STEP);
    if (with_manifest)
        flip(&f, name, 100);
    else
        forge_remove(&f, name);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 1);
    CHECK_TEXT(found.text, "made anew from the subfiles");
    only_attributes_are_lost(&f);
    free(file.data);
    forge_end(&f);
}

static void nothing_is_left_of_a_step(void)
{
    struct forge_findings found;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    for (int i = 0; i < FORGE_FILES; i++) {
        forge_name_subfile(name, STEP, i);
        forge_remove(&f, name);
    }
    forge_repair(&f, &found, 1);
    CHECK_TEXT(found.text, "nothing of it can be read");
    forge_end(&f);
}

/* ---- heads --------------------------------------------------------------- */

/* A head that is damaged in its version and elsewhere seems to be of a newer
 * one; the other is good all the same. */
static void a_wrong_version_does_not_hide_the_other_head(void)
{
    struct forge_findings found;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_name_subfile(name, STEP, 0);
    flip(&f, name, FORGE_MAJOR);
    flip(&f, name, 70);
    forge_verify(&f, &found, BOUMA_DEPTH_META);
    CHECK_EQ(found.verified.damages, 1);
    CHECK_EQ(found.verified.unchecked, 0);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.unchecked, 0);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK_EQ(found.repaired.actions, 1);
    nothing_is_lost(&f);
    forge_end(&f);
}

/* A file beyond the memory limit is copied in pieces; one that has become
 * longer is cut. */
static void large_files_are_mended(void)
{
    static uint8_t longer[1 << 20];
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, FORGE_DUST);
    forge_name_subfile(name, STEP, 2);
    forge_load(&f, &file, name);
    flip(&f, name, 70);
    f.options.memory_limit = file.bytes - 1;
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK_EQ(found.repaired.hopeless, 0);
    nothing_is_lost(&f);
    REQUIRE(file.bytes + 100 < sizeof(longer));
    memcpy(longer, file.data, file.bytes);
    forge_save(&f, name, longer, file.bytes + 100);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK_TEXT(found.text, "what was behind its end cut off");
    nothing_is_lost(&f);
    free(file.data);
    forge_end(&f);
}

/* What is beyond the memory limit was not looked at: nothing is done to it, and
 * nothing is said of it but that. */
static void a_memory_limit_is_no_damage(void)
{
    static const uint64_t limits[] = {1, 63, 200};
    struct forge_findings found;
    struct forge_file file;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    for (int i = 0; i < 3; i++) {
        f.options.memory_limit = limits[i];
        forge_verify(&f, &found, BOUMA_DEPTH_FULL);
        CHECK_EQ(found.verified.damages, 0);
        CHECK(found.verified.unchecked > 0);
        CHECK_TEXT(found.text, "the option 'memory_limit' allows");
        forge_repair(&f, &found, 1);
        CHECK_EQ(found.repaired.hopeless, 0);
        CHECK_EQ(found.repaired.actions, 0);
        CHECK(found.repaired.unchecked > 0);
    }
    /* A step that could be mended, and a loss that was accepted. */
    f.options.memory_limit = (uint64_t)1 << 30;
    forge_name_subfile(name, 2, 0);
    forge_load(&f, &file, name);
    flip(&f, name, file.bytes / 2);
    forge_repair(&f, &found, 1);
    CHECK_EQ(bouma_repair_forget(NULL, FORGE_PATH, 2, 1, &f.options, NULL, NULL,
                                 NULL, 0),
             BOUMA_OK);
    forge_name_manifest(name, STEP);
    forge_remove(&f, name);
    f.options.memory_limit = 200;
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK_EQ(found.repaired.actions, 0);
    CHECK(found.repaired.unchecked > 0);
    f.options.memory_limit = (uint64_t)1 << 30;
    CHECK_EQ(losses(&f).count, 1);
    CHECK_EQ(losses(&f).last.accepted, 1);
    forge_repair(&f, &found, 1);
    CHECK_EQ(forge_read(&f, STEP, 0), BOUMA_OK);
    free(file.data);
    forge_end(&f);
}

/* ---- directories --------------------------------------------------------- */

static void remove_dir(const struct forge *f, const char *name)
{
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->remove_dir(io->user, root, name));
    io->detach(io->user, root);
}

static void cannot_be_written(const struct forge *f)
{
    bouma_dataset *ds;

    CHECK_EQ(bouma_dataset_append(&ds, FORGE_PATH, &f->options), BOUMA_EFORMAT);
    CHECK_TEXT(bouma_error_message(ds), "`bouma repair` recreates it");
    bouma_dataset_free(ds);
}

static void epochs_are_made_anew(void)
{
    struct forge_findings found;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_remove(&f, "epochs/000001/closed");
    forge_remove(&f, "epochs/000001/owner");
    remove_dir(&f, "epochs/000001");
    remove_dir(&f, "epochs");
    cannot_be_written(&f);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 1);
    CHECK_TEXT(found.text, "2 -1 epochs ");
    forge_repair(&f, &found, 0);
    CHECK_EQ(found.repaired.actions, 1);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK_EQ(found.repaired.hopeless, 0);
    CHECK(!forge_exists(&f, "epochs/000001/closed")); /* not one again */
    nothing_is_lost(&f);
    append(&f, 3, 1);
    f.options.replace = 1;
    append(&f, STEP, 1);
    nothing_is_lost(&f);
    CHECK_EQ(forge_read(&f, 0, 0), BOUMA_OK);
    forge_end(&f);
}

static void all_steps_are_lost(void)
{
    struct forge_findings found;
    struct forge f;
    char name[96];

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    for (int s = 0; s < FORGE_STEPS; s++) {
        for (int i = 0; i < FORGE_FILES; i++) {
            forge_name_subfile(name, s, i);
            forge_remove(&f, name);
        }
        forge_name_manifest(name, s);
        forge_remove(&f, name);
        *strrchr(name, '/') = 0;
        remove_dir(&f, name);
    }
    remove_dir(&f, "steps");
    cannot_be_written(&f);
    CHECK_EQ(forge_read(&f, 0, 0), BOUMA_EFORMAT);
    CHECK_EQ(losses(&f).count, FORGE_STEPS);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 1 + FORGE_STEPS);
    CHECK_TEXT(found.text, "2 -1 steps ");
    CHECK_TEXT(found.text, "step 2 (time 1) was committed and is lost");
    forge_repair(&f, &found, 0);
    CHECK_EQ(found.repaired.hopeless, FORGE_STEPS);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.hopeless, FORGE_STEPS);
    forge_remove(&f, "index");
    CHECK_EQ(losses(&f).count, FORGE_STEPS);
    append(&f, 3, 1);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, FORGE_STEPS);
    f.options.io = f.io;
    CHECK_EQ(bouma_repair_forget(NULL, FORGE_PATH, -1, 1, &f.options, NULL,
                                 NULL, NULL, 0),
             BOUMA_OK);
    nothing_is_lost(&f);
    forge_end(&f);
}

/* Lost with the index: only the numbers of the others tell. */
static void a_step_is_missed(void)
{
    struct forge_findings found;
    struct forge f;

    forge_begin(&f, BOUMA_ORDER_LEVEL, 0);
    forge_remove(&f, "index");
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.notes, 1);
    remove_step(&f, 1);
    forge_verify(&f, &found, BOUMA_DEPTH_QUICK);
    CHECK_EQ(found.verified.damages, 0);
    CHECK_EQ(found.verified.notes, 2);
    CHECK_TEXT(found.text, "steps that were lost with it are not known");
    CHECK_TEXT(found.text, "the writer of step 2 began 1 before it");
    forge_end(&f);
}

/* ---- lists and records --------------------------------------------------- */

static void lists_are_sorted_once(void)
{
    struct bm_loss_list list;
    enum { COUNT = 1000 };

    bm_losses_init(&list, bm_allocator_default());
    for (uint64_t i = 0; i < COUNT; i++) {
        struct bm_step_entry entry = {i * 7 % COUNT * 2, 0, {1, 1}};

        REQUIRE(bm_losses_append(&list, &entry));
    }
    bm_losses_sort(&list);
    for (uint64_t i = 0; i < 2 * COUNT; i++)
        CHECK_EQ(bm_losses_find(&list, i) != NULL, i % 2 == 0);
    bm_losses_release(&list);
}

static void records_keep_files_and_pieces(void)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_lost_step lost = {.entry = {STEP, 0.5, {1, 2}}, .recorded = 7};
    static const uint8_t id[16] = {5};
    struct bm_error error = {0};
    struct bm_buffer b;

    for (uint32_t i = 0; i < 5; i++) {
        REQUIRE(!bm_lost_step_add(&lost, 2 * i, i * 10, a));
        REQUIRE(!bm_lost_step_add_piece(&lost, 7 - i, 900 - i, a));
    }
    bm_lost_step_sort(&lost);
    CHECK_EQ(bm_lost_step_files(&lost), 5 + 3); /* 3, 5 and 7 are not cut */
    bm_buffer_init(&b, a);
    bm_loss_encode(&b, &lost, id);
    for (size_t bytes = 0; bytes <= b.size; bytes++) {
        struct bm_lost_step back = {.files = NULL};
        int rc = bm_loss_decode_record(
            &back, a, &(struct bm_metadata){b.data, bytes, id, "x"}, &error);

        CHECK_EQ(rc, bytes == b.size ? BOUMA_OK : BOUMA_EFORMAT);
        if (!rc)
            CHECK(bm_lost_step_covers(&back, &lost) &&
                  bm_lost_step_covers(&lost, &back));
        bm_lost_step_release(&back, a);
        bm_error_clear(&error);
    }
    CHECK(!bm_lost_step_has_piece(&lost, 7, 899));
    bm_buffer_release(&b);
    bm_lost_step_release(&lost, a);
}

int main(void)
{
    a_loss_stays_until_it_is_forgotten();
    other_losses_stay();
    a_writer_does_not_forget_it();
    what_is_not_on_record_can_be_forgotten();
    writing_it_again_ends_the_loss(0);
    writing_it_again_ends_the_loss(1);
    a_record_of_a_step_that_is_there_means_nothing();
    a_damaged_record_is_no_loss();
    a_damaged_record_is_written_anew();
    a_step_that_can_be_mended_is_not_forgotten();
    a_step_without_its_manifest_is_lost();
    a_step_that_the_index_forgot_is_not_lost();
    a_step_that_is_lost_again_is_another_loss();
    steps_that_are_dropped_meanwhile_are_not_lost();
    steps_that_are_dropped_before_repair_are_not_lost();
    a_stray_step_is_put_right(0);
    a_stray_step_is_put_right(1);
    a_stray_step_hides_no_loss();
    a_stray_step_may_be_the_better_one();
    files_of_another_step_go_back();
    a_stray_manifest_does_not_hide_subfiles();
    swapped_steps_are_put_right();
    a_whole_copy_replaces_a_cut_file();
    a_foreign_step_is_no_loss();
    directories_are_moved_away();
    a_mended_copy_is_no_file();
    a_record_ends_when_the_step_is_whole();
    a_dropped_step_does_not_come_back(0);
    a_dropped_step_does_not_come_back(1);
    a_part_does_not_lose_steps();
    subfiles_tell_which_dataset_it_is();
    leftovers_cost_one_small_read();
    damages_are_counted_alike();
    damaged_data_can_be_accepted();
    a_damaged_manifest_can_be_accepted();
    a_leftover_does_not_hide_the_step(0);
    a_leftover_does_not_hide_the_step(1);
    nothing_is_left_of_a_step();
    a_wrong_version_does_not_hide_the_other_head();
    large_files_are_mended();
    a_memory_limit_is_no_damage();
    epochs_are_made_anew();
    all_steps_are_lost();
    a_step_is_missed();
    lists_are_sorted_once();
    records_keep_files_and_pieces();
    return check_result();
}
