/* plan_local.h -- local plans carried out: see plan/local.h. */
#ifndef BM_PLAN_LOCAL_H
#define BM_PLAN_LOCAL_H

#include "comm/comm.h"
#include "plan/local.h"

/* Find l->result together. 'rc' is this rank's status so far. One status on all
 * ranks; ECOVER comes without a message. Collective. */
int bm_local_run(struct bm_local *l, struct bm_comm *comm, int rc,
                 struct bm_error *error);

#endif
