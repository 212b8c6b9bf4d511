/* test_mpi_lossy.c -- variables with a tolerance: what any number of ranks
 * write is, to the bit, what one rank alone writes, with any decomposition; the
 * bound of a relative tolerance comes from the values of all ranks; and no
 * value that is read together is beyond it. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include <math.h>

#include "../helpers/check.h"
#include "sized.h"

struct test {
    struct ranks *ranks;
    struct field field;
    bouma_grid_spec grid;
    bouma_variable_spec variable;
};

static double value_at(const struct field *f, const int64_t *at, int component)
{
    double v = 0;

    if (check_below(&(uint64_t){(uint64_t)(at[0] * 77 + at[1] * 5 + at[2])},
                    97) == 3)
        return NAN;
    for (int d = 0; d < f->ndims; d++)
        v += sin(0.21 * (double)(at[d] + component * 3 + (int)f->salt));
    return v * 50;
}

/* The samples of a box, dense. */
static void *samples_of(const struct field *f, const bouma_box *box)
{
    size_t n = (size_t)f->components, i = 0;
    int64_t at[3], lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    uint8_t *data;

    for (int d = 0; d < f->ndims; d++) {
        lo[d] = box->lo[d];
        hi[d] = box->hi[d];
        n *= (size_t)(hi[d] - lo[d]);
    }
    data = malloc(n * 8 + 1);
    REQUIRE(data);
    for (at[0] = lo[0]; at[0] < hi[0]; at[0]++)
        for (at[1] = lo[1]; at[1] < hi[1]; at[1]++)
            for (at[2] = lo[2]; at[2] < hi[2]; at[2]++)
                for (int c = 0; c < f->components; c++, i++) {
                    double v = value_at(f, at, c);
                    float small = (float)v;

                    if (f->type == BOUMA_TYPE_F32)
                        memcpy(data + i * 4, &small, 4);
                    else
                        memcpy(data + i * 8, &v, 8);
                }
    return data;
}

static void choose(struct test *t, int64_t n)
{
    uint64_t random = (uint64_t)n * 1000 + 1;
    int ndims = 1 + (int)(n % 3);

    t->field = (struct field){n & 1 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64,
                              n % 4 == 3 ? 2 : 1,
                              ndims,
                              {1, 1, 1},
                              (unsigned)n};
    t->grid = (bouma_grid_spec){.size = sizeof(t->grid), .ndims = ndims};
    for (int d = 0; d < ndims; d++) {
        t->grid.shape[d] = t->field.shape[d] =
            1 + check_below(&random, ndims == 1   ? 5000
                                     : ndims == 2 ? 90
                                                  : 40);
        t->grid.patch[d] = (int64_t)(ndims == 1 ? 256 : 8)
                           << check_below(&random, 2);
    }
    t->grid.levels = random_levels(&t->grid, &random);
    t->variable = (bouma_variable_spec){.size = sizeof(t->variable),
                                        .type = t->field.type,
                                        .components = t->field.components,
                                        .tolerance = n & 2 ? 1e-3 : 0.02,
                                        .tolerance_kind =
                                            n & 2 ? BOUMA_TOLERANCE_RELATIVE
                                                  : BOUMA_TOLERANCE_ABSOLUTE};
}

/* Two steps, by the ranks of 'comm', which are the first ones. */
static void write_by(const struct test *t, const char *path, MPI_Comm comm,
                     int64_t n)
{
    struct cutting cutting;
    uint64_t random = (uint64_t)n;
    bouma_options options = {.size = sizeof(options)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    options.durability = BOUMA_DURABILITY_FAST;
    cutting_make(&cutting, (enum cut)(n % CUTS), &t->field, size, &random);
    CHECK_EQ(bouma_dataset_create_mpi(&ds, comm, path, &options), BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&grid, ds, "g", &t->grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &t->variable), BOUMA_OK);
    for (int step = 0; step < 2; step++) {
        void *data[MAX_BLOCKS] = {NULL};
        bouma_record record = {.size = sizeof(record)};

        CHECK_EQ(bouma_step_begin(ds, step, step), BOUMA_OK);
        for (int i = 0; i < cutting.count; i++)
            if (cutting.blocks[i].rank == rank) {
                data[i] = samples_of(&t->field, &cutting.blocks[i].box);
                CHECK_EQ(test_put(v, &cutting.blocks[i].box, data[i]),
                         BOUMA_OK);
            }
        CHECK_EQ(end_step(&record, ds), BOUMA_OK);
        for (int i = 0; i < cutting.count; i++)
            free(data[i]);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

struct content {
    uint8_t *data;
    bouma_variable_info about;
    bouma_selection selection;
};

/* All of the variable at a level, read by all ranks together. */
static struct content read_all(const char *path, int level)
{
    bouma_request request = {.size = sizeof(request), .level = level};
    bouma_array to;
    struct content c;
    bouma_dataset *ds;
    bouma_step *step;

    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 1), BOUMA_OK);
    request.variable =
        bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    REQUIRE(request.variable);
    bouma_variable_info_get(SIZED(&c.about), request.variable);
    c.about.name = c.about.unit = NULL;
    CHECK_EQ(bouma_variable_select(SIZED(&c.selection), request.variable, level,
                                   NULL),
             BOUMA_OK);
    for (int d = 0; d < c.selection.ndims; d++)
        request.box.hi[d] = c.selection.shape[d] << level;
    c.data = malloc((size_t)c.selection.bytes + 1);
    to = test_array(request.variable, c.data);
    request.array = &to;
    REQUIRE(c.data);
    {
        bouma_grid_info g = {.size = sizeof(g)};

        bouma_grid_info_get(&g, bouma_step_find_grid(step, "g"));
        memcpy(request.box.hi, g.shape, sizeof(g.shape));
    }
    CHECK_EQ(bouma_step_read(step, &request, 1), BOUMA_OK);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return c;
}

static int64_t misses(const struct test *t, const struct content *c, int level)
{
    const bouma_selection *s = &c->selection;
    int64_t n[3] = {1, 1, 1}, at[3] = {0, 0, 0}, bad = 0;
    size_t i = 0;

    for (int d = 0; d < s->ndims; d++)
        n[d] = s->shape[d];
    for (int64_t z = 0; z < n[0]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[2]; x++)
                for (int k = 0; k < t->field.components; k++, i++) {
                    double was, is;
                    float small;

                    at[0] = z << level;
                    at[1] = y << level;
                    at[2] = x << level;
                    was = value_at(&t->field, at, k);
                    if (t->field.type == BOUMA_TYPE_F32) {
                        memcpy(&small, c->data + i * 4, 4);
                        is = (double)small;
                        was = (double)(float)was;
                    } else {
                        memcpy(&is, c->data + i * 8, 8);
                    }
                    bad += isnan(was) ? !isnan(is)
                                      : !(fabs(is - was) <= c->about.bound);
                }
    return bad;
}

int main(int argc, char **argv)
{
    struct ranks ranks;
    struct test t = {.ranks = &ranks};
    int count;

    ranks_init(&ranks, &argc, &argv);
    count = argc > 1 ? atoi(argv[1]) : 24;
    for (int64_t n = 0; n < count; n++) {
        char many[512], one[512];

        choose(&t, n);
        path_in(&ranks, many, "many", n);
        path_in(&ranks, one, "one", n);
        write_by(&t, many, MPI_COMM_WORLD, n);
        if (ranks.rank == 0)
            write_by(&t, one, MPI_COMM_SELF, n);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int level = 0; level < (n % 3 ? 2 : 1); level++) {
            struct content a, b;

            if (level >= t.grid.levels)
                break;
            a = read_all(many, level);
            b = read_all(one, level);
            CHECK_EQ(misses(&t, &a, level), 0);
            CHECK(!memcmp(a.data, b.data, (size_t)a.selection.bytes));
            CHECK(a.about.bound == b.about.bound && a.about.bound > 0);
            CHECK(a.about.largest_error == b.about.largest_error);
            CHECK_EQ(a.about.stored_bytes, b.about.stored_bytes);
            free(a.data);
            free(b.data);
        }
    }
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
