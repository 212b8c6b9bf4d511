/* grid_series.h -- variables of a grid in several steps, all of which one file
 * lists, such as the header of an IDX dataset: see importer.h. */
#ifndef GRID_SERIES_H
#define GRID_SERIES_H

#include "arguments.h"
#include "axes.h"
#include "source.h"

struct importer;

struct grid_series {
    const struct importer *importer;
    struct mapped_file file;
    struct source *sources; /* the variables, of one shape */
    int source_count;
    int64_t *steps; /* their numbers */
    size_t step_count;
    double origin[MAX_AXES], spacing[MAX_AXES];
    /* How it lies in HZ order, if our grid can lie so, too; else empty, 0. */
    char hz_template[64];
    int hz_block_bits, hz_blocks_per_file;
    void *state; /* of the importer */
};

/* Open 'path', a text that must outlive *out. The caller ends *out with
 * grid_series_close(), after a failure too. */
int grid_series_open(struct grid_series *out, struct context *ctx,
                     const char *path, const struct arguments *args);
void grid_series_close(struct grid_series *series);

#endif
