/* explore_several.c -- the machine dies while several steps are deleted, of
 * which one has lost a file, and that is on record. Each of them is there as it
 * was, or not at all. The same call again does the rest, however far the first
 * one came, and nothing is left then: no step, no file, no record of a loss. */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "scenario.h"

#define STEPS    4
#define DAMAGED  2 /* of the steps that go: 1, 2 and 3 */
#define STATES   12
#define ALL_GONE 1u /* bits of steps */

static const struct variant variant = {.name = "several",
                                       .durability = BOUMA_DURABILITY_DURABLE};

static bouma_options options_for(struct weak_fs *fs)
{
    bouma_options o;

    explore_options(&o, &variant, weak_fs_io(fs));
    return o;
}

/* ---- before ------------------------------------------------------------- */

/* The first file with data; its name. */
static int find_file(void *context, const char *entry)
{
    if (strncmp(entry, "d.", 2))
        return 0;
    snprintf(context, 300, "steps/%08d/%.200s", DAMAGED, entry);
    return 1;
}

static void lose_file(struct weak_fs *fs)
{
    const bouma_io *io = weak_fs_io(fs);
    char dir[32], name[300] = "";
    void *root;

    snprintf(dir, sizeof(dir), "steps/%08d", DAMAGED);
    if (!io->attach(io->user, &root, EXPLORE_PATH, 0)) {
        io->list(io->user, root, dir, find_file, name);
        io->remove(io->user, root, name);
        io->sync_dir(io->user, root, dir);
        io->detach(io->user, root);
    }
}

static void count_loss(void *user, const bouma_loss *loss)
{
    (void)loss;
    ++*(int *)user;
}

static int losses(struct weak_fs *fs, struct tally *t)
{
    bouma_options o = options_for(fs);
    char message[640] = "";
    int count = 0;

    if (bouma_losses(EXPLORE_PATH, &o, count_loss, &count, message,
                     sizeof(message)))
        tally_add(&t->stuck, "cannot list losses: %s", message);
    return count;
}

static void prepare(struct weak_fs *fs, struct tally *t)
{
    struct scenario_writer writer = {0};
    bouma_options o = options_for(fs);
    bouma_repair_report report = {.size = sizeof(report)};
    bouma_dataset *ds = NULL;
    char message[640] = "";

    if (!bouma_dataset_create(&ds, EXPLORE_PATH, &o))
        for (int i = 0; i < STEPS; i++)
            scenario_write(ds, &writer, i, 0, 0, 1);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    lose_file(fs);
    bouma_repair(&report, EXPLORE_PATH, 1, &o, NULL, NULL, message,
                 sizeof(message));
    if (losses(fs, t) != 1)
        tally_add(&t->stuck, "no loss on record: %s", message);
}

/* ---- after -------------------------------------------------------------- */

static void delete_all(struct weak_fs *fs, struct tally *t)
{
    bouma_options o = options_for(fs);
    bouma_dataset *ds = NULL;
    int rc = bouma_dataset_append(&ds, EXPLORE_PATH, &o);

    if (!rc)
        rc = bouma_dataset_delete_steps(ds, (int64_t[]){1, 2, 3}, 3);
    if (!rc)
        rc = bouma_dataset_close(ds);
    if (rc && !weak_fs_is_dead(fs))
        tally_add(&t->stuck, "not deleted: %s", bouma_error_message(ds));
    bouma_dataset_free(ds);
}

/* Bits of the steps that are there. */
static unsigned look(struct weak_fs *fs, struct tally *t)
{
    bouma_options o = options_for(fs);
    bouma_dataset *ds = NULL;
    unsigned there = 0;

    t->states++;
    if (bouma_dataset_open(&ds, EXPLORE_PATH, &o))
        tally_add(&t->stuck, "%s", bouma_error_message(ds));
    for (int i = 0; i < STEPS; i++) {
        int generation = 0;
        enum scenario_verdict is = scenario_read(ds, i, &generation);
        int as_it_was =
            is == (i == DAMAGED ? SCENARIO_REFUSED : SCENARIO_EXACT);

        if (!as_it_was && (!i || is != SCENARIO_ABSENT))
            tally_add(is == SCENARIO_WRONG ? &t->silent : &t->partial,
                      "step %d: %s", i, bouma_error_message(ds));
        there |= (unsigned)(is != SCENARIO_ABSENT) << i;
    }
    bouma_dataset_free(ds);
    if (!(there & 1u << DAMAGED) && losses(fs, t))
        tally_add(&t->lost, "a loss is on record of a step that was deleted");
    return there;
}

static void look_at_the_end(struct weak_fs *fs, struct tally *t)
{
    bouma_options o = options_for(fs);
    bouma_verify_report report = {.size = sizeof(report)};
    unsigned there = look(fs, t);
    char message[640] = "";

    if (there != ALL_GONE)
        tally_add(&t->lost, "steps %x are there", there);
    if (bouma_verify(&report, EXPLORE_PATH, BOUMA_DEPTH_FULL, &o, NULL, NULL,
                     message, sizeof(message)))
        tally_add(&t->stuck, "cannot verify: %s", message);
    else if (report.damages + report.notes)
        tally_add(&t->partial, "verify: %d damages, %d notes",
                  (int)report.damages, (int)report.notes);
}

void explore_several(struct tally *t, const struct omission *omission)
{
    struct weak_fs *base = weak_fs_new(1);
    int states = explore_some(omission, STATES), died = 1;

    prepare(base, t);
    for (long at = 1; died && !explore_noticed(t, omission); at++) {
        struct weak_fs *first = weak_fs_clone(base, (uint64_t)at);

        weak_fs_drop(first, omission->what, omission->pattern);
        weak_fs_die_at(first, at);
        delete_all(first, t);
        died = weak_fs_is_dead(first);
        for (int i = 0; i < states; i++) {
            struct weak_fs *fs =
                weak_fs_clone(first, (uint64_t)(at * 1000 + i));
            char context[64];

            snprintf(context, sizeof(context), "several, call %ld, state %d",
                     at, i);
            oracle_report_as(omission->what ? NULL : context);
            weak_fs_crash(fs, i == 0   ? WEAK_CRASH_NONE_KEPT
                              : i == 1 ? WEAK_CRASH_KILLED
                                       : WEAK_CRASH_SOME_KEPT);
            look(fs, t);
            delete_all(fs, t);
            weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
            look_at_the_end(fs, t);
            oracle_report_as(NULL);
            weak_fs_free(fs);
        }
        weak_fs_free(first);
    }
    weak_fs_free(base);
}
