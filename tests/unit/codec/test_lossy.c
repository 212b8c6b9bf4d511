/* Variables with a tolerance, through the library: whatever is asked for is
 * within the bound, on any number of threads; what happened is recorded;
 * queries patch by patch give what reads give, and leave out only what they
 * may. */
#include <math.h>

#include "arrays.h"
#include "bouma.h"
#include "bouma_store.h"
#include "check.h"
#include "fault_alloc.h"
#include "sized.h"

static bouma_io *io;

enum { N0 = 37, N1 = 45, N2 = 50, SAMPLES = N0 * N1 * N2, COMPONENTS = 2 };
static float scalar[SAMPLES], constant[SAMPLES];
static double vector[SAMPLES * COMPONENTS];

static bouma_options options(int threads)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    o.threads = threads;
    return o;
}

static void fill(int step)
{
    uint64_t random = (uint64_t)step;

    for (int i = 0; i < SAMPLES; i++) {
        double z = i / (N1 * N2), y = i / N2 % N1, x = i % N2;
        double blob = exp(-((z - 20) * (z - 20) + (y - 9) * (y - 9) +
                            (x - 30 - step) * (x - 30 - step)) /
                          30);

        scalar[i] = (float)(100 * blob);
        constant[i] = 2.5f;
        vector[2 * i] = sin(0.1 * x) + 0.01 * y;
        vector[2 * i + 1] = (double)check_below(&random, 1000) * 1e-3;
    }
    vector[77] = NAN;
    vector[5001] = -INFINITY;
}

static void write_steps(const char *name, bouma_order order)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 3,
                         .shape = {N0, N1, N2},
                         .patch = {16, 16, 16}};
    bouma_variable_spec s = {.size = sizeof(s),
                             .type = BOUMA_TYPE_F32,
                             .tolerance = 1e-3,
                             .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_options o = options(1);
    bouma_variable *a, *b, *c, *exact;
    bouma_dataset *ds;
    bouma_grid *grid;

    o.order = order;
    o.files = 1;
    CHECK_EQ(bouma_dataset_create(&ds, name, &o), BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&grid, ds, "g", &g), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&a, grid, "scalar", &s), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&b, grid, "constant", &s), BOUMA_OK);
    s.type = BOUMA_TYPE_F64;
    s.components = COMPONENTS;
    s.tolerance = 0.01;
    s.tolerance_kind = BOUMA_TOLERANCE_ABSOLUTE;
    CHECK_EQ(bouma_variable_define(&c, grid, "vector", &s), BOUMA_OK);
    s.tolerance = 0;
    CHECK_EQ(bouma_variable_define(&exact, grid, "keeps every bit", &s),
             BOUMA_OK);
    for (int step = 0; step < 3; step++) {
        fill(step);
        CHECK_EQ(bouma_step_begin(ds, step, step), BOUMA_OK);
        CHECK_EQ(test_put(a, NULL, scalar), BOUMA_OK);
        CHECK_EQ(test_put(b, NULL, constant), BOUMA_OK);
        if (step != 1) /* absent there */
            CHECK_EQ(test_put(c, NULL, vector), BOUMA_OK);
        CHECK_EQ(test_put(exact, NULL, vector), BOUMA_OK);
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* ---- reading ------------------------------------------------------------ */

static double original(const char *name, int64_t sample, int component)
{
    if (!strcmp(name, "scalar"))
        return (double)scalar[sample];
    if (!strcmp(name, "constant"))
        return (double)constant[sample];
    return vector[COMPONENTS * sample + component];
}

static double stored(const void *data, bouma_type type, size_t i)
{
    return type == BOUMA_TYPE_F32 ? (double)((const float *)data)[i]
                                  : ((const double *)data)[i];
}

/* The number of values of a selection that are beyond the bound. */
static int misses(const char *name, const bouma_variable_info *about,
                  const bouma_selection *s, int level, const void *data)
{
    int bad = 0;
    size_t n = 0;

    for (int64_t z = 0; z < s->shape[0]; z++)
        for (int64_t y = 0; y < s->shape[1]; y++)
            for (int64_t x = 0; x < s->shape[2]; x++)
                for (int c = 0; c < about->components; c++, n++) {
                    int64_t at = ((s->first[0] + (z << level)) * N1 +
                                  s->first[1] + (y << level)) *
                                     N2 +
                                 s->first[2] + (x << level);
                    double was = original(name, at, c);
                    double is = stored(data, about->type, n);

                    if (isnan(was) || isinf(was))
                        bad += isnan(was) ? !isnan(is) : is != was;
                    else
                        bad += !(fabs(is - was) <= about->bound);
                }
    return bad;
}

static void every_read_is_within_the_bound(void)
{
    static const char *const names[] = {"scalar", "constant", "vector",
                                        "keeps every bit"};
    uint64_t random = 5;
    void *data = malloc(sizeof(vector));

    REQUIRE(data);
    for (int i = 0; i < 120; i++) {
        bouma_options o = options(1 + i % 4);
        int number = i % 3, level = i / 4 % 3;
        const char *name = names[i % 4];
        bouma_variable_info about = {.size = sizeof(about)};
        bouma_variable *v;
        bouma_selection s = {.size = sizeof(s)};
        bouma_dataset *ds;
        bouma_step *step;
        bouma_box box;

        fill(number);
        CHECK_EQ(bouma_dataset_open(&ds, i & 1 ? "level" : "chunk", &o),
                 BOUMA_OK);
        CHECK_EQ(bouma_step_open(&step, ds, number), BOUMA_OK);
        v = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), name);
        REQUIRE(v);
        bouma_variable_info_get(&about, v);
        CHECK_EQ(about.present, strcmp(name, "vector") || number != 1);
        for (int d = 0; d < 3; d++) {
            int64_t n = d == 0 ? N0 : d == 1 ? N1 : N2;

            box.lo[d] = check_below(&random, n);
            box.hi[d] = box.lo[d] + 1 + check_below(&random, n - box.lo[d]);
        }
        if (about.present) {
            CHECK_EQ(bouma_variable_select(&s, v, level, &box), BOUMA_OK);
            CHECK_EQ(test_read(v, level, &box, data), BOUMA_OK);
            CHECK_EQ(misses(name, &about, &s, level, data), 0);
        }
        bouma_step_free(step);
        bouma_dataset_free(ds);
    }
    free(data);
}

static void refinement_reads_each_byte_once(void)
{
    bouma_options o = options(2);
    bouma_dataset_info before = {.size = sizeof(before)},
                       after = {.size = sizeof(after)};
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_refinement *r;
    bouma_selection s = {.size = sizeof(s)};
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_step *step;
    uint64_t all = 0;
    int level = 9;

    fill(0);
    CHECK_EQ(bouma_dataset_open(&ds, "level", &o), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    v = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "scalar");
    bouma_variable_info_get(&about, v);
    CHECK_EQ(bouma_refinement_open(&r, v, 2, NULL), BOUMA_OK);
    bouma_dataset_info_get(&before, ds);
    do {
        const void *data = NULL;

        CHECK_EQ(bouma_refinement_get(&data, &s, &level, r), BOUMA_OK);
        CHECK_EQ(misses("scalar", &about, &s, level, data), 0);
    } while (!bouma_refinement_next(r));
    CHECK_EQ(level, 0);
    bouma_dataset_info_get(&after, ds);
    for (int k = 0; k < 2; k++)
        all += bouma_variable_level_bytes(v, k);
    CHECK(after.bytes_read - before.bytes_read <= all + 4096);
    CHECK(after.bytes_read - before.bytes_read >= all);
    bouma_refinement_free(r);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void what_was_lost_is_recorded(void)
{
    bouma_options o = options(1);
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_step *step;
    bouma_grid *grid;
    float *data = malloc(sizeof(scalar));
    double largest = 0, squares = 0, top = 0;
    uint64_t all = 0;

    REQUIRE(data);
    fill(2);
    CHECK_EQ(bouma_dataset_open(&ds, "chunk", &o), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 2), BOUMA_OK);
    grid = bouma_step_find_grid(step, "g");
    v = bouma_grid_find_variable(grid, "scalar");
    bouma_variable_info_get(&about, v);
    CHECK_EQ(about.codec, BOUMA_CODEC_INTERP);
    CHECK(about.tolerance == 1e-3);
    CHECK_EQ(about.tolerance_kind, BOUMA_TOLERANCE_RELATIVE);
    CHECK_EQ(test_read(v, 0, NULL, data), BOUMA_OK);
    for (int i = 0; i < SAMPLES; i++) {
        double e = fabs((double)data[i] - (double)scalar[i]);

        largest = fmax(largest, e);
        squares += e * e;
        top = fmax(top, (double)scalar[i]);
    }
    CHECK(fabs(about.bound - 1e-3 * top) < 1e-6);
    CHECK(largest > 0 && largest <= about.bound);
    CHECK(fabs(about.largest_error - largest) <= 1e-6 * largest);
    CHECK(fabs(about.psnr - (20 * log10(top) - 10 * log10(squares / SAMPLES))) <
          0.01);
    for (int k = 0; k < 9; k++)
        all += bouma_variable_level_bytes(v, k);
    CHECK_EQ(all, about.stored_bytes);
    CHECK(about.stored_bytes < about.raw_bytes / 10);
    bouma_variable_info_get(&about, bouma_grid_find_variable(grid, "constant"));
    CHECK(about.bound == 0 && about.largest_error == 0 && isinf(about.psnr));
    bouma_variable_info_get(&about, bouma_grid_find_variable(grid, "vector"));
    CHECK(about.largest_error > 0 && isnan(about.psnr)); /* it has -inf */
    bouma_variable_info_get(&about,
                            bouma_grid_find_variable(grid, "keeps every bit"));
    CHECK_EQ(about.codec, BOUMA_CODEC_ZSTD);
    CHECK(about.bound == 0 && about.largest_error == 0);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    free(data);
}

static void verify_decodes_everything(void)
{
    bouma_options o = options(1);
    bouma_verify_report report = {.size = sizeof(report)};
    char message[256];

    CHECK_EQ(bouma_verify(&report, "chunk", BOUMA_DEPTH_DEEP, &o, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK(report.chunks > 100);
}

/* ---- queries ------------------------------------------------------------ */

struct asking {
    const char *name;
    bouma_variable *variable;
    bouma_variable_info about;
    uint64_t random;
    double low, high;
    uint8_t seen[SAMPLES]; /* samples of level 0 that were handed over */
    int64_t levels[8];     /* how often each was chosen */
    int64_t handed, stop;
};

static int choose(void *user, const bouma_patch_info *patch)
{
    struct asking *a = user;
    int level = (int)check_below(&a->random, patch->levels + 1) - 1;

    CHECK_EQ(patch->components, a->about.components);
    CHECK(patch->ranges[0].empty ||
          patch->ranges[0].low <= patch->ranges[0].high);
    a->levels[level + 1]++;
    return level;
}

static int each(void *user, const bouma_patch_info *patch, int level,
                const bouma_selection *s, const void *samples)
{
    struct asking *a = user;

    for (int d = 0; d < 3; d++) {
        CHECK(s->first[d] >= patch->box.lo[d]);
        CHECK(s->first[d] + ((s->shape[d] - 1) << level) < patch->box.hi[d]);
    }
    CHECK_EQ(misses(a->name, &a->about, s, level, samples), 0);
    for (int64_t z = 0; z < s->shape[0] && level == 0; z++)
        for (int64_t y = 0; y < s->shape[1]; y++)
            memset(a->seen + ((s->first[0] + z) * N1 + s->first[1] + y) * N2 +
                       s->first[2],
                   1, (size_t)s->shape[2]);
    a->handed++;
    return a->stop && a->handed == a->stop;
}

static void patches_come_at_levels_of_their_own(void)
{
    static struct asking a;
    uint64_t random = 6;

    fill(0);
    for (int i = 0; i < 40; i++) {
        bouma_patch_query q = {.size = sizeof(q), .each = each, .user = &a};
        bouma_options o = options(1 + i % 3);
        bouma_dataset *ds;
        bouma_step *step;
        bouma_box box;

        memset(&a, 0, sizeof(a));
        a.name = i & 1 ? "scalar" : "vector";
        a.random = (uint64_t)i;
        CHECK_EQ(bouma_dataset_open(&ds, "level", &o), BOUMA_OK);
        CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
        a.variable =
            bouma_grid_find_variable(bouma_step_find_grid(step, "g"), a.name);
        bouma_variable_info_get(SIZED(&a.about), a.variable);
        for (int d = 0; d < 3; d++) {
            int64_t n = d == 0 ? N0 : d == 1 ? N1 : N2;

            box.lo[d] = check_below(&random, n);
            box.hi[d] = box.lo[d] + 1 + check_below(&random, n - box.lo[d]);
        }
        q.box = i % 4 ? &box : NULL;
        if (i % 5) {
            q.choose = choose;
        } else if (i & 1) { /* all that may have values in a range */
            q.within = 1;
            q.low = 20;
            q.high = 30;
        }
        CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_OK);
        for (int64_t n = 0; n < SAMPLES && !q.choose; n++) {
            int64_t at[3] = {n / (N1 * N2), n / N2 % N1, n % N2};
            int inside = 1;

            for (int d = 0; d < 3 && q.box; d++)
                inside &= at[d] >= box.lo[d] && at[d] < box.hi[d];
            if (!inside)
                CHECK(!a.seen[n]);
            else if (!q.within || (scalar[n] >= 20 && scalar[n] <= 30))
                CHECK(a.seen[n]);
        }
        bouma_step_free(step);
        bouma_dataset_free(ds);
    }
}

static int fine_at_25(void *user, const bouma_patch_info *patch)
{
    (void)user;
    return patch->ranges[0].low <= 25 && patch->ranges[0].high >= 25 ? 0 : 2;
}

static void fine_where_it_matters_reads_less(void)
{
    static struct asking a;
    bouma_patch_query q = {
        .size = sizeof(q), .choose = fine_at_25, .each = each, .user = &a};
    bouma_options o = options(1);
    bouma_dataset_info before = {.size = sizeof(before)},
                       after = {.size = sizeof(after)};
    bouma_dataset *ds;
    bouma_step *step;
    uint64_t bytes[2];

    memset(&a, 0, sizeof(a));
    a.name = "scalar";
    fill(0);
    CHECK_EQ(bouma_dataset_open(&ds, "level", &o), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    a.variable =
        bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "scalar");
    bouma_variable_info_get(SIZED(&a.about), a.variable);
    q.choose = NULL; /* all at level 0; this reads the tables, too */
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_OK);
    for (int i = 0; i < 2; i++) {
        bouma_dataset_info_get(&before, ds);
        a.handed = 0;
        CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_OK);
        CHECK_EQ(a.handed, 3 * 3 * 4);
        bouma_dataset_info_get(&after, ds);
        bytes[i] = after.bytes_read - before.bytes_read;
        memset(a.seen, 0, sizeof(a.seen));
        q.choose = fine_at_25;
    }
    CHECK(bytes[1] < bytes[0]);
    a.handed = 0;
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_OK);
    for (int i = 0; i < SAMPLES; i++)
        if (scalar[i] == 25.0f)
            CHECK(a.seen[i]);

    /* A caller may end it, and wrong questions are told. */
    a.handed = 0;
    a.stop = 2;
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_EABORTED);
    CHECK_EQ(a.handed, 2);
    q.choose = NULL;
    q.level = 17;
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "17");
    q.level = 0;
    q.within = 1;
    q.low = 2;
    q.high = 1;
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_EINVAL);
    q.high = NAN;
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_EINVAL);
    q.high = 5;
    q.component = 3;
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_EINVAL);
    q.each = NULL;
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_EINVAL);
    CHECK_EQ(bouma_variable_query(a.variable, NULL), BOUMA_EINVAL);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* Threads of the query are at work, with memory that another read would use. */
static int read_inside(void *user, const bouma_patch_info *patch, int level,
                       const bouma_selection *selection, const void *samples)
{
    struct asking *a = user;
    bouma_patch_query q = {
        .size = sizeof(q), .each = read_inside, .user = user};
    bouma_refinement *r;
    float one;

    (void)level;
    (void)selection;
    (void)samples;
    CHECK_EQ(test_read(a->variable, 0, &patch->box, &one), BOUMA_ESTATE);
    CHECK_EQ(bouma_variable_query(a->variable, &q), BOUMA_ESTATE);
    CHECK_EQ(bouma_refinement_open(&r, a->variable, 0, NULL), BOUMA_ESTATE);
    a->handed++;
    return 0;
}

static void a_query_is_not_disturbed(void)
{
    static struct asking a;
    bouma_patch_query q = {.size = sizeof(q), .each = read_inside, .user = &a};
    bouma_options o = options(4);
    bouma_dataset *ds;
    bouma_step *step;
    float one;

    memset(&a, 0, sizeof(a));
    CHECK_EQ(bouma_dataset_open(&ds, "level", &o), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    a.variable =
        bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "scalar");
    CHECK_EQ(bouma_variable_query(a.variable, &q), BOUMA_OK);
    CHECK_EQ(a.handed, 3 * 3 * 4);
    q.box = &(bouma_box){{0, 0, 0}, {1, 1, 1}};
    CHECK_EQ(test_read(a.variable, 0, q.box, &one), BOUMA_OK);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* ---- without memory ----------------------------------------------------- */

static void count_damage(void *user, const bouma_finding *finding)
{
    *(int *)user += finding->severity == BOUMA_SEVERITY_DAMAGE;
}

/* A sound dataset is not called damaged for want of memory, and none is lost:
 * with NaN where a patch begins. */
static void no_memory_is_no_damage(void)
{
    static float data[16 * 16 * 16];
    struct fault_alloc memory;
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 3,
                         .shape = {16, 16, 16},
                         .patch = {8, 8, 8}};
    bouma_variable_spec s = {
        .size = sizeof(s), .type = BOUMA_TYPE_F32, .tolerance = 1e-3};
    int done = 0;

    fault_alloc_init(&memory);
    for (int i = 0; i < 16 * 16 * 16; i++)
        data[i] = sinf((float)i * 0.1f);
    data[0] = NAN;
    data[8] = 1e30f;
    for (long n = 0; n < 3000 && !done; n++) {
        bouma_options o = options(1);
        bouma_verify_report report = {.size = sizeof(report)};
        bouma_variable *v = NULL;
        bouma_dataset *ds;
        bouma_grid *grid = NULL;
        char name[32], message[256];
        int damages = 0, rc;

        snprintf(name, sizeof(name), "short%ld", n);
        o.allocator = &memory.table;
        fault_alloc_arm(&memory, n + 1, 1);
        rc = bouma_dataset_create(&ds, name, &o);
        if (!rc)
            rc = bouma_grid_define(&grid, ds, "g", &g);
        if (!rc)
            rc = bouma_variable_define(&v, grid, "v", &s);
        if (!rc)
            rc = bouma_step_begin(ds, 0, 0);
        if (!rc)
            rc = test_put(v, NULL, data);
        if (!rc)
            rc = bouma_step_end(ds);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        done = !rc;
        fault_alloc_disarm(&memory);
        bouma_dataset_close(ds);
        bouma_dataset_free(ds);
        CHECK_EQ(memory.live, 0);
        if (rc)
            continue;
        for (long m = 0, sound = 0; m < 3000 && !sound; m++) {
            fault_alloc_arm(&memory, m + 1, 1);
            rc = bouma_verify(&report, name, BOUMA_DEPTH_DEEP, &o, count_damage,
                              &damages, message, sizeof(message));
            CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
            CHECK_EQ(damages, 0);
            CHECK_EQ(memory.live, 0);
            sound = !rc;
        }
    }
    CHECK(done);
}

/* ---- wrong requests -------------------------------------------------------
 */

static void wrong_tolerances_are_told(void)
{
    static const struct {
        bouma_type type;
        bouma_codec codec;
        double tolerance;
        const char *words;
    } cases[] = {{BOUMA_TYPE_F32, BOUMA_CODEC_INTERP, 0, "needs a tolerance"},
                 {BOUMA_TYPE_F32, 0, -1, "negative"},
                 {BOUMA_TYPE_F32, 0, NAN, "must be finite"},
                 {BOUMA_TYPE_F32, 0, INFINITY, "must be finite"},
                 {BOUMA_TYPE_F32, BOUMA_CODEC_ZSTD, 0.1, "keeps every bit"},
                 {BOUMA_TYPE_F32, BOUMA_CODEC_RAW, 0.1, "keeps every bit"},
                 {BOUMA_TYPE_I32, 0, 0.1, "integers"},
                 {BOUMA_TYPE_I32, BOUMA_CODEC_INTERP, 0.1,
                  "is i32, and the codec interp takes f32 and f64 only"},
                 {BOUMA_TYPE_I32, BOUMA_CODEC_INTERP, 0,
                  "is i32, and the codec interp takes f32 and f64 only"}};
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {100}};
    bouma_options o = options(1);
    bouma_dataset *ds;
    bouma_grid *grid;

    CHECK_EQ(bouma_dataset_create(&ds, "wrong", &o), BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&grid, ds, "g", &g), BOUMA_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bouma_variable_spec s = {.size = sizeof(s),
                                 .type = cases[i].type,
                                 .codec = cases[i].codec,
                                 .tolerance = cases[i].tolerance};
        bouma_variable *v;

        CHECK_EQ(bouma_variable_define(&v, grid, "v", &s), BOUMA_EINVAL);
        CHECK_TEXT(bouma_error_message(ds), cases[i].words);
    }
    bouma_dataset_free(ds);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    write_steps("level", BOUMA_ORDER_LEVEL);
    write_steps("chunk", BOUMA_ORDER_CHUNK);
    every_read_is_within_the_bound();
    refinement_reads_each_byte_once();
    what_was_lost_is_recorded();
    verify_decodes_everything();
    patches_come_at_levels_of_their_own();
    fine_where_it_matters_reads_less();
    a_query_is_not_disturbed();
    no_memory_is_no_damage();
    wrong_tolerances_are_told();
    bouma_io_memory_free(io);
    return check_result();
}
