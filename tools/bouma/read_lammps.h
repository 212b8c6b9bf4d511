/* read_lammps.h -- particles from the text dumps of LAMMPS (`dump atom`, `dump
 * custom`), which have one frame after the other.
 *
 * Works on memory. Whole numbers (id, type, mol, ix, ...) are i64, all others
 * f64. Scaled coordinates become x, y and z by the box. */
#ifndef READ_LAMMPS_H
#define READ_LAMMPS_H

#include "particle_table.h"

struct lammps_box {
    bool known, tilted;
    double low[3], high[3];
    double tilt[3]; /* xy, xz, yz */
};

struct lammps_frame {
    int64_t step;
    bool timed;
    double time;
    struct lammps_box box;
    char boundary[32];            /* "pp pp ff"; "": not told */
    char units[32];               /* "metal"; "": not told */
    char text_column[TABLE_NAME]; /* one that has no numbers; "": none */
    bool scaled[3];               /* x, y, z are parts of the box */
    size_t words;                 /* in the line of an atom */
    uint64_t atoms;
    size_t body; /* offset of the first atom's line */
};

struct lammps_file {
    const char *text; /* must outlive this */
    size_t size;
    size_t next; /* offset of the next frame */
};

/* Whether the text looks like a dump. */
bool lammps_is_dump(const void *bytes, size_t size);

void lammps_open(struct lammps_file *out, const void *bytes, size_t size);

/* The next frame in *out, and its columns, added to an empty table. *found is
 * false at the end. */
bool lammps_next(struct lammps_file *file, struct lammps_frame *out,
                 struct particle_table *table, bool *found,
                 struct table_message *message);

/* The line of the file, from 1, that a row of a frame is in; 0: in none. */
size_t lammps_line(const struct lammps_file *file,
                   const struct lammps_frame *frame, uint64_t row);

/* Load all wanted columns from these rows of a frame. */
bool lammps_load(const struct lammps_file *file,
                 const struct lammps_frame *frame, struct particle_table *table,
                 struct row_range rows, struct table_message *message);

#endif
