/* engine.c -- see engine.h. */
#include "engine/engine.h"

void bm_engine_release(struct bm_engine *e, struct bm_comm *comm)
{
    bm_pipe_pool_release(&e->pool);
    bm_io_environment_release(&e->env);
    bm_tracing_release(&e->tracing, comm);
}
