/* rank_grid.c -- see rank_grid.h. */
#include "plan/rank_grid.h"

#include <string.h>

/* ---- the grid ------------------------------------------------------------ */

static void find_cuts(struct bm_rank_grid *g, const struct bm_hz_ranks *ranks)
{
    for (int d = 0; d < 3; d++)
        for (int64_t i = 0; i < g->grid[d]; i++) {
            int64_t cell[3] = {0, 0, 0};
            struct bm_box box;

            cell[d] = i;
            box = bm_hz_ranks_box(ranks, bm_hz_ranks_at(ranks, cell));
            g->cut[d][i] =
                box.lo[d] < ranks->shape[d] ? box.lo[d] : ranks->shape[d];
            g->cut[d][i + 1] = ranks->shape[d];
        }
}

int bm_rank_grid_init(struct bm_rank_grid *g, const bouma_allocator *a,
                      const struct bm_hz_ranks *ranks)
{
    memset(g, 0, sizeof(*g));
    g->a = a;
    g->ranks = ranks->count;
    g->rank = bm_new_raw(a, (size_t)ranks->count, sizeof(*g->rank));
    for (int d = 0; d < 3; d++) {
        g->grid[d] = ranks->grid[d];
        g->cut[d] = bm_new_raw(a, (size_t)g->grid[d] + 1, sizeof(*g->cut[d]));
    }
    if (!g->rank || !g->cut[0] || !g->cut[1] || !g->cut[2])
        return BOUMA_ENOMEM;
    find_cuts(g, ranks);
    for (int r = 0; r < ranks->count; r++) {
        int64_t cell[3];

        bm_hz_ranks_cell(ranks, r, cell);
        g->rank[(cell[0] * g->grid[1] + cell[1]) * g->grid[2] + cell[2]] = r;
    }
    return BOUMA_OK;
}

void bm_rank_grid_release(struct bm_rank_grid *g)
{
    if (!g->a)
        return;
    bm_drop(g->a, g->rank);
    for (int d = 0; d < 3; d++)
        bm_drop(g->a, g->cut[d]);
    memset(g, 0, sizeof(*g));
}

/* ---- holders ------------------------------------------------------------- */

int bm_holders_init(struct bm_holders *h, const struct bm_rank_grid *g)
{
    int rc = BOUMA_OK;

    memset(h, 0, sizeof(*h));
    h->grid = g;
    for (int d = 0; d < 3; d++) {
        struct bm_holders_axis *x = &h->axis[d];

        x->cell = bm_new_raw(g->a, (size_t)g->grid[d], sizeof(*x->cell));
        x->samples = bm_new_raw(g->a, (size_t)g->grid[d], sizeof(*x->samples));
        if (!x->cell || !x->samples)
            rc = BOUMA_ENOMEM;
    }
    return rc;
}

void bm_holders_release(struct bm_holders *h)
{
    for (int d = 0; d < 3 && h->grid; d++) {
        bm_drop(h->grid->a, h->axis[d].cell);
        bm_drop(h->grid->a, h->axis[d].samples);
    }
    memset(h, 0, sizeof(*h));
}

/* The cell of a sample, mostly the last one that was found or one beside it. */
static int64_t cell_of(const int64_t *cut, int64_t cells, int64_t near,
                       int64_t sample)
{
    if (sample >= cut[near + 1] && near + 1 < cells)
        near++;
    else if (sample < cut[near] && near)
        near--;
    if (sample < cut[near] || sample >= cut[near + 1]) {
        near = (int64_t)((double)sample / (double)cut[cells] * (double)cells);
        near = near < cells ? near : cells - 1;
    }
    while (sample < cut[near])
        near--;
    while (sample >= cut[near + 1])
        near++;
    return near;
}

int64_t bm_holders_find(struct bm_holders *h, const struct bm_footprint *f)
{
    int64_t ranks = 1;

    for (int d = 0; d < 3; d++) {
        struct bm_holders_axis *x = &h->axis[d];
        const int64_t *cut = h->grid->cut[d];
        int64_t up = ((int64_t)1 << f->shift[d]) - 1 - f->start[d];

        x->count = 0;
        for (int64_t i = 0, end; i < f->count[d]; i = end) {
            x->near = cell_of(cut, h->grid->grid[d], x->near,
                              f->start[d] + (i << f->shift[d]));
            end = (cut[x->near + 1] + up) >> f->shift[d];
            end = end < f->count[d] ? end : f->count[d];
            x->cell[x->count] = x->near;
            x->samples[x->count++] = end - i;
        }
        ranks *= x->count;
    }
    return ranks;
}

/* ---- owners -------------------------------------------------------------- */

/* Of the ranks with room[] (NULL: all have) the one that holds most of a chunk
 * or, of 'lowest', has the lowest number; -1 if there is none. */
static int choose(const struct bm_holders *h, const int64_t *room, int lowest,
                  uint64_t *held)
{
    struct bm_holder now = bm_holders_first(h);
    int best = -1;

    *held = 0;
    do {
        if (room && room[now.rank] <= 0)
            continue;
        if (best < 0 || (!lowest && now.samples > *held) ||
            ((lowest || now.samples == *held) && now.rank < best)) {
            best = now.rank;
            *held = now.samples;
        }
    } while (bm_holders_next(h, &now));
    return best;
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
    o->owner = bm_new_raw(g->a, count, sizeof(*o->owner));
    o->shared = bm_new(g->a, count / 64 + 1, sizeof(*o->shared));
    o->count = bm_new(g->a, (size_t)g->ranks, sizeof(*o->count));
    return o->owner && o->shared && o->count ? rc : BOUMA_ENOMEM;
}

void bm_owners_release(struct bm_owners *o)
{
    if (!o->grid)
        return;
    bm_drop(o->grid->a, o->owner);
    bm_drop(o->grid->a, o->shared);
    bm_drop(o->grid->a, o->place);
    bm_drop(o->grid->a, o->count);
    bm_holders_release(&o->holders);
    memset(o, 0, sizeof(*o));
}

/* Chunks that one rank holds stay there; the others are marked. */
void bm_owners_tell(struct bm_owners *o, int64_t first, int64_t count,
                    const struct bm_listed_chunk *list)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t chunk = list[i].chunk;

        if (bm_holders_find(&o->holders, &list[i].footprint) > 1) {
            o->shared[chunk >> 6] |= (uint64_t)1 << (chunk & 63);
            o->report.shared_patches++;
            o->owner[first + i] = -1;
            continue;
        }
        o->owner[first + i] = bm_holders_first(&o->holders).rank;
        o->count[o->owner[first + i]]++;
    }
}

/* The places of shared chunks, by their numbers; before[] has how many there
 * are before each word of bits. */
static void list_places(struct bm_owners *o, const uint32_t *before)
{
    struct bm_listed_chunk list[64];
    int64_t count = o->chunking->count;

    for (int64_t first = 0, n; first < count; first += n) {
        int any = 0;

        n = count - first < 64 ? count - first : 64;
        for (int64_t i = 0; i < n; i++)
            any |= o->owner[first + i] < 0;
        if (any)
            bm_chunking_list(o->chunking, first, n, list);
        for (int64_t i = 0; i < n && any; i++) {
            int64_t chunk = list[i].chunk, word = chunk >> 6;
            uint64_t lower = ((uint64_t)1 << (chunk & 63)) - 1;

            if (o->owner[first + i] < 0)
                o->place[before[word] + (uint32_t)__builtin_popcountll(
                                            o->shared[word] & lower)] =
                    (uint32_t)(first + i);
        }
    }
}

static int find_places(struct bm_owners *o)
{
    size_t words = (size_t)o->chunking->count / 64 + 1;
    uint32_t *before = bm_new_raw(o->grid->a, words, sizeof(*before)), n = 0;

    o->place = bm_new_raw(o->grid->a, (size_t)o->report.shared_patches,
                          sizeof(*o->place));
    for (size_t w = 0; w < words && before; w++) {
        before[w] = n;
        n += (uint32_t)__builtin_popcountll(o->shared[w]);
    }
    if (before && o->place)
        list_places(o, before);
    bm_drop(o->grid->a, before);
    return before && o->place ? BOUMA_OK : BOUMA_ENOMEM;
}

/* How shared chunks are given. */
struct giving {
    int lowest;    /* to the holder with the lowest number */
    int64_t *room; /* [ranks], of `balanced`: chunks that it may still get */
    int next;      /* no rank before it has room */
};

static void give(struct bm_owners *o, struct giving *g, int64_t chunk,
                 int *owner)
{
    struct bm_footprint f =
        o->chunking->calls->footprint(o->chunking->own, chunk);
    int64_t holders = bm_holders_find(&o->holders, &f);
    uint64_t held;

    *owner = choose(&o->holders, g->room, g->lowest, &held);
    o->report.messages += holders - (*owner >= 0);
    o->report.moved_samples += bm_footprint_samples(&f) - held;
    if (*owner < 0) {
        /* Room never grows, so those passed by need no second look. */
        while (g->room[g->next] <= 0)
            g->next++;
        *owner = g->next;
    }
    o->count[*owner]++;
    if (g->room)
        g->room[*owner]--;
}

/* In the order of their numbers; coarse chunks, which many share, come last:
 * see distribute.c. */
static void give_all(struct bm_owners *o, struct giving *g)
{
    int64_t words = (o->chunking->count + 63) / 64;
    int last_first = g->room && o->chunking->calls->coarse_first;
    int64_t k = last_first ? o->report.shared_patches - 1 : 0;

    for (int64_t n = 0; n < words; n++) {
        int64_t word = last_first ? words - 1 - n : n;
        uint64_t bits = o->shared[word];

        while (bits) {
            int bit =
                last_first ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits);

            bits &= ~((uint64_t)1 << bit);
            give(o, g, word * 64 + bit, &o->owner[o->place[k]]);
            k += last_first ? -1 : 1;
        }
    }
}

int bm_owners_share_out(struct bm_owners *o, bouma_distribute scheme)
{
    int balanced = scheme == BOUMA_DISTRIBUTE_BALANCED ||
                   scheme == BOUMA_DISTRIBUTE_WEIGHTED;
    struct giving g = {.lowest = scheme == BOUMA_DISTRIBUTE_NONE};
    int ranks = o->grid->ranks, rc = BOUMA_OK;

    if (!balanced && scheme != BOUMA_DISTRIBUTE_GREEDY && !g.lowest)
        return BOUMA_EINVAL;
    if (o->report.shared_patches) {
        if (balanced)
            g.room = bm_new_raw(o->grid->a, (size_t)ranks, sizeof(*g.room));
        rc = balanced && !g.room ? BOUMA_ENOMEM : find_places(o);
        for (int r = 0; r < ranks && g.room; r++)
            g.room[r] = bm_distribute_target(o->chunking->count, ranks, r) -
                        o->count[r];
        if (!rc)
            give_all(o, &g);
        bm_drop(o->grid->a, g.room);
    }
    for (int r = 0; r < ranks; r++)
        if (o->count[r] > o->report.most_patches)
            o->report.most_patches = o->count[r];
    return rc;
}
