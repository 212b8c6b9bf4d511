/* particles_source.h -- a file that particles are imported from, whatever its
 * format: see importer.h. */
#ifndef PARTICLES_SOURCE_H
#define PARTICLES_SOURCE_H

#include "mapped_file.h"
#include "particle_table.h"
#include "read_lammps.h"

struct importer;

struct particles_source {
    const struct importer *importer;
    struct mapped_file file;
    struct particle_table table;      /* the columns of the frame */
    const struct lammps_frame *frame; /* what a dump tells of it; or NULL */
    void *state;                      /* the importer's own */
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

/* For importers: room for their own 'state', zeroed and freed with the source;
 * NULL without memory. A column of values as they lie in the file; and what is wrong
 * with the file. */
void *particles_source_hold(struct particles_source *source, size_t bytes);
int particles_source_load_plain(struct particles_source *source,
                                struct context *ctx, struct row_range rows);
int particles_source_refuse(const struct particles_source *source,
                            struct context *ctx,
                            const struct table_message *message);

#endif
