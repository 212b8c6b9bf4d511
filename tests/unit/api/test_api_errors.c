/* Mistakes of callers and damaged files: the right status, a message that says
 * what and where, and a dataset that can be used further. */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "arrays.h"
#include "bouma_lists.h"
#include "check.h"
#include "damage.h"
#include "field.h"
#include "files.h"

static bouma_io *io;

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    return o;
}

struct writer {
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_variable *v;
};

static const bouma_box whole = {{0, 0, 0}, {8, 8, 8}};
static float samples[512];

static void begin_writing(struct writer *w, const char *path)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 3,
                         .shape = {8, 8, 8},
                         .patch = {4, 4, 4},
                         .levels = 2};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_F32};
    bouma_options o = memory_options();

    MUST(w->ds, bouma_dataset_create(&w->ds, path, &o));
    MUST(w->ds, bouma_grid_define(&w->grid, w->ds, "grid", &g));
    MUST(w->ds, bouma_variable_define(&w->v, w->grid, "temp", &v));
}

static int write_step(struct writer *w, int64_t step)
{
    MUST(w->ds, bouma_step_begin(w->ds, step, 0));
    MUST(w->ds, test_put(w->v, &whole, samples));
    return bouma_step_end(w->ds);
}

#define CHECK_FAILS(ds, call, status, words)                                   \
    do {                                                                       \
        CHECK_EQ(call, status);                                                \
        CHECK_TEXT(bouma_error_message(ds), words);                            \
    } while (0)

/* ---- opening ------------------------------------------------------------ */

static void opening_what_is_not_there_fails(void)
{
    bouma_options o = memory_options();
    struct writer w;
    bouma_dataset *ds;

    CHECK_FAILS(ds, bouma_dataset_open(&ds, "none", &o), BOUMA_ENOTFOUND,
                "none");
    CHECK_EQ(bouma_dataset_step_count(ds), 0);
    CHECK_FAILS(ds, bouma_dataset_close(ds), BOUMA_ESTATE, "not open");
    bouma_dataset_free(ds);
    CHECK_FAILS(ds, bouma_dataset_append(&ds, "none", &o), BOUMA_ENOTFOUND,
                "none");
    bouma_dataset_free(ds);
    begin_writing(&w, "there");
    CHECK_FAILS(ds, bouma_dataset_create(&ds, "there", &o), BOUMA_EEXISTS,
                "there: exists already");
    bouma_dataset_free(ds);
    bouma_dataset_free(w.ds);
    bouma_dataset_free(NULL);
    CHECK_TEXT(bouma_error_message(NULL), "memory");
}

static void directories_on_disk_are_told_apart(void)
{
    char dir[] = "/tmp/bouma-test-api-XXXXXX", path[128], command[128];
    bouma_dataset *ds;

    REQUIRE(mkdtemp(dir));
    CHECK_FAILS(ds, bouma_dataset_open(&ds, dir, NULL), BOUMA_ENOTFOUND,
                "is not a bouma dataset");
    bouma_dataset_free(ds);
    snprintf(path, sizeof(path), "%s/no/such.bouma", dir);
    CHECK_FAILS(ds, bouma_dataset_create(&ds, path, NULL), BOUMA_ENOTFOUND,
                path);
    snprintf(path, sizeof(path),
             "could not be created: there is no directory %s/no", dir);
    CHECK_TEXT(bouma_error_message(ds), path);
    bouma_dataset_free(ds);
    snprintf(path, sizeof(path), "%s/file", dir);
    snprintf(command, sizeof(command), "touch %s/file", dir);
    REQUIRE(!system(command));
    CHECK_FAILS(ds, bouma_dataset_create(&ds, path, NULL), BOUMA_EEXISTS,
                "exists already");
    bouma_dataset_free(ds);
    CHECK_FAILS(ds, bouma_dataset_open(&ds, path, NULL), BOUMA_EINVAL,
                "is a file, or is inside one; a dataset is a directory");
    bouma_dataset_free(ds);
    /* A dataset is made and opened; two writers at once are not. */
    snprintf(path, sizeof(path), "%s/a.bouma", dir);
    MUST(ds, bouma_dataset_create(&ds, path, NULL));
    {
        bouma_dataset *second;

        CHECK_FAILS(second, bouma_dataset_append(&second, path, NULL),
                    BOUMA_EBUSY, "being written by this program already");
        bouma_dataset_free(second);
    }
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    MUST(ds, bouma_dataset_append(&ds, path, NULL));
    CHECK(!bouma_dataset_note(ds, 0));
    bouma_dataset_free(ds);
    CHECK_EQ(remove_tree(dir), 0);
}

/* A handle whose opening failed is there for its message only. */
static void a_handle_that_failed_to_open_does_nothing(void)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {8}};
    bouma_options o = memory_options();
    bouma_grid *grid = NULL;
    bouma_step *step;
    bouma_dataset *ds;
    struct writer w;

    begin_writing(&w, "first");
    MUST(w.ds, write_step(&w, 0));
    for (int group = 0; group < 2; group++) {
        o.durability =
            group ? BOUMA_DURABILITY_GROUP : BOUMA_DURABILITY_DURABLE;
        CHECK_EQ(bouma_dataset_create(&ds, "first", &o), BOUMA_EEXISTS);
        CHECK_EQ(bouma_grid_define(&grid, ds, "g", &g), BOUMA_ESTATE);
        CHECK_EQ(bouma_step_begin(ds, 1, 0), BOUMA_ESTATE);
        CHECK_EQ(bouma_step_end(ds), BOUMA_ESTATE);
        CHECK_EQ(bouma_step_abort(ds), BOUMA_ESTATE);
        CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_ESTATE);
        CHECK_EQ(bouma_dataset_refresh(ds), BOUMA_ESTATE);
        CHECK_EQ(bouma_dataset_flush(ds), BOUMA_ESTATE);
        CHECK_EQ(bouma_dataset_close(ds), BOUMA_ESTATE);
        bouma_dataset_free(ds);
    }
    MUST(w.ds, write_step(&w, 1)); /* the writer was not disturbed */
    bouma_dataset_free(w.ds);
}

static int fail_to_list(void *user, void *root, const char *name,
                        int (*each)(void *context, const char *entry),
                        void *context)
{
    return strcmp(name, "steps") ? io->list(user, root, name, each, context)
                                 : EIO;
}

/* The epoch is claimed already when the steps cannot be listed. */
static void a_writer_that_failed_after_its_claim_does_nothing(void)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {8}};
    bouma_options o = memory_options();
    bouma_io failing = *io;
    bouma_grid *grid;
    bouma_dataset *ds;
    struct writer w;

    begin_writing(&w, "claimed");
    MUST(w.ds, write_step(&w, 0));
    MUST(w.ds, bouma_dataset_close(w.ds));
    bouma_dataset_free(w.ds);
    failing.list = fail_to_list;
    o.io = &failing;
    o.durability = BOUMA_DURABILITY_GROUP;
    CHECK_FAILS(ds, bouma_dataset_append(&ds, "claimed", &o), BOUMA_EIO,
                "steps");
    failing.list = io->list; /* the trouble is over, the handle still failed */
    CHECK_EQ(bouma_grid_define(&grid, ds, "g", &g), BOUMA_ESTATE);
    CHECK_EQ(bouma_step_begin(ds, 1, 0), BOUMA_ESTATE);
    CHECK_EQ(bouma_step_end(ds), BOUMA_ESTATE);
    bouma_dataset_free(ds);
    MUST(ds, bouma_dataset_append(&ds, "claimed", &o));
    CHECK(!bouma_dataset_note(ds, 0)); /* nobody ended without closing */
    CHECK_EQ(bouma_dataset_step_count(ds), 1);
    bouma_dataset_free(ds);
}

static int no_room(void *user, void *root, const char *name)
{
    (void)user;
    (void)root;
    (void)name;
    return ENOSPC;
}

/* What to do then is said in words that fit any call. */
static void a_full_device_is_told(void)
{
    bouma_options o = memory_options();
    bouma_io full = *io;
    bouma_dataset *ds;

    full.make_dir = no_room;
    o.io = &full;
    CHECK_FAILS(
        ds, bouma_dataset_create(&ds, "full", &o), BOUMA_ENOSPC,
        "full/epochs: the directory could not be created: no space left on "
        "the device; free some and try again");
    bouma_dataset_free(ds);
}

/* ---- order of calls ----------------------------------------------------- */

static void calls_at_the_wrong_point_are_refused(void)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {8}};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    bouma_variable *read, *none;
    bouma_grid *grid;
    bouma_step *step;
    struct writer w;
    double one = 1;

    begin_writing(&w, "order");
    CHECK_FAILS(w.ds, test_put(w.v, &whole, samples), BOUMA_ESTATE,
                "bouma_step_begin");
    CHECK_FAILS(w.ds, bouma_step_end(w.ds), BOUMA_ESTATE, "bouma_step_begin");
    CHECK_EQ(bouma_step_abort(w.ds), BOUMA_ESTATE);
    CHECK(!bouma_dataset_step_attributes(w.ds));
    CHECK_EQ(bouma_attributes_set(NULL, "x", BOUMA_TYPE_F64, 1, &one),
             BOUMA_ESTATE);
    MUST(w.ds, bouma_dataset_clear_failures(w.ds));
    MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
    CHECK_FAILS(w.ds, bouma_step_begin(w.ds, 1, 0), BOUMA_ESTATE,
                "step 0 was begun");
    MUST(w.ds, bouma_dataset_clear_failures(w.ds));
    MUST(w.ds, test_put(w.v, &whole, samples));
    MUST(w.ds, bouma_step_end(w.ds)); /* still step 0 */
    CHECK_EQ(bouma_dataset_step_count(w.ds), 1);
    CHECK_FAILS(w.ds, test_read(w.v, 0, NULL, samples), BOUMA_ESTATE,
                "open a step");
    MUST(w.ds, bouma_step_open(&step, w.ds, 0));
    grid = bouma_step_grid(step, 0);
    read = bouma_grid_variable(grid, 0);
    CHECK_EQ(bouma_variable_define(&none, grid, "n", &spec), BOUMA_ESTATE);
    MUST(w.ds, bouma_step_begin(w.ds, 1, 0));
    CHECK_FAILS(w.ds, test_put(read, &whole, samples), BOUMA_ESTATE, "is read");
    CHECK_EQ(bouma_step_abort(w.ds), BOUMA_EABORTED);
    bouma_step_free(step);
    MUST(w.ds, bouma_dataset_close(w.ds));
    CHECK_EQ(bouma_dataset_close(w.ds), BOUMA_ESTATE);
    CHECK_EQ(bouma_step_begin(w.ds, 2, 0), BOUMA_ESTATE);
    CHECK_EQ(bouma_grid_define(&grid, w.ds, "g", &g), BOUMA_ESTATE);
    CHECK_EQ(bouma_dataset_flush(w.ds), BOUMA_ESTATE);
    bouma_dataset_free(w.ds);
}

static void a_reader_cannot_write(void)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {8}};
    bouma_options o = memory_options();
    bouma_grid *grid;
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_open(&ds, "order", &o));
    CHECK_FAILS(ds, bouma_grid_define(&grid, ds, "g", &g), BOUMA_ESTATE,
                "reading only");
    CHECK_EQ(bouma_step_begin(ds, 7, 0), BOUMA_ESTATE);
    CHECK_EQ(bouma_step_end(ds), BOUMA_ESTATE);
    CHECK_EQ(bouma_attributes_set_number(bouma_dataset_attributes(ds), "x", 1),
             BOUMA_ESTATE);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* ---- blocks ------------------------------------------------------------- */

static void a_wrong_box_fails_the_put_and_the_step(void)
{
    static const bouma_box wrong[] = {{{0, 0, 0}, {8, 8, 9}},
                                      {{-1, 0, 0}, {8, 8, 8}},
                                      {{0, 0, 0}, {8, 1000000, 8}}};
    bouma_box backwards = {{0, 5, 0}, {8, 4, 8}},
              empty = {{3, 3, 3}, {3, 8, 8}};
    struct writer w;

    begin_writing(&w, "boxes");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
        CHECK_FAILS(w.ds, test_put(w.v, &wrong[i], samples), BOUMA_EINVAL,
                    "not inside the grid [0:8,0:8,0:8]");
        CHECK_TEXT(bouma_error_message(w.ds), "\"grid/temp\"");
        CHECK_FAILS(w.ds, bouma_step_end(w.ds), BOUMA_EINVAL,
                    "not inside the grid");
    }
    MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
    CHECK_FAILS(w.ds, test_put(w.v, &backwards, samples), BOUMA_EINVAL,
                "[0:8,5:4,0:8]");
    CHECK_EQ(bouma_step_end(w.ds), BOUMA_EINVAL);
    MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
    CHECK_FAILS(w.ds, test_put(w.v, &whole, NULL), BOUMA_EINVAL, "no data");
    CHECK_EQ(bouma_step_end(w.ds), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_step_count(w.ds), 0);
    /* An empty box is nothing, and then all is well. */
    MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
    MUST(w.ds, test_put(w.v, &empty, NULL));
    MUST(w.ds, test_put(w.v, &whole, samples));
    MUST(w.ds, bouma_step_end(w.ds));
    bouma_dataset_free(w.ds);
}

/* Numbers whose differences do not fit: no overflow on the way. */
static void boxes_at_the_ends_of_the_numbers_are_refused(void)
{
    bouma_box widest = {{INT64_MIN, 0, 0}, {INT64_MAX, 8, 8}};
    bouma_box far = {{INT64_MAX - 1, 0, 0}, {INT64_MAX, 8, 8}};
    bouma_box below = {{0, 0, INT64_MAX}, {8, 8, INT64_MIN}};
    bouma_selection s = {.size = sizeof(s)};
    bouma_step *step;
    bouma_variable *v;
    struct writer w;

    begin_writing(&w, "extreme");
    MUST(w.ds, write_step(&w, 0));
    MUST(w.ds, bouma_step_open(&step, w.ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    CHECK_EQ(bouma_variable_select(&s, v, 0, &widest), BOUMA_EINVAL);
    CHECK_EQ(bouma_variable_select(&s, v, 0, &far), BOUMA_EINVAL);
    CHECK_EQ(bouma_variable_select(&s, v, 1, &below), BOUMA_EINVAL);
    CHECK_EQ(test_read(v, 0, &widest, samples), BOUMA_EINVAL);
    bouma_step_free(step);
    MUST(w.ds, bouma_step_begin(w.ds, 1, 0));
    CHECK_EQ(test_put(w.v, &widest, samples), BOUMA_EINVAL);
    CHECK_EQ(test_put(w.v, &far, samples), BOUMA_EINVAL);
    CHECK_EQ(test_put(w.v, &below, samples), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_end(w.ds), BOUMA_EINVAL);
    bouma_dataset_free(w.ds);
}

static void overlapping_and_missing_blocks_are_named(void)
{
    bouma_box low = {{0, 0, 0}, {5, 8, 8}}, high = {{4, 0, 0}, {8, 8, 8}};
    bouma_box rest = {{6, 0, 0}, {8, 8, 8}}, inner = {{1, 1, 1}, {7, 7, 7}};
    struct writer w;

    begin_writing(&w, "cover");
    for (int again = 0; again < 2; again++) { /* also with a plan that failed */
        MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
        MUST(w.ds, test_put(w.v, &low, samples));
        MUST(w.ds, test_put(w.v, &high, samples));
        CHECK_FAILS(w.ds, bouma_step_end(w.ds), BOUMA_ECOVER, "[4:5,0:4,0:4]");
        CHECK_TEXT(bouma_error_message(w.ds), "rank 0 puts the samples");
        CHECK_TEXT(bouma_error_message(w.ds), "\"grid/temp\"");
    }
    for (int again = 0; again < 2; again++) {
        MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
        MUST(w.ds, test_put(w.v, &low, samples));
        MUST(w.ds, test_put(w.v, &rest, samples));
        CHECK_FAILS(w.ds, bouma_step_end(w.ds), BOUMA_ECOVER,
                    "no rank holds the samples in [5:6,0:4,0:4]");
    }
    /* What is missing lies around what is held. */
    MUST(w.ds, bouma_step_begin(w.ds, 0, 0));
    MUST(w.ds, test_put(w.v, &inner, samples));
    CHECK_FAILS(w.ds, bouma_step_end(w.ds), BOUMA_ECOVER,
                "no rank holds the samples in [0:1,0:4,0:4]");
    MUST(w.ds, write_step(&w, 0));
    CHECK_EQ(bouma_dataset_step_count(w.ds), 1);
    bouma_dataset_free(w.ds);
}

static void a_step_that_was_not_ended_is_told_at_the_close(void)
{
    struct writer w;

    begin_writing(&w, "begun");
    MUST(w.ds, bouma_step_begin(w.ds, 2, 0));
    CHECK_FAILS(w.ds, bouma_dataset_close(w.ds), BOUMA_ESTATE, "step 2");
    bouma_dataset_free(w.ds);
}

static void steps_have_numbers_from_zero(void)
{
    bouma_step *step = NULL;
    struct writer w;

    begin_writing(&w, "numbers");
    CHECK_FAILS(w.ds, bouma_step_begin(w.ds, -1, 0), BOUMA_EINVAL, "-1");
    CHECK_EQ(bouma_step_end(w.ds), BOUMA_EINVAL);
    /* and it did not begin one */
    CHECK_EQ(bouma_step_end(w.ds), BOUMA_ESTATE);
    MUST(w.ds, write_step(&w, INT64_MAX));
    MUST(w.ds, bouma_step_open(&step, w.ds, INT64_MAX));
    bouma_step_free(step);
    CHECK_EQ(bouma_step_open(&step, w.ds, -1), BOUMA_ENOTFOUND);
    CHECK(!step);
    bouma_dataset_free(w.ds);
}

/* ---- reading ------------------------------------------------------------ */

static void levels_and_boxes_that_are_not_there_are_told(void)
{
    bouma_box outside = {{0, 0, 0}, {8, 8, 9}},
              nothing = {{2, 2, 2}, {2, 3, 3}};
    bouma_refinement *r;
    bouma_request request;
    bouma_array to;
    bouma_selection s = {.size = sizeof(s)};
    bouma_variable *v;
    bouma_step *step;
    struct writer w;
    float one[1];

    begin_writing(&w, "reading");
    MUST(w.ds, write_step(&w, 0));
    MUST(w.ds, bouma_step_open(&step, w.ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    CHECK_FAILS(w.ds, test_read(v, 2, NULL, samples), BOUMA_ENOTFOUND,
                "has no level 2");
    CHECK_TEXT(bouma_error_message(w.ds), "to 1");
    CHECK_EQ(test_read(v, -1, NULL, samples), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_variable_select(&s, v, 2, NULL), BOUMA_ENOTFOUND);
    CHECK_FAILS(w.ds, test_read(v, 0, &outside, samples), BOUMA_EINVAL,
                "[0:8,0:8,0:9]");
    CHECK_EQ(test_read(v, 0, NULL, NULL), BOUMA_EINVAL);
    MUST(w.ds, test_read(v, 0, &nothing, one));
    MUST(w.ds, test_read(v, 0, &nothing, NULL));
    CHECK_EQ(bouma_refinement_open(&r, v, 2, NULL), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_refinement_open(&r, v, 0, &nothing), BOUMA_EINVAL);
    CHECK_EQ(bouma_refinement_open(&r, v, 0, &outside), BOUMA_EINVAL);
    to = test_array(v, samples);
    request = (bouma_request){sizeof(request), v, 0, outside, &to};
    CHECK_EQ(bouma_step_read(step, &request, 1), BOUMA_EINVAL);
    request = (bouma_request){sizeof(request), w.v, 0, whole, &to};
    CHECK_EQ(bouma_step_read(step, &request, 1), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_open(&(bouma_step *){NULL}, w.ds, 5), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(w.ds), "has no step 5");
    bouma_step_free(step);
    bouma_dataset_free(w.ds);
}

/* ---- specs -------------------------------------------------------------- */

static void specs_of_other_versions_are_refused(void)
{
    struct {
        bouma_grid_spec g;
        char more[8];
    } g;
    bouma_variable_spec v = {.type = BOUMA_TYPE_F32}; /* no size */
    bouma_variable *variable;
    bouma_grid *grid;
    struct writer w;

    memset(&g, 0, sizeof(g));
    g.g = (bouma_grid_spec){.size = sizeof(g), .ndims = 1, .shape = {8}};
    begin_writing(&w, "specs");
    CHECK_EQ(bouma_grid_define(&grid, w.ds, "newer", &g.g), BOUMA_OK);
    g.more[7] = 1;
    CHECK_FAILS(w.ds, bouma_grid_define(&grid, w.ds, "newest", &g.g),
                BOUMA_EINVAL, "newer version");
    CHECK_FAILS(w.ds, bouma_variable_define(&variable, w.grid, "x", &v),
                BOUMA_EINVAL, "'size' is not set");
    CHECK_FAILS(
        w.ds,
        bouma_grid_define(
            &grid, w.ds, "grid",
            &(bouma_grid_spec){.size = sizeof(g.g), .ndims = 1, .shape = {8}}),
        BOUMA_EEXISTS, "\"grid\"");
    bouma_dataset_free(w.ds);
}

/* Fields of one layout are not ignored with another. */
static void fields_of_other_layouts_are_refused(void)
{
    bouma_grid_spec fields[9];
    struct writer w;
    bouma_grid *grid;

    for (int i = 0; i < 9; i++)
        fields[i] = (bouma_grid_spec){
            .size = sizeof(*fields), .ndims = 1, .shape = {8}};
    fields[0].hz_template = "xxx";
    fields[1].hz_block_bits = 2;
    fields[2].hz_blocks_per_file = 2;
    fields[3].hz_order = BOUMA_HZ_ORDER_ROWS;
    fields[4].hz_wavelet = 1;
    fields[5].hz_tile_bits = 2;
    fields[6].hz_partitions = 2;
    fields[7].hz_index = BOUMA_HZ_INDEX_GLOBAL;
    fields[8].layout = BOUMA_LAYOUT_HZ;
    fields[8].patch[0] = 4;
    begin_writing(&w, "fields");
    for (int i = 0; i < 8; i++)
        CHECK_FAILS(w.ds, bouma_grid_define(&grid, w.ds, "hz", &fields[i]),
                    BOUMA_EINVAL, "which are for BOUMA_LAYOUT_HZ");
    CHECK_FAILS(w.ds, bouma_grid_define(&grid, w.ds, "hz", &fields[8]),
                BOUMA_EINVAL, "which has no patches");
    bouma_dataset_free(w.ds);
}

/* Tiles must fit, and only exact codecs keep coefficients. */
static void wrong_elements_of_a_shape_or_patch_are_named(void)
{
    static const struct {
        bouma_grid_spec spec;
        const char *text;
    } cases[] = {
        {{.shape = {8, 8, 0}}, "grid \"w\": shape[2] is 0"},
        {{.shape = {8, -3, 8}}, "shape[1] is -3"},
        {{.shape = {0, 8, 8}, .layout = BOUMA_LAYOUT_HZ}, "shape[0] is 0"},
        {{.shape = {8, 8, 8}, .patch = {4, 6, 4}},
         "grid \"w\": patch[1] is 6, which is not a power of two"},
        {{.shape = {8, 8, 8}, .patch = {4, 4, -4}}, "patch[2] is -4"}};
    bouma_io *memory = bouma_io_memory_new();
    bouma_options opts = {.size = sizeof(opts), .io = memory};
    bouma_dataset *ds = NULL;
    bouma_grid *grid;

    REQUIRE(!bouma_dataset_create(&ds, "elements", &opts));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bouma_grid_spec spec = cases[i].spec;

        spec.size = sizeof(spec);
        spec.ndims = 3;
        CHECK_EQ(bouma_grid_define(&grid, ds, "w", &spec), BOUMA_EINVAL);
        CHECK_TEXT(bouma_error_message(ds), cases[i].text);
    }
    bouma_dataset_free(ds);
    bouma_io_memory_free(memory);
}

static void wrong_wavelets_are_refused(void)
{
    static const struct {
        int wavelet, tile_bits;
        const char *text;
    } wrong[] = {{2, 0, "has an hz_wavelet that is neither 0 nor 1"},
                 {0, 3, "has hz_tile_bits, which are for hz_wavelet only"},
                 {1, -1, "needs hz_tile_bits from 1 to 24"},
                 {1, 25, "needs hz_tile_bits from 1 to 24"},
                 {1, 8, "has tiles of more samples than its template covers"}};
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = 2,
                            .shape = {8, 10},
                            .layout = BOUMA_LAYOUT_HZ};
    bouma_variable_spec kind = {.size = sizeof(kind),
                                .type = BOUMA_TYPE_F32,
                                .codec = BOUMA_CODEC_INTERP,
                                .tolerance = 0.1};
    struct writer w;
    bouma_grid *grid;
    bouma_variable *v;

    begin_writing(&w, "wavelets");
    for (int i = 0; i < 5; i++) {
        spec.hz_wavelet = wrong[i].wavelet;
        spec.hz_tile_bits = wrong[i].tile_bits;
        CHECK_FAILS(w.ds, bouma_grid_define(&grid, w.ds, "hz", &spec),
                    BOUMA_EINVAL, wrong[i].text);
    }
    spec.hz_wavelet = 1;
    spec.hz_tile_bits = 7;
    spec.hz_block_bits = 2;
    spec.hz_partitions = 2;
    spec.hz_index = BOUMA_HZ_INDEX_LOCAL;
    CHECK_FAILS(w.ds, bouma_grid_define(&grid, w.ds, "hz", &spec), BOUMA_EINVAL,
                "has both partitions and wavelet coefficients");
    spec.hz_partitions = 0;
    spec.hz_index = 0;
    CHECK_EQ(bouma_grid_define(&grid, w.ds, "hz", &spec), BOUMA_OK);
    CHECK_FAILS(w.ds, bouma_variable_define(&v, grid, "v", &kind), BOUMA_EINVAL,
                "which only exact codecs keep; use zstd");
    kind.type = BOUMA_TYPE_I32;
    kind.codec = BOUMA_CODEC_ZSTD;
    CHECK_FAILS(w.ds, bouma_variable_define(&v, grid, "v", &kind), BOUMA_EINVAL,
                "integers are always kept exactly");
    kind.type = BOUMA_TYPE_F32;
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &kind), BOUMA_OK);
    bouma_dataset_free(w.ds);
}

/* ---- files -------------------------------------------------------------- */

/* Change two bytes of a file, mend its checksum, and put it back. */
static void patch_version(const char *path, const char *name, uint16_t major)
{
    uint8_t data[4096];
    size_t done, n;
    void *root, *f;

    REQUIRE(!io->attach(io->user, &root, path, 0));
    REQUIRE(!io->open(io->user, root, &f, name, BOUMA_OPEN_MODE_READ));
    REQUIRE(!io->read(io->user, f, data, sizeof(data), 0, &n));
    REQUIRE(!io->close(io->user, f) && n < sizeof(data));
    bm_store_u16(data + 12, major);
    mend_envelope(data, n);
    REQUIRE(!io->remove(io->user, root, name));
    REQUIRE(!io->open(io->user, root, &f, name, BOUMA_OPEN_MODE_CREATE));
    REQUIRE(!io->write(io->user, f, data, n, 0, &done) && done == n);
    REQUIRE(!io->close(io->user, f));
    io->detach(io->user, root);
}

static void a_newer_format_is_refused(void)
{
    bouma_options o = memory_options();
    bouma_dataset *ds;
    bouma_step *step;
    struct writer w;

    begin_writing(&w, "newer");
    MUST(w.ds, write_step(&w, 0));
    MUST(w.ds, write_step(&w, 1));
    bouma_dataset_free(w.ds);
    patch_version("newer", "steps/00000001/manifest", 2);
    MUST(ds, bouma_dataset_open(&ds, "newer", &o));
    CHECK_FAILS(ds, bouma_step_open(&step, ds, 1), BOUMA_EVERSION,
                "format version 2.0");
    CHECK_TEXT(bouma_error_message(ds), "steps/00000001/manifest");
    MUST(ds, bouma_step_open(&step, ds, 0)); /* the other one is fine */
    bouma_step_free(step);
    bouma_dataset_free(ds);
    patch_version("newer", "DATASET", 2);
    CHECK_FAILS(ds, bouma_dataset_open(&ds, "newer", &o), BOUMA_EVERSION,
                "newer/DATASET: has format version 2.0");
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_dataset_append(&ds, "newer", &o), BOUMA_EVERSION);
    bouma_dataset_free(ds);
    patch_version("newer", "DATASET", 1);
    MUST(ds, bouma_dataset_open(&ds, "newer", &o));
    bouma_dataset_free(ds);
}

/* One that was a dataset is told apart from what never was one. */
static void a_lost_file_dataset_is_told(void)
{
    bouma_options o = memory_options();
    bouma_dataset *ds;
    struct writer w;
    void *root;

    begin_writing(&w, "gone");
    MUST(w.ds, write_step(&w, 0));
    bouma_dataset_free(w.ds);
    REQUIRE(!io->attach(io->user, &root, "gone", 0));
    REQUIRE(!io->remove(io->user, root, "DATASET"));
    io->detach(io->user, root);
    CHECK_FAILS(ds, bouma_dataset_open(&ds, "gone", &o), BOUMA_EFORMAT,
                "repair");
    bouma_dataset_free(ds);
}

static void a_pointer_for_the_handle_is_needed(void)
{
    bouma_options o = memory_options();
    char message[640] = "";
    struct writer w;

    begin_writing(&w, "nowhere");
    CHECK_EQ(write_step(&w, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_open(NULL, w.ds, 0), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(w.ds),
               "the pointer for the handle of step 0 is NULL");
    CHECK_EQ(bouma_step_open(NULL, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_open(NULL, "nowhere", &o), BOUMA_EINVAL);
    CHECK_EQ(bouma_file_open(NULL, "nowhere", BOUMA_FILE_MODE_READ, &o),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_plan_make(NULL, NULL, &o, message, sizeof(message)),
             BOUMA_EINVAL);
    CHECK_TEXT(message, "the pointer for ");
    CHECK_EQ(bouma_particles_restart(NULL, NULL, NULL), BOUMA_EINVAL);
    MUST(w.ds, bouma_dataset_close(w.ds));
    bouma_dataset_free(w.ds);
}

static void statuses_have_names_and_texts(void)
{
#define NAMED(name, value, text)                                               \
    CHECK(!strcmp(bouma_status_name(value), #name));                           \
    CHECK(!strcmp(bouma_status_text(value), text));
    BOUMA_STATUS_LIST(NAMED)
#undef NAMED
    CHECK(bouma_status_name(-999) && bouma_status_text(-999));
    CHECK(!strcmp(bouma_version(), "0.1.0"));
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    unsetenv("BOUMA_OPTIONS");
    opening_what_is_not_there_fails();
    directories_on_disk_are_told_apart();
    a_handle_that_failed_to_open_does_nothing();
    a_writer_that_failed_after_its_claim_does_nothing();
    a_full_device_is_told();
    calls_at_the_wrong_point_are_refused();
    a_reader_cannot_write();
    a_wrong_box_fails_the_put_and_the_step();
    boxes_at_the_ends_of_the_numbers_are_refused();
    overlapping_and_missing_blocks_are_named();
    a_step_that_was_not_ended_is_told_at_the_close();
    steps_have_numbers_from_zero();
    levels_and_boxes_that_are_not_there_are_told();
    specs_of_other_versions_are_refused();
    fields_of_other_layouts_are_refused();
    wrong_elements_of_a_shape_or_patch_are_named();
    wrong_wavelets_are_refused();
    a_newer_format_is_refused();
    a_lost_file_dataset_is_told();
    a_pointer_for_the_handle_is_needed();
    statuses_have_names_and_texts();
    bouma_io_memory_free(io);
    return check_result();
}
