/* bench_scale.c -- what a step costs that is like the one before it, and how
 * often its ranks are switched.
 *
 *   mpirun -n 64 bench_scale --directory DIR [--block 16 | --side 128]
 *                            [--steps 10]
 *
 * Each rank has a block of BLOCK^3 samples of 4 bytes, or its part of a grid of
 * SIDE^3. One step is written, then STEPS more, and the last one is read back
 * and checked. One line is printed: ranks, the median of the seconds of a step
 * after the first (from a barrier to the end of the slowest rank), and context
 * switches of a rank in such a step, of its own will and not. scale.py runs it
 * with several numbers of ranks. */
#include <bouma_mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "measure.h"

enum { MAX_STEPS = 1000, PATH_BYTES = 4096 };

struct settings {
    int64_t block, side; /* one of them is 0 */
    int steps;
    const char *directory;
};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_scale: %s: %s\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

static void check(int rc, const bouma_dataset *ds)
{
    if (rc)
        fail(bouma_status_name(rc), bouma_error_message(ds));
}

static void parse(struct settings *s, int argc, char **argv)
{
    *s = (struct settings){.block = 16, .steps = 10, .directory = "."};
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *text = i + 1 < argc ? argv[i + 1] : "";

        if (!strcmp(name, "--block")) {
            s->block = atoi(text);
            s->side = 0;
        } else if (!strcmp(name, "--side")) {
            s->side = atoi(text);
            s->block = 0;
        } else if (!strcmp(name, "--steps")) {
            s->steps = atoi(text);
        } else if (!strcmp(name, "--directory")) {
            s->directory = text;
        } else {
            fail(name, "there is no such option");
        }
    }
    if (s->block + s->side < 1 || s->steps < 1 || s->steps > MAX_STEPS)
        fail("options", "a number is too small or too large");
}

/* The grid, and this rank's box of it: ranks are as near to a cube as can
 * be. */
static bouma_box cut(const struct settings *s, int64_t shape[3], int rank,
                     int ranks)
{
    int grid[3] = {0, 0, 0}, at[3];
    bouma_box box = {0};

    MPI_Dims_create(ranks, 3, grid);
    at[2] = rank % grid[2];
    at[1] = rank / grid[2] % grid[1];
    at[0] = rank / grid[2] / grid[1];
    for (int d = 0; d < 3; d++) {
        shape[d] = s->side ? s->side : s->block * grid[d];
        box.lo[d] = shape[d] * at[d] / grid[d];
        box.hi[d] = shape[d] * (at[d] + 1) / grid[d];
    }
    return box;
}

/* Other ones in each step. */
static void fill(float *block, size_t count, int rank, int step)
{
    for (size_t i = 0; i < count; i++)
        block[i] = (float)(i % 1024) + (float)(rank + 100 * step);
}

static double switches(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* Write a step; the seconds of the slowest rank. Collective. */
static double write_step(bouma_dataset *ds, bouma_variable *variable, int n,
                         const bouma_box *box, const bouma_array *data)
{
    double begin, mine, slowest;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = measure_now();
    check(bouma_step_begin(ds, n, n), ds);
    check(bouma_variable_put_borrow(variable, box, data), ds);
    check(bouma_step_end(ds), ds);
    mine = measure_now() - begin;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

int main(int argc, char **argv)
{
    struct settings s;
    char path[PATH_BYTES];
    double seconds[MAX_STEPS], before, mine, all;
    int rank, ranks;
    bouma_dataset *ds = NULL;
    bouma_grid *grid;
    bouma_variable *variable;
    bouma_step *step;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    parse(&s, argc, argv);

    bouma_grid_spec shape = {.size = sizeof(shape), .ndims = 3};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_F32};
    bouma_box box = cut(&s, shape.shape, rank, ranks);
    size_t count = 1;

    for (int d = 0; d < 3; d++)
        count *= (size_t)(box.hi[d] - box.lo[d]);
    float *block = malloc(count * sizeof(float) + 1);
    float *back = malloc(count * sizeof(float) + 1);
    bouma_array data =
        BOUMA_ARRAY(BOUMA_TYPE_F32, block, count * sizeof(float));
    bouma_array read = BOUMA_ARRAY(BOUMA_TYPE_F32, back, count * sizeof(float));

    if (!block || !back)
        fail("memory", "there is none left");
    snprintf(path, sizeof(path), "%s/scale.bouma", s.directory);
    check(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, NULL), ds);
    check(bouma_grid_define(&grid, ds, "grid", &shape), ds);
    check(bouma_variable_define(&variable, grid, "v", &kind), ds);
    fill(block, count, rank, 0);
    write_step(ds, variable, 0, &box, &data);
    before = switches();
    for (int n = 0; n < s.steps; n++) {
        fill(block, count, rank, n + 1);
        seconds[n] = write_step(ds, variable, n + 1, &box, &data);
    }
    mine = switches() - before;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);

    check(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL), ds);
    check(bouma_step_open(&step, ds, s.steps), ds);
    grid = bouma_step_find_grid(step, "grid");
    variable = bouma_grid_find_variable(grid, "v");
    check(bouma_variable_read(variable, 0, &box, &read), ds);
    if (memcmp(block, back, count * sizeof(float)))
        fail(path, "what was read is not what was written");
    bouma_step_free(step);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD); /* all have read it */
    if (rank == 0) {
        measure_remove(path);
        printf("%d %.9f %.1f\n", ranks, measure_median(seconds, s.steps),
               all / ranks / s.steps);
    }
    free(back);
    free(block);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
