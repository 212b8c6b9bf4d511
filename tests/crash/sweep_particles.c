/* sweep_particles.c -- see sweep_particles.h. */
#include "sweep_particles.h"

#include "columns.h"
#include "condition.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 0.01

static int is_stray(int k)
{
    return k % 20 == 11;
}

static double position_of(int64_t step, int k, int axis)
{
    if (is_stray(k))
        return axis ? (double)NAN : k;
    return axis ? (double)(k * 7 % 60) / 4 : (double)(k % 8) + (double)step;
}

static float mass_of(int64_t step, int k)
{
    return (float)(k * 13 % 60) + (float)step;
}

/* ---- writing ------------------------------------------------------------ */

/* What the handle does not have yet: a second call goes on where a failed one
 * stopped. */
static int define(bouma_dataset *ds, struct sweep_particles_writer *w)
{
    bouma_particles_spec dust = {
        .size = sizeof(dust), .ndims = 2, .type = BOUMA_TYPE_F64, .leaf = 4};
    bouma_variable_spec id = {
        .size = sizeof(id), .type = BOUMA_TYPE_U32, .codec = BOUMA_CODEC_RAW};
    bouma_variable_spec mass = {
        .size = sizeof(mass), .type = BOUMA_TYPE_F32, .tolerance = TOLERANCE};
    int rc = BOUMA_OK;

    if (!w->dust)
        rc = bouma_particles_define(&w->dust, ds, "dust", &dust);
    if (!rc && !w->id)
        rc = bouma_particles_define_variable(&w->id, w->dust, "id", &id);
    if (!rc && !w->mass)
        rc = bouma_particles_define_variable(&w->mass, w->dust, "mass", &mass);
    return rc;
}

int sweep_particles_write(bouma_dataset *ds, struct sweep_particles_writer *w,
                          int64_t step, int rank, int ranks)
{
    double position[SWEEP_PARTICLES][2];
    uint32_t id[SWEEP_PARTICLES];
    float mass[SWEEP_PARTICLES];
    int n = 0, local, rc;

    for (int k = rank; k < SWEEP_PARTICLES; k += ranks, n++) {
        position[n][0] = position_of(step, k, 0);
        position[n][1] = position_of(step, k, 1);
        id[n] = (uint32_t)k;
        mass[n] = mass_of(step, k);
    }
    local = define(ds, w);
    if (!local)
        local = bouma_step_begin(ds, step, (double)step);
    /* In two blocks. */
    for (int i = 0; i < 2 && !local; i++) {
        int from = i ? n / 3 : 0, to = i ? n : n / 3;
        struct test_column columns[3] = {
            {.variable = bouma_particles_position(w->dust),
             .data = position[from]},
            {.variable = w->id, .data = &id[from]},
            {.variable = w->mass, .data = &mass[from]}};

        local = test_put_particles(w->dust, (uint64_t)(to - from), columns, 3,
                                   NULL);
    }
    rc = local ? bouma_step_abort(ds) : bouma_step_end(ds);
    return rc ? rc : local;
}

/* ---- reading ------------------------------------------------------------ */

static int same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

int sweep_particles_wrong(const bouma_particle_data *d, int64_t step)
{
    const double *position = d->columns[0];
    const uint32_t *id = d->columns[1];
    const float *mass = d->columns[2];
    int seen[SWEEP_PARTICLES] = {0}, wrong = d->variable_count != 3;

    for (uint64_t i = 0; i < d->count && !wrong; i++) {
        int k = (int)id[i];

        wrong +=
            id[i] >= SWEEP_PARTICLES || seen[k]++ ||
            !same(position[i], position_of(step, k, 0)) ||
            !same(position[d->count + i], position_of(step, k, 1)) ||
            !(fabs((double)mass[i] - (double)mass_of(step, k)) <= TOLERANCE);
    }
    return wrong;
}

/* The finite particles of a box and a range of masses, by a look at each; the
 * range has its ends where rounding does no harm. */
static int count_of(int64_t step, const bouma_particles_query *q, double low,
                    double high)
{
    int n = 0;

    for (int k = 0; k < SWEEP_PARTICLES; k++) {
        double x = position_of(step, k, 0), y = position_of(step, k, 1);
        double mass = (double)mass_of(step, k);

        n += (!q->box || (x >= q->box->low[0] && x < q->box->high[0] &&
                          y >= q->box->low[1] && y < q->box->high[1])) &&
             mass > low && mass < high;
    }
    return n;
}

/* Some of them, then all others. */
static int refine(bouma_particles *dust, int64_t number, int *wrong)
{
    bouma_budget few = {.size = sizeof(few), .points = 5};
    bouma_particles_refinement *refinement = NULL;
    uint64_t count = 0;
    int rc = bouma_particles_refinement_open(&refinement, dust, NULL);

    for (int i = 0; i < 2 && !rc; i++) {
        bouma_particle_data *d;

        rc = bouma_particles_refinement_next(&d, NULL, refinement,
                                             i ? NULL : &few);
        *wrong += rc ? d != NULL : sweep_particles_wrong(d, number);
        count += rc ? 0 : d->count;
        *wrong += !rc && count != (i ? SWEEP_PARTICLES : 5);
        bouma_particle_data_free(d);
    }
    bouma_particles_refinement_free(refinement);
    return rc;
}

int sweep_particles_ask(bouma_step *step, int64_t number, int *wrong)
{
    bouma_particles *dust = bouma_step_find_particles(step, "dust");
    bouma_variable *mass = bouma_particles_find_variable(dust, "mass");
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_particle_data *d;
    bouma_condition c;
    int rc;

    q = (bouma_particles_query){.size = sizeof(q)};
    q.box = &box;
    box.low[0] = 2;
    box.high[0] = 7;
    box.low[1] = 1;
    box.high[1] = 12;
    c = condition_of(mass, 0, 9.5, 40.5);
    q.conditions = &c;
    q.condition_count = 1;
    q.where = "mass < 20 | !(mass < 20 & x < 100)"; /* which is so */
    rc = bouma_particles_read(&d, dust, &q);
    if (rc)
        return rc;
    *wrong += sweep_particles_wrong(d, number) ||
              d->count != (uint64_t)count_of(number, &q, 9.5, 40.5);
    bouma_particle_data_free(d);
    rc = bouma_particles_sample(&d, dust, NULL, 10, 1);
    if (rc)
        return rc;
    *wrong += sweep_particles_wrong(d, number) || d->count != 10;
    bouma_particle_data_free(d);
    return refine(dust, number, wrong);
}

static int take(bouma_particle_data *d, int rc, int64_t number, int *count,
                int *wrong)
{
    *count = 0;
    if (rc) {
        *wrong += d != NULL;
        return rc;
    }
    *wrong += sweep_particles_wrong(d, number);
    *count = (int)d->count;
    bouma_particle_data_free(d);
    return BOUMA_OK;
}

int sweep_particles_share(bouma_step *step, int64_t number, int *count,
                          int *wrong)
{
    bouma_particle_data *d;
    int rc = bouma_particles_restart(
        &d, bouma_step_find_particles(step, "dust"), NULL);

    return take(d, rc, number, count, wrong);
}

/* Slabs along axis 0. */
int sweep_particles_box(bouma_step *step, int64_t number, int rank, int ranks,
                        int *count, int *wrong)
{
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_particle_data *d;
    int rc;

    q = (bouma_particles_query){.size = sizeof(q)};
    q.box = &box;
    box.low[0] = (double)number + 7.0 * rank / ranks;
    box.high[0] = rank == ranks - 1 ? (double)number + 7
                                    : (double)number + 7.0 * (rank + 1) / ranks;
    box.high[1] = 100;
    rc = bouma_particles_restart(&d, bouma_step_find_particles(step, "dust"),
                                 &q);
    return take(d, rc, number, count, wrong);
}
