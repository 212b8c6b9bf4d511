/* rank_owners.c -- the owners of chunks, where blocks are the cells of a grid:
 * see rank_grid.h. */
#include <string.h>

#include "plan/rank_grid.h"

/* The holder with the most samples, which has most along each axis; 0 if others
 * may have as many. */
static int find_largest(const struct bm_holders *h, struct bm_holder *out)
{
    const int64_t *grid = h->grid->grid;
    int64_t cell = 0;

    out->samples = 1;
    for (int d = 0; d < 3; d++) {
        const struct bm_holders_axis *x = &h->axis[d];
        int64_t best = 0;

        for (int64_t i = 1; i < x->count; i++) {
            if (x->samples[i] == x->samples[best])
                return 0;
            best = x->samples[i] > x->samples[best] ? i : best;
        }
        out->at[d] = best;
        out->samples *= (uint64_t)x->samples[best];
        cell = cell * grid[d] + x->cell[best];
    }
    out->rank = h->grid->rank[cell];
    return 1;
}

/* The same, or the holder with the lowest number, of those with room[] (NULL:
 * all have): its rank, or -1 if there is none. */
static int look_at_all(const struct bm_holders *h, const int64_t *room,
                       int lowest, struct bm_holder *out)
{
    struct bm_holder now = bm_holders_first(h);
    int64_t at[3] = {0, 0, 0};
    uint64_t held = 0;
    int best = -1;

    do {
        if (best >= 0 && (lowest || now.samples <= held) &&
            ((!lowest && now.samples < held) || now.rank > best))
            continue;
        if (room && room[now.rank] <= 0)
            continue; /* last, as it is far away in memory */
        best = now.rank;
        held = now.samples;
        for (int d = 0; d < 3; d++)
            at[d] = now.at[d];
    } while (bm_holders_next(h, &now));
    out->rank = best;
    out->samples = held;
    for (int d = 0; d < 3; d++)
        out->at[d] = at[d];
    return best;
}

/* Of the ranks with room[] (NULL: all have) the one that holds most of a chunk
 * or, of 'lowest', has the lowest number; -1 if there is none. */
static int choose(const struct bm_holders *h, const int64_t *room, int lowest,
                  struct bm_holder *out)
{
    if (!lowest && find_largest(h, out) && (!room || room[out->rank] > 0))
        return out->rank;
    return look_at_all(h, room, lowest, out);
}

int bm_owners_init(struct bm_owners *o, const struct bm_rank_grid *g,
                   const struct bm_chunking *chunking)
{
    size_t count = (size_t)chunking->count;
    int rc;

    memset(o, 0, sizeof(*o));
    o->grid = g;
    o->chunking = chunking;
    rc = bm_holders_init(&o->holders, g);
    if (bm_even_list_init(&o->owner, g->a, count))
        rc = BOUMA_ENOMEM;
    o->shared = bm_new(g->a, count / 64 + 1, sizeof(*o->shared));
    o->count = bm_new(g->a, (size_t)g->ranks, sizeof(*o->count));
    return o->shared && o->count ? rc : BOUMA_ENOMEM;
}

void bm_owners_release(struct bm_owners *o)
{
    if (!o->grid)
        return;
    bm_even_list_release(&o->owner);
    bm_drop(o->grid->a, o->shared);
    bm_drop(o->grid->a, o->place);
    bm_drop(o->grid->a, o->count);
    bm_drop(o->grid->a, o->senders);
    bm_drop(o->grid->a, o->far);
    bm_holders_release(&o->holders);
    memset(o, 0, sizeof(*o));
}

/* Chunks that one rank holds stay there; the others are marked. */
static void keep(struct bm_owners *o, int64_t place, int64_t count, int owner)
{
    o->count[owner] += count;
    bm_even_list_put(&o->owner, (size_t)place, (size_t)count, (uint32_t)owner);
}

static void mark(struct bm_owners *o, int64_t place, int64_t chunk)
{
    o->shared[chunk >> 6] |= (uint64_t)1 << (chunk & 63);
    o->report.shared_patches++;
    bm_even_list_put(&o->owner, (size_t)place, 1, BM_NO_OWNER);
}

/* The cell along an axis of all samples from 'first' to 'last'; -1 if they are
 * in several. */
static int64_t only_cell(struct bm_owners *o, int d, int64_t first,
                         int64_t last)
{
    const struct bm_rank_grid *g = o->grid;
    int64_t *near = &o->holders.axis[d].near;
    int64_t cell = *near =
        bm_rank_grid_cell(g->cut[d], g->grid[d], *near, first);

    return last < g->cut[d][cell + 1] ? cell : -1;
}

/* How the chunks of groups with such axes lie: mostly as those of the group
 * before do. */
static void learn_pattern(struct bm_group_pattern *p,
                          const struct bm_chunk_group *g)
{
    if (p->known && !memcmp(p->axis, g->axis, sizeof(p->axis)))
        return;
    memset(p, 0, sizeof(*p));
    memcpy(p->axis, g->axis, sizeof(p->axis));
    p->known = 1;
    for (int d = 0; d < 3; d++)
        p->places[d] = 1;
    for (int bit = 0; bit < BM_CHUNK_GROUP_BITS; bit++) {
        int axis = g->axis[bit];

        for (int i = 0; i < BM_CHUNK_GROUP; i++)
            p->at[i][axis] += (uint8_t)(i >> bit & 1 ? p->places[axis] : 0);
        p->places[axis] *= 2;
    }
}

/* The owner of all chunks of a group; -1 if there are several. */
static int only_owner(struct bm_owners *o, const struct bm_chunk_group *g)
{
    const struct bm_footprint *f = &g->first.footprint;
    const struct bm_rank_grid *grid = o->grid;
    int64_t cell = 0;

    for (int d = 0; d < 3; d++) {
        int64_t samples = f->count[d] * o->pattern.places[d];
        int64_t here = only_cell(o, d, f->start[d],
                                 f->start[d] + ((samples - 1) << f->shift[d]));

        if (here < 0)
            return -1;
        cell = cell * grid->grid[d] + here;
    }
    return grid->rank[cell];
}

/* Of each place along each axis, what its cell adds to the index of a cell; if
 * there are several, far less than nothing. */
struct group_cells {
    int64_t part[3][BM_CHUNK_GROUP];
};

static void find_cells(struct group_cells *c, struct bm_owners *o,
                       const struct bm_chunk_group *g)
{
    const struct bm_footprint *f = &g->first.footprint;
    int64_t far = 1; /* from a cell to the next one */

    for (int d = 2; d >= 0; d--) {
        int64_t first = f->start[d];

        for (int i = 0; i < o->pattern.places[d]; i++) {
            int64_t end = first + (f->count[d] << f->shift[d]);
            int64_t cell =
                only_cell(o, d, first, end - ((int64_t)1 << f->shift[d]));

            c->part[d][i] = cell < 0 ? INT64_MIN / 4 : cell * far;
            first = end;
        }
        far *= o->grid->grid[d];
    }
}

static void tell_several(struct bm_owners *o, int64_t first,
                         const struct bm_chunk_group *g)
{
    struct group_cells c;
    int owner;

    learn_pattern(&o->pattern, g);
    owner = only_owner(o, g);
    if (owner >= 0) {
        keep(o, first, g->count, owner);
        return;
    }
    find_cells(&c, o, g);
    for (int i = 0; i < g->count; i++) {
        const uint8_t *at = o->pattern.at[i];
        int64_t cell = c.part[0][at[0]] + c.part[1][at[1]] + c.part[2][at[2]];

        if (cell >= 0)
            keep(o, first + i, 1, o->grid->rank[cell]);
        else
            mark(o, first + i, bm_chunk_in_group(g, i));
    }
}

void bm_owners_tell(struct bm_owners *o, int64_t first,
                    const struct bm_chunk_group *group)
{
    if (group->count > 1)
        tell_several(o, first, group);
    else if (bm_holders_find(&o->holders, &group->first.footprint) > 1)
        mark(o, first, group->first.chunk);
    else
        keep(o, first, 1, bm_holders_first(&o->holders).rank);
}

/* Whether one of 'n' chunks is shared. */
static int any_shared(const struct bm_owners *o, int64_t first, int64_t n)
{
    for (int64_t i = 0, run; i < n; i += run) {
        uint32_t owner;

        run = (int64_t)bm_even_list_run(&o->owner, (size_t)(first + i),
                                        (size_t)(first + n), &owner);
        if (owner == BM_NO_OWNER)
            return 1;
    }
    return 0;
}

/* Where they are numbered on the order. */
static void list_numbers(struct bm_owners *o)
{
    int64_t words = o->chunking->count / 64 + 1;
    uint32_t n = 0;

    for (int64_t word = 0; word < words; word++)
        for (uint64_t bits = o->shared[word]; bits; bits &= bits - 1)
            o->place[n++] = (uint32_t)(64 * word + __builtin_ctzll(bits));
}

/* The places of shared chunks, by their numbers; before[] has how many there
 * are before each word of bits. */
static void list_places(struct bm_owners *o, const uint32_t *before)
{
    struct bm_chunk_group list[64];
    int64_t count = o->chunking->count;

    for (int64_t first = 0, n; first < count; first += n) {
        int64_t place = first, groups = 0;

        n = count - first < 64 ? count - first : 64;
        if (any_shared(o, first, n))
            groups = bm_chunking_list_groups(o->chunking, first, n, list);
        for (int64_t k = 0; k < groups; k++)
            for (int i = 0; i < list[k].count; i++, place++) {
                int64_t chunk = bm_chunk_in_group(&list[k], i);
                int64_t word = chunk >> 6;
                uint64_t lower = ((uint64_t)1 << (chunk & 63)) - 1;

                if (bm_is_shared(o->shared, chunk))
                    o->place[before[word] + (uint32_t)__builtin_popcountll(
                                                o->shared[word] & lower)] =
                        (uint32_t)place;
            }
    }
}

static int find_places(struct bm_owners *o)
{
    size_t words = (size_t)o->chunking->count / 64 + 1;
    size_t ranks = (size_t)o->grid->ranks;
    uint32_t *before = bm_new_raw(o->grid->a, words, sizeof(*before)), n = 0;

    o->place = bm_new_raw(o->grid->a, (size_t)o->report.shared_patches,
                          sizeof(*o->place));
    for (size_t w = 0; w < words && before; w++) {
        before[w] = n;
        n += (uint32_t)__builtin_popcountll(o->shared[w]);
    }
    if (before && o->place && o->chunking->calls->position)
        list_places(o, before);
    else if (o->place)
        list_numbers(o);
    o->senders = bm_new(o->grid->a, ranks, sizeof(*o->senders));
    o->far = bm_new(o->grid->a, words, sizeof(*o->far));
    bm_drop(o->grid->a, before);
    return before && o->place && o->senders && o->far ? BOUMA_OK : BOUMA_ENOMEM;
}

/* How shared chunks are given: see distribute.h. */
struct giving {
    int lowest;          /* to the holder with the lowest number */
    int64_t *left;       /* [ranks], of `balanced`: chunks that it may get */
    const int64_t *room; /* [ranks], the same when the round began */
    uint64_t *open;      /* of `balanced`: those of 'shared' without an owner */
    uint64_t *rest; /* a bit for each place: no rank that holds it has room */
    int64_t open_count, rest_count;
};

static void give_place(struct bm_owners *o, struct giving *g, size_t place,
                       int owner)
{
    o->count[owner]++;
    if (g->left)
        g->left[owner]--;
    bm_even_list_change(&o->owner, place, (uint32_t)owner);
}

/* The cells of holders along an axis, as bits: 1 is the cell before that of the
 * owner, 2 its own and 4 the one after it; 0 if others are among them. */
static uint32_t cells_around(const struct bm_holders_axis *x, int64_t owner)
{
    uint32_t bits = 0;

    if (x->cell[0] < owner - 1 || x->cell[x->count - 1] > owner + 1)
        return 0;
    for (int64_t i = 0; i < x->count; i++)
        bits |= 1u << (x->cell[i] - owner + 1);
    return bits;
}

/* The other holders of a chunk send their parts to the owner; NULL: to a rank
 * that holds none. */
static void note_senders(struct bm_owners *o, int64_t chunk,
                         const struct bm_holder *owner)
{
    uint32_t along[3] = {0, 0, 0}, all = 0;

    for (int d = 0; d < 3 && owner && !o->all_far; d++) {
        const struct bm_holders_axis *x = &o->holders.axis[d];

        along[d] = cells_around(x, x->cell[owner->at[d]]);
    }
    if (!along[0] || !along[1] || !along[2]) {
        o->far[chunk >> 6] |= (uint64_t)1 << (chunk & 63);
        return;
    }
    for (int y = 0; y < 3; y++)
        all |= along[1] >> y & 1 ? along[2] << 3 * y : 0;
    for (int z = 0; z < 3; z++)
        o->senders[owner->rank] |= along[0] >> z & 1 ? all << 9 * z : 0;
}

/* Give a chunk, or leave it for a later round unless this is the last one. */
static void give(struct bm_owners *o, struct giving *g, int64_t chunk,
                 size_t place, int is_last)
{
    struct bm_footprint f =
        o->chunking->calls->footprint(o->chunking->own, chunk);
    int64_t holders = bm_holders_find(&o->holders, &f);
    struct bm_holder best;
    int owner = choose(&o->holders, g->room, g->lowest, &best);

    if (owner >= 0 && g->left && g->left[owner] <= 0) {
        if (!is_last)
            return;
        owner = -1;
        best.samples = 0;
    }
    note_senders(o, chunk, owner >= 0 ? &best : NULL);
    o->report.messages += holders - (owner >= 0);
    o->report.moved_samples += bm_footprint_samples(&f) - best.samples;
    if (g->open) {
        g->open[chunk >> 6] &= ~((uint64_t)1 << (chunk & 63));
        g->open_count--;
    }
    if (owner >= 0) {
        give_place(o, g, place, owner);
    } else {
        g->rest[place >> 6] |= (uint64_t)1 << (place & 63);
        g->rest_count++;
    }
}

/* In the order of their numbers; coarse chunks, which many share, come last:
 * see distribute.c. */
static void give_all(struct bm_owners *o, struct giving *g, int is_last)
{
    int64_t words = (o->chunking->count + 63) / 64;
    int last_first = g->room && o->chunking->calls->coarse_first;
    int64_t before = last_first ? o->report.shared_patches : 0;

    for (int64_t n = 0; n < words; n++) {
        int64_t word = last_first ? words - 1 - n : n;
        uint64_t shared = o->shared[word], bits = shared;
        int64_t count = __builtin_popcountll(shared);

        if (g->open)
            bits = g->open[word];
        before -= last_first ? count : 0;
        while (bits) {
            int bit =
                last_first ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits);
            uint64_t lower = shared & (((uint64_t)1 << bit) - 1);

            bits &= ~((uint64_t)1 << bit);
            give(o, g, word * 64 + bit,
                 o->place[before + __builtin_popcountll(lower)], is_last);
        }
        before += last_first ? 0 : count;
    }
}

/* Those whose holders are full, by their places. */
static void fill_up(struct bm_owners *o, struct giving *g)
{
    int rank = 0;

    for (size_t word = 0; g->rest_count; word++)
        for (uint64_t bits = g->rest[word]; bits; bits &= bits - 1) {
            while (g->left[rank] <= 0)
                rank++;
            give_place(o, g, 64 * word + (size_t)__builtin_ctzll(bits), rank);
            g->rest_count--;
        }
}

static int balance(struct bm_owners *o)
{
    const bouma_allocator *a = o->grid->a;
    size_t ranks = (size_t)o->grid->ranks;
    size_t words = (size_t)o->chunking->count / 64 + 1;
    struct giving g = {.open_count = o->report.shared_patches};
    int64_t *room = bm_new_raw(a, ranks, sizeof(*room));
    int rc = BOUMA_ENOMEM;

    g.left = bm_new_raw(a, ranks, sizeof(*g.left));
    g.open = bm_new_raw(a, words, sizeof(*g.open));
    g.rest = bm_new(a, words, sizeof(*g.rest));
    if (room && g.left && g.open && g.rest) {
        rc = BOUMA_OK;
        g.room = o->chunking->calls->coarse_first ? g.left : room;
        memcpy(g.open, o->shared, words * sizeof(*g.open));
        for (int r = 0; r < o->grid->ranks; r++)
            g.left[r] =
                bm_distribute_target(o->chunking->count, o->grid->ranks, r) -
                o->count[r];
        for (int n = 1; n <= BM_BALANCED_ROUNDS && g.open_count; n++) {
            memcpy(room, g.left, ranks * sizeof(*room));
            give_all(o, &g, n == BM_BALANCED_ROUNDS);
        }
        fill_up(o, &g);
    }
    bm_drop(a, room);
    bm_drop(a, g.left);
    bm_drop(a, g.open);
    bm_drop(a, g.rest);
    return rc;
}

int bm_owners_share_out(struct bm_owners *o, bouma_distribute scheme)
{
    int balanced = scheme == BOUMA_DISTRIBUTE_BALANCED ||
                   scheme == BOUMA_DISTRIBUTE_WEIGHTED;
    struct giving g = {.lowest = scheme == BOUMA_DISTRIBUTE_NONE};
    int ranks = o->grid->ranks, rc = o->owner.rc;

    if (!balanced && scheme != BOUMA_DISTRIBUTE_GREEDY && !g.lowest)
        return BOUMA_EINVAL;
    if (o->report.shared_patches && !rc) {
        rc = find_places(o);
        if (!rc && balanced)
            rc = balance(o);
        else if (!rc)
            give_all(o, &g, 1);
    }
    for (int r = 0; r < ranks; r++)
        if (o->count[r] > o->report.most_patches)
            o->report.most_patches = o->count[r];
    return rc ? rc : o->owner.rc;
}
