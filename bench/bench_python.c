/* bench_python.c -- the reads of python.py, in C: to compare with.
 *
 *   bench_python DATASET LOW HIGH COUNT
 *
 * Reads the box from LOW to HIGH, along each of three axes, of "g/v" in step 0,
 * once, and then COUNT times into the same array, and prints for each of these
 * the seconds on the clock and those of all processors. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bouma.h"
#include "measure.h"

static int read_box(bouma_variable *v, long low, long high, int count)
{
    bouma_box box = {{low, low, low}, {high, high, high}};
    size_t n = (size_t)(high - low), bytes = n * n * n * sizeof(float);
    float *values = calloc(1, bytes);
    int rc = values ? BOUMA_OK : BOUMA_ENOMEM;

    for (int i = -1; i < count && !rc; i++) {
        bouma_array array = {.size = sizeof(array),
                             .type = BOUMA_TYPE_F32,
                             .data = values,
                             .bytes = bytes};
        double start = measure_now();
        clock_t used = clock();

        rc = bouma_variable_read(v, 0, &box, &array);
        if (i >= 0)
            printf("%.9f %.9f\n", measure_now() - start,
                   (double)(clock() - used) / CLOCKS_PER_SEC);
    }
    free(values);
    return rc;
}

int main(int argc, char **argv)
{
    bouma_dataset *ds = NULL;
    bouma_step *step = NULL;
    int rc;

    if (argc != 5) {
        fprintf(stderr, "usage: %s DATASET LOW HIGH COUNT\n", argv[0]);
        return 2;
    }
    rc = bouma_dataset_open(&ds, argv[1], NULL);
    if (!rc)
        rc = bouma_step_open(&step, ds, 0);
    if (!rc)
        rc = read_box(
            bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v"),
            atol(argv[2]), atol(argv[3]), atoi(argv[4]));
    if (rc)
        fprintf(stderr, "%s\n", bouma_error_message(ds));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return rc != 0;
}
