/* distribute_weighted.c -- chunks that take longer count for more.
 *
 * A search that begins with the owners of `balanced` and hands shared chunks
 * on among their sharers. It never moves more samples than it began with: what
 * one chunk saves (it goes to a rank that holds more of it) another may cost.
 * Handing on never makes the larger one of two ranks larger, so the largest
 * load of all only falls. Whole numbers, and one order: all ranks find the
 * same. */
#include "plan/distribute.h"

#define PASSES 8

/* Shared chunk i is chunk[i], and entries first[i] to first[i + 1] tell which
 * ranks hold how many of its samples. */
struct sharing {
    size_t count;
    int64_t *chunk;
    size_t *first;
    int *rank;
    uint64_t *held;
    int *before; /* [count], the owner at the beginning */
};

static int rank_of_part(const struct bm_partition *p, int64_t i)
{
    return p->blocks[p->part[i]].rank;
}

static int is_shared(const struct bm_partition *p, int64_t chunk)
{
    for (int64_t i = p->first[chunk] + 1; i < p->first[chunk + 1]; i++)
        if (rank_of_part(p, i) != rank_of_part(p, p->first[chunk]))
            return 1;
    return 0;
}

static void release(struct sharing *s, const bouma_allocator *a)
{
    bm_drop(a, s->chunk);
    bm_drop(a, s->first);
    bm_drop(a, s->rank);
    bm_drop(a, s->held);
    bm_drop(a, s->before);
}

/* entry[ranks] is where a rank was entered last: a rank may have several parts
 * of a chunk. */
static void fill(struct sharing *s, const struct bm_partition *p, size_t *entry)
{
    size_t n = 0;

    s->count = 0;
    for (int64_t i = 0; i < p->chunking.count; i++) {
        struct bm_footprint whole;
        size_t begin = n;

        if (!is_shared(p, i))
            continue;
        whole = bm_chunking_footprint(&p->chunking, i);
        for (int64_t k = p->first[i]; k < p->first[i + 1]; k++) {
            int rank = rank_of_part(p, k);
            size_t at = entry[rank];

            if (at < begin || at >= n || s->rank[at] != rank) {
                at = entry[rank] = n++;
                s->rank[at] = rank;
                s->held[at] = 0;
            }
            s->held[at] +=
                bm_footprint_samples_in(&whole, &p->blocks[p->part[k]].box);
        }
        s->chunk[s->count] = i;
        s->first[s->count++] = begin;
    }
    s->first[s->count] = n;
}

static int find_shared(struct sharing *s, const struct bm_partition *p,
                       int ranks)
{
    size_t *entry = bm_new(p->a, (size_t)ranks, sizeof(*entry));
    size_t count = 0, parts = 0;
    int rc = BOUMA_ENOMEM;

    for (int64_t i = 0; i < p->chunking.count; i++)
        if (is_shared(p, i)) {
            count++;
            parts += (size_t)(p->first[i + 1] - p->first[i]);
        }
    s->chunk = bm_new_raw(p->a, count, sizeof(*s->chunk));
    s->first = bm_new_raw(p->a, count + 1, sizeof(*s->first));
    s->rank = bm_new_raw(p->a, parts, sizeof(*s->rank));
    s->held = bm_new_raw(p->a, parts, sizeof(*s->held));
    s->before = bm_new_raw(p->a, count, sizeof(*s->before));
    if (entry && s->chunk && s->first && s->rank && s->held && s->before) {
        fill(s, p, entry);
        rc = BOUMA_OK;
    }
    bm_drop(p->a, entry);
    return rc;
}

struct search {
    struct sharing shared;
    const struct bm_partition *p;
    int ranks;
    int *owner;
    const uint64_t *weight;
    uint64_t *load;
    uint64_t saved;  /* samples that may be moved more */
    uint64_t lowest; /* no choice of owners has a smaller largest load */
    int next;        /* ranks before it have no room for strangers */
};

static uint64_t largest(const uint64_t *load, int ranks)
{
    uint64_t most = 0;

    for (int r = 0; r < ranks; r++)
        most = load[r] > most ? load[r] : most;
    return most;
}

/* The mean, or what some rank cannot give away. */
static int find_lowest(struct search *s)
{
    const struct sharing *g = &s->shared;
    uint64_t *fixed = bm_new_raw(s->p->a, (size_t)s->ranks, sizeof(*fixed));
    uint64_t whole = 0, rest = 0, ranks = (uint64_t)s->ranks;

    if (!fixed)
        return BOUMA_ENOMEM;
    for (int r = 0; r < s->ranks; r++) {
        fixed[r] = s->load[r];
        whole += s->load[r] / ranks; /* the sum may be too large */
        rest += s->load[r] % ranks;
    }
    s->lowest = whole + (rest + ranks - 1) / ranks;
    for (size_t i = 0; i < g->count; i++) {
        uint64_t weight = s->weight[g->chunk[i]];

        fixed[s->owner[g->chunk[i]]] -= weight;
        s->lowest = weight > s->lowest ? weight : s->lowest;
    }
    for (int r = 0; r < s->ranks; r++)
        if (fixed[r] > s->lowest)
            s->lowest = fixed[r];
    bm_drop(s->p->a, fixed);
    return BOUMA_OK;
}

/* The owner holds 'mine' of the chunk's samples, 'to' holds 'held'. */
static void give(struct search *s, int64_t chunk, int to, uint64_t mine,
                 uint64_t held)
{
    s->saved += held;
    s->saved -= mine;
    s->load[s->owner[chunk]] -= s->weight[chunk];
    s->load[to] += s->weight[chunk];
    s->owner[chunk] = to;
}

/* The sharer of shared chunk 'i' that should have it instead of its owner, as
 * an index into the entries, or 'none': the one that is left with the smallest
 * load, if that is below the owner's now; else one that holds more of it and
 * has ample room. Only an owner above 'limit' may pay for it in samples. */
static size_t better_sharer(const struct search *s, size_t i, uint64_t mine,
                            uint64_t limit, size_t none)
{
    const struct sharing *g = &s->shared;
    int from = s->owner[g->chunk[i]];
    uint64_t weight = s->weight[g->chunk[i]], least = s->load[from];
    size_t best = none, saver = none;

    for (size_t k = g->first[i]; k < g->first[i + 1]; k++) {
        uint64_t after = s->load[g->rank[k]] + weight;
        int affordable = g->held[k] >= mine || (s->load[from] > limit &&
                                                mine - g->held[k] <= s->saved);

        if (g->rank[k] == from)
            continue;
        if (after < least && weight && affordable) {
            best = k;
            least = after;
        }
        if (after <= s->lowest && g->held[k] > mine &&
            (saver == none || g->held[k] > g->held[saver]))
            saver = k;
    }
    return best != none ? best : saver;
}

/* Hand shared chunk 'i' on if that is of use. Where no sharer can help an owner
 * above 'limit', the next rank of all with ample room takes the chunk, if that
 * can be paid for. */
static void hand_on(struct search *s, size_t i, uint64_t limit)
{
    const struct sharing *g = &s->shared;
    int64_t chunk = g->chunk[i];
    int from = s->owner[chunk];
    uint64_t weight = s->weight[chunk], mine = 0;
    size_t none = g->first[i + 1], best;

    for (size_t k = g->first[i]; k < none; k++)
        if (g->rank[k] == from)
            mine = g->held[k];
    best = better_sharer(s, i, mine, limit, none);
    if (best != none) {
        give(s, chunk, g->rank[best], mine, g->held[best]);
    } else if (s->load[from] > limit && mine <= s->saved && weight) {
        while (s->next < s->ranks && s->load[s->next] + weight > s->lowest)
            s->next++;
        if (s->next < s->ranks)
            give(s, chunk, s->next, mine, 0);
    }
}

/* Let the loads be as they were at the beginning. */
static void undo(struct search *s)
{
    for (size_t i = 0; i < s->shared.count; i++)
        give(s, s->shared.chunk[i], s->shared.before[i], 0, 0);
}

int bm_distribute_weighted(int *owner, const struct bm_partition *p, int ranks,
                           const uint64_t *weight, uint64_t *load)
{
    struct search s = {
        .p = p, .ranks = ranks, .owner = owner, .weight = weight, .load = load};
    uint64_t first = largest(load, ranks), above;
    int rc = find_shared(&s.shared, p, ranks);

    if (!rc)
        rc = find_lowest(&s);
    for (size_t i = 0; i < s.shared.count && !rc; i++)
        s.shared.before[i] = owner[s.shared.chunk[i]];
    for (uint64_t pass = 1; pass <= PASSES && !rc; pass++) {
        above = largest(load, ranks) - s.lowest;
        if (!above)
            break;
        /* Samples that were saved are for the largest first, and for sharers
         * before others. */
        above -= above / PASSES * pass + above % PASSES * pass / PASSES;
        s.next = pass > PASSES / 2 ? 0 : ranks;
        for (size_t i = 0; i < s.shared.count; i++)
            hand_on(&s, i, s.lowest + above);
    }
    if (!rc && largest(load, ranks) == first)
        undo(&s);
    release(&s.shared, p->a);
    return rc;
}
