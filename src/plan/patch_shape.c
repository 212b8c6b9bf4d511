/* patch_shape.c -- see patch_shape.h. */
#include "plan/patch_shape.h"

#include <string.h>

#include "base/bits.h"
#include "base/tiling.h"

__extension__ typedef unsigned __int128 twice_as_wide;

/* ---- what is weighed ----------------------------------------------------- */

/* Costs are counted in such parts of all samples. */
#define WHOLE 4096

/* Edges that are worse to read cost something: so much for each doubling of the
 * longest one over the shortest, and of patches larger or smaller than usual,
 * twice as much if samples are predicted; and to leave what is usual, something
 * has to be gained. */
#define LONGER  (WHOLE / 64)
#define LARGER  (WHOLE / 85)
#define CHANGED (WHOLE / 20)

/* Of the patches that the rank with most has beyond others, the part that all
 * ranks together have. */
#define SPARED 4

/* By the number of axes, as exponents of 2: samples of a usual patch, the
 * shortest and longest edge, and how much longer than the shortest it may be. */
static const struct {
    int usual, shortest, longest, apart;
} limits[] = {{0, 0, 0, 0}, {16, 13, 17, 0}, {16, 3, 12, 8}, {18, 2, 9, 4}};

#define SMALLER_BITS 3 /* patches may have an eighth of the usual samples */
#define LARGER_BITS  1 /* or twice as many */
#define FEW_BITS     2 /* grids of fewer than four usual ones have no choice */

/* a * b / c, where it is at most 2^64 - 1. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
    return (uint64_t)((twice_as_wide)a * b / c);
}

static uint64_t samples_of(const struct bm_patch_grid *g)
{
    return (uint64_t)g->shape[0] * (uint64_t)g->shape[1] *
           (uint64_t)g->shape[2];
}

int bm_patch_has_choice(const struct bm_patch_grid *g)
{
    return samples_of(g) >> (limits[g->ndims].usual + FEW_BITS) != 0;
}

/* ---- facts --------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* How uneven a border is; the ends of the grid are none. */
static uint64_t odd(int64_t border, int64_t shape)
{
    uint64_t zeros = 0;

    if (border <= 0 || border >= shape)
        return 0;
    while (!(border >> zeros & 1))
        zeros++;
    return 63 - zeros;
}

void bm_patch_tell(uint64_t facts[BM_PATCH_FACTS],
                   const struct bm_patch_grid *g, const struct bm_box *box)
{
    memset(facts, 0, BM_PATCH_FACTS * sizeof(*facts));
    facts[BM_PATCH_SAMPLES] = bm_box_volume(box);
    if (!facts[BM_PATCH_SAMPLES])
        return;
    facts[BM_PATCH_HOLDERS] = 1;
    for (int d = 0; d < 3; d++) {
        facts[BM_PATCH_EXTENT + d] = (uint64_t)(box->hi[d] - box->lo[d]);
        facts[BM_PATCH_ODD + d] =
            larger(odd(box->lo[d], g->shape[d]), odd(box->hi[d], g->shape[d]));
    }
}

/* ---- tallies ------------------------------------------------------------- */

/* Along one axis: samples of a block that stay with it; patches that are
 * assembled there; and samples of those that it holds alone. */
struct along {
    int64_t stay, patches, alone;
};

/* A layer of patches, of which the block has a part. If blocks of its extent
 * are beside it, does it hold most? Of several that hold the same, one does: each
 * counts for its share. */
static void add_layer(struct along *out, int64_t layer, int64_t edge,
                      int64_t shape, const int64_t block[2])
{
    int64_t begin = layer * edge, end = begin + edge, own, most, left, right,
            extent = block[1] - block[0];

    end = end < shape ? end : shape;
    left = block[0] > begin ? block[0] - begin : 0;
    right = end > block[1] ? end - block[1] : 0;
    own = end - begin - left - right;
    most = left > right ? left : right;
    most = most < extent ? most : extent;
    if (own == end - begin || own > most + 1) {
        out->stay += own;
        out->patches++;
        out->alone += own == end - begin ? own : 0;
    } else if (own + 1 >= most) {
        out->stay += own * own / (end - begin);
        out->patches++;
    }
}

static struct along count_along(int64_t shape, int64_t edge, int64_t lo,
                                int64_t hi)
{
    int64_t first = lo / edge, last = (hi - 1) / edge, block[2] = {lo, hi};
    struct along out = {0, 0, 0};

    if (hi <= lo)
        return out;
    add_layer(&out, first, edge, shape, block);
    if (last > first) {
        add_layer(&out, last, edge, shape, block);
        out.stay += (last - first - 1) * edge;
        out.patches += last - first - 1;
        out.alone += (last - first - 1) * edge;
    }
    return out;
}

struct bm_patch_tally bm_patch_count(const struct bm_patch_grid *g,
                                     const int64_t edge[3],
                                     const struct bm_box *box)
{
    struct bm_patch_tally out = {1, 1, 1};

    for (int d = 0; d < 3; d++) {
        struct along a =
            count_along(g->shape[d], edge[d], box->lo[d], box->hi[d]);

        out.patches *= (uint64_t)a.patches;
        out.most *= (uint64_t)a.alone;
        out.stay *= (uint64_t)a.stay;
    }
    return out;
}

/* The same of all cells along an axis: the sum of what stays, and the most that
 * is assembled. Of very many cells, some stand for all. */
#define MANY_CELLS 4096
static struct along count_cells(int64_t shape, int64_t edge, int64_t cells,
                                const int64_t *cut)
{
    int64_t step = cut ? 1 : cells / MANY_CELLS + 1, seen = 0;
    struct along out = {0, 0, 0};

    for (int64_t i = 0; i < cells; i += step) {
        int64_t lo =
            cut ? cut[i]
                : (int64_t)scale((uint64_t)i, (uint64_t)shape, (uint64_t)cells);
        int64_t hi = cut ? cut[i + 1]
                         : (int64_t)scale((uint64_t)i + 1, (uint64_t)shape,
                                          (uint64_t)cells);
        struct along a = count_along(shape, edge, lo, hi);

        out.stay += a.stay;
        out.patches = a.patches > out.patches ? a.patches : out.patches;
        out.alone = a.alone > out.alone ? a.alone : out.alone;
        seen += hi - lo;
    }
    if (step > 1)
        out.stay =
            (int64_t)scale((uint64_t)out.stay, (uint64_t)shape, (uint64_t)seen);
    return out;
}

/* ---- costs --------------------------------------------------------------- */

struct cost {
    uint64_t moved; /* samples that do not stay */
    uint64_t idle;  /* time of ranks that wait for the one with most to do */
    uint64_t all;   /* with that of the form */
};

static int log2_of(int64_t edge)
{
    return bm_bits_length((uint64_t)edge) - 1;
}

static int volume_bits(const int64_t edge[3])
{
    return log2_of(edge[0]) + log2_of(edge[1]) + log2_of(edge[2]);
}

/* The longest edge over the shortest one, of the grid's own axes. */
static int bits_apart(const struct bm_patch_grid *g, const int64_t edge[3])
{
    int least = 63, most = 0;

    for (int d = 3 - g->ndims; d < 3; d++) {
        int bits = log2_of(edge[d]);

        least = bits < least ? bits : least;
        most = bits > most ? bits : most;
    }
    return most - least;
}

/* Samples of a whole patch; and the number of patches. */
static uint64_t patch_samples(const struct bm_patch_grid *g,
                              const int64_t edge[3])
{
    uint64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= (uint64_t)(edge[d] < g->shape[d] ? edge[d] : g->shape[d]);
    return n;
}

static uint64_t patch_count(const struct bm_patch_grid *g,
                            const int64_t edge[3])
{
    uint64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= (uint64_t)((g->shape[d] - 1) / edge[d] + 1);
    return n;
}

/* The most samples that a rank assembles. What it holds alone stays with it;
 * else ranks get as many patches as others, and perhaps only whole ones, where
 * those at the far borders are small. What is usual has the benefit of the
 * doubt. */
static uint64_t most_of(const struct bm_patch_grid *g, uint64_t holders,
                        const int64_t edge[3], int is_usual,
                        const struct bm_patch_tally *tally)
{
    uint64_t each = is_usual ? 1 : (patch_count(g, edge) - 1) / holders + 1;

    return tally->stay == samples_of(g)
               ? tally->most
               : larger(tally->most, patch_samples(g, edge) * each);
}

/* Samples that move: those that do not stay. If there are fewer patches than
 * ranks, that is all of some ranks; and if a rank would have more patches than
 * others, shared ones go to those. */
static uint64_t moved_of(const struct bm_patch_grid *g, uint64_t holders,
                         const int64_t edge[3], int is_usual,
                         const struct bm_patch_tally *tally)
{
    uint64_t all = samples_of(g), count = patch_count(g, edge);
    uint64_t each = larger(count / holders, 1);
    uint64_t out =
        tally->stay < all ? WHOLE - scale(tally->stay, WHOLE, all) : 0;

    if (count < holders)
        out = larger(out, scale(holders - count, WHOLE, holders));
    if (!is_usual && tally->patches > each && tally->stay < all)
        out += scale(tally->patches - each, WHOLE, SPARED * tally->patches);
    return out < WHOLE ? out : WHOLE;
}

static struct cost cost_of(const struct bm_patch_grid *g, const uint64_t *facts,
                           const int64_t usual[3], const int64_t edge[3],
                           const struct bm_patch_tally *tally)
{
    uint64_t holders = facts[BM_PATCH_HOLDERS];
    uint64_t mean = (samples_of(g) - 1) / holders + 1;
    uint64_t most = most_of(g, holders, edge, edge == usual, tally);
    int volume = volume_bits(edge) - volume_bits(usual);
    int apart = bits_apart(g, edge) - bits_apart(g, usual);
    struct cost out;
    uint64_t form;

    out.moved = moved_of(g, holders, edge, edge == usual, tally);
    out.idle = WHOLE - scale(mean, WHOLE, larger(most, mean));
    form = LARGER * (uint64_t)(volume < 0 ? -volume : volume) +
           LONGER * (uint64_t)(apart > 0 ? apart : 0);
    out.all = out.moved + out.idle + (g->predicted ? 2 : 1) * form;
    return out;
}

/* ---- the list ------------------------------------------------------------ */

/* What is usual for a grid. */
static void usual_edges(int64_t edge[3], const struct bm_patch_grid *g)
{
    static const int64_t wanted[3] = {0, 0, 0};

    edge[0] = edge[1] = edge[2] = 1;
    bm_tiling_edges(edge + 3 - g->ndims, g->ndims, g->shape + 3 - g->ndims,
                    wanted);
}

/* The list, with costs on ranks whose blocks are as equal as possible. */
struct listing {
    const struct bm_patch_grid *grid;
    struct bm_patch_choices *out;
    const uint64_t *facts;
    int64_t cells[3];
    int even[3];                     /* all borders are multiples of 2^even */
    int first[3], last[3];           /* exponents of edges, along each axis */
    struct along along[3][18];       /* of these edges */
    uint64_t cost[BM_PATCH_CHOICES]; /* ascending, behind the first */
};

/* The edges that an axis may have, and what stays with each. */
static void count_axis(struct listing *l, int d, int64_t usual)
{
    const struct bm_patch_grid *g = l->grid;
    int64_t widest = (g->shape[d] - 1) / l->cells[d] + 1;
    int own = log2_of(usual), most = own;

    if (d < 3 - g->ndims) {
        l->first[d] = l->last[d] = 0;
    } else {
        while (most < limits[g->ndims].longest &&
               (int64_t)1 << most < g->shape[d])
            most++;
        l->first[d] =
            own < limits[g->ndims].shortest ? own : limits[g->ndims].shortest;
        l->last[d] = most;
    }
    for (int k = l->first[d]; k <= l->last[d]; k++)
        l->along[d][k] =
            l->even[d] >= k
                ? (struct along){g->shape[d],
                                 (widest - 1) / ((int64_t)1 << k) + 1, widest}
                : count_cells(g->shape[d], (int64_t)1 << k, l->cells[d], NULL);
}

static struct bm_patch_tally
tally_along(const struct along *z, const struct along *y, const struct along *x)
{
    return (struct bm_patch_tally){
        (uint64_t)z->patches * (uint64_t)y->patches * (uint64_t)x->patches,
        (uint64_t)z->alone * (uint64_t)y->alone * (uint64_t)x->alone,
        (uint64_t)z->stay * (uint64_t)y->stay * (uint64_t)x->stay};
}

/* Where not all ranks can have a patch, at least more of them must. */
static int is_possible(const struct listing *l, const int64_t edge[3])
{
    const struct bm_patch_grid *g = l->grid;
    const int64_t *usual = l->out->edge[0];
    uint64_t count = patch_count(g, edge);
    int volume = volume_bits(edge), apart = bits_apart(g, usual);
    struct bm_tiling t;

    apart = apart > limits[g->ndims].apart ? apart : limits[g->ndims].apart;
    return volume >= volume_bits(usual) - SMALLER_BITS &&
           volume <= volume_bits(usual) + LARGER_BITS &&
           bits_apart(g, edge) <= apart &&
           (uint64_t)1 << volume <= g->most_samples &&
           (count >= l->facts[BM_PATCH_HOLDERS] ||
            count >= 2 * patch_count(g, usual)) &&
           memcmp(edge, usual, 3 * sizeof(*edge)) != 0 &&
           !bm_tiling_init(&t, g->ndims, g->shape + 3 - g->ndims,
                           edge + 3 - g->ndims);
}

/* Into the list, if it is better than the last one of a full list. */
static void enter(struct listing *l, const int64_t edge[3], uint64_t cost)
{
    struct bm_patch_choices *out = l->out;
    int at = out->count;

    while (at > 1 && l->cost[at - 1] > cost)
        at--;
    if (at == BM_PATCH_CHOICES)
        return;
    if (out->count < BM_PATCH_CHOICES)
        out->count++;
    for (int i = out->count - 1; i > at; i--) {
        memcpy(out->edge[i], out->edge[i - 1], sizeof(out->edge[i]));
        l->cost[i] = l->cost[i - 1];
    }
    memcpy(out->edge[at], edge, sizeof(out->edge[at]));
    l->cost[at] = cost;
}

static void consider(struct listing *l, const int bits[3])
{
    const int64_t *usual = l->out->edge[0];
    int64_t edge[3] = {(int64_t)1 << bits[0], (int64_t)1 << bits[1],
                       (int64_t)1 << bits[2]};
    struct bm_patch_tally tally = tally_along(
        &l->along[0][bits[0]], &l->along[1][bits[1]], &l->along[2][bits[2]]);
    uint64_t cost;

    if (!is_possible(l, edge))
        return;
    cost = cost_of(l->grid, l->facts, usual, edge, &tally).all;
    if (cost < l->cost[0])
        enter(l, edge, cost);
}

void bm_patch_list(struct bm_patch_choices *out, const struct bm_patch_grid *g,
                   const uint64_t facts[BM_PATCH_FACTS])
{
    struct listing l = {.grid = g, .out = out, .facts = facts};
    struct bm_patch_tally tally;
    int bits[3];

    out->count = 1;
    usual_edges(out->edge[0], g);
    /* One rank has nothing to move; others must hold each sample once. */
    if (facts[BM_PATCH_HOLDERS] < 2 || facts[BM_PATCH_SCATTERED] ||
        facts[BM_PATCH_SAMPLES] != samples_of(g) || !bm_patch_has_choice(g))
        return;
    for (int d = 0; d < 3; d++) {
        l.cells[d] =
            (g->shape[d] - 1) / (int64_t)facts[BM_PATCH_EXTENT + d] + 1;
        l.even[d] = 63 - (int)facts[BM_PATCH_ODD + d];
        count_axis(&l, d, out->edge[0][d]);
    }
    tally = tally_along(&l.along[0][log2_of(out->edge[0][0])],
                        &l.along[1][log2_of(out->edge[0][1])],
                        &l.along[2][log2_of(out->edge[0][2])]);
    l.cost[0] = cost_of(g, facts, out->edge[0], out->edge[0], &tally).all;
    for (bits[0] = l.first[0]; bits[0] <= l.last[0]; bits[0]++)
        for (bits[1] = l.first[1]; bits[1] <= l.last[1]; bits[1]++)
            for (bits[2] = l.first[2]; bits[2] <= l.last[2]; bits[2]++)
                consider(&l, bits);
}

/* ---- the choice ---------------------------------------------------------- */

int bm_patch_choose(const struct bm_patch_choices *choices,
                    const struct bm_patch_grid *g,
                    const uint64_t facts[BM_PATCH_FACTS],
                    const struct bm_patch_tally *tally)
{
    const int64_t *usual = choices->edge[0];
    struct cost first, least;
    int best = 0;

    if (choices->count < 2)
        return 0;
    first = least = cost_of(g, facts, usual, usual, &tally[0]);
    for (int i = 1; i < choices->count; i++) {
        struct cost c = cost_of(g, facts, usual, choices->edge[i], &tally[i]);

        if (c.moved + CHANGED / 2 <= first.moved &&
            c.idle <= first.idle + 2 * CHANGED &&
            c.all + CHANGED <= first.all && c.all < least.all) {
            least = c;
            best = i;
        }
    }
    return best;
}

/* ---- ranks on a grid ----------------------------------------------------- */

/* Cells that have samples, along an axis. */
static void tell_cells(uint64_t facts[BM_PATCH_FACTS],
                       const struct bm_patch_grid *g, int d, const int64_t *cut,
                       int64_t cells)
{
    uint64_t count = 0;

    for (int64_t i = 0; i < cells; i++) {
        if (cut[i + 1] <= cut[i])
            continue;
        count++;
        facts[BM_PATCH_EXTENT + d] =
            larger(facts[BM_PATCH_EXTENT + d], (uint64_t)(cut[i + 1] - cut[i]));
        facts[BM_PATCH_ODD + d] =
            larger(facts[BM_PATCH_ODD + d], odd(cut[i], g->shape[d]));
    }
    facts[BM_PATCH_HOLDERS] *= count;
}

void bm_patch_choose_on_grid(int64_t edge[3], const struct bm_patch_grid *g,
                             const int64_t *const cut[3],
                             const int64_t cells[3])
{
    uint64_t facts[BM_PATCH_FACTS] = {0};
    struct bm_patch_tally tally[BM_PATCH_CHOICES];
    struct bm_patch_choices choices;
    int best;

    facts[BM_PATCH_HOLDERS] = 1;
    facts[BM_PATCH_SAMPLES] = samples_of(g);
    for (int d = 0; d < 3; d++)
        tell_cells(facts, g, d, cut[d], cells[d]);
    bm_patch_list(&choices, g, facts);
    /* What holds for a box holds for sums over all: they are products. */
    for (int i = 0; i < choices.count; i++) {
        struct along a[3];

        for (int d = 0; d < 3; d++)
            a[d] =
                count_cells(g->shape[d], choices.edge[i][d], cells[d], cut[d]);
        tally[i] = tally_along(&a[0], &a[1], &a[2]);
    }
    best = bm_patch_choose(&choices, g, facts, tally);
    memcpy(edge, choices.edge[best], 3 * sizeof(*edge));
}
