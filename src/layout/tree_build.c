/* tree_build.c -- particles, sorted into a k-d tree.
 *
 * Each goes to one of up to 4096 cells, by a Morton key of 12 bits. The nodes
 * over the cells are a binary radix tree of the keys (Karras 2012), and a cell
 * with more particles than a leaf is split at medians: paper 002, III-C. All
 * sorting keeps the order in which particles were given, so that only this and
 * the positions decide. */
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "layout/tree.h"

#define MOST_BITS    12
#define MOST_CELLS   (1 << MOST_BITS)
#define MOST_THREADS 64
#define BLOCK        4096 /* particles whose bounds are taken at once */

struct bounds {
    double low[3], high[3];
    uint64_t count; /* of finite positions */
};

/* Cells of equal size, numbered by their Morton key. The bits of the key go to
 * the axis along which cells are longest, one after the other. */
struct grid {
    uint32_t cells; /* a power of two; also the "cell" of what is not finite */
    int all_finite;
    /* Of a coordinate x, the cell along the axis is (x * pre - origin) * scale;
     * pre is a power of two that keeps huge and tiny ranges in range. */
    double pre, origin[3], scale[3];
    int last[3];                    /* the last cell of each axis */
    uint16_t bits[3][MOST_CELLS];   /* [axis][cell along it], bits of the key */
    uint8_t axis_of_bit[MOST_BITS]; /* from the lowest */
};

struct run {
    uint32_t begin, end, node;
};

/* Any step of this is monotone, so the whole is. */
static inline uint16_t cell_of(const struct grid *g, int axis, double x)
{
    double place = (x * g->pre - g->origin[axis]) * g->scale[axis];
    int last = g->last[axis];

    /* What is not finite is anywhere; NaN is also what flat axes give. */
    return g->bits[axis][place > 0 ? place < last ? (int)place : last : 0];
}

static inline uint32_t leaves_of(uint32_t n, uint32_t leaf)
{
    return n / leaf + (n % leaf != 0);
}

#define REAL    float
#define BITS    uint32_t
#define NAME(x) x##_f32
#include "layout/tree_rows.h"

#define REAL    double
#define BITS    uint64_t
#define NAME(x) x##_f64
#include "layout/tree_rows.h"

/* ---- threads ------------------------------------------------------------ */

struct cell {
    uint32_t key, begin, end;
    uint32_t node; /* of its treelet; 0: it has none, or is the root */
    double low[3];
};

/* What all threads work on. */
struct build {
    struct bm_tree *t;
    const struct bm_positions *positions;
    uint32_t *order;
    size_t parts;          /* runs of particles, one for each thread */
    struct bounds *bounds; /* [parts] */
    struct grid *grid;
    uint16_t *cell_of; /* [particles] */
    uint32_t *counts;  /* [parts][cells + 1]; then places of the first */
    void *items;       /* [particles] */
    struct cell *cells;
    uint32_t cell_count, largest;
};

typedef void task(struct build *b, size_t i, void *scratch);

struct crew {
    struct build *build;
    task *task;
    size_t tasks;
    atomic_size_t next;
    atomic_size_t starts;
    char *scratch; /* 'bytes' for each thread */
    size_t bytes;
};

static void *work(void *context)
{
    struct crew *c = context;
    size_t me = atomic_fetch_add(&c->starts, 1), i;

    while ((i = atomic_fetch_add(&c->next, 1)) < c->tasks)
        c->task(c->build, i, c->scratch ? c->scratch + me * c->bytes : NULL);
    return NULL;
}

/* All tasks, by this thread and up to threads - 1 more. */
static void share(struct build *b, task *todo, size_t tasks, size_t threads,
                  void *scratch, size_t bytes)
{
    struct crew crew = {.build = b,
                        .task = todo,
                        .tasks = tasks,
                        .scratch = scratch,
                        .bytes = bytes};
    pthread_t thread[MOST_THREADS];
    size_t started = 0;

    while (started + 1 < threads && started + 1 < tasks &&
           !pthread_create(&thread[started], NULL, work, &crew))
        started++;
    work(&crew);
    while (started)
        pthread_join(thread[--started], NULL);
}

/* ---- cells -------------------------------------------------------------- */

static size_t part_begin(const struct build *b, size_t part)
{
    return b->positions->count / b->parts * part +
           (part == b->parts ? b->positions->count % b->parts : 0);
}

static void bound_part(struct build *b, size_t part, void *scratch)
{
    struct bounds *out = &b->bounds[part];
    size_t end = part_begin(b, part + 1), next;

    (void)scratch;
    for (int axis = 0; axis < 3; axis++) {
        out->low[axis] = INFINITY;
        out->high[axis] = -INFINITY;
    }
    for (size_t i = part_begin(b, part); i < end; i = next) {
        next = end - i < BLOCK ? end : i + BLOCK;
        if (b->t->type == BOUMA_F32)
            widen_f32(out, b->positions, i, next);
        else
            widen_f64(out, b->positions, i, next);
    }
}

static void key_part(struct build *b, size_t part, void *scratch)
{
    uint32_t *counts = b->counts + part * (b->grid->cells + 1);
    size_t begin = part_begin(b, part), end = part_begin(b, part + 1);

    (void)scratch;
    if (b->t->type == BOUMA_F32)
        find_cells_f32(b->cell_of, counts, b->grid, b->positions, begin, end);
    else
        find_cells_f64(b->cell_of, counts, b->grid, b->positions, begin, end);
}

static void scatter_part(struct build *b, size_t part, void *scratch)
{
    uint32_t *next = b->counts + part * (b->grid->cells + 1);
    size_t begin = part_begin(b, part), end = part_begin(b, part + 1);

    (void)scratch;
    if (b->t->type == BOUMA_F32)
        scatter_f32(b->items, next, b->cell_of, b->positions, begin, end);
    else
        scatter_f64(b->items, next, b->cell_of, b->positions, begin, end);
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

/* So many bits that cells have 1.5 to 3 leaves if they have the same number of
 * particles, but no more than 12. */
static void make_grid(struct grid *g, const struct bm_tree *t, size_t particles)
{
    int used[3] = {0}, bits = 0, made = 0;
    double extent[3], most = 0;

    while (bits < MOST_BITS && (double)t->count / t->leaf >= 3.0 * (1 << bits))
        bits++;
    for (int axis = 0; axis < t->ndims; axis++)
        most = fmax(most, t->high[axis] * 0.25 - t->low[axis] * 0.25);
    g->pre = most < 0x1p-900 ? 0x1p100 : 0.25;
    for (int axis = 0; axis < 3; axis++) {
        extent[axis] = 0;
        if (t->high[axis] > t->low[axis])
            extent[axis] = t->high[axis] * g->pre - t->low[axis] * g->pre;
        g->origin[axis] = t->low[axis] * g->pre;
    }
    for (; made < bits; made++) {
        int best = 0;

        for (int axis = 1; axis < 3; axis++)
            if (extent[axis] / (1 << used[axis]) >
                extent[best] / (1 << used[best]))
                best = axis;
        if (!(extent[best] > 0))
            break;
        used[best]++;
        g->axis_of_bit[made] = (uint8_t)best; /* turned round below */
    }
    for (int i = 0; i < made / 2; i++) {
        uint8_t axis = g->axis_of_bit[i];

        g->axis_of_bit[i] = g->axis_of_bit[made - 1 - i];
        g->axis_of_bit[made - 1 - i] = axis;
    }
    for (int axis = 0; axis < 3; axis++) {
        g->last[axis] = (1 << used[axis]) - 1;
        g->scale[axis] = used[axis] > 0 ? (1 << used[axis]) / extent[axis] : 0;
        for (int cell = 0; cell <= g->last[axis]; cell++) {
            int key = 0, rest = cell;

            for (int bit = 0; bit < made; bit++)
                if (g->axis_of_bit[bit] == axis) {
                    key |= (rest & 1) << bit;
                    rest >>= 1;
                }
            g->bits[axis][cell] = (uint16_t)key;
        }
    }
    g->cells = 1u << made;
    g->all_finite = t->count == particles;
}

/* From counts to the place of the first of each cell and part; the cells that
 * have any are listed. */
static int list_cells(struct build *b)
{
    uint32_t all = b->grid->cells + 1, at = 0;

    b->cells = bm_new_raw(b->t->a, all, sizeof(*b->cells));
    if (!b->cells)
        return BOUMA_ENOMEM;
    for (uint32_t key = 0; key < all; key++) {
        uint32_t begin = at;

        for (size_t part = 0; part < b->parts; part++) {
            uint32_t *count = &b->counts[part * all + key], n = *count;

            *count = at;
            at += n;
        }
        if (key < b->grid->cells && at > begin) {
            b->cells[b->cell_count++] =
                (struct cell){.key = key, .begin = begin, .end = at};
            if (at - begin > b->largest)
                b->largest = at - begin;
        }
    }
    return BOUMA_OK;
}

/* ---- nodes -------------------------------------------------------------- */

/* A node over the cells from 'first' up to 'last'. */
struct span {
    uint32_t first, last;
    uint32_t parent; /* whose right child it is, if not 0 */
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

/* All nodes over cells; those of treelets get their numbers. */
static int make_nodes(struct build *b)
{
    struct bm_tree *t = b->t;
    uint64_t most = 0;
    struct span pending[MOST_BITS + 1];
    size_t depth = 0;

    for (uint32_t i = 0; i < b->cell_count; i++)
        most += 2 * (uint64_t)leaves_of(b->cells[i].end - b->cells[i].begin,
                                        t->leaf);
    t->nodes = bm_new_raw(t->a, most, sizeof(*t->nodes));
    if (!t->nodes)
        return BOUMA_ENOMEM;
    pending[depth++] = (struct span){0, b->cell_count, 0, 0};
    while (depth) {
        struct span s = pending[--depth];
        struct cell *first = &b->cells[s.first];
        uint32_t n = b->cells[s.last - 1].end - first->begin, middle;
        uint32_t at = t->node_count++;
        int bit;

        if (s.right)
            t->nodes[s.parent].right = at;
        t->nodes[at] = (struct bm_tree_node){.begin = first->begin,
                                             .end = b->cells[s.last - 1].end};
        if (n <= t->leaf)
            continue;
        if (s.last - s.first == 1) {
            first->node = at;
            t->node_count += 2 * leaves_of(n, t->leaf) - 2;
            continue;
        }
        middle = upper_half(b, &s, &bit);
        t->nodes[at].axis = b->grid->axis_of_bit[bit];
        /* The cell for now: its bounds are not known yet. */
        t->nodes[at].split = middle;
        pending[depth++] = (struct span){middle, s.last, at, 1};
        pending[depth++] = (struct span){s.first, middle, 0, 0};
    }
    return BOUMA_OK;
}

/* Of one cell: its bounds and its treelet. */
static void finish_cell(struct build *b, size_t i, void *scratch)
{
    struct cell *c = &b->cells[i];
    struct bm_tree *t = b->t;
    uint32_t n = c->end - c->begin;
    int more = n > t->leaf;

    if (t->type == BOUMA_F32) {
        bound_cell_f32(c->low, b->items, c->begin, n);
        if (more)
            treelet_f32(t->nodes, c->node, b->items, scratch, c->begin, c->end,
                        t->leaf);
        list_f32(b->order, b->items, c->begin, c->end);
    } else {
        bound_cell_f64(c->low, b->items, c->begin, n);
        if (more)
            treelet_f64(t->nodes, c->node, b->items, scratch, c->begin, c->end,
                        t->leaf);
        list_f64(b->order, b->items, c->begin, c->end);
    }
}

/* The splits of nodes over cells: the least coordinate on their right. */
static void find_splits(struct build *b)
{
    struct bm_tree *t = b->t;
    struct span pending[MOST_BITS + 1];
    size_t depth = 0;
    uint32_t at;

    pending[depth++] = (struct span){0, b->cell_count, 0, 0};
    while (depth) {
        struct span s = pending[--depth];
        struct bm_tree_node *node = &t->nodes[s.parent];
        uint32_t middle;

        if (s.last - s.first == 1 || !node->right)
            continue;
        at = s.parent;
        middle = (uint32_t)node->split;
        node->split = b->cells[middle].low[node->axis];
        for (uint32_t i = middle + 1; i < s.last; i++)
            node->split = fmin(node->split, b->cells[i].low[node->axis]);
        node->split += 0.0; /* -0 is 0 */
        pending[depth++] = (struct span){middle, s.last, node->right, 1};
        pending[depth++] = (struct span){s.first, middle, at + 1, 0};
    }
}

/* ---- all of it ---------------------------------------------------------- */

static int sort_cells(struct build *b)
{
    struct bm_tree *t = b->t;
    size_t particles = b->positions->count;
    size_t item = t->type == BOUMA_F32 ? sizeof(struct item_f32)
                                       : sizeof(struct item_f64);
    int rc;

    share(b, bound_part, b->parts, b->parts, NULL, 0);
    join_bounds(b);
    b->grid = bm_new(t->a, 1, sizeof(*b->grid));
    if (!b->grid)
        return BOUMA_ENOMEM;
    make_grid(b->grid, t, particles);
    b->counts =
        bm_new(t->a, b->parts * (b->grid->cells + 1), sizeof(*b->counts));
    b->cell_of = bm_new_raw(t->a, particles, sizeof(*b->cell_of));
    b->items = bm_new_raw(t->a, particles, item);
    if (!b->counts || !b->cell_of || !b->items)
        return BOUMA_ENOMEM;
    share(b, key_part, b->parts, b->parts, NULL, 0);
    rc = list_cells(b);
    if (!rc)
        share(b, scatter_part, b->parts, b->parts, NULL, 0);
    bm_drop(t->a, b->cell_of);
    b->cell_of = NULL;
    return rc;
}

static int split_cells(struct build *b)
{
    struct bm_tree *t = b->t;
    size_t item = t->type == BOUMA_F32 ? sizeof(struct item_f32)
                                       : sizeof(struct item_f64);
    size_t scratch = b->largest * item;
    void *memory, *fewer;
    int rc = make_nodes(b);

    if (rc)
        return rc;
    memory = bm_new_raw(t->a, b->parts, scratch);
    if (!memory)
        return BOUMA_ENOMEM;
    share(b, finish_cell, b->cell_count, b->parts, memory, scratch);
    bm_drop(t->a, memory);
    find_splits(b);
    fewer = bm_resize(t->a, t->nodes, t->node_count, sizeof(*t->nodes));
    if (fewer)
        t->nodes = fewer;
    return BOUMA_OK;
}

int bm_tree_build(struct bm_tree *t, uint32_t *order,
                  const struct bm_positions *positions, uint32_t leaf,
                  int threads)
{
    struct build b = {.t = t, .positions = positions, .order = order};
    int rc = BOUMA_ENOMEM;

    assert(leaf && positions->count <= UINT32_MAX);
    b.parts = positions->count / 16384 + 1;
    if (threads < 1)
        threads = 1;
    if (b.parts > (size_t)threads)
        b.parts = (size_t)threads;
    if (b.parts > MOST_THREADS)
        b.parts = MOST_THREADS;
    t->ndims = positions->ndims;
    t->type = positions->type;
    t->leaf = leaf;
    b.bounds = bm_new(t->a, b.parts, sizeof(*b.bounds));
    if (b.bounds)
        rc = sort_cells(&b);
    if (!rc && t->count)
        rc = split_cells(&b);
    if (!rc && t->type == BOUMA_F32)
        list_f32(order, b.items, t->count, positions->count);
    else if (!rc)
        list_f64(order, b.items, t->count, positions->count);
    bm_drop(t->a, b.cells);
    bm_drop(t->a, b.items);
    bm_drop(t->a, b.cell_of);
    bm_drop(t->a, b.counts);
    bm_drop(t->a, b.grid);
    bm_drop(t->a, b.bounds);
    return rc;
}
