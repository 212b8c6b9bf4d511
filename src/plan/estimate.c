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

/* Shared chunks with senders from afar, by their owners: those of rank r are
 * chunk[first[r]] up to chunk[first[r + 1] - 1]. */
struct grouping {
    size_t *first;   /* [ranks + 1] */
    uint32_t *chunk; /* [first[ranks]] */
};

/* Call 'each' for them, with their owners. */
static void each_far(const struct bm_owners *o,
                     void (*each)(struct grouping *, size_t, uint32_t),
                     struct grouping *out)
{
    int64_t words = o->chunking->count / 64 + 1;
    size_t before = 0;

    for (int64_t word = 0; word < words; word++) {
        uint64_t shared = o->shared[word];

        for (uint64_t bits = o->far[word]; bits; bits &= bits - 1) {
            uint64_t lower = shared & ((bits & -bits) - 1);
            size_t n = before + (size_t)__builtin_popcountll(lower);

            each(out, (size_t)bm_owner_at(o, o->place[n]),
                 (uint32_t)(64 * word + __builtin_ctzll(bits)));
        }
        before += (size_t)__builtin_popcountll(shared);
    }
}

static void count_one(struct grouping *out, size_t owner, uint32_t chunk)
{
    (void)chunk;
    out->first[owner + 2]++;
}

static void list_one(struct grouping *out, size_t owner, uint32_t chunk)
{
    out->chunk[out->first[owner + 1]++] = chunk;
}

static int group_far(struct grouping *out, const struct bm_estimate *e)
{
    int ranks = e->ranks.ranks;

    out->first = bm_new(e->a, (size_t)ranks + 2, sizeof(*out->first));
    if (!out->first)
        return BOUMA_ENOMEM;
    each_far(&e->owners, count_one, out);
    for (int r = 0; r < ranks; r++)
        out->first[r + 2] += out->first[r + 1];
    out->chunk = bm_new_raw(e->a, out->first[ranks + 1], sizeof(*out->chunk));
    if (!out->chunk)
        return BOUMA_ENOMEM;
    each_far(&e->owners, list_one, out);
    return BOUMA_OK;
}

/* Who sends to one rank. */
struct receiver {
    struct bm_estimate *e;
    struct bm_holders holders;
    int owner;
    int64_t cell[3];
    int *seen; /* [ranks], the last one that a rank was seen to send to */
    const struct bm_places *places; /* NULL: they are not known */
};

/* Whether it is known from chunks with senders nearby that a holder sends to
 * the receiver. */
static int is_known(const struct receiver *r, const struct bm_holder *h)
{
    int bit = 0;

    for (int d = 0; d < 3; d++) {
        int64_t off = r->holders.axis[d].cell[h->at[d]] - r->cell[d];

        if (off < -1 || off > 1)
            return 0;
        bit = 3 * bit + (int)off + 1;
    }
    return (int)(r->e->owners.senders[r->owner] >> bit & 1);
}

/* Count the ranks that send parts of a chunk; if places are known, also the
 * samples that come from other nodes. */
static void count_senders(struct receiver *r, int64_t chunk)
{
    const struct bm_chunking *c = &r->e->chunking;
    const struct bm_places *places = r->places;
    struct bm_footprint f = c->calls->footprint(c->own, chunk);
    int node = places ? bm_places_node(places, r->owner) : 0;
    struct bm_holder now;

    bm_holders_find(&r->holders, &f);
    now = bm_holders_first(&r->holders);
    do {
        if (places && bm_places_node(places, now.rank) != node)
            r->e->moved_samples_between += now.samples;
        if (now.rank == r->owner || r->seen[now.rank] == r->owner ||
            is_known(r, &now))
            continue;
        r->seen[now.rank] = r->owner;
        r->e->moved_messages++;
    } while (bm_holders_next(&r->holders, &now));
}

/* A rank sends all its parts for one other rank in one message. */
static int count_moves(struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    struct receiver r = {.e = e, .places = task->places};
    const uint32_t itself = 1 << 13; /* the middle one of 27 cells */
    struct grouping far = {0};
    int ranks = e->ranks.ranks, rc;

    if (!e->owners.report.shared_patches)
        return BOUMA_OK;
    rc = bm_holders_init(&r.holders, &e->ranks);
    r.seen = bm_new_raw(e->a, (size_t)ranks, sizeof(*r.seen));
    if (!r.seen)
        rc = BOUMA_ENOMEM;
    if (!rc)
        rc = group_far(&far, e);
    for (int i = 0; i < ranks && !rc; i++) {
        r.seen[i] = -1;
        e->moved_messages += __builtin_popcount(e->owners.senders[i] & ~itself);
    }
    for (r.owner = 0; r.owner < ranks && !rc; r.owner++) {
        if (far.first[r.owner] < far.first[r.owner + 1])
            bm_hz_ranks_cell(&task->ranks, r.owner, r.cell);
        for (size_t i = far.first[r.owner]; i < far.first[r.owner + 1]; i++)
            count_senders(&r, far.chunk[i]);
    }
    bm_drop(e->a, far.first);
    bm_drop(e->a, far.chunk);
    bm_drop(e->a, r.seen);
    bm_holders_release(&r.holders);
    return rc;
}

/* ---- all of it ---------------------------------------------------------- */

static int make_owners(struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    int rc;

    e->owners.all_far = task->places != NULL;
    rc = bm_owners_share_out(&e->owners, task->options->distribute);
    e->fewest_patches = e->chunking.count;
    for (int r = 0; r < e->ranks.ranks; r++)
        if (e->owners.count[r] < e->fewest_patches)
            e->fewest_patches = e->owners.count[r];
    return rc ? rc : count_moves(e, task);
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
