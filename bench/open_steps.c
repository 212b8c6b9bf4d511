/* open_steps.c -- see open_steps.h. Of the steps one is real; the others are
 * directories and records of the index, which is all that a list looks at. */
#include "open_steps.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "measure.h"
#include "score.h"
#include "store/index.h"

enum { REPETITIONS = 9 };

static const double most_seconds = 20e-3;
static const uint8_t id[16] = {0x62, 0x6d};

/* Seconds of this process's processor time. */
static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

/* Processor time to read the directory of the steps. */
static double list_plainly(const char *path, uint64_t count)
{
    double begin = processor_time();
    DIR *directory = opendir(path);
    uint64_t found = 0;

    while (directory && readdir(directory))
        found++;
    if (!directory || closedir(directory) || found < count)
        fail(path, "not all steps are there");
    return processor_time() - begin;
}

static void measure(const char *path, uint64_t count)
{
    static struct times open, step, list, plain;
    char steps[4200];

    open.count = step.count = list.count = plain.count = 0;
    snprintf(steps, sizeof(steps), "%s/steps", path);
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
        times_add(&list, processor_time() - stepped);
        times_add(&step, stepped - opened);
        times_add(&open, opened - begin);
        bouma_step_free(one);
        bouma_dataset_free(ds);
        times_add(&plain, list_plainly(steps, count));
    }
    score_part("%" PRIu64 " steps, processor time", count);
    score_times("opening the dataset", "s", &open, SCORE_AT_MOST, most_seconds);
    score_times("opening the first step", "s", &step, SCORE_TOLD, 0);
    score_ratio("listing the steps over listing their directory", &list,
                "readdir() of the directory", &plain, SCORE_TOLD, 0);
}

void open_steps_measure(const char *directory, int most)
{
    char path[4096];

    for (uint64_t count = 1000; count <= (uint64_t)most; count *= 10) {
        snprintf(path, sizeof(path), "%s/steps.bouma", directory);
        make_steps(path, count);
        measure(path, count);
        if (measure_remove(path))
            fail(path, "cannot be removed");
    }
}
