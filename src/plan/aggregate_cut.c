/* aggregate_cut.c -- where to cut a set of units in two.
 *
 * The particles left of a candidate grow with its coordinate, so only two
 * candidates along an axis can be the best: the last before the wanted share of
 * particles is reached, and the first at or after that. The point where it is
 * reached is the weighted median of the centres, found by selection; so a cut
 * costs time in proportion to the units, and nothing is sorted. */
#include "plan/aggregate_tree.h"

#include <math.h>

void bm_items_extent(struct bm_tree_extent *out, const struct bm_item *items,
                     size_t count)
{
    for (int d = 0; d < 3; d++) {
        double low = items[0].low[d], high = items[0].high[d];

        for (size_t i = 1; i < count; i++) {
            low = items[i].low[d] < low ? items[i].low[d] : low;
            high = items[i].high[d] > high ? items[i].high[d] : high;
        }
        out->low[d] = low;
        out->high[d] = high;
        out->half[d] = 0.5 * high - 0.5 * low;
    }
}

/* The share that is wanted, as a number of particles: whole + part/of. */
struct goal {
    uint64_t whole, part, of;
};

static struct goal goal_of(uint64_t total, const struct bm_cut_request *request)
{
    /* total * part / of, where the product may be too large. */
    uint64_t rest = total % request->of * request->part;

    return (struct goal){total / request->of * request->part +
                             rest / request->of,
                         rest % request->of, request->of};
}

/* Set cut->left and how far that is from the goal. */
static void measure(struct bm_cut *cut, uint64_t left, const struct goal *goal)
{
    cut->left = left;
    if (left <= goal->whole) {
        cut->off = goal->whole - left;
        cut->off_of = goal->part;
    } else if (goal->part) {
        cut->off = left - goal->whole - 1;
        cut->off_of = goal->of - goal->part;
    } else {
        cut->off = left - goal->whole;
        cut->off_of = 0;
    }
}

static int nearer(const struct bm_cut *a, const struct bm_cut *b)
{
    return a->off != b->off ? a->off < b->off : a->off_of < b->off_of;
}

/* The smallest key such that it and all smaller ones together weigh at least
 * 'wanted', which is not 0 and not more than all. Quickselect in three parts;
 * pivots are drawn at random, the same ones each time. */
static double select_weighted(struct bm_weight *w, size_t count,
                              uint64_t wanted)
{
    size_t from = 0, to = count;
    uint64_t state = count;

    for (;;) {
        size_t less = from, i = from, more = to;
        uint64_t below = 0, equal = 0;
        double pivot;

        state = state * 6364136223846793005u + 1442695040888963407u;
        pivot = w[from + (size_t)((state >> 32) % (to - from))].key;
        while (i < more) {
            struct bm_weight here = w[i];

            if (here.key < pivot) {
                below += here.weight;
                w[i++] = w[less];
                w[less++] = here;
            } else if (here.key > pivot) {
                w[i] = w[--more];
                w[more] = here;
            } else {
                equal += here.weight;
                i++;
            }
        }
        if (wanted <= below) {
            to = less;
        } else if (wanted <= below + equal || more == to) {
            return pivot;
        } else {
            wanted -= below + equal;
            from = more;
        }
    }
}

#define BINS 1024

/* The same, for many: count the weight in equal parts of the range of the keys
 * first, and look only at the part in which it is found. */
static double weighted_rank(struct bm_weight *w, size_t count, uint64_t wanted,
                            double low, double half)
{
    double factor = BINS / half;
    uint64_t bins[BINS] = {0};
    size_t bin = 0, inside = 0;

    if (count < BINS || !(factor < 0x1p1000))
        return select_weighted(w, count, wanted);
        /* Of a half, as the whole may be too large. Rounding keeps the order.
         */
#define BIN_OF(key)                                                            \
    ((0.5 * (key)-0.5 * low) * factor < BINS - 1                               \
         ? (size_t)((0.5 * (key)-0.5 * low) * factor)                          \
         : BINS - 1)
    for (size_t i = 0; i < count; i++)
        bins[BIN_OF(w[i].key)] += w[i].weight;
    for (; bins[bin] < wanted; bin++)
        wanted -= bins[bin];
    for (size_t i = 0; i < count; i++)
        if (BIN_OF(w[i].key) == bin) {
            struct bm_weight here = w[i];

            w[i] = w[inside];
            w[inside++] = here;
        }
#undef BIN_OF
    return select_weighted(w, inside, wanted);
}

/* A set of items to be cut in two. */
struct cutting {
    const struct bm_item *items;
    size_t count;
    uint64_t total; /* particles of all */
    struct goal goal;
    struct bm_weight *scratch; /* [count] */
};

/* The best cut along an axis; 0 if no candidate has items on both sides. */
static int cut_axis(struct bm_cut *cut, const struct cutting *c, int axis,
                    int by_centres)
{
    const struct bm_item *items = c->items;
    const struct goal *goal = &c->goal;
    struct bm_weight *scratch = c->scratch;
    size_t count = c->count;
    double below = -INFINITY, above = INFINITY, median;
    double low = INFINITY, high = -INFINITY;
    uint64_t left_below = 0, left_above = 0;
    size_t items_below = 0, items_above = 0;
    struct bm_cut other = {.axis = axis};

    for (size_t i = 0; i < count; i++) {
        double key = bm_item_centre(&items[i], axis);

        scratch[i] = (struct bm_weight){key, items[i].count};
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    if (low == high)
        return 0;
    median = weighted_rank(scratch, count, goal->whole + (goal->part > 0), low,
                           0.5 * high - 0.5 * low);
    for (size_t i = 0; i < count; i++) {
        double edge[2] = {items[i].low[axis], items[i].high[axis]};

        if (by_centres)
            edge[0] = edge[1] = bm_item_centre(&items[i], axis);
        for (int k = 0; k < 2; k++) { /* without branches */
            double less = edge[k] < median ? edge[k] : -INFINITY;
            double more = edge[k] < median ? INFINITY : edge[k];

            below = less > below ? less : below;
            above = more < above ? more : above;
        }
    }
    for (size_t i = 0; i < count; i++) {
        int is_below = scratch[i].key <= below;
        int is_above = scratch[i].key <= above;

        left_below += is_below ? scratch[i].weight : 0;
        left_above += is_above ? scratch[i].weight : 0;
        items_below += (size_t)is_below;
        items_above += (size_t)is_above;
    }
    cut->axis = axis;
    cut->split = below;
    cut->left_items = items_below;
    measure(cut, left_below, goal);
    other.split = above;
    other.left_items = items_above;
    measure(&other, left_above, goal);
    if (left_above < c->total && (!left_below || nearer(&other, cut)))
        *cut = other;
    return left_below || left_above < c->total;
}

void bm_cut_order(struct bm_cut *cut, const struct bm_item *items, size_t count,
                  uint64_t total, const struct bm_cut_request *request)
{
    struct goal goal = goal_of(total, request);
    struct bm_cut here = {.axis = -1};
    uint64_t left = 0;

    for (size_t i = 0; i + 1 < count; i++) {
        left += items[i].count;
        here.left_items = i + 1;
        measure(&here, left, &goal);
        if (i == 0 || nearer(&here, cut))
            *cut = here;
        if (left > goal.whole)
            break;
    }
}

void bm_cut_best(struct bm_cut *cut, struct bm_weight *scratch,
                 const struct bm_item *items, size_t count, uint64_t total,
                 const struct bm_cut_request *request)
{
    struct cutting c = {items, count, total, goal_of(total, request), scratch};
    struct bm_tree_extent extent;
    int axes[3] = {0, 1, 2};

    bm_items_extent(&extent, items, count);
    for (int i = 1; i < request->ndims; i++) /* the longest one first */
        for (int k = i;
             k > 0 && extent.half[axes[k]] > extent.half[axes[k - 1]]; k--) {
            int axis = axes[k];

            axes[k] = axes[k - 1];
            axes[k - 1] = axis;
        }
    for (int by_centres = request->by_centres; by_centres < 2; by_centres++) {
        int found = 0;

        for (int i = 0; i < request->ndims && !(found && !request->best_axis);
             i++) {
            struct bm_cut here;

            if (!cut_axis(&here, &c, axes[i], by_centres))
                continue;
            if (!found || nearer(&here, cut))
                *cut = here;
            found = 1;
        }
        if (found)
            return;
    }
    bm_cut_order(cut, items, count, total, request);
}
