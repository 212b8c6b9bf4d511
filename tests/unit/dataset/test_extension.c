/* A committed step is extended: it is seen as one, and nothing that was there is
 * touched. */
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bouma.h"
#include "check.h"
#include "columns.h"
#include "fault_alloc.h"
#include "files.h"
#include "must.h"

enum { ROWS = 12, COLUMNS = 10, SAMPLES = ROWS * COLUMNS, PARTICLES = 40 };

static bouma_options options(void)
{
    bouma_options o = {.size = sizeof(o), .files = 2};

    return o;
}

static void fill(double *out, int salt)
{
    for (int i = 0; i < SAMPLES; i++)
        out[i] = sin(0.1 * i) + salt;
}

static bouma_variable *define(bouma_dataset *ds, const char *grid_name,
                              const char *name)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {ROWS, COLUMNS},
                         .patch = {4, 4},
                         .levels = 2};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_F64};
    bouma_variable *variable;
    bouma_grid *grid;

    if (bouma_dataset_find_grid(&grid, ds, grid_name))
        MUST(ds, bouma_grid_define(&grid, ds, grid_name, &g));
    MUST(ds, bouma_variable_define(&variable, grid, name, &v));
    return variable;
}

static void put(bouma_dataset *ds, bouma_variable *v, int salt)
{
    double data[SAMPLES];

    fill(data, salt);
    MUST(ds, test_put_copy(v, NULL, data));
}

/* Add one variable of a grid to a step, by a program of its own. */
static int add(const char *path, int64_t step, const char *grid,
               const char *name, int salt)
{
    bouma_options o = options();
    bouma_dataset *ds;
    int rc;

    MUST(ds, bouma_dataset_append(&ds, path, &o));
    define(ds, grid, name);
    rc = bouma_step_extend(ds, step);
    if (!rc) {
        bouma_grid *g;

        MUST(ds, bouma_dataset_find_grid(&g, ds, grid));
        put(ds, bouma_grid_find_variable(g, name), salt);
        rc = bouma_step_end(ds);
    }
    if (rc)
        printf("%s\n", bouma_error_message(ds));
    bouma_dataset_clear_failures(ds);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    return rc;
}

/* Steps 0 and 1, with variable a of grid g; salt is 10 times the step. */
static void make(const char *path)
{
    bouma_options o = options();
    bouma_variable *a;
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_create(&ds, path, &o));
    a = define(ds, "g", "a");
    for (int step = 0; step < 2; step++) {
        MUST(ds, bouma_step_begin(ds, step, step));
        put(ds, a, 10 * step);
        MUST(ds, bouma_step_end(ds));
    }
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* The salt of a variable that is read, alone and with all; -1: it is not there,
 * -2: it is wrong. */
static int salt_of(bouma_step *step, const char *grid, const char *name)
{
    double one[SAMPLES], all[SAMPLES], right[SAMPLES];
    bouma_grid *g = bouma_step_find_grid(step, grid);
    bouma_variable *v = g ? bouma_grid_find_variable(g, name) : NULL;
    bouma_array to = {.size = sizeof(to),
                      .type = BOUMA_TYPE_F64,
                      .data = all,
                      .bytes = sizeof(all)};
    bouma_request r = {.size = sizeof(r), .variable = v, .array = &to};
    int salt;

    if (!v || test_read(v, 0, NULL, one))
        return -1;
    r.box.hi[0] = ROWS;
    r.box.hi[1] = COLUMNS;
    if (bouma_step_read(step, &r, 1) || memcmp(one, all, sizeof(one)))
        return -2;
    salt = (int)lround(one[0]);
    fill(right, salt);
    return memcmp(one, right, sizeof(one)) ? -2 : salt;
}

static int salt_in(const char *path, int64_t number, const char *grid,
                   const char *name)
{
    bouma_dataset *ds;
    bouma_step *step;
    int salt = -1;

    MUST(ds, bouma_dataset_open(&ds, path, NULL));
    if (!bouma_step_open(&step, ds, number)) {
        salt = salt_of(step, grid, name);
        bouma_step_free(step);
    }
    bouma_dataset_free(ds);
    return salt;
}

static uint64_t findings(const char *path)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    REQUIRE(!bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)));
    return report.damages + report.unchecked + report.notes;
}

static void shell(const char *command)
{
    REQUIRE(!system(command));
}

/* ---- claims ------------------------------------------------------------- */

static void added_variables_are_those_of_the_step(void)
{
    bouma_record before = {.size = sizeof(before)},
                 after = {.size = sizeof(after)};
    bouma_step_info info = {.size = sizeof(info)};
    bouma_step_file file = {.size = sizeof(file)};
    bouma_dataset *ds;
    bouma_step *step;
    bouma_grid *g;

    make("d");
    shell("cp -r d/steps/00000000 saved");
    MUST(ds, bouma_dataset_open(&ds, "d", NULL));
    MUST(ds, bouma_step_open(&step, ds, 0));
    MUST(ds, bouma_step_record_get(&before, step));
    bouma_step_free(step);
    bouma_dataset_free(ds);

    CHECK_EQ(add("d", 0, "g", "b", 3), BOUMA_OK);
    CHECK_EQ(add("d", 0, "h", "c", 4), BOUMA_OK);
    CHECK_EQ(add("d", 0, "h", "e", 5), BOUMA_OK);
    shell("rm saved/manifest; for f in saved/*; do "
          "cmp $f d/steps/00000000/${f#saved/} || exit 1; done; rm -r saved");
    CHECK_EQ(findings("d"), 0);
    for (int listed = 0; listed < 2; listed++) {
        MUST(ds, bouma_dataset_open(&ds, "d", NULL));
        if (listed)
            CHECK_EQ(bouma_dataset_step_count(ds), 2);
        MUST(ds, bouma_step_open(&step, ds, 0));
        CHECK_EQ(salt_of(step, "g", "a"), 0);
        CHECK_EQ(salt_of(step, "g", "b"), 3);
        CHECK_EQ(salt_of(step, "h", "c"), 4);
        CHECK_EQ(salt_of(step, "h", "e"), 5);
        CHECK_EQ(salt_of(step, "g", "e"), -1);
        CHECK_EQ(bouma_step_grid_count(step), 2);
        g = bouma_step_grid(step, 0);
        CHECK_EQ(bouma_grid_variable_count(g), 2);
        CHECK(!bouma_grid_variable(g, 2));
        CHECK_TEXT(bouma_error_message(ds), "has 2 variables");
        CHECK_EQ(bouma_grid_variable_count(bouma_step_grid(step, 1)), 2);
        MUST(ds, bouma_step_record_get(&after, step));
        CHECK_EQ(after.raw_bytes, 4 * before.raw_bytes);
        CHECK_EQ(after.files, 8);
        CHECK_EQ(bouma_step_file_get(&file, step, 7), BOUMA_OK);
        CHECK_EQ(bouma_step_file_get(&file, step, 8), BOUMA_ENOTFOUND);
        bouma_step_free(step);
        CHECK_EQ(bouma_dataset_last_step(&info, ds), BOUMA_OK);
        CHECK_EQ(info.step, 1);
        CHECK_EQ(bouma_dataset_next_step(&info, ds, 1), BOUMA_ENOTFOUND);
        CHECK_EQ(bouma_dataset_step_get(&info, ds, 2), BOUMA_ENOTFOUND);
        bouma_dataset_free(ds);
    }
    CHECK_EQ(salt_in("d", 1, "g", "b"), -1);
    REQUIRE(!remove_tree("d"));
}

/* A reader sees both in one call. */
static void all_of_a_step_is_read_at_once(void)
{
    double a[SAMPLES], b[SAMPLES], right[SAMPLES];
    bouma_array to[2] = {BOUMA_ARRAY(BOUMA_TYPE_F64, a, sizeof(a)),
                         BOUMA_ARRAY(BOUMA_TYPE_F64, b, sizeof(b))};
    bouma_request r[2] = {{.size = sizeof(r[0]), .array = &to[0]},
                          {.size = sizeof(r[1]), .array = &to[1]}};
    bouma_dataset *ds;
    bouma_step *step;
    bouma_grid *g;

    make("d");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    MUST(ds, bouma_dataset_open(&ds, "d", NULL));
    MUST(ds, bouma_step_open(&step, ds, 1));
    g = bouma_step_find_grid(step, "g");
    r[0].variable = bouma_grid_find_variable(g, "a");
    r[1].variable = bouma_grid_find_variable(g, "b");
    for (int i = 0; i < 2; i++) {
        r[i].box.hi[0] = ROWS;
        r[i].box.hi[1] = COLUMNS;
    }
    CHECK_EQ(bouma_step_read(step, r, 2), BOUMA_OK);
    fill(right, 10);
    CHECK(!memcmp(a, right, sizeof(a)));
    fill(right, 3);
    CHECK(!memcmp(b, right, sizeof(b)));
    r[1].variable = NULL;
    CHECK_EQ(bouma_step_read(step, r, 2), BOUMA_EINVAL);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    REQUIRE(!remove_tree("d"));
}

static void what_cannot_be_added_is_refused(void)
{
    bouma_options o = options();
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_grid_spec other = {
        .size = sizeof(other), .ndims = 2, .shape = {ROWS, COLUMNS + 1}};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_U8};
    static const uint8_t zeros[ROWS * (COLUMNS + 1)];

    make("d");
    CHECK_EQ(add("d", 7, "g", "b", 3), BOUMA_ENOTFOUND);
    CHECK_EQ(add("d", 0, "g", "a", 3), BOUMA_EEXISTS);
    CHECK_EQ(add("d", 0, "g", "b", 3), BOUMA_OK);
    CHECK_EQ(add("d", 0, "g", "b", 4), BOUMA_EEXISTS);
    CHECK_EQ(salt_in("d", 0, "g", "b"), 3);
    MUST(ds, bouma_dataset_append(&ds, "d", &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &other));
    MUST(ds, bouma_variable_define(&v, grid, "z", &spec));
    MUST(ds, bouma_step_extend(ds, 0));
    MUST(ds, test_put(v, NULL, zeros));
    CHECK_EQ(bouma_step_end(ds), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "is defined otherwise in step 0");
    MUST(ds, bouma_step_extend(ds, 0));
    CHECK_EQ(bouma_step_end(ds), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "nothing is added to step 0");
    CHECK_EQ(bouma_step_extend(ds, -1), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_extend(NULL, 0), BOUMA_EINVAL);
    MUST(ds, bouma_dataset_clear_failures(ds));
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    for (int i = 2; i <= 64; i++) {
        char name[16];

        snprintf(name, sizeof(name), "v%d", i);
        CHECK_EQ(add("d", 0, "g", name, i), BOUMA_OK);
    }
    CHECK_EQ(add("d", 0, "g", "more", 1), BOUMA_ELIMIT);
    for (int i = 2; i <= 64; i += 31) {
        char name[16];

        snprintf(name, sizeof(name), "v%d", i);
        CHECK_EQ(salt_in("d", 0, "g", name), i);
    }
    CHECK_EQ(salt_in("d", 0, "g", "a"), 0);
    CHECK_EQ(findings("d"), 0);
    REQUIRE(!remove_tree("d"));
}

/* A set of particles is new, or refused. */
static int add_particles(const char *path, int64_t step)
{
    bouma_particles_spec spec = {
        .size = sizeof(spec), .ndims = 1, .type = BOUMA_TYPE_F64};
    double x[PARTICLES];
    struct test_column c = {.data = x};
    bouma_particles *set;
    bouma_dataset *ds;
    int rc;

    for (int i = 0; i < PARTICLES; i++)
        x[i] = i;
    MUST(ds, bouma_dataset_append(&ds, path, NULL));
    MUST(ds, bouma_particles_define(&set, ds, "dust", &spec));
    c.variable = bouma_particles_position(set);
    MUST(ds, bouma_step_extend(ds, step));
    MUST(ds, test_put_particles(set, PARTICLES, &c, 1, NULL));
    rc = bouma_step_end(ds);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    return rc;
}

static void particles_are_added_as_a_set(void)
{
    bouma_particle_data *data;
    bouma_dataset *ds;
    bouma_step *step;

    make("d");
    CHECK_EQ(add_particles("d", 1), BOUMA_OK);
    CHECK_EQ(add_particles("d", 1), BOUMA_EEXISTS);
    MUST(ds, bouma_dataset_open(&ds, "d", NULL));
    MUST(ds, bouma_step_open(&step, ds, 1));
    CHECK_EQ(bouma_step_particles_count(step), 1);
    MUST(ds, bouma_particles_read(
                 &data, bouma_step_find_particles(step, "dust"), NULL));
    CHECK_EQ(data->count, PARTICLES);
    bouma_particle_data_free(data);
    CHECK_EQ(salt_of(step, "g", "a"), 10);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    REQUIRE(!remove_tree("d"));
}

/* What was added goes with the writing that it was added to. */
static void a_step_that_is_written_again_is_new(void)
{
    bouma_options o = options();
    bouma_variable *a;
    bouma_dataset *ds;
    bouma_step *step, *old;

    make("d");
    CHECK_EQ(add("d", 0, "g", "b", 3), BOUMA_OK);
    o.replace = 1;
    MUST(ds, bouma_dataset_append(&ds, "d", &o));
    a = define(ds, "g", "a");
    MUST(ds, bouma_step_open(&old, ds, 0));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    put(ds, a, 7);
    MUST(ds, bouma_step_end(ds));
    /* Who reads the old version goes on. */
    CHECK_EQ(salt_of(old, "g", "a"), 0);
    CHECK_EQ(salt_of(old, "g", "b"), 3);
    MUST(ds, bouma_step_open(&step, ds, 0));
    CHECK_EQ(salt_of(step, "g", "a"), 7);
    CHECK_EQ(salt_of(step, "g", "b"), -1);
    bouma_step_free(old);
    bouma_step_free(step);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    shell("test $(ls d/steps/00000000 | wc -l) = 3");
    CHECK_EQ(findings("d"), 0);
    /* Replaced, then extended. */
    CHECK_EQ(add("d", 0, "g", "b", 5), BOUMA_OK);
    CHECK_EQ(salt_in("d", 0, "g", "b"), 5);
    CHECK_EQ(salt_in("d", 0, "g", "a"), 7);
    CHECK_EQ(findings("d"), 0);
    REQUIRE(!remove_tree("d"));
}

/* All on one handle, whatever is stored later or held back: nothing is lost. */
static void extensions_wait_for_what_is_pending(void)
{
    for (int mode = 0; mode < 8; mode++) {
        bouma_options o = options();
        bouma_variable *v[4];
        bouma_dataset *ds;
        bouma_step *old;

        o.async = mode & 1;
        o.replace = mode >> 1 & 1;
        if (mode & 4) {
            o.durability = BOUMA_DURABILITY_GROUP;
            o.group = 3;
        } else {
            o.durability = BOUMA_DURABILITY_FAST;
        }
        MUST(ds, bouma_dataset_create(&ds, "d", &o));
        v[0] = define(ds, "g", "a");
        v[1] = define(ds, "g", "b");
        v[2] = define(ds, "g", "c");
        v[3] = define(ds, "h", "a");
        for (int step = 0; step < 2; step++) {
            MUST(ds, bouma_step_begin(ds, step, step));
            put(ds, v[0], 10 * step);
            MUST(ds, bouma_step_end(ds));
        }
        MUST(ds, bouma_step_extend(ds, 1));
        put(ds, v[1], 3);
        MUST(ds, bouma_step_end(ds));
        MUST(ds, bouma_step_open(&old, ds, 1));
        MUST(ds, bouma_step_extend(ds, 1));
        put(ds, v[2], 4);
        put(ds, v[3], 5);
        MUST(ds, bouma_step_end(ds));
        CHECK_EQ(salt_of(old, "g", "b"), 3);
        CHECK_EQ(salt_of(old, "g", "c"), -1);
        MUST(ds, bouma_step_begin(ds, 2, 2));
        put(ds, v[0], 20);
        MUST(ds, bouma_step_end(ds));
        MUST(ds, bouma_step_extend(ds, 0));
        put(ds, v[2], 6);
        MUST(ds, bouma_step_end(ds));
        bouma_step_free(old);
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        CHECK_EQ(salt_in("d", 0, "g", "a"), 0);
        CHECK_EQ(salt_in("d", 0, "g", "c"), 6);
        CHECK_EQ(salt_in("d", 1, "g", "a"), 10);
        CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
        CHECK_EQ(salt_in("d", 1, "g", "c"), 4);
        CHECK_EQ(salt_in("d", 1, "h", "a"), 5);
        CHECK_EQ(salt_in("d", 2, "g", "a"), 20);
        CHECK_EQ(findings("d"), 0);
        REQUIRE(!remove_tree("d"));
    }
}

/* Between the begin of an extension and its end, another writes the step. */
static void a_step_that_changes_meanwhile_is_not_mixed(void)
{
    bouma_options o = options();
    bouma_variable *b;
    bouma_dataset *ds;

    make("d");
    shell("cp -r d other");
    CHECK_EQ(add("other", 1, "g", "c", 8), BOUMA_OK);
    MUST(ds, bouma_dataset_append(&ds, "d", &o));
    b = define(ds, "g", "b");
    MUST(ds, bouma_step_extend(ds, 1));
    put(ds, b, 3);
    shell("cp other/steps/00000001/* d/steps/00000001/");
    CHECK_EQ(bouma_step_end(ds), BOUMA_ESTATE);
    CHECK_TEXT(bouma_error_message(ds), "was written again since");
    MUST(ds, bouma_step_extend(ds, 1));
    put(ds, b, 3);
    shell("rm d/steps/00000001/manifest");
    CHECK_EQ(bouma_step_end(ds), BOUMA_ENOTFOUND);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    REQUIRE(!remove_tree("d") && !remove_tree("other"));
}

/* Another takes the dataset over, and writes the step again: nothing of the one
 * who extended the old version is in it. */
static void who_lost_the_dataset_adds_nothing(void)
{
    for (int async = 0; async < 2; async++) {
        bouma_options o = options();
        bouma_variable *a, *b;
        bouma_dataset *one, *two;

        make("d");
        o.async = async;
        MUST(one, bouma_dataset_append(&one, "d", &o));
        b = define(one, "g", "b");
        MUST(one, bouma_step_extend(one, 1));
        put(one, b, 3);
        if (async) /* it is stored, and committed by the next call */
            MUST(one, bouma_step_end(one));
        o.async = 0;
        o.replace = o.force = 1;
        MUST(two, bouma_dataset_append(&two, "d", &o));
        a = define(two, "g", "a");
        MUST(two, bouma_step_begin(two, 1, 1));
        put(two, a, 7);
        MUST(two, bouma_step_end(two));
        MUST(two, bouma_dataset_close(two));
        bouma_dataset_free(two);
        CHECK_EQ(async ? bouma_dataset_flush(one) : bouma_step_end(one),
                 BOUMA_EBUSY);
        bouma_dataset_close(one);
        bouma_dataset_free(one);
        CHECK_EQ(salt_in("d", 1, "g", "a"), 7);
        CHECK_EQ(salt_in("d", 1, "g", "b"), -1);
        REQUIRE(!remove_tree("d"));
    }
}

/* A step waits in a local copy, and the older one of the dataset is extended:
 * whoever drains it is told. */
static void a_step_that_was_not_drained_is_told(void)
{
    bouma_drain_report report = {.size = sizeof(report)};
    bouma_options o = options();
    bouma_variable *a;
    bouma_dataset *ds;
    char message[640];

    make("d");
    shell("cp -r d late");
    o.replace = 1;
    MUST(ds, bouma_dataset_append(&ds, "late", &o));
    a = define(ds, "g", "a");
    MUST(ds, bouma_step_begin(ds, 1, 1));
    put(ds, a, 7);
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    CHECK_EQ(add("d", 0, "g", "c", 2), BOUMA_OK); /* for a later epoch */
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    CHECK_EQ(
        bouma_drain(&report, "late", "d", 1, NULL, message, sizeof(message)),
        BOUMA_EEXISTS);
    CHECK_TEXT(message, "step 1 was extended there");
    CHECK_EQ(report.failed, 1);
    CHECK_EQ(salt_in("late", 1, "g", "a"), 7);
    CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
    REQUIRE(!remove_tree("d") && !remove_tree("late"));
}

static void an_extended_step_goes_as_a_whole(void)
{
    bouma_dataset *ds;

    for (int truncates = 0; truncates < 2; truncates++) {
        make("d");
        CHECK_EQ(add("d", 0, "g", "b", 3), BOUMA_OK);
        CHECK_EQ(add("d", 1, "g", "b", 4), BOUMA_OK);
        CHECK_EQ(add("d", 1, "g", "c", 5), BOUMA_OK);
        MUST(ds, bouma_dataset_append(&ds, "d", NULL));
        if (truncates)
            MUST(ds, bouma_dataset_truncate(ds, 0));
        else
            MUST(ds, bouma_step_delete(ds, 1));
        CHECK_EQ(bouma_dataset_step_count(ds), 1);
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        shell("test \"$(ls d/steps)\" = 00000000");
        CHECK_EQ(salt_in("d", 0, "g", "b"), 3);
        CHECK_EQ(findings("d"), 0);
        REQUIRE(!remove_tree("d"));
    }
}

static int repair(const char *path, uint64_t *hopeless)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640] = "";
    int rc = bouma_repair(&report, path, 1, NULL, NULL, NULL, message,
                          sizeof(message));

    if (rc)
        printf("%s\n", message);
    *hopeless = report.hopeless;
    return rc;
}

static int count_findings(const char *path, bouma_verify_report *report)
{
    char message[640];

    *report = (bouma_verify_report){.size = sizeof(*report)};
    return bouma_verify(report, path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                        message, sizeof(message));
}

/* The manifest of three writings is made again from the heads of all of them. */
static void a_lost_manifest_comes_back_with_all_writings(void)
{
    static const char *const damages[] = {
        "rm d/steps/00000001/manifest", "printf x >d/steps/00000001/manifest",
        "rm d/steps/00000001/manifest d/index"};
    bouma_verify_report report;
    uint64_t hopeless;

    for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
        make("d");
        CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
        CHECK_EQ(add("d", 1, "h", "c", 4), BOUMA_OK);
        shell(damages[i]);
        CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
        CHECK_EQ(salt_in("d", 1, "g", "a"), 10);
        CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
        CHECK_EQ(salt_in("d", 1, "h", "c"), 4);
        /* Attributes are on record as lost, nothing else. */
        CHECK_EQ(count_findings("d", &report), BOUMA_OK);
        CHECK_EQ(report.damages, i < 2);
        REQUIRE(!remove_tree("d"));
    }
    /* Of a step that is not whole, no part is taken for it. */
    make("d");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    shell("rm d/steps/00000001/manifest d/steps/00000001/d.0001.e1a2");
    CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
    CHECK(hopeless > 0);
    CHECK_EQ(salt_in("d", 1, "g", "b"), -1);
    REQUIRE(!remove_tree("d"));
}

/* A step that is there only because its deletion did not end. */
static void what_is_dropped_is_not_extended(void)
{
    bouma_dataset *ds;

    for (int extended = 0; extended < 2; extended++) {
        make("d");
        if (extended)
            CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
        shell("cp -r d/steps/00000001 k");
        MUST(ds, bouma_dataset_append(&ds, "d", NULL));
        MUST(ds, bouma_step_delete(ds, 1));
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        shell("mv k d/steps/00000001");
        CHECK_EQ(add("d", 1, "g", "c", 4), BOUMA_ESTATE);
        REQUIRE(!remove_tree("d"));
    }
}

/* Files of each writing are looked at, mended, and on record if they are lost,
 * by numbers that do not change. */
static void files_of_all_writings_are_mended(void)
{
    bouma_verify_report report;
    uint64_t hopeless;

    make("d");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    shell("cd d/steps/00000001; for f in d.*; do "
          "printf x | dd of=$f bs=1 seek=20 conv=notrunc 2>/dev/null; done");
    CHECK_EQ(count_findings("d", &report), BOUMA_OK);
    CHECK_EQ(report.damages, 4);
    CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
    CHECK_EQ(hopeless, 0);
    CHECK_EQ(count_findings("d", &report), BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(salt_in("d", 1, "g", "a"), 10);
    CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
    shell("cd d/steps/00000001; mkdir ../../k; mv d.0000.e1a2 ../../k");
    CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
    CHECK_EQ(hopeless, 1);
    CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
    CHECK_EQ(hopeless, 1);
    CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
    /* What is lost stays on record: nothing is added to such a step. */
    CHECK_EQ(add("d", 1, "g", "c", 3), BOUMA_ESTATE);
    shell("mv d/k/d.0000.e1a2 d/steps/00000001");
    CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
    CHECK_EQ(hopeless, 0);
    CHECK_EQ(count_findings("d", &report), BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(add("d", 1, "g", "c", 3), BOUMA_OK);
    REQUIRE(!remove_tree("d"));
}

static void count_files(void *user, const bouma_loss *loss)
{
    *(int64_t *)user += loss->files;
}

/* What is lost of an earlier writing is so, whoever can read the manifest. */
static void a_loss_is_not_over_without_a_manifest(void)
{
    uint64_t hopeless;

    make("d");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    shell("truncate -s 20 d/steps/00000001/d.0000.e1a2");
    CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
    for (int damaged = 0; damaged < 2; damaged++) {
        char message[640];
        int64_t files = 0;

        if (damaged)
            shell("printf x >d/steps/00000001/manifest");
        CHECK_EQ(bouma_losses("d", NULL, count_files, &files, message,
                              sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(files, 1);
    }
    REQUIRE(!remove_tree("d"));
}

/* What earlier writings have left goes, and what the step has stays. */
static void leftovers_of_extensions_are_cleared_up(void)
{
    uint64_t hopeless;

    make("d");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    shell("cp d/steps/00000001/d.0000.e2a1 k; cp d/steps/00000001/manifest m");
    CHECK_EQ(add("d", 1, "g", "c", 4), BOUMA_OK);
    shell("cp m d/steps/00000001/manifest.tmp.e2a1; "
          "mv k d/steps/00000001/d.0007.e2a1; rm m");
    CHECK_EQ(findings("d"), 1);
    CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
    CHECK_EQ(findings("d"), 0);
    CHECK_EQ(salt_in("d", 1, "g", "a"), 10);
    CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
    CHECK_EQ(salt_in("d", 1, "g", "c"), 4);
    REQUIRE(!remove_tree("d"));
}

/* A writer is killed that has written step 1 again and has not published it. */
static void leave_unpublished(const char *path)
{
    bouma_options o = options();
    pid_t child = fork();
    bouma_dataset *ds;
    int status;

    REQUIRE(child >= 0);
    if (!child) {
        o.replace = 1;
        o.durability = BOUMA_DURABILITY_GROUP;
        MUST(ds, bouma_dataset_append(&ds, path, &o));
        define(ds, "g", "a");
        MUST(ds, bouma_step_begin(ds, 1, 1));
        put(ds, define(ds, "g", "z"), 77);
        MUST(ds, bouma_step_end(ds));
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && !status);
}

/* An uncommitted writing between those of a step: an extension removes it, and
 * repair does not take it for the step. */
static void what_was_never_committed_is_not_the_step(void)
{
    static const char *const damages[] = {
        "printf x >d/steps/00000001/manifest", "rm d/steps/00000001/manifest",
        "printf x >d/steps/00000001/manifest; rm d/index",
        "rm d/steps/00000001/manifest d/index"};
    uint64_t hopeless;

    for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
        make("d");
        leave_unpublished("d");
        shell("mkdir k; cp d/steps/00000001/*.e2a1 k; "
              "test -e k/manifest.tmp.e2a1");
        CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
        CHECK_EQ(findings("d"), 0);
        shell("! ls d/steps/00000001/*.e2a1 2>/dev/null");
        shell("mv k/* d/steps/00000001; rmdir k");
        shell(damages[i]);
        CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
        CHECK_EQ(salt_in("d", 1, "g", "a"), 10);
        CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
        CHECK_EQ(salt_in("d", 1, "g", "z"), -1);
        REQUIRE(!remove_tree("d"));
    }
    /* If what was committed cannot be had, the step is lost, and is told so. */
    make("d");
    leave_unpublished("d");
    shell("mkdir k; cp d/steps/00000001/*.e2a1 k");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    shell("cd d/steps/00000001; mv ../../../k/* .; rmdir ../../../k; "
          "rm manifest d.0001.e3a1");
    CHECK_EQ(repair("d", &hopeless), BOUMA_OK);
    CHECK(hopeless > 0);
    CHECK_EQ(salt_in("d", 1, "g", "z"), -1);
    REQUIRE(!remove_tree("d"));
}

/* Local copies are not extended, and what they have does not come back over an
 * extension. */
static void local_copies_are_not_extended(void)
{
    bouma_drain_report report = {.size = sizeof(report)};
    bouma_options o = options();
    bouma_variable *a;
    bouma_dataset *ds;
    bouma_step *step;
    char message[640];

    shell("mkdir near");
    o.persist = 1;
    o.local = "near";
    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    a = define(ds, "g", "a");
    MUST(ds, bouma_step_begin(ds, 1, 1));
    put(ds, a, 10);
    MUST(ds, bouma_step_end(ds));
    CHECK_EQ(bouma_step_extend(ds, 1), BOUMA_ESTATE);
    CHECK_TEXT(bouma_error_message(ds), "'persist'");
    MUST(ds, bouma_dataset_clear_failures(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    CHECK_EQ(add("near/d", 1, "g", "b", 3), BOUMA_ESTATE);
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    CHECK_EQ(
        bouma_drain(&report, "near/d", "d", 1, NULL, message, sizeof(message)),
        BOUMA_OK);
    CHECK_EQ(report.published, 0);
    CHECK_EQ(report.older, 1);
    CHECK_EQ(report.removed, 0);
    CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
    /* Who reads with the local copy sees what was added, listed or not. */
    for (int listed = 0; listed < 2; listed++) {
        o.persist = 0;
        MUST(ds, bouma_dataset_open(&ds, "d", &o));
        if (listed)
            CHECK_EQ(bouma_dataset_step_count(ds), 1);
        MUST(ds, bouma_step_open(&step, ds, 1));
        CHECK_EQ(salt_of(step, "g", "a"), 10);
        CHECK_EQ(salt_of(step, "g", "b"), 3);
        bouma_step_free(step);
        bouma_dataset_free(ds);
    }
    REQUIRE(!remove_tree("d") && !remove_tree("near"));
}

/* A dataset is drained into another place with all writings, also over a version
 * that has only the first. */
static void extended_steps_are_drained(void)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char message[640];

    make("d");
    CHECK_EQ(bouma_drain(&report, "d", "t", 0, NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.published, 2);
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    CHECK_EQ(add("d", 1, "h", "c", 4), BOUMA_OK);
    /* What killed drains have left, of each writing. */
    shell("cd t/steps/00000001; for e in e1a2 e2a1 e3a1; do "
          "echo >copy.0000.00000007.$e; done");
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(
            bouma_drain(&report, "d", "t", 0, NULL, message, sizeof(message)),
            BOUMA_OK);
        CHECK_EQ(report.published, !again);
        CHECK_EQ(salt_in("t", 1, "g", "a"), 10);
        CHECK_EQ(salt_in("t", 1, "g", "b"), 3);
        CHECK_EQ(salt_in("t", 1, "h", "c"), 4);
        CHECK_EQ(findings("t"), 0);
    }
    shell("diff -r d/steps t/steps");
    CHECK_EQ(bouma_drain(&report, "d", "t", 1, NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.removed, 2);
    CHECK_EQ(findings("t"), 0);
    REQUIRE(!remove_tree("d") && !remove_tree("t"));
}

/* Of two copies, each was extended: neither is drained over the other, whichever
 * is later, and also if both count alike. */
static void steps_that_were_extended_apart_stay(void)
{
    for (int i = 0; i < 4; i++) {
        bouma_drain_report report = {.size = sizeof(report)};
        char message[640];

        make("d");
        shell("cp -r d t");
        if (i == 0) /* the source is later */
            CHECK_EQ(add("d", 0, "g", "x", 5), BOUMA_OK);
        else if (i == 1) /* the target is */
            CHECK_EQ(add("t", 0, "g", "x", 5), BOUMA_OK);
        CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
        CHECK_EQ(add("t", 1, "g", "c", 4), BOUMA_OK);
        if (i == 2) /* of the same epochs up to there */
            CHECK_EQ(add("d", 1, "g", "e", 6), BOUMA_OK);
        else if (i == 3)
            CHECK_EQ(add("t", 1, "g", "e", 6), BOUMA_OK);
        for (int back = 0; back < 2; back++) {
            CHECK_EQ(bouma_drain(&report, back ? "t" : "d", back ? "d" : "t", 0,
                                 NULL, message, sizeof(message)),
                     BOUMA_EEXISTS);
            CHECK_TEXT(message, "step 1 was extended");
            CHECK_EQ(salt_in("d", 1, "g", "b"), 3);
            CHECK_EQ(salt_in("t", 1, "g", "c"), 4);
            CHECK_EQ(salt_in("t", 1, "g", "b"), -1);
        }
        CHECK_EQ(findings("d"), 0);
        CHECK_EQ(findings("t"), 0);
        REQUIRE(!remove_tree("d") && !remove_tree("t"));
    }
}

/* Time and attributes stay, and can be added to. */
static void attributes_stay(void)
{
    bouma_options o = options();
    bouma_step_details details = {.size = sizeof(details)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;
    double x = 2.5, y = 0;

    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    v = define(ds, "g", "a");
    MUST(ds, bouma_step_begin(ds, 4, 0.5));
    MUST(ds, bouma_attributes_set_number(bouma_dataset_step_attributes(ds), "x",
                                         x));
    put(ds, v, 1);
    MUST(ds, bouma_step_end(ds));
    v = define(ds, "g", "b");
    MUST(ds, bouma_step_extend(ds, 4));
    MUST(ds, bouma_attributes_set_number(bouma_dataset_step_attributes(ds), "y",
                                         3));
    put(ds, v, 2);
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 4));
    MUST(ds, bouma_step_details_get(&details, step));
    CHECK(details.time == 0.5);
    MUST(ds, bouma_attributes_get_number(&y, bouma_step_attributes(step), "x"));
    CHECK(y == 2.5);
    MUST(ds, bouma_attributes_get_number(&y, bouma_step_attributes(step), "y"));
    CHECK(y == 3);
    bouma_step_free(step);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    REQUIRE(!remove_tree("d"));
}

static double number_of(bouma_grid *grid, const char *name)
{
    double x = NAN;

    return bouma_attributes_get_number(&x, bouma_grid_attributes(grid), name)
               ? NAN
               : x;
}

/* A grid has the attributes of all writings, and of each the last value; and a
 * variable is defined as it was added. */
static void a_grid_has_the_attributes_of_all_writings(void)
{
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = BOUMA_TYPE_F64,
                                .codec = BOUMA_CODEC_WAVELET,
                                .tolerance = 0.5,
                                .tolerance_kind = BOUMA_TOLERANCE_ABSOLUTE,
                                .unit = "K"};
    bouma_variable_info info = {.size = sizeof(info)};
    bouma_options o = options();
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_step *step;

    for (int extends = 0; extends < 2; extends++) {
        MUST(ds, extends ? bouma_dataset_append(&ds, "d", &o)
                         : bouma_dataset_create(&ds, "d", &o));
        v = define(ds, "g", extends ? "b" : "a");
        MUST(ds, bouma_dataset_find_grid(&grid, ds, "g"));
        if (!extends)
            MUST(ds, bouma_variable_define(&v, grid, "b", &spec));
        v = bouma_grid_find_variable(grid, extends ? "b" : "a");
        MUST(ds, bouma_attributes_set_number(bouma_grid_attributes(grid),
                                             extends ? "new" : "old", extends));
        MUST(ds, bouma_attributes_set_number(bouma_grid_attributes(grid),
                                             "both", extends));
        MUST(ds,
             extends ? bouma_step_extend(ds, 1) : bouma_step_begin(ds, 1, 0));
        put(ds, v, 1);
        MUST(ds, bouma_step_end(ds));
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
    }
    MUST(ds, bouma_dataset_append(&ds, "d", &o));
    MUST(ds, bouma_step_open(&step, ds, 1));
    MUST(ds, bouma_define_like(ds, 1));
    for (int defined = 0; defined < 2; defined++) {
        grid = bouma_step_find_grid(step, "g");
        if (defined)
            MUST(ds, bouma_dataset_find_grid(&grid, ds, "g"));
        CHECK_EQ(bouma_attributes_count(bouma_grid_attributes(grid)), 3);
        CHECK(number_of(grid, "old") == 0);
        CHECK(number_of(grid, "new") == 1);
        CHECK(number_of(grid, "both") == 1);
        MUST(ds, bouma_variable_info_get(&info,
                                         bouma_grid_find_variable(grid, "b")));
        CHECK(info.codec != BOUMA_CODEC_WAVELET);
        CHECK(info.tolerance == 0);
        CHECK(!strcmp(info.unit, ""));
    }
    /* Those of a step cannot be changed. */
    grid = bouma_step_find_grid(step, "g");
    CHECK_EQ(bouma_attributes_set_number(bouma_grid_attributes(grid), "x", 1),
             BOUMA_ESTATE);
    bouma_step_free(step);
    bouma_dataset_clear_failures(ds);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    REQUIRE(!remove_tree("d"));
}

/* Definitions of a step are those of all its writings. */
static void definitions_have_what_was_added(void)
{
    bouma_dataset *ds;
    bouma_grid *grid;

    make("d");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    CHECK_EQ(add("d", 1, "h", "c", 4), BOUMA_OK);
    MUST(ds, bouma_dataset_append(&ds, "d", NULL));
    MUST(ds, bouma_define_like(ds, -1));
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "g"), BOUMA_OK);
    CHECK(bouma_grid_find_variable(grid, "b") != NULL);
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "h"), BOUMA_OK);
    CHECK(bouma_grid_find_variable(grid, "c") != NULL);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    REQUIRE(!remove_tree("d"));
}

/* Whatever memory is missing: the step with all that was added, or a failure. */
static void without_memory_nothing_is_missing(void)
{
    int failures = 0;

    make("d");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    CHECK_EQ(add("d", 1, "h", "c", 4), BOUMA_OK);
    for (long at = 1;; at++) {
        struct fault_alloc memory;
        bouma_options o = options();
        bouma_dataset *ds;
        bouma_step *step;
        int rc;

        fault_alloc_init(&memory);
        o.allocator = &memory.table;
        MUST(ds, bouma_dataset_open(&ds, "d", &o));
        fault_alloc_arm(&memory, at, 0);
        rc = bouma_step_open(&step, ds, 1);
        fault_alloc_disarm(&memory);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        if (!rc) {
            CHECK_EQ(salt_of(step, "g", "b"), 3);
            CHECK_EQ(salt_of(step, "h", "c"), 4);
        }
        failures += rc != BOUMA_OK;
        /* In any order. */
        if (at % 2)
            bouma_dataset_free(ds);
        bouma_step_free(step);
        if (at % 2 == 0)
            bouma_dataset_free(ds);
        CHECK_EQ(memory.live, 0);
        if (!memory.fired)
            break;
    }
    CHECK(failures > 50);
    REQUIRE(!remove_tree("d"));
}

/* What is kept of a writing keeps the step. */
static void a_refinement_outlives_its_step(void)
{
    bouma_refinement *r;
    bouma_dataset *ds;
    bouma_step *step;

    make("d");
    CHECK_EQ(add("d", 1, "g", "b", 3), BOUMA_OK);
    MUST(ds, bouma_dataset_open(&ds, "d", NULL));
    MUST(ds, bouma_step_open(&step, ds, 1));
    MUST(ds,
         bouma_refinement_open(
             &r, bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "b"),
             1, NULL));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_refinement_next(r), BOUMA_OK);
    bouma_refinement_free(r);
    REQUIRE(!remove_tree("d"));
}

int main(void)
{
    char dir[] = "/tmp/test_extension.XXXXXX";

    REQUIRE(mkdtemp(dir) && !chdir(dir));
    added_variables_are_those_of_the_step();
    all_of_a_step_is_read_at_once();
    what_cannot_be_added_is_refused();
    particles_are_added_as_a_set();
    a_step_that_is_written_again_is_new();
    extensions_wait_for_what_is_pending();
    a_step_that_changes_meanwhile_is_not_mixed();
    who_lost_the_dataset_adds_nothing();
    a_step_that_was_not_drained_is_told();
    an_extended_step_goes_as_a_whole();
    a_lost_manifest_comes_back_with_all_writings();
    what_is_dropped_is_not_extended();
    files_of_all_writings_are_mended();
    a_loss_is_not_over_without_a_manifest();
    leftovers_of_extensions_are_cleared_up();
    what_was_never_committed_is_not_the_step();
    local_copies_are_not_extended();
    extended_steps_are_drained();
    steps_that_were_extended_apart_stay();
    attributes_stay();
    a_grid_has_the_attributes_of_all_writings();
    definitions_have_what_was_added();
    without_memory_nothing_is_missing();
    a_refinement_outlives_its_step();
    REQUIRE(!chdir("/") && !rmdir(dir));
    return check_result();
}
