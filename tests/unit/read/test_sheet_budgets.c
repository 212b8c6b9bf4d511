/* Budgets of reads count the sheets of a manifest that a call loads: no call
 * reads more than it may, and each tells what it has read, to the byte. (Four
 * files in a sheet: see CMakeLists.txt.) */
#include <stdlib.h>
#include <unistd.h>

#include "bouma.h"
#include "check.h"
#include "columns.h"
#include "files.h"
#include "layout/sheet.h"
#include "must.h"
#include "read/read.h"

enum { EDGE = 64, SAMPLES = EDGE * EDGE, FILES = 16, PARTICLES = 20000 };
enum { BINS = 8 };

static void put_particles(bouma_dataset *ds)
{
    static double position[PARTICLES][2];
    static float values[PARTICLES];
    bouma_particles_spec p = {
        .size = sizeof(p), .ndims = 2, .type = BOUMA_TYPE_F64};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    struct test_column columns[2] = {{.data = position}, {.data = values}};
    bouma_particles *set;
    uint64_t state = 3;

    for (int i = 0; i < PARTICLES; i++) {
        position[i][0] = (double)check_below(&state, 1000) / 1000;
        position[i][1] = (double)check_below(&state, 1000) / 1000;
        values[i] = (float)(position[i][0] + 2 * position[i][1]);
    }
    MUST(ds, bouma_particles_define(&set, ds, "p", &p));
    columns[0].variable = bouma_particles_position(set);
    MUST(ds, bouma_particles_define_variable(&columns[1].variable, set, "heat",
                                             &spec));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, test_put_particles_copy(set, PARTICLES, columns, 2, NULL));
}

static void make(const char *path)
{
    bouma_options o = {
        .size = sizeof(o), .durability = BOUMA_DURABILITY_FAST, .files = FILES};
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {EDGE, EDGE},
                         .patch = {8, 8},
                         .levels = 2};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_F64, .codec = BOUMA_CODEC_RAW};
    static double data[SAMPLES];
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_grid *grid;

    for (int i = 0; i < SAMPLES; i++)
        data[i] = i / EDGE + 0.001 * (i % EDGE);
    MUST(ds, bouma_dataset_create(&ds, path, &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&v, grid, "v", &spec));
    put_particles(ds);
    MUST(ds, test_put_copy(v, NULL, data));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* A step as it is when nothing of it was read. */
struct fresh {
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *grid, *heat;
    bouma_particles *set;
    uint64_t before;
};

static uint64_t bytes_read(bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    MUST(ds, bouma_dataset_info_get(&info, ds));
    return info.bytes_read;
}

static struct fresh open_fresh(void)
{
    struct fresh f;

    MUST(f.ds, bouma_dataset_open(&f.ds, "d", NULL));
    MUST(f.ds, bouma_step_open(&f.step, f.ds, 0));
    CHECK(f.step->manifest.sheet_count > FILES / 4);
    f.grid = bouma_grid_find_variable(bouma_step_find_grid(f.step, "g"), "v");
    f.set = bouma_step_find_particles(f.step, "p");
    f.heat = bouma_particles_find_variable(f.set, "heat");
    f.before = bytes_read(f.ds);
    return f;
}

static void close_fresh(struct fresh *f)
{
    bouma_step_free(f->step);
    bouma_dataset_free(f->ds);
}

/* A call with a budget that has ended; 'told' is what it says to have read. */
static void check_call(struct fresh *f, uint64_t budget, uint64_t told)
{
    uint64_t now = bytes_read(f->ds);

    CHECK_EQ(told, now - f->before);
    CHECK(told <= budget);
    f->before = now;
}

/* What is needed at least, so that a call is not refused; UINT64_MAX: it is not.
 */
static uint64_t refine_grid(uint64_t bytes, const bouma_box *box)
{
    bouma_budget budget = {.size = sizeof(budget), .bytes = bytes};
    bouma_answer answer = {.size = sizeof(answer)};
    struct fresh f = open_fresh();
    bouma_refinement *r = NULL;
    int rc = bouma_refinement_open_within(&r, &answer, f.grid, box, &budget);
    uint64_t needed = UINT64_MAX;

    CHECK(rc == BOUMA_OK || rc == BOUMA_ELIMIT);
    check_call(&f, bytes, answer.bytes);
    if (rc)
        needed = answer.bytes + answer.next_bytes;
    while (!rc && !answer.complete) {
        rc = bouma_refinement_next_within(&answer, r, &budget);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ELIMIT);
        check_call(&f, bytes, answer.bytes);
    }
    bouma_refinement_free(r);
    close_fresh(&f);
    return needed;
}

static uint64_t refine_particles(uint64_t bytes, const bouma_box *unused)
{
    bouma_budget budget = {.size = sizeof(budget), .bytes = bytes};
    bouma_particles_query query = {.size = sizeof(query), .quality = 1};
    bouma_answer answer = {.size = sizeof(answer)};
    struct fresh f = open_fresh();
    bouma_particles_refinement *r;
    bouma_particle_data *data = NULL;
    uint64_t needed = UINT64_MAX;
    int rc = BOUMA_OK;

    (void)unused;
    MUST(f.ds, bouma_particles_refinement_open(&r, f.set, &query));
    while (!rc && !answer.complete) {
        rc = bouma_particles_refinement_next(&data, &answer, r, &budget);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ELIMIT);
        check_call(&f, bytes, answer.bytes);
        bouma_particle_data_free(data);
        data = NULL;
        if (rc && needed == UINT64_MAX && answer.level < 0)
            needed = answer.bytes + answer.next_bytes;
    }
    bouma_particles_refinement_free(r);
    close_fresh(&f);
    return needed;
}

/* Budgets from tiny to ample; each that is refused tells how much would do. */
static void sweep(uint64_t (*refine)(uint64_t bytes, const bouma_box *box),
                  const bouma_box *box)
{
    int refused = 0;

    for (uint64_t bytes = 1; bytes < 1 << 20; bytes += bytes / 4 + 1) {
        uint64_t needed = refine(bytes, box);

        if (needed == UINT64_MAX)
            continue;
        refused++;
        CHECK(needed > bytes);
        CHECK_EQ(refine(needed, box), UINT64_MAX);
    }
    CHECK(refused > 4);
}

static void a_refinement_counts_sheets(void)
{
    bouma_box box = {.lo = {8, 8}, .hi = {24, 24}};

    sweep(refine_grid, NULL);
    sweep(refine_grid, &box);
}

static void a_refinement_of_particles_counts_sheets(void)
{
    sweep(refine_particles, NULL);
}

/* ---- histograms ------------------------------------------------------------- */

static int histogram(bouma_histogram *about, bouma_bin *bins,
                     const struct fresh *f, int of_particles, int index_only,
                     const bouma_budget *budget)
{
    bouma_histogram_spec spec = {
        .size = sizeof(spec), .bins = BINS, .index_only = index_only};

    about->size = sizeof(*about);
    return of_particles ? bouma_particles_histogram(about, bins, f->heat, &spec,
                                                    NULL, budget)
                        : bouma_variable_histogram(about, bins, f->grid, &spec,
                                                   NULL, budget);
}

/* No budget is too small, and bounds hold. */
static void check_histogram(uint64_t bytes, int of_particles, int index_only,
                            const bouma_bin *truth)
{
    bouma_budget budget = {.size = sizeof(budget), .bytes = bytes};
    struct fresh f = open_fresh();
    bouma_histogram about;
    bouma_bin bins[BINS];

    MUST(f.ds, histogram(&about, bins, &f, of_particles, index_only, &budget));
    check_call(&f, bytes, about.bytes);
    if (bytes < 64) {
        CHECK_EQ(about.limit, BOUMA_LIMIT_BYTES);
        CHECK(about.next_bytes > bytes);
    }
    for (int i = 0; i < BINS; i++)
        CHECK(bins[i].lower <= truth[i].lower &&
              bins[i].upper >= truth[i].upper);
    close_fresh(&f);
}

static void a_histogram_counts_sheets(void)
{
    for (int of_particles = 0; of_particles < 2; of_particles++) {
        struct fresh f = open_fresh();
        bouma_histogram about;
        bouma_bin truth[BINS];

        MUST(f.ds, histogram(&about, truth, &f, of_particles, 0, NULL));
        CHECK_EQ(about.basis, BOUMA_BASIS_EXACT);
        close_fresh(&f);
        for (uint64_t bytes = 1; bytes < 1 << 20; bytes += bytes / 4 + 1) {
            check_histogram(bytes, of_particles, 0, truth);
            check_histogram(bytes, of_particles, 1, truth);
        }
    }
}

int main(void)
{
    char dir[] = "/tmp/bouma_sheet_budgets_XXXXXX";

    REQUIRE(mkdtemp(dir) && !chdir(dir));
    make("d");
    a_refinement_counts_sheets();
    a_refinement_of_particles_counts_sheets();
    a_histogram_counts_sheets();
    REQUIRE(!chdir("/") && !remove_tree(dir));
    return check_result();
}
