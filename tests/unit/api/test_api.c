/* What is written is what is read: all types, shapes, memories, levels and
 * boxes, through the public functions alone. */
#include "bouma.h"

#include "arrays.h"
#include "check.h"
#include "field.h"
#include "sized.h"

static bouma_io *io;

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    return o;
}

static bouma_variable *define(bouma_dataset *ds, const char *grid,
                              const struct field *f, int64_t edge,
                              bouma_codec codec)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = f->ndims};
    bouma_variable_spec v = {.size = sizeof(v),
                             .type = f->type,
                             .components = f->components,
                             .codec = codec};
    bouma_variable *variable;
    bouma_grid *defined;

    for (int d = 0; d < f->ndims; d++) {
        g.shape[d] = f->shape[d];
        g.patch[d] = edge;
    }
    g.levels = 1;
    for (int64_t e = edge; e > 1; e /= 2) {
        int longer = 0;

        for (int d = 0; d < f->ndims; d++)
            longer |= f->shape[d] > e / 2;
        g.levels += longer;
    }
    MUST(ds, bouma_grid_define(&defined, ds, grid, &g));
    MUST(ds, bouma_variable_define(&variable, defined, "v", &v));
    return variable;
}

/* ---- round trips -------------------------------------------------------- */

static int dataset_number;

static const char *fresh_path(void)
{
    static char path[32];

    snprintf(path, sizeof(path), "run%d.bouma", dataset_number++);
    return path;
}

/* Hand the field over in random pieces. */
static void put_pieces(bouma_variable *v, const struct field *f, bouma_box box,
                       int depth, uint64_t *state)
{
    int d = (int)check_below(state, f->ndims);
    int64_t n = box.hi[d] - box.lo[d];
    bouma_array array = BOUMA_ARRAY(
        f->type, f->data, f->samples * f->size * (size_t)f->components);

    if (depth && n > 1) {
        bouma_box low = box, high = box;

        low.hi[d] = high.lo[d] = box.lo[d] + 1 + check_below(state, n - 1);
        put_pieces(v, f, low, depth - 1, state);
        put_pieces(v, f, high, depth - 1, state);
        return;
    }
    CHECK_EQ(bouma_array_inside(&array, f->components, f->ndims, f->shape,
                                box.lo, NULL, 0),
             BOUMA_OK);
    CHECK_EQ(bouma_variable_put_borrow(v, &box, &array), BOUMA_OK);
}

static void check_everything(bouma_variable *v, const struct field *f,
                             int levels, uint64_t *state)
{
    for (int level = 0; level < levels; level++) {
        check_read(v, f, level, NULL);
        for (int i = 0; i < 4; i++) {
            bouma_box box = field_random_box(f, state);

            check_read(v, f, level, &box);
        }
    }
}

static void round_trip(const struct field *f, int64_t edge,
                       const bouma_options *o, bouma_codec codec,
                       uint64_t *state)
{
    const char *path = fresh_path();
    bouma_grid_info info = {.size = sizeof(info)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_record record = {.size = sizeof(record)};
    bouma_step *step;

    MUST(ds, bouma_dataset_create(&ds, path, o));
    v = define(ds, "g", f, edge, codec);
    MUST(ds, bouma_step_begin(ds, 0, 0));
    put_pieces(v, f, field_all(f), (int)check_below(state, 4), state);
    MUST(ds, end_step(&record, ds));
    CHECK_EQ(record.raw_bytes, f->samples * field_sample(f));
    CHECK_EQ(record.moved_bytes, 0);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);

    MUST(ds, bouma_dataset_open(&ds, path, o));
    CHECK_EQ(bouma_dataset_step_count(ds), 1);
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    REQUIRE(v);
    bouma_grid_info_get(&info, bouma_step_grid(step, 0));
    CHECK_EQ(info.patches, record.chunks);
    check_everything(v, f, info.levels, state);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void all_types_and_shapes_come_back(void)
{
    static const int64_t shapes[][3] = {{1, 1, 1},  {7, 3, 5},   {16, 16, 16},
                                        {17, 1, 9}, {31, 13, 2}, {2, 29, 11}};
    bouma_options o = memory_options();
    uint64_t state = 40;

    for (int type = BOUMA_TYPE_I8; type <= BOUMA_TYPE_F64; type++)
        for (int ndims = 1; ndims <= 3; ndims++)
            for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
                struct field f;

                field_init(&f, (bouma_type)type, 1 + (int)(s % 3), ndims,
                           shapes[s], state);
                o.order = s % 2 ? BOUMA_ORDER_LEVEL : BOUMA_ORDER_CHUNK;
                o.files = (int)(s % 4);
                round_trip(&f, (int64_t)1 << (1 + s % 4), &o,
                           type % 2 ? BOUMA_CODEC_ZSTD : BOUMA_CODEC_RAW,
                           &state);
                field_release(&f);
            }
}

static void all_schemes_give_the_same_data(void)
{
    static const int64_t shape[3] = {13, 17, 11};
    uint64_t state = 41;
    struct field f;

    field_init(&f, BOUMA_TYPE_F32, 2, 3, shape, 42);
    for (int distribute = 1; distribute <= 3; distribute++)
        for (int assign = 1; assign <= 5; assign++)
            for (int place = 1; place <= 2; place++)
                for (int codec = 1; codec <= 2; codec++) {
                    bouma_options o = memory_options();

                    o.distribute = (bouma_distribute)distribute;
                    o.assign = (bouma_assign)assign;
                    o.place = (bouma_place)place;
                    o.order = (bouma_order)(1 + assign % 2);
                    o.files = 5;
                    o.buffer_bytes = 1000; /* many rounds */
                    o.durability = (bouma_durability)(1 + place % 2);
                    round_trip(&f, 4, &o, (bouma_codec)codec, &state);
                }
    field_release(&f);
}

/* ---- memories ----------------------------------------------------------- */

/* The field inside a larger array: two ghost cells below, three above. */
static void ghost_cells_are_left_out(void)
{
    static const int64_t shape[3] = {5, 6, 7};
    const int64_t extent[3] = {10, 11, 12};
    bouma_options o = memory_options();
    const char *path = fresh_path();
    bouma_array memory;
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;
    uint8_t *array, *inner;
    struct field f;
    bouma_box all;

    field_init(&f, BOUMA_TYPE_F64, 3, 3, shape, 43);
    all = field_all(&f);
    array = malloc(10 * 11 * 12 * 24);
    REQUIRE(array);
    memory = BOUMA_ARRAY(f.type, array, 10 * 11 * 12 * 24);
    CHECK_EQ(bouma_array_inside(&memory, 3, 3, extent, (int64_t[]){2, 2, 2},
                                NULL, 0),
             BOUMA_OK);
    CHECK_EQ(memory.component_stride, 8);
    CHECK(memory.stride[2] == 24 && memory.stride[1] == 24 * 12 &&
          memory.stride[0] == 24 * 12 * 11);
    memset(array, 0xdd, 10 * 11 * 12 * 24);
    inner = array + ((2 * 11 + 2) * 12 + 2) * 24;
    CHECK(memory.data == inner);
    for (int64_t z = 0; z < 5; z++)
        for (int64_t y = 0; y < 6; y++)
            memcpy(inner + z * memory.stride[0] + y * memory.stride[1],
                   field_at(&f, (int64_t[]){z, y, 0}), 7 * 24);
    MUST(ds, bouma_dataset_create(&ds, path, &o));
    v = define(ds, "g", &f, 4, BOUMA_CODEC_ZSTD);
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_variable_put_borrow(v, &all, &memory));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0)); /* read by the writer itself */
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    check_read(v, &f, 0, NULL);
    /* And read back into the middle of an array. */
    memset(array, 0xdd, 10 * 11 * 12 * 24);
    MUST(ds, bouma_variable_read(v, 0, NULL, &memory));
    for (int64_t z = 0; z < 5; z++)
        for (int64_t y = 0; y < 6; y++) {
            uint8_t *row = inner + z * memory.stride[0] + y * memory.stride[1];

            CHECK(!memcmp(row, field_at(&f, (int64_t[]){z, y, 0}), 7 * 24));
            memset(row, 0xdd, 7 * 24);
        }
    for (size_t i = 0; i < 10 * 11 * 12 * 24; i++)
        if (array[i] != 0xdd)
            CHECK_EQ(array[i], 0xdd);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    field_release(&f);
    free(array);
}

/* Planes of components, and axes that run backwards. */
static void strides_may_be_negative_and_components_apart(void)
{
    static const int64_t shape[2] = {9, 10};
    bouma_options o = memory_options();
    const char *path = fresh_path();
    int32_t planes[3][9][10], back[3][9][10];
    bouma_array memory = {.size = sizeof(memory),
                          .type = BOUMA_TYPE_I32,
                          .data = &planes[0][8][9],
                          .bytes = sizeof(planes),
                          .stride = {-40, -4},
                          .component_stride = 360};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;
    struct field f;
    bouma_box all;

    field_init(&f, BOUMA_TYPE_I32, 3, 2, shape, 44);
    all = field_all(&f);
    for (int64_t y = 0; y < 9; y++)
        for (int64_t x = 0; x < 10; x++)
            for (int c = 0; c < 3; c++)
                memcpy(&planes[c][8 - y][9 - x],
                       field_at(&f, (int64_t[]){y, x}) + 4 * c, 4);
    MUST(ds, bouma_dataset_create(&ds, path, &o));
    v = define(ds, "g", &f, 4, BOUMA_CODEC_ZSTD);
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_variable_put_borrow(v, &all, &memory));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    check_read(v, &f, 0, NULL);
    memset(back, 0, sizeof(back));
    memory.data = &back[0][8][9];
    MUST(ds, bouma_variable_read(v, 0, NULL, &memory));
    CHECK(!memcmp(planes, back, sizeof(back)));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    field_release(&f);
}

static bouma_array with_strides(void *data, size_t bytes,
                                const int64_t stride[3])
{
    return (bouma_array){.size = sizeof(bouma_array),
                         .type = BOUMA_TYPE_I32,
                         .data = data,
                         .bytes = bytes,
                         .stride = {stride[0], stride[1]},
                         .component_stride = stride[2]};
}

/* A plane that is put as all planes; and strides that are too small, such as
 * those that count samples. */
static void samples_may_be_repeated_but_not_overlap(void)
{
    static const int64_t shape[2] = {6, 5};
    static const int64_t wrong[][3] = {
        {5, 1, 0}, {10, 2, 4}, {40, -3, 4}, {40, 8, 3}};
    static const int64_t row[3] = {0, 8, 4}, side_by_side[3] = {40, 8, 0};
    static const int64_t planar[3] = {0, 0, 120}, mingled[3] = {40, 4, 0};
    bouma_options o = memory_options();
    const char *path = fresh_path();
    int32_t samples[6][5][2], back[6][5][2];
    bouma_array array;
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;
    struct field f;

    for (int i = 0; i < 60; i++)
        samples[i / 10][i / 2 % 5][i % 2] = i % 10;
    field_init(&f, BOUMA_TYPE_I32, 2, 2, shape, 44);
    MUST(ds, bouma_dataset_create(&ds, path, &o));
    v = define(ds, "g", &f, 4, BOUMA_CODEC_ZSTD);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        MUST(ds, bouma_step_begin(ds, 0, 0));
        array = with_strides(samples, sizeof(samples), wrong[i]);
        CHECK_EQ(bouma_variable_put_borrow(v, NULL, &array), BOUMA_EINVAL);
        CHECK_TEXT(bouma_error_message(ds), "overlap");
        CHECK_EQ(bouma_step_end(ds), BOUMA_EINVAL);
    }
    MUST(ds, bouma_step_begin(ds, 0, 0));
    array = with_strides(samples, sizeof(samples), row);
    MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    array = with_strides(back, sizeof(back), side_by_side);
    MUST(ds, bouma_variable_read(v, 0, NULL, &array));
    CHECK(!memcmp(back, samples, sizeof(back)));
    array = with_strides(back, sizeof(back), planar);
    MUST(ds, bouma_variable_read(v, 0, NULL, &array));
    for (int i = 0; i < 60; i++)
        CHECK_EQ((&back[0][0][0])[i], samples[i % 30 / 5][i % 5][i / 30]);
    array = with_strides(back, sizeof(back), mingled);
    CHECK_EQ(bouma_variable_read(v, 0, NULL, &array), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "overlap");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        array = with_strides(back, sizeof(back), wrong[i]);
        CHECK_EQ(bouma_variable_read(v, 0, NULL, &array), BOUMA_EINVAL);
    }
    array = with_strides(back, sizeof(back), row);
    CHECK_EQ(bouma_variable_read(v, 0, NULL, &array), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "a stride of 0 bytes");
    MUST(ds, test_read(v, 0, NULL, back));
    CHECK(!memcmp(samples, back, sizeof(back)));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    field_release(&f);
}

/* ---- several of everything ---------------------------------------------- */

static void several_grids_and_variables_live_together(void)
{
    static const int64_t shapes[3][3] = {{19, 5, 6}, {8, 8, 8}, {101, 0, 0}};
    bouma_options o = memory_options();
    const char *path = fresh_path();
    bouma_variable *v[3][3];
    bouma_dataset *ds;
    bouma_step *step;
    struct field f[3][3];
    uint64_t state = 45;

    o.files = 4;
    MUST(ds, bouma_dataset_create(&ds, path, &o));
    for (int g = 0; g < 3; g++) {
        bouma_grid_spec spec = {.size = sizeof(spec), .ndims = 3 - g};
        char name[8] = {(char)('a' + g), 0};
        bouma_grid *grid;

        for (int d = 0; d < 3 - g; d++) {
            spec.shape[d] = shapes[g][d];
            spec.patch[d] = 4;
        }
        spec.levels = 1 + g;
        MUST(ds, bouma_grid_define(&grid, ds, name, &spec));
        for (int i = 0; i < 3; i++) {
            bouma_variable_spec one = {.size = sizeof(one),
                                       .type = (bouma_type)(1 + g * 3 + i),
                                       .components = 1 + i,
                                       .codec = (bouma_codec)(1 + i % 2)};
            char variable[8] = {(char)('x' + i), 0};

            MUST(ds, bouma_variable_define(&v[g][i], grid, variable, &one));
            field_init(&f[g][i], one.type, one.components, 3 - g, shapes[g],
                       (uint64_t)(g * 3 + i));
        }
    }
    MUST(ds, bouma_step_begin(ds, 7, 1.5));
    for (int i = 2; i >= 0; i--) /* in any order */
        for (int g = 0; g < 3; g++)
            put_pieces(v[g][i], &f[g][i], field_all(&f[g][i]), 3, &state);
    MUST(ds, bouma_step_end(ds));
    bouma_dataset_free(ds);

    MUST(ds, bouma_dataset_open(&ds, path, &o));
    MUST(ds, bouma_step_open(&step, ds, 7));
    CHECK_EQ(bouma_step_grid_count(step), 3);
    CHECK(!bouma_step_grid(step, 3) && !bouma_step_grid(step, -1));
    CHECK(!bouma_step_find_grid(step, "z"));
    for (int g = 0; g < 3; g++) {
        bouma_grid *grid = bouma_step_grid(step, g);

        CHECK_EQ(bouma_grid_variable_count(grid), 3);
        CHECK(!bouma_grid_variable(grid, 3));
        for (int i = 0; i < 3; i++) {
            bouma_variable *one = bouma_grid_variable(grid, i);
            bouma_variable_info info = {.size = sizeof(info)};

            bouma_variable_info_get(&info, one);
            CHECK(info.present && info.type == f[g][i].type);
            CHECK_EQ(info.components, 1 + i);
            CHECK_EQ(info.raw_bytes, f[g][i].samples * field_sample(&f[g][i]));
            check_everything(one, &f[g][i], 1 + g, &state);
            field_release(&f[g][i]);
        }
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* ---- refinement --------------------------------------------------------- */

static void refine(bouma_variable *v, const struct field *f, int levels,
                   const bouma_box *box)
{
    bouma_box all = field_all(f);

    for (int from = levels - 1; from >= 0; from--) {
        bouma_refinement *r;
        bouma_selection s = {.size = sizeof(s)};
        int level = -1;

        CHECK_EQ(bouma_refinement_open(&r, v, from, box), BOUMA_OK);
        for (int k = from; k >= 0; k--) {
            const void *data = NULL;

            CHECK_EQ(bouma_refinement_get(&data, &s, &level, r), BOUMA_OK);
            CHECK_EQ(level, k);
            CHECK(field_matches(f, k, box ? box : &all, data));
            CHECK_EQ(bouma_refinement_next(r), k ? BOUMA_OK : BOUMA_ENOTFOUND);
        }
        bouma_refinement_free(r);
    }
    bouma_refinement_free(NULL);
}

static uint64_t bytes_read(const bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    bouma_dataset_info_get(&info, ds);
    return info.bytes_read;
}

/* From the coarsest level to the finest, all of the grid: each byte of the
 * chunks is read once. */
static void refinement_reads_each_byte_once(void)
{
    static const int64_t shape[3] = {37, 30, 41};
    bouma_options o = memory_options();
    const char *path = fresh_path();
    uint64_t state = 46, before, first, all, coarsest;
    bouma_variable_info info = {.size = sizeof(info)};
    bouma_refinement *r;
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;
    struct field f;

    field_init(&f, BOUMA_TYPE_F32, 2, 3, shape, 47);
    MUST(ds, bouma_dataset_create(&ds, path, &o));
    v = define(ds, "g", &f, 16, BOUMA_CODEC_ZSTD);
    MUST(ds, bouma_step_begin(ds, 0, 0));
    put_pieces(v, &f, field_all(&f), 3, &state);
    MUST(ds, bouma_step_end(ds));
    bouma_dataset_free(ds);
    MUST(ds, bouma_dataset_open(&ds, path, &o));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    bouma_variable_info_get(&info, v);
    check_read(v, &f, 4, NULL); /* the heads are in memory now */
    before = bytes_read(ds);
    MUST(ds, bouma_refinement_open(&r, v, 4, NULL));
    coarsest = bytes_read(ds) - before;
    first = bytes_read(ds);
    while (!bouma_refinement_next(r)) {
        CHECK(bytes_read(ds) > first);
        first = bytes_read(ds);
    }
    all = bytes_read(ds) - before;
    CHECK_EQ(all, info.stored_bytes);
    CHECK(coarsest * 50 < all); /* 1/4096 of the samples */
    bouma_refinement_free(r);
    refine(v, &f, 5, NULL);
    for (int i = 0; i < 30; i++) {
        bouma_box box = field_random_box(&f, &state);

        refine(v, &f, 5, &box);
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
    field_release(&f);
}

/* ---- many boxes at once ------------------------------------------------- */

static void a_step_reads_many_boxes_at_once(void)
{
    static const int64_t shape[3] = {21, 22, 23};
    bouma_options o = memory_options();
    const char *path = fresh_path();
    bouma_request requests[40];
    bouma_array arrays[40];
    uint64_t state = 48;
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;
    struct field f;

    field_init(&f, BOUMA_TYPE_U16, 2, 3, shape, 49);
    MUST(ds, bouma_dataset_create(&ds, path, &o));
    v = define(ds, "g", &f, 8, BOUMA_CODEC_ZSTD);
    MUST(ds, bouma_step_begin(ds, 0, 0));
    put_pieces(v, &f, field_all(&f), 2, &state);
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    MUST(ds, bouma_step_read(step, NULL, 0));
    for (int i = 0; i < 40; i++) {
        bouma_selection s = {.size = sizeof(s)};

        requests[i] = (bouma_request){sizeof(*requests), v, i % 4,
                                      field_random_box(&f, &state), &arrays[i]};
        MUST(ds, bouma_variable_select(&s, v, i % 4, &requests[i].box));
        arrays[i] = test_array(v, malloc(s.bytes + 1));
        REQUIRE(arrays[i].data);
    }
    MUST(ds, bouma_step_read(step, requests, 40));
    for (int i = 0; i < 40; i++) {
        CHECK(field_matches(&f, i % 4, &requests[i].box, arrays[i].data));
        free(arrays[i].data);
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
    field_release(&f);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    all_types_and_shapes_come_back();
    all_schemes_give_the_same_data();
    ghost_cells_are_left_out();
    strides_may_be_negative_and_components_apart();
    samples_may_be_repeated_but_not_overlap();
    several_grids_and_variables_live_together();
    refinement_reads_each_byte_once();
    a_step_reads_many_boxes_at_once();
    bouma_io_memory_free(io);
    return check_result();
}
