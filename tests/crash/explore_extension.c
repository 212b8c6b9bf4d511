/* explore_extension.c -- the machine dies, or a call fails, while a step is
 * extended, or while one that was extended is written again, deleted or dropped.
 * The step is as before, or as wanted, and nothing in between; with damage
 * nowhere, and no file that stays for ever. */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "fault_io.h"
#include "scenario.h"

#define STEPS  3
#define STEP   1  /* that is changed */
#define STATES 10 /* after each death: none kept, killed, and some kept */

enum act { ADD, ADD_FAST, ADD_AGAIN, REPLACE, DELETE, TRUNCATE, ACTS };

static const char *const names[ACTS] = {"add",     "add fast", "add again",
                                        "replace", "delete",   "truncate"};

/* How often the step is extended before the act, and after it. */
static const int before_act[ACTS] = {0, 0, 1, 2, 2, 2};
static const int after_act[ACTS] = {1, 1, 2, 0, 0, 0};

static const struct variant variant = {
    .name = "extension", .durability = BOUMA_DURABILITY_DURABLE, .replace = 1};
/* An extension needs no 'replace', and is durable in any case. */
static const struct variant fast = {.name = "extension",
                                    .durability = BOUMA_DURABILITY_FAST};

static bouma_options options_of(const bouma_io *io, int is_fast)
{
    bouma_options o;

    explore_options(&o, is_fast ? &fast : &variant, io);
    return o;
}

static bouma_options options_for(struct weak_fs *fs)
{
    return options_of(weak_fs_io(fs), 0);
}

/* The step as a reader sees it. */
struct state {
    int generation; /* -1: it is not there */
    int added;      /* how often it was extended */
};

/* The i-th extension: a grid of 5 numbers. */
static int add_grid(bouma_dataset *ds, int i)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {5}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_I32};
    const int32_t data[5] = {1, 2, 3, 4, i};
    bouma_variable *variable;
    bouma_grid *grid;
    char name[16];
    int rc;

    snprintf(name, sizeof(name), "more%d", i);
    rc = bouma_grid_define(&grid, ds, name, &g);
    if (!rc)
        rc = bouma_variable_define(&variable, grid, "v", &v);
    if (!rc)
        rc = bouma_step_extend(ds, STEP);
    if (!rc)
        rc = bouma_variable_put_copy(
            variable, NULL, &BOUMA_ARRAY(BOUMA_TYPE_I32, data, sizeof(data)));
    return rc ? rc : bouma_step_end(ds);
}

static int do_act(bouma_dataset *ds, enum act act)
{
    struct scenario_writer writer = {0};

    return act < REPLACE    ? add_grid(ds, before_act[act])
           : act == REPLACE ? scenario_write(ds, &writer, STEP, 1, 0, 1)
           : act == DELETE  ? bouma_step_delete(ds, STEP)
                            : bouma_dataset_truncate(ds, STEP - 1);
}

/* 0, or why it was not done. One who died may have done it. */
static int act_on(const bouma_io *io, enum act act, char why[640])
{
    bouma_options o = options_of(io, act == ADD_FAST);
    bouma_dataset *ds = NULL;
    int rc = bouma_dataset_append(&ds, EXPLORE_PATH, &o);

    if (!rc)
        rc = do_act(ds, act);
    if ((rc == BOUMA_EEXISTS && act < REPLACE) ||
        (rc == BOUMA_ENOTFOUND && act == DELETE)) {
        rc = BOUMA_OK;
        bouma_dataset_clear_failures(ds);
    }
    if (!rc)
        rc = bouma_dataset_close(ds);
    snprintf(why, 640, "%s", ds ? bouma_error_message(ds) : "no handle");
    bouma_dataset_free(ds);
    return rc;
}

static int act_once(struct weak_fs *fs, struct tally *t, enum act act)
{
    char why[640];
    int rc = act_on(weak_fs_io(fs), act, why);

    if (rc && !weak_fs_is_dead(fs))
        tally_add(&t->stuck, "cannot %s: %s", names[act], why);
    return rc;
}

static void prepare(struct weak_fs *fs, enum act act)
{
    bouma_options o = options_for(fs);
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;

    if (!bouma_dataset_create(&ds, EXPLORE_PATH, &o))
        for (int i = 0; i < STEPS; i++)
            scenario_write(ds, &writer, i, 0, 0, 1);
    for (int i = 0; i < before_act[act]; i++)
        add_grid(ds, i);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
}

/* How many extensions there are: the first ones, and no other. */
static int count_grids(bouma_dataset *ds, struct tally *t)
{
    bouma_step *step;
    int count = 0;

    if (bouma_step_open(&step, ds, STEP))
        return 0;
    for (int i = 0; i < 3; i++) {
        const int32_t right[5] = {1, 2, 3, 4, i};
        int32_t data[5] = {0};
        bouma_grid *grid;
        char name[16];

        snprintf(name, sizeof(name), "more%d", i);
        grid = bouma_step_find_grid(step, name);
        if (grid && (bouma_variable_read(
                         bouma_grid_variable(grid, 0), 0, NULL,
                         &BOUMA_ARRAY(BOUMA_TYPE_I32, data, sizeof(data))) ||
                     memcmp(data, right, sizeof(data))))
            tally_add(&t->partial, "what was added cannot be read: %s",
                      bouma_error_message(ds));
        if (grid && count++ != i)
            tally_add(&t->lost, "an earlier extension is gone");
    }
    bouma_step_free(step);
    return count;
}

static struct state look(struct weak_fs *fs, struct tally *t)
{
    bouma_options o = options_for(fs);
    struct state s = {-1, 0};
    bouma_dataset *ds = NULL;
    enum scenario_verdict verdict;
    bouma_step_info info = {.size = sizeof(info)};

    if (bouma_dataset_open(&ds, EXPLORE_PATH, &o)) {
        tally_add(&t->stuck, "%s", bouma_error_message(ds));
    } else {
        verdict = scenario_read(ds, STEP, &s.generation);
        if (verdict == SCENARIO_ABSENT)
            s.generation = -1;
        else if (verdict != SCENARIO_EXACT)
            tally_add(&t->partial, "the step is not whole");
        s.added = count_grids(ds, t);
        if (!bouma_dataset_last_step(&info, ds) && info.step >= STEPS)
            tally_add(&t->silent, "step %lld is shown", (long long)info.step);
    }
    bouma_dataset_free(ds);
    return s;
}

/* As before, or as wanted; 'is_done' says that only that will do. */
static void judge(struct weak_fs *fs, struct tally *t, enum act act,
                  int is_done)
{
    struct state s = look(fs, t);
    int before = s.generation == 0 && s.added == before_act[act];
    int after = s.generation == (act < REPLACE    ? 0
                                 : act == REPLACE ? 1
                                                  : -1) &&
                s.added == after_act[act];

    t->states++;
    if (!after && (is_done || !before))
        tally_add(is_done ? &t->lost : &t->silent,
                  "generation %d, %d extensions", s.generation, s.added);
}

/* With 'is_tidy' nothing is left of those who died. */
static void verify(struct weak_fs *fs, struct tally *t, int is_tidy)
{
    bouma_options o = options_for(fs);
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640] = "";

    if (bouma_verify(&report, EXPLORE_PATH, BOUMA_DEPTH_FULL, &o, NULL, NULL,
                     message, sizeof(message)))
        tally_add(&t->stuck, "cannot verify: %s", message);
    else if (report.damages)
        tally_add(&t->partial, "verify: %d damages", (int)report.damages);
    else if (is_tidy && report.notes)
        tally_add(&t->stuck, "verify: %d notes", (int)report.notes);
}

static void repair(struct weak_fs *fs, struct tally *t)
{
    bouma_options o = options_for(fs);
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640] = "";

    if (bouma_repair(&report, EXPLORE_PATH, 1, &o, NULL, NULL, message,
                     sizeof(message)))
        tally_add(&t->stuck, "cannot repair: %s", message);
}

static int pass_over(void *context, const char *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

static int has_directory(struct weak_fs *fs)
{
    const bouma_io *io = weak_fs_io(fs);
    char name[32];
    void *root;
    int code = io->attach(io->user, &root, EXPLORE_PATH, 0);

    if (code)
        return 0;
    snprintf(name, sizeof(name), "steps/%08d", STEP);
    code = io->list(io->user, root, name, pass_over, NULL);
    io->detach(io->user, root);
    return !code;
}

/* What repair has cleared away does not come back with the next power loss. */
static void lose_power(const struct weak_fs *fs, struct tally *t)
{
    struct weak_fs *then = weak_fs_clone(fs, 1);

    weak_fs_crash(then, WEAK_CRASH_NONE_KEPT);
    if (has_directory(then))
        tally_add(&t->silent, "the directory of the step is back");
    weak_fs_free(then);
}

static void follow(struct weak_fs *fs, struct tally *t, enum act act,
                   int is_done, int repairs)
{
    judge(fs, t, act, is_done);
    verify(fs, t, 0);
    if (repairs) {
        int was_there = has_directory(fs);

        repair(fs, t);
        judge(fs, t, act, is_done);
        if (was_there && !has_directory(fs))
            lose_power(fs, t);
    }
    if (!act_once(fs, t, act)) {
        weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
        judge(fs, t, act, 1);
        verify(fs, t, 0);
        repair(fs, t);
        judge(fs, t, act, 1);
        verify(fs, t, act <= REPLACE);
    }
}

/* ---- what is extended may itself be not durable ----------------------------- */

/* The step that is extended is the last, and written with 'fast'. */
static void prepare_fast(struct weak_fs *fs)
{
    for (int is_fast = 0; is_fast < 2; is_fast++) {
        bouma_options o = options_of(weak_fs_io(fs), is_fast);
        struct scenario_writer writer = {0};
        bouma_dataset *ds = NULL;

        if (is_fast ? !bouma_dataset_append(&ds, EXPLORE_PATH, &o)
                    : !bouma_dataset_create(&ds, EXPLORE_PATH, &o))
            for (int i = 0; i < STEPS; i++)
                if ((i == STEP) == is_fast)
                    scenario_write(ds, &writer, i, 0, 0, 1);
        bouma_dataset_close(ds);
        bouma_dataset_free(ds);
    }
}

static int is_extended(struct weak_fs *fs)
{
    bouma_options o = options_for(fs);
    bouma_dataset *ds = NULL;
    bouma_step *step;
    int is = 0;

    if (!bouma_dataset_open(&ds, EXPLORE_PATH, &o) &&
        !bouma_step_open(&step, ds, STEP)) {
        is = bouma_step_find_grid(step, "more0") != NULL;
        bouma_step_free(step);
    }
    bouma_dataset_free(ds);
    return is;
}

/* ---- every call ------------------------------------------------------------ */

/* The program dies in each call of an act in turn, and then the power fails. With
 * a fast base, that may take the step; but not once it is seen with an
 * extension. */
static void explore_act(struct tally *t, const struct omission *omission,
                        enum act act, int fast_base)
{
    const char *name = fast_base ? "fast base" : names[act];
    struct weak_fs *base = weak_fs_new(1);
    int states = explore_some(omission, STATES), died = 1;

    if (fast_base)
        prepare_fast(base);
    else
        prepare(base, act);
    for (long at = 1; died && !explore_noticed(t, omission); at++) {
        struct weak_fs *first = weak_fs_clone(base, (uint64_t)at);
        int is_done;

        weak_fs_drop(first, omission->what, omission->pattern);
        weak_fs_die_at(first, at);
        is_done = !act_once(first, t, act);
        died = weak_fs_is_dead(first);
        for (int i = 0; i < states; i++) {
            struct weak_fs *fs =
                weak_fs_clone(first, (uint64_t)(at * 1000 + i));
            char context[64];

            snprintf(context, sizeof(context),
                     "extension, %s, call %ld, state %d", name, at, i);
            oracle_report_as(omission->what ? NULL : context);
            weak_fs_crash(fs, i == 0   ? WEAK_CRASH_NONE_KEPT
                              : i == 1 ? WEAK_CRASH_KILLED
                                       : WEAK_CRASH_SOME_KEPT);
            if (!fast_base || is_done || i == 1 || is_extended(fs))
                follow(fs, t, act, is_done, act <= DELETE && i % 2);
            oracle_report_as(NULL);
            weak_fs_free(fs);
        }
        weak_fs_free(first);
    }
    weak_fs_free(base);
}

/* ---- calls that fail -------------------------------------------------------- */

static void lose_writes(void *user, void *file)
{
    weak_fs_lose_writes(user, file);
}

/* One call fails, and the next program finds the step as before, or as wanted.
 * Returns whether the fault came at all. */
static int try_fault(struct weak_fs *base, struct tally *t, enum act act,
                     const struct fault *fault, long at)
{
    struct weak_fs *fs = weak_fs_clone(base, (uint64_t)at);
    struct fault_io io;
    char why[640], context[96];
    int is_done, reached;

    snprintf(context, sizeof(context), "extension, %s, %s fails, call %ld",
             names[act], fault->name, at);
    oracle_report_as(context);
    fault_io_init(&io, weak_fs_io(fs));
    io.sync_failed = lose_writes;
    io.sync_failed_user = fs;
    fault_io_arm(&io, fault, at, 0);
    is_done = !act_on(&io.table, act, why);
    reached = io.calls >= at;
    fault_io_disarm(&io);
    if (io.open)
        tally_add(&t->stuck, "%ld files left open", io.open);
    follow(fs, t, act, is_done, at % 2);
    oracle_report_as(NULL);
    weak_fs_free(fs);
    return reached;
}

static void explore_faults(struct tally *t, enum act act)
{
    struct weak_fs *base = weak_fs_new(1);

    prepare(base, act);
    for (int i = 0; i < fault_count; i++)
        for (long at = 1; try_fault(base, t, act, &fault_list[i], at); at++)
            ;
    weak_fs_free(base);
}

void explore_extensions(struct tally *t, const struct omission *omission)
{
    for (int act = 0; act < ACTS; act++)
        explore_act(t, omission, (enum act)act, 0);
    explore_act(t, omission, ADD_FAST, 1);
    for (int act = 0; act < REPLACE && !omission->what; act++)
        explore_faults(t, (enum act)act);
}
