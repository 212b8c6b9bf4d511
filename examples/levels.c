/* levels.c -- cost and error of coarse levels: one plane of a lossy variable at
 * each level, compared with the same plane of an exact one.
 *
 *   levels DATASET GRID VARIABLE EXACT PLANE
 *
 * A level has every 2^level-th sample, so both variables have the same samples
 * at any level. PLANE is an index on the slowest axis that all levels have. */
#include <bouma.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int rc, const bouma_dataset *ds)
{
    if (rc) {
        fprintf(stderr, "levels: %s\n", bouma_error_message(ds));
        exit(EXIT_FAILURE);
    }
}

/* One plane as doubles, read through its own dataset handle, so that its bytes
 * can be counted. */
struct plane {
    double *samples;
    uint64_t count, bytes_read;
    double bound;
    int levels;
};

static struct plane read_plane(const char *path, const char *grid_name,
                               const char *name, int64_t at, int level)
{
    bouma_dataset *ds = NULL;
    bouma_step *step;
    bouma_step_info last = {.size = sizeof(last)};
    bouma_grid *grid;
    bouma_variable *variable;
    bouma_grid_info g = {.size = sizeof(g)};
    bouma_variable_info v = {.size = sizeof(v)};
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_dataset_info info = {.size = sizeof(info)};
    bouma_box box = {{at, 0, 0}, {at + 1, 0, 0}};
    struct plane p = {0};
    int rc = bouma_dataset_open(&ds, path, NULL);

    check(rc, ds);
    rc = bouma_dataset_step_get(&last, ds, bouma_dataset_step_count(ds) - 1);
    check(rc, ds);
    check(bouma_step_open(&step, ds, last.step), ds);
    grid = bouma_step_find_grid(step, grid_name);
    check(grid ? BOUMA_OK : BOUMA_ENOTFOUND, ds);
    variable = bouma_grid_find_variable(grid, name);
    check(variable ? BOUMA_OK : BOUMA_ENOTFOUND, ds);
    bouma_grid_info_get(&g, grid);
    bouma_variable_info_get(&v, variable);
    for (int axis = 1; axis < g.ndims; axis++)
        box.hi[axis] = g.shape[axis];
    check(bouma_variable_select(&selection, variable, level, &box), ds);

    p.levels = g.levels;
    p.bound = v.bound;
    p.count = selection.bytes / sizeof(double);
    p.samples = malloc(selection.bytes);
    if (v.type != BOUMA_TYPE_F64 || v.components != 1 || !p.count ||
        !p.samples) {
        fprintf(stderr, "levels: %s has no plane of f64 at %lld\n", name,
                (long long)at);
        exit(EXIT_FAILURE);
    }
    check(bouma_variable_read(
              variable, level, &box,
              &BOUMA_ARRAY(BOUMA_TYPE_F64, p.samples, selection.bytes)),
          ds);
    check(bouma_dataset_info_get(&info, ds), ds);
    p.bytes_read = info.bytes_read;
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return p;
}

int main(int argc, char **argv)
{
    int levels, beyond = 0;
    int64_t at;
    struct plane first;

    if (argc != 6) {
        fprintf(stderr, "usage: levels DATASET GRID VARIABLE EXACT PLANE\n");
        return 2;
    }
    at = atoll(argv[5]);
    first = read_plane(argv[1], argv[2], argv[3], at, 0);
    levels = first.levels;
    free(first.samples);
    printf("%5s %9s %12s %14s %14s %10s\n", "level", "samples", "bytes read",
           "of the exact", "largest error", "allowed");
    for (int level = levels - 1; level >= 0; level--) {
        struct plane some = read_plane(argv[1], argv[2], argv[3], at, level);
        struct plane exact = read_plane(argv[1], argv[2], argv[4], at, level);
        double largest = 0;

        for (uint64_t i = 0; i < some.count; i++)
            largest = fmax(largest, fabs(some.samples[i] - exact.samples[i]));
        printf("%5d %9llu %12llu %14llu %14.6f %10g\n", level,
               (unsigned long long)some.count,
               (unsigned long long)some.bytes_read,
               (unsigned long long)exact.bytes_read, largest, some.bound);
        beyond |= largest > some.bound;
        free(some.samples);
        free(exact.samples);
    }
    if (beyond)
        fprintf(stderr, "levels: an error is larger than allowed\n");
    return beyond ? EXIT_FAILURE : EXIT_SUCCESS;
}
