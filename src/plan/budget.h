/* budget.h -- how far to read within a budget. What is read comes in steps,
 * from coarse to fine: levels of a grid, or levels of detail of particles. A
 * plan takes as many of them as fit. */
#ifndef BM_BUDGET_H
#define BM_BUDGET_H

#include <stdint.h>

#include "bouma_read.h"

struct bm_budget {
    uint64_t bytes, points; /* UINT64_MAX: no limit */
    double error;           /* negative: no limit */
};

/* The bytes of a step; and those that were read to find this out. If what is
 * left was too little to find out all, 'bytes' is an upper limit that is more
 * than what is left. */
struct bm_step_cost {
    uint64_t bytes, looked;
};

/* The steps that are still to come. */
struct bm_steps {
    void *context;
    int count;
    /* What is returned if step i is the last one that is taken. */
    uint64_t (*points)(const void *context, int i);
    /* What step i takes if it comes after the one before it. To find out, it
     * may read up to 'left' bytes; of 0, none. BOUMA_OK, or it fails. */
    int (*cost)(struct bm_step_cost *out, void *context, int i, uint64_t left);
};

struct bm_reach {
    int steps;                        /* that fit */
    bouma_limit limit;                /* why no more; NONE: there are no more */
    uint64_t looked;                  /* bytes that were read to find out */
    uint64_t next_bytes, next_points; /* of the first step that is not taken */
};

/* As many steps as the budget allows, but no more than 'most'. What is read to
 * find out the cost of a step is never so much that those before it do not fit
 * any more. */
int bm_budget_reach(struct bm_reach *out, const struct bm_steps *steps,
                    const struct bm_budget *budget, int most);

#endif
