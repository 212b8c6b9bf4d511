/* A box of a variable in many steps, in one call: what each step has, read by
 * itself; and whatever is odd about a step is found, and named. */
#include <math.h>
#include <unistd.h>

#include "arrays.h"
#include "check.h"
#include "files.h"
#include "must.h"

enum { ROWS = 20, COLUMNS = 24, SAMPLES = ROWS * COLUMNS, STEPS = 100 };

/* ---- datasets -------------------------------------------------------------- */

struct kind {
    const char *name;
    bouma_layout layout;
    bouma_codec codec;
    double tolerance;
    bouma_tolerance tolerance_kind;
    int hz_wavelet, components, files;
};

static const struct kind raw = {.name = "raw", .codec = BOUMA_CODEC_RAW};

static bouma_options options_of(const struct kind *k)
{
    bouma_options o = {.size = sizeof(o),
                       .durability = BOUMA_DURABILITY_FAST,
                       .replace = 1,
                       .files = k->files};

    return o;
}

static bouma_variable *define(bouma_dataset *ds, const struct kind *k,
                              const char *name, int columns)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {ROWS, columns},
                         .layout = k->layout,
                         .hz_block_bits = k->layout ? 5 : 0,
                         .hz_wavelet = k->hz_wavelet};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = BOUMA_TYPE_F32,
                                .codec = k->codec,
                                .components = k->components,
                                .tolerance = k->tolerance,
                                .tolerance_kind = k->tolerance_kind};
    bouma_variable *v;
    bouma_grid *grid;

    if (!k->layout)
        g.patch[0] = g.patch[1] = 8;
    if (!k->layout)
        g.levels = 3;
    if (bouma_dataset_find_grid(&grid, ds, "plate"))
        MUST(ds, bouma_grid_define(&grid, ds, "plate", &g));
    MUST(ds, bouma_variable_define(&v, grid, name, &spec));
    return v;
}

static void put_step(bouma_dataset *ds, bouma_variable *v, int64_t step,
                     int salt)
{
    static float data[SAMPLES * 8];
    uint64_t state = (uint64_t)(step * 1000 + salt);

    for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++)
        data[i] = (float)(sin(0.01 * (double)i + (double)step) + salt) +
                  (float)check_below(&state, 1000) * 1e-3f;
    MUST(ds, bouma_step_begin(ds, step, 0.5 * (double)step));
    MUST(ds, test_put_copy(v, NULL, data));
    MUST(ds, bouma_step_end(ds));
}

/* Steps 0, 3, 6, ... */
static void make(const char *path, const struct kind *k)
{
    bouma_options o = options_of(k);
    bouma_dataset *ds = NULL;
    bouma_variable *v;

    MUST(ds, bouma_dataset_create(&ds, path, &o));
    v = define(ds, k, "heat", COLUMNS);
    for (int64_t i = 0; i < STEPS; i++)
        put_step(ds, v, 3 * i, 0);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* ---- readers --------------------------------------------------------------- */

struct reader {
    bouma_dataset *ds;
    bouma_step *step; /* the first */
    bouma_variable *heat;
};

static struct reader visit(const char *path, int threads)
{
    bouma_options o = {.size = sizeof(o), .threads = threads};
    struct reader r = {NULL, NULL, NULL};

    MUST(r.ds, bouma_dataset_open(&r.ds, path, &o));
    MUST(r.ds, bouma_step_open(&r.step, r.ds, 0));
    r.heat =
        bouma_grid_find_variable(bouma_step_find_grid(r.step, "plate"), "heat");
    REQUIRE(r.heat);
    return r;
}

static void leave(struct reader *r)
{
    bouma_step_free(r->step);
    bouma_dataset_free(r->ds);
}

static void all_steps(int64_t steps[STEPS])
{
    for (int64_t i = 0; i < STEPS; i++)
        steps[i] = 3 * i;
}

/* One sample of these steps. */
static int read_point(struct reader *r, const int64_t *steps, size_t count,
                      float *values, size_t *done)
{
    bouma_box point = {{13, 9}, {14, 10}};
    bouma_array array =
        BOUMA_ARRAY(BOUMA_TYPE_F32, values, count * sizeof(*values));
    bouma_series s = {.size = sizeof(s),
                      .steps = steps,
                      .step_count = count,
                      .box = &point,
                      .array = &array};

    return bouma_variable_read_series(done, r->heat, &s);
}

/* The same by opening the step. */
static int read_alone(struct reader *r, int64_t number, int level,
                      const bouma_box *box, float *out)
{
    bouma_step *step;
    int rc = bouma_step_open(&step, r->ds, number);

    if (!rc)
        rc = test_read(bouma_grid_find_variable(
                           bouma_step_find_grid(step, "plate"), "heat"),
                       level, box, out);
    bouma_step_free(step);
    return rc;
}

static float point_of(struct reader *r, int64_t number)
{
    bouma_box point = {{13, 9}, {14, 10}};
    float value = -1;

    MUST(r->ds, read_alone(r, number, 0, &point, &value));
    return value;
}

/* ---- files ------------------------------------------------------------------ */

/* The subfile of step 3 i, as make() writes it. */
static void name_file(char name[200], const char *path, int64_t i)
{
    snprintf(name, 200, "%s/steps/%08d/d.0000.e1a%d", path, (int)(3 * i),
             (int)i + 1);
    REQUIRE(!access(name, R_OK));
}

static long size_of(FILE *f)
{
    REQUIRE(!fseek(f, 0, SEEK_END));
    return ftell(f);
}

/* Change some bytes from 'offset' on; if that is negative, from the end. */
static void hurt(const char *name, long offset, long bytes)
{
    FILE *f = fopen(name, "r+b");

    REQUIRE(f);
    offset = offset < 0 ? size_of(f) + offset : offset;
    for (long i = offset; i < offset + bytes; i++) {
        int c;

        REQUIRE(!fseek(f, i, SEEK_SET));
        c = fgetc(f) ^ 0x55;
        REQUIRE(!fseek(f, i, SEEK_SET) && fputc(c, f) == c);
    }
    REQUIRE(!fclose(f));
}

static void copy_file(const char *from, const char *to)
{
    static char data[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n;

    REQUIRE(in && out);
    n = fread(data, 1, sizeof(data), in);
    REQUIRE(n < sizeof(data) && fwrite(data, 1, n, out) == n);
    REQUIRE(!fclose(in) && !fclose(out));
}

/* ---- claims ---------------------------------------------------------------- */

static bouma_box random_box(uint64_t *state)
{
    bouma_box box = {.lo = {0}, .hi = {0}};
    const int64_t shape[2] = {ROWS, COLUMNS};

    for (int d = 0; d < 2; d++) {
        box.lo[d] = check_below(state, shape[d]);
        box.hi[d] = box.lo[d] + 1 + check_below(state, shape[d] - box.lo[d]);
    }
    return box;
}

static void compare(struct reader *r, uint64_t *state, int components)
{
    static float all[STEPS * SAMPLES * 2], one[SAMPLES * 2];
    int level = (int)check_below(state, 3);
    bouma_box box = random_box(state);
    bouma_selection what = {.size = sizeof(what)};
    size_t count = 1 + (size_t)check_below(state, STEPS), done = 0, gap, values;
    int64_t steps[STEPS];
    bouma_array array;
    bouma_series s = {.size = sizeof(s),
                      .steps = steps,
                      .step_count = count,
                      .level = level,
                      .box = &box,
                      .array = &array};

    MUST(r->ds, bouma_variable_select(&what, r->heat, level, &box));
    values = (size_t)(what.shape[0] * what.shape[1] * components);
    gap = SAMPLES * 2 - values; /* at most so many */
    gap = gap ? (size_t)check_below(state, (int64_t)gap) : 0;
    for (size_t i = 0; i < count; i++)
        steps[i] = 3 * check_below(state, STEPS); /* in any order */
    array = BOUMA_ARRAY(BOUMA_TYPE_F32, all, sizeof(all));
    s.step_stride = gap ? (int64_t)((values + gap) * sizeof(float)) : 0;
    MUST(r->ds, bouma_variable_read_series(&done, r->heat, &s));
    CHECK_EQ(done, count);
    for (size_t i = 0; i < count && values; i++) {
        MUST(r->ds, read_alone(r, steps[i], level, &box, one));
        CHECK(!memcmp(one, all + i * (values + gap), values * sizeof(*one)));
    }
}

static void a_series_is_what_each_step_has(void)
{
    static const struct kind kinds[] = {
        {.name = "raw2", .codec = BOUMA_CODEC_RAW, .components = 2},
        {.name = "zstd", .codec = BOUMA_CODEC_ZSTD, .files = 3},
        {.name = "interp", .codec = BOUMA_CODEC_INTERP, .tolerance = 1e-2},
        {.name = "relative",
         .codec = BOUMA_CODEC_INTERP,
         .tolerance = 1e-3,
         .tolerance_kind = BOUMA_TOLERANCE_RELATIVE},
        {.name = "wavelet", .codec = BOUMA_CODEC_WAVELET, .tolerance = 1e-2},
        {.name = "hz", .layout = BOUMA_LAYOUT_HZ, .codec = BOUMA_CODEC_RAW},
        {.name = "hz_wavelet",
         .layout = BOUMA_LAYOUT_HZ,
         .codec = BOUMA_CODEC_ZSTD,
         .hz_wavelet = 1},
    };
    uint64_t state = 11;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        int components = kinds[i].components ? kinds[i].components : 1;

        make(kinds[i].name, &kinds[i]);
        for (int threads = 1; threads <= 3; threads += 2) {
            struct reader r = visit(kinds[i].name, threads);

            for (int k = 0; k < 6; k++)
                compare(&r, &state, components);
            leave(&r);
        }
    }
}

static uint64_t opened(const struct reader *r)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    MUST(r->ds, bouma_dataset_info_get(&info, r->ds));
    return info.files_opened;
}

/* And not its manifest. A thread opens DATASET and the first of its steps. */
static void of_most_steps_one_file_is_opened(void)
{
    int64_t steps[STEPS];
    float values[STEPS];
    size_t done;

    make("one_file", &raw);
    all_steps(steps);
    for (int threads = 1; threads <= 3; threads++) {
        struct reader r = visit("one_file", threads);
        uint64_t before;

        CHECK_EQ(bouma_dataset_step_count(r.ds), STEPS);
        before = opened(&r);
        MUST(r.ds, read_point(&r, steps, STEPS, values, &done));
        CHECK(opened(&r) - before >= STEPS + 1);
        CHECK(opened(&r) - before <= STEPS + (uint64_t)(2 * threads));
        leave(&r);
    }
}

static void a_step_that_differs_is_named(void)
{
    static const struct kind wide = {.name = "wide", .codec = BOUMA_CODEC_RAW};
    bouma_options o = options_of(&wide);
    bouma_dataset *ds = NULL;
    int64_t steps[STEPS];
    float values[STEPS];
    struct reader r;
    size_t done;

    make("differs", &raw);
    MUST(ds, bouma_dataset_append(&ds, "differs", &o));
    put_step(ds, define(ds, &wide, "heat", COLUMNS + 8), 3 * 60, 0);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    ds = NULL;
    MUST(ds, bouma_dataset_append(&ds, "differs", &o));
    put_step(ds, define(ds, &raw, "cold", COLUMNS), 3 * 70, 0);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);

    all_steps(steps);
    for (int threads = 1; threads <= 3; threads += 2) {
        r = visit("differs", threads);
        CHECK_EQ(read_point(&r, steps, STEPS, values, &done), BOUMA_EMISMATCH);
        CHECK_EQ(done, 60);
        CHECK_TEXT(bouma_error_message(r.ds), "in step 180");
        CHECK(values[59] == point_of(&r, 3 * 59));
        CHECK_EQ(read_point(&r, steps + 61, STEPS - 61, values, &done),
                 BOUMA_ENOTFOUND);
        CHECK_EQ(done, 70 - 61);
        CHECK_TEXT(bouma_error_message(r.ds), "step 210");
        MUST(r.ds, read_point(&r, steps + 71, STEPS - 71, values, &done));
        CHECK_EQ(done, STEPS - 71);
        steps[20] = 61; /* there is none */
        CHECK_EQ(read_point(&r, steps, STEPS, values, &done), BOUMA_ENOTFOUND);
        CHECK_EQ(done, 20);
        CHECK_TEXT(bouma_error_message(r.ds), "step 61");
        steps[20] = 60;
        leave(&r);
    }
}

static void damage_is_found_and_named(void)
{
    int64_t steps[STEPS];
    float values[STEPS], right;
    char name[200], other[200];
    struct reader r;
    size_t done;

    make("damaged", &raw);
    all_steps(steps);
    r = visit("damaged", 1);
    right = point_of(&r, 3 * 40);

    /* The first head: the other one serves. The manifest: it is not needed,
     * except of the step with which a thread begins. */
    name_file(name, "damaged", 40);
    hurt(name, 200, 1);
    snprintf(name, sizeof(name), "damaged/steps/%08d/manifest", 3 * 41);
    hurt(name, 100, 1);
    MUST(r.ds, read_point(&r, steps, STEPS, values, &done));
    CHECK(values[40] == right);
    leave(&r);

    /* All of the data. */
    snprintf(name, sizeof(name), "damaged/steps/%08d/manifest", 3 * 41);
    hurt(name, 100, 1); /* it is whole again */
    r = visit("damaged", 2);
    name_file(name, "damaged", 50);
    hurt(name, 1000, 800);
    CHECK_EQ(read_point(&r, steps, STEPS, values, &done), BOUMA_EFORMAT);
    CHECK_EQ(done, 50);
    CHECK_TEXT(bouma_error_message(r.ds), "step 150");

    /* The file of another step, as whole as that is. */
    name_file(name, "damaged", 55);
    name_file(other, "damaged", 56);
    copy_file(name, other);
    CHECK_EQ(read_point(&r, steps + 51, STEPS - 51, values, &done),
             BOUMA_EFORMAT);
    CHECK_EQ(done, 56 - 51);
    CHECK_TEXT(bouma_error_message(r.ds), "00000168");

    /* It is gone. */
    name_file(name, "damaged", 58);
    REQUIRE(!remove(name));
    CHECK_EQ(read_point(&r, steps + 57, STEPS - 57, values, &done),
             BOUMA_EFORMAT);
    CHECK_EQ(done, 1);
    CHECK_TEXT(bouma_error_message(r.ds), "00000174");
    leave(&r);
}

static void what_others_do_meanwhile_is_seen(void)
{
    bouma_options o = options_of(&raw);
    bouma_dataset *ds = NULL;
    int64_t steps[STEPS];
    float values[STEPS], before[STEPS];
    bouma_variable *v;
    struct reader r;
    size_t done;

    make("changed", &raw);
    all_steps(steps);
    r = visit("changed", 1);
    MUST(r.ds, read_point(&r, steps, STEPS, before, &done));

    MUST(ds, bouma_dataset_append(&ds, "changed", &o));
    v = define(ds, &raw, "heat", COLUMNS);
    put_step(ds, v, 3 * 10, 7);
    define(ds, &raw, "more", COLUMNS);
    MUST(ds, bouma_step_extend(ds, 3 * 20));
    {
        static float more[SAMPLES];
        bouma_grid *grid;

        MUST(ds, bouma_dataset_find_grid(&grid, ds, "plate"));
        MUST(ds,
             test_put_copy(bouma_grid_find_variable(grid, "more"), NULL, more));
    }
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_delete(ds, 3 * 30));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);

    for (int again = 0; again < 2; again++) { /* then with a new list */
        CHECK_EQ(read_point(&r, steps, STEPS, values, &done),
                 again ? BOUMA_ENOTFOUND : BOUMA_EFORMAT);
        CHECK_EQ(done, 30);
        CHECK_TEXT(bouma_error_message(r.ds), again ? "step 90" : "00000090");
        for (int i = 0; i < 30; i++)
            CHECK((values[i] == before[i]) == (i != 10));
        CHECK(values[10] > 5);
        MUST(r.ds, read_point(&r, steps + 31, STEPS - 31, values, &done));
        CHECK(!memcmp(values, before + 31, (STEPS - 31) * sizeof(*values)));
        MUST(r.ds, bouma_dataset_refresh(r.ds));
    }
    leave(&r);
}

static void arguments_are_checked(void)
{
    struct reader r;
    int64_t steps[3] = {0, 3, 6};
    float values[30];
    bouma_box line = {{2, 3}, {3, 8}}, none = {{2, 3}, {2, 8}};
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, values, sizeof(values));
    bouma_series s = {.size = sizeof(s),
                      .steps = steps,
                      .step_count = 3,
                      .box = &line,
                      .array = &array};
    size_t done = 9;

    make("arguments", &raw);
    r = visit("arguments", 1);
    CHECK_EQ(bouma_variable_read_series(&done, NULL, &s), BOUMA_EINVAL);
    CHECK_EQ(done, 0);
    CHECK_EQ(bouma_variable_read_series(NULL, r.heat, NULL), BOUMA_EINVAL);
    MUST(r.ds, bouma_variable_read_series(NULL, r.heat, &s));
    array.bytes = 15 * sizeof(float);
    MUST(r.ds, bouma_variable_read_series(&done, r.heat, &s));
    CHECK_EQ(done, 3);
    array.bytes--;
    CHECK_EQ(bouma_variable_read_series(&done, r.heat, &s), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(r.ds), "the last step");
    array.bytes = sizeof(values);
    s.step_stride = 4 * sizeof(float);
    CHECK_EQ(bouma_variable_read_series(&done, r.heat, &s), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(r.ds), "16 bytes apart");
    s.step_stride = -20 * (int64_t)sizeof(float);
    CHECK_EQ(bouma_variable_read_series(&done, r.heat, &s), BOUMA_EINVAL);
    s.step_stride = 0;
    s.steps = NULL;
    CHECK_EQ(bouma_variable_read_series(&done, r.heat, &s), BOUMA_EINVAL);
    s.step_count = 0;
    MUST(r.ds, bouma_variable_read_series(&done, r.heat, &s));
    s.steps = steps;
    s.step_count = 3;
    s.box = &none;
    MUST(r.ds, bouma_variable_read_series(&done, r.heat, &s));
    CHECK_EQ(done, 3);
    leave(&r);
}

int main(void)
{
    char dir[] = "/tmp/test_series.XXXXXX";

    REQUIRE(mkdtemp(dir) && !chdir(dir));
    a_series_is_what_each_step_has();
    of_most_steps_one_file_is_opened();
    a_step_that_differs_is_named();
    damage_is_found_and_named();
    what_others_do_meanwhile_is_seen();
    arguments_are_checked();
    REQUIRE(!chdir("/") && !remove_tree(dir));
    return check_result();
}
