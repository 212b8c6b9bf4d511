/* io_trace.h -- files in a trace: an I/O table around another. */
#ifndef BM_IO_TRACE_H
#define BM_IO_TRACE_H

#include "base/trace.h"

struct bm_io_trace {
    struct bm_trace *trace;
    const bouma_io *io; /* the one that does it */
    bouma_io table;     /* the one to use instead */
};

/* Each call of t->table goes to 'io', and is an event of 'trace'. All three
 * have to stay where they are while files are open. */
void bm_io_trace_init(struct bm_io_trace *t, const bouma_io *io,
                      struct bm_trace *trace);

#endif
