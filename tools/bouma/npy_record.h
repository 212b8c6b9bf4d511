/* npy_record.h -- the header of a .npy file whose values are records: a
 * structured array of NumPy's, such as [('x', '<f4'), ('v', '<f8', (3,))]. */
#ifndef NPY_RECORD_H
#define NPY_RECORD_H

#include "npy.h"

enum { NPY_FIELD_NAME = 256 };

struct npy_field {
    char name[NPY_FIELD_NAME]; /* empty: padding */
    bouma_type type;
    bool swapped;
    int components;
    uint64_t offset, bytes; /* in the record */
};

struct npy_record {
    struct npy_field *fields;
    size_t count, room;
    uint64_t bytes; /* of a record */
    uint64_t rows;
    uint64_t data_offset; /* from the start of the file */
};

/* Whether the header, of the first 'count' bytes of a file, has records. */
bool npy_has_records(const void *bytes, size_t count);

/* Parse it. On failure 'message' tells what is wrong. The caller ends *out with
 * npy_record_release(), after a failure too. */
bool npy_record_parse(struct npy_record *out, const void *bytes, size_t count,
                      char *message, size_t message_bytes);
void npy_record_release(struct npy_record *record);

#endif
