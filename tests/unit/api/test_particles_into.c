/* Particles from and into arrays of any type, layout and place, against those
 * that the library returns in its own. */
#include <math.h>

#include "any_array.h"
#include "particle_block.h"
#include "tells.h"

static bouma_io *io;

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    o.durability = BOUMA_DURABILITY_FAST;
    return o;
}

static double number_at(bouma_type type, const void *at)
{
    switch (type) {
#define CASE(name, value, ctype, text)                                         \
    case BOUMA_##name: {                                                       \
        ctype v;                                                               \
        memcpy(&v, at, sizeof(v));                                             \
        return (double)v;                                                      \
    }
        BOUMA_TYPE_LIST(CASE)
#undef CASE
    default:
        return 0;
    }
}

static int same(bouma_type a_type, const void *a, bouma_type b_type,
                const void *b)
{
    double x = number_at(a_type, a), y = number_at(b_type, b);

    if (a_type == b_type)
        return !memcmp(a, b, bouma_type_size(a_type));
    return x == y || (isnan(x) && isnan(y));
}

/* Types that have all values of a variable of the test. */
static bouma_type some_type(bouma_type own, uint64_t *random)
{
    if (check_below(random, 2))
        return own;
    switch (own) {
    case BOUMA_TYPE_F32:
        return BOUMA_TYPE_F64;
    case BOUMA_TYPE_I32:
        return check_below(random, 2) ? BOUMA_TYPE_I64 : BOUMA_TYPE_F64;
    case BOUMA_TYPE_U8:
        return check_below(random, 2) ? BOUMA_TYPE_I16 : BOUMA_TYPE_F32;
    default:
        return own;
    }
}

/* ---- into --------------------------------------------------------------- */

/* Some variables, in any order. */
static size_t choose(bouma_variable **out, const struct particle_block_set *set,
                     uint64_t *random)
{
    size_t n = 0;

    for (int i = 0; i < PARTICLE_BLOCK_VARIABLES; i++) {
        size_t at = n ? (size_t)check_below(random, (int64_t)n + 1) : 0;

        if (i && check_below(random, 3) == 0)
            continue;
        out[n] = out[at];
        out[at] = set->variables[i];
        n++;
    }
    return n;
}

/* The value k of a component, in planar or interleaved data. */
static const void *value_in(const bouma_particle_data *d, size_t v,
                            const bouma_variable_info *about, uint64_t k, int c)
{
    size_t size = bouma_type_size(about->type);
    uint64_t at = d->order == BOUMA_COMPONENT_ORDER_PLANAR
                      ? (uint64_t)c * d->count + k
                      : k * (uint64_t)about->components + (uint64_t)c;

    return (const uint8_t *)d->columns[v] + at * size;
}

static uint64_t count_wrong(const struct any_array *a, size_t v,
                            const bouma_particle_data *d)
{
    bouma_variable_info about = {.size = sizeof(about)};
    uint64_t wrong = 0;

    bouma_variable_info_get(&about, d->variables[v]);
    for (uint64_t k = 0; k < d->count; k++)
        for (int c = 0; c < about.components; c++) {
            int64_t index[3] = {(int64_t)k, 0, 0};

            wrong += !same(about.type, value_in(d, v, &about, k, c),
                           a->array.type, any_array_at(a, index, c));
        }
    return wrong;
}

struct trial {
    bouma_particles_query query;
    bouma_bounds box;
    bouma_condition condition;
    bouma_variable *variables[PARTICLE_BLOCK_VARIABLES];
    size_t count;
};

static void make_trial(struct trial *t, const struct particle_block_set *set,
                       const struct particle_block *s, uint64_t *random)
{
    memset(t, 0, sizeof(*t));
    t->query.size = sizeof(t->query);
    t->count = choose(t->variables, set, random);
    if (check_below(random, 3)) {
        t->query.box = &t->box;
        t->box.axes = check_below(random, 2) ? BOUMA_AXES_XYZ : BOUMA_AXES_ZYX;
        for (int d = 0; d < s->ndims; d++)
            t->box.high[d] = 0.2 + particle_block_unit(random);
    }
    if (check_below(random, 2)) {
        t->query.conditions = &t->condition;
        t->query.condition_count = 1;
        t->condition.size = sizeof(t->condition);
        t->condition.variable = set->variables[KIND];
        t->condition.low = bouma_value_int(check_below(random, 9) - 5);
    }
    t->query.quality = check_below(random, 3) ? 0 : 0.3;
}

/* Into arrays for 'room' particles, which fits 'd' or does not. */
static void read_into(struct trial *t, bouma_particles *particles,
                      const bouma_particle_data *d, uint64_t room,
                      uint64_t *random)
{
    struct any_array arrays[PARTICLE_BLOCK_VARIABLES];
    bouma_column columns[PARTICLE_BLOCK_VARIABLES];
    const int64_t shape[3] = {room ? (int64_t)room : 1, 1, 1};
    uint64_t count = 77, wrong = 0;

    for (size_t v = 0; v < t->count; v++) {
        bouma_variable_info about = {.size = sizeof(about)};

        bouma_variable_info_get(&about, t->variables[v]);
        any_array_make(&arrays[v], some_type(about.type, random),
                       about.components, 1, shape, ANY_PARTS | ANY_DEVICE,
                       random);
        columns[v] =
            (bouma_column){sizeof(*columns), t->variables[v], &arrays[v].array};
    }
    CHECK_EQ(bouma_particles_read_into(&count, particles, &t->query, columns,
                                       t->count, room),
             room < d->count ? BOUMA_ELIMIT : BOUMA_OK);
    CHECK_EQ(count, d->count);
    for (size_t v = 0; v < t->count && room >= d->count; v++)
        wrong += count_wrong(&arrays[v], v, d);
    CHECK_EQ(wrong, 0);
    for (size_t v = 0; v < t->count; v++)
        any_array_free(&arrays[v]);
}

static void arrays_get_what_the_library_returns(void)
{
    uint64_t random = 11, found = 0;

    for (int shape = 0; shape < SHAPES; shape++) {
        bouma_options o;
        struct particle_block_set set;
        struct particle_block s;
        bouma_dataset *ds;
        bouma_step *step;

        io = bouma_io_memory_new();
        o = memory_options();
        particle_block_make(&s, (enum shape)shape, 3000, 1 + shape % 3,
                            shape % 2 ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32, 0);
        CHECK_EQ(bouma_dataset_create(&ds, "d", &o), BOUMA_OK);
        CHECK_EQ(particle_block_define(
                     &set, ds, "dust", s.ndims, s.type,
                     shape % 2 ? BOUMA_CODEC_RAW : BOUMA_CODEC_ZSTD, 32),
                 BOUMA_OK);
        CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
        CHECK_EQ(particle_block_put(&set, &s), BOUMA_OK);
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
        CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
        particle_block_find(&set, step, "dust");
        for (int i = 0; i < 12; i++) {
            bouma_particle_data *d = NULL;
            struct trial t;
            uint64_t count = 0, order = (uint64_t)i % 3;

            make_trial(&t, &set, &s, &random);
            t.query.variables = t.variables;
            t.query.variable_count = t.count;
            t.query.order = (bouma_component_order)order;
            CHECK_EQ(bouma_particles_read(&d, set.particles, &t.query),
                     BOUMA_OK);
            REQUIRE(d);
            CHECK_EQ(d->size, sizeof(*d));
            CHECK_EQ(d->order, order ? order : BOUMA_COMPONENT_ORDER_PLANAR);
            CHECK_EQ(bouma_particles_count(&count, set.particles, &t.query),
                     BOUMA_OK);
            CHECK_EQ(count, d->count);
            t.query.variables = NULL;
            t.query.variable_count = 0;
            t.query.order = (bouma_component_order)0;
            read_into(&t, set.particles, d, d->count, &random);
            read_into(&t, set.particles, d, d->count + 9, &random);
            if (d->count)
                read_into(&t, set.particles, d,
                          (uint64_t)check_below(&random, (int64_t)d->count),
                          &random);
            found += d->count;
            bouma_particle_data_free(d);
        }
        bouma_step_free(step);
        bouma_dataset_free(ds);
        particle_block_free(&s);
        bouma_io_memory_free(io);
    }
    CHECK(found > 1000);
}

/* ---- puts --------------------------------------------------------------- */

/* The same particles, from any arrays, are the same file. */
static void puts_from_any_array_are_the_same(void)
{
    enum { N = 500 };
    const bouma_particles_spec spec = {
        .size = sizeof(spec), .ndims = 3, .type = BOUMA_TYPE_F32};
    const bouma_variable_spec whole = {.size = sizeof(whole),
                                       .type = BOUMA_TYPE_I16};
    uint64_t random = 5, wrong = 0;

    for (int trial = 0; trial < 60; trial++) {
        const int64_t shape[3] = {N, 1, 1};
        struct any_array at, number;
        bouma_options o;
        bouma_particle_data *d = NULL;
        bouma_particles *dust;
        bouma_variable *v;
        bouma_dataset *ds;
        bouma_step *step;
        bouma_column columns[2];
        uint64_t sum = 0;

        io = bouma_io_memory_new();
        o = memory_options();
        o.check = 1;
        any_array_make(&at, trial % 2 ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32, 3, 1,
                       shape, ANY_PARTS | ANY_DEVICE, &random);
        any_array_make(&number, trial % 3 ? BOUMA_TYPE_I64 : BOUMA_TYPE_I16, 1,
                       1, shape, ANY_PARTS | ANY_DEVICE, &random);
        for (int64_t i = 0; i < N; i++) {
            int64_t wide = i;
            int16_t narrow = (int16_t)i;

            for (int c = 0; c < 3; c++) {
                float x = (float)(i * (c + 1) % 97);
                double y = (double)x;

                memcpy(any_array_at(&at, (int64_t[]){i, 0, 0}, c),
                       trial % 2 ? (void *)&y : (void *)&x,
                       trial % 2 ? sizeof(y) : sizeof(x));
            }
            memcpy(any_array_at(&number, (int64_t[]){i, 0, 0}, 0),
                   trial % 3 ? (void *)&wide : (void *)&narrow,
                   trial % 3 ? sizeof(wide) : sizeof(narrow));
        }
        CHECK_EQ(bouma_dataset_create(&ds, "d", &o), BOUMA_OK);
        CHECK_EQ(bouma_particles_define(&dust, ds, "dust", &spec), BOUMA_OK);
        CHECK_EQ(bouma_particles_define_variable(&v, dust, "n", &whole),
                 BOUMA_OK);
        columns[0] = (bouma_column){sizeof(*columns),
                                    bouma_particles_position(dust), &at.array};
        columns[1] = (bouma_column){sizeof(*columns), v, &number.array};
        CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
        CHECK_EQ((trial % 5
                      ? bouma_particles_put_borrow
                      : bouma_particles_put_copy)(dust, N, columns, 2, NULL),
                 BOUMA_OK);
        if (bouma_step_end(ds))
            printf("%s\n", bouma_error_message(ds));
        CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
        CHECK_EQ(bouma_particles_read(&d, bouma_step_particles(step, 0), NULL),
                 BOUMA_OK);
        REQUIRE(d);
        CHECK_EQ(d->count, N);
        for (uint64_t i = 0; i < d->count; i++) {
            int64_t n = ((int16_t *)d->columns[1])[i];

            sum += (uint64_t)n;
            for (int c = 0; c < 3; c++)
                wrong += ((float *)d->columns[0])[(uint64_t)c * N + i] !=
                         (float)(n * (c + 1) % 97);
        }
        CHECK_EQ(sum, N * (N - 1) / 2);
        bouma_particle_data_free(d);
        bouma_step_free(step);
        bouma_dataset_free(ds);
        any_array_free(&at);
        any_array_free(&number);
        bouma_io_memory_free(io);
    }
    CHECK_EQ(wrong, 0);
}

/* ---- what is refused ---------------------------------------------------- */

static void wrong_arrays_are_refused(void)
{
    static double x[8][2], big[8] = {1, 2, 3, 4, 5, 6, 300, 8}, out[16];
    static uint8_t small[8];
    const bouma_particles_spec spec = {
        .size = sizeof(spec), .ndims = 2, .type = BOUMA_TYPE_F64};
    const bouma_variable_spec byte = {.size = sizeof(byte),
                                      .type = BOUMA_TYPE_U8};
    bouma_array at = BOUMA_ARRAY(BOUMA_TYPE_F64, x, sizeof(x));
    bouma_array of = BOUMA_ARRAY(BOUMA_TYPE_F64, big, sizeof(big));
    bouma_column columns[2] = {{.size = sizeof(*columns), .array = &at},
                               {.size = sizeof(*columns), .array = &of}};
    bouma_particles_query q = {.size = sizeof(q)};
    bouma_options o;
    bouma_particles *dust;
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;
    uint64_t count;
    float first;

    io = bouma_io_memory_new();
    o = memory_options();
    for (int i = 0; i < 8; i++)
        x[i][0] = x[i][1] = i + 0.1;
    CHECK_EQ(bouma_dataset_create(&ds, "d", &o), BOUMA_OK);
    CHECK_EQ(bouma_particles_define(&dust, ds, "dust", &spec), BOUMA_OK);
    CHECK_EQ(bouma_particles_define_variable(&v, dust, "b", &byte), BOUMA_OK);
    columns[0].variable = bouma_particles_position(dust);
    columns[1].variable = v;
#define PUT bouma_particles_put_borrow(dust, 8, columns, 2, NULL)
#define REFUSED(words)                                                         \
    do {                                                                       \
        CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);                        \
        TELLS(ds, PUT, BOUMA_EINVAL, words);                                   \
        TELLS(ds, bouma_step_end(ds), BOUMA_EINVAL, words);                    \
    } while (0)
    REFUSED("sample [6]: 300 does not fit into u8");
    big[6] = 6.5;
    REFUSED("sample [6]: 6.5 is not exact as u8");
    big[6] = 7;
    at.bytes--;
    REFUSED("the array has 127 bytes");
    at.bytes++;
    at.stride[1] = 8;
    REFUSED("stride[1]");
    at.stride[1] = 0;
    at.type = (bouma_type)0;
    REFUSED("no type");
    at.type = BOUMA_TYPE_F64;
    columns[1].array = NULL;
    REFUSED("no array");
    columns[1].array = &of;
    columns[0].size = columns[1].size = 0;
    REFUSED("sizeof(bouma_column)");
    columns[0].size = columns[1].size = sizeof(*columns);
    columns[1].size--;
    REFUSED("elements 0 and 1");
    columns[1].size++;
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(PUT, BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);

    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    dust = bouma_step_particles(step, 0);
    columns[0].variable = bouma_particles_position(dust);
    columns[1].variable = bouma_particles_variable(dust, 0);
    at.data = out;
    of = BOUMA_ARRAY(BOUMA_TYPE_U8, small, sizeof(small));
#define INTO(n, capacity)                                                      \
    bouma_particles_read_into(&count, dust, &q, columns, n, capacity)
    CHECK_EQ(INTO(2, 8), BOUMA_OK);
    CHECK_EQ(count, 8);
    CHECK(out[0] >= 0.1 && out[15] >= 0.1 && small[7] > 0);
    /* Too few: nothing is beyond, and the number is told. */
    memset(small, 0xee, sizeof(small));
    TELLS(ds, INTO(2, 7), BOUMA_ELIMIT, "8 match, but the arrays have room");
    CHECK_EQ(count, 8);
    CHECK_EQ(small[7], 0xee);
    TELLS(ds, INTO(2, 0), BOUMA_ELIMIT, "room for 0");
    TELLS(ds, INTO(2, 9), BOUMA_EINVAL, "the array has 128 bytes");
    CHECK_EQ(count, 0);
    TELLS(ds, INTO(0, 8), BOUMA_EINVAL, "to count only");
    TELLS(ds, bouma_particles_read_into(&count, dust, &q, NULL, 2, 8),
          BOUMA_EINVAL, "to count only");
    CHECK_EQ(bouma_particles_read_into(&count, dust, &q, NULL, 0, 0), BOUMA_OK);
    CHECK_EQ(count, 8);
    /* Half as large: 0.1 is no number of f32 by far. */
    at.type = BOUMA_TYPE_F32;
    TELLS(ds, INTO(2, 8), BOUMA_EINVAL, "is not exact as f32");
    at.convert = BOUMA_CONVERT_ROUND;
    CHECK_EQ(INTO(2, 8), BOUMA_OK);
    memcpy(&first, out, sizeof(first));
    CHECK(fabs((double)first - floor((double)first) - 0.1) < 1e-5);
    q.order = BOUMA_COMPONENT_ORDER_INTERLEAVED;
    TELLS(ds, INTO(2, 8), BOUMA_EINVAL, "leave 'variables' and 'order'");
    q = (bouma_particles_query){.size = sizeof(q),
                                .variables = &columns[1].variable,
                                .variable_count = 1};
    TELLS(ds, INTO(2, 8), BOUMA_EINVAL, "leave 'variables'");
    q = (bouma_particles_query){.size = sizeof(q), .shares = 1};
    TELLS(ds, INTO(2, 8), BOUMA_EINVAL, "restart");
    q = (bouma_particles_query){.size = sizeof(q)};
    columns[1].variable = columns[0].variable;
    of = at;
    TELLS(ds, INTO(2, 8), BOUMA_EINVAL, "asked for twice");
    columns[1].variable = NULL;
    TELLS(ds, INTO(2, 8), BOUMA_EINVAL, "not one of theirs");
    TELLS(ds, bouma_particles_read_into(NULL, dust, &q, columns, 1, 8),
          BOUMA_EINVAL, "the pointer for ");
    TELLS(ds, bouma_particles_count(NULL, dust, &q), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_particles_restart_into(NULL, dust, &q, columns, 1, 8),
          BOUMA_EINVAL, "the pointer for ");
    CHECK_EQ(bouma_particles_restart_into(&count, dust, &q, columns, 1, 8),
             BOUMA_OK);
    CHECK_EQ(count, 8);
    CHECK_EQ(bouma_particles_count(&count, NULL, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_read_into(&count, NULL, NULL, NULL, 0, 0),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_restart_into(&count, NULL, NULL, NULL, 0, 0),
             BOUMA_EINVAL);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

int main(void)
{
    arrays_get_what_the_library_returns();
    puts_from_any_array_are_the_same();
    wrong_arrays_are_refused();
    return check_result();
}
