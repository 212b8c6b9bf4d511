/* test_mpi_planning.c -- steps of which each rank knows only what concerns it:
 * the files are those of a plan of all ranks, byte for byte; what is wrong is
 * told in the same words; and what needs a plan of all is refused. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"
#include "dataset/dataset.h"
#include "fault_alloc.h"
#include "write/own_plan.h"

enum { STEPS = 4, TRIALS = 40 };

/* What is written, the same on all ranks. */
struct load {
    bouma_options options;
    bouma_codec codec;
    struct field field;
    int64_t patch[3];
    enum cut cuts[STEPS][2]; /* of two variables; those of a third are as the
                                first's */
    uint64_t salt;
    int per_node; /* ranks, as if on several nodes; 0: they take turns on two */
};

static void random_load(struct load *l, uint64_t *random)
{
    static const bouma_codec codecs[] = {BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD};
    static const bouma_assign assigns[] = {
        BOUMA_ASSIGN_COUNT,   BOUMA_ASSIGN_PER_RANK, BOUMA_ASSIGN_SINGLE,
        BOUMA_ASSIGN_OPTIMAL, BOUMA_ASSIGN_RUNNING,  BOUMA_ASSIGN_COUNT,
        (bouma_assign)0};
    int64_t scheme = check_below(random, 7);

    memset(l, 0, sizeof(*l));
    l->options.size = sizeof(l->options);
    l->options.durability = BOUMA_DURABILITY_FAST;
    l->options.timeout = 250;
    l->options.threads = 1;
    l->options.assign = assigns[scheme];
    l->options.files = 1 + (int)check_below(random, 9);
    if (scheme > 2 && (scheme == 5 || check_below(random, 2))) {
        l->options.files = 0; /* their number follows from sizes */
        l->options.file_size = 1000 + (uint64_t)check_below(random, 20000);
    }
    l->options.place =
        check_below(random, 2) ? BOUMA_PLACE_SPREAD : BOUMA_PLACE_FIRST;
    l->options.distribute =
        (bouma_distribute)(BOUMA_DISTRIBUTE_BALANCED + check_below(random, 3));
    l->options.async = (int)check_below(random, 2);
    l->options.buffer_bytes = check_below(random, 2) ? 4096 : 0;
    memcpy(l->options.id, "sixteen letters.", 16);
    l->codec = codecs[check_below(random, 2)];
    l->field = (struct field){.type = BOUMA_TYPE_F32,
                              .components = 1 + (int)check_below(random, 2),
                              .ndims = 1 + (int)check_below(random, 3)};
    for (int d = 0; d < l->field.ndims; d++) {
        l->field.shape[d] = 5 + check_below(random, 40);
        l->patch[d] = 4 << check_below(random, 3);
    }
    for (int s = 0; s < STEPS; s++)
        for (int v = 0; v < 2; v++) /* a step like the last one now and then */
            l->cuts[s][v] = s && s % 2 ? l->cuts[s - 1][v]
                                       : (enum cut)check_below(random, CUTS);
    l->salt = (uint64_t)check_below(random, 1 << 30);
    l->per_node = (int)check_below(random, 4);
}

/* Grid "g" with "v", "w" and "u", and grid "h" with "v". */
static void define(bouma_variable *v[4], bouma_dataset *ds,
                   const struct load *l)
{
    bouma_grid_spec grid = {.size = sizeof(grid), .ndims = l->field.ndims};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = l->field.type,
                                .components = l->field.components,
                                .codec = l->codec};
    bouma_grid *g, *h;

    memcpy(grid.shape, l->field.shape, sizeof(l->field.shape));
    memcpy(grid.patch, l->patch, sizeof(l->patch));
    REQUIRE(!bouma_grid_define(&g, ds, "g", &grid));
    REQUIRE(!bouma_grid_define(&h, ds, "h", &grid));
    REQUIRE(!bouma_variable_define(&v[0], g, "v", &spec));
    REQUIRE(!bouma_variable_define(&v[1], g, "w", &spec));
    REQUIRE(!bouma_variable_define(&v[2], g, "u", &spec));
    REQUIRE(!bouma_variable_define(&v[3], h, "v", &spec));
}

/* Step 's'; the second grid is only in some. */
static int write_step(bouma_dataset *ds, bouma_variable *v[4],
                      const struct load *l, int64_t s, int ranks)
{
    uint64_t random = l->salt + (uint64_t)(s - s % 2);
    struct cutting cutting[2];
    struct puts puts[4];
    int count = s < 2 ? 4 : 3, rc;

    for (int i = 0; i < 2; i++)
        cutting_make(&cutting[i], l->cuts[s][i], &l->field, ranks, &random);
    REQUIRE(!bouma_step_begin(ds, s, (double)s));
    for (int i = 0; i < count; i++)
        REQUIRE(!puts_make(&puts[i], v[i], &l->field, &cutting[i == 1], s,
                           &random));
    rc = bouma_step_end(ds);
    CHECK(!rc || (printf("%s\n", bouma_error_message(ds)), 0));
    CHECK_EQ(bouma_dataset_flush(ds), rc);
    for (int i = 0; i < count; i++)
        CHECK_EQ(puts_free(&puts[i]), 0);
    return rc;
}

/* The last step gets the variable that it does not have. */
static int extend_step(bouma_dataset *ds, bouma_variable *v,
                       const struct load *l, int ranks)
{
    uint64_t random = l->salt;
    struct cutting cutting;
    struct puts puts;
    int rc;

    cutting_make(&cutting, l->cuts[0][1], &l->field, ranks, &random);
    REQUIRE(!bouma_step_extend(ds, STEPS - 1));
    REQUIRE(!puts_make(&puts, v, &l->field, &cutting, 0, &random));
    rc = bouma_step_end(ds);
    CHECK(!rc || (printf("%s\n", bouma_error_message(ds)), 0));
    CHECK_EQ(bouma_dataset_flush(ds), rc);
    CHECK_EQ(puts_free(&puts), 0);
    return rc;
}

/* As if ranks were on several nodes. */
static void settle(bouma_dataset *ds, int per_node)
{
    int rank = ds->comm->rank, node = per_node ? rank / per_node : rank % 2;
    struct bm_error error = {0};

    CHECK_EQ(bm_comm_settle(ds->comm, 1 + (uint64_t)node, &error), BOUMA_OK);
}

/* A rank knows of files that others write its own chunks alone; and a writer
 * tells those who feed it no more than that, and the bytes of its files. */
static void check_known(const struct bm_write_plan *plan, int me)
{
    const struct bm_own_plan *own =
        plan->own->cut ? plan->own->cut->own : plan->own;
    const struct bm_assignment *files = &own->files;
    const int *owner = plan->own->cut ? plan->own->cut->owner : plan->owner;
    size_t others = 0, written = 0;

    for (int64_t f = 0; f < files->files; f++) {
        written += files->writer[f] == me;
        for (size_t i = files->first[f]; i < files->first[f + 1]; i++) {
            CHECK(files->writer[f] == me || owner[files->chunk[i]] == me);
            others += owner[files->chunk[i]] != me;
        }
    }
    CHECK_EQ(own->to_feeders.count, others + own->feeders * written);
}

/* All steps, to 'path'. */
static void write_all(const struct load *l, bouma_planning planning,
                      const char *path, int ranks)
{
    bouma_options options = l->options;
    bouma_variable *v[4];
    bouma_dataset *ds;

    options.planning = planning;
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options));
    settle(ds, l->per_node);
    define(v, ds, l);
    for (int64_t s = 0; s < STEPS; s++) {
        const void *last = ds->carried.plan;

        CHECK_EQ(write_step(ds, v, l, s, ranks), BOUMA_OK);
        REQUIRE(ds->carried.plan);
        if (s % 2) /* it repeats the step before */
            CHECK(ds->carried.plan == last);
        CHECK_EQ(ds->carried.plan->own != NULL,
                 planning == BOUMA_PLANNING_LOCAL);
        if (planning == BOUMA_PLANNING_LOCAL)
            check_known(ds->carried.plan, ds->comm->rank);
    }
    CHECK_EQ(extend_step(ds, v[3], l, ranks), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void files_are_those_of_the_whole_plan(const struct ranks *r)
{
    uint64_t random = 4711;

    for (int i = 0; i < TRIALS; i++) {
        char node[512], local[512];
        struct load l;

        random_load(&l, &random);
        path_in(r, node, "node", i);
        path_in(r, local, "local", i);
        write_all(&l, BOUMA_PLANNING_NODE, node, r->size);
        write_all(&l, BOUMA_PLANNING_LOCAL, local, r->size);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int64_t s = 0; s < STEPS && r->rank == 0; s++) {
            CHECK(same_subfiles(node, local, s));
            CHECK_EQ(wrong_on_disk(local, s, "v", &l.field), 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* ---- what is wrong ------------------------------------------------------- */

/* One step with these options, of which a sample is missing if 'short_by' is
 * 1. */
static int try_step(const struct ranks *r, bouma_options *options,
                    const char *name, int short_by, char *message)
{
    int64_t rows = 10 * (int64_t)r->size;
    bouma_grid_spec grid = {
        .size = sizeof(grid), .ndims = 2, .shape = {rows, 12}, .patch = {8, 8}};
    bouma_variable_spec f32 = {.size = sizeof(f32), .type = BOUMA_TYPE_F32};
    bouma_box box = {{10 * r->rank, 0},
                     {10 * r->rank + 10, 12 - (r->rank == 0 ? short_by : 0)}};
    float data[120] = {0};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *g;
    char path[512];
    int rc;

    options->size = sizeof(*options);
    options->timeout = 250;
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD,
                                      path_in(r, path, name, 0), options));
    REQUIRE(!bouma_grid_define(&g, ds, "g", &grid));
    REQUIRE(!bouma_variable_define(&v, g, "v", &f32));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    REQUIRE(!test_put(v, &box, data));
    rc = bouma_step_end(ds);
    snprintf(message, 512, "%s", rc ? bouma_error_message(ds) : "");
    CHECK(same_on_all(rc, message));
    bouma_dataset_free(ds);
    return rc;
}

static void a_gap_is_told_as_by_the_whole_plan(const struct ranks *r)
{
    bouma_options node = {.assign = BOUMA_ASSIGN_SINGLE};
    bouma_options local = {.assign = BOUMA_ASSIGN_SINGLE,
                           .planning = BOUMA_PLANNING_LOCAL};
    char wanted[512], found[512];

    CHECK_EQ(try_step(r, &node, "gap", 1, wanted), BOUMA_ECOVER);
    CHECK_EQ(try_step(r, &local, "local_gap", 1, found), BOUMA_ECOVER);
    CHECK_TEXT(found, wanted);
    CHECK_EQ(try_step(r, &local, "no_gap", 0, found), BOUMA_OK);
}

static void what_needs_all_chunks_is_refused(const struct ranks *r)
{
    static const struct {
        const char *name, *part;
        bouma_options options;
    } cases[] = {
        {"nodes", "'assign' must not be", {.assign = BOUMA_ASSIGN_PER_NODE}},
        {"cost",
         "'place' must be",
         {.assign = BOUMA_ASSIGN_SINGLE, .place = BOUMA_PLACE_COST}},
        {"predict",
         "'predict' goes by",
         {.assign = BOUMA_ASSIGN_SINGLE, .predict = BOUMA_PREDICT_ON}},
        {"weighted",
         "'weighted' compares",
         {.assign = BOUMA_ASSIGN_SINGLE,
          .distribute = BOUMA_DISTRIBUTE_WEIGHTED}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bouma_options options = cases[i].options;
        char message[512];

        options.planning = BOUMA_PLANNING_LOCAL;
        CHECK_EQ(try_step(r, &options, cases[i].name, 0, message),
                 BOUMA_EINVAL);
        CHECK(strstr(message, cases[i].part));
    }
}

/* ---- a lack of memory ---------------------------------------------------- */

/* Some rank has no memory, at any point: all get one status, and the next step
 * can be written. */
static void a_lack_of_memory_is_told_to_all(const struct ranks *r, int poor,
                                            int sticky)
{
    struct fault_alloc memory;
    uint64_t random = 99, own = 98; /* the second one is the rank's */
    bouma_variable *v[4];
    bouma_dataset *ds;
    char path[512];
    struct load l;
    int64_t step = 0;
    int failures = 0;

    fault_alloc_init(&memory);
    random_load(&l, &random);
    l.codec = BOUMA_CODEC_ZSTD;
    if (sticky) { /* files that follow from sizes */
        l.options.assign = BOUMA_ASSIGN_OPTIMAL;
        l.options.files = 3;
    }
    l.options.allocator = &memory.table;
    l.options.planning = BOUMA_PLANNING_LOCAL;
    l.options.async = 0;
    path_in(r, path, "poor", 2 * poor + sticky);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &l.options));
    define(v, ds, &l);
    for (long at = 1; at < 1000000; at += 1 + at / 8, step++) {
        struct cutting cutting;
        struct puts puts;
        int rc;

        /* Other blocks in each, so that there is a new plan. */
        cutting_make(&cutting, CUT_BISECTION, &l.field, r->size, &random);
        REQUIRE(!bouma_step_begin(ds, step, 0));
        REQUIRE(!puts_make(&puts, v[0], &l.field, &cutting, step, &own));
        if (r->rank == poor)
            fault_alloc_arm(&memory, at, sticky);
        rc = bouma_step_end(ds);
        fault_alloc_disarm(&memory);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        CHECK(same_on_all(rc, rc ? bouma_error_message(ds) : ""));
        CHECK_EQ(puts_free(&puts), 0);
        failures += rc != BOUMA_OK;
        if (!rc && at > 50)
            break;
    }
    CHECK(failures > 10);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    CHECK_EQ(memory.live, 0);
}

int main(int argc, char **argv)
{
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    files_are_those_of_the_whole_plan(&r);
    a_gap_is_told_as_by_the_whole_plan(&r);
    what_needs_all_chunks_is_refused(&r);
    for (int poor = 0; poor < r.size && poor < 3; poor += 2)
        for (int sticky = 0; sticky < 2; sticky++)
            a_lack_of_memory_is_told_to_all(&r, poor, sticky);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
