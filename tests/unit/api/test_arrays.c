/* Arrays of callers: of any type, order and place, against every value of them;
 * and those that are refused. */
#include <math.h>

#include "any_array.h"
#include "arrays.h"
#include "fault_alloc.h"
#include "must.h"

static bouma_io *io;

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    return o;
}

static const char *fresh_path(void)
{
    static char path[32];
    static int number;

    snprintf(path, sizeof(path), "arrays%d", number++);
    return path;
}

/* ---- all that is handed over comes back ---------------------------------- */

struct trial {
    bouma_dataset *ds;
    bouma_variable *variable;
    bouma_grid_spec grid;
    bouma_variable_spec spec;
    uint64_t random;
};

static bouma_type any_type(uint64_t *random)
{
    return (bouma_type)(1 + check_below(random, 10));
}

static void define_any(struct trial *t)
{
    static const bouma_codec codecs[] = {BOUMA_CODEC_ZSTD, BOUMA_CODEC_RAW};
    bouma_options o = memory_options();
    bouma_grid *grid;

    t->grid = (bouma_grid_spec){.size = sizeof(t->grid),
                                .ndims = 1 + (int)check_below(&t->random, 3)};
    for (int d = 0; d < t->grid.ndims; d++) {
        t->grid.shape[d] = 8 + check_below(&t->random, 7);
        t->grid.patch[d] = 4;
    }
    t->spec =
        (bouma_variable_spec){.size = sizeof(t->spec),
                              .type = any_type(&t->random),
                              .components = 1 + (int)check_below(&t->random, 3),
                              .codec = codecs[check_below(&t->random, 2)]};
    t->grid.levels = 2;
    if (!check_below(&t->random, 3)) {
        t->grid = (bouma_grid_spec){
            .size = sizeof(t->grid),
            .ndims = t->grid.ndims,
            .shape = {t->grid.shape[0], t->grid.shape[1], t->grid.shape[2]},
            .layout = BOUMA_LAYOUT_HZ,
            .hz_block_bits = 3};
        t->grid.hz_wavelet = (int)check_below(&t->random, 2);
    }
    o.check = (int)check_below(&t->random, 2) ? 1 : -1;
    MUST(t->ds, bouma_dataset_create(&t->ds, fresh_path(), &o));
    MUST(t->ds, bouma_grid_define(&grid, t->ds, "g", &t->grid));
    MUST(t->ds, bouma_variable_define(&t->variable, grid, "v", &t->spec));
}

/* The grid in up to three blocks, each in an array of its own kind. */
static void put_blocks(struct trial *t)
{
    struct any_array arrays[3];
    int axis = (int)check_below(&t->random, t->grid.ndims), count = 0;
    int64_t from = 0;

    while (from < t->grid.shape[axis]) {
        int64_t left = t->grid.shape[axis] - from, shape[3];
        int64_t n = count == 2 ? left : 1 + check_below(&t->random, left);
        struct any_array *a = &arrays[count++];
        bouma_box box = {{0}, {0}};

        for (int d = 0; d < t->grid.ndims; d++)
            box.hi[d] = shape[d] = t->grid.shape[d];
        box.lo[axis] = from;
        box.hi[axis] = from += n;
        shape[axis] = n;
        any_array_make(a, any_type(&t->random), t->spec.components,
                       t->grid.ndims, shape, ANY_PARTS | ANY_DEVICE,
                       &t->random);
        any_array_fill(a, &box);
        if (check_below(&t->random, 2)) {
            MUST(t->ds,
                 bouma_variable_put_borrow(t->variable, &box, &a->array));
        } else {
            MUST(t->ds, bouma_variable_put_copy(t->variable, &box, &a->array));
            CHECK_EQ(a->device.calls != 0, a->array.copy != NULL);
            memset(a->memory, 0x77, a->bytes); /* nobody looks at it now */
            any_array_keep(a);
            a->device.fails = 1;
        }
    }
    MUST(t->ds, bouma_step_end(t->ds));
    for (int i = 0; i < count; i++) {
        CHECK(any_array_kept(&arrays[i]));
        CHECK_EQ(arrays[i].device.calls != 0, arrays[i].array.copy != NULL);
        any_array_free(&arrays[i]);
    }
}

static void read_boxes(struct trial *t, bouma_step *step)
{
    bouma_variable *v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    struct any_array arrays[4];
    bouma_request requests[4];
    bouma_selection s[4];
    size_t count = 0;

    for (int i = 0; i < 4; i++) {
        bouma_request *q = &requests[count];

        memset(q, 0, sizeof(*q));
        q->size = sizeof(*q);
        q->variable = v;
        q->level = t->grid.hz_wavelet ? 0 : (int)check_below(&t->random, 2);
        for (int d = 0; d < t->grid.ndims; d++) {
            q->box.lo[d] = check_below(&t->random, t->grid.shape[d]);
            q->box.hi[d] =
                q->box.lo[d] + 1 +
                check_below(&t->random, t->grid.shape[d] - q->box.lo[d]);
        }
        s[count].size = sizeof(*s);
        MUST(t->ds, bouma_variable_select(&s[count], v, q->level, &q->box));
        if (!s[count].bytes)
            continue;
        any_array_make(&arrays[count], any_type(&t->random), t->spec.components,
                       t->grid.ndims, s[count].shape, ANY_PARTS | ANY_DEVICE,
                       &t->random);
        q->array = &arrays[count].array;
        MUST(t->ds, bouma_variable_read(v, q->level, &q->box, q->array));
        CHECK_EQ(any_array_wrong(&arrays[count], &s[count]), 0);
        count++;
    }
    MUST(t->ds, bouma_step_read(step, requests, count));
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(any_array_wrong(&arrays[i], &s[i]), 0);
        any_array_free(&arrays[i]);
    }
}

static void any_array_can_be_put_and_read(void)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct trial t = {.random = seed};
        bouma_step *step;

        define_any(&t);
        MUST(t.ds, bouma_step_begin(t.ds, 0, 0));
        put_blocks(&t);
        MUST(t.ds, bouma_step_open(&step, t.ds, 0));
        read_boxes(&t, step);
        bouma_step_free(step);
        bouma_dataset_free(t.ds);
    }
}

/* ---- values that do not fit ---------------------------------------------- */

enum { ROWS = 6, COLUMNS = 5 };

static bouma_variable *define(bouma_dataset **ds, bouma_type type,
                              int components)
{
    bouma_options o = memory_options();
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {ROWS, COLUMNS},
                         .patch = {4, 4},
                         .levels = 1};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = type, .components = components};
    bouma_variable *v;
    bouma_grid *grid;

    MUST(*ds, bouma_dataset_create(ds, fresh_path(), &o));
    MUST(*ds, bouma_grid_define(&grid, *ds, "g", &g));
    MUST(*ds, bouma_variable_define(&v, grid, "v", &spec));
    MUST(*ds, bouma_step_begin(*ds, 0, 0));
    return v;
}

static void values_that_do_not_fit_fail_the_step(void)
{
    int32_t samples[ROWS][COLUMNS][2] = {{{0}}};
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_I32, samples, sizeof(samples));
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_U8, 2);

    samples[5][3][1] = 256;
    MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
    CHECK_EQ(bouma_step_end(ds), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "variable \"g/v\"");
    CHECK_TEXT(bouma_error_message(ds), "component 1 of sample [5,3]");
    CHECK_TEXT(bouma_error_message(ds), "256 does not fit into u8");
    CHECK_EQ(bouma_dataset_step_count(ds), 0);
    /* A copy tells it at once, and fails the step as any put does. */
    MUST(ds, bouma_step_begin(ds, 0, 0));
    CHECK_EQ(bouma_variable_put_copy(v, NULL, &array), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "256 does not fit into u8");
    CHECK_EQ(bouma_step_end(ds), BOUMA_EINVAL);
    samples[5][3][1] = 255;
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
    MUST(ds, bouma_step_end(ds));
    bouma_dataset_free(ds);
}

static void reads_refuse_values_that_do_not_fit(void)
{
    double samples[ROWS][COLUMNS];
    float single[ROWS][COLUMNS];
    int16_t whole[ROWS][COLUMNS];
    bouma_array to = BOUMA_ARRAY(BOUMA_TYPE_F32, single, sizeof(single));
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F64, 1);
    bouma_request request = {
        sizeof(request), NULL, 0, {{0}, {ROWS, COLUMNS}}, &to};
    bouma_step *step;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        samples[i / COLUMNS][i % COLUMNS] = i;
    samples[4][2] = 0.1;
    MUST(ds, test_put(v, NULL, samples));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    request.variable = v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    CHECK_EQ(bouma_variable_read(v, 0, NULL, &to), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "sample [4,2]");
    CHECK_TEXT(bouma_error_message(ds), "is not exact as f32");
    CHECK_TEXT(bouma_error_message(ds), "BOUMA_CONVERT_ROUND");
    CHECK_EQ(bouma_step_read(step, &request, 1), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "sample [4,2]");
    to.convert = BOUMA_CONVERT_ROUND;
    MUST(ds, bouma_variable_read(v, 0, NULL, &to));
    CHECK(single[4][2] == 0.1f && single[5][4] == 29);
    MUST(ds, bouma_step_read(step, &request, 1));
    to = BOUMA_ARRAY(BOUMA_TYPE_I16, whole, sizeof(whole));
    CHECK_EQ(bouma_variable_read(v, 0, NULL, &to), BOUMA_EINVAL);
    to.convert = BOUMA_CONVERT_ROUND;
    MUST(ds, bouma_variable_read(v, 0, NULL, &to));
    CHECK(whole[4][2] == 0 && whole[5][4] == 29);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* A relative tolerance is one of the values as they are stored. */
static void tolerances_hold_for_converted_values(void)
{
    double samples[ROWS][COLUMNS];
    float back[ROWS][COLUMNS];
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F64, samples, sizeof(samples));
    bouma_options o = memory_options();
    bouma_grid_spec g = {
        .size = sizeof(g), .ndims = 2, .shape = {ROWS, COLUMNS}};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = BOUMA_TYPE_F32,
                                .tolerance = 1e-3,
                                .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_step *step;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        samples[i / COLUMNS][i % COLUMNS] = i / 10.0;
    MUST(ds, bouma_dataset_create(&ds, fresh_path(), &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&v, grid, "v", &spec));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
    CHECK_EQ(bouma_step_end(ds), BOUMA_EINVAL); /* not exact */
    CHECK_TEXT(bouma_error_message(ds), "sample [0,1]");
    array.convert = BOUMA_CONVERT_ROUND;
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    bouma_variable_info_get(&about, v);
    CHECK(fabs(about.bound - 2.9e-3) < 1e-6);
    MUST(ds, test_read(v, 0, NULL, back));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK(fabs((double)back[i / COLUMNS][i % COLUMNS] -
                   (double)(float)samples[i / COLUMNS][i % COLUMNS]) <=
              about.bound);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* ---- arrays that are refused --------------------------------------------- */

#define REFUSED(words)                                                         \
    do {                                                                       \
        CHECK_EQ(bouma_variable_put_copy(v, NULL, &a), BOUMA_EINVAL);          \
        CHECK_TEXT(bouma_error_message(ds), words);                            \
        CHECK_EQ(bouma_variable_put_borrow(v, NULL, &a), BOUMA_EINVAL);        \
        CHECK_TEXT(bouma_error_message(ds), words);                            \
        a = good;                                                              \
    } while (0)

static void what_is_wrong_with_an_array_is_told(void)
{
    float samples[ROWS][COLUMNS][2] = {{{0}}};
    void *parts[2] = {samples, NULL};
    const bouma_array good =
        BOUMA_ARRAY(BOUMA_TYPE_F32, samples, sizeof(samples));
    bouma_array a = good;
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F32, 2);

    CHECK_EQ(bouma_variable_put_borrow(v, NULL, NULL), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "bouma_array is NULL");
    a.size = 0;
    REFUSED("sizeof(bouma_array)");
    a.type = (bouma_type)0;
    REFUSED("no type");
    a.type = BOUMA_TYPE_STRING;
    REFUSED("no type");
    a.convert = (bouma_convert)2;
    REFUSED("convert");
    a.data = NULL;
    REFUSED("no data");
    a.copy_bytes = 1;
    REFUSED("no function 'copy'");
    a.parts = parts;
    REFUSED("both");
    a.data = NULL;
    a.parts = parts;
    REFUSED("a part that is NULL");
    a.data = NULL;
    a.parts = parts;
    a.component_stride = 4;
    REFUSED("component_stride");
    a.bytes--;
    REFUSED("the array has 239 bytes; these samples, as f32, need 240");
    a.type = BOUMA_TYPE_F64;
    REFUSED("as f64, need 480");
    a.stride[0] = -44;
    a.stride[1] = 8;
    a.component_stride = 4;
    REFUSED("need 260");
    a.data = NULL;
    parts[1] = samples;
    a.parts = parts;
    a.bytes = 119;
    REFUSED("each part of the array has 119 bytes; these samples, as f32, need "
            "120");
    a.stride[0] = INT64_MAX;
    a.stride[1] = 8;
    a.component_stride = 4;
    REFUSED("need 18446744073709551615");
    CHECK_EQ(bouma_step_abort(ds), BOUMA_EABORTED);
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_variable_put_borrow(v, NULL, &good));
    MUST(ds, bouma_step_end(ds));
    bouma_dataset_free(ds);
}

/* The limits of a stride, and those of axes of one sample, which do not matter.
 */
static void any_stride_is_refused_or_right(void)
{
    static const int64_t strides[] = {
        INT64_MIN, INT64_MIN + 1, INT64_MAX, -((int64_t)1 << 62), -40, -8, 0, 8,
        40};
    enum { COUNT = sizeof(strides) / sizeof(*strides) };
    double samples[ROWS][COLUMNS] = {{0}}, back[2 * ROWS * COLUMNS];
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F64, 1);
    const bouma_box boxes[] = {{{2, 3}, {3, 4}},
                               {{0, 3}, {ROWS, 4}},
                               {{2, 0}, {3, COLUMNS}},
                               {{0, 0}, {ROWS, COLUMNS}}};
    bouma_step *step;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        samples[i / COLUMNS][i % COLUMNS] = i;
    MUST(ds, test_put(v, NULL, samples));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    for (int i = 0; i < 4 * COUNT * COUNT * COUNT; i++) {
        const bouma_box *box = &boxes[i % 4];
        const int64_t *at = box->lo;
        bouma_array a = {
            .size = sizeof(a),
            .type = BOUMA_TYPE_F64,
            .data = back + ROWS * COLUMNS,
            .bytes = sizeof(samples),
            .stride = {strides[i / 4 % COUNT], strides[i / 4 / COUNT % COUNT]},
            .component_stride = strides[i / 4 / COUNT / COUNT]};
        int rc = bouma_variable_read(v, 0, box, &a);

        CHECK(rc == BOUMA_EINVAL ||
              (!rc && back[ROWS * COLUMNS] == samples[at[0]][at[1]]));
        CHECK(!rc || i % 4); /* one sample can always be read */
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void sizes_that_were_never_set_are_refused(void)
{
    static const size_t sizes[] = {
        0, 1, 7, 8, 9, 31, 33, (1 << 16) + 8, SIZE_MAX / 2, SIZE_MAX - 7};
    float samples[ROWS][COLUMNS] = {{0}};
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F32, 1);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        bouma_array *a = calloc(1, sizeof(*a)); /* behind it is nothing */

        REQUIRE(a);
        *a = BOUMA_ARRAY(BOUMA_TYPE_F32, samples, sizeof(samples));
        a->size = sizes[i];
        CHECK_EQ(bouma_variable_put_copy(v, NULL, a), BOUMA_EINVAL);
        CHECK_TEXT(bouma_error_message(ds), "sizeof(bouma_array)");
        CHECK_EQ(bouma_array_inside(a, 1, 2, (int64_t[]){ROWS, COLUMNS},
                                    (int64_t[]){0, 0}, NULL, 0),
                 BOUMA_EINVAL);
        free(a);
    }
    bouma_dataset_free(ds);
}

static void the_inside_of_no_type_is_refused(void)
{
    static const int64_t extent[] = {ROWS, COLUMNS}, first[] = {1, 1};
    double samples[ROWS][COLUMNS];

    for (int type = -1; type <= 12; type++) {
        bouma_array a = BOUMA_ARRAY((bouma_type)type, samples, sizeof(samples));

        CHECK_EQ(bouma_array_inside(&a, 1, 2, extent, first, NULL, 0),
                 type >= BOUMA_TYPE_I8 && type <= BOUMA_TYPE_F64
                     ? BOUMA_OK
                     : BOUMA_EINVAL);
    }
}

/* 2^64 samples are not none. */
static void a_box_beyond_all_numbers_is_refused(void)
{
    float samples[ROWS][COLUMNS] = {{0}};
    bouma_array a = BOUMA_ARRAY(BOUMA_TYPE_F32, samples, sizeof(samples));
    const bouma_box box = {{0, 0}, {(int64_t)1 << 32, (int64_t)1 << 32}};
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F32, 1);

    CHECK_EQ(bouma_variable_put_borrow(v, &box, &a), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "not inside the grid");
    CHECK_EQ(bouma_step_end(ds), BOUMA_EINVAL);
    bouma_dataset_free(ds);
}

/* ---- devices -------------------------------------------------------------- */

static void a_copy_that_fails_fails_the_call(void)
{
    static const int64_t shape[2] = {ROWS, COLUMNS};
    float back[ROWS][COLUMNS];
    struct fake_device d;
    bouma_array array;
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F32, 1);
    bouma_request request = {
        sizeof(request), NULL, 0, {{0}, {ROWS, COLUMNS}}, &array};
    bouma_step *step;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        back[i / COLUMNS][i % COLUMNS] = (float)i;
    fake_device_init(&d, (uint8_t *)back, sizeof(back));
    array = BOUMA_ARRAY(BOUMA_TYPE_F32, d.address, sizeof(back));
    CHECK_EQ(
        bouma_array_inside(&array, 1, 2, shape, (int64_t[]){0, 0}, NULL, 0),
        BOUMA_OK); /* addresses are all that it needs */
    array.copy = fake_device_copy;
    array.copy_user = &d;
    array.copy_bytes = d.most = 16;
    for (d.fails = 1; d.fails <= 6; d.fails++) {
        d.calls = 0;
        MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
        CHECK_EQ(d.calls, 0);
        CHECK_EQ(bouma_step_end(ds), BOUMA_EABORTED);
        CHECK_TEXT(bouma_error_message(ds), "copy function");
        CHECK_TEXT(bouma_error_message(ds), "returned 77");
        CHECK_EQ(d.calls, d.fails);
        d.calls = 0;
        MUST(ds, bouma_step_begin(ds, 0, 0));
        CHECK_EQ(bouma_variable_put_copy(v, NULL, &array), BOUMA_EABORTED);
        CHECK_EQ(bouma_step_abort(ds), BOUMA_EABORTED);
        MUST(ds, bouma_step_begin(ds, 0, 0));
    }
    d.fails = 0;
    MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
    MUST(ds, bouma_step_end(ds));
    CHECK_EQ(d.directions, 1 << BOUMA_COPY_DIRECTION_FROM_ARRAY);
    MUST(ds, bouma_step_open(&step, ds, 0));
    request.variable = v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    memset(back, 0, sizeof(back));
    for (d.fails = 1; d.fails <= 6; d.fails++) {
        d.calls = 0;
        CHECK_EQ(bouma_variable_read(v, 0, NULL, &array), BOUMA_EABORTED);
        CHECK_TEXT(bouma_error_message(ds), "returned 77");
        d.calls = 0;
        CHECK_EQ(bouma_step_read(step, &request, 1), BOUMA_EABORTED);
    }
    d.fails = 0;
    MUST(ds, bouma_variable_read(v, 0, NULL, &array));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK(back[i / COLUMNS][i % COLUMNS] == (float)i);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    fake_device_release(&d);
}

/* A row that is put as all rows, backwards; it is copied once for each part. */
static void a_row_on_a_device_may_be_repeated(void)
{
    int16_t row[COLUMNS] = {4, 3, 2, 1, 0};
    float back[ROWS][COLUMNS];
    struct fake_device d;
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F32, 1);
    bouma_array array = {.size = sizeof(array),
                         .type = BOUMA_TYPE_I16,
                         .bytes = sizeof(row),
                         .stride = {0, -2},
                         .component_stride = 2,
                         .copy = fake_device_copy,
                         .copy_user = &d};
    bouma_step *step;

    fake_device_init(&d, (uint8_t *)row, sizeof(row));
    array.data = d.address + 2 * (COLUMNS - 1);
    for (int copied = 0; copied < 2; copied++) {
        d.calls = 0;
        if (copied)
            MUST(ds, bouma_step_begin(ds, 1, 0));
        MUST(ds, copied ? bouma_variable_put_copy(v, NULL, &array)
                        : bouma_variable_put_borrow(v, NULL, &array));
        MUST(ds, bouma_step_end(ds));
        CHECK_EQ(d.calls, copied ? 1 : 4); /* patches */
        MUST(ds, bouma_step_open(&step, ds, copied));
        memset(back, 0, sizeof(back));
        MUST(ds, test_read(bouma_grid_variable(bouma_step_grid(step, 0), 0), 0,
                           NULL, back));
        for (int i = 0; i < ROWS * COLUMNS; i++)
            CHECK(back[i / COLUMNS][i % COLUMNS] == (float)(i % COLUMNS));
        bouma_step_free(step);
    }
    bouma_dataset_free(ds);
    fake_device_release(&d);
}

/* In HZ order the samples of a block lie apart, and a relative tolerance needs
 * the range first: still, the array is copied once, in one piece. */
static void an_array_on_a_device_is_copied_in_long_runs(void)
{
    enum { SIDE = 32 };
    static float samples[SIDE][SIDE], back[SIDE][SIDE];

    for (int i = 0; i < SIDE * SIDE; i++)
        samples[i / SIDE][i % SIDE] = (float)(i % 97) / 8;
    for (int relative = 0; relative < 2; relative++) {
        bouma_options o = memory_options();
        bouma_grid_spec g = {.size = sizeof(g),
                             .ndims = 2,
                             .shape = {SIDE, SIDE},
                             .layout = relative ? BOUMA_LAYOUT_PATCH
                                                : BOUMA_LAYOUT_HZ,
                             .hz_block_bits = relative ? 0 : 5};
        bouma_variable_spec spec = {.size = sizeof(spec),
                                    .type = BOUMA_TYPE_F32,
                                    .tolerance = relative ? 1e-3 : 0,
                                    .tolerance_kind = relative};
        struct fake_device d;
        bouma_array array;
        bouma_dataset *ds;
        bouma_grid *grid;
        bouma_variable *v;
        bouma_step *step;

        fake_device_init(&d, (uint8_t *)samples, sizeof(samples));
        array = BOUMA_ARRAY(BOUMA_TYPE_F32, d.address, sizeof(samples));
        array.copy = fake_device_copy;
        array.copy_user = &d;
        MUST(ds, bouma_dataset_create(&ds, fresh_path(), &o));
        MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
        MUST(ds, bouma_variable_define(&v, grid, "v", &spec));
        MUST(ds, bouma_step_begin(ds, 0, 0));
        MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
        CHECK_EQ(d.calls, 0);
        MUST(ds, bouma_step_end(ds));
        CHECK_EQ(d.calls, 1);
        MUST(ds, bouma_step_open(&step, ds, 0));
        v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
        d.memory = (uint8_t *)back;
        d.calls = 0;
        MUST(ds, bouma_variable_read(v, 0, NULL, &array));
        CHECK_EQ(d.calls, 1);
        for (int i = 0; i < SIDE * SIDE; i++)
            CHECK(fabsf(back[i / SIDE][i % SIDE] -
                        samples[i / SIDE][i % SIDE]) <= (relative ? 12e-3 : 0));
        bouma_step_free(step);
        bouma_dataset_free(ds);
        fake_device_release(&d);
    }
}

/* A vector as one array for each component, each with ghost cells around it. */
static void parts_may_have_ghost_cells(void)
{
    enum { ALL_ROWS = ROWS + 3, ALL_COLUMNS = COLUMNS + 2 };
    static const int64_t extent[2] = {ALL_ROWS, ALL_COLUMNS}, first[2] = {2, 1};
    float u[ALL_ROWS][ALL_COLUMNS], w[ALL_ROWS][ALL_COLUMNS];
    float back[ROWS][COLUMNS][2];
    void *parts[] = {u, w};
    bouma_array array = {.size = sizeof(array),
                         .type = BOUMA_TYPE_F32,
                         .parts = parts,
                         .bytes = sizeof(u)};
    bouma_array wrong = array;
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F32, 2);
    bouma_step *step;

    for (int i = 0; i < ALL_ROWS * ALL_COLUMNS; i++) {
        u[i / ALL_COLUMNS][i % ALL_COLUMNS] = (float)i;
        w[i / ALL_COLUMNS][i % ALL_COLUMNS] = (float)-i;
    }
    wrong.bytes = sizeof(u) - 1;
    CHECK_EQ(bouma_array_inside(&wrong, 2, 2, extent, first, NULL, 0),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_array_inside(&array, 2, 2, extent, first, NULL, 0),
             BOUMA_OK);
    CHECK_EQ(array.part_offset, (2 * ALL_COLUMNS + 1) * 4);
    CHECK_EQ(array.bytes, sizeof(u)); /* of the whole part */
    wrong = array;
    wrong.part_offset += 2 * ALL_COLUMNS * 4; /* a row too far */
    CHECK_EQ(bouma_variable_put_copy(v, NULL, &wrong), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "beyond the");
    CHECK_EQ(bouma_dataset_clear_failures(ds), BOUMA_OK);
    wrong = array; /* backwards from the first row */
    wrong.stride[0] = -wrong.stride[0];
    CHECK_EQ(bouma_variable_put_copy(v, NULL, &wrong), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_clear_failures(ds), BOUMA_OK);
    MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    MUST(ds, test_read(v, 0, NULL, back));
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            CHECK(back[y][x][0] == u[y + 2][x + 1] &&
                  back[y][x][1] == w[y + 2][x + 1]);
    memset(u, 0, sizeof(u));
    MUST(ds, bouma_variable_read(v, 0, NULL, &array));
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            CHECK(back[y][x][0] == u[y + 2][x + 1]);
    CHECK(u[0][0] == 0 && u[1][1] == 0 && u[2][0] == 0 && u[ROWS + 2][1] == 0);
    array.part_offset = -4;
    CHECK_EQ(bouma_variable_read(v, 0, NULL, &array), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "part_offset below 0");
    array.parts = NULL;
    array.data = u;
    array.part_offset = 4;
    CHECK_EQ(bouma_variable_read(v, 0, NULL, &array), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "no 'parts'");
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* ---- no memory ------------------------------------------------------------ */

/* A step whose arrays must be fetched, and reads of it; what becomes of it. */
/* As the windows of a running mean do. */
static void rows_on_a_device_may_overlap(void)
{
    float values[ROWS + COLUMNS], back[ROWS][COLUMNS];
    struct fake_device d;
    bouma_array array;
    bouma_dataset *ds;
    bouma_variable *v = define(&ds, BOUMA_TYPE_F32, 1);
    bouma_step *step;

    for (int i = 0; i < ROWS + COLUMNS; i++)
        values[i] = (float)i;
    fake_device_init(&d, (uint8_t *)values, sizeof(values));
    array = BOUMA_ARRAY(BOUMA_TYPE_F32, d.address, sizeof(values));
    array.stride[0] = array.stride[1] = sizeof(float);
    array.copy = fake_device_copy; /* which checks the strides */
    array.copy_user = &d;
    MUST(ds, bouma_variable_put_copy(v, NULL, &array));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    MUST(ds, test_read(v, 0, NULL, back));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK(back[i / COLUMNS][i % COLUMNS] ==
              (float)(i / COLUMNS + i % COLUMNS));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    fake_device_release(&d);
}

static int write_and_read(const bouma_options *o, const char *path,
                          struct fake_device *d, int wavelet)
{
    static float back[2][ROWS * 4][COLUMNS * 4];
    void *parts[2] = {d->address, d->address + d->bytes / 2};
    void *host[2] = {back[0], back[1]};
    bouma_array from = {.size = sizeof(from),
                        .type = BOUMA_TYPE_F64,
                        .convert = BOUMA_CONVERT_ROUND,
                        .parts = parts,
                        .bytes = d->bytes / 2,
                        .copy = fake_device_copy,
                        .copy_user = d,
                        .copy_bytes = 64};
    bouma_array to = {.size = sizeof(to),
                      .type = BOUMA_TYPE_F32,
                      .parts = host,
                      .bytes = sizeof(back[0])};
    bouma_request requests[2] = {
        {sizeof(*requests), NULL, 0, {{0}, {ROWS * 4, COLUMNS * 4}}, &from},
        {sizeof(*requests), NULL, 0, {{0}, {ROWS * 4, COLUMNS * 4}}, &to}};
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {ROWS * 4, COLUMNS * 4},
                         .layout = wavelet ? BOUMA_LAYOUT_HZ : 0,
                         .hz_wavelet = wavelet};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = BOUMA_TYPE_F32,
                                .components = 2,
                                .tolerance = 0.25,
                                .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_box low = {{0}, {ROWS * 4, 4}}, high = {{0, 4}, {ROWS * 4, 20}};
    bouma_variable *v = NULL;
    bouma_step *step = NULL;
    bouma_grid *grid = NULL;
    bouma_dataset *ds;
    int rc = bouma_dataset_create(&ds, path, o);

    if (!rc)
        rc = bouma_grid_define(&grid, ds, "g", &g);
    if (!rc)
        rc = bouma_variable_define(&v, grid, "v", &spec);
    if (!rc)
        rc = bouma_step_begin(ds, 0, 0);
    if (!rc)
        rc = bouma_variable_put_copy(v, &low, &from);
    if (!rc)
        rc = bouma_variable_put_borrow(v, &high, &from);
    if (!rc)
        rc = bouma_step_end(ds);
    if (!rc)
        rc = bouma_step_open(&step, ds, 0);
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    requests[0].variable = requests[1].variable = v;
    if (!rc)
        rc = bouma_variable_read(v, 0, NULL, &from);
    if (!rc)
        rc = bouma_step_read(step, requests, 2);
    bouma_step_free(step);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    return rc;
}

static void no_memory_is_told(int wavelet)
{
    static double values[2][ROWS * 4][COLUMNS * 4];
    bouma_options o = memory_options();
    struct fault_alloc memory;
    struct fake_device d;
    int rc = BOUMA_ENOMEM;

    fake_device_init(&d, (uint8_t *)values, sizeof(values));
    fault_alloc_init(&memory);
    o.allocator = &memory.table;
    for (long n = 1; n < 3000 && rc; n++) {
        fault_alloc_arm(&memory, n, 1);
        rc = write_and_read(&o, fresh_path(), &d, wavelet);
        fault_alloc_disarm(&memory);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        CHECK_EQ(memory.live, 0);
    }
    CHECK_EQ(rc, BOUMA_OK);
    fake_device_release(&d);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    any_array_can_be_put_and_read();
    values_that_do_not_fit_fail_the_step();
    reads_refuse_values_that_do_not_fit();
    tolerances_hold_for_converted_values();
    what_is_wrong_with_an_array_is_told();
    any_stride_is_refused_or_right();
    sizes_that_were_never_set_are_refused();
    the_inside_of_no_type_is_refused();
    a_box_beyond_all_numbers_is_refused();
    a_copy_that_fails_fails_the_call();
    rows_on_a_device_may_overlap();
    a_row_on_a_device_may_be_repeated();
    an_array_on_a_device_is_copied_in_long_runs();
    parts_may_have_ghost_cells();
    no_memory_is_told(0);
    no_memory_is_told(1);
    bouma_io_memory_free(io);
    return check_result();
}
