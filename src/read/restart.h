/* restart.h -- particles for all ranks at once. */
#ifndef BM_RESTART_H
#define BM_RESTART_H

#include "read/read.h"

/* 'query' is complete (variables are listed); with 'shares' its box is not
 * asked. 'rc' is this rank's status so far; if it is not BOUMA_OK, 'query' may
 * be anything. Collective. */
int bm_restart(bouma_particle_data **out, struct bouma_step *step,
               struct bm_object *set, const struct bm_criteria *query,
               int shares, int rc);

#endif
