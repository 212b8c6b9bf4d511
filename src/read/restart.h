/* restart.h -- particles for all ranks at once. */
#ifndef BM_RESTART_H
#define BM_RESTART_H

#include "read/into.h"

/* Where particles go: into 'into', or, if that is NULL, to 'data', which is the
 * caller's to free. */
struct bm_restart_out {
    bouma_particle_data *data;
    struct bm_into *into;
    int counted; /* into->count is the number of all, also if they do not fit;
                    the same on all ranks */
};

/* 'query' is complete (variables are listed); with 'shares' its box is not
 * asked. 'rc' is this rank's status so far; if it is not BOUMA_OK, 'query' may
 * be anything. Collective. */
int bm_restart(struct bm_restart_out *out, struct bouma_step *step,
               struct bm_object *set, const struct bm_criteria *query,
               int shares, int rc);

#endif
