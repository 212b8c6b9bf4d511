/* read_box.c -- inspect a dataset: list the content of its last step, then read
 * the middle of one variable from coarse to fine.
 *
 *   read_box DATASET [GRID VARIABLE]
 *
 * Each level reads only the bytes that the coarser ones have not read; the final
 * array is the same as that of a single read at full resolution. */
#include <bouma_lists.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int rc, const bouma_dataset *ds)
{
    if (rc) {
        fprintf(stderr, "read_box: %s: %s\n", bouma_status_name(rc),
                bouma_error_message(ds));
        exit(EXIT_FAILURE);
    }
}

static void list(bouma_step *step)
{
    for (int i = 0; i < bouma_step_grid_count(step); i++) {
        bouma_grid *grid = bouma_step_grid(step, i);
        bouma_grid_info g = {.size = sizeof(g)};

        bouma_grid_info_get(&g, grid);
        printf("  %s:", g.name);
        for (int axis = 0; axis < g.ndims; axis++)
            printf("%s%lld", axis ? " x " : " ", (long long)g.shape[axis]);
        printf(" samples, %d levels\n", g.levels);
        for (int j = 0; j < g.variables; j++) {
            bouma_variable_info v = {.size = sizeof(v)};

            bouma_variable_info_get(&v, bouma_grid_variable(grid, j));
            printf("    %s: %d x %s %s, %llu of %llu bytes\n", v.name,
                   v.components, bouma_type_name(v.type), v.unit ? v.unit : "",
                   (unsigned long long)v.stored_bytes,
                   (unsigned long long)v.raw_bytes);
        }
    }
}

/* The i-th value of an array of any type. */
static double value(const void *data, bouma_type type, uint64_t i)
{
    switch (type) {
#define VALUE_CASE(name, number, ctype, text)                                  \
    case BOUMA_##name:                                                         \
        return (double)((const ctype *)data)[i];
        BOUMA_TYPE_LIST(VALUE_CASE)
#undef VALUE_CASE
    case BOUMA_TYPE_STRING:
        break;
    }
    return NAN;
}

static void print_level(int level, const void *data, bouma_type type,
                        uint64_t count, uint64_t bytes)
{
    double low = INFINITY, high = -INFINITY, sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        double v = value(data, type, i);

        low = fmin(low, v);
        high = fmax(high, v);
        sum += v;
    }
    printf("%5d %10llu %12g %12g %12g %12llu\n", level,
           (unsigned long long)count, low, high, sum / (double)count,
           (unsigned long long)bytes);
}

/* Go from the coarsest level to level 0; 0 if it ends with what a read of the
 * same box gives. */
static int refine(bouma_dataset *ds, bouma_variable *variable, int levels,
                  const bouma_box *box)
{
    bouma_refinement *refinement;
    bouma_variable_info v = {.size = sizeof(v)};
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_dataset_info info = {.size = sizeof(info)};
    const void *data;
    void *direct;
    uint64_t before = 0;
    int rc, level, differs;

    bouma_variable_info_get(&v, variable);
    printf("\n%s, all components together:\n%5s %10s %12s %12s %12s %12s\n",
           v.name, "level", "values", "min", "max", "mean", "bytes read");
    check(bouma_dataset_info_get(&info, ds), ds);
    before = info.bytes_read;
    rc = bouma_refinement_open(&refinement, variable, levels - 1, box);
    while (rc == BOUMA_OK) {
        check(bouma_refinement_get(&data, &selection, &level, refinement), ds);
        check(bouma_dataset_info_get(&info, ds), ds);
        print_level(level, data, v.type,
                    selection.bytes / bouma_type_size(v.type),
                    info.bytes_read - before);
        before = info.bytes_read;
        rc = bouma_refinement_next(refinement);
    }
    if (rc != BOUMA_ENOTFOUND) /* there is no level beyond 0 */
        check(rc, ds);

    check(bouma_refinement_get(&data, &selection, &level, refinement), ds);
    direct = malloc(selection.bytes);
    if (!direct)
        check(BOUMA_ENOMEM, NULL);
    check(bouma_variable_read(variable, 0, box,
                              &BOUMA_ARRAY(v.type, direct, selection.bytes)),
          ds);
    differs = level != 0 || memcmp(data, direct, selection.bytes);
    free(direct);
    bouma_refinement_free(refinement);
    return differs;
}

int main(int argc, char **argv)
{
    bouma_dataset *ds = NULL;
    int rc;
    bouma_step *step;
    bouma_step_info last = {.size = sizeof(last)};
    bouma_grid *grid;
    bouma_grid_info g = {.size = sizeof(g)};
    bouma_variable *variable = NULL;
    bouma_box middle = {{0}, {0}};
    int differs;

    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: read_box DATASET [GRID VARIABLE]\n");
        return 2;
    }
    rc = bouma_dataset_open(&ds, argv[1], NULL);
    check(rc, ds);
    check(bouma_dataset_step_get(&last, ds, bouma_dataset_step_count(ds) - 1),
          ds);
    check(bouma_step_open(&step, ds, last.step), ds);
    printf("%s: %lld steps, the last is %lld at time %g\n", argv[1],
           (long long)bouma_dataset_step_count(ds), (long long)last.step,
           last.time);
    list(step);

    grid = argc > 2 ? bouma_step_find_grid(step, argv[2])
                    : bouma_step_grid(step, 0);
    if (grid)
        variable = argc > 2 ? bouma_grid_find_variable(grid, argv[3])
                            : bouma_grid_variable(grid, 0);
    if (!variable) {
        fprintf(stderr, "read_box: %s: no such variable\n", argv[1]);
        return EXIT_FAILURE;
    }

    /* The middle half of each axis. */
    bouma_grid_info_get(&g, grid);
    for (int axis = 0; axis < g.ndims; axis++) {
        middle.lo[axis] = g.shape[axis] / 4;
        middle.hi[axis] = g.shape[axis] - g.shape[axis] / 4;
    }
    differs = refine(ds, variable, g.levels, &middle);
    if (differs)
        fprintf(stderr, "read_box: the refined array is NOT the same\n");
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return differs ? EXIT_FAILURE : EXIT_SUCCESS;
}
