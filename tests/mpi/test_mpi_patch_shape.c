/* test_mpi_patch_shape.c -- patches that fit the blocks of ranks: chosen in the
 * first step, as `bouma plan` says, and kept by all that follows. */
#include <string.h>

#include "../helpers/check.h"
#include "blocks.h"
#include "fault_alloc.h"

/* As small as a grid with a choice can be. */
static const struct field field = {BOUMA_TYPE_U8, 1, 2, {512, 512, 0}, 5};
static const int64_t usual[2] = {256, 256};

enum shape { ROWS, COLUMNS, ON_ONE, IN_TWO };

/* Blocks as equal as possible along an axis; all on one rank; or each in two
 * halves that do not touch. */
static void cut(struct cutting *out, enum shape shape, int ranks)
{
    int axis = shape == COLUMNS;
    int count = shape == IN_TWO ? 2 * ranks : shape == ON_ONE ? 1 : ranks;

    out->count = 0;
    for (int i = 0; i < count; i++) {
        bouma_box box = {.hi = {field.shape[0], field.shape[1]}};

        box.lo[axis] = i * field.shape[axis] / count;
        box.hi[axis] = (i + 1) * field.shape[axis] / count;
        out->blocks[out->count].rank = shape == ON_ONE ? ranks - 1 : i % ranks;
        out->blocks[out->count++].box = box;
    }
}

/* What a plan for such blocks says. */
static void plan(int64_t patch[2], enum shape shape, int ranks)
{
    bouma_plan_spec spec = {.size = sizeof(spec),
                            .ranks = ranks,
                            .ndims = 2,
                            .shape = {field.shape[0], field.shape[1]},
                            .type = field.type};
    bouma_plan_report report = {.size = sizeof(report)};
    bouma_plan *made = NULL;

    spec.blocks[0] = shape == ROWS ? ranks : 1;
    spec.blocks[1] = shape == ROWS ? 1 : ranks;
    CHECK_EQ(bouma_plan_make(&made, &spec, NULL, NULL, 0), BOUMA_OK);
    CHECK_EQ(bouma_plan_report_get(&report, made), BOUMA_OK);
    bouma_plan_free(made);
    memcpy(patch, report.patch, 2 * sizeof(*patch));
    CHECK_EQ(memcmp(report.usual_patch, usual, sizeof(usual)), 0);
}

static bouma_variable *define(bouma_dataset *ds, const char *grid,
                              const char *name, const int64_t *patch)
{
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = 2,
                            .shape = {field.shape[0], field.shape[1]}};
    bouma_variable_spec values = {.size = sizeof(values), .type = field.type};
    bouma_variable *v = NULL;
    bouma_grid *g = NULL;

    if (patch)
        memcpy(spec.patch, patch, 2 * sizeof(*patch));
    CHECK_EQ(bouma_grid_define(&g, ds, grid, &spec), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v, g, name, &values), BOUMA_OK);
    return v;
}

static int end_step(const struct ranks *r, bouma_dataset *ds, bouma_variable *v,
                    enum shape shape, int64_t step)
{
    uint64_t random = 3;
    struct cutting blocks;
    struct puts puts;
    int rc;

    cut(&blocks, shape, r->size);
    CHECK_EQ(puts_make(&puts, v, &field, &blocks, step, &random), BOUMA_OK);
    rc = bouma_step_end(ds);
    CHECK_EQ(puts_free(&puts), 0);
    CHECK(same_on_all(rc, rc ? bouma_error_message(ds) : ""));
    return rc;
}

static int write_step(const struct ranks *r, bouma_dataset *ds,
                      bouma_variable *v, enum shape shape, int64_t step)
{
    CHECK_EQ(bouma_step_begin(ds, step, 0), BOUMA_OK);
    return end_step(r, ds, v, shape, step);
}

/* The edges that a step has, read by each rank for itself. */
static void check_patch(const char *path, int64_t step, const char *grid,
                        const int64_t patch[2])
{
    bouma_grid_info info = {.size = sizeof(info)};
    bouma_dataset *ds;
    bouma_step *s;

    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(bouma_dataset_open(&ds, path, NULL), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&s, ds, step), BOUMA_OK);
    CHECK_EQ(bouma_grid_info_get(&info, bouma_step_find_grid(s, grid)),
             BOUMA_OK);
    CHECK_EQ(info.patch[0], patch[0]);
    CHECK_EQ(info.patch[1], patch[1]);
    CHECK_EQ(info.levels, 6);
    bouma_step_free(s);
    bouma_dataset_free(ds);
}

static void finish(bouma_dataset *ds)
{
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static bouma_dataset *create(const char *path, const bouma_options *o)
{
    bouma_dataset *ds;

    MPI_Barrier(MPI_COMM_WORLD);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, o));
    return ds;
}

/* With each kind of planning; the plan is used again in the second step, and
 * made anew in the third. */
static void edges_are_those_of_the_plan_and_stay(const struct ranks *r)
{
    for (int shape = ROWS; shape <= COLUMNS; shape++)
        for (int planning = 0; planning < 2; planning++) {
            bouma_options o = {.size = sizeof(o), .async = planning};
            int64_t patch[2];
            bouma_variable *v;
            bouma_dataset *ds;
            char path[512];

            o.planning = planning ? BOUMA_PLANNING_LOCAL : BOUMA_PLANNING_NODE;
            path_in(r, path, "planned", 2 * shape + planning);
            ds = create(path, &o);
            v = define(ds, "g", "v", NULL);
            for (int step = 0; step < 3; step++)
                CHECK_EQ(write_step(r, ds, v,
                                    step == 2 ? COLUMNS - shape : shape, step),
                         BOUMA_OK);
            finish(ds);
            plan(patch, shape, r->size);
            if (r->size > 3)
                CHECK(memcmp(patch, usual, sizeof(usual)) != 0);
            for (int step = 0; step < 3; step++) {
                check_patch(path, step, "g", patch);
                CHECK_EQ(wrong_on_disk(path, step, "v", &field), 0);
            }
        }
}

/* Those of the first are in `path`; the next ones hold other blocks. */
static void who_goes_on_keeps_them(const struct ranks *r)
{
    int64_t patch[2];
    bouma_variable *v;
    bouma_dataset *ds;
    char path[512];

    plan(patch, ROWS, r->size);
    path_in(r, path, "more", 0);
    ds = create(path, NULL);
    v = define(ds, "g", "v", NULL);
    CHECK_EQ(write_step(r, ds, v, ROWS, 0), BOUMA_OK);
    finish(ds);
    REQUIRE(!bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, path, NULL));
    v = define(ds, "g", "v", NULL);
    CHECK_EQ(write_step(r, ds, v, COLUMNS, 1), BOUMA_OK);
    finish(ds);
    check_patch(path, 1, "g", patch);
    CHECK_EQ(wrong_on_disk(path, 1, "v", &field), 0);

    /* And an extension, of whatever is settled already. */
    REQUIRE(!bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, path, NULL));
    v = define(ds, "g", "w", NULL);
    for (int step = 0; step < 2; step++) {
        CHECK_EQ(bouma_step_extend(ds, step), BOUMA_OK);
        CHECK_EQ(end_step(r, ds, v, COLUMNS, step), BOUMA_OK);
    }
    finish(ds);
    for (int step = 0; step < 2; step++) {
        check_patch(path, step, "g", patch);
        CHECK_EQ(wrong_on_disk(path, step, "w", &field), 0);
    }
}

/* A handle that has settled on other edges adds to a step. */
static void an_extension_takes_those_of_its_step(const struct ranks *r)
{
    static const int64_t given[2] = {128, 512};
    bouma_variable *v, *w;
    bouma_dataset *ds;
    char path[512];

    path_in(r, path, "extended", 0);
    ds = create(path, NULL);
    v = define(ds, "g", "v", given);
    CHECK_EQ(write_step(r, ds, v, ROWS, 0), BOUMA_OK);
    finish(ds);
    /* Edges that were given stay, but another grid can choose. */
    REQUIRE(!bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, path, NULL));
    v = define(ds, "h", "v", NULL);
    w = define(ds, "g", "w", NULL);
    CHECK_EQ(write_step(r, ds, v, ROWS, 1), BOUMA_OK);
    CHECK_EQ(bouma_step_extend(ds, 0), BOUMA_OK);
    CHECK_EQ(end_step(r, ds, w, ROWS, 0), BOUMA_OK);
    finish(ds);
    check_patch(path, 0, "g", given);
    CHECK_EQ(wrong_on_disk(path, 0, "w", &field), 0);
}

static void edges_that_are_given_or_fit_nothing_stay(const struct ranks *r)
{
    for (int i = 0; i < 3; i++) {
        bouma_variable *v;
        bouma_dataset *ds;
        char path[512];

        path_in(r, path, "usual", i);
        ds = create(path, NULL);
        v = define(ds, "g", "v", i == 2 ? usual : NULL);
        CHECK_EQ(write_step(r, ds, v,
                            i == 0                  ? ON_ONE
                            : i == 1 && r->size > 1 ? IN_TWO
                                                    : ROWS,
                            0),
                 BOUMA_OK);
        finish(ds);
        check_patch(path, 0, "g", usual);
        CHECK_EQ(wrong_on_disk(path, 0, "v", &field), 0);
    }
}

/* The usual edges, said on some ranks, look the same in a schema. */
static void ranks_agree_on_who_chooses(const struct ranks *r)
{
    bouma_variable *v;
    bouma_dataset *ds;
    char path[512];
    int rc;

    path_in(r, path, "differ", 0);
    ds = create(path, NULL);
    v = define(ds, "g", "v", r->rank == r->size - 1 ? usual : NULL);
    rc = write_step(r, ds, v, ROWS, 0);
    CHECK_EQ(rc, r->size > 1 ? BOUMA_EMISMATCH : BOUMA_OK);
    if (rc)
        CHECK(strstr(bouma_error_message(ds), "'patch' and 'levels'") != NULL);
    bouma_dataset_free(ds);
}

/* In a new dataset, and in one that has a step to look at. */
static void a_lack_of_memory_is_told_to_all(const struct ranks *r, int poor)
{
    struct fault_alloc memory;
    bouma_options o = {.size = sizeof(o), .threads = 1};
    int64_t patch[2];
    char path[512];
    int failures = 0;

    fault_alloc_init(&memory);
    o.allocator = &memory.table;
    o.durability = BOUMA_DURABILITY_FAST;
    plan(patch, ROWS, r->size);
    path_in(r, path, "poor", poor);
    for (long at = 1, done = 0; !done; at++) {
        bouma_variable *v;
        bouma_dataset *ds;
        int rc;

        if (at == 1)
            ds = create(path, &o);
        else
            REQUIRE(!bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, path, &o));
        v = define(ds, "g", "v", NULL);
        if (at == 1)
            CHECK_EQ(write_step(r, ds, v, ROWS, 0), BOUMA_OK);
        CHECK_EQ(bouma_step_begin(ds, at, 0), BOUMA_OK);
        if (r->rank == poor)
            fault_alloc_arm(&memory, at, 0);
        rc = end_step(r, ds, v, COLUMNS, at);
        fault_alloc_disarm(&memory);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        failures += rc != BOUMA_OK;
        /* Once more, by the same handle. */
        if (rc) {
            CHECK_EQ(bouma_dataset_clear_failures(ds), BOUMA_OK);
            CHECK_EQ(write_step(r, ds, v, COLUMNS, at), BOUMA_OK);
        }
        done = at > 40;
        finish(ds);
        CHECK_EQ(memory.live, 0);
        if (at % 8 == 0 || done)
            check_patch(path, at, "g", patch);
    }
    CHECK(failures > 10);
}

int main(int argc, char **argv)
{
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    edges_are_those_of_the_plan_and_stay(&r);
    who_goes_on_keeps_them(&r);
    an_extension_takes_those_of_its_step(&r);
    edges_that_are_given_or_fit_nothing_stay(&r);
    ranks_agree_on_who_chooses(&r);
    for (int poor = 0; poor < r.size && poor < 2; poor++)
        a_lack_of_memory_is_told_to_all(&r, poor);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
