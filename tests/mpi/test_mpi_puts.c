/* test_mpi_puts.c -- arrays between the put and the end of the step: they are
 * borrowed, so a change fails the step on all ranks, with the option 'check';
 * copies may change as they like. And a definition that fails on one rank fails
 * the step on all. */
#include <stddef.h>
#include <sys/mman.h>

#include "../helpers/arrays.h"
#include "../helpers/check.h"
#include "blocks.h"
#include "columns.h"

enum { N = 24 };

/* A dataset with one grid and one variable of two components; each rank holds a
 * slab. The last one is careless. */
struct setting {
    struct ranks *ranks;
    int last;
    bouma_dataset *ds;
    bouma_variable *variable;
    struct field field;
    struct cutting slabs;
    char path[512];
};

static void set_up(struct setting *s, struct ranks *ranks, int check, int async)
{
    static int64_t number;
    bouma_options options = {.size = sizeof(options)};
    uint64_t random = 1;

    memset(s, 0, sizeof(*s));
    s->ranks = ranks;
    s->last = ranks->rank == ranks->size - 1;
    s->field = (struct field){BOUMA_TYPE_F32, 2, 2, {N, N, 0}, 5};
    cutting_make(&s->slabs, CUT_SLABS, &s->field, ranks->size, &random);
    options.durability = BOUMA_DURABILITY_FAST;
    options.check = check;
    options.async = async;
    path_in(ranks, s->path, "puts", number++);
    CHECK_EQ(
        bouma_dataset_create_mpi(&s->ds, MPI_COMM_WORLD, s->path, &options),
        BOUMA_OK);
    CHECK_EQ(field_define(&s->variable, s->ds, &s->field), BOUMA_OK);
}

static void tear_down(struct setting *s)
{
    CHECK_EQ(bouma_dataset_close(s->ds), BOUMA_OK);
    bouma_dataset_free(s->ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_failure(struct setting *s, int rc, int expected,
                          const char *part)
{
    CHECK_EQ(rc, expected);
    CHECK_TEXT(bouma_error_message(s->ds), part);
    CHECK(same_on_all(rc, bouma_error_message(s->ds)));
}

typedef int put_call(bouma_variable *variable, const bouma_box *box,
                     const bouma_array *array);

/* This rank's slab in an array of some layout; it may be empty. */
static void put_slab(struct setting *s, struct array *a, enum layout layout,
                     int64_t step, put_call *put)
{
    const bouma_box *box = &s->slabs.blocks[s->ranks->rank].box;
    int64_t shape[2] = {box->hi[0] - box->lo[0], box->hi[1] - box->lo[1]};

    CHECK_EQ(s->slabs.blocks[s->ranks->rank].rank, s->ranks->rank);
    array_make(a, &s->field, shape, layout);
    array_fill(a, &s->field, box, step);
    CHECK_EQ(put(s->variable, box, &a->given), BOUMA_OK);
}

static void changed_arrays_fail_the_step(struct ranks *ranks, int async)
{
    struct setting s;

    set_up(&s, ranks, 1, async);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        struct array a;
        int64_t step = layout;
        char box[64];
        int rc;

        /* One bit of the last value in the box. */
        CHECK_EQ(bouma_step_begin(s.ds, step, 0), BOUMA_OK);
        put_slab(&s, &a, (enum layout)layout, step, bouma_variable_put_borrow);
        if (s.last) {
            const bouma_box *own = &s.slabs.blocks[ranks->rank].box;

            a.data[(own->hi[0] - own->lo[0] - 1) * a.layout.stride[0] +
                   (N - 1) * a.layout.stride[1] + a.layout.component_stride] ^=
                1;
        }
        rc = bouma_step_end(s.ds);
        check_failure(&s, rc, BOUMA_ESTATE, "variable \"g/v\"");
        snprintf(box, sizeof(box), "%s%d", ranks->size > 1 ? "rank " : "",
                 ranks->size > 1 ? ranks->size - 1 : N);
        CHECK_TEXT(bouma_error_message(s.ds), box);
        CHECK_TEXT(bouma_error_message(s.ds), ",0:24]");
        CHECK_TEXT(bouma_error_message(s.ds), "bouma_variable_put_copy");
        array_free(&a);
        CHECK_EQ(bouma_dataset_step_count(s.ds), step);

        /* What lies around the box is the caller's. */
        CHECK_EQ(bouma_step_begin(s.ds, step, 0), BOUMA_OK);
        put_slab(&s, &a, (enum layout)layout, step, bouma_variable_put_borrow);
        if (layout == LAYOUT_GHOST)
            a.memory[0] ^= 1;
        CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
        CHECK_EQ(bouma_dataset_wait(s.ds), BOUMA_OK);
        array_free(&a);
        if (ranks->rank == 0)
            CHECK_EQ(wrong_on_disk(s.path, step, "v", &s.field), 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    tear_down(&s);
}

/* Memory that is given back to the system is not read, which would end the
 * program. */
static void freed_arrays_fail_the_step(struct ranks *ranks, int async)
{
    size_t bytes = (size_t)N * N * 2 * sizeof(float);
    float at[4] = {0, 1, 2, 3};
    bouma_particles_spec kind = {
        .size = sizeof(kind), .ndims = 1, .type = BOUMA_TYPE_F32};
    bouma_particles *dust;
    struct test_column column;
    struct setting s;
    const bouma_box *box;
    void *page;

    set_up(&s, ranks, 1, async);
    CHECK_EQ(bouma_particles_define(&dust, s.ds, "dust", &kind), BOUMA_OK);
    box = &s.slabs.blocks[ranks->rank].box;
    for (int which = 0; which < 2; which++) {
        column = (struct test_column){
            .variable = bouma_particles_position(dust), .data = at};
        page = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(page != MAP_FAILED);
        if (which)
            column.data = page;
        CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
        if (!which)
            CHECK_EQ(test_put(s.variable, box, page), BOUMA_OK);
        CHECK_EQ(test_put_particles(dust, 4, &column, 1, NULL), BOUMA_OK);
        if (s.last)
            munmap(page, bytes);
        check_failure(&s, bouma_step_end(s.ds), BOUMA_ESTATE,
                      which ? "the array for \"position\" was freed before"
                            : "variable \"g/v\": the array for the box [");
        CHECK_TEXT(bouma_error_message(s.ds), "was freed before the step");
        if (!s.last)
            munmap(page, bytes);
    }
    tear_down(&s);
}

static void copies_may_change(struct ranks *ranks, int async)
{
    struct setting s;

    set_up(&s, ranks, 1, async);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        struct array a;

        CHECK_EQ(bouma_step_begin(s.ds, layout, 0), BOUMA_OK);
        put_slab(&s, &a, (enum layout)layout, layout, bouma_variable_put_copy);
        CHECK(array_unchanged(&a));
        memset(a.memory, 0x5a, a.bytes);
        array_free(&a);
        CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
        CHECK_EQ(bouma_dataset_wait(s.ds), BOUMA_OK);
        if (ranks->rank == 0)
            CHECK_EQ(wrong_on_disk(s.path, layout, "v", &s.field), 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    tear_down(&s);
}

/* Rows of a rank handed over one by one, each packed by "the compiler" into the
 * same memory. */
static void put_rows(struct setting *s, int64_t step, put_call *put)
{
    const bouma_box *own = &s->slabs.blocks[s->ranks->rank].box;
    static float packed[N][2];

    for (int64_t y = own->lo[0]; y < own->hi[0]; y++) {
        bouma_box row = {{y, 0}, {y + 1, N}};

        for (int64_t x = 0; x < N; x++)
            for (int c = 0; c < 2; c++)
                field_value(&packed[x][c], &s->field, (int64_t[]){y, x}, c,
                            step);
        CHECK_EQ(put(s->variable, &row,
                     &BOUMA_ARRAY(BOUMA_TYPE_F32, packed, sizeof(packed))),
                 BOUMA_OK);
    }
}

static void temporaries_of_compilers_are_found(struct ranks *ranks)
{
    struct setting s;

    set_up(&s, ranks, 1, 0);
    CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
    put_rows(&s, 0, bouma_variable_put_borrow);
    check_failure(&s, bouma_step_end(s.ds), BOUMA_ESTATE,
                  "the array for the box [");
    CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
    put_rows(&s, 0, bouma_variable_put_copy);
    CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
    if (ranks->rank == 0)
        CHECK_EQ(wrong_on_disk(s.path, 0, "v", &s.field), 0);
    tear_down(&s);
    /* Without the check nobody looks. */
    set_up(&s, ranks, -1, 0);
    CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
    put_rows(&s, 0, bouma_variable_put_borrow);
    CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
    tear_down(&s);
}

/* ---- particles ---------------------------------------------------------- */

enum { COUNT = 500 };

struct particle {
    double position[3];
    char name[8];
    float mass;
    int64_t id;
};

typedef int put_particles(bouma_particles *particles, uint64_t count,
                          const struct test_column *columns,
                          size_t column_count, const bouma_bounds *bounds);

struct dust {
    bouma_particles *set;
    bouma_variable *mass, *id;
};

static int put_structs(const struct dust *dust, const struct particle *p,
                       put_particles *put)
{
    struct test_column columns[3] = {
        {.variable = bouma_particles_position(dust->set),
         .data = p->position,
         .stride = sizeof(*p)},
        {.variable = dust->mass, .data = &p->mass, .stride = sizeof(*p)},
        {.variable = dust->id, .data = &p->id, .stride = sizeof(*p)}};

    return put(dust->set, COUNT, columns, 3, NULL);
}

static void make_particles(struct particle *p, int rank)
{
    uint64_t random = 7 + (uint64_t)rank;

    memset(p, 0, COUNT * sizeof(*p));
    for (int i = 0; i < COUNT; i++) {
        p[i].id = (int64_t)rank * COUNT + i;
        p[i].mass = (float)(p[i].id % 1000) + 0.5f;
        for (int d = 0; d < 3; d++)
            p[i].position[d] = (double)check_below(&random, 1 << 20);
    }
}

/* Particles on disk whose mass is not that of their id; or that are missing. */
static int64_t wrong_particles(const char *path, int ranks)
{
    bouma_particle_data *data = NULL;
    bouma_dataset *ds = NULL;
    bouma_step *step = NULL;
    bouma_particles *set;
    int64_t wrong = 0;
    const int64_t *id;
    const float *mass;

    CHECK_EQ(bouma_dataset_open(&ds, path, NULL), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    set = bouma_step_find_particles(step, "dust");
    CHECK_EQ(bouma_particles_read(&data, set, NULL), BOUMA_OK);
    mass = data->columns[1];
    id = data->columns[2];
    wrong = data->count != (uint64_t)ranks * COUNT;
    for (uint64_t i = 0; !wrong && i < data->count; i++)
        wrong += mass[i] != (float)(id[i] % 1000) + 0.5f;
    bouma_particle_data_free(data);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return wrong;
}

static void define_dust(struct dust *out, bouma_dataset *ds)
{
    bouma_particles_spec spec = {
        .size = sizeof(spec), .ndims = 3, .type = BOUMA_TYPE_F64};
    bouma_variable_spec f32 = {.size = sizeof(f32), .type = BOUMA_TYPE_F32};
    bouma_variable_spec i64 = {.size = sizeof(i64), .type = BOUMA_TYPE_I64};

    CHECK_EQ(bouma_particles_define(&out->set, ds, "dust", &spec), BOUMA_OK);
    CHECK_EQ(
        bouma_particles_define_variable(&out->mass, out->set, "mass", &f32),
        BOUMA_OK);
    CHECK_EQ(bouma_particles_define_variable(&out->id, out->set, "id", &i64),
             BOUMA_OK);
}

static void particles_in_structures_are_checked(struct ranks *ranks)
{
    static struct particle p[COUNT];
    struct setting s;
    struct dust dust;

    set_up(&s, ranks, 1, 0);
    define_dust(&dust, s.ds);
    for (int what = 0; what < 3; what++) {
        static const char *const words[3] = {"\"position\"", "\"mass\"",
                                             "\"id\""};

        make_particles(p, ranks->rank);
        CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
        CHECK_EQ(put_structs(&dust, p, test_put_particles), BOUMA_OK);
        if (s.last && what == 0)
            p[COUNT / 2].position[2] += 1;
        else if (s.last && what == 1)
            p[COUNT - 1].mass += 1;
        else if (s.last)
            p[0].id++;
        check_failure(&s, bouma_step_end(s.ds), BOUMA_ESTATE, words[what]);
        CHECK_TEXT(bouma_error_message(s.ds), "bouma_particles_put_copy");
    }
    make_particles(p, ranks->rank);
    CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
    CHECK_EQ(put_structs(&dust, p, test_put_particles), BOUMA_OK);
    p[0].name[3] = 'x'; /* a member that was not handed over */
    CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
    if (ranks->rank == 0)
        CHECK_EQ(wrong_particles(s.path, ranks->size), 0);
    tear_down(&s);
}

static void copies_of_particles_may_change(struct ranks *ranks)
{
    static struct particle p[COUNT];
    struct setting s;
    struct dust dust;

    set_up(&s, ranks, 1, 1);
    define_dust(&dust, s.ds);
    make_particles(p, ranks->rank);
    CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
    CHECK_EQ(put_structs(&dust, p, test_put_particles_copy), BOUMA_OK);
    memset(p, 0x5a, sizeof(p));
    CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_wait(s.ds), BOUMA_OK);
    if (ranks->rank == 0)
        CHECK_EQ(wrong_particles(s.path, ranks->size), 0);
    tear_down(&s);
}

/* ---- definitions -------------------------------------------------------- */

static void
a_definition_that_fails_on_one_rank_fails_on_all(struct ranks *ranks)
{
    bouma_variable_spec good = {.size = sizeof(good), .type = BOUMA_TYPE_F32};
    bouma_variable_spec bad = good;
    bouma_variable *w = NULL;
    bouma_grid_spec square = {
        .size = sizeof(square), .ndims = 2, .shape = {N, N}};
    bouma_grid *grid;
    struct setting s;
    struct array a;

    set_up(&s, ranks, 0, 0);
    CHECK_EQ(bouma_grid_define(&grid, s.ds, "h", &square), BOUMA_OK);
    bad.codec = BOUMA_CODEC_INTERP;
    bouma_variable_define(&w, grid, "w", s.last ? &bad : &good);
    for (int step = 0; step < 2; step++) {
        CHECK_EQ(bouma_step_begin(s.ds, step, 0), BOUMA_OK);
        put_slab(&s, &a, LAYOUT_DENSE, step, bouma_variable_put_borrow);
        test_put(w, &s.slabs.blocks[ranks->rank].box, a.data);
        check_failure(&s, bouma_step_end(s.ds), BOUMA_EINVAL, "tolerance");
        array_free(&a);
    }
    if (s.last)
        CHECK_EQ(bouma_variable_define(&w, grid, "w", &good), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(s.ds, 2, 0), BOUMA_OK);
    put_slab(&s, &a, LAYOUT_DENSE, 2, bouma_variable_put_borrow);
    CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
    array_free(&a);
    tear_down(&s);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int async = 0; async < 2; async++) {
        changed_arrays_fail_the_step(&ranks, async);
        freed_arrays_fail_the_step(&ranks, async);
        copies_may_change(&ranks, async);
    }
    temporaries_of_compilers_are_found(&ranks);
    particles_in_structures_are_checked(&ranks);
    copies_of_particles_may_change(&ranks);
    a_definition_that_fails_on_one_rank_fails_on_all(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
