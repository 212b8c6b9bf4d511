/* explore_drain.c -- steps persist in a local copy and are drained; the machine
 * dies anywhere in that, and anywhere in the drain that follows. The local copy
 * is a dataset as any other; of the target that is drained to more is promised:
 * what the library has said is there, is there, and steps come in their order.
 */
#include <stdio.h>

#include "chance.h"
#include "explore.h"
#include "scenario.h"

#define STEPS       3
#define REPETITIONS 8
#define LOCAL       "near"
#define LOCAL_COPY  LOCAL "/" EXPLORE_PATH

static const struct variant variant = {.name = "drain",
                                       .durability = BOUMA_DURABILITY_DURABLE};

struct pair {
    struct weak_fs *fs;
    struct oracle near, far;
    struct tally *tally;
};

static bouma_options options_of(const struct pair *p, int persist)
{
    bouma_options opts;

    explore_options(&opts, &variant, weak_fs_io(p->fs));
    opts.persist = persist;
    if (persist)
        opts.local = LOCAL;
    return opts;
}

/* All that the local copy has acknowledged is in the target now. */
static void drained(struct pair *p)
{
    for (int i = 0; i < STEPS; i++)
        if (p->near.steps[i].acked >= 0)
            oracle_acked(&p->far, i, 0);
}

static void write_all(struct pair *p)
{
    bouma_options opts = options_of(p, 1);
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;

    if (bouma_dataset_create(&ds, EXPLORE_PATH, &opts) == BOUMA_OK) {
        oracle_created(&p->near);
        oracle_created(&p->far);
    }
    for (int i = 0; i < STEPS && !weak_fs_is_dead(p->fs); i++) {
        oracle_trying(&p->near, i, 0);
        oracle_trying(&p->far, i, 0);
        if (!scenario_write(ds, &writer, i, 0, 0, 1))
            oracle_acked(&p->near, i, 0);
        if (i == 1 && !weak_fs_is_dead(p->fs) && !bouma_dataset_drain(ds))
            drained(p);
    }
    if (!weak_fs_is_dead(p->fs) && !bouma_dataset_close(ds))
        drained(p);
    bouma_dataset_free(ds);
}

/* No step is there without those before it. */
static void check_order(struct pair *p)
{
    bouma_options opts = options_of(p, 0);
    bouma_dataset *ds = NULL;
    bouma_step_info info = {.size = sizeof(info)};

    if (!bouma_dataset_open(&ds, EXPLORE_PATH, &opts))
        for (int64_t i = 0; !bouma_dataset_step_get(&info, ds, i); i++)
            if (info.step != i)
                tally_add(&p->tally->lost, "step %d before step %d",
                          (int)info.step, (int)i);
    bouma_dataset_free(ds);
}

static void crash(struct pair *p, enum weak_crash how)
{
    enum oracle_event event =
        how == WEAK_CRASH_KILLED ? ORACLE_KILL : ORACLE_POWER_LOSS;
    bouma_options opts = options_of(p, 0);

    weak_fs_crash(p->fs, how);
    oracle_check(&p->near, p->tally, LOCAL_COPY, &opts, event);
    oracle_check(&p->far, p->tally, EXPLORE_PATH, &opts, event);
    if (p->far.readable)
        check_order(p);
}

static void drain_later(struct pair *p, long die_at)
{
    bouma_options opts = options_of(p, 0);
    char message[640] = "";
    int rc;

    weak_fs_die_at(p->fs, die_at);
    rc = bouma_drain(NULL, LOCAL_COPY, EXPLORE_PATH, 0, &opts, message,
                     sizeof(message));
    if (!rc) {
        oracle_created(&p->far);
        drained(p);
    } else if (!weak_fs_is_dead(p->fs)) {
        tally_add(&p->tally->stuck, "cannot drain: %s", message);
    }
}

/* After the writer: look, drain and die, look, drain, look. */
static void follow(struct pair *p, enum weak_crash how, uint64_t chance)
{
    crash(p, how);
    if (!p->near.readable)
        return;
    drain_later(p, weak_fs_calls(p->fs) + 1 + (long)chance_below(&chance, 200));
    crash(p,
          chance_below(&chance, 3) ? WEAK_CRASH_SOME_KEPT : WEAK_CRASH_KILLED);
    if (!p->near.readable) /* its creation was not acknowledged */
        return;
    drain_later(p, 0);
    crash(p, WEAK_CRASH_NONE_KEPT);
}

void explore_drains(struct tally *t, const struct omission *omission)
{
    int died = 1;

    for (long at = 1; died && !explore_noticed(t, omission); at++) {
        struct pair first = {.fs = weak_fs_new((uint64_t)at), .tally = t};

        weak_fs_drop(first.fs, omission->what, omission->pattern);
        oracle_init(&first.near, variant.durability, 0);
        oracle_init(&first.far, variant.durability, 0);
        weak_fs_die_at(first.fs, at);
        write_all(&first);
        died = weak_fs_is_dead(first.fs);
        for (int i = 0; i < REPETITIONS; i++) {
            uint64_t seed = (uint64_t)at * 1000 + (uint64_t)i;
            struct pair p = first;
            char context[64];

            snprintf(context, sizeof(context), "%s, call %ld, seed %d",
                     variant.name, at, i);
            oracle_report_as(omission->what ? NULL : context);
            p.fs = weak_fs_clone(first.fs, seed);
            follow(&p,
                   i == 0   ? WEAK_CRASH_NONE_KEPT
                   : i == 1 ? WEAK_CRASH_KILLED
                            : WEAK_CRASH_SOME_KEPT,
                   seed);
            oracle_report_as(NULL);
            weak_fs_free(p.fs);
        }
        weak_fs_free(first.fs);
    }
}
