/* Steps that were dropped from a dataset, and are still in its local copy: no
 * drain and no reader brings them back. */
#include <sys/stat.h>
#include <unistd.h>

#include "bouma.h"
#include "check.h"
#include "files.h"
#include "must.h"
#include "sized.h"
#include "two_stores.h"

static void truncate_after(const struct stores *w, int persist, int64_t last)
{
    bouma_options o = stores_options(w, persist);
    struct writer writer;

    append(&writer, w->far, &o);
    MUST(writer.ds, bouma_dataset_truncate(writer.ds, last));
    end(&writer);
}

static uint64_t damages(const struct stores *w, const char *path)
{
    bouma_options o = stores_options(w, 0);
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    REQUIRE(!bouma_verify(&report, path, BOUMA_DEPTH_DEEP, &o, NULL, NULL,
                          message, sizeof(message)));
    return report.damages + report.unchecked;
}

/* ---- claims ------------------------------------------------------------- */

/* Only those that are not there: the new step 1 has taken no part in it. */
static void dropped_steps_do_not_come_back(const struct stores *w)
{
    bouma_options o = stores_options(w, 0);
    bouma_drain_report report = {.size = sizeof(report)};
    char text[5];

    truncate_after(w, 0, 0);
    append_step(w->far, &o, 1, 2);
    CHECK_TEXT(stores_look(w, w->far, 1, text), "12--");
    for (int remove = 0; remove < 2; remove++) {
        CHECK_EQ(stores_drain(w, remove, &report), BOUMA_OK);
        CHECK_EQ(report.steps, 4);
        CHECK_EQ(report.dropped, 3);
        CHECK_EQ(report.present, 1);
        CHECK_EQ(report.published + report.files + report.older, 0);
        CHECK_EQ(report.removed, remove ? 4 : 0);
        CHECK_TEXT(stores_look(w, w->far, 0, text), "12--");
        CHECK_TEXT(stores_look(w, w->local_copy, 0, text),
                   remove ? "----" : "1111");
    }
    CHECK_EQ(damages(w, w->far) + damages(w, w->local_copy), 0);
}

/* Nor do those that the dataset never had. */
static void what_was_never_drained_is_dropped_too(const struct stores *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char text[5];

    stores_shell(w, "rm -r far/d.bouma/steps/0000000[23] far/d.bouma/index");
    truncate_after(w, 0, 1);
    CHECK_EQ(stores_drain(w, 0, &report), BOUMA_OK);
    CHECK_EQ(report.dropped, 2);
    CHECK_TEXT(stores_look(w, w->far, 1, text), "11--");
}

/* One who opens with the local copy drops from it what was dropped without. */
static void who_goes_on_with_a_local_copy_cleans_it(const struct stores *w)
{
    bouma_options o = stores_options(w, 1);
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;
    char text[5];

    truncate_after(w, 0, 1);
    append(&writer, w->far, &o);
    CHECK_EQ(bouma_dataset_step_count(writer.ds), 2);
    CHECK_TEXT(bouma_dataset_note(writer.ds, 0), "2 steps were removed from");
    write_step(&writer, 2, 2);
    end(&writer);
    CHECK_TEXT(stores_look(w, w->far, 0, text), "112-");
    CHECK_TEXT(stores_look(w, w->local_copy, 0, text), "112-");
    /* What was written since is drained as any step. */
    stores_shell(w, "rm -r far/d.bouma/steps/00000002 far/d.bouma/index");
    CHECK_EQ(stores_drain(w, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 1);
    CHECK_EQ(report.dropped, 0);
    CHECK_TEXT(stores_look(w, w->far, 0, text), "112-");
    CHECK_EQ(damages(w, w->far) + damages(w, w->local_copy), 0);
}

/* Steps that the same handle writes afterwards are of the same epoch. */
static void who_truncates_can_write_on(const struct stores *w)
{
    bouma_options o = stores_options(w, 1);
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;
    char text[5];

    append(&writer, w->far, &o);
    write_step(&writer, 4, 1);
    MUST(writer.ds, bouma_dataset_truncate(writer.ds, 1));
    write_step(&writer, 2, 2);
    MUST(writer.ds, bouma_dataset_truncate(writer.ds, 2));
    write_step(&writer, 3, 3);
    end(&writer);
    CHECK_TEXT(stores_look(w, w->local_copy, 0, text), "1123");
    stores_shell(w, "rm -r far/d.bouma/steps/0000000[23] far/d.bouma/index");
    CHECK_EQ(stores_drain(w, 1, &report), BOUMA_OK);
    CHECK_EQ(report.published, 2);
    CHECK_EQ(report.dropped, 0);
    CHECK_EQ(report.removed, 4);
    CHECK_TEXT(stores_look(w, w->far, 0, text), "1123");
}

/* A node that took no part in the truncation keeps its files. */
static void
the_local_copy_of_an_absent_node_brings_nothing(const struct stores *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char text[5];

    stores_shell(w, "cp -r near absent");
    truncate_after(w, 1, 0);
    CHECK_TEXT(stores_look(w, w->local_copy, 0, text), "1---");
    stores_shell(w, "rm -r near && mv absent near");
    CHECK_EQ(stores_drain(w, 0, &report), BOUMA_OK);
    CHECK_EQ(report.dropped, 3);
    CHECK_TEXT(stores_look(w, w->far, 1, text), "1---");
}

/* Who truncated was killed: what is still there is there, and the local copy
 * keeps its copy until that is known to be whole. */
static void an_interrupted_truncation_costs_no_copy(const struct stores *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char text[5];

    stores_shell(w, "cp -r far save");
    truncate_after(w, 0, 0);
    stores_shell(w, "cp far/d.bouma/truncations save/d.bouma &&"
                    "rm -r far && mv save far &&"
                    "cp far/d.bouma/steps/00000002/manifest kept &&"
                    "printf x >far/d.bouma/steps/00000002/manifest");
    CHECK_EQ(stores_drain(w, 1, &report), BOUMA_OK);
    CHECK_EQ(report.present, 3);
    CHECK_EQ(report.dropped, 1);
    CHECK_EQ(report.removed, 3);
    CHECK_TEXT(stores_look(w, w->local_copy, 0, text), "--1-");
    /* It is not removed by one who opens with the local copy, either. */
    truncate_after(w, 1, 3);
    CHECK_TEXT(stores_look(w, w->local_copy, 0, text), "--1-");
    stores_shell(w, "mv kept far/d.bouma/steps/00000002/manifest");
    CHECK_TEXT(stores_look(w, w->far, 0, text), "1111");
}

/* A step that was dropped is not put on record as lost. */
static void a_dropped_step_is_not_lost(const struct stores *w)
{
    bouma_drain_report report = {.size = sizeof(report)};

    stores_shell(w, "rm -r near/d.bouma/steps/00000003");
    truncate_after(w, 0, 1);
    CHECK_EQ(stores_drain(w, 0, &report), BOUMA_OK);
    CHECK_EQ(report.losses, 0);
    CHECK_EQ(report.dropped, 1);
    CHECK_EQ(damages(w, w->far), 0);
}

static void add_text(void *user, const bouma_finding *f)
{
    if (!strcmp(f->name, "truncations"))
        snprintf(user, 640, "%s", f->text);
}

/* Nothing is drained while nobody knows what was dropped. */
static void a_damaged_record_is_told(const struct stores *w)
{
    bouma_options o = stores_options(w, 0);
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_repair_report repair = {.size = sizeof(repair)};
    bouma_drain_report drained = {.size = sizeof(drained)};
    char message[640] = "", text[640] = "", steps[5];
    struct writer writer;

    truncate_after(w, 0, 1);
    stores_shell(w, "printf x | dd of=far/d.bouma/truncations bs=1 seek=70 "
                    "conv=notrunc status=none");
    CHECK_EQ(bouma_verify(&report, w->far, BOUMA_DEPTH_QUICK, &o, add_text,
                          text, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 1);
    CHECK_TEXT(text, "which steps were dropped is not known any more");
    CHECK_EQ(bouma_drain(&drained, w->local_copy, w->far, 0, &o, message,
                         sizeof(message)),
             BOUMA_EFORMAT);
    CHECK_TEXT(message, "nothing was copied (`bouma repair`");
    CHECK_TEXT(stores_look(w, w->far, 0, steps), "11--");
    append(&writer, w->far, &o);
    CHECK_EQ(bouma_dataset_truncate(writer.ds, 0), BOUMA_EFORMAT);
    CHECK_TEXT(bouma_error_message(writer.ds), "no step was dropped");
    end(&writer);
    CHECK_TEXT(stores_look(w, w->far, 0, steps), "11--");
    /* Writing and reading go on. */
    o = stores_options(w, 1);
    append(&writer, w->far, &o);
    CHECK_TEXT(bouma_dataset_note(writer.ds, 0), "may still be in");
    end(&writer);
    CHECK_TEXT(stores_look(w, w->far, 1, steps), "1111");
    for (int apply = 0; apply < 2; apply++) {
        text[0] = 0;
        CHECK_EQ(bouma_repair(&repair, w->far, apply, &o, add_text, text,
                              message, sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(repair.actions, 1);
        CHECK_TEXT(text, "come back with a drain");
        CHECK_EQ(damages(w, w->far), !apply);
    }
    CHECK_EQ(stores_drain(w, 0, &drained), BOUMA_OK);
    CHECK_EQ(drained.published, 2);
    /* Nothing of it stays when another replaces the dataset. */
    truncate_after(w, 1, 1);
    o.clobber = 1;
    MUST(writer.ds, bouma_dataset_create(&writer.ds, w->far, &o));
    end(&writer);
    stores_shell(
        w, "test ! -e far/d.bouma/truncations && test ! -e far/d.bouma/lost");
}

/* Without its epochs a dataset would begin with numbers that were dropped. */
static void epochs_stay_beyond_what_was_dropped(const struct stores *w)
{
    bouma_options o = stores_options(w, 1);
    bouma_drain_report report = {.size = sizeof(report)};
    char text[5];

    stores_shell(w, "mkdir far/d.bouma/epochs/000050");
    truncate_after(w, 0, 1);
    stores_shell(w, "rm -r far/d.bouma/epochs/*");
    append_step(w->far, &o, 2, 2);
    stores_shell(w, "rm -r far/d.bouma/steps/00000002 far/d.bouma/index");
    CHECK_EQ(stores_drain(w, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 1);
    CHECK_TEXT(stores_look(w, w->far, 0, text), "112-");
}

static struct {
    bouma_io io;
    int syncs;
} counting;

static int count_sync(void *user, void *file)
{
    counting.syncs++;
    return bouma_io_posix()->sync(user, file);
}

static int count_sync_dir(void *user, void *root, const char *name)
{
    counting.syncs++;
    return bouma_io_posix()->sync_dir(user, root, name);
}

/* The syncs of who opens the dataset with a local copy, in which so many steps
 * were dropped meanwhile. */
static int syncs_for(const struct stores *w, int first, int steps)
{
    bouma_options o = stores_options(w, 1);
    struct writer writer;
    char text[5];

    append(&writer, w->far, &o);
    for (int step = first; step < steps; step++)
        write_step(&writer, step, 1);
    end(&writer);
    truncate_after(w, 0, -1);
    counting.io = *bouma_io_posix();
    counting.io.sync = count_sync;
    counting.io.sync_dir = count_sync_dir;
    counting.syncs = 0;
    o.io = &counting.io;
    append(&writer, w->far, &o);
    end(&writer);
    CHECK_TEXT(stores_look(w, w->local_copy, 0, text), "----");
    return counting.syncs;
}

/* One for each manifest that goes: the index forgets all of them at once. */
static void many_steps_take_few_syncs(const struct stores *w)
{
    int few = syncs_for(w, 4, 4), many = syncs_for(w, 0, 12);

    CHECK_EQ(many - few, 12 - 4);
}

int main(void)
{
    static void (*const claims[])(const struct stores *w) = {
        dropped_steps_do_not_come_back,
        what_was_never_drained_is_dropped_too,
        who_goes_on_with_a_local_copy_cleans_it,
        who_truncates_can_write_on,
        the_local_copy_of_an_absent_node_brings_nothing,
        an_interrupted_truncation_costs_no_copy,
        a_dropped_step_is_not_lost,
        a_damaged_record_is_told,
        epochs_stay_beyond_what_was_dropped,
        many_steps_take_few_syncs,
    };

    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        struct stores w;

        stores_make(&w, 1);
        claims[i](&w);
        CHECK(!remove_tree(w.dir));
    }
    return check_result();
}
