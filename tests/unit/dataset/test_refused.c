/* What was refused is not forgotten: a definition, an attribute or a put that
 * failed fails the step, also where nobody looked at its status; and a program
 * that has dealt with it goes on. */
#include <math.h>

#include "arrays.h"
#include "bouma.h"
#include "fault_alloc.h"
#include "must.h"

enum { N = 8 };

static bouma_io *io;
static float samples[N][N];
static const bouma_grid_spec square = {
    .size = sizeof(bouma_grid_spec), .ndims = 2, .shape = {N, N}};
static const bouma_variable_spec number = {.size = sizeof(bouma_variable_spec),
                                           .type = BOUMA_TYPE_F32};
static const bouma_particles_spec points = {
    .size = sizeof(bouma_particles_spec), .ndims = 3};

static bouma_dataset *create(const bouma_allocator *a)
{
    static int next;
    bouma_dataset *ds;
    bouma_options o = {.size = sizeof(o)};
    char name[32];

    o.io = io;
    o.allocator = a;
    snprintf(name, sizeof(name), "refused%d", next++);
    MUST(ds, bouma_dataset_create(&ds, name, &o));
    return ds;
}

/* What a program does that never looks at a status but the last. */
static int careless_step(bouma_dataset *ds, bouma_variable *v, int64_t step)
{
    bouma_step_begin(ds, step, (double)step);
    test_put(v, NULL, samples);
    return bouma_step_end(ds);
}

#define FAILS(ds, call, status, words)                                         \
    do {                                                                       \
        CHECK_EQ(call, status);                                                \
        CHECK_TEXT(bouma_error_message(ds), words);                            \
    } while (0)

static void careless_programs_hear_of_definitions(void)
{
    bouma_variable_spec no_size = {.type = BOUMA_TYPE_F32};
    bouma_variable_spec no_tolerance = number;
    bouma_dataset *ds = create(NULL);
    bouma_variable *v;
    bouma_grid *grid;

    no_tolerance.codec = BOUMA_CODEC_INTERP;
    bouma_grid_define(&grid, ds, "flow/x", &square);
    bouma_variable_define(&v, grid, "density", &number);
    for (int64_t step = 0; step < 3; step++)
        FAILS(ds, careless_step(ds, v, step), BOUMA_EINVAL, "'/'");
    MUST(ds, bouma_dataset_clear_failures(ds));
    MUST(ds, bouma_grid_define(&grid, ds, "flow", &square));

    bouma_variable_define(&v, grid, "density", &no_size);
    for (int64_t step = 0; step < 3; step++)
        FAILS(ds, careless_step(ds, v, step), BOUMA_EINVAL, "'size'");
    bouma_variable_define(&v, grid, "density", &no_tolerance);
    /* The first failure is told until it is made good. */
    FAILS(ds, careless_step(ds, v, 3), BOUMA_EINVAL, "'size'");
    CHECK_EQ(bouma_dataset_step_count(ds), 0);
    MUST(ds, bouma_variable_define(&v, grid, "density", &number));
    MUST(ds, careless_step(ds, v, 4));

    /* And so is the first of two, whatever came after it. */
    bouma_variable_define(&v, grid, "heat", &no_tolerance);
    bouma_variable_define(&v, grid, "cold", &no_size);
    FAILS(ds, careless_step(ds, v, 5), BOUMA_EINVAL, "tolerance");
    CHECK_EQ(bouma_dataset_step_count(ds), 1);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

static void a_handle_needs_a_pointer(void)
{
    bouma_dataset *ds = create(NULL);
    bouma_grid *g;

    FAILS(ds, bouma_grid_define(NULL, ds, "g", &square), BOUMA_EINVAL,
          "the pointer for its handle is NULL");
    FAILS(ds, bouma_particles_define(NULL, ds, "p", &points), BOUMA_EINVAL,
          "the pointer for its handle is NULL");
    MUST(ds, bouma_grid_define(&g, ds, "h", &square));
    FAILS(ds, bouma_variable_define(NULL, g, "v", &number), BOUMA_EINVAL,
          "the pointer for its handle is NULL");
    bouma_step_begin(ds, 0, 0);
    FAILS(ds, bouma_step_end(ds), BOUMA_EINVAL,
          "the pointer for its handle is NULL");
    bouma_dataset_free(ds);
}

static void each_failure_is_made_good_by_its_own_name(void)
{
    bouma_dataset *ds = create(NULL);
    bouma_particles *p;
    bouma_variable *v;
    bouma_grid *g;

    MUST(ds, bouma_grid_define(&g, ds, "g", &square));
    bouma_variable_define(&v, g, "v", NULL);
    bouma_variable_define(&v, g, "w", NULL);
    bouma_particles_define(&p, ds, "p", NULL);
    MUST(ds, bouma_particles_define(&p, ds, "p", &points));
    bouma_particles_define_variable(&v, p, "v", NULL);
    MUST(ds, bouma_variable_define(&v, g, "v", &number));
    FAILS(ds, careless_step(ds, v, 0), BOUMA_EINVAL, "bouma_variable_spec");
    MUST(ds, bouma_variable_define(&v, g, "w", &number));
    FAILS(ds, careless_step(ds, v, 0), BOUMA_EINVAL, "bouma_variable_spec");
    /* "v" of the particles is another one than "v" of the grid. */
    MUST(ds, bouma_particles_define_variable(&v, p, "v", &number));
    v = NULL;
    MUST(ds, careless_step(ds, v, 0));

    FAILS(ds, bouma_grid_define(&g, ds, "g", &square), BOUMA_EEXISTS, "\"g\"");
    FAILS(ds, careless_step(ds, v, 1), BOUMA_EEXISTS, "\"g\"");
    MUST(ds, bouma_dataset_clear_failures(ds));
    MUST(ds, careless_step(ds, v, 1));
    bouma_dataset_free(ds);
}

static void grids_need_variables(void)
{
    bouma_dataset *ds = create(NULL);
    bouma_variable *v = NULL;
    bouma_grid *grid = NULL;

    CHECK_EQ(bouma_variable_define(&v, grid, "v", &number), BOUMA_EINVAL);
    MUST(ds, bouma_grid_define(&grid, ds, "late", &square));
    FAILS(ds, careless_step(ds, v, 0), BOUMA_EINVAL,
          "grid \"late\" has no variable");
    MUST(ds, bouma_variable_define(&v, grid, "v", &number));
    MUST(ds, careless_step(ds, v, 0));
    MUST(ds, bouma_grid_define(&grid, ds, "bare", &square));
    FAILS(ds, careless_step(ds, v, 1), BOUMA_EINVAL, "grid \"bare\"");
    MUST(ds, bouma_dataset_clear_failures(ds));
    MUST(ds, careless_step(ds, v, 1));
    CHECK_EQ(bouma_dataset_step_count(ds), 2);
    bouma_dataset_free(ds);
}

static void attributes_count_as_well(void)
{
    bouma_dataset *ds = create(NULL);
    bouma_attributes *a;
    bouma_variable *v;
    bouma_grid *g;

    MUST(ds, bouma_grid_define(&g, ds, "g", &square));
    MUST(ds, bouma_variable_define(&v, g, "v", &number));
    bouma_attributes_set(bouma_variable_attributes(v), "x", BOUMA_TYPE_F64, 1,
                         NULL);
    for (int64_t step = 0; step < 2; step++)
        FAILS(ds, careless_step(ds, v, step), BOUMA_EINVAL, "\"x\"");
    /* Of the same name, but of something else. */
    bouma_attributes_set_number(bouma_grid_attributes(g), "x", 1);
    FAILS(ds, careless_step(ds, v, 0), BOUMA_EINVAL, "\"x\"");
    bouma_attributes_set_number(bouma_variable_attributes(v), "x", 1);
    MUST(ds, careless_step(ds, v, 0));

    /* Those of a step are over with it. */
    bouma_step_begin(ds, 1, 0);
    a = bouma_dataset_step_attributes(ds);
    bouma_attributes_set_number(a, "a/b", 1);
    FAILS(ds, bouma_step_end(ds), BOUMA_EINVAL, "'/'");
    MUST(ds, careless_step(ds, v, 1));
    bouma_step_begin(ds, 2, 0);
    a = bouma_dataset_step_attributes(ds);
    bouma_attributes_set(a, "y", BOUMA_TYPE_F64, 1, NULL);
    bouma_attributes_set_number(a, "y", 1);
    MUST(ds, bouma_step_end(ds));
    /* Outside a step there are none to set. */
    CHECK_EQ(
        bouma_attributes_set_number(bouma_dataset_step_attributes(ds), "z", 1),
        BOUMA_ESTATE);
    FAILS(ds, careless_step(ds, v, 3), BOUMA_ESTATE, "no step was begun");
    MUST(ds, careless_step(ds, v, 3));
    bouma_dataset_free(ds);
}

static void steps_fail_once_for_what_is_theirs(void)
{
    bouma_box outside = {{0, 0}, {N, N + 1}};
    bouma_dataset *ds = create(NULL);
    bouma_variable *v;
    bouma_grid *g;

    MUST(ds, bouma_grid_define(&g, ds, "g", &square));
    MUST(ds, bouma_variable_define(&v, g, "v", &number));
    /* A put before the step begins would be missing in it. */
    test_put(v, NULL, samples);
    bouma_step_begin(ds, 0, 0);
    FAILS(ds, bouma_step_end(ds), BOUMA_ESTATE,
          "\"g/v\": put while no step was begun");
    bouma_step_begin(ds, 0, 0);
    test_put(v, &outside, samples);
    test_put(v, NULL, samples);
    FAILS(ds, bouma_step_end(ds), BOUMA_EINVAL, "not inside");
    /* A step that was not ended does not get the data of the next one. */
    bouma_step_begin(ds, 0, 0);
    FAILS(ds, careless_step(ds, v, 1), BOUMA_ESTATE, "step 0 was begun");
    for (int i = 0; i < 3; i++) {
        const double times[3] = {NAN, INFINITY, -INFINITY};

        FAILS(ds, bouma_step_begin(ds, 7, times[i]), BOUMA_EINVAL,
              "step 7: its time");
        FAILS(ds, bouma_step_end(ds), BOUMA_EINVAL, "step 7: its time");
    }
    CHECK_EQ(bouma_dataset_step_count(ds), 0);
    /* A step that begins after all makes a failed beginning good. */
    CHECK_EQ(bouma_step_begin(ds, -1, 0), BOUMA_EINVAL);
    MUST(ds, careless_step(ds, v, 0));
    /* Giving a step up gives up what failed in it. */
    bouma_step_begin(ds, 1, 0);
    test_put(v, &outside, samples);
    CHECK_EQ(bouma_step_abort(ds), BOUMA_EABORTED);
    MUST(ds, careless_step(ds, v, 1));
    CHECK_EQ(bouma_dataset_step_count(ds), 2);
    bouma_dataset_free(ds);
}

/* Whatever there was no memory for, also for remembering it, no step is
 * written without the variable, and the same calls made again do it. */
static void no_memory_is_not_forgotten(void)
{
    struct fault_alloc memory;
    int fired = 1;

    fault_alloc_init(&memory);
    for (long at = 1; fired; at++)
        for (int sticky = 0; sticky < 2; sticky++) {
            bouma_dataset *ds = create(&memory.table);
            bouma_variable *v = NULL, *w = NULL;
            bouma_grid *g = NULL;

            fault_alloc_arm(&memory, at, sticky);
            bouma_grid_define(&g, ds, "g", &square);
            bouma_variable_define(&v, g, "v", &number);
            bouma_variable_define(&w, g, "w", &number);
            fired = memory.fired != 0;
            fault_alloc_disarm(&memory);
            CHECK_EQ(careless_step(ds, v, 0), fired ? BOUMA_ENOMEM : BOUMA_OK);
            CHECK_EQ(bouma_dataset_step_count(ds), !fired);
            if (!g)
                MUST(ds, bouma_grid_define(&g, ds, "g", &square));
            if (!v)
                MUST(ds, bouma_variable_define(&v, g, "v", &number));
            if (!w)
                MUST(ds, bouma_variable_define(&w, g, "w", &number));
            CHECK_EQ(careless_step(ds, v, 1), BOUMA_OK);
            bouma_dataset_free(ds);
            CHECK_EQ(memory.live, 0);
        }
}

/* Of two that there was no memory to remember, one made good is not enough. */
static void what_was_not_remembered_is_not_made_good_by_halves(void)
{
    struct fault_alloc memory;
    bouma_variable *v, *w;
    bouma_dataset *ds;
    bouma_grid *g;

    fault_alloc_init(&memory);
    ds = create(&memory.table);
    MUST(ds, bouma_grid_define(&g, ds, "g", &square));
    fault_alloc_arm(&memory, 1, 1);
    CHECK_EQ(bouma_variable_define(&v, g, "v", &number), BOUMA_ENOMEM);
    CHECK_EQ(bouma_variable_define(&w, g, "w", &number), BOUMA_ENOMEM);
    fault_alloc_disarm(&memory);
    MUST(ds, bouma_variable_define(&v, g, "v", &number));
    CHECK_EQ(careless_step(ds, v, 0), BOUMA_ENOMEM);
    MUST(ds, bouma_dataset_clear_failures(ds));
    MUST(ds, careless_step(ds, v, 0));
    bouma_dataset_free(ds);
    CHECK_EQ(memory.live, 0);
}

/* With no memory to record any of them: those of a step are over with the step,
 * those of the dataset when the same is done with success; of more than can be
 * known, at the latest when the caller says so. */
static void what_there_was_no_memory_to_record_is_over_in_time(void)
{
    struct fault_alloc memory;

    fault_alloc_init(&memory);
    for (int count = 1; count < 9; count++)
        for (int of_step = 0; of_step < 2; of_step++) {
            bouma_dataset *ds = create(&memory.table);
            bouma_attributes *a;
            bouma_variable *v;
            bouma_grid *g;
            char name[16];
            int rc;

            MUST(ds, bouma_grid_define(&g, ds, "g", &square));
            MUST(ds, bouma_variable_define(&v, g, "v", &number));
            MUST(ds, bouma_step_begin(ds, 0, 0));
            a = of_step ? bouma_dataset_step_attributes(ds)
                        : bouma_variable_attributes(v);
            fault_alloc_arm(&memory, 1, 1);
            for (int i = 0; i < count; i++) {
                snprintf(name, sizeof(name), "a%d", i);
                CHECK_EQ(bouma_attributes_set_number(a, name, 1), BOUMA_ENOMEM);
            }
            fault_alloc_disarm(&memory);
            test_put(v, NULL, samples);
            CHECK_EQ(bouma_step_end(ds), BOUMA_ENOMEM);
            for (int i = 0; i < count && !of_step; i++) {
                snprintf(name, sizeof(name), "a%d", i);
                FAILS(ds, careless_step(ds, v, 0), BOUMA_ENOMEM, "memory");
                MUST(ds, bouma_attributes_set_number(a, name, 1));
            }
            rc = careless_step(ds, v, 0);
            CHECK(!rc || (count > 4 && !of_step));
            if (rc) {
                CHECK_TEXT(bouma_error_message(ds), "clear_failures");
                MUST(ds, bouma_dataset_clear_failures(ds));
                MUST(ds, careless_step(ds, v, 0));
            }
            bouma_dataset_free(ds);
            CHECK_EQ(memory.live, 0);
        }
}

static void readers_have_nothing_to_clear(void)
{
    bouma_dataset *ds = create(NULL);
    bouma_options o = {.size = sizeof(o)};

    bouma_dataset_free(ds);
    o.io = io;
    MUST(ds, bouma_dataset_open(&ds, "refused0", &o));
    FAILS(ds, bouma_dataset_clear_failures(ds), BOUMA_ESTATE, "reading");
    CHECK_EQ(bouma_dataset_clear_failures(NULL), BOUMA_EINVAL);
    bouma_dataset_free(ds);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    unsetenv("BOUMA_OPTIONS");
    careless_programs_hear_of_definitions();
    a_handle_needs_a_pointer();
    each_failure_is_made_good_by_its_own_name();
    grids_need_variables();
    attributes_count_as_well();
    steps_fail_once_for_what_is_theirs();
    no_memory_is_not_forgotten();
    what_was_not_remembered_is_not_made_good_by_halves();
    what_there_was_no_memory_to_record_is_over_in_time();
    readers_have_nothing_to_clear();
    bouma_io_memory_free(io);
    return check_result();
}
