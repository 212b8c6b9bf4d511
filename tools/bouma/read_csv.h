/* read_csv.h -- particles from a table in text: a line of names, then a line of
 * numbers for each particle, with commas, semicolons or tabs between.
 *
 * Works on memory. Columns of whole numbers become i64 (u64 if they need it),
 * others f64; a whole number that f64 would round is refused there. As some
 * process may see a fraction where another one does not, each looks at its own
 * rows, all agree on the kinds, and then they load. */
#ifndef READ_CSV_H
#define READ_CSV_H

#include "particle_table.h"

struct csv_file {
    const char *text;
    size_t size;
    size_t body; /* offset of the line after the names */
    char separator;
    size_t columns;
    uint64_t rows;
};

/* What the numbers of a column need; added up, by 'or'. */
enum csv_kind {
    CSV_UNSIGNED = 1, /* beyond i64 */
    CSV_SIGNED = 2,   /* beyond u64: below 0 */
    CSV_REAL = 4,     /* with a point or an exponent, or nan or inf */
    CSV_FRACTION = 8  /* and no whole number */
};

/* Add the columns of the text, which must outlive *out, to an empty table; the
 * number of one in the line is its 'source'. */
bool csv_open(struct csv_file *out, struct particle_table *table,
              const void *bytes, size_t size, struct table_message *message);

/* Add the kinds of the rows' numbers to 'kinds' [columns]. */
bool csv_look(const struct csv_file *csv, struct particle_table *table,
              struct row_range rows, unsigned *kinds,
              struct table_message *message);
bouma_type csv_type(unsigned kinds);
/* Whether neither i64 nor u64 can hold them all. */
bool csv_is_mixed(unsigned kinds);

/* The line of the file, from 1, that a row is in; 0 if there is none. */
size_t csv_line(const struct csv_file *csv, uint64_t row);

/* Load all wanted columns, whose types are known, from these rows. */
bool csv_load(const struct csv_file *csv, struct particle_table *table,
              struct row_range rows, struct table_message *message);

#endif
