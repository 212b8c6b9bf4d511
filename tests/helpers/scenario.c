#include "scenario.h"
#include "arrays.h"

#include <stdio.h>
#include <string.h>

#include "chance.h"

#define COARSE_ROWS    ((SCENARIO_ROWS + 1) / 2)
#define COARSE_COLUMNS ((SCENARIO_COLUMNS + 1) / 2)

double scenario_time(int64_t step, int generation)
{
    return (double)step + generation / 16.0;
}

void scenario_fill(struct scenario_values *out, int64_t step, int generation)
{
    /* Chunks are smaller in every third step. */
    int shift = step % 3 ? 40 : 60;
    uint64_t chance = (uint64_t)step * 1000 + (uint64_t)generation;

    /* Few different values a row, so that there is something to compress. */
    for (int i = 0; i < SCENARIO_SAMPLES; i++) {
        out->temperature[i] = (double)(chance_next(&chance) >> shift) / 16;
        out->flow[2 * i] = (int32_t)(chance_next(&chance) >> 48);
        out->flow[2 * i + 1] = -i;
    }
}

void scenario_options(bouma_options *opts, const bouma_io *io,
                      const bouma_allocator *allocator)
{
    *opts = (bouma_options){.size = sizeof(*opts)};
    opts->io = io;
    opts->allocator = allocator;
    opts->files = 3;
    memcpy(opts->id, "crash test bouma", sizeof(opts->id));
}

int scenario_options_set(bouma_options *opts, int count, char **texts)
{
    for (int i = 0; i < count; i++) {
        char name[32];
        const char *value = strchr(texts[i], '=');

        if (!value)
            return i;
        snprintf(name, sizeof(name), "%.*s", (int)(value - texts[i]), texts[i]);
        if (bouma_options_set(opts, name, value + 1, NULL, 0))
            return i;
    }
    return count;
}

/* ---- writing ------------------------------------------------------------ */

/* Define what the handle does not have yet. A second call goes on where a
 * failed one stopped. */
static int define(bouma_dataset *ds, struct scenario_writer *w)
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 2,
                            .shape = {SCENARIO_ROWS, SCENARIO_COLUMNS},
                            .patch = {4, 4},
                            .levels = 2};
    bouma_variable_spec temperature = {.size = sizeof(temperature),
                                       .type = BOUMA_TYPE_F64,
                                       .codec = BOUMA_CODEC_ZSTD,
                                       .unit = "K"};
    bouma_variable_spec flow = {.size = sizeof(flow),
                                .type = BOUMA_TYPE_I32,
                                .components = 2,
                                .codec = BOUMA_CODEC_RAW};
    int rc = BOUMA_OK;

    if (!w->grid)
        rc = bouma_grid_define(&w->grid, ds, "air", &grid);
    if (!rc && !w->temperature)
        rc = bouma_variable_define(&w->temperature, w->grid, "temperature",
                                   &temperature);
    if (!rc && !w->flow)
        rc = bouma_variable_define(&w->flow, w->grid, "flow", &flow);
    return rc;
}

static int put_row(const struct scenario_writer *w,
                   const struct scenario_values *values, int row)
{
    bouma_box box = {.lo = {row, 0}, .hi = {row + 1, SCENARIO_COLUMNS}};
    int first = row * SCENARIO_COLUMNS;
    int rc = test_put(w->temperature, &box, &values->temperature[first]);

    if (rc)
        return rc;
    return test_put(w->flow, &box, &values->flow[2 * first]);
}

int scenario_write(bouma_dataset *ds, struct scenario_writer *writer,
                   int64_t step, int generation, int rank, int ranks)
{
    struct scenario_values values;
    int local, rc;

    scenario_fill(&values, step, generation);
    local = define(ds, writer);
    if (!local)
        local = bouma_step_begin(ds, step, scenario_time(step, generation));
    if (!local)
        local = bouma_attributes_set_number(bouma_dataset_step_attributes(ds),
                                            "generation", generation);
    for (int row = rank; row < SCENARIO_ROWS && !local; row += ranks)
        local = put_row(writer, &values, row);
    rc = local ? bouma_step_abort(ds) : bouma_step_end(ds);
    return rc ? rc : local;
}

/* ---- reading ------------------------------------------------------------ */

/* The generation that an open step is by its time; -1 if it is none. 'bare' is
 * set if its attribute is missing. */
static int stated_generation(bouma_step *step, int64_t number, int *bare)
{
    bouma_step_details details = {.size = sizeof(details)};
    bouma_attribute found = {.size = sizeof(found)};
    int generation;

    if (bouma_step_details_get(&details, step) || details.step != number)
        return -1;
    generation = (int)((details.time - scenario_time(number, 0)) * 16);
    if (details.time != scenario_time(number, generation))
        return -1;
    *bare = bouma_attributes_find(&found, bouma_step_attributes(step),
                                  "generation") == BOUMA_ENOTFOUND;
    if (*bare)
        return generation;
    return found.type == BOUMA_TYPE_F64 && found.count == 1 &&
                   *(const double *)found.values == generation
               ? generation
               : -1;
}

/* Level 1 must be every second sample of level 0. */
static int is_coarse_part(const double *coarse, const double *fine)
{
    for (int row = 0; row < COARSE_ROWS; row++)
        for (int column = 0; column < COARSE_COLUMNS; column++)
            if (coarse[row * COARSE_COLUMNS + column] !=
                fine[2 * row * SCENARIO_COLUMNS + 2 * column])
                return 0;
    return 1;
}

static bouma_variable *find_variable(bouma_step *step, const char *name)
{
    bouma_grid *grid = bouma_step_find_grid(step, "air");

    return grid ? bouma_grid_find_variable(grid, name) : NULL;
}

static enum scenario_verdict verdict_on(const struct scenario_values *found,
                                        int64_t number, int generation,
                                        int bare)
{
    struct scenario_values expected;

    scenario_fill(&expected, number, generation);
    if (generation < 0 || memcmp(found, &expected, sizeof(expected)) != 0)
        return SCENARIO_WRONG;
    return bare ? SCENARIO_BARE : SCENARIO_EXACT;
}

static enum scenario_verdict read_open_step(bouma_step *step, int64_t number,
                                            int *generation)
{
    bouma_variable *temperature = find_variable(step, "temperature");
    bouma_variable *flow = find_variable(step, "flow");
    double coarse[COARSE_ROWS * COARSE_COLUMNS];
    struct scenario_values found;
    int bare;

    *generation = stated_generation(step, number, &bare);
    if (!temperature || !flow || *generation < 0)
        return SCENARIO_WRONG;
    memset(&found, 0xff, sizeof(found));
    if (test_read(temperature, 1, NULL, coarse) ||
        test_read(temperature, 0, NULL, found.temperature) ||
        test_read(flow, 0, NULL, found.flow))
        return SCENARIO_REFUSED;
    if (!is_coarse_part(coarse, found.temperature))
        return SCENARIO_WRONG;
    return verdict_on(&found, number, *generation, bare);
}

enum scenario_verdict scenario_read(bouma_dataset *ds, int64_t step,
                                    int *generation)
{
    enum scenario_verdict verdict;
    bouma_step *open = NULL;
    int rc = bouma_step_open(&open, ds, step);

    if (rc == BOUMA_ENOTFOUND)
        verdict = SCENARIO_ABSENT;
    else if (rc)
        verdict = SCENARIO_REFUSED;
    else
        verdict = read_open_step(open, step, generation);
    bouma_step_free(open);
    return verdict;
}

int scenario_read_series(bouma_dataset *ds, const int64_t *steps,
                         const int *generations, size_t count, int *same)
{
    double found[16][SCENARIO_SAMPLES];
    bouma_array array =
        BOUMA_ARRAY(BOUMA_TYPE_F64, found, count * sizeof(found[0]));
    bouma_series series = {.size = sizeof(series),
                           .steps = steps,
                           .step_count = count,
                           .array = &array};
    bouma_step *first = NULL;
    int rc = bouma_step_open(&first, ds, steps[0]);

    memset(found, 0xff, sizeof(found));
    if (!rc)
        rc = bouma_variable_read_series(
            NULL, find_variable(first, "temperature"), &series);
    bouma_step_free(first);
    for (size_t i = 0; i < count; i++) {
        struct scenario_values expected;

        scenario_fill(&expected, steps[i], generations[i]);
        same[i] = !memcmp(found[i], expected.temperature, sizeof(found[i]));
    }
    return rc;
}

enum scenario_verdict scenario_read_together(bouma_step *step, int64_t number,
                                             int *generation, int *status)
{
    bouma_box all = {.hi = {SCENARIO_ROWS, SCENARIO_COLUMNS}};
    struct scenario_values found;
    bouma_variable *heat = find_variable(step, "temperature");
    bouma_variable *flow = find_variable(step, "flow");
    bouma_array arrays[2] = {test_array(heat, found.temperature),
                             test_array(flow, found.flow)};
    bouma_request requests[2] = {{sizeof(*requests), heat, 0, all, &arrays[0]},
                                 {sizeof(*requests), flow, 0, all, &arrays[1]}};
    int bare;

    memset(&found, 0xff, sizeof(found));
    *generation = stated_generation(step, number, &bare);
    *status = bouma_step_read(step, requests, 2);
    return *status ? SCENARIO_REFUSED
                   : verdict_on(&found, number, *generation, bare);
}
