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
static int choose(const struct bm_holders *h, int64_t holders,
                  const int64_t *room, int lowest, uint64_t *held)
{
    uint64_t most = 0;
    int best = -1;

    for (int64_t i = 0; i < holders; i++) {
        int rank = bm_holders_rank(h, i);
        uint64_t samples = bm_holders_samples(h, i);

        if (room && room[rank] <= 0)
            continue;
        if (best < 0 || (!lowest && samples > most) ||
            ((lowest || samples == most) && rank < best)) {
            best = rank;
            most = samples;
        }
    }
    *held = best < 0 ? 0 : most;
    return best;
}

struct owners {
    int *owner;
    uint64_t *shared;
    const struct bm_rank_grid *grid;
    const struct bm_chunking *chunking;
    struct bm_holders holders;
    struct bm_distribution report;
    int64_t *room;  /* [ranks], of `balanced`: chunks that it may still get */
    int64_t *count; /* [ranks], chunks that it has */
    int next;       /* no rank before it has room */
};

/* Chunks that one rank holds stay there; the others are marked. */
static void keep_own(struct owners *o)
{
    struct bm_listed_chunk list[256];
    int64_t count = o->chunking->count;

    for (int64_t first = 0, n; first < count; first += n) {
        n = count - first < 256 ? count - first : 256;
        bm_chunking_list(o->chunking, first, n, list);
        for (int64_t i = 0; i < n; i++) {
            int64_t chunk = list[i].chunk;

            if (bm_holders_find(&o->holders, &list[i].footprint) > 1) {
                o->shared[chunk >> 6] |= (uint64_t)1 << (chunk & 63);
                o->report.shared_patches++;
                continue;
            }
            o->owner[chunk] = bm_holders_rank(&o->holders, 0);
            o->count[o->owner[chunk]]++;
        }
    }
}

static void give_shared(struct owners *o, int64_t chunk,
                        bouma_distribute scheme)
{
    struct bm_footprint f =
        o->chunking->calls->footprint(o->chunking->own, chunk);
    int64_t holders = bm_holders_find(&o->holders, &f);
    uint64_t held;
    int owner = choose(&o->holders, holders, o->room,
                       scheme == BOUMA_DISTRIBUTE_NONE, &held);

    o->report.messages += holders - (owner >= 0);
    if (owner < 0) {
        /* Room never grows, so those passed by need no second look. */
        while (o->room[o->next] <= 0)
            o->next++;
        owner = o->next;
    }
    o->report.moved_samples += bm_footprint_samples(&f) - held;
    o->owner[chunk] = owner;
    o->count[owner]++;
    if (o->room)
        o->room[owner]--;
}

/* In the order of their numbers; coarse chunks, which many share, come last:
 * see distribute.c. */
static void give_all_shared(struct owners *o, bouma_distribute scheme)
{
    int64_t words = (o->chunking->count + 63) / 64;
    int last_first = o->room && o->chunking->calls->coarse_first;

    for (int64_t n = 0; n < words; n++) {
        int64_t word = last_first ? words - 1 - n : n;
        uint64_t bits = o->shared[word];

        while (bits) {
            int bit =
                last_first ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits);

            bits &= ~((uint64_t)1 << bit);
            give_shared(o, word * 64 + bit, scheme);
        }
    }
}

int bm_rank_grid_distribute(int *owner, uint64_t *shared,
                            const struct bm_rank_grid *g,
                            bouma_distribute scheme,
                            const struct bm_chunking *chunking,
                            struct bm_distribution *report)
{
    int balanced = scheme == BOUMA_DISTRIBUTE_BALANCED ||
                   scheme == BOUMA_DISTRIBUTE_WEIGHTED;
    struct owners o = {
        .owner = owner, .shared = shared, .grid = g, .chunking = chunking};
    size_t ranks = (size_t)g->ranks;
    int rc;

    if (!balanced && scheme != BOUMA_DISTRIBUTE_GREEDY &&
        scheme != BOUMA_DISTRIBUTE_NONE)
        return BOUMA_EINVAL;
    rc = bm_holders_init(&o.holders, g);
    o.count = bm_new(g->a, ranks, sizeof(*o.count));
    if (balanced)
        o.room = bm_new_raw(g->a, ranks, sizeof(*o.room));
    if (!o.count || (balanced && !o.room))
        rc = BOUMA_ENOMEM;
    if (!rc) {
        keep_own(&o);
        for (int r = 0; r < g->ranks && balanced; r++)
            o.room[r] =
                bm_distribute_target(chunking->count, g->ranks, r) - o.count[r];
        give_all_shared(&o, scheme);
        for (int r = 0; r < g->ranks; r++)
            if (o.count[r] > o.report.most_patches)
                o.report.most_patches = o.count[r];
        *report = o.report;
    }
    bm_drop(g->a, o.room);
    bm_drop(g->a, o.count);
    bm_holders_release(&o.holders);
    return rc;
}
