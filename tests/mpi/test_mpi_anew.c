/* test_mpi_anew.c -- steps written again, dropped, and datasets started anew,
 * by all ranks together: one status, the same list of steps everywhere, and no
 * file left of what is gone. Also with local copies, which ranks share. */
#include <dirent.h>
#include <sys/stat.h>

#include "../helpers/check.h"
#include "blocks.h"

static const struct field field = {BOUMA_TYPE_F32, 1, 2, {24, 24, 0}, 5};

struct writer {
    struct ranks *ranks;
    bouma_dataset *ds;
    bouma_variable *variable;
};

static void write_step(struct writer *w, int64_t step, int64_t version)
{
    uint64_t random = 3;
    struct cutting slabs;
    struct puts puts;

    cutting_make(&slabs, CUT_SLABS, &field, w->ranks->size, &random);
    CHECK_EQ(bouma_step_begin(w->ds, step, 0), BOUMA_OK);
    CHECK_EQ(
        puts_make(&puts, w->variable, &field, &slabs, step + version, &random),
        BOUMA_OK);
    CHECK_EQ(bouma_step_end(w->ds), BOUMA_OK);
    puts_free(&puts);
}

/* Entries of the directory of a step, or of all steps (-1). */
static int entries(const char *path, int64_t step)
{
    char name[600];
    struct dirent *e;
    int count = 0;
    DIR *dir;

    snprintf(name, sizeof(name), "%s/steps", path);
    if (step >= 0)
        snprintf(name, sizeof(name), "%s/steps/%08lld", path, (long long)step);
    dir = opendir(name);
    while (dir && (e = readdir(dir)))
        count += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

static int damages(const char *path)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    CHECK_EQ(bouma_verify_mpi(&report, MPI_COMM_WORLD, path, BOUMA_DEPTH_DEEP,
                              NULL, NULL, NULL, message, sizeof(message)),
             BOUMA_OK);
    return (int)(report.damages + report.notes);
}

static void series(struct ranks *ranks, const bouma_options *given,
                   const char *path, const char *local_copy)
{
    struct writer w = {.ranks = ranks};
    bouma_options o = *given;
    int rc;

    for (int round = 0; round < 2; round++) {
        rc = bouma_dataset_create_mpi(&w.ds, MPI_COMM_WORLD, path, &o);
        CHECK_EQ(rc, BOUMA_OK);
        if (rc)
            printf("%s\n", bouma_error_message(w.ds));
        CHECK_EQ(field_define(&w.variable, w.ds, &field), BOUMA_OK);
        for (int64_t i = 0; i < 10; i++)
            write_step(&w, i % 5, i / 5);
        CHECK_EQ(bouma_dataset_flush(w.ds), BOUMA_OK);
        CHECK_EQ(bouma_dataset_drain(w.ds), BOUMA_OK);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int64_t i = 0; i < 5; i++) {
            CHECK_EQ(entries(path, i), 3);
            CHECK(!local_copy || entries(local_copy, i) == 3);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        rc = bouma_dataset_truncate(w.ds, ranks->size > 1 ? ranks->rank : -9);
        CHECK(rc == BOUMA_EMISMATCH || (rc == BOUMA_EINVAL && !ranks->rank));
        CHECK(same_on_all(rc, bouma_error_message(w.ds)));
        rc = bouma_step_delete(w.ds, ranks->size > 1 ? ranks->rank : 7);
        CHECK(rc == BOUMA_EMISMATCH || (rc == BOUMA_ENOTFOUND && !ranks->rank));
        CHECK(same_on_all(rc, bouma_error_message(w.ds)));
        rc = bouma_step_delete(w.ds, 9);
        CHECK_EQ(rc, BOUMA_ENOTFOUND);
        CHECK(same_on_all(rc, bouma_error_message(w.ds)));
        CHECK_EQ(bouma_step_delete(w.ds, 2), BOUMA_OK);
        CHECK_EQ(bouma_dataset_step_count(w.ds), 4);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(entries(path, -1), 4);
        CHECK(!local_copy || entries(local_copy, -1) == 4);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(bouma_dataset_truncate(w.ds, 1), BOUMA_OK);
        CHECK_EQ(bouma_dataset_step_count(w.ds), 2);
        write_step(&w, 2, 7);
        CHECK_EQ(bouma_dataset_close(w.ds), BOUMA_OK);
        bouma_dataset_free(w.ds);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(entries(path, -1), 3);
        CHECK(!local_copy || entries(local_copy, -1) == 3);
        CHECK_EQ(damages(path), 0);
        CHECK(!local_copy || damages(local_copy) == 0);

        o.clobber = 0;
        rc = bouma_dataset_create_mpi(&w.ds, MPI_COMM_WORLD, path, &o);
        CHECK_EQ(rc, BOUMA_EEXISTS);
        CHECK(same_on_all(rc, bouma_error_message(w.ds)));
        bouma_dataset_free(w.ds);
        o.clobber = 1;
    }
}

/* A file in one node's local copy that is none of the dataset's keeps all
 * stores from making way. */
static void all_local_copies_make_way_or_none(struct ranks *ranks)
{
    char path[512], near[512], local_copy[512], name[600];
    struct writer w = {.ranks = ranks};
    bouma_options o = {.size = sizeof(o)};
    FILE *file;
    int rc;

    path_in(ranks, path, "places", 0);
    path_in(ranks, near, "node", ranks->rank);
    CHECK(!mkdir(near, 0777));
    snprintf(local_copy, sizeof(local_copy), "%.200s/places0", near);
    o.files = 2;
    o.persist = 1;
    o.local = near;
    CHECK_EQ(bouma_dataset_create_mpi(&w.ds, MPI_COMM_WORLD, path, &o),
             BOUMA_OK);
    CHECK_EQ(field_define(&w.variable, w.ds, &field), BOUMA_OK);
    for (int64_t i = 0; i < 3; i++)
        write_step(&w, i, 0);
    CHECK_EQ(bouma_dataset_close(w.ds), BOUMA_OK);
    bouma_dataset_free(w.ds);
    snprintf(name, sizeof(name), "%s/steps/00000001/mine", local_copy);
    if (ranks->rank == ranks->size - 1) {
        file = fopen(name, "w");
        REQUIRE(file);
        fclose(file);
    }
    o.clobber = 1;
    rc = bouma_dataset_create_mpi(&w.ds, MPI_COMM_WORLD, path, &o);
    CHECK_EQ(rc, BOUMA_EEXISTS);
    CHECK(same_on_all(rc, bouma_error_message(w.ds)));
    bouma_dataset_free(w.ds);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(entries(path, -1), 3);
    CHECK_EQ(entries(local_copy, -1), 3);
    CHECK(entries(local_copy, 0) > 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks->rank == ranks->size - 1)
        CHECK(!remove(name));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(bouma_dataset_create_mpi(&w.ds, MPI_COMM_WORLD, path, &o),
             BOUMA_OK);
    CHECK_EQ(bouma_dataset_step_count(w.ds), 0);
    CHECK_EQ(entries(local_copy, -1), 0);
    CHECK_EQ(bouma_dataset_close(w.ds), BOUMA_OK);
    bouma_dataset_free(w.ds);
}

/* One rank has no pointer for a handle: all hear so, and nobody waits. */
static void all_ranks_need_a_pointer_for_the_handle(struct ranks *ranks)
{
    int none = ranks->rank == ranks->size - 1, rc;
    struct writer w = {.ranks = ranks};
    char path[512], plain[512];
    bouma_dataset *ds = NULL;
    bouma_file *f = NULL;
    bouma_step *step = NULL;

    path_in(ranks, path, "handles", 0);
    path_in(ranks, plain, "handles", 1);
    rc =
        bouma_dataset_create_mpi(none ? NULL : &ds, MPI_COMM_WORLD, path, NULL);
    CHECK_EQ(rc, BOUMA_EINVAL);
    CHECK(none || strstr(bouma_error_message(ds),
                         "the pointer for the handle is NULL"));
    bouma_dataset_free(ds);
    rc = bouma_file_open_mpi(none ? NULL : &f, MPI_COMM_WORLD, plain,
                             BOUMA_FILE_MODE_CREATE, NULL);
    CHECK_EQ(rc, BOUMA_EINVAL);
    CHECK(none ||
          strstr(bouma_file_message(f), "the pointer for the handle is NULL"));
    bouma_file_free(f);
    CHECK_EQ(bouma_dataset_create_mpi(&w.ds, MPI_COMM_WORLD, path, NULL),
             BOUMA_OK);
    CHECK_EQ(field_define(&w.variable, w.ds, &field), BOUMA_OK);
    write_step(&w, 0, 0);
    rc = bouma_step_open(none ? NULL : &step, w.ds, 0);
    CHECK_EQ(rc, BOUMA_EINVAL);
    CHECK(same_on_all(rc, bouma_error_message(w.ds)));
    CHECK(!step);
    CHECK_EQ(bouma_step_open(&step, w.ds, 0), BOUMA_OK);
    bouma_step_free(step);
    CHECK_EQ(bouma_dataset_close(w.ds), BOUMA_OK);
    bouma_dataset_free(w.ds);
}

int main(int argc, char **argv)
{
    static const bouma_durability modes[3] = {BOUMA_DURABILITY_DURABLE,
                                              BOUMA_DURABILITY_FAST,
                                              BOUMA_DURABILITY_GROUP};
    char path[512], near[512], local_copy[1100];
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    all_local_copies_make_way_or_none(&ranks);
    all_ranks_need_a_pointer_for_the_handle(&ranks);
    for (int i = 0; i < 5; i++) {
        bouma_options o = {.size = sizeof(o)};

        o.durability = modes[i % 3];
        o.group = 3;
        o.files = 2;
        o.replace = 1;
        o.async = i / 3;
        series(&ranks, &o, path_in(&ranks, path, "anew", i), NULL);
        if (o.durability == BOUMA_DURABILITY_GROUP)
            continue;
        path_in(&ranks, near, "near", i);
        if (ranks.rank == 0)
            CHECK(!mkdir(near, 0777));
        MPI_Barrier(MPI_COMM_WORLD);
        o.persist = 1;
        o.local = near;
        path_in(&ranks, path, "far", i);
        snprintf(local_copy, sizeof(local_copy), "%s/%s", o.local,
                 strrchr(path, '/') + 1);
        series(&ranks, &o, path, local_copy);
    }
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
