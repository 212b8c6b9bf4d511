/* Columns that share memory are refused by all calls that read into arrays;
 * members of the same structs are not. */
#include <string.h>

#include "api/column_overlap.h"
#include "check.h"

/* ---- rows, against a map of bytes --------------------------------------- */

static void paint(uint8_t map[400], const struct bm_row *r)
{
    for (int64_t i = 0; i < r->count; i++)
        for (int64_t k = 0; k < r->bytes; k++)
            map[r->first + i * r->stride + k] = 1;
}

static struct bm_row some_row(uint64_t *random)
{
    int64_t bytes = 1 + check_below(random, 8);

    return (struct bm_row){.first = check_below(random, 100),
                           .bytes = bytes,
                           .stride = bytes + check_below(random, 12),
                           .count = 1 + check_below(random, 12)};
}

static void rows_meet_where_bytes_are_shared(void)
{
    uint64_t random = 7;
    int met = 0, apart = 0;

    for (int round = 0; round < 20000; round++) {
        struct bm_row a = some_row(&random), b = some_row(&random);
        uint8_t one[400] = {0}, other[400] = {0};
        int shared = 0;

        if (round % 2)
            b.stride = a.stride > b.bytes ? a.stride : b.stride;
        paint(one, &a);
        paint(other, &b);
        for (int i = 0; i < 400; i++)
            shared |= one[i] && other[i];
        CHECK_EQ(bm_rows_meet(&a, &b), shared);
        CHECK_EQ(bm_rows_meet(&b, &a), shared);
        met += shared;
        apart += !shared;
    }
    CHECK(met > 2000 && apart > 2000);
}

/* ---- calls --------------------------------------------------------------- */

enum { COUNT = 20 };

static bouma_dataset *ds;
static bouma_step *step;
static bouma_particles *dust;
static bouma_variable *mass, *heat, *position;

static void write_and_open(bouma_io *io)
{
    bouma_options o = {.size = sizeof(o), .io = io};
    bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 3};
    bouma_variable_spec f32 = {.size = sizeof(f32), .type = BOUMA_TYPE_F32};
    float x[COUNT][3], values[COUNT];
    bouma_array ax = BOUMA_ARRAY(BOUMA_TYPE_F32, x, sizeof(x));
    bouma_array av = BOUMA_ARRAY(BOUMA_TYPE_F32, values, sizeof(values));

    for (int i = 0; i < COUNT; i++) {
        x[i][0] = x[i][1] = x[i][2] = (float)i;
        values[i] = (float)i;
    }
    REQUIRE(!bouma_dataset_create(&ds, "dust", &o));
    REQUIRE(!bouma_particles_define(&dust, ds, "dust", &spec));
    REQUIRE(!bouma_particles_define_variable(&mass, dust, "mass", &f32));
    REQUIRE(!bouma_particles_define_variable(&heat, dust, "heat", &f32));
    bouma_column columns[] = {
        {sizeof(bouma_column), bouma_particles_position(dust), &ax},
        {sizeof(bouma_column), mass, &av}, /* to put them twice is fine */
        {sizeof(bouma_column), heat, &av}};
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    REQUIRE(!bouma_particles_put_borrow(dust, COUNT, columns, 3, NULL));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_step_open(&step, ds, 0));
    dust = bouma_step_find_particles(step, "dust");
    position = bouma_particles_position(dust);
    mass = bouma_particles_find_variable(dust, "mass");
    heat = bouma_particles_find_variable(dust, "heat");
}

static int next_into(const bouma_column *columns, size_t n)
{
    bouma_variable *wanted[3];
    bouma_particles_query query = {
        .size = sizeof(query), .variables = wanted, .variable_count = n};
    bouma_answer answer = {.size = sizeof(answer)};
    bouma_particles_refinement *r = NULL;
    int rc;

    for (size_t i = 0; i < n; i++)
        wanted[i] = columns[i].variable;
    REQUIRE(!bouma_particles_refinement_open(&r, dust, &query));
    rc = bouma_particles_refinement_next_into(&answer, r, NULL, columns, n,
                                              COUNT);
    bouma_particles_refinement_free(r);
    return rc;
}

/* All four calls return this, and say so. */
static void check_all(const bouma_column *columns, size_t n, const char *text)
{
    int expected = text ? BOUMA_EINVAL : BOUMA_OK;
    uint64_t count;

    for (int call = 0; call < 4; call++) {
        int rc = call == 0   ? bouma_particles_read_into(&count, dust, NULL,
                                                         columns, n, COUNT)
                 : call == 1 ? bouma_particles_sample_into(&count, dust, NULL,
                                                           columns, n, COUNT, 3)
                 : call == 2 ? bouma_particles_restart_into(&count, dust, NULL,
                                                            columns, n, COUNT)
                             : next_into(columns, n);

        CHECK_EQ(rc, expected);
        if (text && !strstr(bouma_step_message(step), text)) {
            printf("got %s\n", bouma_step_message(step));
            CHECK(0);
        }
    }
}

static void arrays_that_overlap_are_refused(void)
{
    static float memory[8 * COUNT];
    bouma_array a = BOUMA_ARRAY(BOUMA_TYPE_F32, memory, sizeof(memory) / 2);
    bouma_array b = a;
    bouma_column columns[] = {{sizeof(bouma_column), mass, &a},
                              {sizeof(bouma_column), heat, &b}};
    const char *both = "\"mass\" and \"heat\" (columns 0 and 1) overlap";

    check_all(columns, 2, both);
    b.data = memory + COUNT - 1; /* by one value */
    check_all(columns, 2, both);
    b.data = memory + COUNT;
    check_all(columns, 2, NULL);
    b.data = (char *)(memory + COUNT) - 1; /* by one byte */
    check_all(columns, 2, both);
    b.data = memory + 2 * COUNT - 1; /* backwards, from the last to COUNT */
    b.stride[0] = -4;
    check_all(columns, 2, NULL);
    b.data = memory + 2 * COUNT - 2;
    check_all(columns, 2, both);
}

static void members_of_structs_do_not_overlap(void)
{
    static struct {
        float x[3], mass, heat;
    } grains[COUNT];
    bouma_array ax = BOUMA_ARRAY(BOUMA_TYPE_F32, grains, sizeof(grains));
    bouma_array am = ax, ah = ax;
    bouma_column columns[] = {{sizeof(bouma_column), position, &ax},
                              {sizeof(bouma_column), mass, &am},
                              {sizeof(bouma_column), heat, &ah}};

    ax.stride[0] = am.stride[0] = ah.stride[0] = sizeof(*grains);
    am.data = &grains->mass;
    ah.data = &grains->heat;
    am.bytes = ah.bytes = sizeof(grains) - 16;
    check_all(columns, 3, NULL);
    for (int i = 0; i < COUNT; i++)
        CHECK(grains[i].x[2] == grains[i].mass &&
              grains[i].mass == grains[i].heat);
    ah.data = &grains->x[2];
    check_all(columns, 3, "\"position\" and \"heat\" (columns 0 and 2)");
}

static void parts_must_not_overlap(void)
{
    static float x[COUNT], y[COUNT], z[COUNT];
    void *parts[] = {x, y, z};
    bouma_array a = {.size = sizeof(a),
                     .type = BOUMA_TYPE_F32,
                     .bytes = sizeof(x),
                     .parts = parts};
    bouma_column column = {sizeof(column), position, &a};

    check_all(&column, 1, NULL);
    parts[2] = x;
    check_all(&column, 1, "\"dust/position\": its parts overlap");
}

int main(void)
{
    bouma_io *io = bouma_io_memory_new();

    rows_meet_where_bytes_are_shared();
    write_and_open(io);
    arrays_that_overlap_are_refused();
    members_of_structs_do_not_overlap();
    parts_must_not_overlap();
    bouma_step_free(step);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
    return check_result();
}
