/* importer.h -- the files that `bouma import` reads, as a table.
 *
 * A format is a file of its own, with its record, and a line in the list below.
 * A file has the first format of the table whose suffix it has, or, of
 * particles, as which it begins; messages, help and the manual page list what
 * the table has. */
#ifndef IMPORTER_H
#define IMPORTER_H

#include "grid_series.h"
#include "particles_source.h"
#include "source.h"

struct importer {
    const char *name;     /* ".npy", or what a format without a suffix is */
    const char *suffixes; /* ".csv|.tsv"; NULL: it is known by its beginning */
    const char *grids; /* what it is to a grid, for the help; NULL: nothing */
    const char *particles; /* and to particles */

    /* Of grids: find type, shape and strides of the samples in 'source->file',
     * which is open. */
    int (*open_grid)(struct source *source, struct context *ctx,
                     const struct source_request *request);

    /* Of grids of which one file lists several variables, in several steps:
     * find these in 'series->file', which is open, and take those that --var
     * and --step choose. close_series() ends what 'series->state' holds, after
     * a failure too. */
    int (*open_series)(struct grid_series *series, struct context *ctx,
                       const struct arguments *args);
    void (*close_series)(struct grid_series *series);
    /* Whether all is there that will be loaded; may print notes. Collective. */
    int (*check_series)(struct grid_series *series, struct context *ctx);
    /* Load the layers of all variables that are this process's, of the i-th
     * step. Collective. */
    int (*load_series)(struct grid_series *series, struct context *ctx,
                       size_t i);
    /* Set attributes of the grid; a status of the library. */
    int (*describe_series)(const struct grid_series *series, bouma_grid *grid);

    /* Of particles. Whether a file begins as one of this format does; may be
     * NULL. */
    bool (*begins)(const struct mapped_file *file);
    /* Find the columns of the first frame in 'source->file', which is open.
     * close() (may be NULL) ends what 'source->state' holds, after a failure
     * too. */
    int (*open)(struct particles_source *source, struct context *ctx);
    void (*close)(struct particles_source *source);
    /* Go on to the next frame, and tell it in 'source->frame'; NULL: a file is
     * one frame, without a step of its own. */
    int (*next)(struct particles_source *source, struct context *ctx,
                bool *found);
    /* Load these rows of all wanted columns. Collective. */
    int (*load)(struct particles_source *source, struct context *ctx,
                struct row_range rows);
    /* Of text: the line, from 1, that a row is in; NULL: values are no text. */
    size_t (*line)(const struct particles_source *source, uint64_t row);
    /* Whether a column is compressed; NULL: none is. */
    bool (*compressed)(const struct particles_source *source,
                       const struct table_column *column);
};

/* All formats; the first that fits is taken: a new one adds a line here. */
#define IMPORTER_LIST(X)                                                       \
    X(npz)                                                                     \
    X(npy)                                                                     \
    X(lammps)                                                                  \
    X(csv)                                                                     \
    X(raw)                                                                     \
    X(idx)
#define IMPORTER_LIST_ENTRY(name) extern const struct importer import_##name;
IMPORTER_LIST(IMPORTER_LIST_ENTRY)
#undef IMPORTER_LIST_ENTRY

/* Of --column: plain values, of which the caller knows what they are. In no
 * table, as no file is one. */
extern const struct importer import_column;

/* The i-th format; NULL: there are no more. */
const struct importer *importer_at(int i);

/* The format of a file of samples, by its name; of one of particles, that is
 * open. */
const struct importer *importer_find_series(const char *path); /* or NULL */
int importer_find_grid(const struct importer **out, struct context *ctx,
                       const char *path);
int importer_find_particles(const struct importer **out, struct context *ctx,
                            const struct mapped_file *file);

#endif
