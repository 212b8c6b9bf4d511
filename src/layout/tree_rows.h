/* tree_rows.h -- the loops of tree_build.c that bring particles to their cells.
 * It is included once for each type of position, with
 *
 *     REAL    the type             BITS  the unsigned integer of its size
 *     TINY    a range that is multiplied by GROW before it is divided by
 *     NAME(x) the name x, for the type
 */

/* A particle on its way: axes that positions do not have are 0. */
struct NAME(item) {
    REAL x[3];
    BITS index;
};

/* One axis of n particles (at most BLOCK), dense: as it is or in 'room'. */
static const REAL *NAME(load)(REAL *room, const struct bm_positions *p,
                              int axis, size_t begin, size_t n)
{
    const char *in =
        (const char *)p->axis[axis] + (int64_t)begin * p->stride[axis];

    if (p->stride[axis] == sizeof(REAL) && (uintptr_t)in % sizeof(REAL) == 0)
        return (const REAL *)in;
    for (size_t i = 0; i < n; i++)
        memcpy(&room[i], in + (int64_t)i * p->stride[axis], sizeof(REAL));
    return room;
}

/* Four numbers at once, which compilers do not find by themselves here. */
typedef REAL NAME(lanes) __attribute__((vector_size(4 * sizeof(REAL))));
typedef BITS NAME(masks) __attribute__((vector_size(4 * sizeof(REAL))));

/* Where 'mask' is set, a; else b. */
#define CHOOSE(mask, a, b)                                                     \
    ((NAME(lanes))(((NAME(masks))(a) & (NAME(masks))(mask)) |                  \
                   ((NAME(masks))(b) & ~(NAME(masks))(mask))))

/* Infinity and NaN spoil 'sum', and then the others mean nothing. */
BM_CLONES static int NAME(bound_all)(REAL *low, REAL *high,
                                     const REAL *restrict x, size_t n)
{
    NAME(lanes)
    first = {x[0], x[0], x[0], x[0]}, lo = first, hi = first, sum = {0};
    size_t i = 0;
    REAL spoilt;

    for (; i + 4 <= n; i += 4) {
        NAME(lanes) v;

        memcpy(&v, x + i, sizeof(v));
        lo = CHOOSE(v < lo, v, lo);
        hi = CHOOSE(v > hi, v, hi);
        sum += v - v;
    }
    spoilt = sum[0] + sum[1] + sum[2] + sum[3];
    *low = lo[0];
    *high = hi[0];
    for (int k = 1; k < 4; k++) {
        *low = lo[k] < *low ? lo[k] : *low;
        *high = hi[k] > *high ? hi[k] : *high;
    }
    for (; i < n; i++) {
        *low = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
        spoilt += x[i] - x[i];
    }
    return spoilt == 0;
}

/* Widen by the finite ones of n particles (at most BLOCK). */
static void NAME(widen)(struct bounds *out, const struct bm_positions *p,
                        size_t begin, size_t n)
{
    REAL room[3][BLOCK], low[3], high[3];
    const REAL *x[3];
    int finite = 1;

    for (int axis = 0; axis < p->ndims; axis++) {
        x[axis] = NAME(load)(room[axis], p, axis, begin, n);
        finite &= NAME(bound_all)(&low[axis], &high[axis], x[axis], n);
    }
    out->count += n;
    for (int axis = 0; !finite && axis < p->ndims; axis++) {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
    }
    for (size_t i = 0; !finite && i < n; i++) {
        int good = 1;

        for (int axis = 0; axis < p->ndims; axis++)
            good &= x[axis][i] - x[axis][i] == 0;
        out->count -= !good;
        for (int axis = 0; good && axis < p->ndims; axis++) {
            low[axis] = x[axis][i] < low[axis] ? x[axis][i] : low[axis];
            high[axis] = x[axis][i] > high[axis] ? x[axis][i] : high[axis];
        }
    }
    for (int axis = 0; axis < p->ndims; axis++) {
        out->low[axis] = fmin(out->low[axis], (double)low[axis]);
        out->high[axis] = fmax(out->high[axis], (double)high[axis]);
    }
}

/* How coordinates become steps: (x * pre - origin) * scale, where 'pre' is a
 * power of two that keeps huge and tiny ranges in range. Any part of it is
 * monotone, so the whole is. */
static void NAME(measure)(struct grid *g, double extent[3], const double low[3],
                          const double high[3])
{
    REAL most = 0, pre;

    for (int axis = 0; axis < 3; axis++) {
        REAL size = (REAL)high[axis] / 4 - (REAL)low[axis] / 4;

        most = size > most ? size : most;
    }
    pre = most < TINY ? GROW : (REAL)0.25;
    g->pre = pre;
    for (int axis = 0; axis < 3; axis++) {
        REAL size = 0; /* also where huge numbers would overflow now */

        if (high[axis] > low[axis])
            size = (REAL)high[axis] * pre - (REAL)low[axis] * pre;
        extent[axis] = (double)size;
        g->origin[axis] = (REAL)low[axis] * pre;
        /* An axis so much shorter than another that this overflows has no
         * bits, and its steps mean nothing. */
        g->scale[axis] = size > 0 ? (double)(STEPS / size) : 0;
    }
}

BM_CLONES static void NAME(quantise)(int32_t *restrict out,
                                     const REAL *restrict x, size_t n, REAL pre,
                                     REAL origin, REAL scale)
{
    for (size_t i = 0; i < n; i++) {
        REAL step = (x[i] * pre - origin) * scale;

        /* What is not finite is anywhere; NaN is also what flat axes give. */
        step = step > 0 ? step : 0;
        step = step < STEPS - 1 ? step : STEPS - 1;
        out[i] = (int32_t)step;
    }
}

/* How many of a sample are in each step. */
static void NAME(sample)(uint32_t counts[3][STEPS], const struct grid *g,
                         const struct bm_positions *p)
{
    size_t size = p->count < GRID_SAMPLE ? p->count : GRID_SAMPLE, n;

    for (size_t i = 0; i < size; i += n) {
        n = size - i < BLOCK ? size - i : BLOCK;
        for (int axis = 0; axis < p->ndims; axis++) {
            int32_t step[BLOCK];
            REAL x[BLOCK];

            for (size_t k = 0; k < n; k++)
                memcpy(&x[k],
                       (const char *)p->axis[axis] +
                           (int64_t)sample_index(i + k, size, p->count) *
                               p->stride[axis],
                       sizeof(REAL));
            NAME(quantise)
            (step, x, n, (REAL)g->pre, (REAL)g->origin[axis],
             (REAL)g->scale[axis]);
            for (size_t k = 0; k < n; k++)
                counts[axis][step[k]] += x[k] - x[k] == 0;
        }
    }
}

/* The cells of n particles (at most BLOCK), and how many each cell has. */
static void NAME(find_cells)(uint16_t *cells, uint32_t *counts,
                             const struct grid *g, const struct bm_positions *p,
                             size_t begin, size_t n)
{
    int32_t step[3][BLOCK];
    REAL room[BLOCK];

    for (int axis = 0; axis < 3; axis++) {
        const REAL *x;

        if (axis >= p->ndims) {
            memset(step[axis], 0, sizeof(step[axis]));
            continue;
        }
        x = NAME(load)(room, p, axis, begin, n);
        NAME(quantise)
        (step[axis], x, n, (REAL)g->pre, (REAL)g->origin[axis],
         (REAL)g->scale[axis]);
        for (size_t i = 0; !g->all_finite && i < n; i++)
            if (x[i] - x[i] != 0)
                step[0][i] = INT32_MIN;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned cell = g->cells;

        if (step[0][i] >= 0)
            cell = g->bits[0][step[0][i]] | g->bits[1][step[1][i]] |
                   g->bits[2][step[2][i]];
        cells[i] = (uint16_t)cell;
        counts[cell]++;
    }
}

/* Bring n particles (at most BLOCK) to their buckets, with the lower bits of
 * their cells; they know their number, or where in the buckets they were
 * brought. Many arguments, as this is the inner loop of the build: no struct
 * stands between it and its arrays. */
static void NAME(to_buckets)(void *items, uint8_t *lower, uint32_t *next,
                             const struct grid *g, const uint16_t *cells,
                             const struct bm_positions *p, size_t begin,
                             size_t n)
{
    struct NAME(item) *out = items;
    REAL room[3][BLOCK];
    const REAL *x[3];

    for (int axis = 0; axis < 3; axis++)
        if (axis < p->ndims)
            x[axis] = NAME(load)(room[axis], p, axis, begin, n);
        else
            x[axis] = memset(room[axis], 0, sizeof(room[axis]));
    for (size_t i = 0; i < n; i++) {
        uint32_t at = next[cells[i] >> g->lower_bits]++;

        out[at] = (struct NAME(item)){{x[0][i], x[1][i], x[2][i]},
                                      g->by_place ? at : (BITS)(begin + i)};
        lower[at] = (uint8_t)(cells[i] & (g->lower - 1));
    }
}

static void NAME(to_cells)(void *to, const void *from, uint32_t *next,
                           const uint8_t *lower, size_t n)
{
    const struct NAME(item) *in = from;
    struct NAME(item) *out = to;

    for (size_t i = 0; i < n; i++)
        out[next[lower[i]]++] = in[i];
}

/* n items have found their slots, from 'at' on. */
static void NAME(list)(const struct listing *to, size_t at, const void *items,
                       size_t n)
{
    const struct NAME(item) *in = items;

    for (size_t i = 0; i < n; i++)
        to->order[at + i] = (uint32_t)in[i].index;
    for (int axis = 0; axis < 3 && to->sorted[axis]; axis++) {
        REAL *x = (REAL *)to->sorted[axis] + at;

        for (size_t i = 0; i < n; i++)
            x[i] = in[i].x[axis];
    }
}
