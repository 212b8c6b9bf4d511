/* tree_build.c -- particles, sorted into a k-d tree: paper 002, III-C.
 *
 *     bounds, keys    of all particles; a key is a cell, of up to 4096
 *     to buckets      of 64 cells, so that each is about as large as a cache
 *     to cells        of one bucket,
 *     treelets        and their leaves: see treelet_rows.h
 *     nodes           over cells: a binary radix tree of the keys (Karras 2012)
 *
 * All sorting keeps the order in which particles were given, so that only this
 * and the positions decide. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "codec/clones.h"
#include "layout/tree.h"
#include "layout/tree_route.h"

#define MOST_PARTS  64 /* each has counts of all cells */
#define MOST_BITS   12
#define LOWER_BITS  6 /* of them, for the second turn */
#define STEPS       4096
#define GRID_SAMPLE 16384
#define BLOCK       1024 /* particles that are looked at together */

#define MOST_WAYS       64 /* parts that are made at once */
#define SAMPLE_PER_PART 16
#define MOST_SAMPLE     (MOST_WAYS * SAMPLE_PER_PART)
#define MOST_NESTED     4

struct bounds {
    double low[3], high[3];
    uint64_t count; /* of finite positions */
};

/* Cells, numbered by their Morton key. Along each axis there are slices, with
 * about as many particles in each (by a sample); where their edges can be is
 * one of 4096 steps of equal width. The bits of the key go to the axis along
 * which slices would be longest, one after the other. The cells of a bucket
 * have all but the lower bits in common. */
struct grid {
    uint32_t cells; /* a power of two; also the "cell" of what is not finite */
    uint32_t lower; /* cells in a bucket */
    int lower_bits;
    int all_finite;
    int by_place;
    double pre, origin[3], scale[3]; /* see measure_f32() */
    uint16_t bits[3][STEPS];        /* [axis][step along it], bits of the key */
    uint8_t axis_of_bit[MOST_BITS]; /* from the lowest */
};

/* Where the result goes, by slots: see bm_tree_build(). */
struct listing {
    uint32_t *order;
    void *sorted[3]; /* NULL: not wanted */
};

/* Items whose node is still to be made. */
struct run {
    uint32_t begin, end;
    uint32_t parent; /* whose right child it is, if 'right' */
    uint32_t heap;   /* index in the last cut; 0: a part of its own */
    uint8_t right, buffer, nested;
    uint8_t exact; /* cuts do not help here */
};

/* What a treelet is made of, and where it goes. */
struct treelet {
    void *items[2]; /* of a bucket */
    uint8_t *bins;  /* scratch */
    const struct listing *list;
    uint32_t base; /* index of the first item */
    uint32_t leaf;
    uint32_t spare; /* nodes that there may be beyond the fewest possible */
    struct bm_tree_node *nodes;
    uint32_t count;
};

/* The i-th of a sample of 'size' of n: spread evenly, but not at equal
 * distances, which would see little of a lattice. */
static inline size_t sample_index(size_t i, size_t size, size_t n)
{
    size_t begin = (size_t)((uint64_t)i * n / size);
    size_t end = (size_t)((uint64_t)(i + 1) * n / size);

    return end > begin + 1
               ? begin + ((uint32_t)i * 2654435761u >> 7) % (end - begin)
               : begin;
}

static inline uint32_t leaves_of(uint32_t n, uint32_t leaf)
{
    return n / leaf + (n % leaf != 0);
}

/* Whether it pays to cut n particles into many parts. */
static inline int many(uint32_t n, uint32_t leaf)
{
    return n >= 2048 && n / 16 >= leaf;
}

#define REAL    float
#define BITS    uint32_t
#define TINY    0x1p-100f
#define GROW    0x1p60f
#define NAME(x) x##_f32
#include "layout/tree_rows.h"
#include "layout/treelet_rows.h"

#define REAL    double
#define BITS    uint64_t
#define TINY    0x1p-900
#define GROW    0x1p100
#define NAME(x) x##_f64
#include "layout/tree_rows.h"
#include "layout/treelet_rows.h"

/* ---- cells -------------------------------------------------------------- */

/* A cell that has particles. */
struct cell {
    double low[3];
    uint32_t key, begin, end;
    size_t nodes;        /* of its treelet: their offset in the arena... */
    uint32_t node_count; /* ...and number */
};

/* What all threads work on. */
struct build {
    struct bm_tree *t;
    const struct bm_positions *positions;
    struct listing list;
    struct bm_tree_route *route; /* or NULL */
    size_t parts;                /* runs of particles, one for each thread */
    struct bounds *bounds;       /* [parts] */
    struct grid *grid;
    uint16_t *cell_of; /* [particles] */
    uint32_t *counts;  /* [parts][cells + 1] */
    uint32_t *next;    /* [parts][buckets + 1], the next index in each */
    size_t item;       /* bytes */
    void *items;       /* [particles], in the order of buckets */
    uint8_t *lower;    /* [particles], lower bits of their cells */
    struct cell *cells;
    uint32_t cell_count;
    uint32_t *bucket_cells; /* [buckets + 1], the first cell of each */
    uint32_t buckets, largest;
    struct bm_tree_node *arena;
    void *scratch; /* [parts][largest] items */
};

static size_t part_begin(const struct build *b, size_t part)
{
    return bm_tree_part(b->positions->count, b->parts, part);
}

static int bound_part(void *context, size_t part, size_t worker)
{
    const struct build *b = context;
    struct bounds *out = &b->bounds[part];
    size_t end = part_begin(b, part + 1), n;

    (void)worker;
    for (int axis = 0; axis < 3; axis++) {
        out->low[axis] = INFINITY;
        out->high[axis] = -INFINITY;
    }
    for (size_t i = part_begin(b, part); i < end; i += n) {
        n = end - i < BLOCK ? end - i : BLOCK;
        if (b->t->type == BOUMA_TYPE_F32)
            widen_f32(out, b->positions, i, n);
        else
            widen_f64(out, b->positions, i, n);
    }
    return 0;
}

static int key_part(void *context, size_t part, size_t worker)
{
    const struct build *b = context;
    uint32_t *counts = b->counts + part * (b->grid->cells + 1);
    size_t end = part_begin(b, part + 1), n;

    (void)worker;
    for (size_t i = part_begin(b, part); i < end; i += n) {
        n = end - i < BLOCK ? end - i : BLOCK;
        if (b->t->type == BOUMA_TYPE_F32)
            find_cells_f32(b->cell_of + i, counts, b->grid, b->positions, i, n);
        else
            find_cells_f64(b->cell_of + i, counts, b->grid, b->positions, i, n);
    }
    return 0;
}

static int scatter_part(void *context, size_t part, size_t worker)
{
    const struct build *b = context;
    uint32_t *next = b->next + part * (b->buckets + 1);
    size_t end = part_begin(b, part + 1), n;

    (void)worker;
    for (size_t i = part_begin(b, part); i < end; i += n) {
        n = end - i < BLOCK ? end - i : BLOCK;
        if (b->t->type == BOUMA_TYPE_F32)
            to_buckets_f32(b->items, b->lower, next, b->grid, b->cell_of + i,
                           b->positions, i, n);
        else
            to_buckets_f64(b->items, b->lower, next, b->grid, b->cell_of + i,
                           b->positions, i, n);
    }
    return 0;
}

static void join_bounds(struct build *b)
{
    struct bm_tree *t = b->t;
    uint64_t count = 0;

    for (int axis = 0; axis < t->ndims; axis++) {
        t->low[axis] = INFINITY;
        t->high[axis] = -INFINITY;
    }
    for (size_t part = 0; part < b->parts; part++) {
        const struct bounds *in = &b->bounds[part];

        count += in->count;
        for (int axis = 0; axis < t->ndims; axis++) {
            t->low[axis] = fmin(t->low[axis], in->low[axis]);
            t->high[axis] = fmax(t->high[axis], in->high[axis]);
        }
    }
    t->count = (uint32_t)count;
    for (int axis = 0; axis < t->ndims; axis++) {
        t->low[axis] = count ? t->low[axis] + 0.0 : 0; /* -0 is 0 */
        t->high[axis] = count ? t->high[axis] + 0.0 : 0;
    }
}

/* Give each of so many bits to the axis along which cells are longest. Gives
 * the number of those given, which is 0 where all is one point. */
static int give_bits(struct grid *g, int used[3], const double extent[3],
                     int bits)
{
    int made = 0;

    for (; made < bits; made++) {
        int best = 0;

        for (int axis = 1; axis < 3; axis++)
            if (extent[axis] / (1 << used[axis]) >
                extent[best] / (1 << used[best]))
                best = axis;
        if (!(extent[best] > 0))
            break;
        used[best]++;
        g->axis_of_bit[made] = (uint8_t)best;
    }
    for (int i = 0; i < made / 2; i++) { /* the first is the highest */
        uint8_t axis = g->axis_of_bit[i];

        g->axis_of_bit[i] = g->axis_of_bit[made - 1 - i];
        g->axis_of_bit[made - 1 - i] = axis;
    }
    return made;
}

/* The bits of the key of a slice. */
static uint16_t slice_bits(const struct grid *g, int made, int axis,
                           uint64_t slice)
{
    uint64_t key = 0;

    for (int bit = 0; bit < made; bit++)
        if (g->axis_of_bit[bit] == axis) {
            key |= (slice & 1) << bit;
            slice >>= 1;
        }
    return (uint16_t)key;
}

/* Slices such that as many of the sample are in each. */
static void make_slices(struct grid *g, int made, int axis, uint64_t slices,
                        const uint32_t counts[STEPS])
{
    uint64_t total = 0, before = 0;

    for (int i = 0; i < STEPS; i++)
        total += counts[i];
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t slice = total ? (2 * before + counts[i]) * slices / (2 * total)
                               : i * slices / STEPS;

        g->bits[axis][i] =
            slice_bits(g, made, axis, slice < slices ? slice : slices - 1);
        before += counts[i];
    }
}

/* So many cells that they have 1.5 to 3 leaves if they have the same number of
 * particles, but no more than 12 bits. */
static int make_grid(struct build *b)
{
    const struct bm_tree *t = b->t;
    struct grid *g = bm_new(t->a, 1, sizeof(*g));
    uint32_t(*counts)[STEPS] = bm_new(t->a, 3, sizeof(*counts));
    int used[3] = {0}, bits = 0, made;
    double extent[3];

    b->grid = g;
    if (!g || !counts) {
        bm_drop(t->a, counts);
        return BOUMA_ENOMEM;
    }
    while (bits < MOST_BITS && (double)t->count / t->leaf >= 3.0 * (1 << bits))
        bits++;
    if (t->type == BOUMA_TYPE_F32) {
        measure_f32(g, extent, t->low, t->high);
        sample_f32(counts, g, b->positions);
    } else {
        measure_f64(g, extent, t->low, t->high);
        sample_f64(counts, g, b->positions);
    }
    made = give_bits(g, used, extent, bits);
    for (int axis = 0; axis < 3; axis++)
        make_slices(g, made, axis, (uint64_t)1 << used[axis], counts[axis]);
    bm_drop(t->a, counts);
    g->cells = 1u << made;
    g->lower_bits = made < LOWER_BITS ? made : LOWER_BITS;
    g->lower = 1u << g->lower_bits;
    g->all_finite = t->count == b->positions->count;
    return BOUMA_OK;
}

/* From counts to offsets; cells that have any particles are listed, with room
 * for their treelets. */
static int list_cells(struct build *b)
{
    struct bm_tree *t = b->t;
    uint32_t all = b->grid->cells + 1, at = 0, begin = 0;
    size_t nodes = 0;

    for (uint32_t key = 0; key < all; key++) {
        uint32_t bucket = key >> b->grid->lower_bits, n = 0;

        if (key == bucket << b->grid->lower_bits) {
            begin = at;
            b->bucket_cells[bucket] = b->cell_count;
        }
        for (size_t part = 0; part < b->parts; part++) {
            uint32_t count = b->counts[part * all + key];

            b->next[part * (b->buckets + 1) + bucket] += count;
            n += count;
        }
        if (key < b->grid->cells && n) {
            b->cells[b->cell_count++] = (struct cell){
                .key = key, .begin = at, .end = at + n, .nodes = nodes};
            nodes += 2 * (size_t)leaves_of(n, t->leaf);
            nodes += many(n, t->leaf) ? 2 * (n / t->leaf) : 0;
        }
        at += n;
        if (key < b->grid->cells && at - begin > b->largest)
            b->largest = at - begin;
    }
    at = 0;
    for (uint32_t bucket = 0; bucket <= b->buckets; bucket++)
        for (size_t part = 0; part < b->parts; part++) {
            uint32_t *next = &b->next[part * (b->buckets + 1) + bucket];
            uint32_t count = *next;

            *next = at;
            at += count;
        }
    b->arena = bm_new_raw(t->a, nodes, sizeof(*b->arena));
    return b->arena ? BOUMA_OK : BOUMA_ENOMEM;
}

/* ---- nodes -------------------------------------------------------------- */

/* One cell, whose items are where they belong: its lowest coordinates, and its
 * treelet or at least its order. */
static void finish_cell(struct build *b, struct cell *c, struct treelet *let)
{
    uint32_t n = c->end - c->begin, at = c->begin - let->base;
    const char *items = (const char *)let->items[0] + at * b->item;
    struct box_f32 single;
    struct box_f64 box;

    let->nodes = b->arena + c->nodes;
    let->spare = many(n, let->leaf) ? 2 * (n / let->leaf) : 0;
    let->count = 0;
    if (b->t->type == BOUMA_TYPE_F32) {
        bound_f32(&single, (const struct item_f32 *)items, n);
        for (int axis = 0; axis < 3; axis++)
            c->low[axis] = (double)single.low[axis];
        if (n > let->leaf)
            treelet_f32(let, at, n, &single);
        else
            list_f32(let->list, c->begin, items, n);
    } else {
        bound_f64(&box, (const struct item_f64 *)items, n);
        memcpy(c->low, box.low, sizeof(c->low));
        if (n > let->leaf)
            treelet_f64(let, at, n, &box);
        else
            list_f64(let->list, c->begin, items, n);
    }
    c->node_count = let->count;
}

/* The cells of one bucket: items go to the scratch memory, and between that and
 * where they were. */
static int finish_bucket(void *context, size_t bucket, size_t worker)
{
    struct build *b = context;
    char *scratch = (char *)b->scratch + worker * b->largest * b->item;
    uint32_t first = b->bucket_cells[bucket],
             last = b->bucket_cells[bucket + 1];
    uint32_t next[1 << LOWER_BITS] = {0}, begin, n;
    struct treelet let = {.leaf = b->t->leaf};
    char *items;

    if (first == last)
        return 0;
    begin = b->cells[first].begin;
    n = b->cells[last - 1].end - begin;
    items = (char *)b->items + begin * b->item;
    for (uint32_t i = first; i < last; i++)
        next[b->cells[i].key & (b->grid->lower - 1)] =
            b->cells[i].begin - begin;
    if (b->t->type == BOUMA_TYPE_F32)
        to_cells_f32(scratch, items, next, b->lower + begin, n);
    else
        to_cells_f64(scratch, items, next, b->lower + begin, n);
    let.items[0] = scratch;
    let.items[1] = items;
    let.bins = b->lower + begin;
    let.list = &b->list;
    let.base = begin;
    for (uint32_t i = first; i < last; i++)
        finish_cell(b, &b->cells[i], &let);
    return 0;
}

/* A node over the cells from 'first' up to 'last'. */
struct span {
    uint32_t first, last;
    uint32_t parent; /* whose right child it is, if 'right' */
    int right;
};

/* The first cell of a span in the upper half of the highest bit in which its
 * keys differ. */
static uint32_t upper_half(const struct build *b, const struct span *s,
                           int *bit)
{
    uint32_t low = s->first + 1, high = s->last - 1, key;
    uint32_t differ = b->cells[s->first].key ^ b->cells[high].key;

    for (*bit = 0; differ > 1; differ >>= 1)
        ++*bit;
    key = b->cells[high].key >> *bit << *bit;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (b->cells[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void copy_treelet(struct build *b, const struct cell *c)
{
    struct bm_tree *t = b->t;
    uint32_t at = t->node_count;

    for (uint32_t i = 0; i < c->node_count; i++) {
        t->nodes[at + i] = b->arena[c->nodes + i];
        if (t->nodes[at + i].right)
            t->nodes[at + i].right += at;
    }
    t->node_count += c->node_count;
}

/* All nodes over cells, with the treelets where they belong. */
static int join_nodes(struct build *b)
{
    struct bm_tree *t = b->t;
    struct span pending[MOST_BITS + 2];
    size_t depth = 0, most = 0;
    void *fewer;

    for (uint32_t i = 0; i < b->cell_count; i++)
        most += 2 + (size_t)b->cells[i].node_count;
    t->nodes = bm_new_raw(t->a, most, sizeof(*t->nodes));
    if (!t->nodes)
        return BOUMA_ENOMEM;
    pending[depth++] = (struct span){0, b->cell_count, 0, 0};
    while (depth) {
        struct span s = pending[--depth];
        const struct cell *cells = b->cells;
        struct bm_tree_node *node = &t->nodes[t->node_count];
        uint32_t middle;
        int bit;

        if (s.right)
            t->nodes[s.parent].right = t->node_count;
        *node = (struct bm_tree_node){.begin = cells[s.first].begin,
                                      .end = cells[s.last - 1].end};
        if (node->end - node->begin <= t->leaf) {
            t->node_count++;
            continue;
        }
        if (s.last - s.first == 1) {
            copy_treelet(b, &cells[s.first]);
            continue;
        }
        middle = upper_half(b, &s, &bit);
        node->axis = b->grid->axis_of_bit[bit];
        node->split = cells[middle].low[node->axis];
        for (uint32_t i = middle + 1; i < s.last; i++)
            if (cells[i].low[node->axis] < node->split)
                node->split = cells[i].low[node->axis];
        node->split += 0.0; /* -0 is 0 */
        pending[depth++] = (struct span){middle, s.last, t->node_count++, 1};
        pending[depth++] = (struct span){s.first, middle, 0, 0};
    }
    fewer = bm_resize(t->a, t->nodes, t->node_count, sizeof(*t->nodes));
    if (fewer)
        t->nodes = fewer;
    return BOUMA_OK;
}

/* ---- all of it ---------------------------------------------------------- */

/* Columns of fewer particles are in a cache as a whole. */
#define LEAST_SCATTERED ((size_t)1 << 18)
#define NEIGHBOURS      16384 /* that are looked at */

/* Whether neighbours in memory are often in different buckets. */
static int is_scattered(const struct build *b)
{
    size_t n = b->positions->count, apart = 0;

    if (n < LEAST_SCATTERED)
        return 0;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        const uint16_t *cell = b->cell_of + sample_index(i, NEIGHBOURS, n - 1);

        apart += (cell[0] ^ cell[1]) >> b->grid->lower_bits != 0;
    }
    return apart > NEIGHBOURS / 4;
}

static int sort_cells(struct build *b)
{
    struct bm_tree *t = b->t;
    size_t particles = b->positions->count;
    int rc;

    bm_parallel_for(bound_part, b, b->parts, b->parts);
    join_bounds(b);
    rc = make_grid(b);
    if (rc)
        return rc;
    b->buckets = b->grid->cells >> b->grid->lower_bits;
    b->counts =
        bm_new(t->a, b->parts * (b->grid->cells + 1), sizeof(*b->counts));
    b->next = bm_new(t->a, b->parts * (b->buckets + 1), sizeof(*b->next));
    b->bucket_cells = bm_new(t->a, b->buckets + 1, sizeof(*b->bucket_cells));
    b->cells = bm_new_raw(t->a, b->grid->cells, sizeof(*b->cells));
    b->cell_of = bm_new_raw(t->a, particles, sizeof(*b->cell_of));
    b->items = bm_new_raw(t->a, particles, b->item);
    b->lower = bm_new_raw(t->a, particles, 1);
    if (!b->counts || !b->next || !b->bucket_cells || !b->cells ||
        !b->cell_of || !b->items || !b->lower)
        return BOUMA_ENOMEM;
    bm_parallel_for(key_part, b, b->parts, b->parts);
    rc = list_cells(b);
    if (rc)
        return rc;
    b->grid->by_place = b->route && is_scattered(b);
    bm_parallel_for(scatter_part, b, b->parts, b->parts);
    return rc;
}

/* What was found out goes to who asked for it. */
static void hand_over(struct build *b)
{
    struct bm_tree_route *r = b->route;

    if (!r || !b->grid->by_place)
        return;
    r->particles = b->positions->count;
    r->parts = b->parts;
    r->buckets = b->buckets + 1;
    r->shift = b->grid->lower_bits;
    r->cell_of = b->cell_of;
    r->ends = b->next;
    b->cell_of = NULL;
    b->next = NULL;
}

static int split_cells(struct build *b)
{
    b->scratch = bm_new_raw(b->t->a, b->parts * b->largest, b->item);
    if (!b->scratch)
        return BOUMA_ENOMEM;
    bm_parallel_for(finish_bucket, b, b->buckets, b->parts);
    return join_nodes(b);
}

int bm_tree_build(struct bm_tree *t, uint32_t *order,
                  const struct bm_positions *positions, uint32_t leaf,
                  int threads, struct bm_tree_route *route)
{
    struct build b = {.t = t,
                      .positions = positions,
                      .route = route,
                      .list = {.order = order}};
    int rc = BOUMA_ENOMEM;

    assert(leaf && positions->count <= UINT32_MAX);
    b.parts = positions->count / 16384 + 1;
    if (threads < 1)
        threads = 1;
    if (b.parts > (size_t)threads)
        b.parts = (size_t)threads;
    if (b.parts > MOST_PARTS)
        b.parts = MOST_PARTS;
    t->ndims = positions->ndims;
    t->type = positions->type;
    t->leaf = leaf;
    b.item = t->type == BOUMA_TYPE_F32 ? sizeof(struct item_f32)
                                       : sizeof(struct item_f64);
    if (route)
        memcpy(b.list.sorted, route->sorted, sizeof(b.list.sorted));
    b.bounds = bm_new(t->a, b.parts, sizeof(*b.bounds));
    if (b.bounds)
        rc = sort_cells(&b);
    if (!rc && t->count)
        rc = split_cells(&b);
    if (!rc && t->type == BOUMA_TYPE_F32)
        list_f32(&b.list, t->count, (struct item_f32 *)b.items + t->count,
                 positions->count - t->count);
    else if (!rc)
        list_f64(&b.list, t->count, (struct item_f64 *)b.items + t->count,
                 positions->count - t->count);
    if (!rc)
        hand_over(&b);
    bm_drop(t->a, b.scratch);
    bm_drop(t->a, b.arena);
    bm_drop(t->a, b.lower);
    bm_drop(t->a, b.items);
    bm_drop(t->a, b.cell_of);
    bm_drop(t->a, b.cells);
    bm_drop(t->a, b.bucket_cells);
    bm_drop(t->a, b.next);
    bm_drop(t->a, b.counts);
    bm_drop(t->a, b.grid);
    bm_drop(t->a, b.bounds);
    return rc;
}
