/* plan_image.h -- one plan for all ranks of a node: the first one computes it,
 * the others look at it. The arrays of a plan, which are the same on all ranks,
 * lie in memory that these share; pointers, and what is a rank's own, are in
 * memory of each. */
#ifndef BM_PLAN_IMAGE_H
#define BM_PLAN_IMAGE_H

#include "write/write_plan.h"

/* The plan of the first rank of a node becomes that of all its ranks; what
 * others had is freed, but for what they know of the last step. If 'keep', the
 * first one's stays as it is, so that it can change. 'rc' is the status of
 * each; the worst comes out, on all ranks of the node. Collective among these.
 * */
int bm_plan_share(struct bm_write_plan **plan, const struct bm_schema *schema,
                  struct bm_comm *comm, int keep, int rc,
                  struct bm_error *error);

#endif
