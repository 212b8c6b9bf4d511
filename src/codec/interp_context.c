/* interp_context.c -- see interp.h: how large an integer is likely to be, by
 *
 *  - the magnitudes of its neighbours along the axes in which its octant is
 *    odd, if these are two or three;
 *  - the magnitudes in the rows above and before it in its octant, each with
 *    those next to it;
 *  - if the octant is odd along one axis: how much the coarser samples bend
 *    along this axis (cubics less lines), and along the others.
 *
 * Those in other blocks do not count. All are logarithms, and integers from here on. What octants other than 0 are
 * decoded to does not count, so rows that nobody wants need not be predicted. */
#include "codec/clones.h"
#include "codec/interp.h"

void bm_contexts_init(struct bm_contexts *c, const uint8_t *table)
{
    /* The expectation of context i + 1 exceeds this. */
    static const uint16_t limits[CONTEXTS] = {
        LOWEST, 4,   10,  16,  24,  34,  46,  60,  76,  96,  120,
        148,    180, 216, 256, 300, 352, 412, 480, 560, 660, EXPECTATION - 1};

    for (int context = 0, begin = 0; context < CONTEXTS; context++) {
        memset(c->of + begin, table ? table[context] : context,
               (size_t)(limits[context] + 1 - begin));
        begin = limits[context] + 1;
    }
    for (int p = 1; p < 8; p *= 2)
        bm_shares_of_axis(&c->along[p >> 1],
                          p == 4   ? 0
                          : p == 2 ? 1
                                   : 2,
                          1, -1);
    c->blocks = bm_blocks_undivided();
}

BM_CLONES void bm_interp_magnitudes(uint8_t *restrict magnitudes,
                                    const int32_t *restrict codes, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t q = codes[i] < 0 ? -codes[i] : codes[i];

        magnitudes[i] =
            bm_interp_log((float)(q < MOST_MAGNITUDE ? q : MOST_MAGNITUDE));
    }
}

/* ---- sums of magnitudes ------------------------------------------------- */

BM_CLONES static void add_two(uint16_t *restrict sum, const uint8_t *restrict a,
                              const uint8_t *restrict b, int64_t n, int more)
{
    if (more)
        for (int64_t i = 0; i < n; i++)
            sum[i] = (uint16_t)(sum[i] + a[i] + b[i]);
    else
        for (int64_t i = 0; i < n; i++)
            sum[i] = (uint16_t)(a[i] + b[i]);
}

/* The neighbours of rows along axis 2. If the last sample of a row has none at
 * the right, the one at the left counts twice. */
static void add_along(uint16_t *sum, const uint8_t *from, int64_t rows,
                      int64_t n, int64_t evens)
{
    if (evens > n) {
        for (int64_t r = 0; r < rows; r++)
            add_two(sum + r * n, from + r * evens, from + r * evens + 1, n, 0);
        return;
    }
    add_two(sum, from, from + 1, rows * n, 0);
    for (int64_t r = 0; r < rows; r++)
        sum[r * n + n - 1] = (uint16_t)(2 * from[r * n + n - 1]);
}

/* The rows of a batch, from row 'first' on, that are in one block: the first one
 * behind them. */
static int64_t same_block(const struct bm_contexts *c, const struct bm_batch *b,
                          int64_t first)
{
    int64_t end = bm_block_end(&c->blocks, 1, b->y + first) - b->y;

    return end < b->rows ? end : b->rows;
}

/* The neighbours of rows along axis 1, those of 'all' rows beginning at 'a'. */
static void add_rows(const struct bm_contexts *c, const struct bm_batch *b,
                     const uint8_t *a, int64_t all, int64_t n, int more)
{
    int64_t next;

    for (int64_t first = 0; first < b->rows; first = next) {
        int64_t y, last;
        int ends;

        next = same_block(c, b, first);
        y = b->y + next; /* at the right of the last one */
        ends = y >= all || y == bm_block_end(&c->blocks, 1, y - 1);
        last = next - ends;
        add_two(c->beside + first * n, a + first * n, a + (first + 1) * n,
                (last - first) * n, more);
        add_two(c->beside + last * n, a + last * n, a + last * n, ends * n,
                more);
    }
}

/* The neighbours of the rows of a batch along all axes; those that are missing
 * at the right are as those at the left. Returns how many each sample has. */
static int add_beside(const struct bm_contexts *c, const struct bm_octants *o,
                      const struct bm_batch *b)
{
    int64_t n = o->count[b->p][2];
    int sides = 0;

    for (int axis = 2; axis >= 0; axis--) {
        int from = b->p ^ (4 >> axis);
        const int64_t *count = o->count[from];
        const uint8_t *a =
            c->magnitudes + o->at[from] + (b->z * count[1] + b->y) * count[2];
        int right =
            b->z + 1 < count[0] && b->z + 1 < bm_block_end(&c->blocks, 0, b->z);

        if (!(b->p & (4 >> axis)))
            continue;
        if (axis == 2)
            add_along(c->beside, a, b->rows, n, count[2]);
        else if (axis == 1)
            add_rows(c, b, a, count[1], n, sides);
        else
            add_two(c->beside, a, right ? a + count[1] * count[2] : a,
                    b->rows * n, sides);
        sides += 2;
    }
    return sides;
}

/* 2 row[i] + row[i - 1] + row[i + 1] + below[i] in rows of n, of which those that
 * are missing at the ends of rows are as row[i]. There are bytes before and
 * behind the rows. */
BM_CLONES static void sum_around(uint16_t *restrict sum,
                                 const uint8_t *restrict row,
                                 const uint8_t *restrict below, int64_t rows,
                                 int64_t n)
{
    for (int64_t i = 0; i < rows * n; i++)
        sum[i] = (uint16_t)(2 * row[i] + row[i - 1] + row[i + 1] + below[i]);
    for (int64_t i = 0; i < rows * n; i += n) {
        const uint8_t *last = row + i + n - 1;

        sum[i] = (uint16_t)(sum[i] + row[i] - row[i - 1]);
        sum[i + n - 1] = (uint16_t)(sum[i + n - 1] + last[0] - last[1]);
    }
}

/* The rows in the plane before a batch, each with the one below it. Returns how
 * many magnitudes a sample has. */
static int add_before(const struct bm_contexts *c, const struct bm_octants *o,
                      const struct bm_batch *b)
{
    int64_t all = o->count[b->p][1], n = o->count[b->p][2];
    const uint8_t *row =
        c->magnitudes + o->at[b->p] + ((b->z - 1) * all + b->y) * n;
    int64_t next;

    if (!b->z || bm_block_end(&c->blocks, 0, b->z - 1) == b->z) {
        memset(c->before, 0, (size_t)(b->rows * n) * sizeof(*c->before));
        return 0;
    }
    for (int64_t first = 0; first < b->rows; first = next) {
        int64_t y, last;
        int ends;

        next = same_block(c, b, first);
        y = b->y + next;
        ends = y >= all || y == bm_block_end(&c->blocks, 1, y - 1);
        last = next - ends;
        sum_around(c->before + first * n, row + first * n,
                   row + (first + 1) * n, last - first, n);
        sum_around(c->before + last * n, row + last * n, row + last * n, ends,
                   n);
    }
    return 5;
}

/* ---- all ---------------------------------------------------------------- */

/* With so many parts for so many neighbours in other octants, and so many before
 * a sample in its own. */
static struct bm_mix mix_of(int parts, int sides, int before)
{
    uint32_t all = (uint32_t)parts + (before ? 4 : 0);
    struct bm_mix mix = {0, 0};

    mix.beside = (uint32_t)parts * 8192 / (all * (uint32_t)sides);
    if (before)
        mix.before = 4 * 16384 / (all * (uint32_t)before);
    return mix;
}

/* The upper half of a product of numbers below 2^16. */
static inline uint16_t upper(uint32_t a, uint32_t b)
{
    return (uint16_t)((uint32_t)(uint16_t)a * (uint16_t)b >> 16);
}

BM_CLONES static void expect(uint16_t *restrict out,
                             const uint16_t *restrict beside,
                             const uint16_t *restrict before, int64_t n,
                             struct bm_mix mix)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint16_t)(upper((uint32_t)beside[i] << 5, mix.beside) +
                            upper((uint32_t)before[i] << 4, mix.before));
}

/* With the rows above, too: those that are missing at the ends of rows are as
 * the one above. */
BM_CLONES static void expect_below(uint16_t *restrict out,
                                   const uint16_t *restrict beside,
                                   const uint16_t *restrict before,
                                   const uint8_t *restrict above, int64_t rows,
                                   int64_t n, struct bm_mix mix)
{
    for (int64_t i = 0; i < rows * n; i++) {
        uint32_t sum = before[i] + 2u * above[i] + above[i - 1] + above[i + 1];

        out[i] = (uint16_t)(upper((uint32_t)beside[i] << 5, mix.beside) +
                            upper(sum << 4, mix.before));
    }
    for (int64_t i = 0; i < 2 * rows; i++) {
        int64_t at = i / 2 * n + (i % 2 ? n - 1 : 0);
        int64_t other = n == 1 ? at : i % 2 ? at - 1 : at + 1;
        uint32_t sum = before[at] + 3u * above[at] + above[other];

        out[at] = (uint16_t)(upper((uint32_t)beside[at] << 5, mix.beside) +
                             upper(sum << 4, mix.before));
    }
}

/* Logarithms of how much the samples of octant 0 bend along the odd axis (which
 * count twice), and along the others (the mean). Returns how many that are. */
static int log_bends(struct bm_contexts *c, const struct bm_lookup *l,
                     const struct bm_batch *b, int bends,
                     const struct bm_quantum *quantum)
{
    int64_t n = b->rows * l->octants->count[b->p][2];
    double unit = quantum->inverse / 2;

    bm_interp_predict(l, c->along_row, b, &c->along[b->p >> 1]);
    l->kernels->logs(c->beside, c->along_row, unit, n);
    if (bends)
        l->kernels->add_logs(c->beside, l->bends[0], l->bends[bends - 1], unit,
                             n);
    return bends ? 3 : 2;
}

void bm_contexts_mix(struct bm_contexts *c, const struct bm_octants *o,
                     const struct bm_batch *b, int parts)
{
    int before = add_before(c, o, b), sides = parts;

    if (!bm_is_odd_along_one(b->p)) {
        sides = add_beside(c, o, b);
        parts = 4;
    }
    c->top = mix_of(parts, sides, before);
    c->other = mix_of(parts, sides, before + 4);
}

void bm_contexts_begin(struct bm_contexts *c, const struct bm_lookup *l,
                       const struct bm_batch *b, int bends,
                       const struct bm_quantum *quantum)
{
    int parts =
        bm_is_odd_along_one(b->p) ? log_bends(c, l, b, bends, quantum) : 0;

    bm_contexts_mix(c, l->octants, b, parts);
}

BM_CLONES int bm_contexts_all_lowest(const uint16_t *restrict expected,
                                     int64_t n)
{
    uint16_t all = 0;

    for (int64_t i = 0; i < n; i++)
        all |= expected[i];
    return all <= LOWEST;
}

void bm_contexts_look_up(const struct bm_contexts *c, uint8_t *restrict context,
                         const uint16_t *restrict expected, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        context[i] = c->of[expected[i]];
}

void bm_contexts_expect(const struct bm_contexts *c, const struct bm_octants *o,
                        const struct bm_batch *b, int64_t first, int64_t rows)
{
    int64_t n = o->count[b->p][2], end = first + rows, next;
    const uint8_t *own =
        c->magnitudes + o->at[b->p] + (b->z * o->count[b->p][1] + b->y) * n;
    uint16_t *to = c->expected;

    for (int64_t y = first; y < end; y = next) {
        /* Whether the row has none above it. */
        int top = !(b->y + y) ||
                  bm_block_end(&c->blocks, 1, b->y + y - 1) == b->y + y;

        next = same_block(c, b, y);
        next = next < end ? next : end;
        if (top)
            expect(to, c->beside + y * n, c->before + y * n, n, c->top);
        if (next > y + top)
            expect_below(to + top * n, c->beside + (y + top) * n,
                         c->before + (y + top) * n, own + (y + top - 1) * n,
                         next - y - top, n, c->other);
        to += (next - y) * n;
    }
}
