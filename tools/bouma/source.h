/* source.h -- a file of samples to import, whatever its format: see
 * importer.h. */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "axes.h"
#include "mapped_file.h"

/* What is known of the samples before the file is opened. */
struct source_request {
    int ndims; /* 0: as the file says */
    int64_t shape[MAX_AXES];
    bouma_type type; /* 0: as the file says */
    int components;  /* 0: not told, which is one */
};

struct source {
    const char *path;
    const char *name; /* of the variable; NULL: that of the file */
    bouma_type type;
    int ndims, components;
    int64_t shape[MAX_AXES];
    int64_t stride[MAX_AXES], component_stride; /* bytes */
    int slow_axis; /* whose layers lie one after the other in the file */
    bool swapped;  /* values are in the other byte order */
    struct mapped_file file;
    unsigned char *data; /* of the first sample that there is, in 'file' */
    int64_t from;        /* of these: the index along the slow axis */
    uint64_t held; /* bytes of memory that it takes; 0: it is used where it lies
                    */
};

/* Open 'path', a text that must outlive *out. The caller ends *out with
 * source_close(), after a failure too. */
int source_open(struct source *out, struct context *ctx, const char *path,
                const struct source_request *request);
void source_close(struct source *source);

/* The samples lo <= index < hi of the slow axis, all of the others: their box,
 * and where they are. Ask for a layer once only: it is put into this machine's
 * byte order in place. */
bouma_array source_layers(struct source *source, int64_t lo, int64_t hi,
                          bouma_box *box);

/* Which layers of the slow axis this process takes: first <= index < last. */
void source_part(const struct source *source, const struct context *ctx,
                 int64_t *first, int64_t *last);

/* For importers: the strides of a dense array, the last axis and then its
 * components fastest, or the first axis fastest and the components slowest of
 * all. */
void source_set_strides(struct source *source, bool fortran);

#endif
