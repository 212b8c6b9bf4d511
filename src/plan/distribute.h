/* distribute.h -- who puts a chunk together and encodes it. */
#ifndef BM_DISTRIBUTE_H
#define BM_DISTRIBUTE_H

#include "plan/partition.h"

/* What a distribution does, for reports. */
struct bm_distribution {
    int64_t most_patches;   /* of any rank */
    int64_t shared_patches; /* held by more than one rank */
    uint64_t moved_samples; /* that leave the rank that held them */
    int64_t messages;       /* parts that are sent */
};

/* `balanced` gives ranks nearly the same number of chunks. Those that one rank
 * holds stay there. The others find their owners in rounds: each turns to the
 * rank that holds most of it (the smallest one of equals) among those which, when
 * the round began, had not reached their target. A rank takes those that turn to
 * it, in their order, until it has. So each rank decides by itself, and nobody
 * has to know of chunks far away: see local.h. Those that find none after some
 * rounds go to the first ranks that have room, one after the other. Where chunks
 * are numbered from coarse to fine ones, each has a round for itself, from the
 * last one on: all ranks hold coarse ones, so that rounds would be many. */
#define BM_BALANCED_ROUNDS 16

/* The owner of each chunk, into owner[chunks]; every chunk has a part.
 * BOUMA_OK, ENOMEM, or EINVAL for an unknown scheme. 'report' may be NULL.
 * `weighted` is `balanced` as long as there are no weights. */
int bm_distribute(int *owner, bouma_distribute scheme,
                  const struct bm_partition *p, int ranks,
                  struct bm_distribution *report);

/* The rank with the most samples of a chunk, the smaller one of equals, among
 * those with room[] (NULL: all have); -1 if there is none. sum[] of each rank is
 * 0 before and after. */
int bm_distribute_best(const struct bm_partition *p, int64_t chunk,
                       const int64_t *room, uint64_t *sum);

/* Balance the ranks' loads by weights. owner[] are those of `balanced`, and
 * load[ranks] what each rank has to do with them: weight[chunks] and perhaps
 * more, of other grids. Both are changed so that the largest load is smaller,
 * and no more samples are moved than before; regular chunks stay. If it cannot
 * be made smaller (as where all weights are equal) nothing changes. BOUMA_OK or
 * ENOMEM. */
int bm_distribute_weighted(int *owner, const struct bm_partition *p, int ranks,
                           const uint64_t *weight, uint64_t *load);

/* What a distribution does. BOUMA_OK or ENOMEM. */
int bm_distribute_report(struct bm_distribution *report, const int *owner,
                         const struct bm_partition *p, int ranks);

/* The owners for reading, where a chunk may be wanted by no rank (its owner is
 * then -1) or by several: one of those that want it, the one with the fewest so
 * far. BOUMA_OK or ENOMEM. */
int bm_distribute_readers(int *owner, const struct bm_partition *p, int ranks);

/* The number of chunks that `balanced` aims at for a rank: every rank gets
 * floor(M/N), and the M mod N others are spread evenly over the ranks. */
int64_t bm_distribute_target(int64_t chunks, int ranks, int rank);

#endif
