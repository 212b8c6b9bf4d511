/* slurm.h -- what the environment of a job of Slurm tells of a process. */
#ifndef BM_SLURM_H
#define BM_SLURM_H

#include "machine/hostlist.h"

/* Values of the variables; NULL: not set. */
struct bm_slurm {
    const char *address;   /* SLURM_TOPOLOGY_ADDR: "s0.s4.s8.tux1" */
    const char *pattern;   /* ..._PATTERN: "switch.switch.switch.node" */
    const char *node_name; /* SLURMD_NODENAME */
    const char *node_list; /* SLURM_JOB_NODELIST: "tux[0-31]" */
    const char *node_id;   /* SLURM_NODEID: which of the list */
};

struct bm_slurm_location {
    char node[BM_HOST_BYTES]; /* Slurm's name of the node; empty: not known */
    char switches[1024];      /* above it, from the top: "s0.s4.s8" */
};

/* 'host' is the name that the node itself has. A program that mpirun started
 * may have the variables of another node: only those are taken that are of a
 * node with this name, up to the first '.'. */
void bm_slurm_read(struct bm_slurm_location *out, const struct bm_slurm *env,
                   const char *host);

#endif
