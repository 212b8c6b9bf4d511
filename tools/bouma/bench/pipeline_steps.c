/* pipeline_steps.c -- whole steps of the library: grids or particles are
 * written as a program writes them, and read back as after a restart, each rank
 * what was its own. All repetitions are steps of one dataset. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_run.h"

struct steps {
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_particles *set;
    int64_t step;
    int count;                  /* of variables */
    bouma_variable **variables; /* [count] of the definitions */
    void **data;                /* [count] */
    bouma_array *arrays;        /* [count] */
    size_t *bytes;              /* [count] */
    uint64_t particles;
    float *position;
    bouma_step *opened; /* that was read last, */
    void **back;        /* grids: [count] samples of it, */
    bouma_particle_data *restarted;
};

static const struct load_request *load_of(const struct bench_job *job)
{
    return &job->request->load;
}

static int fail(const struct steps *s, const struct bench_job *job, int status)
{
    return status ? context_fail_status(job->ctx, status,
                                        bouma_error_message(s->ds))
                  : DONE;
}

static size_t samples_of(const struct step_request *step)
{
    return (size_t)(step->block[0] * step->block[1] * step->block[2]);
}

static size_t type_bytes(bouma_type type)
{
    return type == BOUMA_TYPE_F64 ? 8 : type == BOUMA_TYPE_F32 ? 4 : 2;
}

static uint64_t bytes_of(const struct bench_job *job)
{
    const struct load_request *load = load_of(job);
    int64_t rank = session_rank(job->ctx->session);
    uint64_t bytes = 0;

    if (!step_has_particles(load))
        return (uint64_t)load->variables * samples_of(&job->request->step) *
               type_bytes(job->request->step.type);
    for (int i = 0; i < load->variables; i++)
        bytes += load_bytes(load, rank, i);
    return bytes;
}

/* ---- data ---------------------------------------------------------------- */

static void *reserve(const struct bench_job *job, uint64_t bytes, int *rc)
{
    void *data = *rc ? NULL : malloc(bytes ? bytes : 1);

    if (!*rc && !data)
        *rc =
            context_fail(job->ctx, DATA_AT_FAULT,
                         "no memory for the %" PRIu64 " bytes that rank %d has",
                         bytes_of(job), session_rank(job->ctx->session));
    return data;
}

/* Arrays of values that are there. */
static int make_samples(struct steps *s, const struct bench_job *job, int i)
{
    const struct step_request *step = &job->request->step;
    int64_t rank = session_rank(job->ctx->session);
    int rc = DONE;

    s->bytes[i] = samples_of(step) * type_bytes(step->type);
    s->data[i] = reserve(job, s->bytes[i], &rc);
    if (job->request->read)
        s->back[i] = reserve(job, s->bytes[i], &rc);
    if (rc)
        return rc;
    step_fill_samples(s->data[i], step, load_of(job), rank, i);
    s->arrays[i] = BOUMA_ARRAY(step->type, s->data[i], s->bytes[i]);
    return DONE;
}

static int make_column(struct steps *s, const struct bench_job *job, int i)
{
    const struct load_request *load = load_of(job);
    bouma_type type = step_type(load, i);
    int rc = DONE;

    s->bytes[i] = s->particles * type_bytes(type);
    s->data[i] = reserve(job, s->bytes[i], &rc);
    if (rc)
        return rc;
    step_fill_variable(s->data[i], load, i, s->position, s->particles);
    s->arrays[i] = BOUMA_ARRAY(type, s->data[i], s->bytes[i]);
    return DONE;
}

static int make_data(struct steps *s, const struct bench_job *job)
{
    const struct load_request *load = load_of(job);
    int64_t rank = session_rank(job->ctx->session);
    bool particles = step_has_particles(load);
    size_t n = (size_t)step_variables(load) + 1; /* none are an array, too */
    int rc = DONE;

    s->count = step_variables(load);
    s->variables = calloc(n, sizeof(*s->variables));
    s->data = calloc(n, sizeof(*s->data));
    s->back = calloc(n, sizeof(*s->back));
    s->arrays = calloc(n, sizeof(*s->arrays));
    s->bytes = calloc(n, sizeof(*s->bytes));
    if (!s->variables || !s->data || !s->back || !s->arrays || !s->bytes)
        return context_fail_memory(job->ctx);
    if (particles) {
        s->particles = step_particles(load, rank);
        s->position = reserve(job, s->particles * 3 * sizeof(float), &rc);
        if (!rc)
            step_fill_positions(s->position, load, rank, s->particles);
    }
    for (int i = 0; i < s->count && !rc; i++)
        rc = particles ? make_column(s, job, i) : make_samples(s, job, i);
    return rc;
}

/* ---- definitions --------------------------------------------------------- */

static void name_of(char name[16], int i)
{
    snprintf(name, 16, "v%02d", i);
}

static int define_grid(struct steps *s, const struct bench_job *job)
{
    const struct step_request *step = &job->request->step;
    bouma_variable_spec variable = step->variable;
    bouma_grid_spec grid = step->grid;
    int status;

    grid.size = sizeof(grid);
    grid.ndims = 3;
    step_shape(step, load_of(job), grid.shape);
    variable.size = sizeof(variable);
    variable.type = step->type;
    status = bouma_grid_define(&s->grid, s->ds, "grid", &grid);
    for (int i = 0; i < s->count && !status; i++) {
        char name[16];

        name_of(name, i);
        status =
            bouma_variable_define(&s->variables[i], s->grid, name, &variable);
    }
    return status;
}

static int define_particles(struct steps *s, const struct bench_job *job)
{
    const bouma_variable_spec *asked = &job->request->step.variable;
    bouma_particles_spec set = {.size = sizeof(set),
                                .ndims = 3,
                                .codec = asked->codec,
                                .codec_level = asked->codec_level,
                                .tolerance = asked->tolerance};
    int status = bouma_particles_define(&s->set, s->ds, "particles", &set);

    for (int i = 0; i < s->count && !status; i++) {
        bouma_variable_spec variable = *asked;
        char name[16];

        variable.size = sizeof(variable);
        variable.type = step_type(load_of(job), i);
        if (variable.type == BOUMA_TYPE_U16 && variable.tolerance > 0)
            variable.tolerance = variable.codec = 0;
        name_of(name, i);
        status = bouma_particles_define_variable(&s->variables[i], s->set, name,
                                                 &variable);
    }
    return status;
}

static int open_steps(void **state, const struct pipeline *pipeline,
                      const struct bench_job *job)
{
    struct steps *s = calloc(1, sizeof(*s));
    bouma_options options = job->request->options;
    char path[4096 + 64];
    int rc = s ? make_data(s, job) : context_fail_memory(job->ctx), status;

    *state = s;
    rc = context_agree(job->ctx, rc);
    if (rc)
        return rc;
    snprintf(path, sizeof(path), "%s/%s/run.bouma", job->root, pipeline->name);
    options.files = (int)job->files;
    status = session_create(job->ctx->session, &s->ds, path, &options);
    if (!status)
        status = step_has_particles(load_of(job)) ? define_particles(s, job)
                                                  : define_grid(s, job);
    return fail(s, job, status);
}

/* ---- writing ------------------------------------------------------------- */

/* What fails in a put fails the end of the step. */
static void put_grid(struct steps *s, const struct bench_job *job)
{
    bouma_box box = step_box(&job->request->step, load_of(job),
                             session_rank(job->ctx->session));

    for (int i = 0; i < s->count; i++)
        bouma_variable_put_borrow(s->variables[i], &box, &s->arrays[i]);
}

static void put_particles(struct steps *s, bouma_column *columns)
{
    bouma_array position = BOUMA_ARRAY(BOUMA_TYPE_F32, s->position,
                                       s->particles * 3 * sizeof(float));

    columns[0] = (bouma_column){sizeof(*columns),
                                bouma_particles_position(s->set), &position};
    for (int i = 0; i < s->count; i++)
        columns[i + 1] =
            (bouma_column){sizeof(*columns), s->variables[i], &s->arrays[i]};
    bouma_particles_put_borrow(s->set, s->particles, columns,
                               (size_t)s->count + 1, NULL);
}

static int write_step(void *state, const struct bench_job *job,
                      uint8_t *const *data)
{
    struct steps *s = state;
    bouma_column columns[64];
    int status;

    (void)data;
    s->step++;
    status = bouma_step_begin(s->ds, s->step, (double)s->step);
    if (s->set)
        put_particles(s, columns);
    else
        put_grid(s, job);
    if (!status)
        status = bouma_step_end(s->ds);
    return fail(s, job, status);
}

static int record(void *state, const struct bench_job *job, bouma_record *out)
{
    struct steps *s = state;
    int status = bouma_dataset_wait(s->ds);

    if (!status)
        status = bouma_dataset_record_get(out, s->ds);
    return fail(s, job, status);
}

static int drain(void *state, const struct bench_job *job)
{
    struct steps *s = state;

    return fail(s, job, bouma_dataset_drain(s->ds));
}

static void forget(struct steps *s)
{
    bouma_particle_data_free(s->restarted);
    bouma_step_free(s->opened);
    s->restarted = NULL;
    s->opened = NULL;
}

static int remove_step(void *state, const struct bench_job *job)
{
    struct steps *s = state;

    forget(s);
    return fail(s, job, bouma_step_delete(s->ds, s->step));
}

/* ---- reading ------------------------------------------------------------- */

static int read_grid(struct steps *s, const struct bench_job *job)
{
    bouma_box box = step_box(&job->request->step, load_of(job),
                             session_rank(job->ctx->session));
    size_t n = (size_t)s->count;
    bouma_array *arrays = calloc(n, sizeof(*arrays));
    bouma_request *requests = calloc(n, sizeof(*requests));
    int rc = arrays && requests ? DONE : context_fail_memory(job->ctx);

    rc = context_agree(job->ctx, rc);
    for (int i = 0; i < s->count && !rc; i++) {
        arrays[i] =
            BOUMA_ARRAY(job->request->step.type, s->back[i], s->bytes[i]);
        requests[i] = (bouma_request){
            .size = sizeof(requests[i]),
            .variable = bouma_grid_variable(bouma_step_grid(s->opened, 0), i),
            .box = box,
            .array = &arrays[i]};
    }
    if (!rc)
        rc = fail(s, job, bouma_step_read(s->opened, requests, n));
    free(arrays);
    free(requests);
    return rc;
}

static int read_particles(struct steps *s, const struct bench_job *job)
{
    bouma_bounds bounds =
        step_bounds(load_of(job), session_rank(job->ctx->session));
    bouma_particles_query query = {.size = sizeof(query),
                                   .box = &bounds,
                                   .order = BOUMA_COMPONENT_ORDER_INTERLEAVED};

    return fail(s, job,
                bouma_particles_restart(
                    &s->restarted, bouma_step_particles(s->opened, 0), &query));
}

static int read_step(void *state, const struct bench_job *job,
                     uint8_t *const *data)
{
    struct steps *s = state;
    int status;

    (void)data;
    forget(s);
    status = bouma_step_open(&s->opened, s->ds, s->step);
    if (status)
        return fail(s, job, status);
    return s->set ? read_particles(s, job) : read_grid(s, job);
}

/* ---- verifying ----------------------------------------------------------- */

static int verify_grid(const struct steps *s, const struct bench_job *job)
{
    const struct step_request *step = &job->request->step;
    int64_t rank = session_rank(job->ctx->session);
    size_t n = samples_of(step);

    for (int i = 0; i < s->count; i++) {
        size_t wrong = step_check_samples(s->back[i], step, load_of(job), rank,
                                          i, step->variable.tolerance);

        if (wrong < n)
            return context_fail(job->ctx, DATA_AT_FAULT,
                                "sample %zu of %zu that rank %" PRId64
                                " has of variable %d is not what was written",
                                wrong, n, rank, i);
    }
    return DONE;
}

/* The variable that a column is of, or -1: the position. */
static int variable_of(const bouma_particle_data *data, size_t column)
{
    bouma_variable_info info = {.size = sizeof(info)};

    bouma_variable_info_get(&info, data->variables[column]);
    return strcmp(info.name, "position") ? atoi(info.name + 1) : -1;
}

static int verify_columns(const bouma_particle_data *back,
                          const struct bench_job *job)
{
    const float *position = NULL;

    for (size_t c = 0; c < back->variable_count; c++)
        if (variable_of(back, c) < 0)
            position = back->columns[c];
    for (size_t c = 0; c < back->variable_count; c++) {
        int i = variable_of(back, c);

        if (i >= 0 && step_check_variable(back->columns[c], load_of(job), i,
                                          position, back->count) < back->count)
            return context_fail(job->ctx, DATA_AT_FAULT,
                                "variable %d of a particle of rank %d is not "
                                "what was written",
                                i, session_rank(job->ctx->session));
    }
    return DONE;
}

static int verify(void *state, const struct bench_job *job)
{
    struct steps *s = state;
    struct session *session = job->ctx->session;
    uint64_t written, back;

    if (!s->set)
        return verify_grid(s, job);
    written = session_sum(session, s->particles);
    back = session_sum(session, s->restarted->count);
    if (written != back)
        return context_fail(job->ctx, DATA_AT_FAULT,
                            "%" PRIu64 " particles were read, and %" PRIu64
                            " written",
                            back, written);
    return verify_columns(s->restarted, job);
}

/* ---- the end ------------------------------------------------------------- */

static void close_steps(void *state, const struct bench_job *job)
{
    struct steps *s = state;

    (void)job;
    if (!s)
        return;
    forget(s);
    if (s->ds)
        bouma_dataset_close(s->ds);
    bouma_dataset_free(s->ds);
    for (int i = 0; i < s->count; i++) {
        if (s->data)
            free(s->data[i]);
        if (s->back)
            free(s->back[i]);
    }
    free(s->position);
    free(s->variables);
    free(s->data);
    free(s->back);
    free(s->arrays);
    free(s->bytes);
    free(s);
}

static const struct pipeline_own own = {.bytes = bytes_of,
                                        .record = record,
                                        .drain = drain,
                                        .verify = verify,
                                        .remove = remove_step};

const struct pipeline pipeline_steps = {.name = "steps",
                                        .help = "whole steps of the library",
                                        .open = open_steps,
                                        .write = write_step,
                                        .read = read_step,
                                        .close = close_steps,
                                        .own = &own};
