/* test_losses.c -- a committed step that is gone is damage: verify and repair
 * name it, its loss goes on record, stays there whatever happens to the index,
 * and ends when it is forgotten, or the step is written again. */
#include "forge.h"

#include "layout/manifest.h"
#include "store/losses.h"

enum { STEP = 1 };

static void remove_step(const struct forge *f, int with_directory)
{
    const bouma_io *io = f->io;
    char name[96];
    void *root;

    for (int i = 0; i < FORGE_FILES; i++) {
        forge_name_subfile(name, STEP, i);
        forge_remove(f, name);
    }
    forge_name_manifest(name, STEP);
    forge_remove(f, name);
    if (!with_directory)
        return;
    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
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
        REQUIRE(!bouma_step_end(ds, NULL));
    }
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

struct known {
    int count;
    bouma_loss last;
};

static void note_loss(void *user, const bouma_loss *loss)
{
    struct known *k = user;

    k->count++;
    k->last = *loss;
}

static struct known losses(const struct forge *f)
{
    struct known k;

    memset(&k, 0, sizeof(k));
    CHECK_EQ(bouma_losses(FORGE_PATH, &f->options, note_loss, &k, NULL, 0),
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

    for (int depth = BOUMA_VERIFY_QUICK; depth <= BOUMA_VERIFY_DEEP; depth++) {
        forge_verify(f, &found, (bouma_verify_depth)depth);
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
    forge_verify(f, &found, BOUMA_VERIFY_DEEP);
    CHECK_EQ(found.verified.damages, 0);
    CHECK_EQ(found.verified.unchecked, 0);
    forge_repair(f, &found, 0);
    CHECK_EQ(found.repaired.hopeless, 0);
}

static void forget(const struct forge *f, int64_t step, int apply, int status)
{
    bouma_repair_report report;
    char message[256] = "";

    CHECK_EQ(bouma_repair_forget(FORGE_PATH, step, apply, &f->options, NULL,
                                 NULL, &report, message, sizeof(message)),
             status);
    if (!status)
        CHECK_EQ(report.actions, 1);
    else
        CHECK_TEXT(message, "no loss of step");
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
    /* And if it is lost again, that is another loss. */
    append(&f, 3, 1);
    nothing_is_lost(&f);
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
    forge_verify(&f, &found, BOUMA_VERIFY_QUICK);
    CHECK_EQ(found.verified.damages, 0);
    forge_repair(&f, &found, 1);
    CHECK_EQ(found.repaired.actions, 1);
    CHECK(!forge_exists(&f, "lost/00000001.loss"));
    /* One that is damaged still tells that something is lost. */
    b.data[100] ^= 1;
    forge_save(&f, "lost/00000009.loss", b.data, b.size);
    CHECK_EQ(losses(&f).count, 1);
    CHECK_EQ(losses(&f).last.step, 9);
    forge_verify(&f, &found, BOUMA_VERIFY_QUICK);
    CHECK_EQ(found.verified.damages, 1);
    forget(&f, 9, 1, BOUMA_OK);
    nothing_is_lost(&f);
    bm_buffer_release(&b);
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
        forge_verify(&f, &found, BOUMA_VERIFY_QUICK);
        CHECK_EQ(found.verified.damages, 1);
        CHECK_TEXT(found.text, "2 1 ");
        forge_repair(&f, &found, 0);
        CHECK_EQ(found.repaired.hopeless, 1);
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

int main(void)
{
    a_loss_stays_until_it_is_forgotten();
    a_writer_does_not_forget_it();
    what_is_not_on_record_can_be_forgotten();
    writing_it_again_ends_the_loss(0);
    writing_it_again_ends_the_loss(1);
    a_record_of_a_step_that_is_there_means_nothing();
    a_step_without_its_manifest_is_lost();
    a_step_that_the_index_forgot_is_not_lost();
    return check_result();
}
