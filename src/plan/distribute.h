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

/* The owner of each chunk, into owner[chunks]; every chunk has a part.
 * BOUMA_OK, ENOMEM, or EINVAL for an unknown scheme. 'report' may be NULL.
 * `weighted` is `balanced` as long as there are no weights. */
int bm_distribute(int *owner, bouma_distribute scheme,
                  const struct bm_partition *p, int ranks,
                  struct bm_distribution *report);

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
