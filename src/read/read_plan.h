/* read_plan.h -- who reads which chunk, for boxes of samples that all ranks
 * want together. The first rank of each node knows what all want and plans it,
 * for all of its node (as write/plan_image.h has it for writing); each rank
 * finds what concerns it by search. */
#ifndef BM_READ_PLAN_H
#define BM_READ_PLAN_H

#include "comm/common.h"
#include "plan/partition.h"
#include "read/read.h"

/* The requests for one variable at one level: who reads which chunk. */
struct bm_read_group {
    const struct bouma_variable *variable;
    int level;
    /* One for each request; ascending by rank, then by number. */
    struct bm_block *blocks;
    uint32_t *number; /* of these, among the requests of their ranks */
    size_t count;
    struct bm_partition partition;
    int *owner; /* [partition.chunking.count], -1: nobody wants it */
    /* Chunks with samples that somebody wants, ascending by owner. */
    int64_t *by_owner;
    size_t wanted;
};

struct bm_read_plan {
    const bouma_allocator *a;
    struct bm_read_group *groups; /* ascending by variable, then by level */
    size_t group_count;
    int shared;    /* some chunk is wanted by several ranks */
    int delivered; /* some request of some rank is delivered later */
    int is_view;   /* the arrays of groups are those of the node: */
    struct bm_common common;
};

/* From the requests of all ranks; of each, delivers[count] tells whether what is
 * read goes to its array later, which can fail. 'rc' is this rank's status so
 * far, and so is what comes back. Collective. A zeroed plan can be released. */
int bm_read_plan_make(struct bm_read_plan *plan, struct bouma_step *step,
                      const struct bm_read_request *requests,
                      const uint8_t *delivers, size_t count, int rc);
void bm_read_plan_release(struct bm_read_plan *plan);

/* The chunks of a group that a rank reads are by_owner[*begin] up to
 * by_owner[*end]. */
void bm_read_group_find(const struct bm_read_group *g, int owner, size_t *begin,
                        size_t *end);

/* The ranks that read what 'rank' wants, and itself, ascending: *out, which the
 * caller frees. ENOMEM. */
int bm_read_plan_readers(const struct bm_read_plan *plan, int rank, int **out,
                         size_t *count);

/* The bytes of a part of a chunk. */
size_t bm_read_part_bytes(const struct bouma_variable *v,
                          const struct bm_footprint *part);

#endif
