/* npy_columns.h -- .npy arrays as columns of particles: (n,) is a number for
 * each of n particles, (n, c) a vector of c, and records are several columns.
 */
#ifndef NPY_COLUMNS_H
#define NPY_COLUMNS_H

#include "particle_table.h"

/* Add the column (or columns) of an array of 'total' bytes with its header, of
 * which the first 'count' are at hand; of records, 'name' does not matter. */
struct npy_array {
    const char *name;
    size_t name_length;
    const void *bytes;
    size_t count;
    uint64_t total;
    size_t source; /* kept with the column */
};
bool npy_columns_add(struct particle_table *table,
                     const struct npy_array *array,
                     struct table_message *message);

/* Load rows from the whole array in memory, which must outlive the column:
 * nothing is copied, unless its byte order is not this machine's. */
bool npy_column_load(struct table_column *column, const void *bytes,
                     struct row_range rows, struct table_message *message);

#endif
