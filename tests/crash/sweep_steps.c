/* sweep_steps.c -- acts about single steps: see sweep_play.h. */
#include <string.h>

#include "sweep_play.h"

/* ---- steps that go ------------------------------------------------------- */

void sweep_prepare_three(struct sweep_run *run)
{
    sweep_prepare_dataset(run);
    run->calm = 1;
    if (!sweep_open_dataset(run, "append", run->team->append) &&
        !sweep_write_step(run, 2))
        sweep_close_dataset(run);
    bouma_dataset_free(run->ds);
    run->ds = NULL;
    run->is_open = run->is_closed = run->calm = 0;
}

static int drop_last(struct sweep_run *run, const char *call,
                     int (*drop)(bouma_dataset *ds, int64_t step), int64_t step)
{
    int status = sweep_open_dataset(run, "append", run->team->append);

    if (status)
        return status;
    status = drop(run->ds, step);
    /* The fault hit when it was gone. */
    if (run->calm && status == BOUMA_ENOTFOUND)
        status = BOUMA_OK;
    status = sweep_together(run, call, status);
    if (!status && bouma_dataset_step_count(run->ds) != 2)
        sweep_violation(run, "%s: steps are left", call);
    return status ? status : sweep_close_dataset(run);
}

int sweep_play_delete(struct sweep_run *run)
{
    return drop_last(run, "deleting a step", bouma_step_delete, 2);
}

int sweep_play_truncate(struct sweep_run *run)
{
    return drop_last(run, "dropping steps", bouma_dataset_truncate, 1);
}

/* ---- definitions of a step ----------------------------------------------- */

static int find_definitions(struct sweep_run *run)
{
    struct scenario_writer *w = &run->writer;
    int rc = bouma_dataset_find_grid(&w->grid, run->ds, "air");

    if (rc)
        return rc;
    w->temperature = bouma_grid_find_variable(w->grid, "temperature");
    w->flow = bouma_grid_find_variable(w->grid, "flow");
    return w->temperature && w->flow ? BOUMA_OK : BOUMA_ENOTFOUND;
}

int sweep_play_like(struct sweep_run *run)
{
    int status = sweep_open_dataset(run, "append", run->team->append);

    if (status)
        return status;
    if (!run->writer.flow)
        status = sweep_together(run, "defining like a step",
                                bouma_define_like(run->ds, -1));
    if (!status && !run->writer.flow)
        status = sweep_apart(run, "finding definitions", find_definitions(run));
    if (!status)
        status = sweep_write_step(run, 2);
    return status ? status : sweep_close_dataset(run);
}

/* ---- patches -------------------------------------------------------------- */

static int count_samples(void *user, const bouma_patch_info *patch, int level,
                         const bouma_selection *selection, const void *samples)
{
    (void)patch;
    (void)level;
    (void)samples;
    *(int64_t *)user += selection->shape[0] * selection->shape[1];
    return 0;
}

static int copy_rows(void *user, const bouma_copy *c)
{
    (void)user;
    for (size_t i = 0; i < c->count[0]; i++)
        for (size_t j = 0; j < c->count[1]; j++) {
            int64_t row = (int64_t)i, at = (int64_t)j;

            memcpy((char *)c->to + row * c->to_stride[0] + at * c->to_stride[1],
                   (const char *)c->from + row * c->from_stride[0] +
                       at * c->from_stride[1],
                   c->run);
        }
    return 0;
}

/* Alone: patch by patch. */
static int ask_patches(struct sweep_run *run, bouma_variable *v)
{
    int64_t samples = 0;
    bouma_patch_query q = {
        .size = sizeof(q), .each = count_samples, .user = &samples};
    int rc = bouma_variable_query(v, &q);

    if (!rc && samples != SCENARIO_SAMPLES)
        sweep_violation(run, "%d samples in all patches", (int)samples);
    return rc;
}

/* Together: one array is converted, one is on a device, one has parts. */
static int read_arrays(struct sweep_run *run, bouma_step *step,
                       bouma_variable *flow)
{
    int64_t wide[SCENARIO_SAMPLES * 2] = {0};
    int32_t far[SCENARIO_SAMPLES * 2] = {0}, parts[2][SCENARIO_SAMPLES] = {{0}};
    void *const list[2] = {parts[0], parts[1]};
    const bouma_array arrays[3] = {{.size = sizeof(arrays[0]),
                                    .type = BOUMA_TYPE_I64,
                                    .data = wide,
                                    .bytes = sizeof(wide)},
                                   {.size = sizeof(arrays[0]),
                                    .type = BOUMA_TYPE_I32,
                                    .data = far,
                                    .bytes = sizeof(far),
                                    .copy = copy_rows,
                                    .copy_bytes = 64},
                                   {.size = sizeof(arrays[0]),
                                    .type = BOUMA_TYPE_I32,
                                    .parts = list,
                                    .bytes = sizeof(parts[0])}};
    bouma_request requests[3];
    struct scenario_values expected;
    int rc;

    for (int i = 0; i < 3; i++)
        requests[i] =
            (bouma_request){.size = sizeof(requests[i]),
                            .variable = flow,
                            .box = {.hi = {SCENARIO_ROWS, SCENARIO_COLUMNS}},
                            .array = &arrays[i]};
    rc = bouma_step_read(step, requests, 3);
    scenario_fill(&expected, 1, 0);
    for (int i = 0; i < 2 * SCENARIO_SAMPLES && !rc; i++)
        if (wide[i] != expected.flow[i] || far[i] != expected.flow[i] ||
            parts[i % 2][i / 2] != expected.flow[i]) {
            sweep_violation(run, "wrong values in arrays");
            break;
        }
    return rc;
}

/* Open step 1 of the dataset, and read it. */
static int play_step(struct sweep_run *run,
                     int (*read)(struct sweep_run *run, bouma_step *step))
{
    bouma_step *step = NULL;
    int status = sweep_open_dataset(run, "open", run->team->open);

    if (status)
        return status;
    status = sweep_together(run, "opening a step",
                            bouma_step_open(&step, run->ds, 1));
    if (!status)
        status = read(run, step);
    bouma_step_free(step);
    return status;
}

static int read_patches(struct sweep_run *run, bouma_step *step)
{
    bouma_grid *grid = bouma_step_find_grid(step, "air");
    int status = sweep_apart(run, "asking for patches",
                             ask_patches(run, bouma_grid_variable(grid, 0)));
    int rc =
        sweep_together(run, "reading into arrays",
                       read_arrays(run, step, bouma_grid_variable(grid, 1)));

    return sweep_first_of(status, rc);
}

int sweep_play_patches(struct sweep_run *run)
{
    return play_step(run, read_patches);
}

/* ---- particles into arrays ------------------------------------------------ */

/* Positions as one array, in the type of the file; ids as doubles. */
struct room {
    double position[SWEEP_PARTICLES][2];
    double id[SWEEP_PARTICLES];
    bouma_array arrays[2];
    bouma_column columns[2];
};

static void room_init(struct room *r, bouma_particles *dust)
{
    memset(r, 0, sizeof(*r));
    r->arrays[0] =
        BOUMA_ARRAY(BOUMA_TYPE_F64, r->position, sizeof(r->position));
    r->arrays[1] = BOUMA_ARRAY(BOUMA_TYPE_F64, r->id, sizeof(r->id));
    r->columns[0] = (bouma_column){
        sizeof(*r->columns), bouma_particles_position(dust), &r->arrays[0]};
    r->columns[1] = (bouma_column){sizeof(*r->columns),
                                   bouma_particles_find_variable(dust, "id"),
                                   &r->arrays[1]};
}

/* The sum of all ids, each once. */
static double sum_of(const struct room *r, uint64_t count)
{
    double sum = 0;

    for (uint64_t i = 0; i < count; i++)
        sum += r->id[i];
    return sum;
}

static int read_alone(struct sweep_run *run, bouma_particles *dust)
{
    struct room r;
    uint64_t count = 0, some = 0;
    int rc;

    room_init(&r, dust);
    rc = bouma_particles_count(&count, dust, NULL);
    if (!rc)
        rc = bouma_particles_read_into(&some, dust, NULL, r.columns, 2,
                                       SWEEP_PARTICLES);
    if (!rc &&
        (count != SWEEP_PARTICLES || some != count ||
         sum_of(&r, some) != SWEEP_PARTICLES * (SWEEP_PARTICLES - 1) / 2))
        sweep_violation(run, "wrong particles in arrays");
    return rc;
}

static int restart(struct sweep_run *run, bouma_particles *dust)
{
    struct room r;
    uint64_t count = 0;
    int status, all, sum;

    room_init(&r, dust);
    status =
        sweep_together(run, "restart into arrays",
                       bouma_particles_restart_into(
                           &count, dust, NULL, r.columns, 2, SWEEP_PARTICLES));
    all = run->team->sum(status ? 0 : (int)count);
    sum = run->team->sum(status ? 0 : (int)sum_of(&r, count));
    if (!status && (all != SWEEP_PARTICLES ||
                    sum != SWEEP_PARTICLES * (SWEEP_PARTICLES - 1) / 2))
        sweep_violation(run, "wrong particles after a restart");
    return status;
}

static int read_particles(struct sweep_run *run, bouma_step *step)
{
    bouma_particles *dust = bouma_step_find_particles(step, "dust");
    int status = sweep_apart(run, "reading into arrays", read_alone(run, dust));
    int rc = restart(run, dust);

    return sweep_first_of(status, rc);
}

int sweep_play_into(struct sweep_run *run)
{
    return play_step(run, read_particles);
}
