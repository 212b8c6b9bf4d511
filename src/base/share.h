/* share.h -- work in parts that do not depend on each other, on some threads.
 */
#ifndef BM_SHARE_H
#define BM_SHARE_H

#include <stddef.h>

#define BM_SHARE_MOST 64 /* threads */

/* Part i of the work; 'worker' is below the number of threads, and no two that
 * run at the same time have the same. */
typedef void bm_task(void *context, size_t i, size_t worker);

/* All parts, by this thread and up to threads - 1 more (at most BM_SHARE_MOST
 * in all). Those that cannot be started are done without. */
void bm_share(bm_task *task, void *context, size_t parts, size_t threads);

#endif
