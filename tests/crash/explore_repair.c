/* explore_repair.c -- the machine dies while repair mends files, in any of its
 * calls. The next repair mends them all the same: nothing becomes a loss by
 * it, and none of its own files stay. */
#include <stdio.h>
#include <stdlib.h>

#include "explore.h"
#include "scenario.h"
#include "store/store.h"

#define STEPS  2
#define STATES 6 /* after each death: none kept, killed, and some kept */

static const struct variant variant = {.name = "repair",
                                       .durability = BOUMA_DURABILITY_DURABLE};

/* Flip a byte of a file, durably. */
static void damage(const bouma_io *io, uint64_t step, uint32_t subfile,
                   uint64_t at)
{
    static unsigned char bytes[1 << 16];
    char name[BM_NAME_BYTES], dir[BM_NAME_BYTES];
    void *root, *file;
    uint64_t size = 0;
    size_t n = 0;

    bm_name_subfile(name, step, subfile,
                    (struct bm_generation){1, (uint32_t)step + 1});
    if (!bm_name_folder(dir, name))
        bm_name_step(dir, step);
    if (io->attach(io->user, &root, EXPLORE_PATH, 0) ||
        io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_READ) ||
        io->file_size(io->user, file, &size) || size > sizeof(bytes) ||
        io->read(io->user, file, bytes, (size_t)size, 0, &n))
        abort(); /* a fault of this test */
    io->close(io->user, file);
    bytes[at] ^= 1;
    io->remove(io->user, root, name);
    if (io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_CREATE) ||
        io->write(io->user, file, bytes, (size_t)size, 0, &n) ||
        io->sync(io->user, file))
        abort();
    io->close(io->user, file);
    io->sync_dir(io->user, root, dir);
    io->detach(io->user, root);
}

/* The first heads of two files of step 0, and of one of step 1. */
static void prepare(struct weak_fs *fs, struct oracle *o)
{
    const bouma_io *io = weak_fs_io(fs);
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    bouma_options opts;

    explore_options(&opts, &variant, io);
    oracle_init(o, variant.durability, variant.group);
    if (!bouma_dataset_create(&ds, EXPLORE_PATH, &opts))
        oracle_created(o);
    for (int i = 0; i < STEPS; i++) {
        oracle_trying(o, i, 0);
        if (!scenario_write(ds, &writer, i, 0, 0, 1))
            oracle_acked(o, i, 0);
    }
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    damage(io, 0, 0, 70);
    damage(io, 0, 1, 70);
    damage(io, 1, 1, 70);
}

/* With 'count', what cannot be mended is a violation. */
static void repair(struct weak_fs *fs, int apply, struct tally *count)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640] = "";
    bouma_options opts;
    int rc;

    explore_options(&opts, &variant, weak_fs_io(fs));
    opts.force = 1;
    rc = bouma_repair(&report, EXPLORE_PATH, apply, &opts, NULL, NULL, message,
                      sizeof(message));
    if (count && rc)
        tally_add(&count->stuck, "cannot repair: %s", message);
    if (count && report.hopeless)
        tally_add(&count->lost, "%s: %d damages cannot be mended",
                  apply ? "repair" : "a look", (int)report.hopeless);
}

static int is_rest(void *context, const char *entry)
{
    const char *dot = entry;

    for (const char *p = entry; *p; p++)
        dot = *p == '.' ? p : dot;
    *(int *)context |= dot[0] == '.' && dot[1] == 't'; /* .tmp */
    return 0;
}

static void look(struct weak_fs *fs, struct oracle *o, struct tally *t,
                 enum oracle_event event)
{
    const bouma_io *io = weak_fs_io(fs);
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640] = "";
    bouma_options opts;
    int rest = 0;
    void *root;

    explore_options(&opts, &variant, io);
    oracle_check(o, t, EXPLORE_PATH, &opts, event);
    if (bouma_verify(&report, EXPLORE_PATH, BOUMA_DEPTH_DEEP, &opts, NULL, NULL,
                     message, sizeof(message)))
        tally_add(&t->stuck, "cannot verify: %s", message);
    else if (report.damages)
        tally_add(&t->partial, "verify: %d damages", (int)report.damages);
    if (io->attach(io->user, &root, EXPLORE_PATH, 0))
        return;
    io->list(io->user, root, "steps/00000000", is_rest, &rest);
    io->list(io->user, root, "steps/00000001", is_rest, &rest);
    io->detach(io->user, root);
    if (rest)
        tally_add(&t->partial, "a file of repair is left");
}

void explore_repairs(struct tally *t, const struct omission *omission)
{
    struct weak_fs *base = weak_fs_new(1);
    struct oracle expected;
    int died = 1;

    prepare(base, &expected);
    for (long at = 1; died && !explore_noticed(t, omission); at++) {
        struct weak_fs *first = weak_fs_clone(base, (uint64_t)at);

        weak_fs_drop(first, omission->what, omission->pattern);
        weak_fs_die_at(first, at);
        repair(first, 1, NULL);
        died = weak_fs_is_dead(first);
        for (int i = 0; i < STATES; i++) {
            struct weak_fs *fs =
                weak_fs_clone(first, (uint64_t)(at * 1000 + i));
            struct oracle o = expected;
            char context[64];

            snprintf(context, sizeof(context), "repair, call %ld, state %d", at,
                     i);
            oracle_report_as(omission->what ? NULL : context);
            weak_fs_crash(fs, i == 0   ? WEAK_CRASH_NONE_KEPT
                              : i == 1 ? WEAK_CRASH_KILLED
                                       : WEAK_CRASH_SOME_KEPT);
            repair(fs, 0, t);
            repair(fs, 1, t);
            look(fs, &o, t, i == 1 ? ORACLE_KILL : ORACLE_POWER_LOSS);
            /* What the killed one has done, and the other found done, may
             * be undone by that: then there is more to mend. */
            weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
            repair(fs, 1, t);
            look(fs, &o, t, ORACLE_POWER_LOSS);
            oracle_report_as(NULL);
            weak_fs_free(fs);
        }
        weak_fs_free(first);
    }
    weak_fs_free(base);
}
