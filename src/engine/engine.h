/* engine.h -- what the engine has for one handle, of a dataset or of a plain
 * file, from its opening to its closing. */
#ifndef BM_ENGINE_H
#define BM_ENGINE_H

#include "engine/io_environment.h"
#include "engine/pipe.h"
#include "engine/tracing.h"

/* Where bytes are moved, in which buffers, and the trace of it. Zeroed at first;
 * it has to stay where it is. */
struct bm_engine {
    struct bm_io_environment env;
    struct bm_pipe_pool pool;
    struct bm_tracing tracing;
};

/* When all files are closed, and before 'comm' (may be NULL) is ended. */
void bm_engine_release(struct bm_engine *e, struct bm_comm *comm);

#endif
