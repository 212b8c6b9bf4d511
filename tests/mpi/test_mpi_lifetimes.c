/* test_mpi_lifetimes.c -- handles of several ranks are freed in any order, the
 * dataset by all ranks together. Steps can be used, and everything be freed, when
 * MPI is gone. */
#include "blocks.h"
#include "lifetimes.h"

static int create(bouma_dataset **out, const char *path, const bouma_options *o)
{
    return bouma_dataset_create_mpi(out, MPI_COMM_WORLD, path, o);
}

static int open_all(bouma_dataset **out, const char *path,
                    const bouma_options *o)
{
    return bouma_dataset_open_mpi(out, MPI_COMM_WORLD, path, o);
}

/* Before MPI begins and after it has ended, nothing is opened; the program goes
 * on. */
static void without_mpi(const char *words)
{
    bouma_dataset *ds;

    CHECK_EQ(open_all(&ds, "none", NULL), BOUMA_ESTATE);
    CHECK_TEXT(bouma_error_message(ds), words);
    bouma_dataset_free(ds);
}

int main(int argc, char **argv)
{
    struct lifetimes_ranks how = {create, open_all, 0, 1};
    struct ranks ranks;
    bouma_options o = {.size = sizeof(o)};
    struct lifetimes l, whole;
    bouma_file *file;
    char path[512], name[512], trace[512];
    int failed;

    unsetenv("BOUMA_OPTIONS");
    without_mpi("MPI_Init()");
    ranks_init(&ranks, &argc, &argv);
    how.rank = ranks.rank;
    how.count = ranks.size;
    path_in(&ranks, path, "lifetimes", 0);
    o.durability = BOUMA_DURABILITY_FAST;
    lifetimes_write(&how, path, &o);
    lifetimes_free_in_all_orders(&how, path, &o);

    /* One whose dataset is freed before MPI ends, and one of which nothing is;
     * on one rank, it still writes its trace. */
    lifetimes_begin(&l, &how, path, &o);
    lifetimes_free(&l, LIFETIMES_DATASET);
    path_in(&ranks, trace, "trace", 0);
    o.trace = trace;
    lifetimes_begin(&whole, &how, path, &o);
    path_in(&ranks, name, "plain", 0);
    REQUIRE(!bouma_file_open_mpi(&file, MPI_COMM_WORLD, name,
                                 BOUMA_FILE_MODE_CREATE, &o));
    lifetimes_use(&l, &how);
    failed = ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
    lifetimes_use(&l, &how); /* from files that are open, and have no name */
    for (int kind = LIFETIMES_FIRST; kind < LIFETIMES_KINDS; kind++)
        lifetimes_free(&l, (enum lifetimes_kind)kind);
    /* What needs the others is refused, and the program goes on. */
    if (how.count > 1) {
        CHECK_EQ(bouma_dataset_refresh(whole.ds), BOUMA_ECOMM);
        CHECK_TEXT(bouma_error_message(whole.ds), "MPI was finalized");
        CHECK_EQ(bouma_dataset_close(whole.ds), BOUMA_ECOMM);
        CHECK_EQ(bouma_file_close(file), BOUMA_ECOMM);
    }
    for (int kind = LIFETIMES_DATASET; kind < LIFETIMES_KINDS; kind++)
        lifetimes_free(&whole, (enum lifetimes_kind)kind);
    bouma_file_free(file);
    without_mpi("MPI_Finalize()");
    return failed || check_counts()->failed;
}
