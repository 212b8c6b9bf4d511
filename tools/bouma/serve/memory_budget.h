/* memory_budget.h -- how much memory answers and open datasets may take, all
 * together. Any thread may take and give back. */
#ifndef SERVE_MEMORY_BUDGET_H
#define SERVE_MEMORY_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "bouma.h"

struct memory_budget {
    size_t limit;
    atomic_size_t used;
};

void memory_budget_init(struct memory_budget *budget, size_t limit);

/* False if there is not so much left. */
bool memory_budget_take(struct memory_budget *budget, size_t bytes);
void memory_budget_give(struct memory_budget *budget, size_t bytes);

/* Memory that is counted, from malloc(); it can be used by the library. */
bouma_allocator memory_budget_allocator(struct memory_budget *budget);
void *memory_budget_resize(void *budget, void *block, size_t bytes);
void memory_budget_release(void *budget, void *block); /* accepts NULL */

#endif
