/* Every call that fails leaves a message of its own: not an empty one, and not
 * that of an earlier call. */
#include <math.h>

#include "arrays.h"
#include "bouma.h"
#include "check.h"
#include "fault_alloc.h"
#include "field.h"
#include "tells.h"

static bouma_io *io;
static const bouma_box whole = {{0, 0}, {8, 8}};
static double samples[64];

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    return o;
}

/* ---- writing ------------------------------------------------------------ */

static const bouma_grid_spec grid_spec = {.size = sizeof(bouma_grid_spec),
                                          .ndims = 2,
                                          .shape = {8, 8},
                                          .patch = {4, 4},
                                          .levels = 2};
static const bouma_variable_spec variable_spec = {
    .size = sizeof(bouma_variable_spec), .type = BOUMA_TYPE_F64};

/* A dataset "data" with step 3, in which "v" is and "absent" is not. */
static void writers_hear_what_is_wrong(void)
{
    bouma_box outside = {{0, 0}, {8, 9}}, backwards = {{4, 0}, {2, 8}};
    bouma_options o = memory_options();
    bouma_attributes *a;
    bouma_variable *v, *absent, *none;
    bouma_grid_spec g = grid_spec;
    bouma_variable_spec s = variable_spec;
    bouma_grid *grid, *no_grid;
    bouma_attribute got = {.size = sizeof(got)};
    bouma_range range;
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_create(&ds, "data", &o));
    TELLS(ds, bouma_grid_define(&grid, ds, "g", NULL), BOUMA_EINVAL,
          "bouma_grid_spec");
    TELLS(ds, bouma_grid_define(&grid, ds, NULL, &g), BOUMA_EINVAL, "name");
    TELLS(ds, bouma_grid_define(&grid, ds, "a/b", &g), BOUMA_EINVAL, "'/'");
    g.ndims = 4;
    TELLS(ds, bouma_grid_define(&grid, ds, "g", &g), BOUMA_EINVAL, "ndims");
    g = grid_spec;
    g.size = 0;
    TELLS(ds, bouma_grid_define(&grid, ds, "g", &g), BOUMA_EINVAL, "size");
    MUST(ds, bouma_grid_define(&grid, ds, "g", &grid_spec));
    TELLS(ds, bouma_grid_define(&no_grid, ds, "g", &grid_spec), BOUMA_EEXISTS,
          "\"g\"");
    TELLS(ds, bouma_variable_define(&v, grid, "v", NULL), BOUMA_EINVAL,
          "bouma_variable_spec");
    s.type = BOUMA_TYPE_STRING;
    TELLS(ds, bouma_variable_define(&v, grid, "v", &s), BOUMA_EINVAL, "type");
    MUST(ds, bouma_variable_define(&v, grid, "v", &variable_spec));
    MUST(ds, bouma_variable_define(&absent, grid, "absent", &variable_spec));
    TELLS(ds, bouma_variable_define(&none, grid, "v", &variable_spec),
          BOUMA_EEXISTS, "\"g/v\"");
    MUST(ds, bouma_dataset_clear_failures(ds));

    TELLS(ds, test_put(v, &whole, samples), BOUMA_ESTATE, "bouma_step_begin");
    TELLS(ds, bouma_step_end(ds), BOUMA_ESTATE, "bouma_step_begin");
    TELLS(ds, bouma_step_abort(ds), BOUMA_ESTATE, "bouma_step_begin");
    GIVES_NONE(ds, bouma_dataset_step_attributes(ds), "bouma_step_begin");
    TELLS(ds, bouma_step_begin(ds, -7, 0), BOUMA_EINVAL, "-7");
    TELLS(ds, bouma_step_begin(ds, 3, NAN), BOUMA_EINVAL, "step 3: its time");
    TELLS(ds, bouma_step_begin(ds, 3, INFINITY), BOUMA_EINVAL, "inf");
    MUST(ds, bouma_step_begin(ds, 3, 0));
    TELLS(ds, bouma_step_begin(ds, 4, 0), BOUMA_ESTATE, "bouma_step_end");
    TELLS(ds, test_put(v, &outside, samples), BOUMA_EINVAL, "\"g/v\"");
    TELLS(ds, test_put(v, &backwards, samples), BOUMA_EINVAL, "[4:2,0:8]");
    TELLS(ds, test_put(v, &whole, NULL), BOUMA_EINVAL, "no data");
    TELLS(ds, bouma_step_abort(ds), BOUMA_EABORTED, "step 3");
    MUST(ds, bouma_step_begin(ds, 3, 0));
    MUST(ds, test_put(v, &whole, samples));
    MUST(ds, test_put(v, &whole, samples));
    TELLS(ds, bouma_step_end(ds), BOUMA_ECOVER, "\"g/v\"");
    MUST(ds, bouma_step_begin(ds, 3, 0));
    MUST(ds, test_put(v, &whole, samples));
    a = bouma_dataset_step_attributes(ds);
    MUST(ds, bouma_attributes_set_number(a, "number", 7));
    TELLS(ds, bouma_attributes_set_number(a, "", 7), BOUMA_EINVAL, "name");
    TELLS(ds, bouma_attributes_set(a, "x", (bouma_type)77, 1, samples),
          BOUMA_EINVAL, "77");
    TELLS(ds, bouma_attributes_set(a, "x", BOUMA_TYPE_F64, 5, NULL),
          BOUMA_EINVAL, "\"x\"");
    TELLS(ds, bouma_attributes_set(a, "x", BOUMA_TYPE_F64, 1 << 20, samples),
          BOUMA_ELIMIT, "\"x\"");
    TELLS(ds, bouma_attributes_get(&got, a, 1), BOUMA_ENOTFOUND, "no number 1");
    TELLS(ds, bouma_attributes_get(&got, a, -1), BOUMA_ENOTFOUND,
          "no number -1");
    TELLS(ds, bouma_attributes_find(&got, a, "text"), BOUMA_ENOTFOUND,
          "no attribute \"text\"; there is \"number\"");
    TELLS(ds, bouma_attributes_find(&got, a, NULL), BOUMA_ENOTFOUND,
          "attribute");
    MUST(ds, bouma_attributes_set_text(a, "text", "hello"));
    MUST(ds, bouma_dataset_clear_failures(ds));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_begin(ds, 3, 0));
    TELLS(ds, bouma_step_end(ds), BOUMA_EEXISTS, "data: step 3");

    TELLS(ds, bouma_variable_range(&range, v, 0), BOUMA_ESTATE, "open a step");
    TELLS(ds, test_read(v, 0, NULL, samples), BOUMA_ESTATE, "open a step");
    MUST(ds, bouma_step_begin(ds, 4, 0));
    TELLS(ds, bouma_dataset_close(ds), BOUMA_ESTATE, "step 4");
    TELLS(ds, bouma_dataset_close(ds), BOUMA_ESTATE, "data: was closed");
    TELLS(ds, bouma_dataset_flush(ds), BOUMA_ESTATE, "data: was closed");
    TELLS(ds, bouma_dataset_refresh(ds), BOUMA_ESTATE, "data: was closed");
    TELLS(ds, bouma_step_begin(ds, 5, 0), BOUMA_ESTATE, "data: was closed");
    TELLS(ds, bouma_step_end(ds), BOUMA_ESTATE, "data: was closed");
    GIVES_NONE(ds, bouma_dataset_step_attributes(ds), "was closed");
    bouma_dataset_free(ds);
}

/* ---- reading ------------------------------------------------------------ */

static void readers_hear_what_is_wrong(void)
{
    bouma_box outside = {{0, 0}, {8, 9}}, empty = {{4, 4}, {4, 8}};
    bouma_options o = memory_options();
    bouma_attributes *a;
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_refinement *r;
    bouma_attribute got = {.size = sizeof(got)};
    bouma_step_file file = {.size = sizeof(file)};
    bouma_range range;
    bouma_array to = BOUMA_ARRAY(BOUMA_TYPE_F64, samples, sizeof(samples));
    bouma_request request = {sizeof(request), NULL, 0, {{0, 0}, {8, 8}}, &to};
    bouma_variable *v, *absent;
    bouma_grid *grid, *no_grid;
    bouma_step *step, *none;
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_open(&ds, "data", &o));
    TELLS(ds, bouma_grid_define(&no_grid, ds, "g", &grid_spec), BOUMA_ESTATE,
          "bouma_dataset_append");
    TELLS(ds, bouma_step_begin(ds, 0, 0), BOUMA_ESTATE, "bouma_dataset_append");
    TELLS(ds, bouma_step_end(ds), BOUMA_ESTATE, "bouma_dataset_append");
    TELLS(ds, bouma_step_open(&none, ds, 4), BOUMA_ENOTFOUND, "4");
    TELLS(ds, bouma_step_open(&none, ds, -4), BOUMA_ENOTFOUND, "-4");
    a = bouma_dataset_attributes(ds);
    TELLS(ds, bouma_attributes_set_number(a, "x", 1), BOUMA_ESTATE, "\"x\"");
    TELLS(ds, bouma_attributes_find(&got, a, "x"), BOUMA_ENOTFOUND,
          "no attribute \"x\"; there is none");
    MUST(ds, bouma_step_open(&step, ds, 3));
    TELLS(ds, bouma_step_file_get(&file, step, 1), BOUMA_ENOTFOUND,
          "step 3 has 1 files");
    TELLS(ds, bouma_step_file_get(&file, step, -1), BOUMA_ENOTFOUND, "-1");
    TELLS(ds, bouma_dataset_info_get(NULL, ds), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_dataset_step_get(NULL, ds, 0), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_step_details_get(NULL, step), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_step_file_get(NULL, step, 0), BOUMA_EINVAL,
          "the pointer for ");
    a = bouma_step_attributes(step);
    TELLS(ds, bouma_attributes_get(NULL, a, 0), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_attributes_find(NULL, a, "text"), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_attributes_find(&got, a, "x"), BOUMA_ENOTFOUND,
          "there are \"number\", \"text\"");
    TELLS(ds, bouma_attributes_get(&got, a, 2), BOUMA_ENOTFOUND, "no number 2");
    TELLS(ds, bouma_attributes_set_text(a, "x", "y"), BOUMA_ESTATE, "\"x\"");

    GIVES_NONE(ds, bouma_step_grid(step, 1), "step 3 has 1 grids");
    GIVES_NONE(ds, bouma_step_find_grid(step, "h"),
               "step 3: there is no grid \"h\"; there is \"g\"");
    GIVES_NONE(ds, bouma_step_find_grid(step, NULL), "there is \"g\"");
    grid = bouma_step_find_grid(step, "g");
    REQUIRE(grid);
    GIVES_NONE(ds, bouma_grid_variable(grid, 2), "\"g\" has 2 variables");
    GIVES_NONE(ds, bouma_grid_find_variable(grid, "w"),
               "grid \"g\": there is no variable \"w\"; there are \"v\", "
               "\"absent\"");
    TELLS(ds, bouma_attributes_find(&got, bouma_grid_attributes(grid), "unit"),
          BOUMA_ENOTFOUND, "\"unit\"");
    TELLS(ds, bouma_variable_define(&v, grid, "new", &variable_spec),
          BOUMA_ESTATE, "reading only");
    v = bouma_grid_find_variable(grid, "v");
    absent = bouma_grid_find_variable(grid, "absent");
    REQUIRE(v && absent);
    TELLS(ds, bouma_attributes_get(&got, bouma_variable_attributes(v), 0),
          BOUMA_ENOTFOUND, "no number 0");
    TELLS(ds, test_put(v, NULL, samples), BOUMA_ESTATE, "reading only");

    TELLS(ds, bouma_variable_range(&range, v, 1), BOUMA_ENOTFOUND,
          "\"g/v\" has 1 components");
    TELLS(ds, bouma_variable_range(&range, v, -1), BOUMA_ENOTFOUND, "-1");
    TELLS(ds, bouma_variable_range(&range, absent, 0), BOUMA_ENOTFOUND,
          "\"g/absent\" is not in this step");
    TELLS(ds, bouma_variable_range(NULL, v, 0), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_variable_select(NULL, v, 0, NULL), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_grid_info_get(NULL, grid), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_variable_info_get(NULL, v), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_variable_select(&selection, v, 2, NULL), BOUMA_ENOTFOUND,
          "level 2");
    TELLS(ds, bouma_variable_select(&selection, v, 0, &outside), BOUMA_EINVAL,
          "[0:8,0:9]");
    TELLS(ds, test_read(v, 2, NULL, samples), BOUMA_ENOTFOUND, "level 2");
    TELLS(ds, test_read(v, 0, &outside, samples), BOUMA_EINVAL, "[0:8,0:9]");
    TELLS(ds, test_read(v, 0, NULL, NULL), BOUMA_EINVAL,
          "the array has no data");
    TELLS(ds, test_read(absent, 0, NULL, samples), BOUMA_ENOTFOUND,
          "\"g/absent\"");
    TELLS(ds, bouma_step_read(step, NULL, 2), BOUMA_EINVAL, "2");
    TELLS(ds, bouma_step_read(step, &request, 1), BOUMA_EINVAL, "request 0");
    request.variable = absent;
    TELLS(ds, bouma_step_read(step, &request, 1), BOUMA_ENOTFOUND, "absent");
    TELLS(ds, bouma_refinement_open(&r, v, 2, NULL), BOUMA_ENOTFOUND,
          "level 2");
    TELLS(ds, bouma_refinement_open(&r, v, 0, &empty), BOUMA_EINVAL, "empty");
    TELLS(ds, bouma_refinement_open(&r, absent, 0, NULL), BOUMA_ENOTFOUND,
          "\"g/absent\"");
    MUST(ds, bouma_refinement_open(&r, v, 1, NULL));
    MUST(ds, bouma_refinement_next(r));
    TELLS(ds, bouma_refinement_next(r), BOUMA_ENOTFOUND, "level 0");
    bouma_refinement_free(r);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* What enumerates or succeeds leaves the message of a failure alone. */
static void a_message_stays_until_the_next_failure(void)
{
    bouma_options o = memory_options();
    bouma_dataset_info info = {.size = sizeof(info)};
    bouma_step_info which = {.size = sizeof(which)};
    bouma_dataset *ds;
    bouma_step *step;

    MUST(ds, bouma_dataset_open(&ds, "data", &o));
    CHECK_EQ(bouma_step_open(&step, ds, 77), BOUMA_ENOTFOUND);
    MUST(ds, bouma_dataset_step_get(&which, ds, 0));
    MUST(ds, bouma_dataset_info_get(&info, ds));
    CHECK(!bouma_dataset_note(ds, 0));
    CHECK_TEXT(bouma_error_message(ds), "77");
    bouma_dataset_free(ds);
}

/* ---- opening ------------------------------------------------------------ */

/* Why it is not open is told, whatever is called then. */
static void a_failed_opening_stays_in_the_message(void)
{
    bouma_options o = memory_options();
    bouma_step_info which = {.size = sizeof(which)};
    bouma_grid *grid;
    bouma_step *step;
    bouma_dataset *ds;

    for (int early = 0; early < 2; early++) {
        const char *why = early ? "files" : "none";

        o.files = early ? -1 : 0;
        CHECK_EQ(bouma_dataset_open(&ds, "none", &o),
                 early ? BOUMA_EINVAL : BOUMA_ENOTFOUND);
        CHECK_TEXT(bouma_error_message(ds), why);
        for (int i = 0; i < 9; i++) {
            int rc = i == 0   ? bouma_grid_define(&grid, ds, "g", &grid_spec)
                     : i == 1 ? bouma_step_begin(ds, 0, 0)
                     : i == 2 ? bouma_step_end(ds)
                     : i == 3 ? bouma_step_open(&step, ds, 0)
                     : i == 4 ? bouma_dataset_step_get(&which, ds, 0)
                     : i == 5 ? bouma_dataset_refresh(ds)
                     : i == 6 ? bouma_dataset_flush(ds)
                     : i == 7 ? bouma_dataset_close(ds)
                              : bouma_attributes_set_number(
                                    bouma_dataset_attributes(ds), "x", 1);

            CHECK_EQ(rc, BOUMA_ESTATE);
            CHECK_TEXT(bouma_error_message(ds), "not open");
            CHECK_TEXT(bouma_error_message(ds), why);
        }
        CHECK(!bouma_dataset_step_attributes(ds));
        CHECK_EQ(bouma_dataset_step_count(ds), 0);
        bouma_dataset_free(ds);
    }
}

static void checks_hear_what_is_wrong(void)
{
    bouma_options o = memory_options();
    bouma_verify_report verified = {.size = sizeof(verified)};
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    char message[640];

#define VERIFY(path, depth)                                                    \
    bouma_verify(&verified, path, (bouma_depth)(depth), &o, NULL, NULL,        \
                 message, sizeof(message))
#define REPAIR(path)                                                           \
    bouma_repair(&repaired, path, 0, &o, NULL, NULL, message, sizeof(message))
    CHECK_EQ(VERIFY(NULL, 1), BOUMA_EINVAL);
    CHECK_TEXT(message, "path");
    CHECK_EQ(VERIFY("data", 9), BOUMA_EINVAL);
    CHECK_TEXT(message, "9");
    CHECK_EQ(VERIFY("none", 1), BOUMA_ENOTFOUND);
    CHECK_TEXT(message, "none");
    CHECK_EQ(REPAIR(NULL), BOUMA_EINVAL);
    CHECK_TEXT(message, "path");
    CHECK_EQ(REPAIR("none"), BOUMA_ENOTFOUND);
    CHECK_TEXT(message, "none");
    o.files = -1;
    CHECK_EQ(VERIFY("data", 1), BOUMA_EINVAL);
    CHECK_TEXT(message, "data");
    CHECK_TEXT(message, "files");
    CHECK_EQ(REPAIR("data"), BOUMA_EINVAL);
    CHECK_TEXT(message, "files");
    CHECK_EQ(bouma_options_set(&o, NULL, "1", message, sizeof(message)),
             BOUMA_EINVAL);
    CHECK_TEXT(message, "name");
    CHECK_EQ(bouma_options_set(&o, "files", NULL, message, sizeof(message)),
             BOUMA_EINVAL);
    CHECK_TEXT(message, "value");
}

/* ---- no memory ---------------------------------------------------------- */

static int write_all(bouma_dataset *ds)
{
    bouma_grid *grid;
    bouma_variable *v = NULL;
    int rc;

    rc = bouma_grid_define(&grid, ds, "g", &grid_spec);
    if (!rc)
        rc = bouma_variable_define(&v, grid, "v", &variable_spec);
    if (!rc)
        rc = bouma_attributes_set_number(bouma_dataset_attributes(ds), "a", 1);
    if (!rc)
        rc = bouma_step_begin(ds, 0, 0);
    if (!rc)
        rc = bouma_attributes_set_text(bouma_dataset_step_attributes(ds), "b",
                                       "text");
    if (!rc)
        rc = test_put(v, NULL, samples);
    if (!rc)
        rc = bouma_step_end(ds);
    return rc ? rc : bouma_dataset_close(ds);
}

static int read_all(bouma_dataset *ds)
{
    bouma_array to = BOUMA_ARRAY(BOUMA_TYPE_F64, samples, sizeof(samples));
    bouma_request request = {sizeof(request), NULL, 0, {{0, 0}, {8, 8}}, &to};
    bouma_refinement *r = NULL;
    bouma_step *step;
    int rc;

    rc = bouma_dataset_refresh(ds);
    if (rc)
        return rc;
    rc = bouma_step_open(&step, ds, 0);
    if (rc)
        return rc;
    request.variable =
        bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    rc = test_read(request.variable, 0, NULL, samples);
    if (!rc)
        rc = bouma_step_read(step, &request, 1);
    if (!rc)
        rc = bouma_refinement_open(&r, request.variable, 1, NULL);
    if (!rc)
        rc = bouma_refinement_next(r);
    bouma_refinement_free(r);
    bouma_step_free(step);
    return rc;
}

/* Each allocation in turn is the first that fails. */
static void without_memory_a_message_is_left(void)
{
    struct fault_alloc memory;
    bouma_options o = memory_options();
    int rc = BOUMA_ENOMEM;
    bouma_dataset *ds;
    char path[32];

    fault_alloc_init(&memory);
    o.allocator = &memory.table;
    for (int reading = 0; reading < 2; reading++) {
        long after = 0;

        do {
            snprintf(path, sizeof(path), "scarce%ld", after);
            fault_alloc_disarm(&memory);
            MUST(ds, reading ? bouma_dataset_open(&ds, "data0", &o)
                             : bouma_dataset_create(&ds, path, &o));
            leave_stale(ds);
            fault_alloc_arm(&memory, after + 1, 1);
            rc = reading ? read_all(ds) : write_all(ds);
            if (rc) {
                CHECK_EQ(rc, BOUMA_ENOMEM);
                check_fresh(ds, reading ? "reading" : "writing");
                CHECK_TEXT(bouma_error_message(ds), "memory");
            }
            fault_alloc_disarm(&memory);
            bouma_dataset_free(ds);
            CHECK_EQ(memory.live, 0);
            after++;
        } while (rc && after < 10000);
        CHECK_EQ(rc, BOUMA_OK);
        CHECK(after > 10);
    }
    for (long after = 0; after < 1000; after++) {
        bouma_verify_report report = {.size = sizeof(report)};
        char message[640] = "";

        fault_alloc_arm(&memory, after + 1, 1);
        rc = bouma_verify(&report, "data0", BOUMA_DEPTH_DEEP, &o, NULL, NULL,
                          message, sizeof(message));
        if (!rc)
            break;
        CHECK_EQ(rc, BOUMA_ENOMEM);
        CHECK_TEXT(message, "memory");
        fault_alloc_arm(&memory, after + 1, 1);
        rc = bouma_dataset_open(&ds, "data0", &o);
        if (rc)
            CHECK_TEXT(bouma_error_message(ds), "memory");
        fault_alloc_disarm(&memory);
        bouma_dataset_free(ds);
        CHECK_EQ(memory.live, 0);
    }
    CHECK_EQ(rc, BOUMA_OK);
}

/* What the sweep reads. */
static void write_data0(void)
{
    bouma_options o = memory_options();
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_create(&ds, "data0", &o));
    MUST(ds, write_all(ds));
    bouma_dataset_free(ds);
}

/* ---- no handle ---------------------------------------------------------- */

static void nothing_is_done_without_a_handle(void)
{
    char text[4] = "x";
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_step_details details = {.size = sizeof(details)};
    bouma_dataset_info dataset = {.size = sizeof(dataset)};
    bouma_grid_info grid = {.size = sizeof(grid)};
    bouma_variable_info variable = {.size = sizeof(variable)};
    bouma_step_info which = {.size = sizeof(which)};
    bouma_step_file file = {.size = sizeof(file)};
    bouma_attribute got = {.size = sizeof(got)};
    bouma_range range;
    bouma_refinement *r;
    bouma_variable *v;
    bouma_grid *g;
    bouma_step *s;
    int level = 5;
    const void *data = &level;

    CHECK_EQ(bouma_dataset_close(NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_flush(NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_refresh(NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_step_get(&which, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_info_get(&dataset, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_step_count(NULL), 0);
    CHECK(!bouma_dataset_note(NULL, 0));
    CHECK_EQ(bouma_grid_define(&g, NULL, "g", &grid_spec), BOUMA_EINVAL);
    CHECK_EQ(bouma_variable_define(&v, NULL, "v", &variable_spec),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_step_begin(NULL, 0, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_end(NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_abort(NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_open(&s, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_details_get(&details, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_details_get(NULL, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_file_get(NULL, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_info_get(NULL, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_attributes_get(NULL, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_file_get(NULL, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_node_get(NULL, NULL, 0), BOUMA_EINVAL);
    bouma_particles_info_get(NULL, NULL);
    CHECK_EQ(bouma_step_file_get(&file, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_grid_count(NULL), 0);
    CHECK(!bouma_step_grid(NULL, 0) && !bouma_step_find_grid(NULL, "g"));
    CHECK_EQ(bouma_step_read(NULL, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_grid_variable_count(NULL), 0);
    CHECK(!bouma_grid_variable(NULL, 0));
    CHECK(!bouma_grid_find_variable(NULL, "v"));
    CHECK_EQ(test_put(NULL, NULL, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_variable_range(&range, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_variable_select(&selection, NULL, 0, NULL), BOUMA_EINVAL);
    CHECK_EQ(test_read(NULL, 0, NULL, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_refinement_open(&r, NULL, 0, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_refinement_next(NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_refinement_get(&data, &selection, &level, NULL),
             BOUMA_EINVAL);
    CHECK(!data);
    bouma_grid_info_get(&grid, NULL);
    bouma_variable_info_get(&variable, NULL);
    CHECK(!grid.name && !variable.name);
    CHECK(!bouma_dataset_attributes(NULL) && !bouma_step_attributes(NULL));
    CHECK(!bouma_dataset_step_attributes(NULL));
    CHECK(!bouma_grid_attributes(NULL) && !bouma_variable_attributes(NULL));
    CHECK_EQ(bouma_attributes_count(NULL), 0);
    CHECK_EQ(bouma_attributes_get(&got, NULL, 0), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_attributes_find(&got, NULL, "x"), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_attributes_set_number(NULL, "x", 1), BOUMA_ESTATE);
    CHECK_EQ(bouma_array_inside(NULL, 1, 3, (int64_t[]){4, 4, 4},
                                (int64_t[]){0, 0, 0}, NULL, 0),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_probe_text(NULL, text, sizeof(text)), 0);
    CHECK(!text[0]);
    CHECK_EQ(bouma_probe_text(NULL, NULL, 9), 0);
}

/* What is not inside the array is refused, and the array with it. */
static void arrays_inside_others_are_checked(void)
{
    static const int64_t extent[5] = {4, 5, 6, 7, 8}, zero[5], far[3] = {3, 5},
                         huge[2] = {INT64_MAX, INT64_MAX};
    char message[200] = "";
    float room[120];
    const bouma_array entire = BOUMA_ARRAY(BOUMA_TYPE_F32, room, sizeof(room));
    bouma_array a;

    for (int ndims = -1; ndims <= 5; ndims++) {
        int valid = ndims >= 1 && ndims <= 3;

        a = entire;
        CHECK_EQ(bouma_array_inside(&a, 1, ndims, extent, zero, NULL, 0),
                 valid ? BOUMA_OK : BOUMA_EINVAL);
        CHECK_EQ(a.component_stride, valid ? 4 : 0);
        CHECK_EQ(a.stride[0], ndims == 1   ? 4
                              : ndims == 2 ? 20
                              : ndims == 3 ? 120
                                           : 0);
        CHECK_EQ(a.type, valid ? BOUMA_TYPE_F32 : 0);
    }
#define INSIDE(components, ndims, extent, first)                               \
    bouma_array_inside(&a, components, ndims, extent, first, message,          \
                       sizeof(message))
#define REFUSED(call, words)                                                   \
    a = entire;                                                                \
    CHECK_EQ(call, BOUMA_EINVAL);                                              \
    CHECK_TEXT(message, words);                                                \
    CHECK_EQ(a.type, 0)
    REFUSED(INSIDE(1, 3, NULL, zero), "extent is NULL");
    REFUSED(INSIDE(1, 3, extent, NULL), "first is NULL");
    REFUSED(INSIDE(0, 3, extent, zero), "components is 0");
    REFUSED(INSIDE(1, 4, extent, zero), "ndims is 4");
    REFUSED(INSIDE(2, 3, extent, zero), "has 480 bytes, and needs 960");
    REFUSED(INSIDE(1, 2, extent, far), "first[1] is 5, and the extent");
    REFUSED(INSIDE(1, 2, huge, zero), "2^63 bytes");
    a = entire;
    CHECK_EQ(INSIDE(1, 2, extent, zero), BOUMA_OK);
    CHECK(!message[0]);
    CHECK_EQ(INSIDE(1, 2, extent, zero), BOUMA_EINVAL);
    CHECK_TEXT(message, "strides already");
    CHECK_EQ(INSIDE(1, 2, extent, zero), BOUMA_EINVAL);
    CHECK_TEXT(message, "no type");
    a = entire;
    a.data = NULL;
    CHECK_EQ(INSIDE(1, 2, extent, zero), BOUMA_EINVAL);
    CHECK_TEXT(message, "neither 'data' nor 'parts'");
    a = entire;
    a.data = NULL;
    a.parts = (void *[]){room};
    a.data = room;
    CHECK_EQ(INSIDE(1, 2, extent, zero), BOUMA_EINVAL);
    CHECK_TEXT(message, "both 'data' and 'parts'");
    a = entire;
    a.data = NULL;
    a.parts = (void *[]){room};
    a.part_offset = 8;
    CHECK_EQ(INSIDE(1, 2, extent, zero), BOUMA_EINVAL);
    CHECK_TEXT(message, "strides already");
    a = entire;
    a.size = 0;
    CHECK_EQ(INSIDE(1, 2, extent, zero), BOUMA_EINVAL);
    CHECK_TEXT(message, "'size' is not set");
#undef INSIDE
#undef REFUSED
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    unsetenv("BOUMA_OPTIONS");
    writers_hear_what_is_wrong();
    readers_hear_what_is_wrong();
    a_message_stays_until_the_next_failure();
    a_failed_opening_stays_in_the_message();
    checks_hear_what_is_wrong();
    write_data0();
    without_memory_a_message_is_left();
    nothing_is_done_without_a_handle();
    arrays_inside_others_are_checked();
    bouma_io_memory_free(io);
    return check_result();
}
