/* test_mpi_particles.c -- whatever ranks hold which particles in which memory
 * layout, and whatever schemes carry them to files: every particle comes back
 * bit for bit, queries find what a look at all of them finds, and the same
 * particles make the same files. */
#include "flock.h"
#include "sized.h"

enum { STEPS = 3, WAYS = 2 };

struct test {
    struct ranks *ranks;
    int64_t number;
    bouma_options options;
    struct flock_spec spec;
    enum bounding bounding;
    bouma_codec codec;
    int leaf, with_grid;
    struct field field;
    uint64_t shared, own;
};

/* In the second step, the last variable is absent; in the last step the second
 * set is. */
static int variables_of(int step)
{
    return step == 1 ? LARGE : PARTICLE_BLOCK_VARIABLES;
}

static const struct flock_spec second = {
    UNIFORM, SHARE_UNEVENLY, 1, BOUMA_TYPE_F32, 20, 0};

struct sets {
    struct particle_block_set dust, gas;
    bouma_particles *nothing;
    bouma_variable *grid;
};

static void define(struct sets *out, const struct test *t, bouma_dataset *ds)
{
    bouma_grid_spec grid = {
        .size = sizeof(grid), .ndims = 1, .shape = {50}, .patch = {16}};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = t->field.type};
    bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 2};
    bouma_grid *g;

    if (t->with_grid) {
        CHECK_EQ(bouma_grid_define(&g, ds, "g", &grid), BOUMA_OK);
        CHECK_EQ(bouma_variable_define(&out->grid, g, "v", &kind), BOUMA_OK);
    }
    CHECK_EQ(particle_block_define(&out->dust, ds, "dust", t->spec.ndims,
                                   t->spec.type, t->codec, t->leaf),
             BOUMA_OK);
    CHECK_EQ(bouma_particles_define(&out->nothing, ds, "nothing", &spec),
             BOUMA_OK);
    CHECK_EQ(
        particle_block_define(&out->gas, ds, "gas", 1, BOUMA_TYPE_F32, 0, 0),
        BOUMA_OK);
}

static void write_step(struct test *t, const struct sets *sets,
                       bouma_dataset *ds, int step)
{
    struct flock_put dust, gas = {.count = 0};
    struct flock all, others;
    struct cutting cutting;
    struct puts puts = {.count = 0};
    bouma_record record = {.size = sizeof(record)};
    int rc;

    flock_make(&all, &t->spec, t->ranks->size, step);
    flock_make(&others, &second, t->ranks->size, step);
    CHECK_EQ(bouma_step_begin(ds, step, step), BOUMA_OK);
    CHECK_EQ(flock_hand_over(&dust, &sets->dust,
                             &all.particle_blocks[t->ranks->rank],
                             variables_of(step), t->bounding, &t->own),
             BOUMA_OK);
    if (step < STEPS - 1)
        CHECK_EQ(flock_hand_over(&gas, &sets->gas,
                                 &others.particle_blocks[t->ranks->rank], 2,
                                 BOUNDS_NONE, &t->own),
                 BOUMA_OK);
    if (t->with_grid) {
        cutting_make(&cutting, (enum cut)(step % CUTS), &t->field,
                     t->ranks->size, &t->shared);
        CHECK_EQ(
            puts_make(&puts, sets->grid, &t->field, &cutting, step, &t->own),
            BOUMA_OK);
    }
    rc = end_step(&record, ds);
    CHECK_EQ(rc, BOUMA_OK);
    if (rc)
        printf("%s\n", bouma_error_message(ds));
    if (!t->with_grid && all.count && t->options.assign == BOUMA_ASSIGN_SINGLE)
        CHECK_EQ(record.files, 1 + (step < STEPS - 1 && others.count > 0));
    CHECK_EQ(flock_put_free(&dust), 0);
    CHECK_EQ(flock_put_free(&gas), 0);
    CHECK_EQ(puts_free(&puts), 0);
    flock_free(&all);
    flock_free(&others);
}

static void write_together(struct test *t, const char *path)
{
    struct sets sets;
    bouma_dataset *ds;
    int rc = bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &t->options);

    CHECK_EQ(rc, BOUMA_OK);
    t->shared = (uint64_t)t->number; /* grids are cut alike each time */
    if (!rc) {
        define(&sets, t, ds);
        for (int step = 0; step < STEPS; step++)
            write_step(t, &sets, ds, step);
        CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    }
    bouma_dataset_free(ds);
}

/* ---- reading ------------------------------------------------------------ */

static void check_info(const struct flock *all, const struct test *t,
                       bouma_particles *particles)
{
    bouma_particles_info info = {.size = sizeof(info)};
    uint64_t count = 0, strays = 0;

    bouma_particles_info_get(&info, particles);
    CHECK_EQ(info.count, all->count);
    CHECK_EQ(info.ndims, t->spec.ndims);
    CHECK_EQ(info.files > 0, all->count > 0);
    for (int64_t i = 0; i < info.files; i++) {
        bouma_particles_file file = {.size = sizeof(file)};

        CHECK_EQ(bouma_particles_file_get(&file, particles, i), BOUMA_OK);
        count += file.count;
        strays += file.strays;
    }
    CHECK_EQ(count, all->count);
    CHECK_EQ(strays, info.strays);
    if (t->spec.shape == WITH_STRAYS && all->count > 50 * 8)
        CHECK(strays > 0);
}

static void query(const struct flock *all, const struct particle_block_set *set,
                  bouma_dataset *ds, uint64_t *random, uint8_t *there)
{
    bouma_particles_query q = {.size = sizeof(q)};
    bouma_bounds box = {0};
    bouma_particle_data *d;
    bouma_condition c;
    double mass[2];
    int way = (int)check_below(random, 4);

    if (way && flock_box(all, &box, random))
        q.box = &box;
    box.closed =
        (unsigned)check_below(random, 1 << all->particle_blocks[0].ndims);
    mass[0] = (double)check_below(random, 20) * 0.1;
    mass[1] = mass[0] + (double)check_below(random, 10) * 0.1;
    c = condition_of(set->variables[MASS], 0, mass[0], mass[1]);
    q.conditions = way != 1 ? &c : NULL;
    q.condition_count = way != 1;
    CHECK_EQ(bouma_particles_read(&d, set->particles, &q), BOUMA_OK);
    if (!d) {
        printf("%s\n", bouma_error_message(ds));
        return;
    }
    CHECK_EQ(flock_wrong(all, d, there), 0);
    CHECK_EQ(flock_missed(all, &q, way != 1 ? mass : NULL, there), 0);
    bouma_particle_data_free(d);
}

static void all_of(const struct flock *all, bouma_particles *particles,
                   bouma_dataset *ds, uint8_t *there, int variables)
{
    bouma_particle_data *d;
    uint64_t at, among_all, found = 0;

    CHECK_EQ(bouma_particles_read(&d, particles, NULL), BOUMA_OK);
    if (!d) {
        printf("%s\n", bouma_error_message(ds));
        return;
    }
    CHECK_EQ(d->count, all->count);
    if (all->count)
        CHECK_EQ(d->variable_count, variables);
    if (variables > 2)
        CHECK_EQ(flock_wrong(all, d, there), 0);
    for (uint64_t i = 0; i < d->count; i++)
        found += flock_find(all, ((uint64_t *)d->columns[ID])[i], &at,
                            &among_all) != NULL;
    CHECK_EQ(found, all->count);
    bouma_particle_data_free(d);
}

static void read_step(struct test *t, bouma_dataset *ds, int number)
{
    struct flock all, others;
    struct particle_block_set set;
    bouma_step *step;
    uint8_t *there;
    int rc = bouma_step_open(&step, ds, number);

    CHECK_EQ(rc, BOUMA_OK);
    if (rc) {
        printf("%s\n", bouma_error_message(ds));
        return;
    }
    flock_make(&all, &t->spec, t->ranks->size, number);
    flock_make(&others, &second, t->ranks->size, number);
    there = malloc((size_t)all.count + 1);
    REQUIRE(there);
    particle_block_find(&set, step, "dust");
    check_info(&all, t, set.particles);
    all_of(&all, set.particles, ds, there, variables_of(number));
    for (int i = 0; i < 4; i++)
        query(&all, &set, ds, &t->own, there);
    if (number == STEPS - 1)
        others.count = 0;
    all_of(&others, bouma_step_find_particles(step, "gas"), ds, there, 2);
    others.count = 0;
    all_of(&others, bouma_step_find_particles(step, "nothing"), ds, there, 1);
    free(there);
    flock_free(&all);
    flock_free(&others);
    bouma_step_free(step);
}

static void run(struct test *t)
{
    int before = check_counts()->failed;
    char paths[WAYS][512];
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_dataset *ds;
    char message[400];

    for (int i = 0; i < WAYS; i++)
        write_together(
            t, path_in(t->ranks, paths[i], i ? "again" : "first", t->number));
    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, paths[0], NULL),
             BOUMA_OK);
    for (int step = 0; step < STEPS; step++)
        read_step(t, ds, step);
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_verify_mpi(&report, MPI_COMM_WORLD, paths[0],
                              BOUMA_DEPTH_DEEP, NULL, NULL, NULL, message,
                              sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages + report.notes, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t->ranks->rank == 0) {
        for (int step = 0; step < STEPS; step++) {
            CHECK(same_subfiles(paths[0], paths[1], step));
            if (t->with_grid)
                CHECK_EQ(wrong_on_disk(paths[0], step, "v", &t->field), 0);
        }
        for (int i = 0; i < WAYS; i++)
            remove_tree(paths[i]);
    }
    if (check_counts()->failed != before)
        printf("  rank %d, case %" PRId64 ": shape %d, %d-D, sharing %d, "
               "bounds %d, assign %d, files %d of %" PRIu64 " bytes\n",
               t->ranks->rank, t->number, (int)t->spec.shape, t->spec.ndims,
               (int)t->spec.sharing, (int)t->bounding, (int)t->options.assign,
               t->options.files, t->options.file_size);
}

static void choose(struct test *t, int64_t n)
{
    uint64_t *random = &t->shared;

    t->number = n;
    t->shared = (uint64_t)n * 64 + (uint64_t)t->ranks->size;
    t->own = t->shared * 64 + (uint64_t)t->ranks->rank;
    t->options = (bouma_options){.size = sizeof(t->options)};
    t->options.assign = (bouma_assign)(n % 9);
    t->spec.shape = (enum shape)(n / 9 % SHAPES);
    t->options.place = (bouma_place)(1 + check_below(random, 4));
    if (check_below(random, 2))
        t->options.machine = "torus:2x2x2,per=1";
    t->options.order = (bouma_order)(1 + check_below(random, 2));
    t->options.files = (int)check_below(random, 7);
    if (!t->options.files)
        t->options.file_size = (uint64_t)(3000 << check_below(random, 5));
    t->options.message_bytes = check_below(random, 2) ? 0 : 100;
    t->options.durability = BOUMA_DURABILITY_FAST;
    t->options.buffer_bytes = (uint64_t)64 << check_below(random, 8);
    t->options.buffers = 1 + (int)check_below(random, 3);
    t->options.transport = (bouma_transport)check_below(random, 3);
    memcpy(t->options.id, "sixteen letters.", 16);
    t->spec.sharing = (enum sharing)check_below(random, SHARINGS);
    t->spec.ndims = 1 + (int)check_below(random, 3);
    t->spec.type = check_below(random, 2) ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64;
    t->spec.count = (uint64_t)(1 << check_below(random, 10));
    t->spec.apart = (int)check_below(random, 2);
    t->bounding = (enum bounding)check_below(random, BOUNDINGS);
    t->codec = check_below(random, 2) ? BOUMA_CODEC_ZSTD : BOUMA_CODEC_RAW;
    t->leaf = 8 << check_below(random, 6);
    t->with_grid = !check_below(random, 3);
    t->field = (struct field){BOUMA_TYPE_I32, 1, 1, {50, 0, 0}, (unsigned)n};
}

/* ---- ranks that disagree ------------------------------------------------ */

/* One rank leaves out an attribute, or hands over something wrong: all hear of
 * it, and the next step is as if nothing had been. */
static void one_rank_fails_all(struct ranks *ranks)
{
    struct flock_spec spec = {UNIFORM, SHARE_EVENLY, 2, BOUMA_TYPE_F64, 50, 0};
    int last = ranks->rank == ranks->size - 1;
    uint64_t random = (uint64_t)ranks->rank;
    struct particle_block_set set;
    struct flock_put put;
    struct flock all;
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;
    char path[512], text[64];

    options.durability = BOUMA_DURABILITY_FAST;
    flock_make(&all, &spec, ranks->size, 0);
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD,
                                      path_in(ranks, path, "fails", 0),
                                      &options),
             BOUMA_OK);
    CHECK_EQ(particle_block_define(&set, ds, "dust", 2, BOUMA_TYPE_F64, 0, 0),
             BOUMA_OK);
    for (int i = 0; i < 3; i++) {
        int rc;

        CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
        flock_hand_over(&put, &set, &all.particle_blocks[ranks->rank],
                        i == 0 && last ? LARGE : PARTICLE_BLOCK_VARIABLES,
                        BOUNDS_NONE, &random);
        if (i == 1 && last)
            CHECK_EQ(test_put_particles(set.particles, 3, NULL, 0, NULL),
                     BOUMA_EINVAL);
        rc = bouma_step_end(ds);
        CHECK(same_on_all(rc, bouma_error_message(ds)));
        if (i == 0 && ranks->size > 1) {
            CHECK_EQ(rc, BOUMA_EMISMATCH);
            CHECK_TEXT(bouma_error_message(ds), "\"dust\"");
            CHECK_TEXT(bouma_error_message(ds), "\"large\"");
            CHECK_TEXT(bouma_error_message(ds), "rank 0 hands");
            snprintf(text, sizeof(text), "rank %d without", ranks->size - 1);
            CHECK_TEXT(bouma_error_message(ds), text);
        } else if (i == 1) {
            CHECK_EQ(rc, BOUMA_EINVAL);
            CHECK_TEXT(bouma_error_message(ds), "position");
        } else if (i == 2) {
            CHECK_EQ(rc, ranks->size > 1 ? BOUMA_OK : BOUMA_EEXISTS);
        }
        CHECK_EQ(flock_put_free(&put), 0);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    flock_free(&all);
}

/* test_mpi_particles [SOME]: only one case in SOME; 2 or, with many ranks, 4 if
 * nothing is said, beginning with another for each number of ranks. */
int main(int argc, char **argv)
{
    struct ranks ranks;
    struct test t = {.ranks = &ranks};
    int some;

    ranks_init(&ranks, &argc, &argv);
    some = argc > 1 ? atoi(argv[1]) : ranks.size > 3 ? 4 : 2;
    for (int64_t n = ranks.size % some; n < 9 * SHAPES; n += some) {
        choose(&t, n);
        run(&t);
    }
    one_rank_fails_all(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
