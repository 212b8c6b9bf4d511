/* test_mpi_read.c -- a dataset that some ranks wrote is read by others, all
 * together, each with boxes, levels and variables of its own; and what several
 * ranks want is read from the file once. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"

enum { FIELDS = 3, MAX_REQUESTS = 6 };

struct test {
    struct ranks *ranks;
    int64_t number;
    bouma_grid_spec grid;
    struct field fields[FIELDS];
    int levels;
    uint64_t shared, own;
};

static const char *const names[FIELDS] = {"a", "b", "c"};

static void choose(struct test *t, int ndims, int64_t n)
{
    t->number = n;
    t->shared = (uint64_t)n * 64 + (uint64_t)t->ranks->size;
    t->own = t->shared * 64 + (uint64_t)t->ranks->rank;
    t->grid = (bouma_grid_spec){.size = sizeof(t->grid), .ndims = ndims};
    for (int d = 0; d < ndims; d++) {
        t->grid.shape[d] = 1 + check_below(&t->shared, ndims == 1   ? 900
                                                       : ndims == 2 ? 50
                                                                    : 20);
        t->grid.patch[d] = (int64_t)(ndims == 1 ? 64 : 4)
                           << check_below(&t->shared, 2);
    }
    t->grid.levels = random_levels(&t->grid, &t->shared);
    for (int i = 0; i < FIELDS; i++) {
        struct field *f = &t->fields[i];

        *f = (struct field){(bouma_type)(1 + check_below(&t->shared, 10)),
                            i == 1 ? 2 : 1,
                            ndims,
                            {0, 0, 0},
                            (unsigned)(n * FIELDS + i)};
        memcpy(f->shape, t->grid.shape, sizeof(f->shape));
    }
}

/* By the first 'writers' ranks; the last variable is left out. */
static void write_by(const struct test *t, const char *path, int writers,
                     bouma_codec codec, int files)
{
    struct ranks *r = t->ranks;
    bouma_options options;
    bouma_dataset *ds;
    bouma_grid *g;
    MPI_Comm comm;
    uint64_t random = t->shared;

    MPI_Comm_split(MPI_COMM_WORLD, r->rank < writers, r->rank, &comm);
    if (r->rank < writers) {
        struct puts puts[FIELDS];

        options = (bouma_options){.size = sizeof(options)};
        options.durability = BOUMA_DURABILITY_FAST;
        options.files = files;
        options.order = (bouma_order)(1 + check_below(&random, 2));
        CHECK_EQ(bouma_dataset_create_mpi(&ds, comm, path, &options), BOUMA_OK);
        CHECK_EQ(bouma_grid_define(&g, ds, "g", &t->grid), BOUMA_OK);
        bouma_step_begin(ds, 7, 0.5);
        for (int i = 0; i < FIELDS; i++) {
            bouma_variable_spec spec = {.size = sizeof(spec),
                                        .type = t->fields[i].type,
                                        .components = t->fields[i].components,
                                        .codec = codec};
            struct cutting cutting;
            bouma_variable *v;

            CHECK_EQ(bouma_variable_define(&v, g, names[i], &spec), BOUMA_OK);
            cutting_make(&cutting, CUT_BISECTION, &t->fields[i], writers,
                         &random);
            puts[i].count = 0;
            if (i < FIELDS - 1)
                CHECK_EQ(
                    puts_make(&puts[i], v, &t->fields[i], &cutting, 7, &random),
                    BOUMA_OK);
            /* Layouts drew from it differently on each rank. */
            random = t->shared + (uint64_t)i;
        }
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
        for (int i = 0; i < FIELDS; i++)
            CHECK_EQ(puts_free(&puts[i]), 0);
        CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
        bouma_dataset_free(ds);
    }
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An array for what a request gives, in some layout. */
static void make_room(struct array *a, bouma_request *q, const struct field *f,
                      enum layout layout)
{
    bouma_selection s = {.size = sizeof(s)};

    CHECK_EQ(bouma_variable_select(&s, q->variable, q->level, &q->box),
             BOUMA_OK);
    array_make(a, f, s.shape, layout);
    q->array = &a->given;
}

/* Values of the request that are wrong, and bytes outside that are not as they
 * were. */
static int64_t wrong_values(const bouma_request *q, struct array *a,
                            const struct field *f, enum layout layout)
{
    struct array right;
    bouma_selection s = {.size = sizeof(s)};
    int64_t at[3], n[3] = {1, 1, 1};
    int64_t wrong;

    bouma_variable_select(&s, q->variable, q->level, &q->box);
    array_make(&right, f, s.shape, layout);
    for (int d = 0; d < f->ndims; d++)
        n[d] = s.shape[d];
    for (at[0] = 0; at[0] < n[0]; at[0]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[2] = 0; at[2] < n[2]; at[2]++)
                for (int c = 0; c < f->components; c++) {
                    int64_t index[3] = {0, 0, 0};
                    int64_t offset = c * right.layout.component_stride;

                    for (int d = 0; d < f->ndims; d++) {
                        index[d] = s.first[d] + (at[d] << q->level);
                        offset += at[d] * right.layout.stride[d];
                    }
                    field_value(right.data + offset, f, index, c, 7);
                }
    wrong = memcmp(right.memory, a->memory, a->bytes) != 0;
    array_free(&right);
    return wrong;
}

static void any_boxes_on_any_ranks_are_right(struct test *t, bouma_step *step)
{
    bouma_request requests[MAX_REQUESTS];
    struct array arrays[MAX_REQUESTS];
    int which[MAX_REQUESTS];
    enum layout layouts[MAX_REQUESTS];
    int count = (int)check_below(&t->own, MAX_REQUESTS + 1), rc;
    bouma_grid *g = bouma_step_find_grid(step, "g");

    for (int i = 0; i < count; i++) {
        /* Box and level agree between ranks now and then. */
        uint64_t *random = check_below(&t->own, 3) ? &t->own : &t->shared;
        uint64_t before = t->shared;
        bouma_request *q = &requests[i];

        which[i] = (int)check_below(random, FIELDS - 1);
        layouts[i] = (enum layout)check_below(&t->own, LAYOUTS);
        memset(q, 0, sizeof(*q));
        q->size = sizeof(*q);
        q->variable = bouma_grid_find_variable(g, names[which[i]]);
        q->level = (int)check_below(random, t->levels);
        q->box = random_box(&t->fields[which[i]], random);
        if (!check_below(&t->own, 8))
            q->box.hi[0] = q->box.lo[0]; /* an empty one is fine */
        make_room(&arrays[i], q, &t->fields[which[i]], layouts[i]);
        t->shared = before;
    }
    rc = bouma_step_read(step, requests, (size_t)count);
    CHECK_EQ(rc, BOUMA_OK);
    for (int i = 0; i < count; i++) {
        CHECK_EQ(wrong_values(&requests[i], &arrays[i], &t->fields[which[i]],
                              layouts[i]),
                 0);
        array_free(&arrays[i]);
    }
    check_random(&t->shared);
}

/* What each mistake of one rank gives to all. */
static void mistakes_in_requests_reach_all_ranks(struct test *t,
                                                 bouma_dataset *ds,
                                                 bouma_step *step)
{
    bouma_grid *g = bouma_step_find_grid(step, "g");
    int last = t->ranks->rank == t->ranks->size - 1;
    uint8_t room[16];
    bouma_variable *v = bouma_grid_find_variable(g, names[0]);
    bouma_array to = test_array(v, room);
    bouma_request q = {.size = sizeof(q),
                       .variable = v,
                       .box = {{0, 0, 0}, {1, 1, 1}},
                       .array = &to};
    int rc;

    q.level = last ? 99 : 0;
    rc = bouma_step_read(step, &q, 1);
    CHECK_EQ(rc, BOUMA_ENOTFOUND);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    q.level = 0;
    q.box.hi[0] = last ? 100000 : 1;
    rc = bouma_step_read(step, &q, 1);
    CHECK_EQ(rc, BOUMA_EINVAL);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    q.box.hi[0] = 1;
    to.data = last ? NULL : room;
    rc = bouma_step_read(step, &q, 1);
    CHECK_EQ(rc, BOUMA_EINVAL);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    to.data = room;
    q.variable = bouma_grid_find_variable(g, names[last ? FIELDS - 1 : 0]);
    rc = bouma_step_read(step, &q, 1);
    CHECK_EQ(rc, BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "\"g/c\"");
    if (t->ranks->size > 1)
        CHECK_TEXT(bouma_error_message(ds), "rank ");
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    q.variable = bouma_grid_find_variable(g, names[0]);
    CHECK_EQ(bouma_step_read(step, &q, last), BOUMA_OK);
}

static void random_datasets(struct ranks *ranks, int count)
{
    for (int n = 0; n < count; n++) {
        struct test t = {.ranks = ranks};
        bouma_grid_info info = {.size = sizeof(info)};
        bouma_options options = {.size = sizeof(options)};
        bouma_dataset *ds;
        bouma_step *step;
        char path[512];

        /* Small buffers, so that what goes between ranks takes many rounds. */
        options.transport = (bouma_transport)(n / 3 % 3);
        options.buffers = 1 + n % 4;
        options.buffer_bytes = (uint64_t)1 << (6 + n % 8);
        choose(&t, 1 + n % 3, n);
        path_in(ranks, path, "read", n);
        write_by(&t, path, 1 + (int)check_below(&t.shared, ranks->size),
                 (bouma_codec)(1 + n % 2), n % 5);
        CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, &options),
                 BOUMA_OK);
        CHECK_EQ(bouma_step_open(&step, ds, 7), BOUMA_OK);
        REQUIRE(step);
        bouma_grid_info_get(&info, bouma_step_find_grid(step, "g"));
        t.levels = info.levels;
        for (int k = 0; k < 5; k++)
            any_boxes_on_any_ranks_are_right(&t, step);
        if (n % 9 == 0)
            mistakes_in_requests_reach_all_ranks(&t, ds, step);
        bouma_step_free(step);
        bouma_dataset_free(ds);
        if (ranks->rank == 0)
            remove_tree(path);
    }
}

/* All ranks want all of it, in chunks so large that none is read for being in
 * between: the bytes that all read together are those of the data, and of the
 * heads once for each rank. */
static void every_chunk_is_read_once(struct ranks *ranks)
{
    struct test t = {.ranks = ranks};
    uint64_t data_bytes = 0, file_bytes = 0, sums[1], mine;
    bouma_dataset_info before = {.size = sizeof(before)},
                       after = {.size = sizeof(after)};
    bouma_request requests[FIELDS - 1];
    struct array arrays[FIELDS - 1];
    bouma_step_details details = {.size = sizeof(details)};
    bouma_record record = {.size = sizeof(record)};
    bouma_dataset *ds;
    bouma_step *step;
    bouma_grid *g;
    char path[512];

    choose(&t, 3, 1);
    for (int d = 0; d < 3; d++) {
        t.grid.shape[d] = 40 + d;
        t.grid.patch[d] = 16;
        for (int i = 0; i < FIELDS; i++)
            t.fields[i].shape[d] = 40 + d;
    }
    t.grid.levels = 1;
    for (int i = 0; i < FIELDS; i++)
        t.fields[i].type = BOUMA_TYPE_F64;
    path_in(ranks, path, "once", 0);
    write_by(&t, path, ranks->size, BOUMA_CODEC_RAW, 3);
    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 7), BOUMA_OK);
    REQUIRE(step);
    g = bouma_step_find_grid(step, "g");
    for (int i = 0; i < FIELDS - 1; i++) {
        bouma_variable_info info = {.size = sizeof(info)};

        memset(&requests[i], 0, sizeof(requests[i]));
        requests[i].size = sizeof(requests[i]);
        requests[i].variable = bouma_grid_find_variable(g, names[i]);
        memcpy(requests[i].box.hi, t.grid.shape, sizeof(t.grid.shape));
        make_room(&arrays[i], &requests[i], &t.fields[i], LAYOUT_DENSE);
        bouma_variable_info_get(&info, requests[i].variable);
        data_bytes += info.stored_bytes;
    }
    bouma_step_details_get(&details, step);
    bouma_step_record_get(&record, step);
    file_bytes = record.stored_bytes;
    bouma_dataset_info_get(&before, ds);
    CHECK_EQ(bouma_step_read(step, requests, FIELDS - 1), BOUMA_OK);
    bouma_dataset_info_get(&after, ds);
    mine = after.bytes_read - before.bytes_read;
    MPI_Allreduce(&mine, sums, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sums[0] >= data_bytes);
    CHECK(sums[0] <=
          data_bytes + (uint64_t)ranks->size * ((file_bytes - data_bytes) / 2));
    if (ranks->rank == 0 &&
        sums[0] > data_bytes +
                      (uint64_t)ranks->size * ((file_bytes - data_bytes) / 2))
        printf("read %" PRIu64 " bytes of %" PRIu64 " (files %" PRIu64 ")\n",
               sums[0], data_bytes, file_bytes);
    for (int i = 0; i < FIELDS - 1; i++) {
        CHECK_EQ(
            wrong_values(&requests[i], &arrays[i], &t.fields[i], LAYOUT_DENSE),
            0);
        array_free(&arrays[i]);
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* test_mpi_read [COUNT]: so many datasets; 36 if nothing is said. */
int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    random_datasets(&ranks, argc > 1 ? atoi(argv[1]) : 36);
    every_chunk_is_read_once(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
