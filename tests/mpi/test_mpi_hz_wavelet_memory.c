/* test_mpi_hz_wavelet_memory.c -- grids in HZ order with wavelet coefficients,
 * while one rank after the other has no memory for one request: all get one same
 * status, nobody waits for ever, and nothing is left behind. */
#include <stdio.h>

#include "../helpers/arrays.h"
#include "blocks.h"
#include "check.h"
#include "fault_alloc.h"

struct trial {
    const struct ranks *ranks;
    struct fault_alloc memory;
    struct field field;
    struct cutting cutting;
    bouma_options options;
    char path[512];
};

/* A variable with tiles that several ranks share, and one with a tolerance. */
static int write_step(struct trial *t)
{
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = 3,
                            .shape = {6, 9, 8},
                            .layout = BOUMA_LAYOUT_HZ,
                            .hz_block_bits = 5,
                            .hz_wavelet = 1,
                            .hz_tile_bits = 6};
    bouma_variable_spec kinds[2] = {
        {.size = sizeof(*kinds), .type = BOUMA_TYPE_F32},
        {.size = sizeof(*kinds), .type = BOUMA_TYPE_F32, .tolerance = 1e-3}};
    uint64_t random = 5;
    bouma_variable *v[2] = {NULL, NULL};
    struct puts puts[2];
    bouma_dataset *ds;
    bouma_grid *g = NULL;
    int rc =
        bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options);

    CHECK(same_on_all(rc, "")); /* one may have no handle for the message */
    if (rc) {
        bouma_dataset_free(ds);
        return rc;
    }
    /* What a call refuses, the end of the step tells. */
    bouma_grid_define(&g, ds, "g", &spec);
    bouma_variable_define(&v[0], g, "v", &kinds[0]);
    bouma_variable_define(&v[1], g, "w", &kinds[1]);
    bouma_step_begin(ds, 0, 0);
    for (int i = 0; i < 2; i++)
        puts_make(&puts[i], v[i], &t->field, &t->cutting, 0, &random);
    rc = bouma_step_end(ds);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    for (int i = 0; i < 2; i++)
        CHECK_EQ(puts_free(&puts[i]), 0);
    if (!rc)
        rc = bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    return rc;
}

static int read_step(struct trial *t)
{
    static uint8_t data[6 * 9 * 8 * 4];
    bouma_array to;
    bouma_request request = {
        .size = sizeof(request), .box = {{1, 0, 2}, {6, 7, 8}}, .array = &to};
    bouma_step *step = NULL;
    bouma_selection s = {.size = sizeof(s)};
    bouma_dataset *ds;
    int rc = bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options);

    CHECK(same_on_all(rc, "")); /* as above */
    if (!rc) {
        rc = bouma_step_open(&step, ds, 0);
        CHECK(same_on_all(rc, bouma_error_message(ds)));
    }
    if (!rc) {
        request.variable =
            bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
        to = test_array(request.variable, data);
        rc = bouma_step_read(step, &request, 1);
        CHECK(same_on_all(rc, bouma_error_message(ds)));
    }
    if (!rc) {
        REQUIRE(!bouma_variable_select(&s, request.variable, 0, &request.box));
        CHECK_EQ(field_wrong(&t->field, &s, 0, data, 0), 0);
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return rc;
}

/* Each request of one rank in turn, until all are there. */
static void sweep(struct trial *t, int poor, int (*act)(struct trial *t))
{
    int fired = 1, most = 3000;

    for (long at = 1; fired && at < most; at += 1 + 2 * (at > 100)) {
        int rc;

        if (act == write_step)
            path_in(t->ranks, t->path, "memory", poor * most + at);
        fault_alloc_arm(&t->memory, t->ranks->rank == poor ? at : 0, 0);
        rc = act(t);
        fired = t->memory.fired > 0;
        fault_alloc_disarm(&t->memory);
        CHECK_EQ(t->memory.live, 0);
        MPI_Bcast(&fired, 1, MPI_INT, poor, MPI_COMM_WORLD);
        CHECK(rc == BOUMA_OK || fired);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM || rc == BOUMA_EABORTED);
    }
    CHECK_EQ(fired, 0);
}

int main(int argc, char **argv)
{
    struct trial t = {.field = {.type = BOUMA_TYPE_F32,
                                .components = 1,
                                .ndims = 3,
                                .shape = {6, 9, 8}}};
    uint64_t random = 1;
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    t.ranks = &ranks;
    fault_alloc_init(&t.memory);
    t.options = (bouma_options){.size = sizeof(t.options)};
    t.options.allocator = &t.memory.table;
    t.options.durability = BOUMA_DURABILITY_FAST;
    cutting_make(&t.cutting, CUT_BISECTION, &t.field, ranks.size, &random);
    for (int poor = 0; poor < ranks.size; poor += ranks.size / 2 + 1) {
        sweep(&t, poor, write_step);
        path_in(&ranks, t.path, "sound", poor);
        CHECK_EQ(write_step(&t), BOUMA_OK);
        sweep(&t, poor, read_step);
    }
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
