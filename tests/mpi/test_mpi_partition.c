/* test_mpi_partition.c -- partitions of grids in HZ order: what they are written
 * as, who talks to whom, and that all ranks agree whatever goes wrong in one of
 * them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../helpers/arrays.h"
#include "blocks.h"
#include "check.h"
#include "comm/comm_mpi.h"
#include "fault_alloc.h"
#include "fault_io.h"
#include "sized.h"

enum { VARIABLES = 4, STEPS = 3 };

/* ---- who sends what to whom ---------------------------------------------- */

static struct traffic {
    int on;
    const int *group;  /* [ranks] */
    int mine;          /* this rank's */
    long strays;       /* messages of a group that leave it */
    long inside;       /* messages of a group */
    long long crossed; /* bytes that go from one group to another */
} traffic;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    if (traffic.on && traffic.group[peer] != traffic.mine) {
        traffic.strays += tag >= BM_MPI_GROUP_TAG;
        traffic.crossed += count;
    } else if (traffic.on) {
        traffic.inside += tag >= BM_MPI_GROUP_TAG;
    }
    return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

static long long sum_of(long long mine)
{
    long long all;

    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* ---- decompositions ------------------------------------------------------ */

enum fit {
    ALIGNED,    /* each rank is in one partition */
    FEW,        /* one rank for each partition; the others have nothing */
    STRADDLING, /* rank 0 has a part of the last partition, too */
    ANY,        /* whatever comes */
    FITS
};

struct trial {
    const struct ranks *ranks;
    bouma_grid_spec grid;
    char text[24];
    int partitions; /* that ranks are cut by */
    enum fit fit;
    struct field field[VARIABLES];
    struct cutting cutting;
    int group[64]; /* of each rank */
    bouma_options options;
    int number;
};

/* The box that the first splits of the template leave of the grid. */
static bouma_box box_of(const struct trial *t, int partition)
{
    int ndims = t->grid.ndims;
    int64_t size[3] = {1, 1, 1};
    bouma_box box = {{0, 0, 0}, {0, 0, 0}};

    for (int i = 0; t->text[i]; i++)
        size[ndims - 1 - (t->text[i] - 'x')] *= 2;
    for (int n = t->partitions / 2, i = 0; n; n /= 2, i++) {
        int d = ndims - 1 - (t->text[i] - 'x');

        size[d] /= 2;
        if (partition & n)
            box.lo[d] += size[d];
    }
    for (int d = 0; d < ndims; d++) {
        box.hi[d] = box.lo[d] + size[d];
        if (box.hi[d] > t->grid.shape[d])
            box.hi[d] = t->grid.shape[d];
    }
    return box;
}

static void add_block(struct trial *t, int rank, const bouma_box *box)
{
    for (int d = 0; d < t->grid.ndims; d++)
        if (box->lo[d] >= box->hi[d])
            return;
    REQUIRE(t->cutting.count < MAX_BLOCKS);
    t->cutting.blocks[t->cutting.count].rank = rank;
    t->cutting.blocks[t->cutting.count++].box = *box;
}

/* A partition in slabs, one for each of its ranks: the last axis is cut, and
 * not in even parts. */
static void cut_partition(struct trial *t, int partition)
{
    int ranks = t->ranks->size, n = t->partitions, last = t->grid.ndims - 1;
    int first = (int)((int64_t)partition * ranks / n);
    int count = (int)((int64_t)(partition + 1) * ranks / n) - first;
    bouma_box box = box_of(t, partition), slab = box;
    int64_t length = box.hi[last] - box.lo[last];

    count = t->fit == FEW ? 1 : count;
    for (int i = 0; i < count; i++) {
        int rank = first + i;

        slab.lo[last] = box.lo[last] + length * i * i / (count * count);
        slab.hi[last] =
            box.lo[last] + length * (i + 1) * (i + 1) / (count * count);
        if (t->fit == STRADDLING && partition == n - 1 && i == count - 1)
            rank = 0;
        add_block(t, rank, &slab);
    }
    for (int i = first; i < first + count; i++)
        t->group[i] = partition;
}

static void cut(struct trial *t, uint64_t *random)
{
    t->cutting.count = 0;
    if (t->fit == ANY) {
        cutting_make(&t->cutting, (enum cut)check_below(random, CUTS),
                     &t->field[0], t->ranks->size, random);
        return;
    }
    for (int p = 0; p < t->partitions; p++)
        cut_partition(t, p);
}

/* ---- writing ------------------------------------------------------------- */

static const struct kind {
    bouma_type type;
    int components;
    bouma_codec codec;
    double tolerance;
    bouma_tolerance how;
} kinds[VARIABLES] = {
    {BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW, 0, 0},
    {BOUMA_TYPE_I16, 3, BOUMA_CODEC_ZSTD, 0, 0},
    {BOUMA_TYPE_F64, 1, BOUMA_CODEC_EXACT, 0, 0},
    {BOUMA_TYPE_F32, 2, BOUMA_CODEC_INTERP, 1e-3, BOUMA_TOLERANCE_RELATIVE}};

/* The first 'variables' of them, in all steps. */
static void write_run(struct trial *t, const char *path, int variables)
{
    uint64_t own = 18 + (uint64_t)t->ranks->rank;
    bouma_variable *v[VARIABLES] = {NULL};
    bouma_grid *g = NULL;
    bouma_dataset *ds;

    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &t->options));
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &t->grid), BOUMA_OK);
    for (int i = 0; i < variables; i++) {
        bouma_variable_spec spec = {.size = sizeof(spec),
                                    .type = kinds[i].type,
                                    .components = kinds[i].components,
                                    .codec = kinds[i].codec,
                                    .tolerance = kinds[i].tolerance,
                                    .tolerance_kind = kinds[i].how};
        char name[16];

        snprintf(name, sizeof(name), "v%d", i);
        CHECK_EQ(bouma_variable_define(&v[i], g, name, &spec), BOUMA_OK);
    }
    for (int64_t step = 0; step < STEPS; step++) {
        struct puts puts[VARIABLES];
        int rc;

        CHECK_EQ(bouma_step_begin(ds, step, 0.5), BOUMA_OK);
        /* One that is not in all steps. */
        for (int i = 0; i < variables - (step == 1 && variables > 1); i++)
            CHECK_EQ(puts_make(&puts[i], v[i], &t->field[i], &t->cutting, step,
                               &own),
                     BOUMA_OK);
        rc = bouma_step_end(ds);
        if (rc && !t->ranks->rank)
            printf("%s\n", bouma_error_message(ds));
        CHECK_EQ(rc, BOUMA_OK);
        if (t->options.async)
            CHECK_EQ(bouma_dataset_wait(ds), BOUMA_OK);
        for (int i = 0; i < variables - (step == 1 && variables > 1); i++)
            CHECK_EQ(puts_free(&puts[i]), 0);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_run(const struct trial *t, const char *path, int variables)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[512], name[16];

    for (int64_t step = 0; step < STEPS; step++)
        for (int i = 0; i < variables - (step == 1 && variables > 1); i++) {
            snprintf(name, sizeof(name), "v%d", i);
            if (!kinds[i].tolerance) /* else its bytes are compared */
                CHECK_EQ(wrong_on_disk(path, step, name, &t->field[i]), 0);
        }
    CHECK_EQ(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
}

static void init(struct trial *t, const struct ranks *ranks, const char *text,
                 const int64_t *shape, int ndims)
{
    memset(t, 0, sizeof(*t));
    t->ranks = ranks;
    snprintf(t->text, sizeof(t->text), "%s", text);
    t->grid = (bouma_grid_spec){.size = sizeof(t->grid),
                                .ndims = ndims,
                                .layout = BOUMA_LAYOUT_HZ,
                                .hz_template = t->text,
                                .hz_block_bits = 5,
                                .hz_blocks_per_file = 4};
    memcpy(t->grid.shape, shape, (size_t)ndims * sizeof(*shape));
    for (int i = 0; i < VARIABLES; i++) {
        t->field[i] = (struct field){.type = kinds[i].type,
                                     .components = kinds[i].components,
                                     .ndims = ndims,
                                     .salt = (unsigned)i + 1};
        memcpy(t->field[i].shape, t->grid.shape, sizeof(t->field[i].shape));
    }
    t->options = (bouma_options){.size = sizeof(t->options)};
    t->options.durability = BOUMA_DURABILITY_FAST;
    memset(t->options.id, 7, sizeof(t->options.id));
    for (t->partitions = 8; t->partitions > ranks->size;)
        t->partitions /= 2;
}

/* The same files as without partitions; and all samples if each has an
 * index. */
static void check_trial(struct trial *t)
{
    char plain[512], path[512];
    int number = t->number * 4;

    t->grid.hz_partitions = 0;
    t->grid.hz_index = 0;
    path_in(t->ranks, plain, "partition", number);
    write_run(t, plain, VARIABLES);
    t->grid.hz_partitions = t->partitions;
    path_in(t->ranks, path, "partition", number + 1);
    write_run(t, path, VARIABLES);
    /* With predict, chunks lie as they came. */
    for (int64_t step = 0; step < STEPS && !t->ranks->rank; step++)
        if (t->options.predict != BOUMA_PREDICT_ON)
            CHECK(same_subfiles(plain, path, step));
    if (!t->ranks->rank)
        check_run(t, path, VARIABLES);
    t->grid.hz_index = BOUMA_HZ_INDEX_LOCAL;
    t->grid.hz_partitions = t->partitions > 1 ? t->partitions : 4;
    path_in(t->ranks, path, "partition", number + 2);
    write_run(t, path, VARIABLES);
    if (!t->ranks->rank)
        check_run(t, path, VARIABLES);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void partitioned_is_unpartitioned(const struct ranks *ranks)
{
    static const struct {
        const char *text;
        int64_t shape[3];
        int ndims;
    } grids[] = {{"zyxzyxzyxzyx", {16, 16, 16}, 3},
                 {"yxxyyxyxyxyx", {50, 61, 0}, 2},
                 {"xyzxyzxyzxyz", {9, 16, 13}, 3},
                 {"xxxxxxxxxxx", {1700, 0, 0}, 1}};
    uint64_t random = 5;

    for (int i = 0; i < 4; i++)
        for (int fit = 0; fit < FITS; fit++) {
            struct trial t;

            init(&t, ranks, grids[i].text, grids[i].shape, grids[i].ndims);
            t.number = i * FITS + fit;
            t.fit = (enum fit)fit;
            t.grid.hz_order = 1 + (bouma_hz_order)check_below(&random, 2);
            t.grid.hz_blocks_per_file = 1 + (int)check_below(&random, 5);
            t.options.place = (bouma_place)(1 + check_below(&random, 4));
            t.options.async = (int)check_below(&random, 2);
            t.options.predict = (bouma_predict)check_below(&random, 3);
            t.options.distribute = (bouma_distribute)check_below(&random, 4);
            cut(&t, &random);
            check_trial(&t);
        }
}

/* ---- with others in the step --------------------------------------------- */

enum { GRIDS = 5 };

/* Grids of all kinds, each cut in its own way. */
static int define_grids(struct trial *t, bouma_dataset *ds, bouma_variable **v)
{
    const bouma_grid_spec specs[GRIDS] = {
        {.layout = BOUMA_LAYOUT_HZ, .hz_block_bits = 4},
        {.layout = BOUMA_LAYOUT_HZ,
         .hz_template = "zyxzyxzyxzyx",
         .hz_block_bits = 5,
         .hz_blocks_per_file = 4,
         .hz_partitions = t->partitions},
        {.layout = BOUMA_LAYOUT_PATCH, .patch = {8, 8, 8}},
        {.layout = BOUMA_LAYOUT_HZ,
         .hz_template = "zyxzyxzyxzyx",
         .hz_block_bits = 6,
         .hz_blocks_per_file = 2,
         .hz_partitions = 8,
         .hz_index = BOUMA_HZ_INDEX_LOCAL},
        {.layout = BOUMA_LAYOUT_HZ,
         .hz_template = "zyxzyxzyxzyx",
         .hz_block_bits = 3,
         .hz_blocks_per_file = 30,
         .hz_partitions = t->partitions > 1 ? 2 : 1}};
    bouma_variable_spec about = {.size = sizeof(about), .type = BOUMA_TYPE_F32};
    int rc = BOUMA_OK;

    for (int i = 0; i < GRIDS && !rc; i++) {
        bouma_grid_spec spec = specs[i];
        char name[16];
        bouma_grid *g;

        snprintf(name, sizeof(name), "%c", "abcde"[i]);
        spec.size = sizeof(spec);
        spec.ndims = 3;
        memcpy(spec.shape, t->grid.shape, sizeof(spec.shape));
        about.codec = i % 2 ? BOUMA_CODEC_RAW : BOUMA_CODEC_ZSTD;
        rc = bouma_grid_define(&g, ds, i == 1 ? "g" : name, &spec);
        if (!rc)
            rc = bouma_variable_define(&v[i], g, "v", &about);
    }
    return rc;
}

/* The number of values of the variable in each grid that are wrong. */
static int64_t wrong_in(const struct trial *t, bouma_step *step, int grid)
{
    char name[2] = {"abcde"[grid], 0};
    bouma_grid *g = bouma_step_find_grid(step, grid == 1 ? "g" : name);
    bouma_variable *v = g ? bouma_grid_find_variable(g, "v") : NULL;
    bouma_selection all = {.size = sizeof(all)};
    int64_t wrong = 1;
    void *data;

    if (!v || bouma_variable_select(&all, v, 0, NULL))
        return 1;
    data = malloc(all.bytes);
    REQUIRE(data);
    if (!test_read(v, 0, NULL, data))
        wrong = field_wrong(&t->field[0], &all, 0, data, 1);
    free(data);
    return wrong;
}

static void grids_of_all_kinds(const struct ranks *ranks, int number)
{
    const int64_t shape[3] = {16, 13, 16};
    bouma_variable *v[GRIDS] = {NULL};
    uint64_t own = 4 + (uint64_t)ranks->rank;
    struct puts puts[GRIDS];
    bouma_record record = {.size = sizeof(record)};
    bouma_dataset *ds;
    struct trial t;
    char path[512];

    init(&t, ranks, "zyxzyxzyxzyx", shape, 3);
    t.options.files = number;
    t.options.async = number == 5;
    cut(&t, NULL);
    path_in(ranks, path, "kinds", number);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &t.options));
    REQUIRE(!define_grids(&t, ds, v));
    for (int64_t step = 0; step < 2; step++) {
        CHECK_EQ(bouma_step_begin(ds, step, 0), BOUMA_OK);
        for (int i = (int)step; i < GRIDS; i++) /* one is in the first alone */
            CHECK_EQ(
                puts_make(&puts[i], v[i], &t.field[0], &t.cutting, 1, &own),
                BOUMA_OK);
        CHECK_EQ(end_step(&record, ds), BOUMA_OK);
        if (t.options.async)
            CHECK_EQ(wait_for_step(&record, ds), BOUMA_OK);
        for (int i = (int)step; i < GRIDS; i++)
            CHECK_EQ(puts_free(&puts[i]), 0);
        CHECK_EQ(record.raw_bytes,
                 (uint64_t)(4 * 16 * 13 * 16) * (uint64_t)(GRIDS - step));
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
    REQUIRE(!bouma_dataset_open(&ds, path, NULL));
    for (int64_t n = 0; n < 2; n++) {
        bouma_step *step;

        REQUIRE(!bouma_step_open(&step, ds, n));
        for (int i = (int)n; i < GRIDS; i++)
            CHECK_EQ(wrong_in(&t, step, i), 0);
        bouma_step_free(step);
    }
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- traffic ------------------------------------------------------------- */

/* Bytes that go from one partition's ranks to another's, and messages inside of
 * groups; of 'edge'^3 floats, as they are, in 64 files or a few more. */
static long long crossing(const struct ranks *ranks, int64_t edge,
                          int partitions, bouma_hz_index index)
{
    const int64_t shape[3] = {edge, edge, edge};
    static int number;
    struct trial t;
    char path[512];

    init(&t, ranks, edge == 32 ? "zyxzyxzyxzyxzyx" : "zyxzyxzyxzyxzyxzyx",
         shape, 3);
    t.grid.hz_block_bits = 6;
    t.grid.hz_blocks_per_file = edge == 32 ? 8 : 64;
    t.options.transport = BOUMA_TRANSPORT_MESSAGES;
    t.options.place = BOUMA_PLACE_SPREAD;
    cut(&t, NULL);
    t.grid.hz_partitions = partitions;
    t.grid.hz_index = index;
    traffic = (struct traffic){1, t.group, t.group[ranks->rank], 0, 0, 0};
    write_run(&t, path_in(ranks, path, "traffic", number++), 1);
    traffic.on = 0;
    if (!ranks->rank)
        check_run(&t, path, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(sum_of(traffic.strays), 0);
    return sum_of(traffic.crossed);
}

/* Between partitions go the files that they share, at most from holder to owner
 * and from there to the writer, and what all ranks say to each other; and no
 * message of a group leaves it. */
static void partitions_keep_to_themselves(const struct ranks *ranks)
{
    long long all, global, local, more;
    int n = 8;

    while (n > ranks->size)
        n /= 2;
    if (n == 1)
        return;
    all = crossing(ranks, 32, 0, 0);
    CHECK_EQ(sum_of(traffic.inside), 0);
    global = crossing(ranks, 32, n, BOUMA_HZ_INDEX_GLOBAL);
    CHECK_EQ(sum_of(traffic.inside) > 0, n < ranks->size);
    local = crossing(ranks, 32, n, BOUMA_HZ_INDEX_LOCAL);
    CHECK_EQ(sum_of(traffic.inside) > 0, n < ranks->size);
    CHECK(global < all);
    CHECK(local < global);
    /* With more samples, and as many files, nothing more goes: one block, and
     * what ranks tell each other. */
    more = crossing(ranks, 64, n, BOUMA_HZ_INDEX_LOCAL);
    CHECK(more < local + local / 10);
    if (!ranks->rank)
        printf("bytes between partitions: %lld; %lld (global), %lld (local), "
               "%lld (local, 8 times the samples)\n",
               all, global, local, more);
}

/* ---- mistakes ------------------------------------------------------------ */

static void check_refused(const struct ranks *ranks,
                          const bouma_grid_spec *spec, const char *text)
{
    static int number;
    bouma_dataset *ds;
    bouma_grid *g;
    char path[512];

    path_in(ranks, path, "refused", number++);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, NULL));
    CHECK_EQ(bouma_grid_define(&g, ds, "g", spec), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), text);
    bouma_dataset_free(ds);
}

static void bad_numbers_are_refused(const struct ranks *ranks)
{
    const int64_t shape[3] = {16, 16, 16};
    struct trial t;

    init(&t, ranks, "zyxzyxzyxzyx", shape, 3);
    t.grid.hz_partitions = 3;
    check_refused(ranks, &t.grid,
                  ranks->size < 3 ? "more than the" : "must be a power of two");
    t.grid.hz_partitions = -4;
    check_refused(ranks, &t.grid, "must be a power of two");
    t.grid.hz_partitions = 16;
    check_refused(ranks, &t.grid, "16 partitions, more than the");
    t.grid.hz_partitions = 0;
    t.grid.hz_index = BOUMA_HZ_INDEX_LOCAL;
    check_refused(ranks, &t.grid, "set 'hz_partitions'");
    t.grid.hz_partitions = 64;
    check_refused(ranks, &t.grid,
                  "64 partitions, more than the 2^5 samples of a block");
    t.grid.hz_block_bits = 10;
    t.grid.hz_partitions = 8;
    check_refused(ranks, &t.grid, "8 partitions, more than its 2^2 blocks");
    t.grid.hz_partitions = 1 << 20;
    check_refused(ranks, &t.grid, "65536 is the most");
    t.grid.hz_partitions = 0;
    t.grid.hz_index = 5;
    check_refused(ranks, &t.grid, "hz_index");
    t.grid.layout = BOUMA_LAYOUT_PATCH;
    check_refused(ranks, &t.grid, "hz");
}

/* A dataset with a grid of partitions, to which ranks put what they like. */
struct setting {
    struct trial t;
    bouma_dataset *ds;
    bouma_variable *v;
    char path[512];
};

static int set_up(struct setting *s, const struct ranks *ranks, int number)
{
    const int64_t shape[3] = {16, 16, 16};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    bouma_grid *g = NULL;
    int rc;

    s->v = NULL;
    path_in(ranks, s->path, "setting", number);
    rc = bouma_dataset_create_mpi(&s->ds, MPI_COMM_WORLD, s->path,
                                  &s->t.options);
    if (!s->t.grid.ndims) {
        init(&s->t, ranks, "zyxzyxzyxzyx", shape, 3);
        cut(&s->t, NULL);
    }
    s->t.grid.hz_template = s->t.text;
    s->t.grid.hz_partitions = s->t.partitions;
    if (!rc)
        rc = bouma_grid_define(&g, s->ds, "g", &s->t.grid);
    if (!rc)
        rc = bouma_variable_define(&s->v, g, "v", &spec);
    return rc;
}

static int put_step(struct setting *s, const struct cutting *cutting,
                    int64_t step)
{
    uint64_t own = 3 + (uint64_t)s->t.ranks->rank;
    struct puts puts;
    int rc = bouma_step_begin(s->ds, step, 0), ended;

    if (rc)
        return rc;
    rc = puts_make(&puts, s->v, &s->t.field[0], cutting, step, &own);
    ended = bouma_step_end(s->ds);
    CHECK_EQ(puts_free(&puts), 0);
    return rc ? rc : ended;
}

/* What is wrong in one partition is told on all ranks, with the ranks' own
 * numbers; the handle goes on. */
static void mistakes_in_a_partition_are_told(const struct ranks *ranks)
{
    struct setting s;
    struct cutting wrong;
    char text[64];
    int last;

    if (ranks->size == 1)
        return;
    memset(&s, 0, sizeof(s));
    s.t.options = (bouma_options){.size = sizeof(s.t.options)};
    REQUIRE(!set_up(&s, ranks, 0));
    CHECK_EQ(put_step(&s, &s.t.cutting, 0), BOUMA_OK);
    wrong = s.t.cutting;
    last = --wrong.count;
    CHECK_EQ(put_step(&s, &wrong, 1), BOUMA_ECOVER);
    CHECK(same_on_all(BOUMA_ECOVER, bouma_error_message(s.ds)));
    CHECK_TEXT(bouma_error_message(s.ds), "no rank holds the samples in");
    CHECK_EQ(put_step(&s, &s.t.cutting, 1), BOUMA_OK);
    wrong = s.t.cutting;
    wrong.blocks[wrong.count] = wrong.blocks[last];
    wrong.blocks[wrong.count++].rank = wrong.blocks[last].rank;
    CHECK_EQ(put_step(&s, &wrong, 2), BOUMA_ECOVER);
    CHECK(same_on_all(BOUMA_ECOVER, bouma_error_message(s.ds)));
    snprintf(text, sizeof(text), "rank %d puts the samples",
             wrong.blocks[last].rank);
    CHECK_TEXT(bouma_error_message(s.ds), text);
    CHECK_EQ(put_step(&s, &s.t.cutting, 2), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(s.ds), BOUMA_OK);
    bouma_dataset_free(s.ds);
    for (int64_t step = 0; step < 3 && !ranks->rank; step++)
        CHECK_EQ(wrong_on_disk(s.path, step, "v", &s.t.field[0]), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank is in one partition of each of two grids: no note says that it holds
 * several. */
static void grids_with_the_same_partitions(const struct ranks *ranks)
{
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    uint64_t own = 3 + (uint64_t)ranks->rank;
    struct puts puts[2];
    bouma_variable *v;
    struct setting s;
    bouma_grid *g;

    memset(&s, 0, sizeof(s));
    s.t.options = (bouma_options){.size = sizeof(s.t.options)};
    REQUIRE(!set_up(&s, ranks, 4));
    REQUIRE(!bouma_grid_define(&g, s.ds, "h", &s.t.grid));
    REQUIRE(!bouma_variable_define(&v, g, "v", &spec));
    REQUIRE(!bouma_step_begin(s.ds, 0, 0));
    CHECK(!puts_make(&puts[0], s.v, &s.t.field[0], &s.t.cutting, 0, &own));
    CHECK(!puts_make(&puts[1], v, &s.t.field[0], &s.t.cutting, 0, &own));
    CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
    CHECK(!bouma_dataset_note(s.ds, 0));
    CHECK_EQ(puts_free(&puts[0]) + puts_free(&puts[1]), 0);
    bouma_dataset_free(s.ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Other partitions than rank 0 has; and a note where ranks straddle. */
static void differences_are_told(const struct ranks *ranks)
{
    struct setting s;
    int joined = 0;

    if (ranks->size == 1)
        return;
    memset(&s, 0, sizeof(s));
    s.t.options = (bouma_options){.size = sizeof(s.t.options)};
    REQUIRE(!set_up(&s, ranks, 1));
    CHECK_EQ(put_step(&s, &s.t.cutting, 0), BOUMA_OK);
    CHECK(!bouma_dataset_note(s.ds, 0));
    bouma_dataset_free(s.ds);
    s.t.cutting.count = 0;
    s.t.fit = STRADDLING;
    cut(&s.t, NULL);
    REQUIRE(!set_up(&s, ranks, 2));
    CHECK_EQ(put_step(&s, &s.t.cutting, 0), BOUMA_OK);
    for (int i = 0; bouma_dataset_note(s.ds, i); i++)
        joined |= strstr(bouma_dataset_note(s.ds, i),
                         "hold samples of several") != NULL;
    CHECK(joined);
    bouma_dataset_free(s.ds);
    s.t.partitions = ranks->rank == ranks->size - 1 ? 1 : s.t.partitions;
    REQUIRE(!set_up(&s, ranks, 3));
    CHECK_EQ(put_step(&s, &s.t.cutting, 0), BOUMA_EMISMATCH);
    CHECK(same_on_all(BOUMA_EMISMATCH, bouma_error_message(s.ds)));
    CHECK_TEXT(bouma_error_message(s.ds), "with 0 partitions, rank 0 with");
    bouma_dataset_free(s.ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- what fails on one rank ---------------------------------------------- */

/* Two steps with a fault in one of their calls, on the last rank: all ranks have
 * the same status and the message of that rank, and a step that failed can be
 * written again. *fired tells whether it came. */
static void try_fault(struct setting *s, struct fault_io *io,
                      struct fault_alloc *memory, long long *fired)
{
    int rc = set_up(s, s->t.ranks, 9), made = !rc;
    const char *none = sum_of(!s->ds) ? "" : NULL;
    char last[32];

    CHECK(same_on_all(rc, none ? none : bouma_error_message(s->ds)));
    snprintf(last, sizeof(last), "rank %d:", s->t.ranks->size - 1);
    for (int64_t step = 0; step < 2 && made; step++) {
        rc = put_step(s, &s->t.cutting, step);
        CHECK(same_on_all(rc, bouma_error_message(s->ds)));
        if (rc) {
            if (s->t.ranks->size > 1)
                CHECK_TEXT(bouma_error_message(s->ds), last);
            fault_io_disarm(io);
            fault_alloc_disarm(memory);
            CHECK_EQ(put_step(s, &s->t.cutting, step), BOUMA_OK);
        }
    }
    *fired = sum_of(io->fired + memory->fired);
    fault_io_disarm(io);
    fault_alloc_disarm(memory);
    if (made)
        bouma_dataset_close(s->ds);
    bouma_dataset_free(s->ds);
    for (int64_t step = 0; step < 2 && made && !s->t.ranks->rank; step++)
        CHECK_EQ(wrong_on_disk(s->path, step, "v", &s->t.field[0]), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!s->t.ranks->rank)
        remove_tree(s->path);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(memory->live, 0);
    CHECK_EQ(io->open, 0);
}

static void sweep(const struct ranks *ranks, int who, int of_memory, long from,
                  long stride)
{
    static const struct fault broken = {"EIO", FAULT_ERROR, EIO};
    const int64_t shape[3] = {16, 16, 16};
    struct fault_alloc memory;
    struct fault_io io;
    struct setting s;
    long long fired = 1;

    memset(&s, 0, sizeof(s));
    init(&s.t, ranks, "zyxzyxzyxzyx", shape, 3);
    cut(&s.t, NULL);
    fault_io_init(&io, bouma_io_posix());
    fault_alloc_init(&memory);
    s.t.options.io = &io.table;
    s.t.options.allocator = &memory.table;
    for (long at = from; fired && at < 20000; at += stride) {
        if (ranks->rank == who && of_memory)
            fault_alloc_arm(&memory, at, 0);
        else if (ranks->rank == who)
            fault_io_arm(&io, &broken, at, 0);
        try_fault(&s, &io, &memory, &fired);
    }
}

int main(int argc, char **argv)
{
    struct ranks ranks;
    long stride;

    ranks_init(&ranks, &argc, &argv);
    stride = argc > 1 ? atol(argv[1]) : 41;
    partitioned_is_unpartitioned(&ranks);
    grids_of_all_kinds(&ranks, 0);
    grids_of_all_kinds(&ranks, 5);
    grids_of_all_kinds(&ranks, 300);
    partitions_keep_to_themselves(&ranks);
    bad_numbers_are_refused(&ranks);
    mistakes_in_a_partition_are_told(&ranks);
    grids_with_the_same_partitions(&ranks);
    differences_are_told(&ranks);
    sweep(&ranks, ranks.size - 1, 1, 100, stride);
    sweep(&ranks, ranks.size - 1, 0, 5, 1 + stride / 8);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
