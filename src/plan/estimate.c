/* estimate.c -- see estimate.h. */
#include "plan/estimate.h"

#include <math.h>
#include <string.h>

#include "plan/estimate_parts.h"

/* ---- blocks ------------------------------------------------------------- */

enum { MOST_DIVISORS = 1536 }; /* of any number below 2^31 */

/* Descending; their number. */
static int list_divisors(int *out, int n)
{
    int small = 0, count = 0;

    for (int64_t d = 1; d * d <= n; d++)
        if (n % d == 0)
            out[small++] = n / (int)d;
    count = small;
    for (int i = small - 1; i >= 0; i--)
        if (n / out[i] != out[i])
            out[count++] = n / out[i];
    return count;
}

void bm_estimate_blocks(int64_t blocks[3], const int64_t shape[3], int ndims,
                        int ranks)
{
    int divisors[MOST_DIVISORS];
    int count = list_divisors(divisors, ranks);
    double least = INFINITY;

    /* Axes that the grid does not have are not cut. Among equals, slow axes
     * are. */
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            int64_t z = divisors[i], y = divisors[k], x = ranks / z / y;
            double surface = (double)z / (double)shape[0] +
                             (double)y / (double)shape[1] +
                             (double)x / (double)shape[2];

            if (ranks / z % y || (z > 1 && ndims < 3) || (y > 1 && ndims < 2) ||
                surface >= least * (1 - 1e-12))
                continue;
            least = surface;
            blocks[0] = z;
            blocks[1] = y;
            blocks[2] = x;
        }
}

/* ---- patches put together ----------------------------------------------- */

/* Shared chunks by their owners: those of rank r are chunk[first[r]] up to
 * chunk[first[r + 1] - 1]. */
struct grouping {
    size_t *first;   /* [ranks + 1] */
    uint32_t *chunk; /* [first[ranks]] */
};

static int group_shared(struct grouping *out, const struct bm_estimate *e)
{
    const struct bm_owners *o = &e->owners;
    size_t count = (size_t)o->report.shared_patches;
    int64_t words = e->chunking.count / 64 + 1;
    int ranks = e->ranks.ranks;
    size_t n = 0;

    out->first = bm_new(e->a, (size_t)ranks + 2, sizeof(*out->first));
    out->chunk = bm_new_raw(e->a, count, sizeof(*out->chunk));
    if (!out->first || !out->chunk)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        out->first[bm_owner_at(o, o->place[i]) + 2]++;
    for (int r = 0; r < ranks; r++)
        out->first[r + 2] += out->first[r + 1];
    for (int64_t word = 0; word < words; word++)
        for (uint64_t bits = o->shared[word]; bits; bits &= bits - 1, n++)
            out->chunk[out->first[bm_owner_at(o, o->place[n]) + 1]++] =
                (uint32_t)(64 * word + __builtin_ctzll(bits));
    return BOUMA_OK;
}

/* Count the ranks that send parts to a rank; seen[ranks] is the last one that
 * a rank was seen to send to. If places are known, also the samples that come
 * from other nodes. */
static void count_senders(struct bm_estimate *e, struct bm_holders *h,
                          const struct grouping *shared, int *seen, int owner,
                          const struct bm_places *places)
{
    const struct bm_chunking *c = &e->chunking;
    int node = places ? bm_places_node(places, owner) : 0;

    for (size_t i = shared->first[owner]; i < shared->first[owner + 1]; i++) {
        struct bm_footprint f = c->calls->footprint(c->own, shared->chunk[i]);
        struct bm_holder now;

        bm_holders_find(h, &f);
        now = bm_holders_first(h);
        do {
            if (places && bm_places_node(places, now.rank) != node)
                e->moved_samples_between += now.samples;
            if (now.rank == owner || seen[now.rank] == owner)
                continue;
            seen[now.rank] = owner;
            e->moved_messages++;
        } while (bm_holders_next(h, &now));
    }
}

/* A rank sends all its parts for one other rank in one message. */
static int count_moves(struct bm_estimate *e, const struct bm_places *places)
{
    int ranks = e->ranks.ranks, *seen, rc;
    struct grouping shared = {0};
    struct bm_holders holders;

    if (!e->owners.report.shared_patches)
        return BOUMA_OK;
    rc = bm_holders_init(&holders, &e->ranks);
    seen = bm_new_raw(e->a, (size_t)ranks, sizeof(*seen));
    if (!seen)
        rc = BOUMA_ENOMEM;
    if (!rc)
        rc = group_shared(&shared, e);
    for (int r = 0; r < ranks && !rc; r++)
        seen[r] = -1;
    for (int r = 0; r < ranks && !rc; r++)
        count_senders(e, &holders, &shared, seen, r, places);
    bm_drop(e->a, shared.first);
    bm_drop(e->a, shared.chunk);
    bm_drop(e->a, seen);
    bm_holders_release(&holders);
    return rc;
}

/* ---- all of it ---------------------------------------------------------- */

static int make_owners(struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    int rc = bm_owners_share_out(&e->owners, task->options->distribute);

    e->fewest_patches = e->chunking.count;
    for (int r = 0; r < e->ranks.ranks; r++)
        if (e->owners.count[r] < e->fewest_patches)
            e->fewest_patches = e->owners.count[r];
    return rc ? rc : count_moves(e, task->places);
}

int bm_estimate_make(struct bm_estimate *e, const bouma_allocator *a,
                     const struct bm_estimate_task *task)
{
    struct bm_estimate_costs costs = {0};
    int rc;

    memset(e, 0, sizeof(*e));
    e->a = a;
    e->chunking = task->chunks.chunking;
    rc = bm_rank_grid_init(&e->ranks, a, &task->ranks);
    if (!rc)
        rc = bm_owners_init(&e->owners, &e->ranks, &e->chunking);
    if (!rc)
        rc = bm_estimate_sizes(e, &costs, task);
    if (!rc)
        rc = make_owners(e, task);
    if (!rc)
        rc = bm_estimate_cut(e, &costs, task);
    bm_estimate_costs_release(&costs);
    if (!rc)
        rc = bm_estimate_list_places(e);
    if (!rc)
        rc = bm_estimate_place_files(e, task);
    if (!rc)
        rc = bm_estimate_ship(e, task);
    return rc;
}

void bm_estimate_release(struct bm_estimate *e)
{
    if (!e->a)
        return;
    bm_owners_release(&e->owners);
    bm_rank_grid_release(&e->ranks);
    bm_sums_release(&e->bytes);
    bm_drop(e->a, e->file_rank);
    bm_drop(e->a, e->first);
    bm_drop(e->a, e->place);
    bm_drop(e->a, e->rank_file);
    bm_drop(e->a, e->file_bytes);
    bm_drop(e->a, e->writer);
    bm_drop(e->a, e->tier);
    bm_drop(e->a, e->choice);
    bm_gathering_release(&e->gathering);
}
