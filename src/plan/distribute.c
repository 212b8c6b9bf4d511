/* distribute.c -- balanced (paper 000, section IV-A), greedy and none. */
#include "plan/distribute.h"

#include <string.h>

int64_t bm_distribute_target(int64_t chunks, int ranks, int rank)
{
    /* ceil((r + 1) M / N) - ceil(r M / N), with M = q N + m: no overflow. */
    int64_t q = chunks / ranks, m = chunks % ranks;
    int64_t upto = ((int64_t)(rank + 1) * m + ranks - 1) / ranks;
    int64_t before = ((int64_t)rank * m + ranks - 1) / ranks;

    return q + upto - before;
}

static int rank_of_part(const struct bm_partition *p, int64_t i)
{
    return p->blocks[p->part[i]].rank;
}

/* Whether all parts of a chunk lie on one rank. */
static int is_regular(const struct bm_partition *p, int64_t chunk)
{
    int rank = rank_of_part(p, p->first[chunk]);

    for (int64_t i = p->first[chunk] + 1; i < p->first[chunk + 1]; i++)
        if (rank_of_part(p, i) != rank)
            return 0;
    return 1;
}

/* Add the samples that ranks hold of a chunk to sum[ranks]: the parts of a rank
 * need not be side by side in the list. */
static void add_up(uint64_t *sum, const struct bm_partition *p, int64_t chunk)
{
    struct bm_footprint whole = bm_chunking_footprint(&p->chunking, chunk);

    for (int64_t k = p->first[chunk]; k < p->first[chunk + 1]; k++)
        sum[rank_of_part(p, k)] +=
            bm_footprint_samples_in(&whole, &p->blocks[p->part[k]].box);
}

/* The rank with the most samples of a chunk, the smaller one of equals, among
 * those with room[] (NULL: all have); -1 if there is none. sum[] is all 0
 * before and after. */
static int largest_holder(const struct bm_partition *p, int64_t chunk,
                          const int64_t *room, uint64_t *sum)
{
    int best = -1;

    add_up(sum, p, chunk);
    for (int64_t k = p->first[chunk]; k < p->first[chunk + 1]; k++) {
        int rank = rank_of_part(p, k);

        if (room && room[rank] <= 0)
            continue;
        if (best < 0 || sum[rank] > sum[best] ||
            (sum[rank] == sum[best] && rank < best))
            best = rank;
    }
    for (int64_t k = p->first[chunk]; k < p->first[chunk + 1]; k++)
        sum[rank_of_part(p, k)] = 0;
    return best;
}

/* Regular chunks stay. A shared one goes to the sharer that holds most of it
 * among those that have not reached their target; if none is left, to the first
 * rank of all that has not. Coarse chunks, which many share, come last: they
 * find one in any case. */
static int balanced(int *owner, const struct bm_partition *p, int ranks)
{
    int64_t chunks = p->chunking.count;
    int64_t *room = bm_new_raw(p->a, (size_t)ranks, sizeof(*room));
    uint64_t *sum = bm_new(p->a, (size_t)ranks, sizeof(*sum));
    int next = 0;

    if (!room || !sum) {
        bm_drop(p->a, room);
        bm_drop(p->a, sum);
        return BOUMA_ENOMEM;
    }
    for (int r = 0; r < ranks; r++)
        room[r] = bm_distribute_target(chunks, ranks, r);
    for (int64_t i = 0; i < chunks; i++) {
        owner[i] = is_regular(p, i) ? rank_of_part(p, p->first[i]) : -1;
        if (owner[i] >= 0)
            room[owner[i]]--;
    }
    for (int64_t n = 0; n < chunks; n++) {
        int64_t i = p->chunking.calls->coarse_first ? chunks - 1 - n : n;

        if (owner[i] >= 0)
            continue;
        owner[i] = largest_holder(p, i, room, sum);
        if (owner[i] < 0) {
            /* Room never grows, so those passed by need no second look. */
            while (room[next] <= 0)
                next++;
            owner[i] = next;
        }
        room[owner[i]]--;
    }
    bm_drop(p->a, room);
    bm_drop(p->a, sum);
    return BOUMA_OK;
}

/* The rank with the most samples of the chunk. */
static int greedy(int *owner, const struct bm_partition *p, int ranks)
{
    uint64_t *sum = bm_new(p->a, (size_t)ranks, sizeof(*sum));

    if (!sum)
        return BOUMA_ENOMEM;
    for (int64_t i = 0; i < p->chunking.count; i++)
        owner[i] = largest_holder(p, i, NULL, sum);
    bm_drop(p->a, sum);
    return BOUMA_OK;
}

/* The first rank that holds some of the chunk. */
static int none(int *owner, const struct bm_partition *p, int ranks)
{
    (void)ranks;
    for (int64_t i = 0; i < p->chunking.count; i++) {
        owner[i] = rank_of_part(p, p->first[i]);
        for (int64_t k = p->first[i]; k < p->first[i + 1]; k++)
            if (rank_of_part(p, k) < owner[i])
                owner[i] = rank_of_part(p, k);
    }
    return BOUMA_OK;
}

int bm_distribute_report(struct bm_distribution *report, const int *owner,
                         const struct bm_partition *p, int ranks)
{
    int64_t *count = bm_new(p->a, (size_t)ranks, sizeof(*count));

    if (!count)
        return BOUMA_ENOMEM;
    memset(report, 0, sizeof(*report));
    for (int64_t i = 0; i < p->chunking.count; i++) {
        struct bm_footprint whole;

        if (++count[owner[i]] > report->most_patches)
            report->most_patches = count[owner[i]];
        if (is_regular(p, i))
            continue; /* it is where it was */
        report->shared_patches++;
        whole = bm_chunking_footprint(&p->chunking, i);
        for (int64_t k = p->first[i]; k < p->first[i + 1]; k++)
            if (rank_of_part(p, k) != owner[i]) {
                report->moved_samples +=
                    bm_footprint_samples_in(&whole, &p->blocks[p->part[k]].box);
                report->messages++;
            }
    }
    bm_drop(p->a, count);
    return BOUMA_OK;
}

int bm_distribute(int *owner, bouma_distribute scheme,
                  const struct bm_partition *p, int ranks,
                  struct bm_distribution *report)
{
    static int (*const schemes[])(int *, const struct bm_partition *, int) = {
        [BOUMA_DISTRIBUTE_BALANCED] = balanced,
        [BOUMA_DISTRIBUTE_GREEDY] = greedy,
        [BOUMA_DISTRIBUTE_NONE] = none,
        [BOUMA_DISTRIBUTE_WEIGHTED] = balanced,
    };
    int rc;

    if (scheme < BOUMA_DISTRIBUTE_BALANCED ||
        scheme > BOUMA_DISTRIBUTE_WEIGHTED)
        return BOUMA_EINVAL;
    rc = schemes[scheme](owner, p, ranks);
    if (!rc && report)
        rc = bm_distribute_report(report, owner, p, ranks);
    return rc;
}

int bm_distribute_readers(int *owner, const struct bm_partition *p, int ranks)
{
    int64_t *count = bm_new(p->a, (size_t)ranks, sizeof(*count));

    if (!count)
        return BOUMA_ENOMEM;
    for (int64_t i = 0; i < p->chunking.count; i++) {
        int best = -1;

        for (int64_t k = p->first[i]; k < p->first[i + 1]; k++) {
            int rank = rank_of_part(p, k);

            if (best < 0 || count[rank] < count[best] ||
                (count[rank] == count[best] && rank < best))
                best = rank;
        }
        owner[i] = best;
        if (best >= 0)
            count[best]++;
    }
    bm_drop(p->a, count);
    return BOUMA_OK;
}
