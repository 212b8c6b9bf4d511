/* test_mpi_weighted.c -- steps whose owners follow the times of the step
 * before: whoever encodes, the subfiles are those that `balanced` writes; and,
 * where ranks have equal loads, those of `optimal`, not of who encodes. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"
#include "sized.h"

enum { STEPS = 6, SIDE = 52, STEADY = 9 /* no noise is left */ };

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
                        const bouma_options *wanted, bouma_codec codec,
                        int wanders, bouma_record records[STEPS])
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
    bouma_options options = *wanted;
    bouma_dataset *ds;
    bouma_grid *g;

    REQUIRE(data);
    options.size = sizeof(options);
    options.durability = BOUMA_DURABILITY_FAST;
    memcpy(options.id, "sixteen letters.", 16);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options));
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v[0], g, "a", &spec), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v[1], g, "b", &spec), BOUMA_OK);
    for (int step = 0; step < STEPS; step++) {
        fill(data, &box, wanders ? step : STEADY);
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
    bouma_options first = {.distribute = BOUMA_DISTRIBUTE_BALANCED, .files = 3};
    bouma_options second = {.distribute = BOUMA_DISTRIBUTE_WEIGHTED,
                            .files = 3};
    bouma_record balanced[STEPS], weighted[STEPS];
    char here[512], there[512];
    int other = 0;

    path_in(ranks, here, "weighted", number);
    path_in(ranks, there, "balanced", number);
    write_steps(ranks, there, &first, codec, 1, balanced);
    write_steps(ranks, here, &second, codec, 1, weighted);
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

/* Each rank is to write a file, and has as much as others: still files do not
 * follow from owners, which follow from times. */
static void files_do_not_follow_from_times(struct ranks *ranks)
{
    bouma_options left = {.distribute = BOUMA_DISTRIBUTE_WEIGHTED,
                          .files = ranks->size};
    bouma_options given = left;
    bouma_record records[STEPS];
    char here[512], there[512];

    given.assign = BOUMA_ASSIGN_OPTIMAL;
    path_in(ranks, here, "left", 0);
    path_in(ranks, there, "given", 0);
    write_steps(ranks, here, &left, BOUMA_CODEC_ZSTD, 0, records);
    write_steps(ranks, there, &given, BOUMA_CODEC_ZSTD, 0, records);
    for (int step = 0; step < STEPS && ranks->rank == 0; step++)
        CHECK(same_subfiles(here, there, step));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    the_files_are_those_of_balanced(&ranks, 0, BOUMA_CODEC_ZSTD);
    the_files_are_those_of_balanced(&ranks, 1, BOUMA_CODEC_RAW);
    files_do_not_follow_from_times(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
