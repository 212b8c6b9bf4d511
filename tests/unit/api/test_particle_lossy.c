/* Particles within a tolerance: every value that is read is within it of the
 * one that was given, what is found is what a look at the values that are read
 * finds, and the errors that are told are those that were made. */
#include "particle_block.h"

static bouma_io *io;

/* Variables: position, id (exact), a and b with tolerances of their own. */
struct lossy {
    bouma_particles *particles;
    bouma_variable *position, *id, *a, *b;
    double tolerance[3];
};

static void define(struct lossy *l, bouma_dataset *ds,
                   const struct particle_block *s)
{
    bouma_particles_spec spec = {.size = sizeof(spec),
                                 .ndims = s->ndims,
                                 .type = s->type,
                                 .tolerance = l->tolerance[0],
                                 .leaf = 32};
    bouma_variable_spec id = {.size = sizeof(id), .type = BOUMA_TYPE_U64};
    bouma_variable_spec a = {.size = sizeof(a),
                             .type = BOUMA_TYPE_F64,
                             .tolerance = l->tolerance[1]};
    bouma_variable_spec b = {.size = sizeof(b),
                             .type = BOUMA_TYPE_F32,
                             .components = 3,
                             .codec = BOUMA_CODEC_QUANTISE,
                             .tolerance = l->tolerance[2]};

    CHECK_EQ(bouma_particles_define(&l->particles, ds, "p", &spec), BOUMA_OK);
    CHECK_EQ(bouma_particles_define_variable(&l->id, l->particles, "id", &id),
             BOUMA_OK);
    CHECK_EQ(bouma_particles_define_variable(&l->a, l->particles, "a", &a),
             BOUMA_OK);
    CHECK_EQ(bouma_particles_define_variable(&l->b, l->particles, "b", &b),
             BOUMA_OK);
    l->position = bouma_particles_position(l->particles);
}

static int put(const struct lossy *l, const struct particle_block *s)
{
    const void *parts[3] = {s->velocity, s->velocity + s->count,
                            s->velocity + 2 * s->count};
    const struct test_column columns[] = {
        {.variable = l->position,
         .data = s->type == BOUMA_TYPE_F32 ? (const void *)s->position_f32
                                           : s->position},
        {.variable = l->id, .data = s->id},
        {.variable = l->a, .data = s->mass},
        {.variable = l->b, .parts = parts}};

    return test_put_particles(l->particles, s->count, columns, 4, NULL);
}

/* How far a value is off; -1 if it is one that must be kept, and is not. */
static double off(double got, double right)
{
    if (isnan(right))
        return isnan(got) ? 0 : -1;
    if (!isfinite(right))
        return got == right || (got > 0) == (right > 0) ? 0 : -1;
    return fabs(got - right);
}

static void widen(double *most, double error)
{
    CHECK(error >= 0);
    *most = error > *most ? error : *most;
}

/* All values against those that were given; and what is told of them. */
static void check_errors(const struct lossy *l, const struct particle_block *s,
                         const bouma_particle_data *all)
{
    const uint64_t *id = all->columns[1];
    bouma_variable *variables[3] = {l->position, l->a, l->b};
    double most[3] = {0, 0, 0};
    uint8_t *seen = calloc((size_t)s->count, 1);

    CHECK_EQ(all->count, s->count);
    for (uint64_t i = 0; i < all->count; i++) {
        uint64_t k = id[i];

        REQUIRE(k < s->count && !seen[k]);
        seen[k] = 1;
        for (int d = 0; d < s->ndims; d++)
            widen(&most[0],
                  off(particle_block_position_of(all, s->type, d, i),
                      s->position[k * (uint64_t)s->ndims + (uint64_t)d]));
        widen(&most[1], off(((double *)all->columns[2])[i], s->mass[k]));
        for (uint64_t c = 0; c < 3; c++)
            widen(&most[2],
                  off((double)((float *)all->columns[3])[c * all->count + i],
                      (double)s->velocity[c * s->count + k]));
    }
    free(seen);
    for (int i = 0; i < 3; i++) {
        bouma_variable_info info = {.size = sizeof(info)};
        bouma_range range;

        bouma_variable_info_get(&info, variables[i]);
        CHECK(most[i] <= l->tolerance[i]);
        CHECK_EQ(info.codec, BOUMA_CODEC_QUANTISE);
        CHECK(info.tolerance == l->tolerance[i]);
        CHECK(info.bound == l->tolerance[i]);
        CHECK(fabs(info.largest_error - most[i]) <= 1e-12 * most[i]);
        CHECK_EQ(bouma_variable_range(&range, variables[i], 0), BOUMA_OK);
    }
}

/* Ranges and boxes, by the values as they are read. */
static void check_queries(const struct lossy *l, const struct particle_block *s,
                          const bouma_particle_data *all)
{
    const double *a = all->columns[2];
    uint64_t state = 9;

    for (int trial = 0; trial < 40; trial++) {
        bouma_particle_data *d = NULL;
        bouma_particles_query q;
        bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
        bouma_condition c;
        uint64_t should = 0, sum = 0, found = 0;
        double ends[2];

        q = (bouma_particles_query){.size = sizeof(q)};
        q.box = trial % 3 != 0 ? &box : NULL;
        box.closed = trial % 2;
        for (int k = 0; k < 2; k++)
            do
                ends[k] = a[check_random(&state) % all->count];
            while (isnan(ends[k]));
        for (int axis = 0; axis < s->ndims; axis++) {
            double x = particle_block_position_of(
                all, s->type, axis, check_random(&state) % all->count);
            double y = particle_block_position_of(
                all, s->type, axis, check_random(&state) % all->count);

            box.low[axis] = isnan(x) || isnan(y) ? -INFINITY : fmin(x, y);
            box.high[axis] = isnan(x) || isnan(y) ? INFINITY : fmax(x, y);
        }
        c = condition_of(l->a, 0, fmin(ends[0], ends[1]),
                         fmax(ends[0], ends[1]));
        q.conditions = trial % 4 != 1 ? &c : NULL;
        q.condition_count = trial % 4 != 1;
        for (uint64_t i = 0; i < all->count; i++) {
            int in =
                !q.condition_count || (a[i] >= c.low.f && a[i] <= c.high.f);

            for (int axis = 0; axis < s->ndims && q.box; axis++) {
                double x = particle_block_position_of(all, s->type, axis, i);

                in &= isfinite(x) && x >= box.low[axis] &&
                      (box.closed >> axis & 1 ? x <= box.high[axis]
                                              : x < box.high[axis]);
            }
            should += (uint64_t)in;
            sum += in ? ((uint64_t *)all->columns[1])[i] : 0;
        }
        CHECK_EQ(bouma_particles_read(&d, l->particles, &q), BOUMA_OK);
        if (!d)
            continue;
        CHECK_EQ(d->count, should);
        for (uint64_t i = 0; i < d->count; i++)
            found += ((uint64_t *)d->columns[1])[i];
        CHECK_EQ(found, sum);
        bouma_particle_data_free(d);
    }
}

static void run(enum shape shape, int ndims, bouma_type type,
                const double *tolerance)
{
    struct lossy l = {.tolerance = {tolerance[0], tolerance[1], tolerance[2]}};
    int before = check_counts()->failed;
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_particle_data *all = NULL;
    bouma_options o = {.size = sizeof(o)};
    bouma_dataset *ds;
    bouma_step *step = NULL;
    char message[400];
    struct particle_block s;

    io = bouma_io_memory_new();
    o.io = io;
    o.durability = BOUMA_DURABILITY_FAST;
    o.files = 3;
    particle_block_make(&s, shape, 9000, ndims, type, 0);
    CHECK_EQ(bouma_dataset_create(&ds, "lossy", &o), BOUMA_OK);
    define(&l, ds, &s);
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(put(&l, &s), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_dataset_open(&ds, "lossy", &o), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    if (!step)
        printf("%s\n", bouma_error_message(ds));
    l.particles = bouma_step_find_particles(step, "p");
    l.position = bouma_particles_position(l.particles);
    l.id = bouma_particles_find_variable(l.particles, "id");
    l.a = bouma_particles_find_variable(l.particles, "a");
    l.b = bouma_particles_find_variable(l.particles, "b");
    bouma_particles_read(&all, l.particles, NULL);
    CHECK(all != NULL);
    if (all) {
        check_errors(&l, &s, all);
        check_queries(&l, &s, all);
    }
    bouma_particle_data_free(all);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_verify(&report, "lossy", BOUMA_DEPTH_DEEP, &o, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages + report.notes, 0);
    particle_block_free(&s);
    bouma_io_memory_free(io);
    if (check_counts()->failed != before)
        printf("  shape %d, %d-D, %s, tolerances %g %g %g\n", (int)shape, ndims,
               bouma_type_name(type), tolerance[0], tolerance[1], tolerance[2]);
}

int main(void)
{
    static const double tolerances[][3] = {
        {1e-3, 1e-2, 1e-4}, {0.3, 1e-300, 1e30}, {1e-12, 5, 1e-9}};

    for (int shape = 0; shape < SHAPES; shape++)
        for (int t = 0; t < 3; t++)
            run((enum shape)shape, 1 + (shape + t) % 3,
                t % 2 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64, tolerances[t]);
    return check_result();
}
