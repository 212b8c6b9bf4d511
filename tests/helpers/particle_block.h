/* particle_block.h -- particles for tests, of many shapes; each knows its
 * number, so what comes back can be compared with what was given. */
#ifndef PARTICLE_BLOCK_H
#define PARTICLE_BLOCK_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bouma.h"
#include "check.h"
#include "columns.h"
#include "condition.h"

enum shape {
    UNIFORM,
    CLUSTERED,
    LATTICE, /* whole numbers: many are equal */
    ONE_POINT,
    FLAT,
    HUGE_RANGE,
    WITH_STRAYS,
    SHAPES
};

struct particle_block {
    int ndims;
    bouma_type type; /* of positions */
    uint64_t count;
    double *position; /* [count][ndims], as they come back */
    uint64_t *id;
    double *mass;
    int32_t *kind;
    float *velocity; /* [3][count] */
    uint8_t *small;
    int64_t *large; /* apart by less than a double can tell */
    float *position_f32;
};

static inline double particle_block_unit(uint64_t *state)
{
    return (double)(check_random(state) >> 11) * 0x1p-53;
}

static inline double particle_block_coordinate(enum shape shape, int axis,
                                               uint64_t i, uint64_t *state)
{
    double u = particle_block_unit(state);

    switch (shape) {
    case CLUSTERED:
        return i % 10 ? 0.3 + 0.1 * axis +
                            0.002 * (u + particle_block_unit(state) - 1)
                      : u;
    case LATTICE:
        return floor(8 * u);
    case ONE_POINT:
        return 0.25;
    case FLAT:
        return axis == 1 ? -3 : u;
    case HUGE_RANGE:
        return (u - 0.5) * (axis ? 1e-30 : 1e30);
    case WITH_STRAYS:
        return i % 50 == 7    ? (double)NAN
               : i % 50 == 13 ? (axis ? u : (double)INFINITY)
                              : u;
    default:
        return u * (axis + 1);
    }
}

static inline void particle_block_make(struct particle_block *s,
                                       enum shape shape, uint64_t count,
                                       int ndims, bouma_type type,
                                       uint64_t first_id)
{
    uint64_t state = first_id * 977 + (uint64_t)shape * 31 + count;
    size_t n = (size_t)count + 1;

    memset(s, 0, sizeof(*s));
    s->ndims = ndims;
    s->type = type;
    s->count = count;
    s->position = calloc(n * (size_t)ndims, sizeof(double));
    s->position_f32 = calloc(n * (size_t)ndims, sizeof(float));
    s->id = calloc(n, sizeof(*s->id));
    s->mass = calloc(n, sizeof(*s->mass));
    s->kind = calloc(n, sizeof(*s->kind));
    s->velocity = calloc(3 * n, sizeof(*s->velocity));
    s->small = calloc(n, sizeof(*s->small));
    s->large = calloc(n, sizeof(*s->large));
    for (uint64_t i = 0; i < count; i++) {
        double sum = 0;

        for (int d = 0; d < ndims; d++) {
            double x = particle_block_coordinate(shape, d, i, &state);

            s->position_f32[i * (uint64_t)ndims + (uint64_t)d] = (float)x;
            if (type == BOUMA_TYPE_F32)
                x = (double)(float)x;
            s->position[i * (uint64_t)ndims + (uint64_t)d] = x;
            sum += isfinite(x) ? x : 0;
        }
        s->id[i] = first_id + i;
        s->mass[i] = i % 131 == 3   ? (double)NAN
                     : i % 257 == 9 ? (double)INFINITY
                                    : sum + 0.1 * particle_block_unit(&state);
        s->kind[i] = (int32_t)(check_random(&state) % 17) - 8;
        for (int c = 0; c < 3; c++)
            s->velocity[(uint64_t)c * count + i] =
                (float)(sum * (c + 1) + particle_block_unit(&state));
        s->small[i] = (uint8_t)check_random(&state);
        s->large[i] =
            (int64_t)(((uint64_t)1 << 60) + (check_random(&state) % 1000));
    }
}

static inline void particle_block_free(struct particle_block *s)
{
    free(s->position);
    free(s->position_f32);
    free(s->id);
    free(s->mass);
    free(s->kind);
    free(s->velocity);
    free(s->small);
    free(s->large);
}

enum {
    POSITION,
    ID,
    MASS,
    KIND,
    VELOCITY,
    SMALL,
    LARGE,
    PARTICLE_BLOCK_VARIABLES
};

struct particle_block_set {
    bouma_particles *particles;
    bouma_variable *variables[PARTICLE_BLOCK_VARIABLES];
};

static inline int particle_block_define(struct particle_block_set *set,
                                        bouma_dataset *ds, const char *name,
                                        int ndims, bouma_type type,
                                        bouma_codec codec, int leaf)
{
    static const struct {
        const char *name;
        bouma_type type;
        int components;
    } list[PARTICLE_BLOCK_VARIABLES] = {
        {"position", BOUMA_TYPE_F64, 0}, {"id", BOUMA_TYPE_U64, 1},
        {"mass", BOUMA_TYPE_F64, 1},     {"kind", BOUMA_TYPE_I32, 1},
        {"velocity", BOUMA_TYPE_F32, 3}, {"small", BOUMA_TYPE_U8, 1},
        {"large", BOUMA_TYPE_I64, 1}};
    bouma_particles_spec spec = {.size = sizeof(spec),
                                 .ndims = ndims,
                                 .type = type,
                                 .codec = codec,
                                 .leaf = leaf};
    int rc = bouma_particles_define(&set->particles, ds, name, &spec);

    for (int i = 1; i < PARTICLE_BLOCK_VARIABLES && !rc; i++) {
        bouma_variable_spec v = {.size = sizeof(v),
                                 .type = list[i].type,
                                 .components = list[i].components,
                                 .codec = codec};

        rc = bouma_particles_define_variable(&set->variables[i], set->particles,
                                             list[i].name, &v);
    }
    if (!rc)
        set->variables[0] = bouma_particles_position(set->particles);
    return rc;
}

static inline int particle_block_put(const struct particle_block_set *set,
                                     const struct particle_block *s)
{
    const void *velocity[3] = {s->velocity, s->velocity + s->count,
                               s->velocity + 2 * s->count};
    const struct test_column columns[PARTICLE_BLOCK_VARIABLES] = {
        {.variable = set->variables[POSITION],
         .data = s->type == BOUMA_TYPE_F32 ? (const void *)s->position_f32
                                           : s->position},
        {.variable = set->variables[ID], .data = s->id},
        {.variable = set->variables[MASS], .data = s->mass},
        {.variable = set->variables[KIND], .data = s->kind},
        {.variable = set->variables[VELOCITY], .parts = velocity},
        {.variable = set->variables[SMALL], .data = s->small},
        {.variable = set->variables[LARGE], .data = s->large}};

    return test_put_particles(set->particles, s->count, columns,
                              PARTICLE_BLOCK_VARIABLES, NULL);
}

/* Find the variables of a set that is read. */
static inline void particle_block_find(struct particle_block_set *set,
                                       bouma_step *step, const char *name)
{
    static const char *const names[PARTICLE_BLOCK_VARIABLES] = {
        "position", "id", "mass", "kind", "velocity", "small", "large"};

    set->particles = bouma_step_find_particles(step, name);
    for (int i = 0; i < PARTICLE_BLOCK_VARIABLES; i++)
        set->variables[i] =
            bouma_particles_find_variable(set->particles, names[i]);
}

static inline double particle_block_position_of(const bouma_particle_data *d,
                                                bouma_type type, int axis,
                                                uint64_t i)
{
    uint64_t at = (uint64_t)axis * d->count + i;

    return type == BOUMA_TYPE_F32 ? (double)((const float *)d->columns[0])[at]
                                  : ((const double *)d->columns[0])[at];
}

/* Whether particle i of what was read (all variables) is bit for bit particle
 * k of the block of particles. */
static inline int particle_block_same(const struct particle_block *s,
                                      uint64_t k, const bouma_particle_data *d,
                                      uint64_t i)
{
    for (int a = 0; a < s->ndims; a++) {
        double x = particle_block_position_of(d, s->type, a, i);
        double y = s->position[k * (uint64_t)s->ndims + (uint64_t)a];

        if (memcmp(&x, &y, 8) && !(isnan(x) && isnan(y)))
            return 0;
    }
    if (memcmp((const double *)d->columns[MASS] + i, &s->mass[k], 8) ||
        ((const int32_t *)d->columns[KIND])[i] != s->kind[k] ||
        ((const uint8_t *)d->columns[SMALL])[i] != s->small[k] ||
        (d->variable_count > LARGE && /* a step may be without it */
         ((const int64_t *)d->columns[LARGE])[i] != s->large[k]))
        return 0;
    for (int c = 0; c < 3; c++)
        if (((const float *)d->columns[VELOCITY])[(uint64_t)c * d->count + i] !=
            s->velocity[(uint64_t)c * s->count + k])
            return 0;
    return 1;
}

#endif
