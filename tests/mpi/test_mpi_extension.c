/* test_mpi_extension.c -- a step is extended by all ranks together, and read as
 * one. */
#include "../helpers/check.h"
#include "blocks.h"

static const struct field first = {BOUMA_TYPE_F32, 1, 2, {24, 24, 0}, 5},
                          second = {BOUMA_TYPE_I16, 2, 2, {24, 24, 0}, 6};

/* One more variable of grid "g". */
static bouma_variable *define(bouma_dataset *ds, const struct field *f,
                              const char *name)
{
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = f->type, .components = f->components};
    bouma_variable *v = NULL;
    bouma_grid *grid;

    CHECK_EQ(bouma_define_like(ds, -1), BOUMA_OK);
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "g"), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v, grid, name, &spec), BOUMA_OK);
    return v;
}

static int end_step(const struct ranks *ranks, bouma_dataset *ds,
                    bouma_variable *v, const struct field *f, enum cut cut)
{
    uint64_t random = 3;
    struct cutting blocks;
    struct puts puts;
    int rc;

    cutting_make(&blocks, cut, f, ranks->size, &random);
    CHECK_EQ(puts_make(&puts, v, f, &blocks, 0, &random), BOUMA_OK);
    rc = bouma_step_end(ds);
    puts_free(&puts);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    return rc;
}

static void create(const struct ranks *ranks, const char *path,
                   const bouma_options *o)
{
    bouma_variable *v;
    bouma_dataset *ds;

    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, o), BOUMA_OK);
    CHECK_EQ(field_define(&v, ds, &first), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(end_step(ranks, ds, v, &first, CUT_SLABS), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* Twice: the second time it is there. */
static void add(const struct ranks *ranks, const char *path,
                const bouma_options *o)
{
    bouma_variable *v;
    bouma_dataset *ds;

    CHECK_EQ(bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, path, o), BOUMA_OK);
    v = define(ds, &second, "w");
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(bouma_step_extend(ds, 0), BOUMA_OK);
        CHECK_EQ(end_step(ranks, ds, v, &second, CUT_BLOCKS),
                 again ? BOUMA_EEXISTS : BOUMA_OK);
        CHECK_EQ(bouma_dataset_flush(ds), BOUMA_OK);
    }
    CHECK_EQ(bouma_dataset_step_count(ds), 1);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* Each rank reads all of the one variable, and some all of the other. */
static void read(const struct ranks *ranks, const char *path)
{
    bouma_request r[2] = {{.size = sizeof(r[0])}, {.size = sizeof(r[1])}};
    bouma_array to[2];
    bouma_selection all[2] = {{.size = sizeof(all[0])},
                              {.size = sizeof(all[1])}};
    bouma_dataset *ds;
    bouma_step *step;
    bouma_grid *grid;
    void *data[2];

    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    grid = bouma_step_find_grid(step, "g");
    CHECK_EQ(bouma_grid_variable_count(grid), 2);
    for (int i = 0; i < 2; i++) {
        r[i].variable = bouma_grid_find_variable(grid, i ? "w" : "v");
        REQUIRE(r[i].variable);
        CHECK_EQ(bouma_variable_select(&all[i], r[i].variable, 0, NULL),
                 BOUMA_OK);
        data[i] = calloc(1, all[i].bytes);
        REQUIRE(data[i]);
        to[i] = (bouma_array){.size = sizeof(to[i]),
                              .type = i ? second.type : first.type,
                              .data = data[i],
                              .bytes = all[i].bytes};
        r[i].array = &to[i];
        r[i].box.hi[0] = r[i].box.hi[1] = 24;
    }
    CHECK_EQ(bouma_step_read(step, r, ranks->rank % 2 ? 1 : 2), BOUMA_OK);
    CHECK_EQ(field_wrong(&first, &all[0], 0, data[0], 0), 0);
    if (ranks->rank % 2 == 0)
        CHECK_EQ(field_wrong(&second, &all[1], 0, data[1], 0), 0);
    free(data[0]);
    free(data[1]);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    CHECK_EQ(wrong_on_disk(path, 0, "v", &first), 0);
    CHECK_EQ(wrong_on_disk(path, 0, "w", &second), 0);
}

/* Ranks that extend different steps, or one that is not there. */
static void ranks_agree_on_the_step(const struct ranks *ranks, const char *path)
{
    bouma_variable *v;
    bouma_dataset *ds;
    int rc;

    CHECK_EQ(bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, path, NULL),
             BOUMA_OK);
    v = define(ds, &second, "x");
    rc = bouma_step_extend(ds, ranks->rank ? 0 : 5);
    CHECK_EQ(rc, ranks->size > 1 ? BOUMA_EMISMATCH : BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_dataset_clear_failures(ds), BOUMA_OK);
    CHECK_EQ(bouma_step_extend(ds, 5), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_dataset_clear_failures(ds), BOUMA_OK);
    CHECK_EQ(bouma_step_extend(ds, 0), BOUMA_OK);
    CHECK_EQ(end_step(ranks, ds, v, &second, CUT_SLABS), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

int main(int argc, char **argv)
{
    char path[512];
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int i = 0; i < 4; i++) {
        bouma_options o = {.size = sizeof(o), .files = 2};

        o.async = i == 1;
        o.durability =
            i == 2 ? BOUMA_DURABILITY_GROUP : BOUMA_DURABILITY_DURABLE;
        o.files = i == 3 ? 7 : 2;
        path_in(&ranks, path, "d", i);
        MPI_Barrier(MPI_COMM_WORLD);
        create(&ranks, path, &o);
        add(&ranks, path, &o);
        read(&ranks, path);
        if (!i)
            ranks_agree_on_the_step(&ranks, path);
    }
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
