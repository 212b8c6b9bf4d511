/* local_parts.h -- what the files of local.h share. */
#ifndef BM_LOCAL_PARTS_H
#define BM_LOCAL_PARTS_H

#include "base/keyed.h"
#include "plan/local.h"

/* ---- a rank that holds parts (local_holder.c) ---------------------------- */

/* A chunk of which this rank has parts: its samples in the blocks
 * touch[first] up to touch[end - 1]. */
struct bm_local_held {
    int64_t chunk;
    uint64_t samples;
    size_t first, end;
    int shared;
    int owner; /* -1 as long as it is not known */
};

struct bm_local_holder {
    struct bm_local_held *each; /* [count], ascending by chunk */
    size_t count;
    uint32_t *touch;
    /* Shared ones by their directories: 'at' is the number in each[]. */
    struct bm_keyed *shared; /* [shared_count] */
    size_t shared_count;
    int overlaps;    /* blocks, in a chunk of which it has as many samples as
                        there are */
    int64_t left;    /* chunks that it may still get */
    uint64_t hashes; /* of chunks that should be somewhere, less those that it
                        has as a whole: see bm_local_hash() */
};

int bm_local_hold(struct bm_local *l);
void bm_local_tell(const struct bm_local *l, struct bm_mail *out);
int bm_local_answer(struct bm_local *l, const struct bm_mail *in,
                    struct bm_mail *out);
void bm_local_holder_free(struct bm_local_holder *h, const bouma_allocator *a);
/* NULL: it holds nothing of it. */
struct bm_local_held *bm_local_find(const struct bm_local_holder *h,
                                    int64_t chunk);
/* If the sum of these over all chunks is that over all chunks that someone has,
 * they are the same. */
uint64_t bm_local_hash(int64_t chunk);

/* ---- a directory (local_directory.c) ------------------------------------- */

/* A plan of the chunks that it was told of. Ranks that have told it something
 * are its peers: the ranks of the partition's blocks are their numbers. */
struct bm_local_table {
    int *peer; /* [peers], ascending */
    size_t peers;
    struct bm_block *blocks;
    uint32_t *number; /* [blocks], of a block among those of its rank */
    size_t block_count;
    struct bm_chunk_subset chunks;
    struct bm_partition partition;
    int *owner;   /* [chunks], the rank; -1: none so far */
    int *asked;   /* [chunks], the peer, in this round; -1: none */
    size_t *link; /* [peers + 1], where in links[] a peer's chunks begin */
    uint32_t *links;
    int64_t *room;         /* [peers], 0: it is full */
    uint64_t *sum;         /* [peers], see bm_distribute_best() */
    struct bm_keyed *rest; /* [rest_count], chunks whose holders are full */
    size_t rest_count;
};

int bm_local_gather(struct bm_local *l, const struct bm_mail *in);
/* Put the shared chunks of each peer to what goes there; their number. */
uint64_t bm_local_ask(struct bm_local *l, struct bm_mail *out);
int bm_local_hear(struct bm_local *l, const struct bm_mail *in);
/* Who is not asked any more is left for the last resort. */
void bm_local_give_up(struct bm_local *l);
void bm_local_table_free(struct bm_local_table *t, const bouma_allocator *a);

/* ---- the last resort (local_rest.c) -------------------------------------- */

/* Chunks that are left, and room for them, are numbered through all ranks. Both
 * are told to those who have the numbers. */
void bm_local_number(struct bm_local *l, struct bm_mail *out);
int bm_local_match(struct bm_local *l, const struct bm_mail *in,
                   struct bm_mail *out);
int bm_local_settle(struct bm_local *l, const struct bm_mail *in);

/* ---- the result (local_result.c) ----------------------------------------- */

/* Owners to holders, and parts to owners. BOUMA_OK or ENOMEM. */
int bm_local_publish(struct bm_local *l, struct bm_mail *out);
int bm_local_collect(struct bm_local *l, const struct bm_mail *in);

#endif
