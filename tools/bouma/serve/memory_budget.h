/* memory_budget.h -- how much memory answers and open datasets may take, all
 * together. Any thread may take and give back.
 *
 * Some large blocks that were given back are kept for the next ones: new ones
 * would be zeroed, page by page, by the system. They count as used, and are
 * dropped when there is not enough else. */
#ifndef SERVE_MEMORY_BUDGET_H
#define SERVE_MEMORY_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "bouma.h"

#define SPARE_BLOCKS 8

struct memory_budget {
    size_t limit;
    atomic_size_t used;
    atomic_size_t spare; /* bytes of these: */
    _Atomic(void *) spares[SPARE_BLOCKS];
    atomic_uint turn; /* of the place that is made empty next */
};

void memory_budget_init(struct memory_budget *budget, size_t limit);
/* Free the blocks that are kept: at the end, or if there is need. */
void memory_budget_drop(struct memory_budget *budget);

/* False if there is not so much left. */
bool memory_budget_take(struct memory_budget *budget, size_t bytes);
void memory_budget_give(struct memory_budget *budget, size_t bytes);

/* Memory that is counted, from malloc(); it can be used by the library. */
bouma_allocator memory_budget_allocator(struct memory_budget *budget);
void *memory_budget_resize(void *budget, void *block, size_t bytes);
void memory_budget_release(void *budget, void *block); /* accepts NULL */

#endif
