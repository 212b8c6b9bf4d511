/* tracing.h -- the trace of a dataset or of a plain file, from its opening to
 * its closing: begun by all ranks together, merged into one file by rank 0.
 *
 * A trace never fails what is traced: where there is none, a message says why.
 */
#ifndef BM_TRACING_H
#define BM_TRACING_H

#include "base/option.h"
#include "comm/comm.h"
#include "store/io_trace.h"

struct bm_tracing {
    struct bm_trace *trace; /* NULL: nothing is traced */
    struct bm_io_trace io;
    double accuracy; /* of the clocks of ranks to each other, seconds */
    int ended;       /* the file was written, or could not be */
};

/* If options->trace names a file: from now on exchanges of 'comm' and calls of
 * options->io, which is replaced, are traced. Collective, with the same
 * options on all ranks. The struct was zeroed and has to stay where it is. */
void bm_tracing_begin(struct bm_tracing *t, struct bm_comm *comm,
                      struct bm_options *options);

/* Write the file about 'what' (a path) and trace no more. If that fails, all
 * ranks have one status and message. Nothing happens if nothing is traced, or
 * the second time. Collective. */
int bm_tracing_end(struct bm_tracing *t, struct bm_comm *comm,
                   const struct bm_options *options, const char *what,
                   struct bm_error *error);

/* When all files are closed. */
void bm_tracing_release(struct bm_tracing *t, struct bm_comm *comm);

#endif
