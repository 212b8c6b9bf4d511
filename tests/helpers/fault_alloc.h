/* fault_alloc.h -- memory whose n-th request fails, and a count of what was not
 * given back. */
#ifndef FAULT_ALLOC_H
#define FAULT_ALLOC_H

#include "bouma_store.h"

struct fault_alloc {
    bouma_allocator table; /* to put into bouma_options */

    long at;    /* the request, from 1, that fails; 0: none */
    int sticky; /* and all after it */

    long calls; /* since fault_alloc_arm() */
    long fired; /* requests that failed */
    long live;  /* blocks not given back */
};

void fault_alloc_init(struct fault_alloc *memory);
/* Begin to count; request 'at' fails. */
void fault_alloc_arm(struct fault_alloc *memory, long at, int sticky);
void fault_alloc_disarm(struct fault_alloc *memory);

#endif
