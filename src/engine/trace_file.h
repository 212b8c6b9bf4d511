/* trace_file.h -- the file of a trace, in JSON. It is written to the file
 * system, whatever table the dataset has. */
#ifndef BM_TRACE_FILE_H
#define BM_TRACE_FILE_H

#include "base/trace.h"
#include "store/store.h"

struct bm_trace_file {
    const char *path; /* the caller's */
    const bouma_io *io;
    void *root, *file; /* NULL: not open */
    char name[BM_NAME_BYTES];
    uint64_t at;
};

/* Make the file, with all but events. One that holds a trace of another process
 * is replaced; beside one of this process another is made, with "-2", "-3" and
 * so on in its name; what is no trace stays, and that is EEXISTS. 'about' is
 * more of the header: members of a JSON object, each followed by a comma. A
 * zeroed struct can always be closed. */
int bm_trace_file_open(struct bm_trace_file *f, const char *path,
                       const struct bm_buffer *about, struct bm_error *error);

/* Append events as bm_trace_encode() makes them, cut anywhere. */
int bm_trace_file_write(struct bm_trace_file *f, const void *text, size_t bytes,
                        struct bm_error *error);

/* End it; after a failure ('rc', which comes back) it is removed. */
int bm_trace_file_close(struct bm_trace_file *f, int rc,
                        struct bm_error *error);

#endif
