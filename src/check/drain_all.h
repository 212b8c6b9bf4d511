/* drain_all.h -- `bouma drain`: all that the twins of a dataset have, and its
 * place does not, is copied there.
 *
 * Each rank looks at the twin of its own node. A file is copied by one of the
 * ranks whose twin has it. A step is published when all its files are there, by
 * whoever finds that first: so nodes may also be drained one after the other,
 * by programs that know nothing of each other. */
#ifndef BM_DRAIN_ALL_H
#define BM_DRAIN_ALL_H

#include "check/check.h"
#include "dataset/copy.h"

/* A step that a twin has. */
struct bm_drain_step {
    struct bm_step_entry entry;
    int owner;     /* the first rank whose twin has its manifest */
    int is_there;  /* in its place, this writing of it or a later one */
    int is_same;   /* this one */
    int forgotten; /* its manifest cannot be read */
};

struct bm_drain_all {
    struct bm_comm *comm;
    const bouma_allocator *a;
    const bouma_options *options;
    const char *near_path, *far_path;
    struct bm_store near, far;
    int has_near; /* this rank has a twin */
    uint8_t id[16];
    struct bm_drain_step *steps; /* [count], in the order of writing */
    size_t count, at;            /* 'at': the one that is being copied */
    struct bm_copier copier;
    int settled;                    /* the file DATASET there is durable */
    uint64_t step_bytes, step_done; /* of this one, on this rank */
    struct bm_error problem;        /* the first of a step: others go on */
    bouma_drain_report *report;
    struct bm_error *error;
};

/* Copy and publish, and with 'remove' remove from the twins what is safe then.
 * Takes 'comm' over. Collective. */
int bm_drain_all(struct bm_comm *comm, const char *near, const char *far,
                 int remove, const bouma_options *options,
                 bouma_drain_report *report, struct bm_error *error);

/* Remove the steps that are in their place from the twin of this rank's node,
 * after every byte of them was read there and found right. Collective. */
int bm_drain_remove(struct bm_drain_all *r);

#endif
