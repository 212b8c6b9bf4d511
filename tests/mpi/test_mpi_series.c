/* test_mpi_series.c -- a box of many steps, by all ranks: each has a box of its
 * own, perhaps an empty one, and all get one status. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"

enum { ROWS = 24, COLUMNS = 10, STEPS = 20 };

static float value_of(int64_t step, int64_t row, int64_t column)
{
    return (float)(step * 1000 + row * COLUMNS + column);
}

static void write_all(const struct ranks *r, const char *path)
{
    bouma_options o = {.size = sizeof(o), .durability = BOUMA_DURABILITY_FAST};
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {ROWS, COLUMNS},
                         .patch = {4, 4}};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    int64_t low = ROWS * r->rank / r->size;
    int64_t high = ROWS * (r->rank + 1) / r->size;
    bouma_box mine = {{low, 0}, {high, COLUMNS}};
    float data[ROWS * COLUMNS];
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;

    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o));
    REQUIRE(!bouma_grid_define(&grid, ds, "plate", &g));
    REQUIRE(!bouma_variable_define(&v, grid, "heat", &spec));
    for (int64_t step = 0; step < STEPS; step++) {
        for (int64_t i = 0; i < (high - low) * COLUMNS; i++)
            data[i] = value_of(step, low + i / COLUMNS, i % COLUMNS);
        bouma_step_begin(ds, step, 0);
        test_put_copy(v, &mine, data);
        REQUIRE(!bouma_step_end(ds));
    }
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

int main(int argc, char **argv)
{
    static float values[STEPS][COLUMNS];
    int64_t steps[STEPS];
    struct ranks ranks;
    bouma_variable *heat;
    bouma_dataset *ds;
    bouma_step *step;
    char path[512];
    size_t done;

    ranks_init(&ranks, &argc, &argv);
    path_in(&ranks, path, "series", 0);
    write_all(&ranks, path);
    REQUIRE(!bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL));
    REQUIRE(!bouma_step_open(&step, ds, 3));
    heat =
        bouma_grid_find_variable(bouma_step_find_grid(step, "plate"), "heat");
    REQUIRE(heat);
    for (int64_t i = 0; i < STEPS; i++)
        steps[i] = STEPS - 1 - i;

    /* The last of several ranks wants nothing. */
    int is_last = ranks.size > 1 && ranks.rank == ranks.size - 1;
    int64_t row = ranks.rank;
    bouma_box box = {{row, 0}, {row + !is_last, COLUMNS}};
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, values, sizeof(values));
    bouma_series s = {.size = sizeof(s),
                      .steps = steps,
                      .step_count = STEPS,
                      .box = &box,
                      .array = &array};

    CHECK_EQ(bouma_variable_read_series(&done, heat, &s), BOUMA_OK);
    CHECK_EQ(done, STEPS);
    for (int i = 0; i < STEPS && !is_last; i++)
        for (int k = 0; k < COLUMNS; k++)
            CHECK(values[i][k] == value_of(steps[i], row, k));

    steps[12] = 77;
    CHECK_EQ(bouma_variable_read_series(&done, heat, &s), BOUMA_ENOTFOUND);
    CHECK_EQ(done, 12);
    CHECK_TEXT(bouma_error_message(ds), "step 77");
    steps[12] = 0;
    if (ranks.size > 1) {
        steps[12] = ranks.rank == 1;
        CHECK_EQ(bouma_variable_read_series(&done, heat, &s), BOUMA_EMISMATCH);
        CHECK_EQ(done, 0);
        CHECK_TEXT(bouma_error_message(ds), "different steps");
        steps[12] = 0;
    }
    array.bytes = ranks.rank ? array.bytes : 8;
    CHECK_EQ(bouma_variable_read_series(&done, heat, &s), BOUMA_EINVAL);
    CHECK_EQ(done, 0);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
