/* aggregate.c -- particles to files: the target, the schemes and their common
 * frame. The tree has files of its own. */
#include "plan/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/box.h"
#include "base/keyed.h"
#include "plan/aggregate_tree.h"
#include "plan/assign.h"

#define MOST_PARTICLES_IN_ALL ((uint64_t)1 << 62)

/* ---- how large a file is ------------------------------------------------ */

#define SMALLEST_TARGET ((uint64_t)4 << 20)
#define LARGEST_TARGET  ((uint64_t)2 << 30)

static uint64_t divide_up(uint64_t n, uint64_t by)
{
    return n / by + (n % by != 0);
}

uint64_t bm_aggregate_target(uint64_t bytes, int ranks)
{
    double factor = sqrt((ranks < 1 ? 1 : ranks) / 16.0);
    uint64_t files, target;

    factor = factor < 1 ? 1 : factor > 16 ? 16 : factor;
    files = (uint64_t)((ranks < 1 ? 1 : ranks) / factor);
    target = divide_up(bytes, files);
    if (target < SMALLEST_TARGET)
        return SMALLEST_TARGET;
    if (target > LARGEST_TARGET)
        target = LARGEST_TARGET;
    if (target < divide_up(bytes, (uint64_t)BM_AGGREGATE_FILES))
        target = divide_up(bytes, (uint64_t)BM_AGGREGATE_FILES);
    return target;
}

/* What the schemes work from: units with particles, and how many of these a
 * file has. */
struct task {
    const struct bm_aggregation_spec *spec;
    const struct bm_unit *units;
    struct bm_item *items;
    size_t count;
    uint64_t total;
    uint64_t capacity; /* particles of a file */
    int64_t files;     /* that follow from it, or from the spec */
};

static void choose_sizes(struct task *t)
{
    uint64_t each = t->spec->bytes ? t->spec->bytes : 1, bytes;
    uint64_t target = t->spec->target, fewest, files;

    if (__builtin_mul_overflow(t->total, each, &bytes))
        bytes = UINT64_MAX;
    if (!target)
        target = bm_aggregate_target(bytes, t->spec->ranks);
    t->capacity = target / each ? target / each : 1;
    if (t->capacity > BM_AGGREGATE_PARTICLES)
        t->capacity = BM_AGGREGATE_PARTICLES;
    fewest = divide_up(t->total, BM_AGGREGATE_PARTICLES);
    files = t->spec->files > 0 ? (uint64_t)t->spec->files
                               : divide_up(t->total, t->capacity);
    files = files < fewest ? fewest : files;
    t->files = files < (uint64_t)BM_AGGREGATE_FILES ? (int64_t)files
                                                    : BM_AGGREGATE_FILES;
}

/* ---- the tree ----------------------------------------------------------- */

/* As many files as follow from the sizes of leaves, unless a number is given. */
static int by_tree(struct bm_aggregation *out, const struct task *t)
{
    return bm_aggregation_build(out, t->spec, t->items, t->count, t->capacity,
                                t->spec->files > 0 ? t->files : 0);
}

static int by_split(struct bm_aggregation *out, const struct task *t)
{
    return bm_aggregation_build(out, t->spec, t->items, t->count, t->capacity,
                                t->files);
}

/* ---- cells in the bounds of all ----------------------------------------- */

/* In which of 'cells' equal parts of an axis the centre of an item lies. */
static int64_t cell_of(const struct bm_item *item,
                       const struct bm_tree_extent *all, int axis,
                       int64_t cells)
{
    double at = 0.5 * bm_item_centre(item, axis) - 0.5 * all->low[axis];
    double cell;

    if (!(all->half[axis] > 0))
        return 0;
    cell = at / all->half[axis] * (double)cells;
    return cell < 0 ? 0 : cell < (double)(cells) ? (int64_t)cell : cells - 1;
}

/* ---- a uniform grid ----------------------------------------------------- */

/* Planes across an axis, and the part of all particles that must be in items on
 * either side of one. */
#define PLANES     16
#define LEAST_PART 32

/* The plane that a coordinate is nearest to. */
static int nearest_plane(const struct bm_tree_extent *all, int axis, double x)
{
    double at = (0.5 * x - 0.5 * all->low[axis]) / all->half[axis];

    return at > 0 ? at < 1 ? (int)(at * PLANES + 0.5) : PLANES : 0;
}

/* Whether a plane has items on both sides, and not just some with few particles:
 * columns are as high as all of them together, or end at any height, so cells
 * must not be cut across. */
static int is_apart(const struct task *t, const struct bm_tree_extent *all,
                    int axis)
{
    uint64_t below[PLANES + 1] = {0}, above[PLANES + 1] = {0};
    uint64_t least = (t->total + LEAST_PART - 1) / LEAST_PART;
    int found = 0;

    if (!(all->half[axis] > 0))
        return 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct bm_item *item = &t->items[i];
        int low = nearest_plane(all, axis, item->low[axis]);
        int high = nearest_plane(all, axis, item->high[axis]);
        int thin = low == high; /* it is on no side of that plane */

        if (high + thin <= PLANES)
            below[high + thin] += item->count;
        if (low - thin >= 0)
            above[low - thin] += item->count;
    }
    for (int p = 1; p <= PLANES; p++) {
        below[p] += below[p - 1];
        above[PLANES - p] += above[PLANES - p + 1];
    }
    for (int p = 1; p < PLANES; p++)
        found |= below[p] >= least && above[p] >= least;
    return found;
}

/* The axes that are divided: those along which items are apart, and that are not
 * shorter than the side of a cube, of which as many as there are files fill the
 * bounds. Returns the side. */
static double choose_axes(int divided[3], const struct task *t,
                          const struct bm_tree_extent *all)
{
    int ndims = t->spec->ndims;
    int64_t files = t->files;
    int changed = 1;
    double side = 0;

    for (int d = 0; d < ndims; d++)
        divided[d] = is_apart(t, all, d);
    while (changed) { /* each time, an axis is left out */
        double volume = 0;
        int n = 0;

        changed = 0;
        for (int d = 0; d < ndims; d++)
            if (divided[d]) {
                volume += log(all->half[d]);
                n++;
            }
        side = n ? exp((volume - log((double)files)) / n) : 0;
        for (int d = 0; d < ndims; d++)
            if (divided[d] && all->half[d] < side && n > 1) {
                divided[d] = 0;
                changed = 1;
            }
    }
    return side;
}

/* The cells of such a side along each axis, rounded down. */
static void count_cells(int64_t low[3], const int divided[3],
                        const struct bm_tree_extent *all, double side,
                        int64_t files)
{
    for (int d = 0; d < 3; d++)
        if (divided[d]) {
            /* Extents so small that they have no logarithm's worth of digits
             * are not divided. */
            double n = side > 0 ? all->half[d] / side : 1;

            low[d] = n < 1 ? 1 : n < (double)files ? (int64_t)n : files;
        }
    for (int d = 0; d < 3; d++) /* nor beyond what is wanted, by rounding */
        while (low[d] > 1 && low[0] * low[1] * low[2] > 2 * files)
            low[d] = (low[d] + 1) / 2;
}

/* The longest side of a cell over its shortest, of the axes that are divided.
 */
static double aspect_of(const int64_t cells[3], const int divided[3],
                        const struct bm_tree_extent *all)
{
    double longest = 0, shortest = INFINITY;

    for (int d = 0; d < 3; d++)
        if (divided[d]) {
            double length = all->half[d] / (double)cells[d];

            longest = length > longest ? length : longest;
            shortest = length < shortest ? length : shortest;
        }
    return longest / shortest;
}

/* About 'files' cells that are as cubic as can be. Axes that are shorter than
 * the side of a cube are not divided; of the others, the numbers of cells that
 * a cube's side gives are rounded up or down, whichever brings their product
 * nearest to 'files' (and of those, the most cubic). */
static void choose_cells(int64_t cells[3], const struct task *t,
                         const struct bm_tree_extent *all)
{
    int64_t files = t->files;
    int divided[3] = {0};
    double side = choose_axes(divided, t, all);
    double best = INFINITY, best_aspect = INFINITY;
    int64_t low[3] = {1, 1, 1};

    count_cells(low, divided, all, side, files);
    memcpy(cells, low, sizeof(low));
    for (int up = 0; up < 8; up++) {
        int64_t n[3], product = 1;
        double off, aspect;

        for (int d = 0; d < 3; d++) {
            n[d] = low[d] + (divided[d] && up >> d & 1);
            product *= n[d]; /* below 2^63: each is at most 2^20 + 1 */
        }
        off = fabs(log((double)product / (double)files));
        aspect = aspect_of(n, divided, all);
        if (product > BM_AGGREGATE_FILES || off > best ||
            (off == best && !(aspect < best_aspect)))
            continue;
        best = off;
        best_aspect = aspect;
        memcpy(cells, n, sizeof(n));
    }
}

static int by_grid(struct bm_aggregation *out, const struct task *t)
{
    struct bm_tree_extent all;
    uint32_t *number;
    int64_t cells[3];
    size_t cell_count;

    bm_items_extent(&all, t->items, t->count);
    choose_cells(cells, t, &all);
    cell_count = (size_t)(cells[0] * cells[1] * cells[2]);
    number = bm_new(out->a, cell_count, sizeof(*number));
    if (!number)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < t->count; i++) {
        int64_t cell = 0;

        for (int d = 0; d < 3; d++)
            cell = cell * cells[d] + cell_of(&t->items[i], &all, d, cells[d]);
        out->file[t->items[i].unit] = (uint32_t)cell;
        number[cell] = 1;
    }
    for (size_t cell = 0; cell < cell_count; cell++)
        if (number[cell])
            number[cell] = (uint32_t)out->files++;
    for (size_t i = 0; i < t->count; i++)
        out->file[t->items[i].unit] = number[out->file[t->items[i].unit]];
    bm_drop(out->a, number);
    return BOUMA_OK;
}

/* ---- runs along a curve ------------------------------------------------- */

static void order_items(struct bm_keyed *order, const struct task *t)
{
    /* The number of a cell is a double: no more bits than it has. */
    int ndims = t->spec->ndims, bits = bm_morton_bits(ndims);
    int64_t cells = (int64_t)1 << (bits < 52 ? bits : 52);
    struct bm_tree_extent all;

    bm_items_extent(&all, t->items, t->count);
    for (size_t i = 0; i < t->count; i++) {
        int64_t at[3] = {0, 0, 0};

        for (int d = 0; d < ndims; d++)
            at[3 - ndims + d] = cell_of(&t->items[i], &all, d, cells);
        order[i] = (struct bm_keyed){bm_morton(at, ndims), i};
    }
    qsort(order, t->count, sizeof(*order), bm_keyed_compare);
}

/* Files of the assignment, without those that are empty. */
static int take_files(struct bm_aggregation *out, const struct task *t,
                      const struct bm_keyed *order,
                      const struct bm_assignment *as)
{
    for (int64_t f = 0; f < as->files; f++) {
        if (as->first[f] == as->first[f + 1])
            continue;
        if (out->files == BM_AGGREGATE_FILES)
            return BOUMA_ELIMIT;
        for (size_t i = as->first[f]; i < as->first[f + 1]; i++)
            out->file[t->items[order[as->chunk[i]].at].unit] =
                (uint32_t)out->files;
        out->files++;
    }
    return BOUMA_OK;
}

static int by_curve(struct bm_aggregation *out, const struct task *t)
{
    struct bm_keyed *order = bm_new_raw(out->a, t->count, sizeof(*order));
    uint64_t *sizes = bm_new_raw(out->a, t->count, sizeof(*sizes));
    int *owner = bm_new_raw(out->a, t->count, sizeof(*owner));
    struct bm_assignment as = {0};
    int rc = BOUMA_ENOMEM, ranks = 1;

    if (!order || !sizes || !owner)
        goto out;
    order_items(order, t);
    for (size_t i = 0; i < t->count; i++) {
        const struct bm_item *item = &t->items[order[i].at];

        /* Bytes are in proportion, and could be too many for 64 bits. */
        sizes[i] = item->count;
        owner[i] = t->units[item->unit].rank;
        ranks = owner[i] >= ranks ? owner[i] + 1 : ranks;
    }
    rc = bm_assign(&as, out->a, t->spec->scheme,
                   &(struct bm_chunk_sizes){.count = t->count,
                                            .bytes = sizes,
                                            .owner = owner,
                                            .nodes = t->spec->nodes},
                   t->files, ranks);
    if (!rc)
        rc = take_files(out, t, order, &as);
    bm_assignment_release(&as);
out:
    bm_drop(out->a, owner);
    bm_drop(out->a, sizes);
    bm_drop(out->a, order);
    return rc;
}

/* ---- the frame ---------------------------------------------------------- */

/* Fills out->file[] of units with particles, and out->files. */
typedef int scheme_function(struct bm_aggregation *out, const struct task *t);

/* NULL if there is none. */
static scheme_function *scheme_of(bouma_assign choice)
{
    static scheme_function *const schemes[] = {
        [BOUMA_ASSIGN_OPTIMAL] = by_curve,  [BOUMA_ASSIGN_RUNNING] = by_curve,
        [BOUMA_ASSIGN_COUNT] = by_curve,    [BOUMA_ASSIGN_PER_RANK] = by_curve,
        [BOUMA_ASSIGN_SINGLE] = by_curve,   [BOUMA_ASSIGN_KDTREE] = by_tree,
        [BOUMA_ASSIGN_AUG] = by_grid,       [BOUMA_ASSIGN_SPLIT] = by_split,
        [BOUMA_ASSIGN_PER_NODE] = by_curve,
    };
    size_t i = (size_t)choice;

    return i < sizeof(schemes) / sizeof(schemes[0]) ? schemes[i] : NULL;
}

/* The items, their number and that of their particles. */
static int collect(struct task *t, size_t count)
{
    for (size_t u = 0; u < count; u++) {
        const struct bm_unit *unit = &t->units[u];
        struct bm_item item = {.count = unit->count, .unit = (uint32_t)u};

        if (!unit->count)
            continue;
        if (unit->rank < 0 || unit->rank == INT32_MAX)
            return BOUMA_EINVAL;
        if (unit->count >= MOST_PARTICLES_IN_ALL - t->total)
            return BOUMA_ELIMIT;
        t->total += unit->count;
        for (int d = 0; d < t->spec->ndims; d++)
            if (isfinite(unit->low[d]) && isfinite(unit->high[d]) &&
                unit->low[d] <= unit->high[d]) {
                item.low[d] = unit->low[d];
                item.high[d] = unit->high[d];
            }
        t->items[t->count++] = item;
    }
    return BOUMA_OK;
}

static int count_particles(struct bm_aggregation *out, const struct task *t)
{
    out->counts = bm_new(out->a, (size_t)out->files, sizeof(*out->counts));
    if (!out->counts)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < t->count; i++)
        out->counts[out->file[t->items[i].unit]] += t->items[i].count;
    return BOUMA_OK;
}

int bm_aggregate(struct bm_aggregation *out, const bouma_allocator *a,
                 const struct bm_aggregation_spec *spec,
                 const struct bm_unit *units, size_t count)
{
    scheme_function *scheme = scheme_of(spec->scheme);
    struct task t = {.spec = spec, .units = units};
    int rc = BOUMA_ENOMEM;

    memset(out, 0, sizeof(*out));
    out->a = a;
    if (!scheme || spec->ndims < 1 || spec->ndims > 3)
        return BOUMA_EINVAL;
    if (count >= UINT32_MAX)
        return BOUMA_ELIMIT;
    out->file = bm_new_raw(a, count, sizeof(*out->file));
    t.items = bm_new_raw(a, count, sizeof(*t.items));
    if (!out->file || !t.items)
        goto out;
    for (size_t u = 0; u < count; u++)
        out->file[u] = BM_NO_FILE;
    rc = collect(&t, count);
    if (rc)
        goto out;
    choose_sizes(&t);
    if (t.count)
        rc = scheme(out, &t);
    if (!rc)
        rc = count_particles(out, &t);
out:
    bm_drop(a, t.items);
    if (rc)
        bm_aggregation_release(out);
    return rc;
}

void bm_aggregation_release(struct bm_aggregation *g)
{
    if (!g->a)
        return;
    bm_drop(g->a, g->nodes);
    bm_drop(g->a, g->counts);
    bm_drop(g->a, g->file);
    memset(g, 0, sizeof(*g));
}
