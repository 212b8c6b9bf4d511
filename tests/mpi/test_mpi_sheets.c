/* test_mpi_sheets.c -- what one rank cannot read of a manifest with sheets is
 * told, whichever rank that is. (A sheet for each file: see CMakeLists.txt.) */
#include "blocks.h"

#include <errno.h>

#include "../helpers/check.h"
#include "arrays.h"

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

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    what_a_rank_cannot_look_at_is_unchecked(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
