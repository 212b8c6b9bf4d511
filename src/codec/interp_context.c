/* interp_context.c -- see interp.h: how large an integer is likely to be, by
 *
 *  - the magnitudes of its neighbours along the axes in which its octant is
 *    odd, if these are two or three;
 *  - the magnitudes in the rows above and before it in its octant, each with
 *    those next to it;
 *  - if the octant is odd along one axis: how much the coarser samples bend
 *    along this axis (cubics less lines), and along the others.
 *
 * All are logarithms, and integers from here on. What octants other than 0 are
 * decoded to does not count, so rows that nobody wants need not be predicted. */
#include "codec/clones.h"
#include "codec/interp.h"

void bm_contexts_init(struct bm_contexts *c, const uint8_t *table)
{
    /* The expectation of context i + 1 exceeds this. */
    static const uint16_t limits[CONTEXTS - 1] = {
        1,   4,   10,  16,  24,  34,  46,  60,  76,  96, 120,
        148, 180, 216, 256, 300, 352, 412, 480, 560, 660};

    for (int e = 0, context = 0; e < EXPECTATION; e++) {
        if (context < CONTEXTS - 1 && e > limits[context])
            context++;
        c->of[e] = table ? table[context] : (uint8_t)context;
    }
    for (int p = 1; p < 8; p *= 2)
        bm_shares_of_axis(&c->along[p >> 1],
                          p == 4   ? 0
                          : p == 2 ? 1
                                   : 2,
                          1, -1);
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

/* The neighbours of a row of octant p along all axes; those that are missing at
 * the right are as those at the left. Returns how many each sample has. */
static int add_beside(const struct bm_contexts *c, const struct bm_octants *o,
                      int p, int64_t z, int64_t y)
{
    int64_t n = o->count[p][2];
    int sides = 0;

    for (int axis = 0; axis < 3; axis++) {
        int from = p ^ (4 >> axis);
        const int64_t *count = o->count[from];
        int64_t j[3] = {z, y, n - 1};
        int64_t step[3] = {count[1] * count[2], count[2], 1};
        const uint8_t *a =
            c->magnitudes + o->at[from] + z * step[0] + y * step[1];
        int ends = j[axis] + 1 >= count[axis];

        if (!(p & (4 >> axis)))
            continue;
        if (axis < 2 || !ends) {
            add_two(c->beside, a, ends ? a : a + step[axis], n, sides);
        } else {
            add_two(c->beside, a, a + 1, n - 1, sides);
            add_two(c->beside + n - 1, a + n - 1, a + n - 1, 1, sides);
        }
        sides += 2;
    }
    return sides;
}

/* sum += 2 row[i] + row[i - 1] + row[i + 1], of which those that are missing at
 * the ends are as row[i]. There are bytes before and behind the row. */
BM_CLONES static void add_around(uint16_t *restrict sum,
                                 const uint8_t *restrict row, int64_t n)
{
    int first = sum[0] + 3 * row[0] + row[n > 1];
    int last = sum[n - 1] + 3 * row[n - 1] + row[n > 1 ? n - 2 : 0];

    for (int64_t i = 0; i < n; i++)
        sum[i] = (uint16_t)(sum[i] + 2 * row[i] + row[i - 1] + row[i + 1]);
    sum[0] = (uint16_t)first;
    sum[n - 1] = (uint16_t)last;
}

BM_CLONES static void add_row(uint16_t *restrict sum,
                              const uint8_t *restrict row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] = (uint16_t)(sum[i] + row[i]);
}

/* The rows above and before a row of octant p, if there are such. Returns how
 * many magnitudes a sample has. */
static int add_before(const struct bm_contexts *c, const struct bm_octants *o,
                      int p, int64_t z, int64_t y)
{
    int64_t rows = o->count[p][1], n = o->count[p][2];
    const uint8_t *row = c->magnitudes + o->at[p] + (z * rows + y) * n;
    int all = 0;

    memset(c->before, 0, (size_t)n * sizeof(*c->before));
    if (y > 0) {
        add_around(c->before, row - n, n);
        all += 4;
    }
    if (z > 0) {
        const uint8_t *before = row - rows * n;

        add_around(c->before, before, n);
        add_row(c->before, y + 1 < rows ? before + n : before, n);
        all += 5;
    }
    return all;
}

/* ---- all ---------------------------------------------------------------- */

/* How much each sum (and logarithm) counts, in 2^16ths of the whole. */
struct mix {
    uint32_t beside, before, along, across;
};

static struct mix mix_of(int beside, int before, int along, int across)
{
    uint32_t parts = (beside ? 4u : 0) + (before ? 4u : 0) + (along ? 2u : 0) +
                     (across ? 1u : 0);
    struct mix mix = {0, 0, 0, 0};

    if (beside)
        mix.beside = 4 * 65536 / (parts * (uint32_t)beside);
    if (before)
        mix.before = 4 * 65536 / (parts * (uint32_t)before);
    if (along)
        mix.along = 2 * 65536 / parts;
    if (across)
        mix.across = 65536 / parts;
    return mix;
}

BM_CLONES static void expect_by_sums(uint16_t *restrict beside,
                                     const uint16_t *restrict before, int64_t n,
                                     struct mix mix)
{
    for (int64_t i = 0; i < n; i++)
        beside[i] =
            (uint16_t)((beside[i] * mix.beside + before[i] * mix.before) >> 14);
}

BM_CLONES static void expect_by_bends(uint16_t *restrict out,
                                      const uint16_t *restrict before,
                                      const uint8_t *restrict along,
                                      const uint8_t *restrict across, int64_t n,
                                      struct mix mix)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint16_t)((before[i] * mix.before + along[i] * mix.along +
                             across[i] * mix.across) >>
                            14);
}

/* Logarithms of how much the samples of octant 0 bend along the odd axis of p,
 * and along the others (the mean). */
static void log_bends(const struct bm_contexts *c, const struct bm_lookup *l,
                      int p, int64_t z, int64_t y, int bends,
                      const struct bm_quantum *quantum)
{
    int64_t n = l->octants->count[p][2];
    double unit = quantum->inverse / 2;

    bm_interp_predict(l, c->along_row, p, &c->along[p >> 1], z, y);
    l->kernels->logs(c->logs[0], c->along_row, c->along_row, unit, n);
    if (bends)
        l->kernels->logs(c->logs[1], l->bends[0], l->bends[bends - 1], unit, n);
}

static void look_up(uint8_t *restrict context, const uint8_t *restrict of,
                    const uint16_t *restrict expected, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        context[i] = of[expected[i]];
}

void bm_interp_contexts(const struct bm_contexts *c, uint8_t *context,
                        const struct bm_lookup *l, int p, int64_t z, int64_t y,
                        int bends, const struct bm_quantum *quantum)
{
    const struct bm_octants *o = l->octants;
    int64_t n = o->count[p][2];
    int before = add_before(c, o, p, z, y);

    if (bm_is_odd_along_one(p)) {
        log_bends(c, l, p, z, y, bends, quantum);
        expect_by_bends(c->beside, c->before, c->logs[0], c->logs[bends > 0], n,
                        mix_of(0, before, 1, bends));
    } else {
        int beside = add_beside(c, o, p, z, y);

        expect_by_sums(c->beside, c->before, n, mix_of(beside, before, 0, 0));
    }
    look_up(context, c->of, c->beside, n);
}
