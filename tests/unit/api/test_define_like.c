/* Definitions that are taken from a step: what is written with them is what is
 * written with the same definitions made by hand. */
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bouma.h"
#include "check.h"
#include "columns.h"
#include "fault_alloc.h"
#include "files.h"
#include "must.h"

enum { ROWS = 16, COLUMNS = 16, SAMPLES = ROWS * COLUMNS, PARTICLES = 100 };

static bouma_options options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.files = 2;
    memcpy(o.id, "0123456789abcdef", 16);
    return o;
}

/* ---- definitions of each kind --------------------------------------------- */

static void define_grid(bouma_dataset *ds, const char *name,
                        const bouma_grid_spec *spec)
{
    bouma_variable_spec rough = {.size = sizeof(rough),
                                 .type = BOUMA_TYPE_F64,
                                 .unit = "K",
                                 .tolerance = 1e-3,
                                 .tolerance_kind = BOUMA_TOLERANCE_RELATIVE},
                        exact = {.size = sizeof(exact), .type = BOUMA_TYPE_F64};
    bouma_variable *v;
    bouma_grid *grid;
    double range[2] = {0, 9};

    MUST(ds, bouma_grid_define(&grid, ds, name, spec));
    MUST(ds, bouma_attributes_set_text(bouma_grid_attributes(grid), "made by",
                                       "hand"));
    MUST(ds, bouma_variable_define(&v, grid, "v", spec->idx ? &exact : &rough));
    MUST(ds, bouma_attributes_set(bouma_variable_attributes(v), "range",
                                  BOUMA_TYPE_F64, 2, range));
    MUST(ds, bouma_variable_define(&v, grid, "never put", &exact));
}

static void define_grids(bouma_dataset *ds)
{
    bouma_grid_spec patch = {.size = sizeof(patch),
                             .ndims = 2,
                             .shape = {ROWS, COLUMNS},
                             .patch = {4, 8},
                             .levels = 2,
                             .origin = {1, 2},
                             .spacing = {0.5, 0.25},
                             .unit = "m"},
                    hz = {.size = sizeof(hz),
                          .ndims = 2,
                          .shape = {ROWS, COLUMNS},
                          .layout = BOUMA_LAYOUT_HZ,
                          .hz_block_bits = 4,
                          .hz_blocks_per_file = 4},
                    local = hz, wavelet = hz, idx = hz, bare = patch;
    bouma_grid *grid;

    local.hz_partitions = 4;
    local.hz_index = BOUMA_HZ_INDEX_LOCAL;
    wavelet.hz_wavelet = 1;
    wavelet.hz_tile_bits = 6;
    idx.idx = 1;
    define_grid(ds, "patch", &patch);
    define_grid(ds, "hz", &hz);
    define_grid(ds, "local", &local);
    define_grid(ds, "wavelet", &wavelet);
    define_grid(ds, "idx", &idx);
    MUST(ds, bouma_grid_define(&grid, ds, "bare", &bare));
    MUST(ds, bouma_dataset_clear_failures(ds)); /* it needs no variable */
}

static void define_particles(bouma_dataset *ds)
{
    bouma_particles_spec spec = {.size = sizeof(spec),
                                 .ndims = 2,
                                 .type = BOUMA_TYPE_F64,
                                 .unit = "m",
                                 .tolerance = 1e-6,
                                 .leaf = 16};
    bouma_variable_spec mass = {
        .size = sizeof(mass), .type = BOUMA_TYPE_F64, .codec = BOUMA_CODEC_RAW};
    bouma_particles *set;
    bouma_variable *v;

    MUST(ds, bouma_particles_define(&set, ds, "dust", &spec));
    MUST(ds, bouma_particles_define_variable(&v, set, "mass", &mass));
    MUST(ds, bouma_attributes_set_number(bouma_particles_attributes(set), "age",
                                         4.5));
}

static void define_all(bouma_dataset *ds)
{
    MUST(ds, bouma_attributes_set_text(bouma_dataset_attributes(ds), "run",
                                       "first"));
    MUST(ds, bouma_attributes_set_text(bouma_dataset_attributes(ds), "code",
                                       "plate"));
    define_grids(ds);
    define_particles(ds);
}

/* ---- steps ----------------------------------------------------------------- */

/* All that is put is found by its name. */
static int write_step(bouma_dataset *ds, int64_t step)
{
    static const char *const names[] = {"patch", "hz", "local", "wavelet",
                                        "idx"};
    double samples[SAMPLES], position[PARTICLES * 2], mass[PARTICLES];
    struct test_column columns[2] = {{.data = position}, {.data = mass}};
    bouma_particles *dust;
    bouma_grid *grid;

    for (int i = 0; i < SAMPLES; i++)
        samples[i] = sin(0.1 * i) + (double)step;
    for (int i = 0; i < PARTICLES; i++) {
        position[2 * i] = sin(1.0 * i);
        position[2 * i + 1] = cos(1.7 * i) + (double)step;
        mass[i] = i;
    }
    MUST(ds, bouma_step_begin(ds, step, (double)step));
    for (int i = 0; i < 5; i++) {
        MUST(ds, bouma_dataset_find_grid(&grid, ds, names[i]));
        MUST(ds,
             test_put_copy(bouma_grid_find_variable(grid, "v"), NULL, samples));
    }
    MUST(ds, bouma_dataset_find_particles(&dust, ds, "dust"));
    columns[0].variable = bouma_particles_position(dust);
    columns[1].variable = bouma_particles_find_variable(dust, "mass");
    MUST(ds, test_put_particles_copy(dust, PARTICLES, columns, 2, NULL));
    return bouma_step_end(ds);
}

static void end(bouma_dataset *ds)
{
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* A dataset with step 0, of definitions made by hand. */
static bouma_dataset *reopened(const char *path)
{
    bouma_options o = options();
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_create(&ds, path, &o));
    define_all(ds);
    MUST(ds, write_step(ds, 0));
    end(ds);
    MUST(ds, bouma_dataset_append(&ds, path, &o));
    return ds;
}

/* Files of a step that are the same in both datasets; -1 if some are not. */
static int count_same(const char *left, const char *right, const char *step)
{
    char dir[200], a[500], b[500];
    struct dirent *entry;
    int same = 0, all = 0;
    DIR *d;

    snprintf(dir, sizeof(dir), "%s/steps/%s", left, step);
    d = opendir(dir);
    REQUIRE(d);
    while ((entry = readdir(d)))
        if (!strncmp(entry->d_name, "d.", 2)) {
            snprintf(a, sizeof(a), "%s/%s", dir, entry->d_name);
            snprintf(b, sizeof(b), "%s/steps/%s/%s", right, step,
                     entry->d_name);
            all++;
            same += same_file(a, b);
        }
    closedir(d);
    return same == all ? all : -1;
}

/* ---- claims ------------------------------------------------------------- */

/* The heads of files have the definitions, too. */
static void files_are_those_of_definitions_by_hand(void)
{
    bouma_dataset *hand = reopened("hand.bouma"),
                  *like = reopened("like.bouma");
    bouma_attribute run = {.size = sizeof(run)};

    define_all(hand);
    MUST(like, bouma_define_like(like, 0));
    MUST(hand, write_step(hand, 1));
    MUST(like, write_step(like, 1));
    end(hand);
    end(like);
    CHECK(count_same("hand.bouma", "like.bouma", "00000001") > 10);
    CHECK(count_same("hand.bouma", "like.bouma", "00000000") > 10);

    MUST(like, bouma_dataset_open(&like, "like.bouma", NULL));
    CHECK_EQ(bouma_attributes_find(&run, bouma_dataset_attributes(like), "run"),
             BOUMA_OK);
    CHECK_TEXT(run.values, "first");
    bouma_dataset_free(like);
    REQUIRE(!remove_tree("hand.bouma") && !remove_tree("like.bouma"));
}

/* What was taken can be changed, and more can be defined. */
static void definitions_are_the_programs_own(void)
{
    bouma_dataset *ds = reopened("own.bouma");
    bouma_grid_spec spec = {.size = sizeof(spec), .ndims = 1, .shape = {8}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_I32};
    bouma_variable *more;
    bouma_grid *grid;

    MUST(ds, bouma_attributes_set_text(bouma_dataset_attributes(ds), "run",
                                       "second"));
    MUST(ds, bouma_attributes_set_text(bouma_dataset_attributes(ds), "kept",
                                       "yes"));
    MUST(ds, bouma_define_like(ds, -1));
    MUST(ds, bouma_dataset_find_grid(&grid, ds, "patch"));
    CHECK_EQ(bouma_attributes_set_text(bouma_grid_attributes(grid), "made by",
                                       "like"),
             BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&more, grid, "more", &v), BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&grid, ds, "line", &spec), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&more, grid, "w", &v), BOUMA_OK);
    MUST(ds, write_step(ds, 1));
    end(ds);

    MUST(ds, bouma_dataset_append(&ds, "own.bouma", NULL));
    MUST(ds, bouma_define_like(ds, 1));
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "line"), BOUMA_OK);
    CHECK_EQ(bouma_attributes_count(bouma_dataset_attributes(ds)), 3);
    CHECK(bouma_grid_find_variable(grid, "w") != NULL);
    end(ds);
    REQUIRE(!remove_tree("own.bouma"));
}

static void names_are_not_defined_twice(void)
{
    bouma_dataset *ds = reopened("twice.bouma");
    bouma_grid *grid;

    define_particles(ds);
    CHECK_EQ(bouma_define_like(ds, 0), BOUMA_EEXISTS);
    CHECK_TEXT(bouma_error_message(ds), "\"dust\" is defined already");
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "patch"), BOUMA_ENOTFOUND);
    CHECK(grid == NULL);
    CHECK_TEXT(bouma_error_message(ds), "there is no grid \"patch\"");
    /* Neither failure can be overlooked. */
    MUST(ds, bouma_step_begin(ds, 1, 1));
    CHECK_EQ(bouma_step_end(ds), BOUMA_EEXISTS);
    MUST(ds, bouma_dataset_clear_failures(ds));
    MUST(ds, bouma_step_begin(ds, 1, 1));
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    end(ds);
    REQUIRE(!remove_tree("twice.bouma"));
}

/* A program that restarts, or does not. */
static void no_step_is_an_answer(void)
{
    bouma_options o = options();
    bouma_dataset *ds;
    bouma_grid *grid;

    MUST(ds, bouma_dataset_create(&ds, "none.bouma", &o));
    CHECK_EQ(bouma_define_like(ds, -1), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "has no step");
    CHECK_EQ(bouma_define_like(ds, 7), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_define_like(ds, -2), BOUMA_EINVAL);
    CHECK_EQ(bouma_define_like(NULL, 0), BOUMA_EINVAL);
    MUST(ds, bouma_dataset_clear_failures(ds));
    /* What is not found and then defined is all right. */
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "patch"), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_dataset_find_grid(NULL, ds, "patch"), BOUMA_EINVAL);
    define_grids(ds);
    define_particles(ds);
    CHECK_EQ(write_step(ds, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "dust"), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "is a set of particles, not a grid");
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);

    MUST(ds, bouma_dataset_open(&ds, "none.bouma", NULL));
    CHECK_EQ(bouma_define_like(ds, 0), BOUMA_ESTATE);
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "patch"), BOUMA_ESTATE);
    bouma_dataset_free(ds);
    REQUIRE(!remove_tree("none.bouma"));
}

/* A variable that was to be put and is not there. */
static void a_missing_variable_fails_the_step(void)
{
    bouma_dataset *ds = reopened("missing.bouma");
    bouma_grid *grid;

    MUST(ds, bouma_define_like(ds, 0));
    MUST(ds, bouma_dataset_find_grid(&grid, ds, "patch"));
    CHECK(!bouma_grid_find_variable(grid, "u"));
    MUST(ds, bouma_step_begin(ds, 1, 1));
    CHECK_EQ(bouma_step_end(ds), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "there is no variable \"u\"");
    end(ds);
    REQUIRE(!remove_tree("missing.bouma"));
}

/* Whatever memory is missing: all is defined, or nothing. */
static void without_memory_nothing_is_defined(void)
{
    int failures = 0;

    end(reopened("memory.bouma"));
    for (long at = 1;; at++) {
        struct fault_alloc memory;
        bouma_options o = options();
        bouma_dataset *ds = NULL;
        const char *run;
        bouma_grid *grid;
        int rc;

        fault_alloc_init(&memory);
        o.allocator = &memory.table;
        MUST(ds, bouma_dataset_append(&ds, "memory.bouma", &o));
        MUST(ds, bouma_attributes_set_text(bouma_dataset_attributes(ds), "run",
                                           "second"));
        fault_alloc_arm(&memory, at, 0);
        rc = bouma_define_like(ds, 0);
        fault_alloc_disarm(&memory);
        if (rc) {
            CHECK_EQ(rc, BOUMA_ENOMEM);
            CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "patch"),
                     BOUMA_ENOTFOUND);
            MUST(ds, bouma_attributes_get_text(
                         &run, bouma_dataset_attributes(ds), "run"));
            CHECK_TEXT(run, "second");
            MUST(ds, bouma_define_like(ds, 0));
            failures++;
        }
        CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "patch"), BOUMA_OK);
        MUST(ds, bouma_attributes_get_text(&run, bouma_dataset_attributes(ds),
                                           "run"));
        CHECK_TEXT(run, "first");
        bouma_dataset_free(ds);
        CHECK_EQ(memory.live, 0);
        if (!rc)
            break;
    }
    CHECK(failures > 100);
    REQUIRE(!remove_tree("memory.bouma"));
}

int main(void)
{
    char dir[] = "/tmp/test_define_like.XXXXXX";

    REQUIRE(mkdtemp(dir) && !chdir(dir));
    files_are_those_of_definitions_by_hand();
    definitions_are_the_programs_own();
    names_are_not_defined_twice();
    no_step_is_an_answer();
    a_missing_variable_fails_the_step();
    without_memory_nothing_is_defined();
    REQUIRE(!chdir("/") && !rmdir(dir));
    return check_result();
}
