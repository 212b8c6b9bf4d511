#include "sweep_play.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STEPS    4
#define PATIENCE 12 /* violations of one act printed by one rank */

void sweep_violation(struct sweep_run *run, const char *format, ...)
{
    static const struct sweep_act *last_act;
    static int printed;
    va_list args;

    run->violations++;
    if (run->act != last_act)
        printed = 0;
    last_act = run->act;
    if (printed++ >= PATIENCE)
        return;
    fprintf(stderr, "rank %d, %s: ", run->team->rank, run->context);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- statuses ----------------------------------------------------------- */

/* The status of a collective call: one same on all ranks, with a message when
 * it is a failure, and none without a fault. */
int sweep_together(struct sweep_run *run, const char *call, int status)
{
    int lowest, highest;

    run->team->compare(status, &lowest, &highest);
    if (lowest != highest)
        sweep_violation(run, "%s: %s here, others %s to %s", call,
                        bouma_status_name(status), bouma_status_name(lowest),
                        bouma_status_name(highest));
    if (status && !bouma_error_message(run->ds)[0])
        sweep_violation(run, "%s: no message", call);
    if (lowest && run->calm)
        sweep_violation(run, "%s fails without a fault: %s", call,
                        bouma_error_message(run->ds));
    return lowest;
}

/* The status of a call that is not collective: ranks may differ, but go on
 * together. */
int sweep_apart(struct sweep_run *run, const char *call, int status)
{
    int lowest, highest;

    if (status && run->calm)
        sweep_violation(run, "%s fails without a fault: %s", call,
                        bouma_error_message(run->ds));
    run->team->compare(status, &lowest, &highest);
    return lowest;
}

/* ---- opening and closing ------------------------------------------------ */

/* After a failure, something of it may be in the way of the next try. */
static int clear_the_way(struct sweep_run *run, int status)
{
    /* A creation that could not clean up leaves its directory: take another. */
    if (status == BOUMA_EEXISTS && !run->moved) {
        run->moved = 1;
        strncat(run->path, "2", sizeof(run->path) - strlen(run->path) - 1);
        return 1;
    }
    return 0;
}

int sweep_open_dataset(struct sweep_run *run, const char *call,
                       int (*how)(bouma_dataset **out, const char *path,
                                  const bouma_options *opts))
{
    int status;

    if (run->is_open)
        return run->is_closed ? BOUMA_ESTATE : BOUMA_OK;
    memset(&run->writer, 0, sizeof(run->writer));
    memset(&run->particles, 0, sizeof(run->particles));
    do {
        bouma_dataset_free(run->ds);
        run->ds = NULL;
        status = how(&run->ds, run->path, &run->opts);
    } while (run->calm && clear_the_way(run, status));
    status = sweep_together(run, call, status);
    run->is_open = status == BOUMA_OK;
    return status;
}

/* A close that failed may be repeated, but need not do anything then. */
int sweep_close_dataset(struct sweep_run *run)
{
    int status;

    if (run->is_closed)
        return BOUMA_OK;
    run->is_closed = 1;
    status = bouma_dataset_close(run->ds);
    return sweep_together(run, "close", status);
}

int sweep_write_step(struct sweep_run *run, int step)
{
    const struct sweep_team *team = run->team;
    int status;

    if (run->written[step])
        return BOUMA_OK;
    status = run->act->particles
                 ? sweep_particles_write(run->ds, &run->particles, step,
                                         team->rank, team->ranks)
                 : scenario_write(run->ds, &run->writer, step, 0, team->rank,
                                  team->ranks);
    /* The fault hit after the commit. */
    if (run->calm && status == BOUMA_EEXISTS)
        status = BOUMA_OK;
    status = sweep_together(run, "writing a step", status);
    run->written[step] = status == BOUMA_OK;
    return status;
}

int sweep_first_of(int status, int next)
{
    return status ? status : next;
}

/* All of them, whatever becomes of the first ones. */
static int write_steps(struct sweep_run *run, int first, int last)
{
    int status = BOUMA_OK;

    for (int step = first; step <= last; step++) {
        int rc = sweep_write_step(run, step);

        status = sweep_first_of(status, rc);
    }
    return status;
}

/* ---- acts --------------------------------------------------------------- */

static int play_create(struct sweep_run *run)
{
    int status = sweep_open_dataset(run, "create", run->team->create);

    if (status)
        return status;
    status = write_steps(run, 0, 1);
    /* Stay open after a failure: the same handle is to write again. */
    return status ? status : sweep_close_dataset(run);
}

/* The sizes of a step choose the files of the next one. */
static int play_predict(struct sweep_run *run)
{
    int status;

    run->opts.predict = BOUMA_PREDICT_ON;
    status = sweep_open_dataset(run, "create", run->team->create);
    if (status)
        return status;
    status = write_steps(run, 0, 2);
    return status ? status : sweep_close_dataset(run);
}

static int play_append(struct sweep_run *run)
{
    int status = sweep_open_dataset(run, "append", run->team->append);

    if (status)
        return status;
    status = sweep_write_step(run, 2);
    return status ? status : sweep_close_dataset(run);
}

/* Steps held back by a group, and a flush. */
static int play_group(struct sweep_run *run)
{
    int status, flushed;

    run->opts.durability = BOUMA_DURABILITY_GROUP;
    run->opts.group = 2;
    status = sweep_open_dataset(run, "append", run->team->append);
    if (status)
        return status;
    status = write_steps(run, 2, 3);
    flushed = sweep_together(run, "flush", bouma_dataset_flush(run->ds));
    status = sweep_first_of(status, flushed);
    /* A group that fails is given up as a whole. */
    if (status)
        run->written[2] = run->written[3] = 0;
    return status ? status : sweep_close_dataset(run);
}

static int set_attributes(struct sweep_run *run)
{
    static const int32_t table[3] = {1, 2, 3};
    int status = bouma_attributes_set_text(bouma_dataset_attributes(run->ds),
                                           "title", "a \xc3\xa9tude");

    if (!status)
        status = bouma_attributes_set(bouma_dataset_attributes(run->ds),
                                      "table", BOUMA_TYPE_I32, 3, table);
    /* once more: replaces */
    if (!status)
        status = bouma_attributes_set_text(bouma_dataset_attributes(run->ds),
                                           "title", "another");
    return status;
}

static int play_attributes(struct sweep_run *run)
{
    int status = sweep_open_dataset(run, "append", run->team->append);

    if (status)
        return status;
    status = sweep_apart(run, "attributes", set_attributes(run));
    if (status)
        return status;
    status = sweep_write_step(run, 2);
    return status ? status : sweep_close_dataset(run);
}

static int refine_within(bouma_variable *variable)
{
    bouma_budget budget = {.size = sizeof(budget), .points = 20};
    bouma_answer answer = {.size = sizeof(answer)};
    bouma_refinement *refinement = NULL;
    int status = bouma_refinement_open_within(&refinement, &answer, variable,
                                              NULL, &budget);

    if (!status)
        status = bouma_refinement_next_within(&answer, refinement, NULL);
    bouma_refinement_free(refinement);
    return status;
}

static int refine(bouma_variable *variable)
{
    bouma_refinement *refinement = NULL;
    bouma_box box = {.lo = {1, 1}, .hi = {6, 5}};
    int status = bouma_refinement_open(&refinement, variable, 1, &box);

    if (!status)
        status = bouma_refinement_next(refinement);
    bouma_refinement_free(refinement);
    return status ? status : refine_within(variable);
}

/* A part of the grid, where it belongs in an array of the grid's size. */
static int read_box(struct sweep_run *run, bouma_variable *variable)
{
    static const int64_t extent[2] = {SCENARIO_ROWS, SCENARIO_COLUMNS};
    bouma_box box = {.lo = {2, 3}, .hi = {6, 6}};
    struct scenario_values expected;
    double found[SCENARIO_SAMPLES] = {0};
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F64, found, sizeof(found));
    int status;

    bouma_array_inside(&array, 1, 2, extent, box.lo, NULL, 0);
    status = bouma_variable_read(variable, 0, &box, &array);
    scenario_fill(&expected, 1, 0);
    for (int row = 2; row < 6 && !status; row++)
        if (memcmp(&found[row * SCENARIO_COLUMNS + 3],
                   &expected.temperature[row * SCENARIO_COLUMNS + 3],
                   3 * sizeof(double)) != 0)
            sweep_violation(run, "a box has wrong values");
    return status;
}

static int read_apart(struct sweep_run *run, bouma_step *step)
{
    bouma_grid *grid = bouma_step_find_grid(step, "air");
    bouma_variable *variable =
        grid ? bouma_grid_find_variable(grid, "temperature") : NULL;
    int status;

    if (!variable) {
        sweep_violation(run, "an open step without its variable");
        return BOUMA_EFORMAT;
    }
    status = read_box(run, variable);
    return status ? status : refine(variable);
}

static int play_read(struct sweep_run *run)
{
    enum scenario_verdict verdict;
    bouma_step *step = NULL;
    int status = sweep_open_dataset(run, "open", run->team->open);
    int generation, read_status;

    if (status)
        return status;
    status = sweep_together(run, "refresh", bouma_dataset_refresh(run->ds));
    read_status = sweep_together(run, "opening a step",
                                 bouma_step_open(&step, run->ds, 1));
    status = sweep_first_of(status, read_status);
    if (!status) {
        status = sweep_apart(run, "reading a box", read_apart(run, step));
        verdict = scenario_read_together(step, 1, &generation, &read_status);
        status = sweep_first_of(
            status, sweep_together(run, "reading together", read_status));
        if (verdict == SCENARIO_WRONG)
            sweep_violation(run, "wrong values");
    }
    bouma_step_free(step);
    return status;
}

/* Particles: each rank for itself, and all ranks together. */
static int play_query(struct sweep_run *run)
{
    const struct sweep_team *team = run->team;
    bouma_step *step = NULL;
    int status = sweep_open_dataset(run, "open", run->team->open);
    int wrong = 0, count, rc;

    if (status)
        return status;
    status = sweep_together(run, "opening a step",
                            bouma_step_open(&step, run->ds, 1));
    if (!status) {
        status =
            sweep_apart(run, "asking", sweep_particles_ask(step, 1, &wrong));
        rc = sweep_together(run, "sharing",
                            sweep_particles_share(step, 1, &count, &wrong));
        count = team->sum(count);
        wrong += !rc && count != SWEEP_PARTICLES;
        status = sweep_first_of(status, rc);
        rc = sweep_together(run, "a box for each",
                            sweep_particles_box(step, 1, team->rank,
                                                team->ranks, &count, &wrong));
        count = team->sum(count);
        wrong += !rc && count != SWEEP_PARTICLES_FINITE;
        status = sweep_first_of(status, rc);
        if (wrong)
            sweep_violation(run, "wrong particles");
    }
    bouma_step_free(step);
    return status;
}

static int play_verify(struct sweep_run *run)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[256] = "";
    int status = run->team->verify(run->path, &run->opts, &report, message,
                                   sizeof(message));

    if (status && !message[0])
        sweep_violation(run, "verify: no message");
    if (run->calm &&
        (status || report.damages || report.unchecked || report.steps != 2))
        sweep_violation(run,
                        "verify: %s, %d steps, %d damages, %d unchecked, "
                        "%s",
                        bouma_status_name(status), (int)report.steps,
                        (int)report.damages, (int)report.unchecked, message);
    return sweep_together(run, "verify", status);
}

static int play_repair(struct sweep_run *run)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[256] = "";
    int status = bouma_repair(&report, run->path, 1, &run->opts, NULL, NULL,
                              message, sizeof(message));

    if (status && !message[0])
        sweep_violation(run, "repair: no message");
    if (run->calm && (status || report.unchecked))
        sweep_violation(run, "repair: %s, %d unchecked", message,
                        (int)report.unchecked);
    /* What could not be looked at is left, and mended next time. */
    if (!status && report.unchecked)
        status = BOUMA_EIO;
    return sweep_together(run, "repair", status);
}

/* Writers are chosen on a machine that all ranks make. */
static int play_by_cost(struct sweep_run *run)
{
    run->opts.place = BOUMA_PLACE_COST;
    run->opts.machine = "torus:2x2,per=1";
    return play_append(run);
}

/* ---- local copies
 * -------------------------------------------------------------- */

void sweep_node(char *out, size_t bytes, const char *path, int rank)
{
    snprintf(out, bytes, "%.200s.node%d", path, rank % 2);
}

/* The local copy of this rank's node. */
static void local_copy_of(const struct sweep_run *run, char *out, size_t bytes)
{
    const char *name = strrchr(run->path, '/');

    snprintf(out, bytes, "%s/%s", run->opts.local, name ? name + 1 : run->path);
}

/* After a failure the same handle drains again. */
static int drain_and_close(struct sweep_run *run)
{
    int status;

    if (run->is_closed)
        return BOUMA_OK;
    status = sweep_together(run, "drain", bouma_dataset_drain(run->ds));
    return status ? status : sweep_close_dataset(run);
}

static int play_persist_new(struct sweep_run *run)
{
    int status = sweep_open_dataset(run, "create", run->team->create);

    if (status)
        return status;
    status = write_steps(run, 0, 1);
    return status ? status : drain_and_close(run);
}

static int play_persist(struct sweep_run *run)
{
    int status = sweep_open_dataset(run, "append", run->team->append);

    if (status)
        return status;
    status = sweep_write_step(run, 2);
    return status ? status : drain_and_close(run);
}

/* Of local copies that have all steps, to a dataset that has none. */
static int drain_local_copies(struct sweep_run *run, int remove)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char message[640] = "";
    int status;

    /* A claim that could not be given back is still that of this process. */
    run->opts.force = run->calm;
    status = run->team->drain(&report, run->local_copy, run->path, remove,
                              &run->opts, message, sizeof(message));
    run->opts.force = 0;
    if (run->calm &&
        (status ||
         report.published + report.present + report.waiting != report.steps ||
         report.waiting))
        sweep_violation(run, "drain fails without a fault: %s", message);
    if (!status && report.waiting)
        sweep_violation(run, "drain waits for what is there");
    return sweep_together(run, "drain", status);
}

static int play_drain(struct sweep_run *run)
{
    return drain_local_copies(run, 0);
}

static int play_remove(struct sweep_run *run)
{
    return drain_local_copies(run, 1);
}

/* ---- what is there before ----------------------------------------------- */

/* Steps 0 and 1, closed well. */
void sweep_prepare_dataset(struct sweep_run *run)
{
    run->calm = 1;
    play_create(run);
    bouma_dataset_free(run->ds);
    run->ds = NULL;
    run->is_open = run->is_closed = run->calm = 0;
}

/* And step 2, held back by a group whose writer was killed. */
static void prepare_held_step(struct sweep_run *run)
{
    sweep_prepare_dataset(run);
    run->calm = 1;
    run->opts.durability = BOUMA_DURABILITY_GROUP;
    if (!sweep_open_dataset(run, "append", run->team->append))
        sweep_write_step(run, 2);
    bouma_dataset_free(run->ds);
    run->ds = NULL;
    run->is_open = run->calm = 0;
}

/* The directories of the nodes. */
static void prepare_nodes(struct sweep_run *run)
{
    const bouma_io *io = run->io.inner;
    int lowest, highest;
    void *root;

    sweep_node(run->local, sizeof(run->local), run->path, run->team->rank);
    run->opts.local = run->local;
    if (run->team->rank < 2 && !io->attach(io->user, &root, run->opts.local, 1))
        io->detach(io->user, root);
    run->team->compare(0, &lowest, &highest); /* all are there now */
    run->opts.persist = 1;
}

static void prepare_local_copies(struct sweep_run *run)
{
    prepare_nodes(run);
    run->calm = 1;
    play_persist_new(run);
    bouma_dataset_free(run->ds);
    run->ds = NULL;
    run->is_open = run->is_closed = run->calm = 0;
}

/* Steps 0 and 1 in the local copies only: the dataset gets another name. */
static void prepare_left_behind(struct sweep_run *run)
{
    prepare_local_copies(run);
    run->opts.persist = 0;
    local_copy_of(run, run->local_copy, sizeof(run->local_copy));
    strcat(run->path, "2");
}

const struct sweep_act sweep_acts[] = {
    {"create", NULL, play_create, 2, 0, 0, 0, 0, 0},
    {"predict", NULL, play_predict, 3, 0, 0, 0, 0, 0},
    {"append", sweep_prepare_dataset, play_append, 3, 2, 0, 0, 0, 0},
    {"group", sweep_prepare_dataset, play_group, 4, 2, 0, 0, 0, 0},
    {"attributes", sweep_prepare_dataset, play_attributes, 3, 2, 0, 0, 0, 0},
    {"read", sweep_prepare_dataset, play_read, 2, 2, 1, 0, 0, 0},
    {"verify", sweep_prepare_dataset, play_verify, 2, 2, 1, 0, 0, 0},
    {"repair", prepare_held_step, play_repair, 3, 2, 0, 1, 0, 0},
    {"cost", sweep_prepare_dataset, play_by_cost, 3, 2, 0, 0, 0, 0},
    {"particles", sweep_prepare_dataset, play_append, 3, 2, 0, 0, 1, 0},
    {"particles by cost", sweep_prepare_dataset, play_by_cost, 3, 2, 0, 0, 1,
     0},
    {"query", sweep_prepare_dataset, play_query, 2, 2, 1, 0, 1, 0},
    {"into", sweep_prepare_dataset, sweep_play_into, 2, 2, 1, 0, 1, 0},
    {"patches", sweep_prepare_dataset, sweep_play_patches, 2, 2, 1, 0, 0, 0},
    {"like", sweep_prepare_dataset, sweep_play_like, 3, 2, 0, 0, 0, 0},
    {"delete", sweep_prepare_three, sweep_play_delete, 2, 2, 0, 0, 0, 0},
    {"truncate", sweep_prepare_three, sweep_play_truncate, 2, 2, 0, 0, 0, 0},
    {"check", sweep_prepare_dataset, play_verify, 2, 2, 1, 0, 1, 0},
    {"mend", prepare_held_step, play_repair, 3, 2, 0, 1, 1, 0},
    {"persist_new", prepare_nodes, play_persist_new, 2, 0, 0, 0, 0, 1},
    {"persist", prepare_local_copies, play_persist, 3, 2, 0, 0, 0, 1},
    {"drain", prepare_left_behind, play_drain, 2, 0, 0, 0, 0, 1},
    {"remove", prepare_left_behind, play_remove, 2, 0, 0, 0, 0, 1},
};
const int sweep_act_count = (int)(sizeof(sweep_acts) / sizeof(sweep_acts[0]));

int sweep_act_chosen(int i, const char *which)
{
    int part, parts;

    if (which && sscanf(which, "%d/%d", &part, &parts) == 2)
        return parts > 0 && i % parts == part - 1;
    return !which || !strcmp(which, sweep_acts[i].name);
}

/* ---- a run -------------------------------------------------------------- */

void sweep_run_init(struct sweep_run *run, const struct sweep_act *act,
                    const struct sweep_team *team, const bouma_io *disk,
                    const char *path)
{
    memset(run, 0, sizeof(*run));
    run->team = team;
    run->act = act;
    fault_io_init(&run->io, disk);
    fault_alloc_init(&run->memory);
    scenario_options(&run->opts, &run->io.table, &run->memory.table);
    if (act->reads_only)
        run->opts.buffer_bytes = 128; /* many rounds */
    snprintf(run->path, sizeof(run->path), "%s", path);
}

/* Whether an open step (or none, if *status says why) has its particles. */
static int has_all_particles(const struct sweep_run *run, bouma_step *step,
                             int number, int *status)
{
    int count = 0, wrong = 0;

    if (*status)
        return 0;
    *status = sweep_particles_share(step, number, &count, &wrong);
    return run->team->sum(count) == SWEEP_PARTICLES && !wrong;
}

/* Steps 0 to 'count' - 1 must be there, as they were written. */
static void check_steps(struct sweep_run *run, int count, const char *when)
{
    bouma_options opts = run->opts;
    bouma_dataset *ds = NULL;
    int status;

    opts.local = NULL; /* the dataset itself, not a local copy */
    status = run->team->open(&ds, run->path, &opts);
    if (status)
        sweep_violation(run, "%s: cannot open: %s", when,
                        bouma_error_message(ds));
    for (int i = 0; i < count && !status; i++) {
        bouma_step *step = NULL;
        int generation, rc = bouma_step_open(&step, ds, i);

        if (!run->act->particles
                ? rc || scenario_read_together(step, i, &generation, &rc) !=
                            SCENARIO_EXACT
                : !has_all_particles(run, step, i, &rc))
            sweep_violation(run, "%s: step %d: %s", when, i,
                            rc ? bouma_error_message(ds) : "wrong values");
        bouma_step_free(step);
    }
    bouma_dataset_free(ds);
}

static int count_entry(void *context, const char *entry)
{
    (void)entry;
    ++*(int *)context;
    return 0;
}

/* A step that failed leaves no trace, unless the fault kept it from being
 * removed, or from being known that the directory was made. */
static void check_leftovers(struct sweep_run *run)
{
    const bouma_io *io = run->io.inner;
    int excused = run->io.sticky || run->io.kept ||
                  (run->io.fired && run->io.fault.effect == FAULT_AFTER);
    int lowest, highest;
    void *root;

    run->team->compare(excused, &lowest, &highest);
    /* The directory of a step that is yet to be drained may be there. */
    if (highest || run->act->persists || run->team->rank ||
        io->attach(io->user, &root, run->path, 0))
        return;
    for (int step = 0; step < STEPS; step++) {
        char name[32];
        int entries = 0;

        snprintf(name, sizeof(name), "steps/%08d", step);
        if (!io->list(io->user, root, name, count_entry, &entries) && !entries)
            sweep_violation(run, "an empty %s is left", name);
    }
    io->detach(io->user, root);
}

/* Whatever failed, no handle is left: the next one need not force its way. */
static void check_claim(struct sweep_run *run)
{
    bouma_options opts = run->opts;
    bouma_dataset *ds = NULL;
    int lowest, highest;

    /* Who drains has no handle by which a claim could be given back later. */
    run->team->compare(run->local_copy[0] && run->io.sticky, &lowest, &highest);
    opts.force = highest;
    if (run->team->append(&ds, run->path, &opts))
        sweep_violation(run, "in the end: cannot append: %s",
                        bouma_error_message(ds));
    else
        bouma_dataset_close(ds);
    bouma_dataset_free(ds);
}

int sweep_run_act(struct sweep_run *run)
{
    const struct sweep_act *act = run->act;
    int status = act->play(run);
    int reached = (run->io.at && run->io.calls >= run->io.at) ||
                  (run->memory.at && run->memory.calls >= run->memory.at);

    fault_io_disarm(&run->io);
    fault_alloc_disarm(&run->memory);
    check_leftovers(run);
    if (act->old_steps)
        check_steps(run, act->old_steps, "after the fault");
    run->calm = 1;
    if (status)
        act->play(run);
    bouma_dataset_free(run->ds);
    run->ds = NULL;
    if (!act->reads_only && !act->repairs)
        check_claim(run);
    check_steps(run, act->steps, "in the end");
    if (run->memory.live)
        sweep_violation(run, "%ld blocks of memory leaked", run->memory.live);
    if (run->io.open)
        sweep_violation(run, "%ld files left open", run->io.open);
    return reached;
}
