/* test_mpi_weighted.c -- steps whose owners follow the times of the step
 * before: whoever encodes, the subfiles are those that `balanced` writes. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"
#include "sized.h"

enum { STEPS = 6, SIDE = 52 };

/* Slabs that no boundary of patches agrees with. */
static bouma_box slab(const struct ranks *ranks)
{
    bouma_box box = {{0, 0, 0}, {SIDE, SIDE, SIDE}};

    box.lo[0] = SIDE * ranks->rank / ranks->size;
    box.hi[0] = SIDE * (ranks->rank + 1) / ranks->size;
    return box;
}

/* Noise in a corner that wanders, else the same all over: what ranks have to
 * do differs, and from step to step. */
static void fill(float *out, const bouma_box *box, int step)
{
    for (int64_t z = box->lo[0]; z < box->hi[0]; z++)
        for (int64_t y = 0; y < SIDE; y++)
            for (int64_t x = 0; x < SIDE; x++) {
                uint64_t state = (uint64_t)((z * SIDE + y) * SIDE + x + step);

                *out++ = z > SIDE / 8 * step && y > SIDE / 2
                             ? (float)check_below(&state, 1 << 20)
                             : 1;
            }
}

static void write_steps(const struct ranks *ranks, const char *path,
                        bouma_distribute scheme, bouma_codec codec,
                        bouma_record records[STEPS])
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 3,
                            .shape = {SIDE, SIDE, SIDE},
                            .patch = {8, 16, 16}};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_F32, .codec = codec};
    bouma_box box = slab(ranks);
    float *data = malloc(SIDE * SIDE * SIDE * sizeof(*data));
    bouma_variable *v[2];
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;
    bouma_grid *g;

    REQUIRE(data);
    options.distribute = scheme;
    options.durability = BOUMA_DURABILITY_FAST;
    options.files = 3;
    memcpy(options.id, "sixteen letters.", 16);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options));
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v[0], g, "a", &spec), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v[1], g, "b", &spec), BOUMA_OK);
    for (int step = 0; step < STEPS; step++) {
        fill(data, &box, step);
        CHECK_EQ(bouma_step_begin(ds, step, step), BOUMA_OK);
        CHECK_EQ(test_put(v[0], &box, data), BOUMA_OK);
        /* In one step there is another plan. */
        if (step != STEPS / 2)
            CHECK_EQ(test_put(v[1], &box, data), BOUMA_OK);
        CHECK_EQ(end_step(&records[step], ds), BOUMA_OK);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    free(data);
}

static void the_files_are_those_of_balanced(struct ranks *ranks, int64_t number,
                                            bouma_codec codec)
{
    bouma_record balanced[STEPS], weighted[STEPS];
    char here[512], there[512];
    int other = 0;

    path_in(ranks, here, "weighted", number);
    path_in(ranks, there, "balanced", number);
    write_steps(ranks, there, BOUMA_DISTRIBUTE_BALANCED, codec, balanced);
    write_steps(ranks, here, BOUMA_DISTRIBUTE_WEIGHTED, codec, weighted);
    for (int step = 0; step < STEPS; step++) {
        CHECK(weighted[step].moved_bytes <= balanced[step].moved_bytes);
        other += weighted[step].moved_bytes != balanced[step].moved_bytes;
        if (step == 0 || codec == BOUMA_CODEC_RAW)
            CHECK_EQ(weighted[step].moved_bytes, balanced[step].moved_bytes);
        if (ranks->rank == 0)
            CHECK(same_subfiles(here, there, step));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks->rank == 0) {
        printf("%s: %d of %d steps moved fewer bytes than balanced\n",
               bouma_codec_name(codec), other, STEPS);
        remove_tree(here);
        remove_tree(there);
    }
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    the_files_are_those_of_balanced(&ranks, 0, BOUMA_CODEC_ZSTD);
    the_files_are_those_of_balanced(&ranks, 1, BOUMA_CODEC_RAW);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
