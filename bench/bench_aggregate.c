/* bench_aggregate.c -- bytes of all ranks, gathered by a few of them.
 *
 *   mpirun -n 8 bench_aggregate files [--repetitions 5] [--directory .]
 *                                     [--largest 64] [--only PART]
 *   mpirun -n 2 bench_aggregate overlap [--repetitions 5] [--directory .]
 *                                       [--size 512]
 *
 * files: one shared file, written and read by MPI-IO and by bouma_io_*(), one
 * variable and the nine of HACC-IO, with up to 'largest' MiB on a rank, all
 * alike, random, or normal. Every repetition goes through both, in turns; each
 * reads what the other wrote, and all bytes are checked. A time is that of the
 * slowest rank, from a barrier on, with opening and closing; the medians over
 * the repetitions count. Nothing is synced, but in the rows that say so. Files
 * are new in every write, and in the page cache in every read. Beside them is a
 * plain write of the same bytes by one process: on file systems that let one
 * process at a time write to a file, nobody can be faster. Parts are memory,
 * mpi-io, sync and transports.
 *
 * overlap: a grid, whose subfiles go to a storage that just takes its time: as
 * much as all the rest of the step does. Done one after the other this would
 * take twice as long as one of them.
 *
 * A missed target does not end the program with an error, for that may be the
 * machine's fault. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "score.h"

void fail(const char *what)
{
    fprintf(stderr, "bench_aggregate: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(EXIT_FAILURE);
}

void *allocate(size_t bytes)
{
    void *block = malloc(bytes + 1);

    if (!block)
        fail("no memory");
    return block;
}

double slowest(double seconds)
{
    double most;

    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

void aggregate_path(char path[AGGREGATE_PATH_BYTES], const struct bench *b,
                    const char *name)
{
    int n = snprintf(path, AGGREGATE_PATH_BYTES, "%s/%s", b->directory, name);

    if (n < 0 || n >= AGGREGATE_PATH_BYTES)
        fail("the path is too long");
}

int main(int argc, char **argv)
{
    struct bench b = {.repetitions = 5,
                      .largest = 64,
                      .size = 512,
                      .directory = ".",
                      .only = ""};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    if (argc < 2)
        fail("files or overlap?");
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--repetitions"))
            b.repetitions = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--largest"))
            b.largest = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--size"))
            b.size = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--only"))
            b.only = argv[i + 1];
        else if (!strcmp(argv[i], "--directory"))
            b.directory = argv[i + 1];
        else
            fail("an argument is not understood");
    }
    if (b.repetitions < 1 || b.repetitions > SCORE_MAX_TIMES || b.largest < 1 ||
        b.largest > 1024 || b.size < 8 || b.size > 2048)
        fail("--repetitions is from 1 to 200, --largest from 1 to 1024, --size "
             "from 8 to 2048");
    if (!strcmp(argv[1], "files"))
        bench_files(&b);
    else if (!strcmp(argv[1], "overlap"))
        bench_overlap(&b);
    else
        fail("files or overlap?");
    score_setting("ranks", b.ranks);
    if (strcmp(argv[1], "files"))
        score_setting("size", b.size);
    else
        score_setting("largest", b.largest);
    if (b.rank == 0 &&
        score_end(strcmp(argv[1], "files") ? "overlap" : "aggregate"))
        fail("the results cannot be written");
    MPI_Finalize();
    return EXIT_SUCCESS;
}
