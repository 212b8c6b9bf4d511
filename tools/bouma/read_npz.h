/* read_npz.h -- particles from NumPy's .npz files: each member NAME.npy is a
 * column. Works on memory, and believes nothing that it says. */
#ifndef READ_NPZ_H
#define READ_NPZ_H

#include "zip_file.h"

struct npz_file {
    struct zip_file zip;
    struct zip_member
        *members; /* by the number that columns have as 'source' */
    size_t count, room;
};

/* Add the columns of the file in memory, which must outlive them. The caller
 * ends *out with npz_release(), after a failure too. */
bool npz_open(struct npz_file *out, struct particle_table *table,
              const void *bytes, size_t size, struct table_message *message);
void npz_release(struct npz_file *npz);

/* Load rows of a column. 'whole' compares the member's checksum, for which all
 * of it is read. */
bool npz_load(const struct npz_file *npz, struct table_column *column,
              struct row_range rows, bool whole, struct table_message *message);

#endif
