/* test_mpi_sheets.c -- what one rank cannot read of a manifest with sheets is
 * told, whichever rank that is; and ranks load no sheets that they do not need.
 * (A sheet for each file: see CMakeLists.txt.) */
#include "blocks.h"

#include <errno.h>
#include <math.h>

#include "../helpers/check.h"
#include "arrays.h"
#include "columns.h"
#include "layout/sheet.h"
#include "read/read.h"

enum { EDGE = 64, FILES = 8 };

/* Storage that cannot open manifests. */
static int open_but_manifests(void *user, void *root, void **file,
                              const char *name, bouma_open_mode mode)
{
    size_t n = strlen(name);

    if (n > 9 && !strcmp(name + n - 9, "/manifest"))
        return EIO;
    return bouma_io_posix()->open(user, root, file, name, mode);
}

static void write_files(struct ranks *r, const char *path)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {EDGE, EDGE},
                         .patch = {8, 8},
                         .levels = 2};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_U8};
    bouma_options o = {
        .size = sizeof(o), .durability = BOUMA_DURABILITY_FAST, .files = FILES};
    bouma_box all = {.lo = {0, 0}, .hi = {EDGE, EDGE}};
    static uint8_t data[EDGE * EDGE];
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_grid *grid;

    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o));
    REQUIRE(!bouma_grid_define(&grid, ds, "g", &g));
    REQUIRE(!bouma_variable_define(&v, grid, "v", &spec));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    if (r->rank == 0)
        REQUIRE(!test_put(v, &all, data));
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static bouma_verify_report verify(const char *path, const bouma_options *o)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640] = "";

    CHECK_EQ(bouma_verify_mpi(&report, MPI_COMM_WORLD, path, BOUMA_DEPTH_FULL,
                              o, NULL, NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_TEXT(message, "");
    return report;
}

/* Once for each sheet, if some ranks cannot, and if just one cannot. */
static void what_a_rank_cannot_look_at_is_unchecked(struct ranks *r)
{
    bouma_options o = {.size = sizeof(o)};
    bouma_io blind = *bouma_io_posix();
    bouma_verify_report report;
    char path[512];

    path_in(r, path, "sheets", 0);
    write_files(r, path);
    blind.open = open_but_manifests;
    report = verify(path, NULL);
    CHECK_EQ(report.files, 1 + FILES);
    CHECK_EQ(report.damages + report.unchecked, 0);
    for (int blinded = 1; blinded < r->size; blinded++) {
        o.io = r->rank >= blinded ? &blind : NULL;
        report = verify(path, &o);
        CHECK_EQ(report.unchecked, FILES);
        CHECK_EQ(report.damages, 0);
        CHECK(report.files < 1 + FILES || r->size > FILES);
    }
}

/* ---- restarts ------------------------------------------------------------------ */

enum { EACH = 400 }; /* particles of a rank */

/* In a row, one rank after the other. */
static void write_particles(struct ranks *r, const char *path)
{
    bouma_particles_spec p = {
        .size = sizeof(p), .ndims = 1, .type = BOUMA_TYPE_F64};
    bouma_options o = {
        .size = sizeof(o), .durability = BOUMA_DURABILITY_FAST, .files = FILES};
    double position[EACH];
    bouma_particles *set;
    bouma_dataset *ds;
    struct test_column column;

    for (int i = 0; i < EACH; i++)
        position[i] = r->rank * EACH + i;
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o));
    REQUIRE(!bouma_particles_define(&set, ds, "p", &p));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    column = (struct test_column){.variable = bouma_particles_position(set),
                                  .data = position};
    REQUIRE(!test_put_particles_copy(set, EACH, &column, 1, NULL));
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* Each gets its own box, or its share, and has loaded the sheets of the files
 * that it reads, no others. */
static void a_restart_loads_the_sheets_of_its_own_files(struct ranks *r)
{
    char path[512];

    path_in(r, path, "restart", 0);
    write_particles(r, path);
    for (int boxed = 0; boxed < 2; boxed++) {
        bouma_bounds box = {.axes = BOUMA_AXES_XYZ,
                            .low = {r->rank * EACH},
                            .high = {(r->rank + 1) * EACH}};
        bouma_particles_query q = {
            .size = sizeof(q), .box = boxed ? &box : NULL, .shares = !boxed};
        bouma_particle_data *d = NULL;
        size_t loaded = 0, sheets;
        bouma_dataset *ds;
        bouma_step *step;
        double sum = 0;

        REQUIRE(!bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL));
        REQUIRE(!bouma_step_open(&step, ds, 0));
        CHECK_EQ(bouma_particles_restart(
                     &d, bouma_step_find_particles(step, "p"), &q),
                 BOUMA_OK);
        REQUIRE(d);
        CHECK_EQ(d->count, EACH);
        for (uint64_t i = 0; i < d->count && boxed; i++)
            sum += ((const double *)d->columns[0])[i] - r->rank * EACH;
        CHECK(!boxed || fabs(sum - EACH * (EACH - 1) / 2.) < 0.5);
        sheets = step->manifest.sheet_count;
        for (size_t k = 0; k < sheets; k++)
            loaded += step->manifest.sheets[k].records != NULL;
        CHECK(sheets >= (size_t)(r->size < FILES ? r->size : FILES));
        CHECK(loaded <= (sheets + (size_t)r->size - 1) / (size_t)r->size);
        bouma_particle_data_free(d);
        bouma_step_free(step);
        bouma_dataset_free(ds);
    }
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    what_a_rank_cannot_look_at_is_unchecked(&ranks);
    a_restart_loads_the_sheets_of_its_own_files(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
