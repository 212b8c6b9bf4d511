/* distribute.c -- balanced (paper 000, section IV-A), greedy and none. */
#include "plan/distribute.h"

#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"

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

int bm_distribute_best(const struct bm_partition *p, int64_t chunk,
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

/* Shared chunks on their way to an owner. */
struct balance {
    const struct bm_partition *p;
    int ranks;
    int *owner;
    int64_t *open; /* [open_count], chunks without one, in their order */
    int64_t open_count;
    struct bm_keyed *rest; /* [rest_count], whose holders are full; by place */
    int64_t rest_count;
    int64_t *left; /* [ranks], chunks that a rank may still get */
    int64_t *room; /* [ranks], the same when the round began */
    uint64_t *sum; /* [ranks], see bm_distribute_best() */
};

/* Regular chunks stay. */
static void keep_regular(struct balance *b)
{
    int64_t chunks = b->p->chunking.count;

    for (int r = 0; r < b->ranks; r++)
        b->left[r] = bm_distribute_target(chunks, b->ranks, r);
    for (int64_t n = 0; n < chunks; n++) {
        int64_t i = b->p->chunking.calls->coarse_first ? chunks - 1 - n : n;

        b->owner[i] =
            is_regular(b->p, i) ? rank_of_part(b->p, b->p->first[i]) : -1;
        if (b->owner[i] >= 0)
            b->left[b->owner[i]]--;
        else
            b->open[b->open_count++] = i;
    }
}

static void give_up(struct balance *b, int64_t chunk)
{
    b->rest[b->rest_count++] = (struct bm_keyed){
        (uint64_t)bm_chunking_position(&b->p->chunking, chunk), (size_t)chunk};
}

/* One round. Coarse chunks come one by one: all have the same holders. */
static void take_turns(struct balance *b)
{
    int one_by_one = b->p->chunking.calls->coarse_first;
    const int64_t *room = one_by_one ? b->left : b->room;
    int64_t open = b->open_count;

    memcpy(b->room, b->left, (size_t)b->ranks * sizeof(*b->room));
    b->open_count = 0;
    for (int64_t n = 0; n < open; n++) {
        int64_t i = b->open[n];
        int best = bm_distribute_best(b->p, i, room, b->sum);

        if (best < 0) {
            give_up(b, i); /* room never grows */
        } else if (b->left[best] <= 0) {
            b->open[b->open_count++] = i;
        } else {
            b->owner[i] = best;
            b->left[best]--;
        }
    }
}

static void fill_up(struct balance *b)
{
    int rank = 0;

    if (b->rest_count)
        qsort(b->rest, (size_t)b->rest_count, sizeof(*b->rest),
              bm_keyed_compare);
    for (int64_t n = 0; n < b->rest_count; n++) {
        while (b->left[rank] <= 0)
            rank++;
        b->owner[b->rest[n].at] = rank;
        b->left[rank]--;
    }
}

/* With memory for lists of all ranks. */
static int share_out(struct balance *b)
{
    keep_regular(b);
    b->rest = bm_new_raw(b->p->a, (size_t)b->open_count, sizeof(*b->rest));
    if (!b->rest)
        return BOUMA_ENOMEM;
    for (int n = 0; n < BM_BALANCED_ROUNDS && b->open_count; n++)
        take_turns(b);
    for (int64_t n = 0; n < b->open_count; n++)
        give_up(b, b->open[n]);
    fill_up(b);
    return BOUMA_OK;
}

/* See distribute.h. Coarse chunks, which many share, come last: they find a
 * rank in any case. */
static int balanced(int *owner, const struct bm_partition *p, int ranks)
{
    struct balance b = {.p = p, .ranks = ranks, .owner = owner};
    int rc = BOUMA_ENOMEM;

    b.open = bm_new_raw(p->a, (size_t)p->chunking.count, sizeof(*b.open));
    b.room = bm_new_raw(p->a, (size_t)ranks, sizeof(*b.room));
    b.left = bm_new_raw(p->a, (size_t)ranks, sizeof(*b.left));
    b.sum = bm_new(p->a, (size_t)ranks, sizeof(*b.sum));
    if (b.open && b.room && b.left && b.sum)
        rc = share_out(&b);
    bm_drop(p->a, b.open);
    bm_drop(p->a, b.rest);
    bm_drop(p->a, b.room);
    bm_drop(p->a, b.left);
    bm_drop(p->a, b.sum);
    return rc;
}

/* The rank with the most samples of the chunk. */
static int greedy(int *owner, const struct bm_partition *p, int ranks)
{
    uint64_t *sum = bm_new(p->a, (size_t)ranks, sizeof(*sum));

    if (!sum)
        return BOUMA_ENOMEM;
    for (int64_t i = 0; i < p->chunking.count; i++)
        owner[i] = bm_distribute_best(p, i, NULL, sum);
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
