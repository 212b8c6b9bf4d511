/* test_mpi_write.c -- whatever ranks hold which blocks in which memory layout,
 * and whatever schemes carry them to files: the dataset has the right values at
 * every level, and its subfiles are those that one rank alone writes. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"
#include "sized.h"

enum { STEPS = 2, MAX_FIELDS = 3 };

struct test {
    struct ranks *ranks;
    int64_t number;
    bouma_options options;
    bouma_grid_spec grid;
    struct field fields[MAX_FIELDS];
    bouma_codec codecs[MAX_FIELDS];
    int field_count;
    uint64_t shared; /* random state that is the same on all ranks */
    uint64_t own;
};

static const char *const names[MAX_FIELDS] = {"a", "b", "c"};

static void choose_grid(struct test *t, int ndims)
{
    static const int64_t longest[3] = {700, 40, 14};

    t->grid = (bouma_grid_spec){.size = sizeof(t->grid), .ndims = ndims};
    for (int d = 0; d < ndims; d++) {
        t->grid.shape[d] = 1 + check_below(&t->shared, longest[ndims - 1]);
        t->grid.patch[d] = (int64_t)(ndims == 1   ? 32
                                     : ndims == 2 ? 4
                                                  : 2)
                           << check_below(&t->shared, 3);
    }
    t->grid.levels = random_levels(&t->grid, &t->shared);
}

static void choose_fields(struct test *t, bouma_codec codec)
{
    t->field_count = 1 + (int)check_below(&t->shared, MAX_FIELDS);
    for (int i = 0; i < t->field_count; i++) {
        struct field *f = &t->fields[i];

        f->type = (bouma_type)(1 + check_below(&t->shared, 10));
        f->components = check_below(&t->shared, 3) ? 1 : 3;
        f->ndims = t->grid.ndims;
        f->salt = (unsigned)t->number * 3 + (unsigned)i;
        memcpy(f->shape, t->grid.shape, sizeof(f->shape));
        /* Now and then both codecs in one step. */
        t->codecs[i] = codec;
        if (!check_below(&t->shared, 5))
            t->codecs[i] = (bouma_codec)(3 - (int)codec);
    }
}

static void choose_files(struct test *t)
{
    t->options.files = (int)check_below(&t->shared, 7);
    if (!t->options.files)
        t->options.file_size = 500;
    t->options.durability = BOUMA_DURABILITY_FAST;
    t->options.buffer_bytes = check_below(&t->shared, 2) ? 0 : 1000;
    memcpy(t->options.id, "sixteen letters.", 16);
}

static void define(bouma_variable **out, const struct test *t,
                   bouma_dataset *ds)
{
    bouma_grid *g;

    CHECK_EQ(bouma_grid_define(&g, ds, "g", &t->grid), BOUMA_OK);
    for (int i = 0; i < t->field_count; i++) {
        bouma_variable_spec spec = {.size = sizeof(spec),
                                    .type = t->fields[i].type,
                                    .components = t->fields[i].components,
                                    .codec = t->codecs[i]};

        CHECK_EQ(bouma_variable_define(&out[i], g, names[i], &spec), BOUMA_OK);
    }
}

/* Each variable is cut in its own way, and in the second step perhaps anew. */
static void write_together(struct test *t, const char *path,
                           bouma_record *records)
{
    struct cutting cuttings[MAX_FIELDS];
    bouma_variable *variables[MAX_FIELDS];
    struct puts puts[MAX_FIELDS];
    bouma_dataset *ds;
    int rc = bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &t->options);

    CHECK_EQ(rc, BOUMA_OK);
    if (rc) {
        printf("%s\n", bouma_error_message(ds));
        bouma_dataset_free(ds);
        return;
    }
    define(variables, t, ds);
    for (int step = 0; step < STEPS; step++) {
        int anew = step == 0 || check_below(&t->shared, 2);

        CHECK_EQ(bouma_step_begin(ds, step, 0.5 * step), BOUMA_OK);
        for (int i = 0; i < t->field_count; i++) {
            if (anew)
                cutting_make(&cuttings[i],
                             (enum cut)check_below(&t->shared, CUTS),
                             &t->fields[i], t->ranks->size, &t->shared);
            CHECK_EQ(puts_make(&puts[i], variables[i], &t->fields[i],
                               &cuttings[i], step, &t->own),
                     BOUMA_OK);
        }
        rc = end_step(&records[step], ds);
        if (rc)
            printf("%s\n", bouma_error_message(ds));
        CHECK_EQ(rc, BOUMA_OK);
        for (int i = 0; i < t->field_count; i++)
            CHECK_EQ(puts_free(&puts[i]), 0);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* The same dataset by this rank alone, from one block each. */
static void write_alone(const struct test *t, const char *path,
                        const bouma_record *records)
{
    bouma_options options = t->options;
    bouma_variable *variables[MAX_FIELDS];
    bouma_dataset *ds;

    options.files = (int)records[0].files;
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_SELF, path, &options),
             BOUMA_OK);
    define(variables, t, ds);
    for (int step = 0; step < STEPS; step++) {
        struct array arrays[MAX_FIELDS];

        CHECK_EQ(bouma_step_begin(ds, step, 0.5 * step), BOUMA_OK);
        for (int i = 0; i < t->field_count; i++) {
            const struct field *f = &t->fields[i];
            bouma_box all = {{0, 0, 0}, {0, 0, 0}};

            memcpy(all.hi, f->shape, sizeof(f->shape));
            array_make(&arrays[i], f, f->shape, LAYOUT_DENSE);
            array_fill(&arrays[i], f, &all, step);
            CHECK_EQ(test_put(variables[i], &all, arrays[i].data), BOUMA_OK);
        }
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
        for (int i = 0; i < t->field_count; i++)
            array_free(&arrays[i]);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void check_record(const struct test *t, const bouma_record *r)
{
    bouma_record first = *r;
    uint64_t raw = 0;

    for (int i = 0; i < t->field_count; i++) {
        const struct field *f = &t->fields[i];
        uint64_t n = bouma_type_size(f->type) * (uint64_t)f->components;

        for (int d = 0; d < f->ndims; d++)
            n *= (uint64_t)f->shape[d];
        raw += n;
    }
    CHECK_EQ(r->raw_bytes, raw);
    CHECK_EQ(r->ranks, t->ranks->size);
    CHECK(r->files >= 1);
    CHECK(r->largest_file * (uint64_t)r->files >= r->stored_bytes);
    CHECK_EQ(r->moved_messages > 0, r->moved_bytes > 0);
    CHECK_EQ(r->shipped_messages > 0, r->shipped_bytes > 0);
    CHECK(r->most_patches >= 1 && r->most_patches <= r->chunks);
    CHECK(r->mean_encode <= r->slowest_encode * 1.000001);
    if (t->options.assign == BOUMA_ASSIGN_SINGLE)
        CHECK_EQ(r->files, 1);
    MPI_Bcast(&first, sizeof(first), MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(!memcmp(&first, r, sizeof(first)));
}

static void check_files(const struct test *t, const char *path,
                        const bouma_record *records)
{
    char alone[512];
    int before = check_counts()->failed;

    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < t->field_count; i++)
            CHECK_EQ(wrong_on_disk(path, step, names[i], &t->fields[i]), 0);
    /* Files by rank depend on ranks, and the number of files is one for both
     * steps of the dataset that is compared with. */
    if (t->options.assign != BOUMA_ASSIGN_PER_RANK &&
        records[0].files == records[1].files) {
        path_in(t->ranks, alone, "alone", t->number);
        write_alone(t, alone, records);
        for (int step = 0; step < STEPS; step++)
            CHECK(same_subfiles(path, alone, step));
        remove_tree(alone);
    }
    if (check_counts()->failed != before)
        printf("  in case %" PRId64 ": %d-D, distribute %d, assign %d, place "
               "%d, order %d, files %d, %d fields\n",
               t->number, t->grid.ndims, (int)t->options.distribute,
               (int)t->options.assign, (int)t->options.place,
               (int)t->options.order, t->options.files, t->field_count);
}

static void run(struct test *t, int ndims, bouma_codec codec)
{
    bouma_record records[STEPS] = {{0}};
    char path[512];

    choose_grid(t, ndims);
    choose_fields(t, codec);
    choose_files(t);
    path_in(t->ranks, path, "together", t->number);
    write_together(t, path, records);
    for (int step = 0; step < STEPS; step++)
        check_record(t, &records[step]);
    if (t->ranks->rank == 0) {
        check_files(t, path, records);
        remove_tree(path);
    }
}

/* One case in 'some', beginning with another for each number of ranks. */
static void every_scheme_writes_the_same_values_and_files(struct ranks *ranks,
                                                          int some)
{
    struct test t = {.ranks = ranks};
    int choice[6];

    for (int n = ranks->size % some; n < 3 * 5 * 2 * 2 * 2 * 4; n += some) {
        static const int radix[6] = {3, 5, 2, 2, 2, 4};

        for (int i = 0, rest = n; i < 6; rest /= radix[i++])
            choice[i] = 1 + rest % radix[i];
        t.number = n;
        t.shared = (uint64_t)n * 64 + (uint64_t)ranks->size;
        t.own = t.shared * 64 + (uint64_t)ranks->rank;
        t.options = (bouma_options){.size = sizeof(t.options)};
        t.options.assign = (bouma_assign)choice[1];
        t.options.place = (bouma_place)choice[2];
        t.options.order = (bouma_order)choice[3];
        t.options.distribute = (bouma_distribute)choice[5];
        run(&t, choice[0], (bouma_codec)choice[4]);
    }
}

/* test_mpi_write [SOME]: only one case in SOME, for an MPI that is slow with
 * more ranks than cores. Best a number without the factors 2, 3 and 5. */
int main(int argc, char **argv)
{
    struct ranks ranks;
    int some;

    ranks_init(&ranks, &argc, &argv);
    /* Many ranks do every second case, which has every pair of choices. */
    some = argc > 1 ? atoi(argv[1]) : ranks.size > 3 ? 2 : 1;
    every_scheme_writes_the_same_values_and_files(&ranks, some > 0 ? some : 1);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
