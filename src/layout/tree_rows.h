/* tree_rows.h -- the loops of tree_build.c, which includes this file once for
 * each type of position, with
 *
 *     REAL    the type             BITS  the unsigned integer of its size
 *     NAME(x) the name x, for the type
 */

/* A particle on its way: axes that positions do not have are 0. */
struct NAME(item) {
    REAL x[3];
    BITS index;
};

static inline REAL NAME(load)(const struct bm_positions *p, int axis, size_t i)
{
    REAL x;

    memcpy(&x, (const char *)p->axis[axis] + (int64_t)i * p->stride[axis],
           sizeof(x));
    return x;
}

static inline int NAME(finite)(const struct bm_positions *p, size_t i)
{
    for (int axis = 0; axis < p->ndims; axis++) {
        REAL x = NAME(load)(p, axis, i);

        if (x - x != 0)
            return 0;
    }
    return 1;
}

/* Bounds of the finite ones from 'begin' up to 'end', and how many those are.
 * All at once; only where some are not, one by one. */
static void NAME(widen)(struct bounds *out, const struct bm_positions *p,
                        size_t begin, size_t end)
{
    REAL low[3], high[3], sum = 0;

    for (int axis = 0; axis < p->ndims; axis++) {
        REAL lo = INFINITY, hi = -INFINITY;

        for (size_t i = begin; i < end; i++) {
            REAL x = NAME(load)(p, axis, i);

            sum += x - x; /* NaN from infinity and NaN */
            lo = x < lo ? x : lo;
            hi = x > hi ? x : hi;
        }
        low[axis] = lo;
        high[axis] = hi;
    }
    out->count += end - begin;
    if (sum != 0) {
        for (int axis = 0; axis < p->ndims; axis++) {
            low[axis] = INFINITY;
            high[axis] = -INFINITY;
        }
        for (size_t i = begin; i < end; i++) {
            int finite = NAME(finite)(p, i);

            out->count -= !finite;
            for (int axis = 0; finite && axis < p->ndims; axis++) {
                REAL x = NAME(load)(p, axis, i);

                low[axis] = x < low[axis] ? x : low[axis];
                high[axis] = x > high[axis] ? x : high[axis];
            }
        }
    }
    for (int axis = 0; axis < p->ndims; axis++) {
        out->low[axis] = fmin(out->low[axis], (double)low[axis]);
        out->high[axis] = fmax(out->high[axis], (double)high[axis]);
    }
}

/* The cells of some particles, and how many each cell has. */
static void NAME(find_cells)(uint16_t *cells, uint32_t *counts,
                             const struct grid *g, const struct bm_positions *p,
                             size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        uint16_t cell = 0;

        for (int axis = 0; axis < p->ndims; axis++)
            cell |= cell_of(g, axis, (double)NAME(load)(p, axis, i));
        if (!g->all_finite && !NAME(finite)(p, i))
            cell = (uint16_t)g->cells;
        cells[i] = cell;
        counts[cell]++;
    }
}

/* Bring them to their cells, those that are not finite behind all cells. */
static void NAME(scatter)(void *items, uint32_t *next, const uint16_t *cells,
                          const struct bm_positions *p, size_t begin,
                          size_t end)
{
    struct NAME(item) *out = items;

    for (size_t i = begin; i < end; i++) {
        struct NAME(item) item = {{0}, (BITS)i};

        for (int axis = 0; axis < p->ndims; axis++)
            item.x[axis] = NAME(load)(p, axis, i);
        out[next[cells[i]]++] = item;
    }
}

static void NAME(list)(uint32_t *order, const void *items, size_t begin,
                       size_t end)
{
    const struct NAME(item) *in = items;

    for (size_t i = begin; i < end; i++)
        order[i] = (uint32_t)in[i].index;
}

static void NAME(bound)(REAL low[3], REAL high[3],
                        const struct NAME(item) * items, size_t n)
{
    for (int axis = 0; axis < 3; axis++)
        low[axis] = high[axis] = items[0].x[axis];
    for (size_t i = 1; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            REAL x = items[i].x[axis];

            low[axis] = x < low[axis] ? x : low[axis];
            high[axis] = x > high[axis] ? x : high[axis];
        }
}

static void NAME(bound_cell)(double low[3], const void *items, size_t begin,
                             size_t n)
{
    REAL lo[3], hi[3];

    NAME(bound)(lo, hi, (const struct NAME(item) *)items + begin, n);
    for (int axis = 0; axis < 3; axis++)
        low[axis] = (double)lo[axis];
}

/* ---- medians ------------------------------------------------------------ */

/* Integers that are in order as the numbers are. */
static inline BITS NAME(to_bits)(REAL x)
{
    const BITS top = (BITS)1 << (8 * sizeof(BITS) - 1);
    BITS b;

    x += 0; /* -0 is 0 */
    memcpy(&b, &x, sizeof(b));
    return b & top ? ~b : b | top;
}

static inline REAL NAME(of_bits)(BITS b)
{
    const BITS top = (BITS)1 << (8 * sizeof(BITS) - 1);
    REAL x;

    b = b & top ? b & ~top : ~b;
    memcpy(&x, &b, sizeof(x));
    return x;
}

/* The value that has k others before it when v[n] is sorted; v is used up. Each
 * round keeps those in one of 256 equal ranges, so there are few rounds
 * whatever the values are. */
static BITS NAME(select)(BITS *v, size_t n, size_t k, BITS low, BITS high)
{
    while (n > 24 && low < high) {
        uint32_t counts[256] = {0};
        unsigned shift = 0, bin = 0;
        size_t kept = 0;

        while ((high - low) >> shift > 255)
            shift++;
        for (size_t i = 0; i < n; i++)
            counts[(v[i] - low) >> shift]++;
        while (k >= counts[bin])
            k -= counts[bin++];
        for (size_t i = 0; i < n; i++) {
            v[kept] = v[i];
            kept += (v[i] - low) >> shift == bin;
        }
        n = kept;
        low += (BITS)bin << shift;
        if (high - low > ((BITS)1 << shift) - 1)
            high = low + (((BITS)1 << shift) - 1);
    }
    if (low >= high)
        return low;
    for (size_t i = 1; i < n; i++) {
        BITS x = v[i];
        size_t at = i;

        for (; at && v[at - 1] > x; at--)
            v[at] = v[at - 1];
        v[at] = x;
    }
    return v[k];
}

/* The first 'left' of n items in the order of an axis come first; the order in
 * which they were given stays otherwise, and decides between equals. Gives the
 * least coordinate of the others. 'scratch' has room for n items. */
static REAL NAME(split)(struct NAME(item) * items, struct NAME(item) * scratch,
                        size_t n, size_t left, int axis, REAL low, REAL high)
{
    BITS *v = (BITS *)scratch;
    size_t below = 0, l = 0, r = 0, equal = 0, room;
    REAL middle;

    for (size_t i = 0; i < n; i++)
        v[i] = NAME(to_bits)(items[i].x[axis]);
    middle = NAME(of_bits)(
        NAME(select)(v, n, left, NAME(to_bits)(low), NAME(to_bits)(high)));
    for (size_t i = 0; i < n; i++)
        below += items[i].x[axis] < middle;
    room = left - below; /* for equals */
    for (size_t i = 0; i < n; i++) {
        struct NAME(item) item = items[i];
        REAL x = item.x[axis];
        size_t same = x == middle,
               first = (x < middle) | (same & (equal < room));

        items[l] = item;
        scratch[r] = item;
        l += first;
        r += !first;
        equal += same;
    }
    memcpy(items + left, scratch, r * sizeof(*items));
    return middle;
}

/* The treelet of the items from 'begin' up to 'end', whose nodes are numbered
 * from 'at'. */
static void NAME(treelet)(struct bm_tree_node *nodes, uint32_t at, void *all,
                          void *scratch, uint32_t begin, uint32_t end,
                          uint32_t leaf)
{
    struct NAME(item) *items = all;
    struct run pending[64]; /* halves are at most 32 deep */
    size_t depth = 0;

    pending[depth++] = (struct run){begin, end, at};
    while (depth) {
        struct run run = pending[--depth];
        struct bm_tree_node *node = &nodes[run.node];
        uint32_t n = run.end - run.begin, left;
        REAL low[3], high[3];

        *node = (struct bm_tree_node){.begin = run.begin, .end = run.end};
        if (n <= leaf)
            continue;
        left = bm_tree_left(n, leaf);
        NAME(bound)(low, high, items + run.begin, n);
        node->axis = 0;
        for (uint8_t axis = 1; axis < 3; axis++)
            if (high[axis] / 2 - low[axis] / 2 >
                high[node->axis] / 2 - low[node->axis] / 2)
                node->axis = axis;
        node->split =
            (double)NAME(split)(items + run.begin, scratch, n, left, node->axis,
                                low[node->axis], high[node->axis]);
        node->right = run.node + 2 * leaves_of(left, leaf);
        pending[depth++] = (struct run){run.begin + left, run.end, node->right};
        pending[depth++] =
            (struct run){run.begin, run.begin + left, run.node + 1};
    }
}

#undef REAL
#undef BITS
#undef NAME
