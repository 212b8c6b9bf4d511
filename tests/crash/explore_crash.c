/* explore_crash.c -- die anywhere, look, go on, die again, look. */
#include <stdio.h>

#include "chance.h"
#include "explore.h"
#include "scenario.h"

void explore_options(bouma_options *opts, const struct variant *v,
                     const bouma_io *io)
{
    scenario_options(opts, io, NULL);
    opts->durability = v->durability;
    opts->group = v->group;
    opts->replace = v->replace;
}

/* One state of the world: a disk, and what we may expect on it. */
struct world {
    const struct variant *variant;
    struct weak_fs *fs;
    struct oracle oracle;
    struct tally *tally;
    uint64_t chance;
};

/* Write the next version of a step. A failure without a reason is a violation:
 * the machine lives, and nothing is in the way. */
static void write_step(struct world *w, bouma_dataset *ds,
                       struct scenario_writer *writer, int step)
{
    struct oracle_step *expected = &w->oracle.steps[step];
    int was_there = expected->tried >= 0;
    int generation = expected->tried + 1;
    int rc;

    if (weak_fs_is_dead(w->fs))
        return;
    oracle_trying(&w->oracle, step, generation);
    rc = scenario_write(ds, writer, step, generation, 0, 1);
    if (!rc) {
        oracle_acked(&w->oracle, step, generation);
        return;
    }
    if (weak_fs_is_dead(w->fs))
        return;
    /* A damaged one is in the way, which only this mode may leave behind. */
    if (rc == BOUMA_EEXISTS && was_there &&
        w->variant->durability == BOUMA_DURABILITY_FAST) {
        oracle_trying(&w->oracle, step, generation - 1);
        return;
    }
    tally_add(&w->tally->stuck, "step %d not written: %s", step,
              bouma_error_message(ds));
}

/* Finish what is held back, by flush or close. A dead program makes no calls,
 * and a call that a living one makes must succeed. */
static void finish(struct world *w, bouma_dataset *ds,
                   int (*how)(bouma_dataset *ds))
{
    int rc;

    if (weak_fs_is_dead(w->fs))
        return;
    rc = how(ds);
    if (!rc)
        oracle_flushed(&w->oracle);
    else if (!weak_fs_is_dead(w->fs))
        tally_add(&w->tally->stuck, "not finished: %s",
                  bouma_error_message(ds));
}

/* The first program: create, write, in part again, close. */
static void first_writer(struct world *w)
{
    const struct variant *v = w->variant;
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    bouma_options opts;

    explore_options(&opts, v, weak_fs_io(w->fs));
    if (bouma_dataset_create(&ds, EXPLORE_PATH, &opts) == BOUMA_OK)
        oracle_created(&w->oracle);
    for (int i = 0; i < v->steps; i++) {
        write_step(w, ds, &writer, i);
        if (v->group && i == v->group) /* cut a group short once */
            finish(w, ds, bouma_dataset_flush);
    }
    for (int i = 0; i < 2 && v->replace; i++)
        write_step(w, ds, &writer, i);
    finish(w, ds, bouma_dataset_close);
    bouma_dataset_free(ds);
}

/* A later program: append what is missing up to 'steps', or a new version of
 * everything. 'look' reads the dataset before the first step is written. */
static void next_writer(struct world *w, int steps, int look, long die_at)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    bouma_options opts;
    int rc;

    explore_options(&opts, w->variant, weak_fs_io(w->fs));
    if (!look)
        weak_fs_die_at(w->fs, die_at);
    rc = bouma_dataset_append(&ds, EXPLORE_PATH, &opts);
    if (rc && !weak_fs_is_dead(w->fs))
        tally_add(&w->tally->stuck, "cannot append: %s",
                  bouma_error_message(ds));
    if (!rc && look)
        oracle_check(&w->oracle, w->tally, EXPLORE_PATH, &opts, ORACLE_KILL);
    weak_fs_die_at(w->fs, die_at);
    for (int i = 0; i < steps && !rc; i++)
        if (w->variant->replace || w->oracle.steps[i].acked < 0)
            write_step(w, ds, &writer, i);
    if (!rc)
        finish(w, ds, bouma_dataset_close);
    bouma_dataset_free(ds);
}

/* Nothing that was committed may be damaged, but in BOUMA_DURABILITY_FAST. */
static void verify(struct world *w, const bouma_options *opts)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[256] = "";
    int rc = bouma_verify(&report, EXPLORE_PATH, BOUMA_DEPTH_FULL, opts, NULL,
                          NULL, message, sizeof(message));

    if (rc)
        tally_add(&w->tally->stuck, "cannot verify: %s", message);
    else if (report.damages && w->variant->durability != BOUMA_DURABILITY_FAST)
        tally_add(&w->tally->partial, "verify: %d damages",
                  (int)report.damages);
}

static void repair(struct world *w, const bouma_options *opts, int apply)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[256] = "";
    int rc = bouma_repair(&report, EXPLORE_PATH, apply, opts, NULL, NULL,
                          message, sizeof(message));

    if (rc)
        tally_add(&w->tally->stuck, "cannot repair: %s", message);
    else
        oracle_check(&w->oracle, w->tally, EXPLORE_PATH, opts,
                     apply ? ORACLE_REPAIRED : ORACLE_KILL);
}

/* The program or the machine goes down; look at what is left. */
static void crash(struct world *w, enum weak_crash how)
{
    bouma_options opts;

    explore_options(&opts, w->variant, weak_fs_io(w->fs));
    weak_fs_crash(w->fs, how);
    oracle_check(&w->oracle, w->tally, EXPLORE_PATH, &opts,
                 how == WEAK_CRASH_KILLED ? ORACLE_KILL : ORACLE_POWER_LOSS);
    if (!w->oracle.readable)
        return;
    switch (chance_below(&w->chance, 8)) {
    case 0:
        verify(w, &opts);
        break;
    case 1:
        repair(w, &opts, 0);
        break;
    case 2:
        repair(w, &opts, 1);
        verify(w, &opts);
        break;
    default:
        break;
    }
}

static enum weak_crash any_crash(uint64_t *chance)
{
    static const enum weak_crash kinds[] = {
        WEAK_CRASH_SOME_KEPT, WEAK_CRASH_SOME_KEPT, WEAK_CRASH_SOME_KEPT,
        WEAK_CRASH_NONE_KEPT, WEAK_CRASH_KILLED};

    return kinds[chance_below(chance, sizeof(kinds) / sizeof(kinds[0]))];
}

/* What follows after the first writer's end, in one of its many forms. */
static void follow(struct world *w, enum weak_crash how, long calls)
{
    int steps = w->variant->steps;

    crash(w, how);
    if (!w->oracle.readable)
        return;
    next_writer(w, steps + 1, chance_below(&w->chance, 4) == 0,
                weak_fs_calls(w->fs) + 1 +
                    (long)chance_below(&w->chance, (uint64_t)calls));
    crash(w, any_crash(&w->chance));
    if (!w->oracle.readable || chance_below(&w->chance, 4))
        return;
    /* At last a writer that is left alone: all must be well. */
    next_writer(w, steps + 2, 1, 0);
    crash(w, WEAK_CRASH_NONE_KEPT);
}

/* The calls that the first writer makes when nothing is in its way. */
static long calls_of_first_writer(const struct variant *v)
{
    struct tally ignored = {0};
    struct world w = {.variant = v, .fs = weak_fs_new(1), .tally = &ignored};
    long calls;

    oracle_init(&w.oracle, v->durability, v->group);
    first_writer(&w);
    calls = weak_fs_calls(w.fs);
    weak_fs_free(w.fs);
    return calls;
}

void explore_crashes(struct tally *t, const struct variant *v,
                     const struct omission *omission, int repetitions)
{
    long calls = calls_of_first_writer(v);

    for (long die_at = 1; die_at <= calls + 1 && !explore_noticed(t, omission);
         die_at++) {
        struct world first = {
            .variant = v, .fs = weak_fs_new((uint64_t)die_at), .tally = t};

        weak_fs_drop(first.fs, omission->what, omission->pattern);
        oracle_init(&first.oracle, v->durability, v->group);
        weak_fs_die_at(first.fs, die_at);
        first_writer(&first);

        for (int i = 0; i < repetitions; i++) {
            uint64_t seed = (uint64_t)die_at * 1000000 + (uint64_t)i;
            struct world w = first;
            char context[96];

            snprintf(context, sizeof(context), "%s, call %ld, seed %d", v->name,
                     die_at, i);
            oracle_report_as(omission->what ? NULL : context);
            w.fs = weak_fs_clone(first.fs, seed);
            w.chance = seed;
            follow(&w,
                   i == 0   ? WEAK_CRASH_NONE_KEPT
                   : i == 1 ? WEAK_CRASH_KILLED
                            : WEAK_CRASH_SOME_KEPT,
                   calls);
            oracle_report_as(NULL);
            weak_fs_free(w.fs);
        }
        weak_fs_free(first.fs);
    }
}
