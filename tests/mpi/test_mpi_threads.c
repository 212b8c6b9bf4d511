/* test_mpi_threads.c -- chunks of grids are encoded by threads: the files are
 * those that one thread writes, with any number of them, any codec, and whether
 * sizes are predicted or not; and what one of them cannot have is told. */
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
    what_does_not_fit_is_told(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
