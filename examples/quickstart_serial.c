/* quickstart_serial.c -- the shortest program: write three steps of a field,
 * and read the last one back, all of it and at half resolution.
 *
 *   quickstart_serial [quickstart.bouma] */
#include <bouma.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64, STEPS = 3 };

static float field[N][N][N], back[N][N][N], half[N / 2][N / 2][N / 2];

static void check(int rc, const bouma_dataset *ds)
{
    if (rc) {
        fprintf(stderr, "quickstart_serial: %s\n", bouma_error_message(ds));
        exit(EXIT_FAILURE);
    }
}

static void simulate(int n)
{
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                field[z][y][x] = (float)(n + z + y * x);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "quickstart.bouma";
    bouma_grid_spec shape = {
        .size = sizeof(shape), .ndims = 3, .shape = {N, N, N}};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_F32};
    bouma_box box = {.lo = {0, 0, 0}, .hi = {N, N, N}};
    bouma_dataset *ds = NULL;
    int rc;
    bouma_grid *grid;
    bouma_variable *density;
    bouma_step *step;
    int same;

    rc = bouma_dataset_create(&ds, path, NULL);
    check(rc, ds);
    check(bouma_grid_define(&grid, ds, "cube", &shape), ds);
    check(bouma_variable_define(&density, grid, "density", &kind), ds);
    for (int n = 0; n < STEPS; n++) {
        simulate(n);
        check(bouma_step_begin(ds, n, 0.1 * n), ds);
        check(bouma_variable_put_borrow(
                  density, &box,
                  &BOUMA_ARRAY(BOUMA_TYPE_F32, field, sizeof(field))),
              ds);
        check(bouma_step_end(ds), ds);
    }
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);

    rc = bouma_dataset_open(&ds, path, NULL);
    check(rc, ds);
    check(bouma_step_open(&step, ds, STEPS - 1), ds);
    grid = bouma_step_find_grid(step, "cube");
    density = bouma_grid_find_variable(grid, "density");
    check(bouma_variable_read(density, 0, NULL,
                              &BOUMA_ARRAY(BOUMA_TYPE_F32, back, sizeof(back))),
          ds);
    check(bouma_variable_read(density, 1, NULL,
                              &BOUMA_ARRAY(BOUMA_TYPE_F32, half, sizeof(half))),
          ds);
    bouma_step_free(step);
    bouma_dataset_free(ds);

    /* Level 1 has every second sample of each axis. */
    same = !memcmp(field, back, sizeof(field)) &&
           half[3][5][7] == field[6][10][14];
    printf("%s\n", same ? "the same" : "NOT the same");
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
