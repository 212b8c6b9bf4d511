/* estimate_groups.c -- the ranks that hold samples of files; see estimate.h. */
#include "plan/estimate.h"

int bm_estimate_groups_init(struct bm_estimate_groups *g,
                            const struct bm_estimate *e, int ranks)
{
    *g = (struct bm_estimate_groups){.estimate = e};
    g->seen = bm_new(e->a, (size_t)ranks, sizeof(*g->seen));
    g->rank = bm_new_raw(e->a, (size_t)ranks, sizeof(*g->rank));
    return bm_holders_init(&g->holders, &e->ranks) || !g->seen || !g->rank
               ? BOUMA_ENOMEM
               : BOUMA_OK;
}

void bm_estimate_groups_release(struct bm_estimate_groups *g)
{
    bm_drop(g->estimate->a, g->seen);
    bm_drop(g->estimate->a, g->rank);
    bm_holders_release(&g->holders);
}

static int add_rank(struct bm_estimate_groups *g, int rank, int count)
{
    if (g->seen[rank] == g->turn)
        return count;
    g->seen[rank] = g->turn;
    g->rank[count] = rank;
    return count + 1;
}

/* Those of the chunk at a place. */
static int add_holders(struct bm_estimate_groups *g, int64_t place, int count)
{
    const struct bm_estimate *e = g->estimate;
    struct bm_listed_chunk c;
    struct bm_holder now;

    if (e->chunking.calls->position)
        bm_chunking_list(&e->chunking, place, 1, &c);
    else /* the place is its number */
        c.footprint = e->chunking.calls->footprint(e->chunking.own, place);
    bm_holders_find(&g->holders, &c.footprint);
    now = bm_holders_first(&g->holders);
    do
        count = add_rank(g, now.rank, count);
    while (bm_holders_next(&g->holders, &now));
    return count;
}

/* How many chunks from a place on, up to 'end', one rank holds alone, and that
 * rank: known where a chunk's place is its number. */
static size_t held_alone(const struct bm_estimate *e, size_t place, size_t end,
                         uint32_t *rank)
{
    uint64_t shared;
    size_t n, count;

    if (e->chunking.calls->position)
        return 0;
    /* All in one word: a run ends where a group of the list does. */
    count = bm_even_list_run(&e->owners.owner, place, end, rank);
    shared = e->owners.shared[place / 64] >> place % 64;
    n = shared ? (size_t)__builtin_ctzll(shared) : count;
    return n < count ? n : count;
}

/* There are fewer than 2^32 files, and each is looked at once or twice. */
int bm_estimate_groups_find(struct bm_estimate_groups *g, int64_t file)
{
    const struct bm_estimate *e = g->estimate;
    uint32_t last = BM_NO_OWNER; /* it is often the same */
    int count = 0;

    g->turn++;
    for (size_t i = e->first[file], n; i < e->first[file + 1]; i += n) {
        size_t place = bm_estimate_place(e, i);
        size_t end = e->place ? place + 1 : e->first[file + 1];
        uint32_t rank;

        n = held_alone(e, place, end, &rank);
        if (!n)
            count = add_holders(g, (int64_t)place, count);
        else if (rank != last)
            count = add_rank(g, (int)rank, count);
        last = n ? rank : last;
        n = n ? n : 1;
    }
    return count;
}

int bm_estimate_share(struct bm_estimate_sharing *out,
                      const struct bm_estimate *e, int ranks)
{
    struct bm_estimate_groups groups;
    int64_t *files_of = bm_new(e->a, (size_t)ranks, sizeof(*files_of));
    int rc = bm_estimate_groups_init(&groups, e, ranks);

    rc = files_of ? rc : BOUMA_ENOMEM;
    *out = (struct bm_estimate_sharing){.fewest_ranks = ranks,
                                        .fewest_files = e->files};
    for (int64_t f = 0; f < e->files && !rc; f++) {
        int count = bm_estimate_groups_find(&groups, f);

        out->pairs += count;
        if (count < out->fewest_ranks)
            out->fewest_ranks = count;
        if (count > out->most_ranks)
            out->most_ranks = count;
        for (int i = 0; i < count; i++)
            files_of[groups.rank[i]]++;
    }
    for (int r = 0; r < ranks && !rc; r++) {
        if (files_of[r] && files_of[r] < out->fewest_files)
            out->fewest_files = files_of[r];
        if (files_of[r] > out->most_files)
            out->most_files = files_of[r];
    }
    bm_estimate_groups_release(&groups);
    bm_drop(e->a, files_of);
    return rc;
}
