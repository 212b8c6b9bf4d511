/* particles_source.h -- a file that particles are imported from, whatever its
 * kind: .npz, .npy, .csv, a LAMMPS dump, or a column of plain values. */
#ifndef PARTICLES_SOURCE_H
#define PARTICLES_SOURCE_H

#include "mapped_file.h"
#include "read_csv.h"
#include "read_lammps.h"
#include "read_npz.h"

enum particles_kind {
    PARTICLES_NPZ,
    PARTICLES_NPY,
    PARTICLES_RAW,
    PARTICLES_CSV,
    PARTICLES_LAMMPS
};

struct particles_source {
    enum particles_kind kind;
    struct mapped_file file;
    struct particle_table table; /* the columns of the frame */
    struct npz_file npz;
    struct csv_file csv;
    struct lammps_file lammps;
    struct lammps_frame frame;
};

/* Open 'path', a text that must outlive *out, and find the columns of its first
 * frame. The caller ends *out with particles_source_close(), after a failure
 * too. */
int particles_source_open(struct particles_source *out, struct context *ctx,
                          const char *path);
/* The same for "NAME:TYPE[:COMPONENTS]=FILE", plain values in this machine's
 * byte order. */
int particles_source_open_column(struct particles_source *out,
                                 struct context *ctx, const char *text);
void particles_source_close(struct particles_source *source);

/* Go on to the next frame, which only dumps have; *found tells whether there is
 * one. Its columns replace those of the last one. */
int particles_source_next(struct particles_source *source, struct context *ctx,
                          bool *found);

/* Whether values are text, so that their type can be chosen. */
bool particles_source_is_text(const struct particles_source *source);
/* The line, from 1, that a row of a text is in; 0: it is in none. */
size_t particles_source_line(const struct particles_source *source,
                             uint64_t row);

/* Whether loading a column copies it into memory: it is compressed, text, or in
 * the other byte order. */
bool particles_source_copies(const struct particles_source *source,
                             const struct table_column *column);

/* Load these rows of all wanted columns. Those of a .csv file that have no type
 * are given one. Collective. */
int particles_source_load(struct particles_source *source, struct context *ctx,
                          struct row_range rows);

#endif
