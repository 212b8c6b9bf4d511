/* open_files.c -- see open_files.h. */
#include "open_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "open_steps.h"
#include "score.h"

enum { FILES = 16384, PATCH = 4, VARIABLES = 4 };

static const double most_ratio = 0.02, most_with_patch = 0.1;

static void make_step(const char *path)
{
    bouma_grid_spec shape = {.size = sizeof(shape),
                             .ndims = 1,
                             .shape = {FILES * PATCH},
                             .patch = {PATCH},
                             .levels = 1};
    bouma_variable_spec kind = {
        .size = sizeof(kind), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_RAW};
    bouma_options options = {.size = sizeof(options),
                             .durability = BOUMA_DURABILITY_FAST,
                             .files = FILES};
    static float data[FILES * PATCH];
    bouma_variable *variables[VARIABLES];
    bouma_dataset *ds;
    bouma_grid *grid;

    for (int i = 0; i < FILES * PATCH; i++)
        data[i] = (float)i;
    check(bouma_dataset_create(&ds, path, &options), ds);
    check(bouma_grid_define(&grid, ds, "grid", &shape), ds);
    for (int i = 0; i < VARIABLES; i++) {
        char name[2] = {(char)('a' + i), 0};

        check(bouma_variable_define(&variables[i], grid, name, &kind), ds);
    }
    check(bouma_step_begin(ds, 0, 0), ds);
    for (int i = 0; i < VARIABLES; i++)
        check(bouma_variable_put_borrow(
                  variables[i], NULL,
                  &BOUMA_ARRAY(BOUMA_TYPE_F32, data, sizeof(data))),
              ds);
    check(bouma_step_end(ds), ds);
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
}

static uint64_t bytes_read(const bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    check(bouma_dataset_info_get(&info, ds), ds);
    return info.bytes_read;
}

void open_files_measure(const char *directory)
{
    bouma_box box = {.lo = {FILES / 2 * PATCH},
                     .hi = {(FILES / 2 + 1) * PATCH}};
    bouma_step_details details = {.size = sizeof(details)};
    uint64_t before, opened, read;
    bouma_dataset *ds;
    bouma_step *step;
    float data[PATCH];
    char path[4096];

    snprintf(path, sizeof(path), "%s/files.bouma", directory);
    make_step(path);
    check(bouma_dataset_open(&ds, path, NULL), ds);
    before = bytes_read(ds);
    check(bouma_step_open(&step, ds, 0), ds);
    opened = bytes_read(ds) - before;
    check(bouma_step_details_get(&details, step), ds);
    check(bouma_variable_read(
              bouma_grid_find_variable(bouma_step_find_grid(step, "grid"), "a"),
              0, &box, &BOUMA_ARRAY(BOUMA_TYPE_F32, data, sizeof(data))),
          ds);
    read = bytes_read(ds) - before;
    if (data[0] < box.lo[0] || data[0] > box.lo[0])
        fail(path, "wrong values");
    score_part("a step of %d files: bytes read over those of the manifest",
               FILES);
    score("to open it", "", (double)opened / (double)details.manifest_bytes,
          SCORE_AT_MOST, most_ratio);
    score("and to read a patch", "",
          (double)read / (double)details.manifest_bytes, SCORE_AT_MOST,
          most_with_patch);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    if (measure_remove(path))
        fail(path, "cannot be removed");
}
