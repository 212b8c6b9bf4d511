/* api_plan.h -- a plan, for the files that make it and tell of it. */
#ifndef BM_API_PLAN_H
#define BM_API_PLAN_H

#include "api/api.h"
#include "machine/machine.h"
#include "plan/estimate.h"

/* Memory that is counted. */
struct bm_plan_counter {
    const bouma_allocator *a;
    size_t now, peak;
};

struct bouma_plan {
    struct bm_plan_counter counter;
    bouma_allocator a; /* that counts */
    struct bm_options options;
    struct bm_machine *machine; /* NULL: nobody asks for it */
    struct bm_places places;    /* its nodes */
    struct bm_schema schema;
    struct bm_object *grid; /* in it, with one variable; of particles NULL */
    int64_t usual_patch[BOUMA_MAX_DIMS]; /* before they were fitted to ranks */
    int ndims;
    uint64_t *loads; /* [ranks], or NULL */
    struct bm_estimate_task task;
    struct bm_estimate estimate;
    struct bm_estimate_sharing sharing; /* of layouts that number files */
    double seconds;
};

/* Whether the layout says which file a chunk is in. */
static inline int bm_plan_has_fixed_files(const bouma_plan *plan)
{
    return plan->grid && plan->task.chunks.chunking.calls->file;
}

#endif
