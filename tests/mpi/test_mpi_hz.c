/* test_mpi_hz.c -- grids in HZ order: any template, shape, division into blocks
 * and files, written by all ranks in many ways and read back in all ways. */
#include <math.h>
#include <stdio.h>

#include "../helpers/arrays.h"
#include "blocks.h"
#include "check.h"

enum { TRIALS = 80, STEPS = 2, MOST_BITS = 14 };

struct trial {
    const struct ranks *ranks;
    char path[512];
    struct field field;
    enum cut cut;
    bouma_options options;
    bouma_grid_spec grid;
    char text[MOST_BITS + 2]; /* the template */
    bouma_variable_spec variable;
};

/* Splits of random axes; the shape is what they cover, or less. */
static void random_grid(struct trial *t, uint64_t *random)
{
    int ndims = 1 + (int)check_below(random, 3);
    int bits = 1 + (int)check_below(random, MOST_BITS);
    bouma_grid_spec *g = &t->grid;

    *g = (bouma_grid_spec){.size = sizeof(*g),
                           .ndims = ndims,
                           .shape = {1, 1, 1},
                           .layout = BOUMA_LAYOUT_HZ};
    for (int i = 0; i < bits; i++) {
        int axis = (int)check_below(random, ndims); /* from the last */

        t->text[i] = "xyz"[axis];
        g->shape[ndims - 1 - axis] *= 2;
    }
    for (int d = 0; d < ndims; d++)
        if (check_below(random, 3) && g->shape[d] > 1)
            g->shape[d] -= check_below(random, g->shape[d] / 2);
    if (check_below(random, 4)) /* else one is made */
        g->hz_template = t->text;
    g->hz_block_bits = 1 + (int)check_below(random, bits);
    g->hz_blocks_per_file = 1 + (int)check_below(random, 20);
    g->hz_order = (bouma_hz_order)check_below(random, 3);
}

/* Partitions of any number that blocks and ranks allow. */
static void random_partitions(struct trial *t, uint64_t *random)
{
    bouma_grid_spec *g = &t->grid;
    int bits = (int)strlen(t->text) - g->hz_block_bits;

    bits = bits < g->hz_block_bits ? bits : g->hz_block_bits;
    g->hz_index = (bouma_hz_index)check_below(random, 3);
    g->hz_partitions = 1 << check_below(random, bits + 1);
    if (g->hz_index != BOUMA_HZ_INDEX_LOCAL)
        while (g->hz_partitions > t->ranks->size)
            g->hz_partitions /= 2;
    else if (g->hz_partitions == 1)
        g->hz_index = BOUMA_HZ_INDEX_GLOBAL;
}

static void trial_init(struct trial *t, const struct ranks *ranks, int number)
{
    static const bouma_type types[] = {BOUMA_TYPE_F32, BOUMA_TYPE_U8,
                                       BOUMA_TYPE_F64, BOUMA_TYPE_I16};
    static const bouma_codec codecs[] = {BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD,
                                         BOUMA_CODEC_EXACT};
    uint64_t random = 1000 + (uint64_t)number;

    memset(t, 0, sizeof(*t));
    t->ranks = ranks;
    random_grid(t, &random);
    t->field.type = types[check_below(&random, 4)];
    t->field.components = 1 + (int)check_below(&random, 3);
    t->field.ndims = t->grid.ndims;
    memcpy(t->field.shape, t->grid.shape, sizeof(t->field.shape));
    t->field.salt = (unsigned)number;
    t->cut = (enum cut)check_below(&random, CUTS);
    t->variable = (bouma_variable_spec){.size = sizeof(t->variable),
                                        .type = t->field.type,
                                        .components = t->field.components};
    t->variable.codec = codecs[check_below(
        &random, bouma_type_size(t->field.type) > 2 ? 3 : 2)];
    path_in(ranks, t->path, "hz", number);
    t->options = (bouma_options){.size = sizeof(t->options)};
    t->options.durability = BOUMA_DURABILITY_FAST;
    t->options.predict = (bouma_predict)check_below(&random, 3);
    t->options.async = (int)check_below(&random, 2);
    t->options.order = (bouma_order)check_below(&random, 3);
    t->options.place = (bouma_place)check_below(&random, 5);
    random_partitions(t, &random);
}

static void write_steps(const struct trial *t)
{
    uint64_t shared = 17, own = 18 + (uint64_t)t->ranks->rank;
    bouma_variable *v = NULL;
    bouma_grid *g = NULL;
    bouma_dataset *ds;

    REQUIRE(
        !bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options));
    if (bouma_grid_define(&g, ds, "g", &t->grid) ||
        bouma_variable_define(&v, g, "v", &t->variable)) {
        printf("%s\n", bouma_error_message(ds));
        REQUIRE(!"a grid that can be defined");
    }
    for (int64_t step = 0; step < STEPS; step++) {
        struct cutting cutting;
        struct puts puts;
        int rc;

        cutting_make(&cutting, t->cut, &t->field, t->ranks->size, &shared);
        CHECK_EQ(bouma_step_begin(ds, step, (double)step), BOUMA_OK);
        CHECK_EQ(puts_make(&puts, v, &t->field, &cutting, step, &own),
                 BOUMA_OK);
        rc = bouma_step_end(ds);
        if (rc && !t->ranks->rank)
            printf("%s\n", bouma_error_message(ds));
        CHECK_EQ(rc, BOUMA_OK);
        if (t->options.async)
            CHECK_EQ(bouma_dataset_wait(ds), BOUMA_OK);
        CHECK_EQ(puts_free(&puts), 0);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Boxes of all ranks together, and the same alone. */
static void check_boxes(const struct trial *t, bouma_step *step,
                        bouma_variable *v, int levels)
{
    uint64_t random = 40 + (uint64_t)t->ranks->rank;
    bouma_request requests[4];
    bouma_array arrays[4];
    size_t count = (size_t)check_below(&random, 5);

    for (size_t i = 0; i < count; i++) {
        bouma_request *q = &requests[i];
        bouma_selection s = {.size = sizeof(s)};

        memset(q, 0, sizeof(*q));
        q->size = sizeof(*q);
        q->variable = v;
        q->level = (int)check_below(&random, levels);
        q->box = random_box(&t->field, &random);
        CHECK_EQ(bouma_variable_select(&s, v, q->level, &q->box), BOUMA_OK);
        arrays[i] = test_array(v, malloc(s.bytes + 1));
        q->array = &arrays[i];
        REQUIRE(q->array->data);
        memset(q->array->data, 0x5a, s.bytes + 1);
    }
    CHECK_EQ(bouma_step_read(step, requests, count), BOUMA_OK);
    for (size_t i = 0; i < count; i++) {
        bouma_request *q = &requests[i];
        bouma_selection s = {.size = sizeof(s)};

        CHECK_EQ(bouma_variable_select(&s, v, q->level, &q->box), BOUMA_OK);
        CHECK_EQ(field_wrong(&t->field, &s, q->level, q->array->data, 1), 0);
        memset(q->array->data, 0x5a, s.bytes + 1);
        CHECK_EQ(test_read(v, q->level, &q->box, q->array->data), BOUMA_OK);
        CHECK_EQ(field_wrong(&t->field, &s, q->level, q->array->data, 1), 0);
        free(q->array->data);
    }
}

static void check_refinement(const struct trial *t, bouma_variable *v,
                             int levels)
{
    uint64_t random = 50 + (uint64_t)t->ranks->rank;
    bouma_box box = random_box(&t->field, &random);
    int coarsest = (int)check_below(&random, levels), level;
    bouma_refinement *r;
    bouma_selection s = {.size = sizeof(s)};
    const void *data;

    REQUIRE(!bouma_refinement_open(&r, v, coarsest, &box));
    for (int k = coarsest; k >= 0; k--) {
        CHECK_EQ(bouma_refinement_get(&data, &s, &level, r), BOUMA_OK);
        CHECK_EQ(level, k);
        CHECK_EQ(field_wrong(&t->field, &s, level, data, 1), 0);
        CHECK_EQ(bouma_refinement_next(r), k ? BOUMA_OK : BOUMA_ENOTFOUND);
    }
    bouma_refinement_free(r);
}

static void check_queries(const struct trial *t, bouma_variable *v, int levels)
{
    uint64_t random = 60 + (uint64_t)t->ranks->rank;

    for (int i = 0; i < 3; i++) {
        bouma_box box = random_box(&t->field, &random);
        int level = (int)check_below(&random, levels);

        CHECK_EQ(query_wrong(&t->field, v, level, &box, 1), 0);
    }
    CHECK_EQ(query_wrong(&t->field, v, 0, NULL, 1), 0);
}

static void read_steps(const struct trial *t)
{
    bouma_grid_info info = {.size = sizeof(info)};
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_step *step;
    bouma_grid *g;

    REQUIRE(!bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, t->path, NULL));
    if (bouma_step_open(&step, ds, 1)) {
        printf("%s\n", bouma_error_message(ds));
        REQUIRE(!"a step that can be opened");
    }
    g = bouma_step_find_grid(step, "g");
    REQUIRE(g);
    v = bouma_grid_find_variable(g, "v");
    REQUIRE(v);
    bouma_grid_info_get(&info, g);
    CHECK_EQ(info.layout, BOUMA_LAYOUT_HZ);
    if (t->grid.hz_template)
        CHECK(!strcmp(info.hz_template, t->text));
    CHECK_EQ(info.hz_block_bits, t->grid.hz_block_bits);
    CHECK_EQ(info.hz_index == BOUMA_HZ_INDEX_LOCAL,
             t->grid.hz_index == BOUMA_HZ_INDEX_LOCAL);
    CHECK_EQ(info.hz_partitions, t->grid.hz_index == BOUMA_HZ_INDEX_LOCAL
                                     ? t->grid.hz_partitions
                                     : 1);
    check_boxes(t, step, v, info.levels);
    check_refinement(t, v, info.levels);
    check_queries(t, v, info.levels);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_alone(const struct trial *t)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[512];

    for (int64_t step = 0; step < STEPS; step++)
        CHECK_EQ(wrong_on_disk(t->path, step, "v", &t->field), 0);
    CHECK_EQ(bouma_verify(&report, t->path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int i = 0; i < TRIALS; i++) {
        struct trial t;
        int before = check_counts()->failed;

        trial_init(&t, &ranks, i);
        write_steps(&t);
        read_steps(&t);
        if (ranks.rank == 0)
            check_alone(&t);
        if (check_counts()->failed > before)
            printf(
                "trial %d: template %s, blocks of 2^%d, %d partitions (%s)\n",
                i, t.text, t.grid.hz_block_bits, t.grid.hz_partitions,
                t.grid.hz_index == BOUMA_HZ_INDEX_LOCAL ? "local" : "global");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
