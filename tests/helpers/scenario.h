/* scenario.h -- the small dataset that all reliability tests write and read: a
 * grid of 7 x 6 samples in patches of 4 x 4, with two variables, in 3 files a
 * step.
 *
 * Every value follows from the step's number and its 'generation', which tells
 * apart the versions of a step that is written more than once; the step's time
 * and an attribute of it say which it is. So a reader knows what it must find
 * without a copy of what was written. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "bouma.h"

#define SCENARIO_ROWS    7
#define SCENARIO_COLUMNS 6
#define SCENARIO_SAMPLES (SCENARIO_ROWS * SCENARIO_COLUMNS)

struct scenario_values {
    double temperature[SCENARIO_SAMPLES]; /* [rows][columns] */
    int32_t flow[SCENARIO_SAMPLES * 2];   /* [rows][columns][2] */
};

double scenario_time(int64_t step, int generation);
void scenario_fill(struct scenario_values *out, int64_t step, int generation);

/* Options with a fixed identity; either table may be NULL. */
void scenario_options(bouma_options *opts, const bouma_io *io,
                      const bouma_allocator *allocator);

/* Set options from texts such as "durability=fast"; the number of the first one
 * that is not understood, or 'count'. */
int scenario_options_set(bouma_options *opts, int count, char **texts);

/* What one handle has defined so far; all NULL at first. */
struct scenario_writer {
    bouma_grid *grid;
    bouma_variable *temperature, *flow;
};

/* Write one step, of which this rank holds every 'ranks'-th row from 'rank' on.
 * A rank that fails before the end of the step gives the step up, so the others
 * do not wait for it. The status is that of bouma_step_end() or
 * bouma_step_abort(), or of what failed before, where abort says success.
 * Collective. */
int scenario_write(bouma_dataset *ds, struct scenario_writer *writer,
                   int64_t step, int generation, int rank, int ranks);

enum scenario_verdict {
    SCENARIO_ABSENT,  /* the library says that there is no such step */
    SCENARIO_EXACT,   /* every bit is right, at level 0 and at level 1 */
    SCENARIO_BARE,    /* so it is, but the attributes are not there, as after a
                         repair that had no manifest to go by */
    SCENARIO_REFUSED, /* an error was told */
    SCENARIO_WRONG    /* success was told, and it is not true */
};

/* Open a step of a serial dataset and read all of it. 'generation' is set where
 * the verdict is SCENARIO_EXACT or SCENARIO_BARE. */
enum scenario_verdict scenario_read(bouma_dataset *ds, int64_t step,
                                    int *generation);

/* Read the temperature of 'count' steps (16 at most) as a series, the first one
 * by its manifest. The status is that of the call, or of opening the first; then
 * same[i] tells whether step i has the values of its generation. */
int scenario_read_series(bouma_dataset *ds, const int64_t *steps,
                         const int *generations, size_t count, int *same);

/* Read all of an open step with bouma_step_read(), whose status is put into
 * 'status'. Collective. */
enum scenario_verdict scenario_read_together(bouma_step *step, int64_t number,
                                             int *generation, int *status);

#endif
