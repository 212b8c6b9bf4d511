/* explore_loss.c -- the directories in epochs/ are gone, say by a file system
 * check or an incomplete copy. The next writer then takes an epoch that was
 * taken, and its files get names of files that are there. What is committed
 * must not suffer from that: no file is made twice. */
#include <stdio.h>

#include "explore.h"
#include "scenario.h"

#define STEPS   2
#define OLD     0 /* the version that is there */
#define NEW     1
#define PATIENT 4 /* times that a step is tried */

static const struct variant variant = {.name = "lost claims",
                                       .durability = BOUMA_DURABILITY_DURABLE,
                                       .replace = 1};

static void prepare(struct weak_fs *fs, struct oracle *o)
{
    const bouma_io *io = weak_fs_io(fs);
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    bouma_options opts;
    void *root;

    explore_options(&opts, &variant, io);
    oracle_init(o, variant.durability, variant.group);
    if (!bouma_dataset_create(&ds, EXPLORE_PATH, &opts))
        oracle_created(o);
    for (int i = 0; i < STEPS; i++) {
        oracle_trying(o, i, OLD);
        if (!scenario_write(ds, &writer, i, OLD, 0, 1))
            oracle_acked(o, i, OLD);
    }
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    if (io->attach(io->user, &root, EXPLORE_PATH, 0))
        return;
    io->remove(io->user, root, "epochs/000001/closed");
    io->remove(io->user, root, "epochs/000001/owner");
    io->remove_dir(io->user, root, "epochs/000001");
    io->sync_dir(io->user, root, "epochs");
    io->detach(io->user, root);
}

/* Write all steps again. A name that is taken is told, and another attempt has
 * another name. */
static void write_again(struct weak_fs *fs, struct oracle *o, struct tally *t)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    bouma_options opts;
    int rc;

    explore_options(&opts, &variant, weak_fs_io(fs));
    rc = bouma_dataset_append(&ds, EXPLORE_PATH, &opts);
    for (int i = 0; i < STEPS && !rc; i++) {
        oracle_trying(o, i, NEW);
        rc = BOUMA_EEXISTS;
        for (int k = 0; k < PATIENT && rc == BOUMA_EEXISTS; k++)
            rc = scenario_write(ds, &writer, i, NEW, 0, 1);
        if (!rc)
            oracle_acked(o, i, NEW);
    }
    if (rc && !weak_fs_is_dead(fs))
        tally_add(&t->stuck, "not written: %s", bouma_error_message(ds));
    bouma_dataset_free(ds);
}

void explore_lost_claims(struct tally *t, const struct omission *omission)
{
    struct weak_fs *base = weak_fs_new(1);
    struct oracle expected;
    int died = 1;

    prepare(base, &expected);
    for (long at = 1; died && !explore_noticed(t, omission); at++) {
        struct weak_fs *fs = weak_fs_clone(base, (uint64_t)at);
        struct oracle o = expected;
        bouma_options opts;
        char context[64];

        snprintf(context, sizeof(context), "%s, call %ld", variant.name, at);
        oracle_report_as(omission->what ? NULL : context);
        explore_options(&opts, &variant, weak_fs_io(fs));
        weak_fs_drop(fs, omission->what, omission->pattern);
        weak_fs_die_at(fs, at);
        write_again(fs, &o, t);
        died = weak_fs_is_dead(fs);
        weak_fs_crash(fs, WEAK_CRASH_KILLED);
        oracle_check(&o, t, EXPLORE_PATH, &opts, ORACLE_KILL);
        weak_fs_crash(fs, WEAK_CRASH_SOME_KEPT);
        oracle_check(&o, t, EXPLORE_PATH, &opts, ORACLE_POWER_LOSS);
        oracle_report_as(NULL);
        weak_fs_free(fs);
    }
    weak_fs_free(base);
}
