/* kill_writer.c -- write steps until somebody kills us.
 *
 *     mpirun -n N kill_writer DATASET LOG PIDS RUN [OPTION=VALUE...]
 *
 * Opens or makes DATASET and writes on after its last step, as generation RUN.
 * A step that was acknowledged is recorded in LOG as "step generation"; so LOG
 * never promises more than the library did. Each rank leaves its process id in
 * the file PIDS.<rank>. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bouma_mpi.h"
#include "scenario.h"

#define MOST_STEPS 100000

static int fail(bouma_dataset *ds, const char *what)
{
    fprintf(stderr, "kill_writer: %s: %s\n", what, bouma_error_message(ds));
    bouma_dataset_free(ds);
    MPI_Abort(MPI_COMM_WORLD, 4);
    return 4;
}

static void leave_pid(const char *prefix, int rank)
{
    char name[4096];
    FILE *file;

    snprintf(name, sizeof(name), "%s.%d", prefix, rank);
    file = fopen(name, "w");
    if (file) {
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
}

/* One write() a line: a line is there whole or not at all. */
static void record(int log, int64_t step, int generation)
{
    char line[64];
    int count =
        snprintf(line, sizeof(line), "%lld %d\n", (long long)step, generation);

    if (write(log, line, (size_t)count) != count)
        MPI_Abort(MPI_COMM_WORLD, 5);
}

/* The number after the last step; 0 if there is no dataset yet. */
static int64_t next_step(const char *path, const bouma_options *opts,
                         int *exists)
{
    bouma_dataset *ds = NULL;
    bouma_step_info info = {.size = sizeof(info)};
    int64_t count, next = 0;

    *exists =
        bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, opts) == BOUMA_OK;
    count = *exists ? bouma_dataset_step_count(ds) : 0;
    if (count && bouma_dataset_step_get(&info, ds, count - 1) == BOUMA_OK)
        next = info.step + 1;
    bouma_dataset_free(ds);
    return next;
}

int main(int argc, char **argv)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    bouma_options opts;
    int64_t first;
    int rank, ranks, generation, exists, log;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 5) {
        fputs("usage: kill_writer DATASET LOG PIDS RUN [OPTION=VALUE...]\n",
              stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    leave_pid(argv[3], rank);
    generation = atoi(argv[4]);
    scenario_options(&opts, NULL, NULL);
    if (scenario_options_set(&opts, argc - 5, argv + 5) != argc - 5)
        return fail(NULL, "options");
    log = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);

    first = next_step(argv[1], &opts, &exists);
    if (exists) {
        if (bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, argv[1], &opts))
            return fail(ds, "append");
        /* Steps held back by a killed writer have come back by now. */
        first = next_step(argv[1], &opts, &exists);
    } else if (bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, argv[1], &opts)) {
        return fail(ds, "create");
    }
    for (int64_t step = first; step < first + MOST_STEPS; step++) {
        if (scenario_write(ds, &writer, step, generation, rank, ranks))
            return fail(ds, "step");
        if (rank == 0)
            record(log, step, generation);
    }
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    MPI_Finalize();
    return 0;
}
