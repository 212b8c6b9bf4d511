/* test_mpi_fint.c -- every call that takes a communicator of Fortran, on one
 * with all ranks in reverse order; and definitions that are taken from a step,
 * by all ranks together. */
#include "../helpers/check.h"
#include "blocks.h"

static const struct field field = {BOUMA_TYPE_F32, 1, 2, {24, 24, 0}, 5};

struct world {
    struct ranks *ranks; /* of the communicator in C */
    MPI_Comm reversed;
    MPI_Fint comm; /* the same */
    int rank;      /* in it */
};

static void write_step(const struct world *w, bouma_dataset *ds,
                       bouma_variable *v, int64_t step)
{
    uint64_t random = 3;
    struct cutting slabs;
    struct puts puts;

    cutting_make(&slabs, CUT_SLABS, &field, w->ranks->size, &random);
    CHECK_EQ(bouma_step_begin(ds, step, (double)step), BOUMA_OK);
    CHECK_EQ(puts_make(&puts, v, &field, &slabs, step, &random), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    puts_free(&puts);
}

static void end(bouma_dataset *ds)
{
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* As one step after the other, by a program that restarts. */
static void append_like(const struct world *w, const char *path)
{
    bouma_dataset *ds;
    bouma_grid *grid;
    int rc;

    CHECK_EQ(bouma_dataset_append_fint(&ds, w->comm, path, NULL), BOUMA_OK);
    if (w->ranks->size > 1) {
        rc = bouma_define_like(ds, w->rank ? 0 : -1);
        CHECK_EQ(rc, BOUMA_OK); /* it is the same step */
        CHECK_EQ(bouma_define_like(ds, w->rank ? 0 : 7), BOUMA_EMISMATCH);
        CHECK(same_on_all(BOUMA_EMISMATCH, bouma_error_message(ds)));
        CHECK_EQ(bouma_dataset_clear_failures(ds), BOUMA_OK);
    } else {
        CHECK_EQ(bouma_define_like(ds, -1), BOUMA_OK);
    }
    rc = bouma_define_like(ds, 0);
    CHECK_EQ(rc, BOUMA_EEXISTS);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    rc = bouma_define_like(ds, 5);
    CHECK_EQ(rc, BOUMA_ENOTFOUND);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    CHECK_EQ(bouma_dataset_clear_failures(ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_find_grid(&grid, ds, "g"), BOUMA_OK);
    write_step(w, ds, bouma_grid_find_variable(grid, "v"), 1);
    end(ds);
}

static void datasets_are_written_and_read(const struct world *w)
{
    char path[512], message[640] = "";
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_variable *v;
    bouma_dataset *ds;

    path_in(w->ranks, path, "fint", 0);
    CHECK_EQ(bouma_dataset_create_fint(&ds, w->comm, path, NULL), BOUMA_OK);
    CHECK_EQ(field_define(&v, ds, &field), BOUMA_OK);
    write_step(w, ds, v, 0);
    end(ds);
    append_like(w, path);
    CHECK_EQ(bouma_dataset_open_fint(&ds, w->comm, path, NULL), BOUMA_OK);
    CHECK_EQ(bouma_dataset_step_count(ds), 2);
    bouma_dataset_free(ds);
    for (int64_t step = 0; step < 2; step++)
        CHECK_EQ(wrong_on_disk(path, step, "v", &field), 0);
    CHECK_EQ(bouma_verify_fint(&report, w->comm, path, BOUMA_DEPTH_DEEP, NULL,
                               NULL, NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.steps, 2);
    CHECK_EQ(report.damages + report.notes, 0);
}

/* A run that never drained, which somebody does afterwards. */
static void local_copies_are_drained(const struct world *w)
{
    char local[512], path[512], message[640] = "";
    bouma_drain_report report = {.size = sizeof(report)};
    bouma_variable *v;
    bouma_dataset *ds;

    path_in(w->ranks, local, "local", 0);
    path_in(w->ranks, path, "target", 0);
    CHECK_EQ(bouma_dataset_create_fint(&ds, w->comm, local, NULL), BOUMA_OK);
    CHECK_EQ(field_define(&v, ds, &field), BOUMA_OK);
    write_step(w, ds, v, 3);
    end(ds);
    CHECK_EQ(bouma_drain_fint(&report, w->comm, local, path, 0, NULL, message,
                              sizeof(message)),
             BOUMA_OK);
    CHECK_TEXT(message, "");
    CHECK_EQ(report.published, 1);
    CHECK_EQ(wrong_on_disk(path, 3, "v", &field), 0);
}

/* Rank 0 of the communicator, which is the last of the program, comes first. */
static void plain_files_have_the_ranks_in_its_order(const struct world *w)
{
    uint64_t count = 1, size = 1, offset = (uint64_t)w->rank;
    char path[512], mine = (char)('a' + w->rank), all[64] = "";
    const void *data = &mine;
    bouma_file *file;
    FILE *f;

    path_in(w->ranks, path, "plain", 0);
    CHECK_EQ(bouma_file_open_fint(&file, w->comm, path, BOUMA_FILE_MODE_CREATE,
                                  NULL),
             BOUMA_OK);
    CHECK_EQ(bouma_file_declare(file, 1, &count, &size, &offset), BOUMA_OK);
    CHECK_EQ(bouma_file_write(file, &data), BOUMA_OK);
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
    f = fopen(path, "r");
    REQUIRE(f);
    CHECK_EQ(fread(all, 1, sizeof(all), f), w->ranks->size);
    fclose(f);
    CHECK_EQ(strncmp(all, "abcdefgh", (size_t)w->ranks->size), 0);
}

static void machines_are_measured(const struct world *w)
{
    bouma_probe_spec spec = {.size = sizeof(spec), .tries = 1};
    bouma_probe_report report = {.size = sizeof(report)};
    char message[256] = "";

    CHECK_EQ(bouma_probe_fint(&report, w->comm, &spec, NULL, message,
                              sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.ranks, w->ranks->size);
}

int main(int argc, char **argv)
{
    struct ranks ranks;
    struct world w = {.ranks = &ranks};

    ranks_init(&ranks, &argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -ranks.rank, &w.reversed);
    MPI_Comm_rank(w.reversed, &w.rank);
    CHECK_EQ(w.rank, ranks.size - 1 - ranks.rank);
    w.comm = MPI_Comm_c2f(w.reversed);
    datasets_are_written_and_read(&w);
    local_copies_are_drained(&w);
    plain_files_have_the_ranks_in_its_order(&w);
    machines_are_measured(&w);
    MPI_Comm_free(&w.reversed);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
