/* test_mpi_layout.c -- a layout that the library does not know, of one file
 * (grid_rows.c) and one line of the table, goes through all that the library
 * does: write, collective read, boxes at levels, refinement, query, info,
 * verify, repair, drain. */
#include <stdio.h>

#include "rows_trial.h"

/* A manifest that is gone is made anew from the heads of the files. */
static void repair(const struct trial *t)
{
    char name[BM_NAME_BYTES], file[1200], message[512] = "";
    bouma_repair_report report = {.size = sizeof(report)};
    FILE *f;

    bm_name_manifest(name, 1);
    snprintf(file, sizeof(file), "%s/%s", t->path, name);
    f = fopen(file, "r+b");
    REQUIRE(f);
    CHECK_EQ(fseek(f, 100, SEEK_SET), 0);
    CHECK(fputs("damaged", f) >= 0);
    fclose(f);
    CHECK_EQ(bouma_repair(&report, t->path, 1, NULL, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK(report.actions > 0);
    CHECK_EQ(report.hopeless, 1); /* attributes, if it had any */
    CHECK_EQ(damages(t->path), 1);
    CHECK_EQ(bouma_repair_forget(NULL, t->path, -1, 1, NULL, NULL, NULL,
                                 message, sizeof(message)),
             BOUMA_OK);
    check_all(t->path);
}

static void rows_go_all_the_way(const struct ranks *ranks, int number)
{
    struct trial t;

    trial_init(&t, ranks, number);
    write_steps(&t);
    read_step(&t);
    if (!ranks->rank) {
        check_all(t.path);
        repair(&t);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void rows_persist_and_are_drained(const struct ranks *ranks, int number)
{
    struct trial t;

    trial_init(&t, ranks, number);
    trial_persist(&t);
    write_steps(&t);
    if (!ranks->rank) {
        check_all(t.path);
        drain(&t);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int i = 0; i < 2 * CUTS; i++)
        rows_go_all_the_way(&ranks, i);
    rows_persist_and_are_drained(&ranks, 2 * CUTS);
    rows_persist_and_are_drained(&ranks, 2 * CUTS + 6);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
