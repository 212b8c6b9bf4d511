/* explore_error.c -- a call fails, the program sees it and goes on. */
#include <stdio.h>

#include "explore.h"
#include "fault_io.h"
#include "scenario.h"

#define OLD_STEP   0 /* there before anything fails */
#define FIRST_STEP 1
#define LAST_STEP  3
#define NEW_STEP   4 /* first written after the fault is over */

struct trial {
    struct weak_fs *fs;
    struct fault_io io;
    struct oracle oracle;
    struct tally *tally;
    bouma_options opts;
};

static void lose_writes(void *user, void *file)
{
    weak_fs_lose_writes(user, file);
}

/* A dataset with OLD_STEP, closed well. */
static void prepare(struct weak_fs *fs, struct oracle *o,
                    const struct variant *v)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    bouma_options opts;

    explore_options(&opts, v, weak_fs_io(fs));
    oracle_init(o, v->durability, v->group);
    oracle_trying(o, OLD_STEP, 0);
    if (!bouma_dataset_create(&ds, EXPLORE_PATH, &opts) &&
        !scenario_write(ds, &writer, OLD_STEP, 0, 0, 1) &&
        !bouma_dataset_close(ds)) {
        oracle_created(o);
        oracle_acked(o, OLD_STEP, 0);
        oracle_flushed(o);
    }
    bouma_dataset_free(ds);
}

static int write_step(struct trial *trial, bouma_dataset *ds,
                      struct scenario_writer *writer, int step)
{
    int generation = trial->oracle.steps[step].tried + 1;
    int rc;

    oracle_trying(&trial->oracle, step, generation);
    rc = scenario_write(ds, writer, step, generation, 0, 1);
    if (rc)
        oracle_failed(&trial->oracle);
    else
        oracle_acked(&trial->oracle, step, generation);
    return rc;
}

/* Under the fault: every call may fail. */
static int risky_part(struct trial *trial, bouma_dataset **ds,
                      struct scenario_writer *writer)
{
    int rc = bouma_dataset_append(ds, EXPLORE_PATH, &trial->opts);

    if (rc)
        return rc;
    for (int step = FIRST_STEP; step <= LAST_STEP; step++)
        if (write_step(trial, *ds, writer, step) &&
            !bouma_error_message(*ds)[0])
            tally_add(&trial->tally->stuck, "a failure without a message");
    if (bouma_dataset_flush(*ds) == BOUMA_OK)
        oracle_flushed(&trial->oracle);
    else
        oracle_failed(&trial->oracle);
    return BOUMA_OK;
}

/* After it: nothing may fail, but for a step that is there already. */
static void calm_part(struct trial *trial, bouma_dataset *ds,
                      struct scenario_writer *writer)
{
    for (int step = FIRST_STEP; step <= NEW_STEP; step++) {
        struct oracle_step *expected = &trial->oracle.steps[step];
        int rc;

        if (expected->acked >= 0)
            continue;
        rc = write_step(trial, ds, writer, step);
        /* The fault hit after the commit: now it must be there for good. */
        if (rc == BOUMA_EEXISTS && expected->tried > 0)
            oracle_acked(&trial->oracle, step, --expected->tried);
        else if (rc)
            tally_add(&trial->tally->stuck, "step %d not written: %s", step,
                      bouma_error_message(ds));
    }
    if (bouma_dataset_close(ds) == BOUMA_OK)
        oracle_flushed(&trial->oracle);
    else
        tally_add(&trial->tally->stuck, "not closed: %s",
                  bouma_error_message(ds));
}

/* Returns whether the fault came at all. */
static int try_fault(struct trial *trial, const struct fault *fault, long at,
                     int sticky)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    int rc, reached;

    fault_io_arm(&trial->io, fault, at, sticky);
    rc = risky_part(trial, &ds, &writer);
    reached = trial->io.calls >= at;
    fault_io_disarm(&trial->io);
    if (rc) {
        bouma_dataset_free(ds);
        rc = bouma_dataset_append(&ds, EXPLORE_PATH, &trial->opts);
    }
    if (rc)
        tally_add(&trial->tally->stuck, "cannot append: %s",
                  bouma_error_message(ds));
    else
        calm_part(trial, ds, &writer);
    bouma_dataset_free(ds);
    if (trial->io.open)
        tally_add(&trial->tally->stuck, "%ld files left open", trial->io.open);

    oracle_check(&trial->oracle, trial->tally, EXPLORE_PATH, &trial->opts,
                 ORACLE_KILL);
    weak_fs_crash(trial->fs, WEAK_CRASH_SOME_KEPT);
    oracle_check(&trial->oracle, trial->tally, EXPLORE_PATH, &trial->opts,
                 ORACLE_POWER_LOSS);
    return reached;
}

void explore_errors(struct tally *t, const struct variant *v,
                    const struct omission *omission)
{
    struct weak_fs *base = weak_fs_new(1);
    long stride = explore_stride(omission);
    struct oracle expected;

    prepare(base, &expected, v);
    weak_fs_set_alive(base, 1); /* the program goes on: it is alive */
    for (int i = 0; i < 2 * fault_count; i++) {
        const struct fault *fault = &fault_list[i / 2];
        int sticky = i % 2, reached = 1;

        for (long at = 1 + i % stride; reached; at += stride) {
            struct trial trial = {.fs = weak_fs_clone(base, (uint64_t)at),
                                  .oracle = expected,
                                  .tally = t};
            char context[96];

            snprintf(context, sizeof(context), "%s, call %ld, %s%s", v->name,
                     at, fault->name, sticky ? " from then on" : "");
            oracle_report_as(context);
            fault_io_init(&trial.io, weak_fs_io(trial.fs));
            trial.io.sync_failed = lose_writes;
            trial.io.sync_failed_user = trial.fs;
            explore_options(&trial.opts, v, &trial.io.table);
            reached = try_fault(&trial, fault, at, sticky);
            oracle_report_as(NULL);
            weak_fs_free(trial.fs);
        }
    }
    weak_fs_free(base);
}
