/* quickstart.c -- the shortest program with MPI: write three steps of a field,
 * each rank a slab of it, and read the last one back.
 *
 *   mpirun -n 4 quickstart [quickstart.bouma] */
#include <bouma_mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANES = 16, N = 64, STEPS = 3 };

static float block[PLANES][N][N], back[PLANES][N][N];

static void check(int rc, const bouma_dataset *ds)
{
    if (rc) {
        fprintf(stderr, "quickstart: %s\n", bouma_error_message(ds));
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void simulate(int rank, int n)
{
    for (int z = 0; z < PLANES; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                block[z][y][x] = (float)(n + rank * PLANES + z + y * x);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "quickstart.bouma";
    bouma_dataset *ds = NULL;
    int rc;
    bouma_grid *grid;
    bouma_variable *density;
    bouma_step *step;
    int rank, ranks, same;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    /* Axes are z, y, x; this rank has the planes from lo to before hi. */
    bouma_grid_spec shape = {
        .size = sizeof(shape), .ndims = 3, .shape = {ranks * PLANES, N, N}};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_F32};
    bouma_box box = {.lo = {rank * PLANES, 0, 0},
                     .hi = {(rank + 1) * PLANES, N, N}};

    rc = bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, NULL);
    check(rc, ds);
    check(bouma_grid_define(&grid, ds, "cube", &shape), ds);
    check(bouma_variable_define(&density, grid, "density", &kind), ds);
    for (int n = 0; n < STEPS; n++) {
        simulate(rank, n);
        check(bouma_step_begin(ds, n, 0.1 * n), ds);
        check(bouma_variable_put_borrow(
                  density, &box,
                  &BOUMA_ARRAY(BOUMA_TYPE_F32, block, sizeof(block))),
              ds);
        check(bouma_step_end(ds), ds);
    }
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);

    rc = bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL);
    check(rc, ds);
    check(bouma_step_open(&step, ds, STEPS - 1), ds);
    grid = bouma_step_find_grid(step, "cube");
    density = bouma_grid_find_variable(grid, "density");
    check(bouma_variable_read(density, 0, &box,
                              &BOUMA_ARRAY(BOUMA_TYPE_F32, back, sizeof(back))),
          ds);
    bouma_step_free(step);
    bouma_dataset_free(ds);

    same = !memcmp(block, back, sizeof(block));
    printf("rank %d: %s\n", rank, same ? "the same" : "NOT the same");
    MPI_Finalize();
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
