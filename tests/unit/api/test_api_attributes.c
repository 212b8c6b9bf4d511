/* Attributes on a dataset, steps, grids and variables: of every type, kept
 * with each step. */
#include "bouma.h"
#include "check.h"
#include "field.h"

static bouma_io *io;

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    return o;
}

/* Three values of each of the ten types, with 'base' in them. */
static void fill_values(uint8_t values[24], bouma_type type, int base)
{
    for (int i = 0; i < 3; i++)
        set_value(values + (size_t)i * bouma_type_size(type), type, base + i);
}

static void set_all(bouma_attributes *a, int base)
{
    for (int t = BOUMA_TYPE_I8; t <= BOUMA_TYPE_F64; t++) {
        bouma_type type = (bouma_type)t;
        uint8_t values[24];

        fill_values(values, type, base);
        CHECK_EQ(
            bouma_attributes_set(a, bouma_type_name(type), type, 3, values),
            BOUMA_OK);
    }
    CHECK_EQ(bouma_attributes_set_text(a, "text", "caf\xc3\xa9"), BOUMA_OK);
    CHECK_EQ(bouma_attributes_set_text(a, "no text", NULL), BOUMA_OK);
    CHECK_EQ(bouma_attributes_set_number(a, "number", base + 0.5), BOUMA_OK);
    CHECK_EQ(bouma_attributes_set(a, "nothing", BOUMA_TYPE_I32, 0, NULL),
             BOUMA_OK);
}

static void check_all(const bouma_attributes *a, int base)
{
    bouma_attribute e = {.size = sizeof(e)};
    double number;

    CHECK_EQ(bouma_attributes_count(a), 14);
    for (int t = BOUMA_TYPE_I8; t <= BOUMA_TYPE_F64; t++) {
        bouma_type type = (bouma_type)t;
        uint8_t values[24];

        fill_values(values, type, base);
        CHECK_EQ(bouma_attributes_find(&e, a, bouma_type_name(type)), BOUMA_OK);
        CHECK(e.type == type && e.count == 3);
        CHECK_EQ((uintptr_t)e.values % bouma_type_size(type), 0);
        CHECK(!memcmp(e.values, values, 3 * bouma_type_size(type)));
        CHECK_EQ(bouma_attributes_get(&e, a, t - 1), BOUMA_OK);
        CHECK(!strcmp(e.name, bouma_type_name(type))); /* in their order */
    }
    CHECK_EQ(bouma_attributes_find(&e, a, "text"), BOUMA_OK);
    CHECK(e.type == BOUMA_TYPE_STRING && e.count == 5);
    CHECK(!strcmp(e.values, "caf\xc3\xa9"));
    CHECK_EQ(bouma_attributes_find(&e, a, "no text"), BOUMA_OK);
    CHECK(e.count == 0 && !*(const char *)e.values);
    CHECK_EQ(bouma_attributes_find(&e, a, "number"), BOUMA_OK);
    memcpy(&number, e.values, sizeof(number));
    CHECK(e.type == BOUMA_TYPE_F64 && number == base + 0.5);
    CHECK_EQ(bouma_attributes_find(&e, a, "nothing"), BOUMA_OK);
    CHECK_EQ(e.count, 0);
    CHECK_EQ(bouma_attributes_find(&e, a, "else"), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_attributes_get(&e, a, 14), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_attributes_get(&e, a, -1), BOUMA_ENOTFOUND);
}

static void write_one(bouma_dataset *ds, int64_t number)
{
    MUST(ds, bouma_step_begin(ds, number, 0));
    set_all(bouma_dataset_step_attributes(ds), (int)number);
    MUST(ds, bouma_step_end(ds));
}

static void attributes_of_all_types_are_kept_everywhere(void)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {9}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_U8};
    bouma_options o = memory_options();
    bouma_variable *variable;
    bouma_grid *grid;
    bouma_dataset *ds;
    bouma_step *step;

    MUST(ds, bouma_dataset_create(&ds, "all", &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&variable, grid, "v", &v));
    set_all(bouma_dataset_attributes(ds), 60);
    set_all(bouma_grid_attributes(grid), 70);
    set_all(bouma_variable_attributes(variable), 80);
    write_one(ds, 1);
    write_one(ds, 2);
    bouma_dataset_free(ds);

    MUST(ds, bouma_dataset_open(&ds, "all", &o));
    check_all(bouma_dataset_attributes(ds), 60);
    for (int number = 1; number <= 2; number++) {
        MUST(ds, bouma_step_open(&step, ds, number));
        grid = bouma_step_grid(step, 0);
        check_all(bouma_step_attributes(step), number);
        check_all(bouma_grid_attributes(grid), 70);
        check_all(bouma_variable_attributes(bouma_grid_variable(grid, 0)), 80);
        CHECK_EQ(
            bouma_attributes_set_number(bouma_step_attributes(step), "x", 1),
            BOUMA_ESTATE);
        CHECK_EQ(
            bouma_attributes_set_number(bouma_grid_attributes(grid), "x", 1),
            BOUMA_ESTATE);
        CHECK_TEXT(bouma_error_message(ds), "cannot be changed");
        bouma_step_free(step);
    }
    bouma_dataset_free(ds);
}

static double number_of(const bouma_attributes *a, const char *name)
{
    double number = -1;
    bouma_attribute e = {.size = sizeof(e)};

    if (!bouma_attributes_find(&e, a, name) && e.type == BOUMA_TYPE_F64 &&
        e.count)
        memcpy(&number, e.values, sizeof(number));
    return number;
}

/* A dataset has those of its newest step; each step keeps its own. */
static void attributes_change_from_step_to_step(void)
{
    bouma_options o = memory_options();
    bouma_dataset *ds, *reader;
    bouma_step *step;

    MUST(ds, bouma_dataset_create(&ds, "change", &o));
    MUST(reader, bouma_dataset_open(&reader, "change", &o));
    for (int i = 0; i < 3; i++) {
        bouma_attributes *a = bouma_dataset_attributes(ds);

        MUST(ds, bouma_attributes_set_number(a, "run", i));
        MUST(ds, bouma_step_begin(ds, i, 0));
        if (i == 1)
            MUST(ds, bouma_attributes_set_number(
                         bouma_dataset_step_attributes(ds), "only", 7));
        MUST(ds, bouma_step_end(ds));
        MUST(reader, bouma_dataset_refresh(reader));
        CHECK(number_of(bouma_dataset_attributes(reader), "run") == i);
    }
    for (int i = 0; i < 3; i++) {
        MUST(reader, bouma_step_open(&step, reader, i));
        /* Those of a step do not go over to the next one. */
        CHECK(number_of(bouma_step_attributes(step), "only") ==
              (i == 1 ? 7 : -1));
        bouma_step_free(step);
    }
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    /* One who appends begins with what is there, and may change it. */
    MUST(ds, bouma_dataset_append(&ds, "change", &o));
    CHECK(number_of(bouma_dataset_attributes(ds), "run") == 2);
    MUST(ds,
         bouma_attributes_set_number(bouma_dataset_attributes(ds), "run", 50));
    MUST(ds, bouma_step_begin(ds, 9, 0));
    MUST(ds, bouma_step_end(ds));
    bouma_dataset_free(ds);
    MUST(reader, bouma_dataset_refresh(reader));
    CHECK(number_of(bouma_dataset_attributes(reader), "run") == 50);
    bouma_dataset_free(reader);
}

static void wrong_attributes_are_refused(void)
{
    bouma_options o = memory_options();
    uint8_t *large = calloc((1 << 20) + 8, 1);
    bouma_attributes *a;
    bouma_dataset *ds;
    double one = 1;

    REQUIRE(large);
    MUST(ds, bouma_dataset_create(&ds, "wrong", &o));
    a = bouma_dataset_attributes(ds);
    CHECK_EQ(bouma_attributes_set_number(a, "", 1), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "attribute");
    CHECK_EQ(bouma_attributes_set_number(a, NULL, 1), BOUMA_EINVAL);
    CHECK_EQ(bouma_attributes_set_number(a, "a/b", 1), BOUMA_EINVAL);
    CHECK_EQ(bouma_attributes_set_number(a, "\xff", 1), BOUMA_EINVAL);
    CHECK_EQ(bouma_attributes_set(a, "x", (bouma_type)0, 1, &one),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_attributes_set(a, "x", (bouma_type)12, 1, &one),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_attributes_set(a, "x", BOUMA_TYPE_F64, 1, NULL),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_attributes_set(a, "x", BOUMA_TYPE_F64, (1 << 17) + 1, large),
             BOUMA_ELIMIT);
    CHECK_EQ(bouma_attributes_set(a, "x", BOUMA_TYPE_F64, SIZE_MAX / 4, large),
             BOUMA_ELIMIT);
    CHECK_EQ(bouma_attributes_count(a), 0);
    CHECK_EQ(bouma_attributes_count(NULL), 0);
    CHECK_EQ(bouma_attributes_set(a, "x", BOUMA_TYPE_F64, 1 << 17, large),
             BOUMA_OK);
    /* The largest that is allowed goes through a step. */
    MUST(ds, bouma_dataset_clear_failures(ds));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_step_end(ds));
    bouma_dataset_free(ds);
    MUST(ds, bouma_dataset_open(&ds, "wrong", &o));
    CHECK_EQ(bouma_attributes_count(bouma_dataset_attributes(ds)), 1);
    bouma_dataset_free(ds);
    free(large);
}

/* A program that asks for them each time it sets one. */
static void attributes_of_a_new_dataset_stay(void)
{
    bouma_options o = memory_options();
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_create(&ds, "new", &o));
    MUST(ds, bouma_attributes_set_text(bouma_dataset_attributes(ds), "run",
                                       "first"));
    MUST(ds, bouma_attributes_set_number(bouma_dataset_attributes(ds), "mach",
                                         0.8));
    CHECK_EQ(bouma_attributes_count(bouma_dataset_attributes(ds)), 2);
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_step_end(ds));
    bouma_dataset_free(ds);
    MUST(ds, bouma_dataset_open(&ds, "new", &o));
    CHECK_EQ(bouma_attributes_count(bouma_dataset_attributes(ds)), 2);
    bouma_dataset_free(ds);
}

/* Where there is no room for another, those there are can still change. */
static void a_full_list_can_be_changed(void)
{
    bouma_options o = memory_options();
    bouma_attributes *a;
    bouma_dataset *ds;
    double number = 0;
    char name[32];
    int n = 0;

    REQUIRE(!bouma_dataset_create(&ds, "full", &o));
    a = bouma_dataset_attributes(ds);
    do
        snprintf(name, sizeof(name), "a%d", n);
    while (!bouma_attributes_set_number(a, name, n) && ++n < 100000);
    CHECK_EQ(bouma_attributes_set_number(a, name, n), BOUMA_ELIMIT);
    CHECK_EQ(bouma_attributes_set_number(a, "a7", 0.5), BOUMA_OK);
    CHECK_EQ(bouma_attributes_get_number(&number, a, "a7"), BOUMA_OK);
    CHECK(number == 0.5 && bouma_attributes_count(a) == n);
    bouma_dataset_free(ds);
}

/* Nobody would ever see it. */
static void a_step_that_has_ended_takes_no_attribute(void)
{
    bouma_options o = memory_options();
    bouma_attributes *a;
    bouma_dataset *ds;

    REQUIRE(!bouma_dataset_create(&ds, "ended", &o));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    a = bouma_dataset_step_attributes(ds);
    CHECK_EQ(bouma_attributes_set_number(a, "early", 1), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    CHECK_EQ(bouma_attributes_set_number(a, "late", 1), BOUMA_ESTATE);
    CHECK_TEXT(bouma_error_message(ds), "ended");
    CHECK_EQ(bouma_attributes_count(a), 0);
    REQUIRE(!bouma_step_begin(ds, 1, 1));
    CHECK_EQ(bouma_attributes_set_number(a, "late", 1), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    attributes_of_all_types_are_kept_everywhere();
    attributes_change_from_step_to_step();
    wrong_attributes_are_refused();
    attributes_of_a_new_dataset_stay();
    a_full_list_can_be_changed();
    a_step_that_has_ended_takes_no_attribute();
    bouma_io_memory_free(io);
    return check_result();
}
