/* serve_data.h -- what bench_serve serves. */
#ifndef BENCH_SERVE_DATA_H
#define BENCH_SERVE_DATA_H

#include <stdint.h>

#include "bouma.h"

/* The grid and its variables, of the same values: within 1e-3 of their range,
 * and as they are. */
#define DATA_GRID  "flame"
#define DATA_LOSSY "T"
#define DATA_RAW   "raw"

/* A cube of 'size' samples an axis; a step of it. */
void data_write_grid(const char *path, int64_t size);
/* Particles with a position and four attributes, coded as usual. */
void data_write_particles(const char *path, uint64_t count);

/* Have nothing of a dataset in the page cache; the share of it that is there
 * nevertheless, from 0 to 1. */
double data_evict(const char *path);

/* A dataset that is open, and a variable of its grid. */
struct data_reading {
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *variable;
};
void data_open(struct data_reading *r, const char *path, const char *variable);
void data_close(struct data_reading *r);
void data_check(int rc, const bouma_dataset *ds);

#endif
