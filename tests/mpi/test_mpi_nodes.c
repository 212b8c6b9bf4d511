/* test_mpi_nodes.c -- ranks of a node have one plan in common: the files are
 * those that ranks write of which each has a plan of its own, whichever nodes
 * they are on, and whether their memory can be shared or not. */
#include <sys/resource.h>

#include "../helpers/arrays.h"
#include "../helpers/columns.h"
#include "blocks.h"

#include "../helpers/check.h"
#include "dataset/dataset.h"
#include "fault_alloc.h"
#include "sized.h"
#include "write/write_plan.h"

enum { STEPS = 4, ROWS = 20, WIDTH = 64, PARTICLES = 400 };

enum nodes { ALONE, ONE_NODE, PAIRS, TWO_NODES, PLACES };

static void settle(bouma_dataset *ds, enum nodes how)
{
    int rank = ds->comm->rank;
    int node = how == ONE_NODE    ? 0
               : how == PAIRS     ? rank / 2
               : how == TWO_NODES ? rank % 2
                                  : rank;
    struct bm_error error = {0};

    CHECK_EQ(bm_comm_settle(ds->comm, 1 + (uint64_t)node, &error), BOUMA_OK);
}

/* What is written, and how. */
struct load {
    const char *name;
    bouma_options options;
    bouma_codec codec;
    int partitions; /* of the grid in HZ order; 0: it has none */
    int few;        /* only patches */
    int particles;  /* beside them, in two sets: 2 of ranks that have them all
                       over the place, so that ranks are cut; else 1 */
};

struct run {
    const struct ranks *ranks;
    const struct load *load;
    char path[512];
    bouma_dataset *ds;
    bouma_variable *plain, *again, *blocked, *waves;
    bouma_particles *sets[2];
    float *data;
    float position[PARTICLES * 3];
};

static int define_particles(struct run *r)
{
    bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 3};
    int rc = BOUMA_OK;

    for (int i = 0; i < 2 && r->load->particles && !rc; i++)
        rc = bouma_particles_define(&r->sets[i], r->ds, i ? "ash" : "coal",
                                    &spec);
    return rc;
}

/* Patches, blocks in fixed files, and tiles. */
static int define(struct run *r)
{
    int64_t rows = (int64_t)ROWS * r->ranks->size;
    bouma_grid_spec patches = {.size = sizeof(patches),
                               .ndims = 2,
                               .shape = {rows, WIDTH},
                               .patch = {16, 16},
                               .levels = 2};
    bouma_grid_spec blocks = {.size = sizeof(blocks),
                              .ndims = 2,
                              .shape = {rows, WIDTH},
                              .layout = BOUMA_LAYOUT_HZ,
                              .hz_block_bits = 5,
                              .hz_blocks_per_file = 8,
                              .hz_partitions = r->load->partitions};
    bouma_grid_spec tiles = {.size = sizeof(tiles),
                             .ndims = 2,
                             .shape = {rows, WIDTH},
                             .layout = BOUMA_LAYOUT_HZ,
                             .hz_block_bits = 6,
                             .hz_wavelet = 1,
                             .hz_tile_bits = 8};
    bouma_variable_spec f32 = {
        .size = sizeof(f32), .type = BOUMA_TYPE_F32, .codec = r->load->codec};
    bouma_grid *g;
    int rc = bouma_grid_define(&g, r->ds, "patches", &patches);

    if (!rc)
        rc = bouma_variable_define(&r->plain, g, "plain", &f32);
    if (!rc)
        rc = bouma_variable_define(&r->again, g, "again", &f32);
    if (!rc)
        rc = define_particles(r);
    if (rc || r->load->few)
        return rc;
    rc = bouma_grid_define(&g, r->ds, "blocks", &blocks);
    if (!rc)
        rc = bouma_variable_define(&r->blocked, g, "v", &f32);
    if (!rc && !r->load->partitions)
        rc = bouma_grid_define(&g, r->ds, "tiles", &tiles);
    if (!rc && !r->load->partitions)
        rc = bouma_variable_define(&r->waves, g, "v", &f32);
    return rc;
}

static void run_begin(struct run *r, const struct ranks *ranks,
                      const struct load *load, enum nodes how,
                      const bouma_allocator *a)
{
    bouma_options options = load->options;

    *r = (struct run){.ranks = ranks, .load = load};
    options.size = sizeof(options);
    options.durability = BOUMA_DURABILITY_FAST;
    options.timeout = 250;
    options.threads = 1;
    options.allocator = a;
    memcpy(options.id, "sixteen letters.", 16);
    path_in(ranks, r->path, load->name, how);
    r->data = malloc(ROWS * WIDTH * sizeof(*r->data));
    REQUIRE(r->data);
    REQUIRE(
        !bouma_dataset_create_mpi(&r->ds, MPI_COMM_WORLD, r->path, &options));
    settle(r->ds, how);
    CHECK_EQ(define(r), BOUMA_OK);
}

static float sample(int step, int64_t row, int64_t column)
{
    int64_t i = row % ROWS * WIDTH + column;

    return (float)((row * WIDTH + column) * (step + 3) % 1009) *
           (i % 5 ? 1.f : (float)i);
}

/* Some of them, in two blocks of the first set, and in one of the second if it
 * is not every third rank's. */
static int put_particles(struct run *r, int step)
{
    int rank = r->ranks->rank, rc = BOUMA_OK;
    uint64_t each = PARTICLES / 2 - (uint64_t)(rank * 31 % 100);

    for (int i = 0; i < PARTICLES; i++) {
        float *p = &r->position[i * 3];
        int lane = r->load->particles == 2 ? i % 7 : rank;

        p[0] = (float)lane + (float)(i * 37 % 101) / 101;
        p[1] = (float)((i + step) * 53 % 97) / 97;
        p[2] = (float)(i * 71 % 89) / 89;
    }
    for (int i = 0; i < 3 && !rc; i++) {
        struct test_column column = {
            .variable = bouma_particles_position(r->sets[i / 2]),
            .data = r->position + 3 * (uint64_t)(i % 2) * each};

        if (i < 2 || rank % 3 != 1)
            rc = test_put_particles(r->sets[i / 2], each, &column, 1, NULL);
    }
    return rc;
}

/* All that is put of a step. */
static int begin_step(struct run *r, int step)
{
    int64_t first = (int64_t)ROWS * r->ranks->rank;
    bouma_box box = {{first, 0}, {first + ROWS, WIDTH}};
    int rc = bouma_step_begin(r->ds, step, step);

    for (int64_t i = 0; i < ROWS * WIDTH; i++)
        r->data[i] = sample(step, first + i / WIDTH, i % WIDTH);
    if (!rc)
        rc = test_put(r->plain, &box, r->data);
    if (!rc && step != 1) /* another plan */
        rc = test_put(r->again, &box, r->data);
    if (!rc && r->blocked)
        rc = test_put(r->blocked, &box, r->data);
    if (!rc && r->waves)
        rc = test_put(r->waves, &box, r->data);
    if (!rc && r->load->particles)
        rc = put_particles(r, step);
    return rc;
}

static int write_step(struct run *r, int step)
{
    bouma_record record;

    CHECK_EQ(begin_step(r, step), BOUMA_OK);
    return end_step(&record, r->ds);
}

static void run_end(struct run *r)
{
    CHECK_EQ(bouma_dataset_close(r->ds), BOUMA_OK);
    bouma_dataset_free(r->ds);
    free(r->data);
}

/* Whether ranks look at one plan. */
static void check_plan(const struct run *r)
{
    const struct bm_write_plan *plan = r->ds->carried.plan;
    int near = bm_comm_near(r->ds->comm)->size;
    int leads = bm_comm_leads(r->ds->comm);

    REQUIRE(plan);
    if (near == 1) {
        CHECK(!plan->is_view && !plan->common.a);
        return;
    }
    CHECK_EQ(plan->is_view, !leads || r->load->options.distribute !=
                                          BOUMA_DISTRIBUTE_WEIGHTED);
    CHECK(plan->common.shared.data && !plan->common.unshared);
}

/* A box that overlaps those of other ranks, and half of all: each chunk is read
 * for several ranks, of several nodes. */
static void check_samples(const struct run *r, bouma_step *step, int number)
{
    int64_t rows = (int64_t)ROWS * r->ranks->size;
    int64_t first = (int64_t)ROWS * r->ranks->rank;
    bouma_box boxes[2] = {
        {{first > 7 ? first - 7 : 0, 3}, {first + ROWS, WIDTH}},
        {{0, 0}, {rows / 2, WIDTH}}};
    float *data[2];
    bouma_array arrays[2];
    bouma_request requests[2];
    int64_t wrong = 0;

    for (int i = 0; i < 2; i++) {
        size_t bytes = (size_t)(rows * WIDTH) * sizeof(**data);

        data[i] = malloc(bytes);
        REQUIRE(data[i]);
        arrays[i] = BOUMA_ARRAY(BOUMA_TYPE_F32, data[i], bytes);
        requests[i] =
            (bouma_request){.size = sizeof(requests[i]),
                            .variable = bouma_grid_find_variable(
                                bouma_step_find_grid(step, "patches"), "plain"),
                            .box = boxes[i],
                            .array = &arrays[i]};
    }
    CHECK_EQ(bouma_step_read(step, requests, 2), BOUMA_OK);
    for (int i = 0; i < 2; i++) {
        const float *at = data[i];

        for (int64_t y = boxes[i].lo[0]; y < boxes[i].hi[0]; y++)
            for (int64_t x = boxes[i].lo[1]; x < boxes[i].hi[1]; x++)
                wrong += *at++ != sample(number, y, x);
        free(data[i]);
    }
    CHECK_EQ(wrong, 0);
}

static void they_are_read_back(const struct run *r, enum nodes how)
{
    bouma_dataset *ds;
    bouma_step *step;

    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, r->path, NULL),
             BOUMA_OK);
    settle(ds, how);
    CHECK_EQ(bouma_step_open(&step, ds, STEPS - 1), BOUMA_OK);
    check_samples(r, step, STEPS - 1);
    bouma_step_free(step);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void the_files_are_the_same(const struct ranks *ranks,
                                   const struct load *load)
{
    char alone[512] = "";

    for (int how = 0; how < PLACES; how++) {
        struct run r;

        run_begin(&r, ranks, load, (enum nodes)how, NULL);
        for (int step = 0; step < STEPS; step++) {
            CHECK_EQ(write_step(&r, step), BOUMA_OK);
            check_plan(&r);
        }
        run_end(&r);
        they_are_read_back(&r, (enum nodes)how);
        for (int step = 0; step < STEPS && how && !ranks->rank; step++)
            CHECK(same_subfiles(alone, r.path, step));
        MPI_Barrier(MPI_COMM_WORLD);
        if (how == ALONE)
            snprintf(alone, sizeof(alone), "%s", r.path);
        else if (!ranks->rank)
            remove_tree(r.path);
    }
    if (!ranks->rank)
        remove_tree(alone);
}

static const struct load few = {.name = "few",
                                .options = {.assign = BOUMA_ASSIGN_SINGLE},
                                .codec = BOUMA_CODEC_ZSTD,
                                .few = 1,
                                .particles = 1};

/* Units of particles, samples, and routes. */
static const struct load cut = {
    .name = "cut",
    .options = {.files = 3, .assign = BOUMA_ASSIGN_SPLIT},
    .codec = BOUMA_CODEC_ZSTD,
    .few = 1,
    .particles = 2};

/* The first rank of the second node may make no file of more than a few bytes,
 * and memory that is shared counts as one. It writes no other: rank 0 does. */
static void memory_need_not_be_shared(const struct ranks *ranks)
{
    struct rlimit limit, little;
    char alone[512];
    struct run r;

    if (ranks->size < 4)
        return;
    run_begin(&r, ranks, &few, ALONE, NULL);
    for (int step = 0; step < STEPS; step++)
        CHECK_EQ(write_step(&r, step), BOUMA_OK);
    run_end(&r);
    snprintf(alone, sizeof(alone), "%s", r.path);
    REQUIRE(!getrlimit(RLIMIT_FSIZE, &limit));
    little = limit;
    little.rlim_cur = 16;
    run_begin(&r, ranks, &few, TWO_NODES, NULL);
    if (ranks->rank == 1)
        REQUIRE(!setrlimit(RLIMIT_FSIZE, &little));
    for (int step = 0; step < STEPS; step++) {
        CHECK_EQ(write_step(&r, step), BOUMA_OK);
        CHECK_EQ(r.ds->carried.plan->is_view, 1);
        CHECK_EQ(r.ds->carried.plan->common.unshared, ranks->rank % 2);
    }
    REQUIRE(!setrlimit(RLIMIT_FSIZE, &limit));
    run_end(&r);
    for (int step = 0; step < STEPS && !ranks->rank; step++)
        CHECK(same_subfiles(alone, r.path, step));
    MPI_Barrier(MPI_COMM_WORLD);
    if (!ranks->rank) {
        remove_tree(alone);
        remove_tree(r.path);
    }
}

/* Some rank has no memory, at any point: all get one status, and the next step
 * can be written. */
static void a_lack_of_memory_is_told_to_all(const struct ranks *ranks,
                                            const struct load *load, int poor)
{
    struct fault_alloc memory;
    struct run r;
    int step = 0, failures = 0, rc;

    fault_alloc_init(&memory);
    run_begin(&r, ranks, load, TWO_NODES, &memory.table);
    for (long at = 1; at < 1000000; at += 1 + at / 6) {
        step += 2;
        CHECK_EQ(begin_step(&r, step), BOUMA_OK);
        if (ranks->rank == poor)
            fault_alloc_arm(&memory, at, 1);
        rc = bouma_step_end(r.ds);
        fault_alloc_disarm(&memory);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        CHECK(same_on_all(rc, rc ? bouma_error_message(r.ds) : ""));
        if (!rc)
            break;
        failures++;
        if (failures % 4)
            continue; /* there is no plan, or an old one */
        CHECK_EQ(write_step(&r, step + 1), BOUMA_OK);
    }
    CHECK(failures > 5);
    run_end(&r);
    CHECK_EQ(memory.live, 0);
    if (!ranks->rank)
        remove_tree(r.path);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const struct load loads[] = {
        {.name = "encoded", {.files = 3}, BOUMA_CODEC_ZSTD},
        {.name = "known", {.files = 3}, BOUMA_CODEC_RAW},
        {.name = "predicted",
         {.files = 3, .predict = BOUMA_PREDICT_ON},
         BOUMA_CODEC_ZSTD,
         .particles = 1},
        {.name = "weighted",
         {.files = 3, .distribute = BOUMA_DISTRIBUTE_WEIGHTED},
         BOUMA_CODEC_ZSTD},
        {.name = "both",
         {.distribute = BOUMA_DISTRIBUTE_WEIGHTED,
          .predict = BOUMA_PREDICT_ON,
          .async = 1},
         BOUMA_CODEC_ZSTD,
         .particles = 1},
        {.name = "placed",
         {.files = 5, .place = BOUMA_PLACE_COST},
         BOUMA_CODEC_ZSTD,
         .particles = 1},
        {.name = "parts", {.files = 0}, BOUMA_CODEC_ZSTD, .partitions = 2},
    };
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        if (loads[i].partitions <= ranks.size) /* more are refused */
            the_files_are_the_same(&ranks, &loads[i]);
    the_files_are_the_same(&ranks, &cut);
    memory_need_not_be_shared(&ranks);
    for (int poor = 0; poor < 3 && poor < ranks.size; poor++)
        a_lack_of_memory_is_told_to_all(&ranks, poor % 2 ? &few : &cut, poor);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
