/* lifetimes.h -- a dataset, two steps, a refinement and particles in memory,
 * freed in each of the 120 orders: what is left can be used, and has messages. */
#ifndef LIFETIMES_H
#define LIFETIMES_H

#include "arrays.h"
#include "must.h"
#include "particle_block.h"

#define LIFETIMES_SIDE      24
#define LIFETIMES_PARTICLES 500

enum lifetimes_kind {
    LIFETIMES_DATASET,
    LIFETIMES_FIRST,  /* a step... */
    LIFETIMES_SECOND, /* ...and another */
    LIFETIMES_REFINEMENT,
    LIFETIMES_PARTICLES_READ,
    LIFETIMES_KINDS
};

/* How a dataset is opened; and on how many ranks, of which this is one. */
struct lifetimes_ranks {
    int (*create)(bouma_dataset **out, const char *path,
                  const bouma_options *options);
    int (*open)(bouma_dataset **out, const char *path,
                const bouma_options *options);
    int rank, count;
};

struct lifetimes {
    bouma_dataset *ds;
    bouma_step *steps[2];
    bouma_refinement *refinement; /* of the first step */
    bouma_particle_data *data;    /* of the second step */
    int quiet; /* ranks do not read together, which takes long on many */
    int freed[LIFETIMES_KINDS];
};

static inline float lifetimes_sample(int step, size_t i)
{
    return (float)((size_t)step * 10 + i % 97);
}

/* Steps 0 and 1, all of it from rank 0. */
static inline void lifetimes_write(const struct lifetimes_ranks *ranks,
                                   const char *path, const bouma_options *o)
{
    static float samples[2][LIFETIMES_SIDE * LIFETIMES_SIDE];
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {LIFETIMES_SIDE, LIFETIMES_SIDE}};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    struct particle_block_set set;
    struct particle_block block;
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;

    particle_block_make(&block, UNIFORM, LIFETIMES_PARTICLES, 3, BOUMA_TYPE_F32,
                        5);
    MUST(ds, ranks->create(&ds, path, o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&v, grid, "v", &spec));
    MUST(ds, particle_block_define(&set, ds, "dust", 3, BOUMA_TYPE_F32, 0, 0));
    for (int step = 0; step < 2; step++) {
        for (size_t i = 0; i < LIFETIMES_SIDE * LIFETIMES_SIDE; i++)
            samples[step][i] = lifetimes_sample(step, i);
        MUST(ds, bouma_step_begin(ds, step, step));
        if (ranks->rank == 0) {
            MUST(ds, test_put(v, NULL, samples[step]));
            MUST(ds, particle_block_put(&set, &block));
        }
        MUST(ds, bouma_step_end(ds));
    }
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    particle_block_free(&block);
}

static inline void lifetimes_begin(struct lifetimes *l,
                                   const struct lifetimes_ranks *ranks,
                                   const char *path, const bouma_options *o)
{
    memset(l, 0, sizeof(*l));
    MUST(l->ds, ranks->open(&l->ds, path, o));
    for (int i = 0; i < 2; i++)
        MUST(l->ds, bouma_step_open(&l->steps[i], l->ds, i));
    MUST(l->ds,
         bouma_refinement_open(&l->refinement,
                               bouma_grid_find_variable(
                                   bouma_step_find_grid(l->steps[0], "g"), "v"),
                               1, NULL));
    MUST(l->ds,
         bouma_particles_read(
             &l->data, bouma_step_find_particles(l->steps[1], "dust"), NULL));
}

static inline void lifetimes_free(struct lifetimes *l, enum lifetimes_kind kind)
{
    switch (kind) {
    case LIFETIMES_DATASET:
        bouma_dataset_free(l->ds);
        break;
    case LIFETIMES_FIRST:
    case LIFETIMES_SECOND:
        bouma_step_free(l->steps[kind - LIFETIMES_FIRST]);
        break;
    case LIFETIMES_REFINEMENT:
        bouma_refinement_free(l->refinement);
        break;
    default:
        bouma_particle_data_free(l->data);
        break;
    }
    l->freed[kind] = 1;
}

/* A step that was not freed: boxes and particles are read, failures told. */
static inline void lifetimes_use_step(struct lifetimes *l, int i,
                                      const struct lifetimes_ranks *ranks)
{
    static float got[LIFETIMES_SIDE * LIFETIMES_SIDE];
    bouma_step *step = l->steps[i];
    bouma_grid *grid = bouma_step_find_grid(step, "g");
    bouma_variable *v = bouma_grid_find_variable(grid, "v");
    bouma_array array = test_array(v, got);
    bouma_request request = {.size = sizeof(request),
                             .variable = v,
                             .box = {{0, 0}, {LIFETIMES_SIDE, LIFETIMES_SIDE}},
                             .array = &array};
    int together = !l->freed[LIFETIMES_DATASET] || ranks->count == 1;
    bouma_particle_data *d = NULL;

    memset(got, 0, sizeof(got));
    CHECK_EQ(test_read(v, 0, NULL, got), BOUMA_OK);
    CHECK(got[3] == lifetimes_sample(i, 3) &&
          got[500] == lifetimes_sample(i, 500));
    CHECK_EQ(test_read(v, 99, NULL, got), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_step_message(step), "no level 99");
    CHECK_TEXT(bouma_variable_message(v), "no level 99");
    CHECK(!bouma_step_find_grid(step, "none"));
    CHECK_TEXT(bouma_grid_message(grid), "no grid \"none\"");
    CHECK_EQ(
        bouma_particles_read(&d, bouma_step_find_particles(step, "dust"), NULL),
        BOUMA_OK);
    CHECK(d && d->count == LIFETIMES_PARTICLES);
    bouma_particle_data_free(d);
    if (l->quiet && together)
        return;
    CHECK_EQ(bouma_step_read(step, &request, 1),
             together ? BOUMA_OK : BOUMA_ESTATE);
    if (!together)
        CHECK_TEXT(bouma_step_message(step), "was freed");
    CHECK_EQ(bouma_particles_restart(
                 &d, bouma_step_find_particles(step, "dust"), NULL),
             together ? BOUMA_OK : BOUMA_ESTATE);
    if (together)
        bouma_particle_data_free(d);
}

static inline void lifetimes_use(struct lifetimes *l,
                                 const struct lifetimes_ranks *ranks)
{
    for (int i = 0; i < 2; i++)
        if (!l->freed[LIFETIMES_FIRST + i])
            lifetimes_use_step(l, i, ranks);
    if (!l->freed[LIFETIMES_DATASET])
        CHECK_EQ(bouma_dataset_step_count(l->ds), 2);
    if (!l->freed[LIFETIMES_REFINEMENT]) {
        bouma_selection s = {.size = sizeof(s)};
        int level = -1;
        int rc = bouma_refinement_next(l->refinement);
        const void *read = NULL;
        const float *data;

        CHECK_EQ(bouma_refinement_get(&read, &s, &level, l->refinement),
                 BOUMA_OK);
        data = read;
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOTFOUND);
        CHECK_EQ(level, 0);
        CHECK(data && data[500] == lifetimes_sample(0, 500));
        CHECK_EQ(bouma_refinement_next(l->refinement), BOUMA_ENOTFOUND);
        CHECK_TEXT(bouma_refinement_message(l->refinement), "finest");
    }
    if (!l->freed[LIFETIMES_PARTICLES_READ]) {
        bouma_variable_info info = {.size = sizeof(info)};

        CHECK_EQ(l->data->count, LIFETIMES_PARTICLES);
        bouma_variable_info_get(&info, l->data->variables[0]);
        CHECK(!strcmp(info.name, "position"));
    }
}

/* The n-th order of all handles. */
static inline void lifetimes_order(enum lifetimes_kind order[LIFETIMES_KINDS],
                                   int n)
{
    int left[LIFETIMES_KINDS];

    for (int i = 0; i < LIFETIMES_KINDS; i++)
        left[i] = i;
    for (int i = 0; i < LIFETIMES_KINDS; i++) {
        int rest = LIFETIMES_KINDS - i, at = n % rest;

        n /= rest;
        order[i] = (enum lifetimes_kind)left[at];
        memmove(&left[at], &left[at + 1],
                (size_t)(rest - at - 1) * sizeof(*left));
    }
}

static inline void
lifetimes_free_in_all_orders(const struct lifetimes_ranks *ranks,
                             const char *path, const bouma_options *o)
{
    for (int n = 0; n < 120; n++) {
        enum lifetimes_kind order[LIFETIMES_KINDS];
        struct lifetimes l;

        lifetimes_order(order, n);
        lifetimes_begin(&l, ranks, path, o);
        l.quiet = ranks->count > 1 && n % 20 != 0;
        for (int i = 0; i < LIFETIMES_KINDS; i++) {
            lifetimes_use(&l, ranks);
            lifetimes_free(&l, order[i]);
        }
    }
}

#endif
