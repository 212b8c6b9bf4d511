/* open_steps.c -- see open_steps.h. Of the steps one is real; the others are
 * directories and records of the index, which is all that a list looks at. */
#include "open_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "measure.h"
#include "store/index.h"

enum { REPETITIONS = 9 };

static const double most_milliseconds = 20;
static const uint8_t id[16] = {0x62, 0x6d};

/* Milliseconds of this process's processor time. */
static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void make_first(const char *path)
{
    bouma_grid_spec shape = {.size = sizeof(shape), .ndims = 1, .shape = {8}};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_F32};
    const float data[8] = {0};
    bouma_variable *variable;
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;
    bouma_grid *grid;

    memcpy(options.id, id, sizeof(id));
    check(bouma_dataset_create(&ds, path, &options), ds);
    check(bouma_grid_define(&grid, ds, "grid", &shape), ds);
    check(bouma_variable_define(&variable, grid, "value", &kind), ds);
    check(bouma_step_begin(ds, 0, 0), ds);
    check(bouma_variable_put_borrow(
              variable, NULL, &BOUMA_ARRAY(BOUMA_TYPE_F32, data, sizeof(data))),
          ds);
    check(bouma_step_end(ds), ds);
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
}

static void make_steps(const char *path, uint64_t count)
{
    char name[4200];
    FILE *index;

    make_first(path);
    snprintf(name, sizeof(name), "%s/index", path);
    index = fopen(name, "ab");
    if (!index)
        fail(name, "cannot be written");
    for (uint64_t i = 1; i < count; i++) {
        struct bm_step_entry entry = {i, (double)i, {1, (uint32_t)i + 1}};
        uint8_t record[BM_INDEX_RECORD];

        bm_index_encode(record, &entry, id);
        if (fwrite(record, sizeof(record), 1, index) != 1)
            fail(path, "the index cannot be written");
        snprintf(name, sizeof(name), "%s/steps/%08" PRIu64, path, i);
        if (mkdir(name, 0777))
            fail(name, "cannot be made");
    }
    if (fclose(index))
        fail(path, "the index cannot be written");
}

static void measure(const char *path, uint64_t count)
{
    double open[REPETITIONS], step[REPETITIONS], list[REPETITIONS], most;

    for (int i = 0; i < REPETITIONS; i++) {
        double begin = processor_time(), opened, stepped;
        bouma_dataset *ds;
        bouma_step *one;

        check(bouma_dataset_open(&ds, path, NULL), ds);
        opened = processor_time();
        check(bouma_step_open(&one, ds, 0), ds);
        stepped = processor_time();
        if (bouma_dataset_step_count(ds) != (int64_t)count)
            fail(path, "not all steps are listed");
        list[i] = processor_time() - stepped;
        step[i] = stepped - opened;
        open[i] = opened - begin;
        bouma_step_free(one);
        bouma_dataset_free(ds);
    }
    most = measure_median(open, REPETITIONS);
    printf("%-10" PRIu64 " %7.3f %7.3f %7.3f  %s\n", count, most,
           measure_median(step, REPETITIONS), measure_median(list, REPETITIONS),
           most <= most_milliseconds ? "met" : "MISSED");
}

void open_steps_measure(const char *directory)
{
    char path[4096];

    printf("\nsteps of a dataset, processor time in ms\n"
           "target: to open it takes at most %.0f ms\n\n"
           "%-10s %7s %7s %7s\n",
           most_milliseconds, "steps", "open", "step", "list");
    for (uint64_t count = 1000; count <= 100000; count *= 10) {
        snprintf(path, sizeof(path), "%s/steps.bouma", directory);
        make_steps(path, count);
        measure(path, count);
        if (measure_remove(path))
            fail(path, "cannot be removed");
    }
}
