/* test_mpi_threads.c -- chunks of grids are encoded by threads, and particles
 * sorted: the files are those that one thread writes, with any number of them,
 * any codec, and whether sizes are predicted or not; and what one of them cannot
 * have is told. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include <math.h>

#include "../helpers/check.h"
#include "sized.h"

enum { STEPS = 3, ROWS = 40, WIDTH = 72 };

struct load {
    const char *name;
    bouma_codec codec;
    double tolerance;
    bouma_predict predict;
    int waves;   /* coefficients, in HZ order */
    int convert; /* the program has another type */
};

static const struct load loads[] = {
    {"zstd", BOUMA_CODEC_ZSTD, 0, 0, 0, 0},
    {"interp", BOUMA_CODEC_INTERP, 1e-3, 0, 0, 0},
    {"predicted", BOUMA_CODEC_INTERP, 1e-3, BOUMA_PREDICT_ON, 0, 0},
    {"converted", BOUMA_CODEC_ZSTD, 0, BOUMA_PREDICT_ON, 0, 1},
    {"waves", BOUMA_CODEC_ZSTD, 0, 0, 1, 0},
};

struct run {
    const struct ranks *ranks;
    const struct load *load;
    char path[512];
    bouma_dataset *ds;
    bouma_variable *v;
    double *wide;
    float *narrow;
};

static void run_begin(struct run *r, const struct ranks *ranks,
                      const struct load *load, int threads)
{
    bouma_grid_spec patches = {.size = sizeof(patches),
                               .ndims = 2,
                               .shape = {(int64_t)ROWS * ranks->size, WIDTH},
                               .patch = {16, 16},
                               .levels = 2};
    bouma_grid_spec tiles = {.size = sizeof(tiles),
                             .ndims = 2,
                             .shape = {(int64_t)ROWS * ranks->size, WIDTH},
                             .layout = BOUMA_LAYOUT_HZ,
                             .hz_block_bits = 6,
                             .hz_wavelet = 1,
                             .hz_tile_bits = 8};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = BOUMA_TYPE_F32,
                                .codec = load->codec,
                                .tolerance = load->tolerance};
    bouma_options options = {.size = sizeof(options),
                             .durability = BOUMA_DURABILITY_FAST,
                             .timeout = 250,
                             .predict = load->predict,
                             .threads = threads};
    bouma_grid *g;

    *r = (struct run){.ranks = ranks, .load = load};
    memcpy(options.id, "sixteen letters.", 16);
    path_in(ranks, r->path, load->name, threads);
    r->wide = malloc(ROWS * WIDTH * sizeof(*r->wide));
    r->narrow = malloc(ROWS * WIDTH * sizeof(*r->narrow));
    REQUIRE(r->wide && r->narrow);
    REQUIRE(
        !bouma_dataset_create_mpi(&r->ds, MPI_COMM_WORLD, r->path, &options));
    REQUIRE(
        !bouma_grid_define(&g, r->ds, "g", load->waves ? &tiles : &patches));
    REQUIRE(!bouma_variable_define(&r->v, g, "v", &spec));
}

/* Each step is rougher than the one before, so that what was predicted of some
 * patches is too little. */
static double value_at(int64_t i, int step)
{
    return sin(0.01 * (double)i) + (double)(i * (step + 1) * 7919 % 1013) *
                                       (i / WIDTH % 32 < 16 ? step : 1) * 1e-2;
}

static int put(struct run *r, int step)
{
    int64_t first = (int64_t)ROWS * r->ranks->rank;
    bouma_box box = {{first, 0}, {first + ROWS, WIDTH}};
    bouma_array wide;

    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        r->narrow[i] = (float)value_at(first * WIDTH + i, step);
        r->wide[i] = (double)r->narrow[i];
    }
    if (!r->load->convert)
        return test_put(r->v, &box, r->narrow);
    wide = test_array(r->v, r->wide);
    wide.type = BOUMA_TYPE_F64;
    return bouma_variable_put_borrow(r->v, &box, &wide);
}

static void run_end(struct run *r)
{
    CHECK_EQ(bouma_dataset_close(r->ds), BOUMA_OK);
    bouma_dataset_free(r->ds);
    free(r->wide);
    free(r->narrow);
}

static void the_files_are_the_same(const struct ranks *ranks,
                                   const struct load *load)
{
    static const int threads[] = {1, 2, 7, 200};
    char one[512] = "";

    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
        struct run r;

        run_begin(&r, ranks, load, threads[i]);
        for (int step = 0; step < STEPS; step++) {
            bouma_record record;

            CHECK_EQ(bouma_step_begin(r.ds, step, step), BOUMA_OK);
            CHECK_EQ(put(&r, step), BOUMA_OK);
            CHECK_EQ(end_step(&record, r.ds), BOUMA_OK);
        }
        run_end(&r);
        for (int step = 0; step < STEPS && i && !ranks->rank; step++)
            CHECK(same_subfiles(one, r.path, step));
        MPI_Barrier(MPI_COMM_WORLD);
        if (!i)
            snprintf(one, sizeof(one), "%s", r.path);
        else if (!ranks->rank)
            remove_tree(r.path);
    }
    if (!ranks->rank)
        remove_tree(one);
}

/* ---- particles ---------------------------------------------------------- */

enum { PARTICLES = 300000 }; /* of all ranks */

struct crowd {
    int count;
    float (*position)[3];
    double *heat;
    int16_t (*spin)[2];
};

/* Half of them in a corner; a few are nowhere, or have no heat, or one without
 * end. */
static void crowd_init(struct crowd *c, const struct ranks *ranks)
{
    c->count = PARTICLES / ranks->size;
    c->position = malloc((size_t)c->count * sizeof(*c->position));
    c->heat = malloc((size_t)c->count * sizeof(*c->heat));
    c->spin = malloc((size_t)c->count * sizeof(*c->spin));
    REQUIRE(c->position && c->heat && c->spin);
    for (int i = 0; i < c->count; i++) {
        uint64_t state =
            (uint64_t)i * (uint64_t)ranks->size + (uint64_t)ranks->rank + 1;

        for (int d = 0; d < 3; d++)
            c->position[i][d] =
                (float)check_below(&state, 1 << 20) / (i % 2 ? 1 : 1000);
        c->heat[i] = i % 3000 ? (double)c->position[i][0] * 1e-3 : -0.0;
        if (i % 5000 == 7)
            c->position[i][1] = (float)NAN;
        if (i % 7000 == 8)
            c->heat[i] = (double)NAN;
        for (int d = 0; d < 2; d++)
            c->spin[i][d] = (int16_t)check_below(&state, 300);
    }
}

/* A codec of each kind: sized, exact, and one that rounds. */
static void define_crowd(bouma_dataset *ds, bouma_particles **set,
                         bouma_variable *v[4])
{
    bouma_particles_spec set_spec = {
        .size = sizeof(set_spec), .ndims = 3, .codec = BOUMA_CODEC_RAW};
    bouma_variable_spec heat = {.size = sizeof(heat),
                                .type = BOUMA_TYPE_F64,
                                .codec = BOUMA_CODEC_ZSTD};
    bouma_variable_spec rounded = {
        .size = sizeof(rounded), .type = BOUMA_TYPE_F64, .tolerance = 1e-2};
    bouma_variable_spec spin = {
        .size = sizeof(spin), .type = BOUMA_TYPE_I16, .components = 2};

    REQUIRE(!bouma_particles_define(set, ds, "p", &set_spec));
    v[0] = bouma_particles_position(*set);
    REQUIRE(!bouma_particles_define_variable(&v[1], *set, "heat", &heat));
    REQUIRE(!bouma_particles_define_variable(&v[2], *set, "round", &rounded));
    REQUIRE(!bouma_particles_define_variable(&v[3], *set, "spin", &spin));
}

static void write_crowd(const struct crowd *c, int threads, const char *path)
{
    bouma_options options = {.size = sizeof(options),
                             .durability = BOUMA_DURABILITY_FAST,
                             .timeout = 250,
                             .threads = threads};
    size_t n = (size_t)c->count;
    bouma_array arrays[] = {
        BOUMA_ARRAY(BOUMA_TYPE_F32, c->position, n * sizeof(*c->position)),
        BOUMA_ARRAY(BOUMA_TYPE_F64, c->heat, n * sizeof(*c->heat)),
        BOUMA_ARRAY(BOUMA_TYPE_F64, c->heat, n * sizeof(*c->heat)),
        BOUMA_ARRAY(BOUMA_TYPE_I16, c->spin, n * sizeof(*c->spin))};
    bouma_column columns[4];
    bouma_variable *v[4];
    bouma_particles *set;
    bouma_record record;
    bouma_dataset *ds;

    memcpy(options.id, "sixteen letters.", 16);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options));
    define_crowd(ds, &set, v);
    for (int j = 0; j < 4; j++)
        columns[j] = (bouma_column){sizeof(*columns), v[j], &arrays[j]};
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(bouma_particles_put_borrow(set, n, columns, 4, NULL), BOUMA_OK);
    CHECK_EQ(end_step(&record, ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void files_of_particles_are_the_same(const struct ranks *ranks)
{
    static const int threads[] = {1, 2, 7, 200};
    char paths[2][512];
    struct crowd c;

    crowd_init(&c, ranks);
    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
        char *path = paths[i != 0];

        path_in(ranks, path, "particles", threads[i]);
        write_crowd(&c, threads[i], path);
        if (i && !ranks->rank) {
            CHECK(same_subfiles(paths[0], path, 0));
            remove_tree(path);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!ranks->rank)
        remove_tree(paths[0]);
    free(c.position);
    free(c.heat);
    free(c.spin);
}

/* ---- failures ----------------------------------------------------------- */

/* One value of the last rank is too large for the variable's type. */
static void what_does_not_fit_is_told(const struct ranks *ranks)
{
    static const struct load load = {"large", BOUMA_CODEC_ZSTD, 0, 0, 0, 1};
    bouma_record record;
    struct run r;

    run_begin(&r, ranks, &load, 4);
    CHECK_EQ(bouma_step_begin(r.ds, 0, 0), BOUMA_OK);
    CHECK_EQ(put(&r, 0), BOUMA_OK);
    if (ranks->rank == ranks->size - 1)
        r.wide[ROWS * WIDTH / 2] = 1e200;
    CHECK_EQ(end_step(&record, r.ds), BOUMA_EINVAL);
    CHECK(strstr(bouma_error_message(r.ds), "g/v"));
    CHECK_EQ(bouma_step_begin(r.ds, 0, 0), BOUMA_OK); /* it can go on */
    CHECK_EQ(put(&r, 0), BOUMA_OK);
    CHECK_EQ(end_step(&record, r.ds), BOUMA_OK);
    run_end(&r);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!ranks->rank)
        remove_tree(r.path);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
        the_files_are_the_same(&ranks, &loads[i]);
    files_of_particles_are_the_same(&ranks);
    what_does_not_fit_is_told(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
