/* tree_tally.c -- see tree_tally.h. */
#include "layout/tree_tally.h"

#include <math.h>
#include <string.h>

struct walk {
    struct bm_tally *out;
    const struct bm_tree *tree;
    const struct bm_tree_count *count;
    struct bm_interval piece[BM_MAX_INTERVALS]; /* of the row that is counted */
    uint32_t possible; /* pieces that values can be in */
    /* [rows of all alternatives] bins whose values all meet the condition */
    uint32_t *inner;
};

_Static_assert(BM_BINS == BM_MAX_INTERVALS, "a piece for each bin");

static uint32_t map_of(const struct walk *w, uint32_t row, uint32_t node)
{
    return w->tree->bitmaps[(size_t)row * w->tree->node_count + node];
}

/* The bins of the row that is counted which some alternative asks for. */
static uint32_t wanted_of_any(const struct walk *w)
{
    uint32_t any = 0;

    for (const struct bm_tree_query *q = w->count->query; q; q = q->next) {
        uint32_t wanted = UINT32_MAX;

        for (size_t i = 0; i < q->rows; i++)
            if (q->row[i] == w->count->row)
                wanted &= q->wanted[i];
        any |= wanted;
    }
    return any;
}

/* The pieces of an attribute are its bins. */
static void make_pieces(struct walk *w)
{
    const struct bm_bins *bins = &w->tree->bins[w->count->row];

    for (int i = 0; i < BM_BINS; i++) {
        union bm_scalar low, high;

        if (!bm_bins_values(bins, i, &low, &high))
            continue;
        w->piece[i] = bm_interval_of(w->out->edges, low, high);
        w->possible |= (uint32_t)1 << i;
    }
    w->possible &= wanted_of_any(w);
}

/* The bins of a condition, the i-th of all, of which all values meet it. */
static uint32_t inner_of(const struct walk *w, uint32_t row, size_t i)
{
    const struct bm_tree_count *c = w->count;
    const struct bm_bins *bins = &w->tree->bins[row];
    uint64_t least = bm_key_of(bins->type, c->least[i]);
    uint64_t most = bm_key_of(bins->type, c->most[i]);
    uint32_t inner = 0;

    for (int bin = 0; bin < BM_BINS && !c->nans[i]; bin++) {
        union bm_scalar low, high;

        if (!bm_bins_values(bins, bin, &low, &high) ||
            (bm_key_of(bins->type, low) >= least &&
             bm_key_of(bins->type, high) <= most))
            inner |= (uint32_t)1 << bin;
    }
    return inner;
}

/* The part of a region that is in the box of an alternative. */
static double share_of_box(const struct walk *w, const struct bm_tree_query *q,
                           const struct bm_tree_visit *v, int inside)
{
    double share = 1;

    for (int d = 0; d < w->tree->ndims && !inside; d++) {
        double width = v->high[d] - v->low[d];

        if (width > 0 && width <= DBL_MAX)
            share *=
                (fmin(v->high[d], q->high[d]) - fmax(v->low[d], q->low[d])) /
                width;
    }
    return share;
}

/* Whether all particles of a node meet all conditions of an alternative, whose
 * rows begin with the first-th of all, and the part that is thought to. */
static int meets_all(const struct walk *w, const struct bm_tree_query *q,
                     size_t first, const struct bm_tree_visit *v, double *share)
{
    int all;

    *share = 0;
    if (!bm_tree_meets(w->tree, q, v, &all))
        return 0;
    *share = share_of_box(w, q, v, all);
    for (size_t i = 0; i < q->rows; i++) {
        uint32_t map = map_of(w, q->row[i], v->node);

        if (!(map & ~w->inner[first + i]))
            continue;
        all = 0;
        *share *= (double)__builtin_popcount(map & q->wanted[i]) /
                  (double)__builtin_popcount(map);
    }
    return all;
}

/* The same for any alternative: as if no particle could meet two of them. */
static int meets_any(const struct walk *w, const struct bm_tree_visit *v,
                     double *share)
{
    double part, sum = 0;
    size_t first = 0;
    int all = 0;

    for (const struct bm_tree_query *q = w->count->query; q; q = q->next) {
        all |= meets_all(w, q, first, v, &part);
        sum += part;
        first += q->rows;
    }
    *share = all ? 1 : fmin(sum, 1);
    return all;
}

/* The positions of a node that are in a box, along the axis: from the lowest
 * to the highest. */
static struct bm_interval positions_of(const struct walk *w,
                                       const struct bm_tree_visit *v)
{
    int axis = w->count->axis, inside;
    union bm_scalar low = {.f = v->high[axis]}, high = {.f = v->low[axis]};

    for (const struct bm_tree_query *q = w->count->query; q; q = q->next)
        if (bm_tree_meets(w->tree, q, v, &inside)) {
            low.f = fmin(low.f, inside ? v->low[axis]
                                       : fmax(v->low[axis], q->low[axis]));
            high.f = fmax(high.f, inside ? v->high[axis]
                                         : fmin(v->high[axis], q->high[axis]));
        }
    if (!(low.f <= high.f)) { /* a tree whose regions are not nested */
        low.f = v->low[axis];
        high.f = v->high[axis];
    }
    return bm_interval_of(w->out->edges, low, high);
}

static int is_in_one_slot(const struct bm_group *g)
{
    uint32_t map = g->map;
    size_t slot;

    if (!map)
        return 1;
    slot = g->piece[__builtin_ctz(map)].first;
    for (int i = 0; i < BM_BINS; i++)
        if (map >> i & 1 &&
            (g->piece[i].first != slot || g->piece[i].last != slot))
            return 0;
    return 1;
}

/* Leaves are counted, and larger nodes of which nothing more is to be known. */
static int take_node(void *context, const struct bm_tree_visit *v)
{
    struct walk *w = context;
    const struct bm_tree_node *node = &w->tree->nodes[v->node];
    struct bm_interval place;
    struct bm_group g = {.piece = w->piece,
                         .occupied = 1,
                         .count = node->end - node->begin,
                         .numbers = w->count->numbers};

    g.certain = meets_any(w, v, &g.share);
    if (w->count->axis >= 0) {
        place = positions_of(w, v);
        g.piece = &place;
        g.map = 1;
        g.occupied = 0;
    } else {
        g.map = map_of(w, w->count->row, v->node) & w->possible;
    }
    if (node->right &&
        !(g.certain && (w->count->axis >= 0 ? place.first == place.last
                                            : is_in_one_slot(&g))))
        return 1;
    bm_tally_add(w->out, &g);
    return BOUMA_OK;
}

int bm_tree_tally(struct bm_tally *out, const struct bm_tree *tree,
                  const struct bm_tree_count *count)
{
    struct walk w = {.out = out, .tree = tree, .count = count};
    size_t rows = 0, at = 0;
    int rc = BOUMA_OK;

    for (const struct bm_tree_query *q = count->query; q; q = q->next)
        rows += q->rows;
    w.inner = bm_new(tree->a, rows, sizeof(*w.inner));
    if (!w.inner)
        return BOUMA_ENOMEM;
    if (count->axis < 0)
        make_pieces(&w);
    for (const struct bm_tree_query *q = count->query; q; q = q->next)
        for (size_t i = 0; i < q->rows; i++, at++)
            w.inner[at] = inner_of(&w, q->row[i], at);
    rc = bm_tree_walk(tree, count->query, take_node, &w);
    bm_drop(tree->a, w.inner);
    return rc;
}

void bm_tree_of_summary(struct bm_tree_of_one *out,
                        const struct bm_particle_summary *summary,
                        const bouma_allocator *a)
{
    memset(out, 0, sizeof(*out));
    out->leaf.end = (uint32_t)(summary->count - summary->strays);
    bm_tree_init(&out->tree, a);
    out->tree.ndims = summary->set->ndims;
    out->tree.type = summary->set->variables[0]->type;
    out->tree.count = out->leaf.end;
    memcpy(out->tree.low, summary->low, sizeof(summary->low));
    memcpy(out->tree.high, summary->high, sizeof(summary->high));
    out->tree.nodes = &out->leaf;
    out->tree.node_count = out->leaf.end ? 1 : 0;
    out->tree.bins = summary->bins;
    out->tree.bitmaps = summary->bitmaps;
    out->tree.maps = summary->rows;
}
