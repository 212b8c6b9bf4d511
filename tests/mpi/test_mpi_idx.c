/* test_mpi_idx.c -- grids with 'idx', written by all ranks in many ways, are read
 * by the library and by a reader of IDX that knows nothing of it; and so they
 * are when steps are written again, dropped, drained, and when links are
 * mended. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../helpers/fault_io.h"
#include "../helpers/idx_view.h"
#include "blocks.h"
#include "check.h"

enum { TRIALS = 24, FIELDS = 3, MOST_BITS = 12 };

struct trial {
    const struct ranks *ranks;
    int number;
    char path[512];
    struct field fields[FIELDS];
    int count;
    bouma_options options;
    bouma_grid_spec grid;
    char text[MOST_BITS + 8]; /* the template */
};

static void random_grid(struct trial *t, uint64_t *random)
{
    int ndims = 2 + (int)check_below(random, 2);
    int bits = ndims + (int)check_below(random, MOST_BITS - ndims);
    bouma_grid_spec *g = &t->grid;

    *g = (bouma_grid_spec){.size = sizeof(*g),
                           .ndims = ndims,
                           .shape = {1, 1, 1},
                           .layout = BOUMA_LAYOUT_HZ,
                           .idx = 1};
    for (int i = 0; i < bits; i++) {
        int axis = i < ndims ? i : (int)check_below(random, ndims);

        t->text[i] = "xyz"[axis];
        g->shape[ndims - 1 - axis] *= 2;
    }
    for (int d = 0; d < ndims; d++)
        if (check_below(random, 3) && g->shape[d] > 1)
            g->shape[d] -= check_below(random, g->shape[d] / 2 + 1);
    if (check_below(random, 2)) /* else one is made */
        g->hz_template = t->text;
    g->hz_block_bits = 1 + (int)check_below(random, bits);
    g->hz_blocks_per_file = 1 + (int)check_below(random, 20);
    g->hz_order = check_below(random, 2) ? BOUMA_HZ_ORDER_CURVE : 0;
}

static void trial_init(struct trial *t, const struct ranks *ranks, int number)
{
    uint64_t random = 7000 + (uint64_t)number;

    memset(t, 0, sizeof(*t));
    t->ranks = ranks;
    t->number = number;
    random_grid(t, &random);
    t->count = 1 + (int)check_below(&random, FIELDS);
    for (int i = 0; i < t->count; i++) {
        struct field *f = &t->fields[i];

        f->type = (bouma_type)(1 + check_below(&random, 10));
        f->components = 1 + (int)check_below(&random, 3);
        f->ndims = t->grid.ndims;
        memcpy(f->shape, t->grid.shape, sizeof(f->shape));
        f->salt = (unsigned)(number * 10 + i);
    }
    path_in(ranks, t->path, "idx", number);
    t->options = (bouma_options){.size = sizeof(t->options)};
    t->options.durability =
        number % 3 == 2 ? BOUMA_DURABILITY_GROUP : BOUMA_DURABILITY_FAST;
    t->options.group = 2;
    t->options.async = (int)check_below(&random, 2);
    t->options.order = (bouma_order)check_below(&random, 3);
    t->options.replace = 1;
}

/* The values of a step that was written for the 'version'-th time. */
static int64_t values_of(int64_t step, int version)
{
    return step + 100 * version;
}

static void define(const struct trial *t, bouma_dataset *ds,
                   bouma_variable **variables)
{
    bouma_grid *g = NULL;

    if (bouma_grid_define(&g, ds, "g", &t->grid)) {
        printf("%s\n", bouma_error_message(ds));
        REQUIRE(!"a grid that can be defined");
    }
    for (int i = 0; i < t->count; i++) {
        bouma_variable_spec spec = {.size = sizeof(spec),
                                    .type = t->fields[i].type,
                                    .components = t->fields[i].components};
        char name[16];

        snprintf(name, sizeof(name), "v %d", i);
        CHECK_EQ(bouma_variable_define(&variables[i], g, name, &spec),
                 BOUMA_OK);
    }
}

static void write_step(const struct trial *t, bouma_dataset *ds,
                       bouma_variable **variables, int64_t step, int version)
{
    uint64_t shared = 17 + (uint64_t)step, own = 18 + (uint64_t)t->ranks->rank;
    struct cutting cutting;
    struct puts puts[FIELDS];
    int rc;

    cutting_make(&cutting, (enum cut)(t->number % CUTS), &t->fields[0],
                 t->ranks->size, &shared);
    CHECK_EQ(bouma_step_begin(ds, step, (double)step), BOUMA_OK);
    for (int i = 0; i < t->count; i++)
        CHECK_EQ(puts_make(&puts[i], variables[i], &t->fields[i], &cutting,
                           values_of(step, version), &own),
                 BOUMA_OK);
    rc = bouma_step_end(ds);
    if (rc && !t->ranks->rank)
        printf("%s\n", bouma_error_message(ds));
    CHECK_EQ(rc, BOUMA_OK);
    if (t->options.async)
        CHECK_EQ(bouma_dataset_wait(ds), BOUMA_OK);
    for (int i = 0; i < t->count; i++)
        CHECK_EQ(puts_free(&puts[i]), 0);
}

/* What a step should have, seen by a reader of IDX. */
static int64_t wrong_in_view(const struct trial *t, const struct idx_view *view,
                             int field, int64_t step, int version)
{
    const struct field *f = &t->fields[field];
    char *data = idx_view_read(view, field, (long)step);
    size_t value = bouma_type_size(f->type), n = 0;
    int64_t shape[3] = {1, 1, 1}, wrong = 0;

    if (!data)
        return -1;
    for (int d = 0; d < f->ndims; d++)
        shape[3 - f->ndims + d] = f->shape[d];
    for (int64_t z = 0; z < shape[0]; z++)
        for (int64_t y = 0; y < shape[1]; y++)
            for (int64_t x = 0; x < shape[2]; x++)
                for (int c = 0; c < f->components; c++, n++) {
                    const int64_t all[3] = {z, y, x};
                    uint64_t should = 0;

                    field_value(&should, f, all + 3 - f->ndims, c,
                                values_of(step, version));
                    wrong += memcmp(data + n * value, &should, value) != 0;
                }
    free(data);
    return wrong;
}

struct expected {
    int64_t step;
    int version;
};

/* Rank 0: these steps are there, for both kinds of readers, and no others. */
static void check_steps(const struct trial *t, const char *path,
                        const struct expected *steps, int count)
{
    bouma_verify_report report = {.size = sizeof(report)};
    struct idx_view view;
    char message[512];

    if (t->ranks->rank)
        return;
    REQUIRE(idx_view_open(&view, bouma_io_posix(), path, "g"));
    CHECK_EQ(view.ndims, t->grid.ndims);
    CHECK_EQ(view.field_count, t->count);
    CHECK_EQ(view.step_count, count);
    for (int s = 0; s < count && s < view.step_count; s++) {
        CHECK_EQ(view.steps[s], steps[s].step);
        for (int i = 0; i < t->count; i++)
            CHECK_EQ(
                wrong_in_view(t, &view, i, steps[s].step, steps[s].version), 0);
    }
    idx_view_close(&view);
    for (int i = 0; i < t->count; i++)
        CHECK_EQ(view.fields[i].bytes, bouma_type_size(t->fields[i].type));
    CHECK_EQ(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(report.notes, 0);
}

static void check_library(const struct trial *t, int64_t step, int version)
{
    bouma_dataset *ds;
    bouma_step *s;

    if (t->ranks->rank)
        return;
    REQUIRE(!bouma_dataset_open(&ds, t->path, NULL));
    REQUIRE(!bouma_step_open(&s, ds, step));
    for (int i = 0; i < t->count; i++) {
        bouma_grid *g = bouma_step_find_grid(s, "g");
        bouma_variable *v = bouma_grid_variable(g, i);
        bouma_grid_info info = {.size = sizeof(info)};

        bouma_grid_info_get(&info, g);
        CHECK_EQ(info.idx, 1);
        CHECK_EQ(info.hz_order, BOUMA_HZ_ORDER_CURVE);
        for (int level = 0; level < info.levels; level++)
            CHECK_EQ(query_wrong(&t->fields[i], v, level, NULL,
                                 values_of(step, version)),
                     0);
    }
    bouma_step_free(s);
    bouma_dataset_free(ds);
}

/* Links that are missing are noted, and made anew. */
static void check_repair(const struct trial *t, const struct expected *steps,
                         int count)
{
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    char name[600], message[512];

    if (t->ranks->rank)
        return;
    snprintf(name, sizeof(name), "%s/idx/g.idx", t->path);
    CHECK_EQ(unlink(name), 0);
    snprintf(name, sizeof(name), "%s/idx/g/time%09d", t->path,
             (int)steps[0].step);
    CHECK_EQ(unlink(name), 0);
    CHECK_EQ(bouma_verify(&report, t->path, BOUMA_DEPTH_META, NULL, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(report.notes, 2);
    CHECK_EQ(bouma_repair(&repaired, t->path, 1, NULL, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(repaired.actions, 2);
    check_steps(t, t->path, steps, count);
}

static void run_trial(struct trial *t)
{
    static const struct expected first[] = {{0, 0}, {3, 1}, {4, 0}, {9, 0}};
    static const struct expected later[] = {{0, 0}, {3, 1}, {5, 0}};
    bouma_variable *variables[FIELDS] = {NULL};
    bouma_dataset *ds;

    REQUIRE(
        !bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options));
    define(t, ds, variables);
    write_step(t, ds, variables, 0, 0);
    write_step(t, ds, variables, 3, 0);
    write_step(t, ds, variables, 4, 0);
    write_step(t, ds, variables, 9, 0);
    write_step(t, ds, variables, 3, 1);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    CHECK(!bouma_dataset_note(ds, 0));
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
    check_steps(t, t->path, first, 4);
    check_library(t, 3, 1);
    MPI_Barrier(MPI_COMM_WORLD);

    REQUIRE(
        !bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options));
    CHECK_EQ(bouma_dataset_truncate(ds, 3), BOUMA_OK);
    define(t, ds, variables);
    write_step(t, ds, variables, 5, 0);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
    check_steps(t, t->path, later, 3);
    check_repair(t, later, 3);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Through a local copy: the target has all that readers of IDX need. */
static void run_drained(struct trial *t)
{
    static const struct expected steps[] = {{0, 0}, {1, 1}};
    bouma_variable *variables[FIELDS] = {NULL};
    bouma_dataset *ds;
    char local[600];

    path_in(t->ranks, t->path, "drained", t->number);
    t->options.durability = BOUMA_DURABILITY_DURABLE;
    t->options.persist = 1;
    snprintf(local, sizeof(local), "%s/near", t->ranks->dir);
    t->options.local = local;
    if (t->ranks->rank == 0)
        mkdir(local, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    REQUIRE(
        !bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options));
    define(t, ds, variables);
    write_step(t, ds, variables, 0, 0);
    write_step(t, ds, variables, 1, 0);
    write_step(t, ds, variables, 1, 1);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
    check_steps(t, t->path, steps, 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0: what IDX lists is whole, of some version; and so it is when repair has
 * nothing left to do. */
static void check_whole(const struct trial *t)
{
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    struct idx_view view;
    char message[512];

    if (t->ranks->rank)
        return;
    for (int again = 0; again < 2; again++) {
        REQUIRE(idx_view_open(&view, bouma_io_posix(), t->path, "g"));
        for (int s = 0; s < view.step_count; s++)
            for (int k = 0; k < t->count; k++)
                CHECK(!wrong_in_view(t, &view, k, view.steps[s], 0) ||
                      !wrong_in_view(t, &view, k, view.steps[s], 1));
        idx_view_close(&view);
        CHECK_EQ(bouma_repair(&repaired, t->path, 1, NULL, NULL, NULL, message,
                              sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(repaired.hopeless, 0);
    }
    CHECK_EQ(repaired.actions, 0);
}

/* Call number 'at' of one rank fails, in a step that is written and one that is
 * written again: all ranks are told the same, and what IDX lists is whole. */
static void run_failing(struct trial *t, long at)
{
    static const struct fault failure = {"EIO", FAULT_ERROR, EIO};
    static const int64_t steps[] = {0, 1, 0};
    bouma_variable *variables[FIELDS] = {NULL};
    struct fault_io faulty;
    bouma_dataset *ds;

    path_in(t->ranks, t->path, "failing", at);
    t->options.durability = BOUMA_DURABILITY_FAST;
    t->options.async = 0;
    fault_io_init(&faulty, bouma_io_posix());
    t->options.io = &faulty.table;
    REQUIRE(
        !bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options));
    define(t, ds, variables);
    write_step(t, ds, variables, 0, 0);
    if (t->ranks->rank == (int)at % t->ranks->size)
        fault_io_arm(&faulty, &failure, at, 0);
    for (int i = 1; i < 3; i++) {
        uint64_t shared = 5, own = 6 + (uint64_t)t->ranks->rank;
        struct cutting cutting;
        struct puts kept[FIELDS];
        int rc;

        cutting_make(&cutting, CUT_BLOCKS, &t->fields[0], t->ranks->size,
                     &shared);
        CHECK_EQ(bouma_step_begin(ds, steps[i], 0), BOUMA_OK);
        for (int k = 0; k < t->count; k++)
            CHECK_EQ(puts_make(&kept[k], variables[k], &t->fields[k], &cutting,
                               values_of(steps[i], i / 2), &own),
                     BOUMA_OK);
        rc = bouma_step_end(ds);
        CHECK(same_on_all(rc, rc ? bouma_error_message(ds) : ""));
        for (int k = 0; k < t->count; k++)
            CHECK_EQ(puts_free(&kept[k]), 0);
    }
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    fault_io_disarm(&faulty);
    t->options.io = NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    check_whole(t);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int i = 0; i < TRIALS; i++) {
        struct trial t;
        int before = check_counts()->failed;

        trial_init(&t, &ranks, i);
        run_trial(&t);
        if (i % 6 == 0)
            run_drained(&t);
        if (check_counts()->failed > before)
            printf("trial %d: template %s, blocks of 2^%d\n", i, t.text,
                   t.grid.hz_block_bits);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (long at = 1; at < 120; at += 3) {
        struct trial t;
        int before = check_counts()->failed;

        trial_init(&t, &ranks, 1);
        run_failing(&t, at);
        if (check_counts()->failed > before)
            printf("call %ld failed\n", at);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
