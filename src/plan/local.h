/* local.h -- who encodes which chunk, found by ranks of which none knows all
 * blocks: each ends with its own chunks and with what it sends and receives. It
 * is the plan that bm_distribute() makes of all blocks, part for part.
 *
 * A rank sees by itself which chunks it holds all of: they are its own. Of each
 * other one, a directory rank learns who holds parts of it. Chunks on the order
 * of keys (a Morton order) are cut into as many runs as there are ranks, and a
 * rank is the directory of one run: what is near in space is in few of them.
 *
 *     holder     tells its directories its parts of shared chunks
 *     directory  asks of each chunk the holder that has most of it  <-+ rounds
 *     holder     takes what it has room for, and says so            --+
 *     directory  of chunks for which no holder has room, as numbers in a row;
 *                and each rank, of its room likewise: to who has these numbers
 *     directory  tells the holders of a chunk its owner, and that the holders
 *
 * These functions are pure: a step takes what has come from others and gives
 * what goes to others. Whoever calls it carries it there (see plan_local.h in
 * src/write), and brings sums over all ranks. */
#ifndef BM_LOCAL_H
#define BM_LOCAL_H

#include "base/mail.h"
#include "plan/chunk_subset.h"
#include "plan/distribute.h"

/* The same on all ranks but for rank and blocks. */
struct bm_local_task {
    struct bm_chunking chunking; /* of all levels, not cut into partitions */
    bouma_distribute scheme;     /* not `weighted`, which needs times of all */
    int ranks, rank;
    const struct bm_box *blocks; /* [count], which this rank holds */
    size_t count;
};

/* Whether there is a local plan for it; if not, why. */
int bm_local_serves(const struct bm_chunking *c, bouma_distribute scheme,
                    const char **why);

/* The rank that is the directory of a chunk at a place on the order of keys. */
int bm_local_directory(int64_t chunks, int ranks, int64_t place);

/* What is known when a plan is done. Chunks are those that this rank owns or
 * holds parts of; all of a chunk's parts are known to its owner, and to others
 * their own. */
struct bm_local_result {
    const bouma_allocator *a;
    struct bm_chunk_subset *chunks;
    struct bm_block *blocks; /* all of this rank, and others' with parts of its
                                chunks; ascending by rank */
    size_t block_count;
    struct bm_partition partition; /* of these */
    int *owner;                    /* [chunks->count] */
    struct bm_distribution report; /* of all ranks */
};

/* Numbers that are added up over all ranks between two steps. */
#define BM_LOCAL_SUMS 4

struct bm_local {
    const bouma_allocator *a;
    struct bm_local_task task;
    int step;                     /* the next one; see local.c */
    int rounds;                   /* so far */
    struct bm_local_holder *held; /* as one who holds parts */
    struct bm_local_table *table; /* as a directory */
    /* After a step: numbers of this rank; and whether it wants to know sums over
     * the ranks before it. */
    uint64_t mine[BM_LOCAL_SUMS], my_most;
    int scans;
    /* Before the next one: their sums over all ranks, and the largest; and, if it
     * wanted these, over the ranks before. */
    uint64_t sums[BM_LOCAL_SUMS], most;
    uint64_t before[BM_LOCAL_SUMS];
    uint64_t left; /* chunks for which no holder has room, of all */
    int is_done;
    struct bm_local_result result; /* then */
};

/* Blocks and chunking stay the caller's. BOUMA_OK or ENOMEM; a zeroed struct
 * can be released. */
int bm_local_init(struct bm_local *l, const bouma_allocator *a,
                  const struct bm_local_task *task);
void bm_local_release(struct bm_local *l);

/* One step, until l->is_done: takes what the last step of other ranks had for
 * this one, ascending by peer, and fills 'out', which is empty. All ranks make
 * the same steps. BOUMA_OK; ENOMEM; ECOMM if what has come makes no sense; or,
 * on all ranks, ECOVER if blocks do not cover the grid once: where they do not,
 * a plan of all blocks tells. */
int bm_local_next(struct bm_local *l, const struct bm_mail *in,
                  struct bm_mail *out);

/* Of a result that was taken out of 'l', with zeros in its place. */
void bm_local_result_release(struct bm_local_result *r);

#endif
