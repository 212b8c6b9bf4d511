/* rows_trial.h -- a dataset whose grid lies in rows (grid_rows.c): written by
 * all ranks, read in every way, and checked. */
#ifndef ROWS_TRIAL_H
#define ROWS_TRIAL_H

#include "../mpi/blocks.h"
#include "check.h"
#include "dataset/dataset.h"

enum { LEVELS = 4, STEPS = 2, CHUNKS = 8 };

extern const struct bm_layout bm_layout_grid_rows;
extern int grid_rows_file_shift;

/* The values of variable "v" of grid "g". */
extern const struct field rows_field;

struct trial {
    const struct ranks *ranks;
    char path[512], local[600], local_copy[1200];
    enum cut cut;
    bouma_options options;
    bouma_codec codec;
    int fixed; /* files in which the layout wants its chunks; 0: in any */
    int front; /* whether they begin with bytes of another format */
};

/* The number chooses how blocks are cut, the codec and the files. */
void trial_init(struct trial *t, const struct ranks *ranks, int number);
/* Files have a local copy, too. */
void trial_persist(struct trial *t);

/* All ranks write the dataset, and read step 1 of it. */
void write_steps(const struct trial *t);
void read_step(const struct trial *t);

/* ---- one rank alone ------------------------------------------------------ */

/* What verify finds. */
uint64_t damages(const char *path);
/* All values are right, and verify finds nothing. */
void check_all(const char *path);
/* What the local copy has, to another place. */
void drain(const struct trial *t);

#endif
