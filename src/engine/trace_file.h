/* trace_file.h -- the file of a trace, in JSON. It is written to the file
 * system, whatever table the dataset has. */
#ifndef BM_TRACE_FILE_H
#define BM_TRACE_FILE_H

#include "base/trace.h"
#include "store/store.h"

struct bm_trace_file {
    const char *path; /* the caller's */
    const bouma_io *io;
    void *root, *file;        /* NULL: not open */
    char part[BM_NAME_BYTES]; /* what is written, till it is whole */
    struct bm_buffer mark;    /* what all traces of this process begin with */
    uint64_t at;
};

/* Begin the file, with all but events, under a name of its own. 'about' is more
 * of the header: members of a JSON object, each followed by a comma. A zeroed
 * struct can always be closed. */
int bm_trace_file_open(struct bm_trace_file *f, const char *path,
                       const struct bm_buffer *about, struct bm_error *error);

/* Append events as bm_trace_encode() makes them, cut anywhere. */
int bm_trace_file_write(struct bm_trace_file *f, const void *text, size_t bytes,
                        struct bm_error *error);

/* End it, and give it its name. A trace of another process is replaced; beside
 * one of this process it gets "-2", "-3" and so on in its name, also if several
 * threads come at once; what is no trace stays, and that is EEXISTS. After a
 * failure ('rc', which comes back) it is removed. */
int bm_trace_file_close(struct bm_trace_file *f, int rc,
                        struct bm_error *error);

#endif
