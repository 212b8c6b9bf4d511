/* explore_race.c -- two programs at once: one of them acts between two calls of
 * the other, after each call in turn. */
#include <stdio.h>

#include "explore.h"
#include "fault_io.h"
#include "scenario.h"

/* ---- a reader ----------------------------------------------------------- */

struct reader {
    const struct oracle *oracle;
    struct tally *tally;
    bouma_options opts;
};

/* Nothing is lost by a reader's look, so a copy of the oracle will do. */
static void look(void *user, long call)
{
    struct reader *r = user;
    struct oracle o = *r->oracle;

    (void)call;
    oracle_check(&o, r->tally, EXPLORE_PATH, &r->opts, ORACLE_KILL);
}

void explore_readers(struct tally *t, const struct variant *v)
{
    static const struct fault none;
    struct weak_fs *fs = weak_fs_new(1);
    struct scenario_writer writer = {0};
    struct reader reader = {.tally = t};
    struct oracle expected;
    struct fault_io io;
    bouma_dataset *ds = NULL;
    bouma_options opts;

    oracle_report_as("a reader at work");
    oracle_init(&expected, v->durability, v->group);
    reader.oracle = &expected;
    explore_options(&reader.opts, v, weak_fs_io(fs));
    fault_io_init(&io, weak_fs_io(fs));
    fault_io_arm(&io, &none, 0, 0);
    io.before = look;
    io.before_user = &reader;
    explore_options(&opts, v, &io.table);

    if (bouma_dataset_create(&ds, EXPLORE_PATH, &opts))
        tally_add(&t->stuck, "not created: %s", bouma_error_message(ds));
    else
        oracle_created(&expected);
    for (int i = 0; i < (v->replace ? 2 : 1) * v->steps; i++) {
        int step = i % v->steps, generation = i / v->steps;

        oracle_trying(&expected, step, generation);
        if (scenario_write(ds, &writer, step, generation, 0, 1))
            tally_add(&t->stuck, "step %d not written: %s", step,
                      bouma_error_message(ds));
        else
            oracle_acked(&expected, step, generation);
    }
    if (bouma_dataset_close(ds))
        tally_add(&t->stuck, "not closed: %s", bouma_error_message(ds));
    bouma_dataset_free(ds);
    weak_fs_free(fs);
    oracle_report_as(NULL);
}

/* ---- a second writer ---------------------------------------------------- */

#define DISPUTED 1 /* the step that both want to write */

/* The versions that the two write. */
enum { RIVAL_VERSION = 1, OWN_VERSION = 2 };

struct rival {
    bouma_options opts;
    long at; /* the other's call before which it comes */
    int status;
};

/* Take over the dataset and write the step. */
static void intrude(struct rival *r)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;

    r->status = bouma_dataset_append(&ds, EXPLORE_PATH, &r->opts);
    if (!r->status)
        r->status = scenario_write(ds, &writer, DISPUTED, RIVAL_VERSION, 0, 1);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
}

static void intrude_at(void *user, long call)
{
    struct rival *r = user;

    if (call == r->at)
        intrude(r);
}

/* A dataset with step 0. While its writer is open, another one that does not
 * force its way is told so. */
static void prepare(struct tally *t, struct oracle *expected,
                    struct weak_fs *fs, const struct variant *v)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL, *second = NULL;
    bouma_options opts;
    int rc;

    explore_options(&opts, v, weak_fs_io(fs));
    oracle_trying(expected, 0, 0);
    if (bouma_dataset_create(&ds, EXPLORE_PATH, &opts) ||
        scenario_write(ds, &writer, 0, 0, 0, 1))
        tally_add(&t->stuck, "no dataset: %s", bouma_error_message(ds));
    oracle_acked(expected, 0, 0);

    weak_fs_set_alive(fs, 1);
    rc = bouma_dataset_append(&second, EXPLORE_PATH, &opts);
    if (rc != BOUMA_EBUSY)
        tally_add(&t->stuck, "a second writer got %s, not EBUSY",
                  bouma_status_name(rc));
    bouma_dataset_free(second);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
}

/* At most one of the two may have the step acknowledged, and what is there is
 * that one's. */
static void judge(struct tally *t, struct oracle *expected, int own_status,
                  int rival_status)
{
    int winner = own_status ? RIVAL_VERSION : OWN_VERSION;

    if (!own_status && !rival_status)
        tally_add(&t->lost, "both writers were told success");
    if (own_status && rival_status)
        tally_add(&t->stuck, "neither writer succeeded: %s and %s",
                  bouma_status_name(own_status),
                  bouma_status_name(rival_status));
    oracle_trying(expected, DISPUTED, winner);
    oracle_acked(expected, DISPUTED, winner);
}

/* Two programs append the same step at once, both told to force their way: the
 * second does all of it before call 'at' of the first. Returns whether the
 * first one makes so many calls. */
static int dispute(struct tally *t, const struct variant *v,
                   const struct omission *omission, long at)
{
    static const struct fault none;
    struct weak_fs *fs = weak_fs_new((uint64_t)at);
    struct scenario_writer writer = {0};
    struct rival rival = {.at = at};
    struct oracle expected;
    struct fault_io io;
    bouma_dataset *ds = NULL;
    bouma_options opts;
    int rc, reached;

    oracle_init(&expected, v->durability, v->group);
    prepare(t, &expected, fs, v);
    weak_fs_drop(fs, omission->what, omission->pattern);
    fault_io_init(&io, weak_fs_io(fs));
    explore_options(&opts, v, &io.table);
    explore_options(&rival.opts, v, weak_fs_io(fs));
    opts.force = rival.opts.force = 1;

    fault_io_arm(&io, &none, 0, 0);
    io.before = intrude_at;
    io.before_user = &rival;
    rc = bouma_dataset_append(&ds, EXPLORE_PATH, &opts);
    if (!rc)
        rc = scenario_write(ds, &writer, DISPUTED, OWN_VERSION, 0, 1);
    reached = io.calls >= at;
    io.before = NULL;
    if (!reached)
        intrude(&rival);
    judge(t, &expected, rc, rival.status);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
    oracle_check(&expected, t, EXPLORE_PATH, &rival.opts, ORACLE_POWER_LOSS);
    weak_fs_free(fs);
    return reached;
}

/* ---- a second writer that does not insist -------------------------------- */

struct candidate {
    bouma_options opts;
    long at; /* the other's call before which it comes */
    bouma_dataset *ds;
    int status;
};

static void try_to_append(struct candidate *c)
{
    c->status = bouma_dataset_append(&c->ds, EXPLORE_PATH, &c->opts);
}

static void try_at(void *user, long call)
{
    struct candidate *c = user;

    if (call == c->at)
        try_to_append(c);
}

static void expect_busy(struct tally *t, const char *who, int status)
{
    if (status != BOUMA_EBUSY)
        tally_add(&t->stuck, "%s got %s, not EBUSY", who,
                  bouma_status_name(status));
}

/* Who writes, when both programs have opened the dataset. One that has claimed
 * its epoch but not yet written its name there can be overtaken unawares, and
 * is told with its first step. */
static bouma_dataset *winner_of(struct tally *t, struct oracle *expected,
                                struct candidate *first,
                                struct candidate *second)
{
    struct scenario_writer writer = {0};

    if (first->status || second->status) {
        expect_busy(t, "the loser",
                    first->status ? first->status : second->status);
        return first->status ? second->ds : first->ds;
    }
    oracle_trying(expected, DISPUTED, RIVAL_VERSION);
    expect_busy(
        t, "one that was overtaken",
        scenario_write(first->ds, &writer, DISPUTED, RIVAL_VERSION, 0, 1));
    return second->ds;
}

/* Two programs open the dataset to append at once: the second does so before
 * call 'at' of the first, and stays. One of them has it then, and as long as it
 * lives nobody else. Returns whether the first one makes so many calls. */
static int claim(struct tally *t, const struct variant *v,
                 const struct omission *omission, long at)
{
    static const struct fault none;
    struct weak_fs *fs = weak_fs_new((uint64_t)at);
    struct scenario_writer writer = {0};
    struct candidate first = {0}, second = {.at = at}, third = {0};
    struct oracle expected;
    struct fault_io io;
    bouma_dataset *winner;
    int reached;

    oracle_init(&expected, v->durability, v->group);
    prepare(t, &expected, fs, v);
    weak_fs_drop(fs, omission->what, omission->pattern);
    fault_io_init(&io, weak_fs_io(fs));
    explore_options(&first.opts, v, &io.table);
    explore_options(&second.opts, v, weak_fs_io(fs));
    third.opts = second.opts;

    fault_io_arm(&io, &none, 0, 0);
    io.before = try_at;
    io.before_user = &second;
    try_to_append(&first);
    reached = io.calls >= at;
    io.before = NULL;
    if (!reached)
        try_to_append(&second);
    try_to_append(&third);

    expect_busy(t, "a third program", third.status);
    bouma_dataset_free(third.ds);
    winner = winner_of(t, &expected, &first, &second);
    oracle_trying(&expected, DISPUTED, OWN_VERSION);
    if (scenario_write(winner, &writer, DISPUTED, OWN_VERSION, 0, 1))
        tally_add(&t->stuck, "the winner cannot write: %s",
                  bouma_error_message(winner));
    else
        oracle_acked(&expected, DISPUTED, OWN_VERSION);
    bouma_dataset_close(winner);
    bouma_dataset_free(first.ds);
    bouma_dataset_free(second.ds);
    weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
    oracle_check(&expected, t, EXPLORE_PATH, &third.opts, ORACLE_POWER_LOSS);
    weak_fs_free(fs);
    return reached;
}

/* Do it before each call of the first program in turn. */
static void at_each_call(struct tally *t, const struct omission *omission,
                         const char *name,
                         int (*race)(struct tally *t, const struct variant *v,
                                     const struct omission *omission, long at))
{
    struct variant v = {.name = name, .durability = BOUMA_DURABILITY_DURABLE};
    int reached = 1;

    for (long at = 1; reached && !explore_noticed(t, omission); at++) {
        char context[64];

        snprintf(context, sizeof(context), "%s, call %ld", name, at);
        oracle_report_as(omission->what ? NULL : context);
        reached = race(t, &v, omission, at);
    }
    oracle_report_as(NULL);
}

void explore_writers(struct tally *t, const struct omission *omission)
{
    at_each_call(t, omission, "two writers", dispute);
}

void explore_claims(struct tally *t, const struct omission *omission)
{
    at_each_call(t, omission, "two claims", claim);
}
