/* npy.h -- the header of NumPy's .npy files, versions 1.0 to 3.0.
 *
 * Works on memory, so that it can be tested with any bytes; it believes
 * nothing that they say before it is checked. */
#ifndef NPY_H
#define NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axes.h"
#include "bouma.h"

/* The axes of a grid and one more, for components. */
enum { NPY_MAX_DIMS = MAX_AXES + 1, NPY_MAX_HEADER = 512 };

/* What is said of bytes behind the values, which may be another array. */
#define NPY_SURPLUS                                                            \
    "its header tells of fewer; is there a second array behind the first? "    \
    "Save each in a file of its own"

struct npy_header {
    bouma_type type;
    bool swapped; /* its byte order is not that of this machine */
    bool fortran; /* the first axis is the fastest, not the last */
    int ndims;
    int64_t shape[NPY_MAX_DIMS];
    uint64_t data_offset; /* from the start of the file */
    uint64_t data_bytes;  /* no overflow: fits into int64_t */
};

/* Parse the header at the start of 'bytes', which are the first 'count' bytes
 * of a file or all of it. On failure 'message' tells what is wrong. */
bool npy_parse(struct npy_header *out, const void *bytes, size_t count,
               char *message, size_t message_bytes);

/* Write the header (version 1.0) of a C-ordered array in this machine's byte
 * order to 'out', of NPY_MAX_HEADER bytes; returns its length. */
size_t npy_format(char *out, bouma_type type, int ndims, const int64_t *shape);

/* "<f4" for BOUMA_TYPE_F32, in 'out' of at least 4 bytes. */
const char *npy_descr(char *out, bouma_type type);

#endif
