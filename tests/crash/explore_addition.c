/* explore_addition.c -- the machine dies while something is added to a step, or
 * while a step to which something was added is written again, deleted or
 * dropped. The step is as before, or as wanted: and what was added is there
 * exactly with the version that it was added to. */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "scenario.h"

#define STEPS  3
#define STEP   1  /* that is changed */
#define STATES 10 /* after each death: none kept, killed, and some kept */

enum act { ADD, REPLACE, DELETE, TRUNCATE, ACTS };

static const char *const names[ACTS] = {"add", "replace", "delete", "truncate"};

static const struct variant variant = {
    .name = "addition", .durability = BOUMA_DURABILITY_DURABLE, .replace = 1};

static bouma_options options_for(struct weak_fs *fs)
{
    bouma_options o;

    explore_options(&o, &variant, weak_fs_io(fs));
    return o;
}

/* The step as a reader sees it. */
struct state {
    int generation; /* -1: it is not there */
    int added;
};

/* A grid of 5 numbers, which is added. */
static int add_grid(bouma_dataset *ds)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {5}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_I32};
    const int32_t data[5] = {1, 2, 3, 4, 5};
    bouma_variable *variable;
    bouma_grid *grid;
    int rc = bouma_grid_define(&grid, ds, "more", &g);

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

    return act == ADD       ? add_grid(ds)
           : act == REPLACE ? scenario_write(ds, &writer, STEP, 1, 0, 1)
           : act == DELETE  ? bouma_step_delete(ds, STEP)
                            : bouma_dataset_truncate(ds, STEP - 1);
}

/* 0, or why it was not done. One who died may have done it. */
static int act_once(struct weak_fs *fs, struct tally *t, enum act act)
{
    bouma_options o = options_for(fs);
    bouma_dataset *ds = NULL;
    int rc = bouma_dataset_append(&ds, EXPLORE_PATH, &o);

    if (!rc)
        rc = do_act(ds, act);
    if ((rc == BOUMA_EEXISTS && act == ADD) ||
        (rc == BOUMA_ENOTFOUND && act == DELETE)) {
        rc = BOUMA_OK;
        bouma_dataset_clear_failures(ds);
    }
    if (!rc)
        rc = bouma_dataset_close(ds);
    if (rc && !weak_fs_is_dead(fs))
        tally_add(&t->stuck, "cannot %s: %s", names[act],
                  bouma_error_message(ds));
    bouma_dataset_free(ds);
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
    if (act != ADD)
        add_grid(ds);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
}

static int has_grid(bouma_dataset *ds, struct tally *t)
{
    const int32_t right[5] = {1, 2, 3, 4, 5};
    int32_t data[5] = {0};
    bouma_step *step;
    bouma_grid *grid;

    if (bouma_step_open(&step, ds, STEP))
        return 0;
    grid = bouma_step_find_grid(step, "more");
    if (grid && (bouma_variable_read(
                     bouma_grid_variable(grid, 0), 0, NULL,
                     &BOUMA_ARRAY(BOUMA_TYPE_I32, data, sizeof(data))) ||
                 memcmp(data, right, sizeof(data))))
        tally_add(&t->partial, "what was added cannot be read: %s",
                  bouma_error_message(ds));
    bouma_step_free(step);
    return grid != NULL;
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
        s.added = has_grid(ds, t);
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
    int before = s.generation == 0 && s.added == (act != ADD);
    int after = act == ADD       ? s.generation == 0 && s.added
                : act == REPLACE ? s.generation == 1 && !s.added
                                 : s.generation < 0 && !s.added;

    t->states++;
    if (!after && (is_done || !before))
        tally_add(is_done ? &t->lost : &t->silent, "generation %d, addition %d",
                  s.generation, s.added);
}

static void verify(struct weak_fs *fs, struct tally *t)
{
    bouma_options o = options_for(fs);
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640] = "";

    if (bouma_verify(&report, EXPLORE_PATH, BOUMA_DEPTH_FULL, &o, NULL, NULL,
                     message, sizeof(message)))
        tally_add(&t->stuck, "cannot verify: %s", message);
    else if (report.damages)
        tally_add(&t->partial, "verify: %d damages", (int)report.damages);
}

static void follow(struct weak_fs *fs, struct tally *t, enum act act,
                   int is_done, int repairs)
{
    bouma_options o = options_for(fs);
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640] = "";

    judge(fs, t, act, is_done);
    verify(fs, t);
    if (repairs) {
        if (bouma_repair(&report, EXPLORE_PATH, 1, &o, NULL, NULL, message,
                         sizeof(message)))
            tally_add(&t->stuck, "cannot repair: %s", message);
        judge(fs, t, act, is_done);
    }
    if (!act_once(fs, t, act)) {
        weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
        judge(fs, t, act, 1);
        verify(fs, t);
    }
}

static void explore_act(struct tally *t, const struct omission *omission,
                        enum act act)
{
    struct weak_fs *base = weak_fs_new(1);
    int states = explore_some(omission, STATES), died = 1;

    prepare(base, act);
    for (long at = 1; died; at++) {
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
                     "addition, %s, call %ld, state "
                     "%d",
                     names[act], at, i);
            oracle_report_as(omission->what ? NULL : context);
            weak_fs_crash(fs, i == 0   ? WEAK_CRASH_NONE_KEPT
                              : i == 1 ? WEAK_CRASH_KILLED
                                       : WEAK_CRASH_SOME_KEPT);
            follow(fs, t, act, is_done, i % 2);
            oracle_report_as(NULL);
            weak_fs_free(fs);
        }
        weak_fs_free(first);
    }
    weak_fs_free(base);
}

void explore_additions(struct tally *t, const struct omission *omission)
{
    for (int act = 0; act < ACTS; act++)
        explore_act(t, omission, (enum act)act);
}
