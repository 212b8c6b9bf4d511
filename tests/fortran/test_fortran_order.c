/* test_fortran_order.c -- what Fortran wrote as field(nx, ny, nz) is a grid with the
 * axes z, y, x in C.
 *
 *   test_fortran_order FOLDER
 *
 * test_fortran_grids.f90 has written FOLDER/order.bouma. */
#include <bouma.h>

#include "check.h"

enum { NX = 12, NY = 10, NZ = 6 };

static double field[NZ][NY][NX];

static void axes_are_z_y_x(bouma_grid *grid)
{
    bouma_grid_info info = {.size = sizeof(info)};

    CHECK(bouma_grid_info_get(&info, grid) == BOUMA_OK);
    CHECK(info.ndims == 3);
    CHECK(info.shape[0] == NZ && info.shape[1] == NY && info.shape[2] == NX);
    CHECK(info.patch[0] == 2 && info.patch[1] == 4 && info.patch[2] == 8);
    CHECK(info.origin[0] == 3 && info.origin[1] == 2 && info.origin[2] == 1);
    CHECK(info.spacing[0] == 0.3 && info.spacing[2] == 0.1);
    CHECK(!strcmp(info.unit, "m"));
}

static void samples_are_where_c_looks_for_them(bouma_grid *grid)
{
    bouma_variable *values = bouma_grid_find_variable(grid, "values");
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F64, field, sizeof(field));
    int wrong = 0;

    CHECK(bouma_variable_read(values, 0, NULL, &array) == BOUMA_OK);
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                wrong +=
                    field[z][y][x] != (x + 1) + 100 * (y + 1) + 10000 * (z + 1);
    CHECK(wrong == 0);
}

int main(int argc, char **argv)
{
    char path[1000];
    bouma_dataset *ds = NULL;
    bouma_step *step = NULL;

    snprintf(path, sizeof(path), "%s/order.bouma", argc > 1 ? argv[1] : ".");
    CHECK(bouma_dataset_open(&ds, path, NULL) == BOUMA_OK);
    CHECK(bouma_step_open(&step, ds, 0) == BOUMA_OK);
    axes_are_z_y_x(bouma_step_find_grid(step, "grid"));
    samples_are_where_c_looks_for_them(bouma_step_find_grid(step, "grid"));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return check_counts()->failed != 0;
}
