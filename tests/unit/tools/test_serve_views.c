/* test_serve_views.c -- keys of views as chunks, boxes and cells, and what their
 * metadata say. */
#include <math.h>

#include "check.h"
#include "serve/grid_view.h"
#include "serve/length_unit.h"
#include "serve/view_annotations.h"

/* A level of 20 x 70 x 130 samples with steps of 2, in patches of 16. */
static struct grid_level level_of(int components, bouma_type type)
{
    return (struct grid_level){.ndims = 3,
                               .components = components,
                               .level = 1,
                               .levels = 3,
                               .full = {40, 140, 259},
                               .patch = {16, 16, 16},
                               .shape = {20, 70, 130},
                               .step = {2, 2, 2},
                               .origin = {1, 2, 3},
                               .spacing = {0.5, 0.25, 0.125},
                               .type = type};
}

static bool finds(const struct zarr_array *array, int64_t *chunk,
                  const char *key)
{
    return zarr_chunk_find(chunk, array, &key, 1);
}

static void keys_are_chunks_of_the_array(void)
{
    struct zarr_array array = {.type = BOUMA_TYPE_F32};
    const char *parts[] = {"2", "1"};
    int64_t chunk[ZARR_AXES];

    zarr_add_axis(&array, "y", 10, 4);
    zarr_add_axis(&array, "x", 8, 4);
    CHECK(finds(&array, chunk, "2.1"));
    CHECK_EQ(chunk[0], 2);
    CHECK_EQ(chunk[1], 1);
    CHECK(!finds(&array, chunk, "3.0"));
    CHECK(!finds(&array, chunk, "0.2"));
    CHECK(!finds(&array, chunk, "0"));
    CHECK(!finds(&array, chunk, "0.0.0"));
    CHECK(!finds(&array, chunk, "0.0."));
    CHECK(!finds(&array, chunk, "0."));
    CHECK(!finds(&array, chunk, ".0"));
    CHECK(!finds(&array, chunk, ""));
    CHECK(!finds(&array, chunk, "-0.0"));
    CHECK(!finds(&array, chunk, "+1.0"));
    CHECK(!finds(&array, chunk, "01.0"));
    CHECK(!finds(&array, chunk, "0.00"));
    CHECK(!finds(&array, chunk, "18446744073709551616.0"));
    CHECK(!zarr_chunk_find(chunk, &array, parts, 2));
    array.has_slash = true;
    CHECK(zarr_chunk_find(chunk, &array, parts, 2));
    CHECK_EQ(chunk[0], 2);
    CHECK(!zarr_chunk_find(chunk, &array, parts, 1));
    CHECK(!zarr_chunk_find(chunk, &array, parts, 0));
    CHECK(!finds(&array, chunk, "2.1"));
}

static void chunks_at_the_end_are_padded(void)
{
    struct zarr_array array = {.type = BOUMA_TYPE_U8};
    int64_t chunk[] = {1, 1}, shape[ZARR_AXES];
    uint8_t from[] = {1, 2, 3, 4}, to[12] = {0};
    static const uint8_t expected[12] = {1, 2, 0, 0, 3, 4};

    zarr_add_axis(&array, "y", 5, 3);
    zarr_add_axis(&array, "x", 6, 4);
    CHECK_EQ(zarr_chunk_bytes(&array), 12);
    zarr_chunk_shape(shape, &array, chunk);
    CHECK_EQ(shape[0], 2);
    CHECK_EQ(shape[1], 2);
    zarr_chunk_pad(to, from, &array, shape);
    CHECK(!memcmp(to, expected, sizeof(to)));
}

static void chunks_are_whole_patches_of_bounded_size(void)
{
    int64_t chunk[3], shape[] = {1000, 1000, 1000}, patch[] = {24, 32, 200};

    zarr_choose_chunk(chunk, 3, shape, patch, 4, 4 << 20);
    CHECK_EQ(chunk[0], 48);
    CHECK_EQ(chunk[1], 64);
    CHECK_EQ(chunk[2], 200);
    zarr_choose_chunk(chunk, 3, shape, patch, 72, 4 << 20);
    CHECK(chunk[0] * chunk[1] * chunk[2] * 72 <= 4 << 20);
    shape[0] = 3;
    patch[1] = 0; /* coarser than a patch */
    zarr_choose_chunk(chunk, 3, shape, patch, 4, 4 << 20);
    CHECK_EQ(chunk[0], 3);
    CHECK_EQ(chunk[1], 64);
    zarr_choose_chunk(chunk, 3, shape, patch, 1 << 20, 1 << 10);
    CHECK_EQ(chunk[0] * chunk[1] * chunk[2], 1);
    zarr_choose_chunk(chunk, 2, shape + 1, patch, 4, 4 << 20);
    CHECK_EQ(chunk[0], 504);
}

/* Each sample of the level is in one chunk. */
static void chunks_are_boxes_of_samples(void)
{
    struct grid_level level = level_of(3, BOUMA_TYPE_F64);
    struct grid_array array;
    struct grid_chunk chunk;
    int64_t cf[] = {7, 0, 1, 2, 0}, ome[] = {7, 2, 0, 1, 2};

    grid_array_init(&array, &level, 9, GRID_AXES_CF);
    CHECK_EQ(array.array.ndims, 5);
    CHECK_EQ(array.array.type, BOUMA_TYPE_F64);
    CHECK_EQ(array.array.chunk[3], 64);
    CHECK_EQ(array.array.chunk[4], 3);
    CHECK_TEXT(array.array.names[4], "component");
    grid_chunk_of(&chunk, &array, &level, cf);
    CHECK_EQ(chunk.time, 7);
    CHECK_EQ(chunk.component, -1);
    CHECK_EQ(chunk.box.lo[0], 0);
    CHECK_EQ(chunk.box.hi[0], 39);
    CHECK_EQ(chunk.box.lo[1], 128);
    CHECK_EQ(chunk.box.hi[1], 139);
    CHECK_EQ(chunk.box.lo[2], 256);
    CHECK_EQ(chunk.box.hi[2], 259);

    grid_array_init(&array, &level, 9, GRID_AXES_OME);
    CHECK_EQ(array.array.type, BOUMA_TYPE_F32);
    CHECK_TEXT(array.array.names[1], "c");
    grid_chunk_of(&chunk, &array, &level, ome);
    CHECK_EQ(chunk.time, 7);
    CHECK_EQ(chunk.component, 2);
    CHECK_EQ(chunk.box.lo[2], 256);

    level = level_of(1, BOUMA_TYPE_I64);
    grid_array_init(&array, &level, 0, GRID_AXES_OME);
    CHECK_EQ(array.array.ndims, 3);
    CHECK_EQ(array.time, -1);
    CHECK_EQ(array.sent, SENT_F32);
    grid_array_init(&array, &level, 1, GRID_AXES_CF);
    CHECK(!array.array.has_fill);
    CHECK(grid_level_position(&level, 2, 3) == 3.75);
}

static void metadata_have_types_and_fills(void)
{
    struct zarr_array array = {.type = BOUMA_TYPE_F32, .has_fill = true};
    struct memory_budget memory;
    struct json_out out;

    memory_budget_init(&memory, 1 << 20);
    zarr_add_axis(&array, "x", 8, 4);
    json_out_init(&out, &memory, 1 << 16);
    zarr_put_v2(&out, &array);
    json_out_raw(&out, "", 1);
    CHECK_TEXT(out.text, "\"dtype\":\"<f4\",\"fill_value\":\"NaN\"");
    CHECK_TEXT(out.text, "\"compressor\":null");
    memory_budget_release(&memory, out.text);
    array.type = BOUMA_TYPE_U8;
    json_out_init(&out, &memory, 1 << 16);
    json_out_open(&out, '{');
    zarr_put_v3(&out, &array);
    json_out_raw(&out, "", 1);
    CHECK_TEXT(out.text, "\"data_type\":\"uint8\"");
    CHECK_TEXT(out.text, "\"fill_value\":0");
    CHECK_TEXT(out.text, "\"dimension_names\":[\"x\"]");
    memory_budget_release(&memory, out.text);
}

static void a_run_may_name_a_step(void)
{
    size_t length = 0;

    CHECK_TEXT(view_run_step("run@12", &length), "12");
    CHECK_EQ(length, 3);
    CHECK_TEXT(view_run_step("a@b@last", &length), "last");
    CHECK_EQ(length, 3);
    CHECK(!view_run_step("run", &length));
    CHECK(!view_run_step("run@", &length));
    CHECK(!view_run_step("@3", &length));
    CHECK(!view_run_step("run@-3", &length));
    CHECK(!view_run_step("run@3x", &length));
}

static void units_are_those_of_viewers(void)
{
    CHECK_TEXT(length_unit_find("um")->name, "micrometer");
    CHECK_TEXT(length_unit_find("\xc2\xb5m")->name, "micrometer");
    CHECK(length_unit_find("cm")->metres == 0.01);
    CHECK(!length_unit_find("furlong"));
    CHECK(!length_unit_find("u"));
    CHECK(!length_unit_find(""));
    CHECK(!length_unit_find(NULL));
}

static struct cell_tree tree_of(int ndims)
{
    return (struct cell_tree){.ndims = ndims,
                              .count = 1e6,
                              .low = {-1, 0, 10},
                              .size = {4, 4, 4},
                              .last = 5};
}

static void cells_have_keys(void)
{
    struct cell_tree tree = tree_of(3), plane = tree_of(2);
    struct cell cell;

    CHECK(cell_parse(&cell, &tree, "2-0-3-1"));
    CHECK_EQ(cell.depth, 2);
    CHECK_EQ(cell.at[1], 3);
    CHECK(!cell_parse(&cell, &tree, "2-0-4-1"));
    CHECK(!cell_parse(&cell, &tree, "6-0-0-0"));
    CHECK(!cell_parse(&cell, &tree, "2-0-3"));
    CHECK(!cell_parse(&cell, &tree, "2-0-3-1-0"));
    CHECK(!cell_parse(&cell, &tree, "2-0-3-"));
    CHECK(!cell_parse(&cell, &tree, "2-0-3--1"));
    CHECK(!cell_parse(&cell, &tree, ""));
    CHECK(!cell_parse(&cell, &tree, "2-0-99999999999-1"));
    CHECK(cell_parse(&cell, &plane, "2-0-3-0"));
    CHECK(!cell_parse(&cell, &plane, "2-0-3-1"));
    CHECK(cell_parse_at(&cell, &plane, 1, "1_0"));
    CHECK_EQ(cell.at[0], 1);
    CHECK(!cell_parse_at(&cell, &plane, 1, "1_0_0"));
    CHECK(!cell_parse_at(&cell, &plane, 1, "2_0"));
}

static void cells_meet_and_have_no_outer_ends(void)
{
    struct cell_tree tree = tree_of(3);
    struct cell left = {2, {1, 0, 0}}, right = {2, {2, 0, 0}};
    struct cell coarse = {1, {1, 0, 0}}, root = {0, {0, 0, 0}};
    bouma_bounds a, b, c;

    cell_box(&a, &tree, &left);
    cell_box(&b, &tree, &right);
    cell_box(&c, &tree, &coarse);
    CHECK(a.low[0] == 0 && a.high[0] == 1);
    CHECK(a.high[0] == b.low[0] && b.low[0] == c.low[0]);
    CHECK(isinf(a.low[1]) && a.high[1] == 1);
    CHECK(isinf(c.high[0]));
    cell_box(&c, &tree, &root);
    CHECK(isinf(c.low[2]) && isinf(c.high[2]));
}

static void qualities_go_up_to_one(void)
{
    CHECK(cell_next_quality(0, 1e6) == 0.01);
    CHECK(cell_next_quality(0.5, 40000) == 0.75);
    CHECK(cell_next_quality(0.5, 100) == 1);
    CHECK(cell_next_quality(0.5, 0) == 1);
    CHECK(cell_next_quality(0, 12000) == 1); /* not another cell for 2000 */
}

static void a_first_part_is_spread(void)
{
    for (uint64_t count = 1; count < 200; count++) {
        uint64_t stride = cell_stride(count);
        bool seen[200] = {0};

        for (uint64_t i = 0; i < count; i++)
            seen[cell_spread(i, count, stride)] = true;
        for (uint64_t i = 0; i < count; i++)
            CHECK(seen[i]);
    }
}

static void annotations_have_numbers(void)
{
    struct cell cell = {3, {7, 0, 5}}, back;
    uint64_t index, number = annotation_number(3, &cell, 1234);

    CHECK(annotation_cell(&back, &index, 3, 3, number));
    CHECK_EQ(back.depth, 3);
    CHECK_EQ(back.at[0], 7);
    CHECK_EQ(back.at[1], 0);
    CHECK_EQ(back.at[2], 5);
    CHECK_EQ(index, 1234);
    CHECK(!annotation_cell(&back, &index, 3, 2, number));
    CHECK(!annotation_cell(&back, &index, 3, 8, UINT64_MAX));
    CHECK(annotation_cell(&back, &index, 2, 0, 5));
    CHECK_EQ(back.depth, 0);
    CHECK_EQ(annotation_depth(3, 5000), 0);
    CHECK_EQ(annotation_depth(3, 80000), 2);
    CHECK_EQ(annotation_depth(3, 1e18), 8);
}

static void properties_have_ids_and_types(void)
{
    uint16_t small = 65000;
    double real = 2.5;
    int64_t large = 5;
    uint32_t number;
    float single;
    char id[100];

    annotation_id(id, sizeof(id), "T", 0, 1, 0);
    CHECK(!strcmp(id, "v_T"));
    annotation_id(id, sizeof(id), "speed of x", 2, 3, 0);
    CHECK(!strcmp(id, "speed_of_x_2"));
    annotation_id(id, sizeof(id), "a", 0, 1, 4);
    CHECK(!strcmp(id, "a__4"));
    CHECK_EQ(annotation_type_of(BOUMA_TYPE_I64), ANNOTATION_FLOAT32);
    CHECK_EQ(annotation_type_of(BOUMA_TYPE_I8), ANNOTATION_INT32);
    CHECK_EQ(annotation_type_of(BOUMA_TYPE_U16), ANNOTATION_UINT32);
    annotation_value(&number, BOUMA_TYPE_U16, &small);
    CHECK_EQ(number, 65000);
    annotation_value(&single, BOUMA_TYPE_F64, &real);
    CHECK(single == 2.5f);
    annotation_value(&single, BOUMA_TYPE_I64, &large);
    CHECK(single == 5);
}

int main(void)
{
    keys_are_chunks_of_the_array();
    chunks_at_the_end_are_padded();
    chunks_are_whole_patches_of_bounded_size();
    chunks_are_boxes_of_samples();
    metadata_have_types_and_fills();
    a_run_may_name_a_step();
    units_are_those_of_viewers();
    cells_have_keys();
    cells_meet_and_have_no_outer_ends();
    qualities_go_up_to_one();
    a_first_part_is_spread();
    annotations_have_numbers();
    properties_have_ids_and_types();
    return check_result();
}
