/* drain_all.h -- `bouma drain`: all that the local copies of a dataset have,
 * and the dataset itself (the target) does not, is copied there.
 *
 * Each rank looks at the local copy of its own node. A file is copied by one of
 * the ranks whose local copy has it. A step is published when all its files are
 * there, by whoever finds that first: so nodes may also be drained one after
 * the other, by programs that know nothing of each other. */
#ifndef BM_DRAIN_ALL_H
#define BM_DRAIN_ALL_H

#include "check/check.h"
#include "dataset/copy.h"
#include "store/losses.h"
#include "store/truncations.h"

#define BM_DRAIN_BATCH 16 /* steps published under one claim */

/* A step that a local copy has. */
struct bm_drain_step {
    struct bm_step_entry entry;
    int owner;    /* the first rank whose local copy has its manifest */
    int is_there; /* in the target, this writing of it */
    int is_older; /* than the writing in the target, or in another local copy */
    int dropped;  /* by a truncation, and not in the target */
    int forgotten; /* its manifest cannot be read */
};

/* The local copy of this rank's node. */
struct bm_drain_near {
    const char *path;
    struct bm_store store;
    int exists;                 /* this rank has one */
    struct bm_loss_list losses; /* on record in it */
};

/* The target that is drained to. */
struct bm_drain_far {
    const char *path;
    struct bm_store store;
    struct bm_truncations truncations;
    int dataset_synced;       /* the file DATASET there is durable */
    struct bm_step_list gone; /* rank 0: that it has lost, and that this drain
                                 put on record there */
};

/* What all local copies have together; the same on all ranks. */
struct bm_drain_steps {
    struct bm_drain_step *each; /* [count], in the order of writing */
    size_t count;
    struct bm_loss_list lost; /* whole steps */
};

/* How far this rank is. */
struct bm_drain_progress {
    size_t at;            /* the step that is being copied */
    uint64_t bytes, done; /* of this step */
};

/* Rank 0: by which it publishes. */
struct bm_drain_claim {
    struct bouma_dataset *target; /* a handle of the target; NULL: none yet */
    uint32_t least;               /* epoch: later than all local copies' */
    uint32_t own;                 /* the last of ours */
};

struct bm_drain_all {
    struct bm_comm *comm;
    const bouma_allocator *a;
    const struct bm_options *options;
    uint8_t id[16];
    struct bm_drain_near near;
    struct bm_drain_far far;
    struct bm_drain_steps steps;
    struct bm_copier copier;
    struct bm_drain_progress progress;
    struct bm_drain_claim claim;
    struct bm_error problem; /* the first of a step: others go on */
    bouma_drain_report *report;
    struct bm_error *error;
};

/* Copy what the local copies 'near' have to the path of the request, publish it
 * there, and with 'remove' remove from the local copies what is safe then.
 * Takes 'comm' over. Collective. */
int bm_drain_all(struct bm_comm *comm, struct bm_request *q, const char *near,
                 int remove, bouma_drain_report *report);

/* Which rank takes care of which file of a step: of those whose local copy has
 * it, the one that has the fewest bytes so far; -1 if none has. A rank without
 * 'm' has no part in it. Collective. */
int bm_drain_share_out(struct bm_drain_all *r, const struct bm_manifest *m,
                       int *rank_of);
/* What is wrong with one step only does not keep the others from going on: then
 * a note says so, as in "step 3 was not drained", and the status is BOUMA_OK.
 * The same on all ranks. */
int bm_drain_go_on(struct bm_drain_all *r, uint64_t step, const char *what,
                   int rc);

/* Remove the steps that are in the target from the local copy of this rank's
 * node, after every byte of them was read there and found right. A step of
 * which the two have different writings stays; but one that was dropped goes,
 * too. Collective. */
int bm_drain_remove(struct bm_drain_all *r);

/* ---- publishing: drain_publish.c ---------------------------------------- */

/* What the target has of a step. */
enum bm_drain_there {
    BM_THERE_NONE, /* also one that is damaged: it is written anew */
    BM_THERE_EARLIER,
    BM_THERE_DROPPED, /* none, or another one: this one was dropped there */
    BM_THERE_LATER,
    BM_THERE_SAME /* byte for byte the manifest in 'bytes' */
};

/* Another step of the same writing is an error: EEXISTS; unless it was dropped.
 */
int bm_drain_compare(struct bm_drain_all *r, const struct bm_buffer *bytes,
                     const struct bm_step_entry *entry,
                     enum bm_drain_there *there);

/* What is known of a step now. */
void bm_drain_update_step(struct bm_drain_step *s, enum bm_drain_there there);

/* Which steps were dropped there. If that cannot be told, none may be copied.
 */
int bm_drain_load_dropped(struct bm_drain_far *far, const uint8_t *id,
                          struct bm_error *error);

/* Steps whose files are all there, with their manifests. */
struct bm_drain_batch {
    struct bm_drain_step *steps[BM_DRAIN_BATCH];
    struct bm_buffer manifests[BM_DRAIN_BATCH];
    size_t count;
};

/* Publish them; what became of each is known to all ranks. Collective. */
int bm_drain_publish(struct bm_drain_all *r, struct bm_drain_batch *batch);

/* Rank 0: steps that a local copy has lost, and the target does not have, are
 * put on record there, and counted together with those that the target itself
 * has lost and that are on record since it was claimed. */
int bm_drain_record(struct bm_drain_all *r);

/* Forget the handle of the target. */
void bm_drain_publish_end(struct bm_drain_claim *claim,
                          const bouma_allocator *a);

#endif
