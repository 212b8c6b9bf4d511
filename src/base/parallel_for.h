/* parallel_for.h -- a loop whose turns do not depend on each other, on some
 * threads. */
#ifndef BM_PARALLEL_FOR_H
#define BM_PARALLEL_FOR_H

#include <stddef.h>

#define BM_MAX_THREADS 256

/* Turn i. 'worker' is below the number of threads; no two turns that run at the
 * same time have the same, and the caller's thread is 0. */
typedef int bm_parallel_body(void *context, size_t i, size_t worker);

/* All turns below 'count', by this thread and up to threads - 1 more (at most
 * BM_MAX_THREADS in all). Those that cannot be started are done without. After
 * a turn that did not return 0, no other begins; what it returned comes back,
 * and of several that of the lowest worker. */
int bm_parallel_for(bm_parallel_body *body, void *context, size_t count,
                    size_t threads);

#endif
