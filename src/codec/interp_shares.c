/* interp_shares.c -- see interp.h: what each term has of a prediction, by a
 * choice or by weights, and how these are stored. */
#include "codec/interp.h"

const double bm_cubic_weights[PLACES][4] = {
    {-1. / 16, 9. / 16, 9. / 16, -1. / 16},
    {0, 1. / 2, 1. / 2, 0},
    {0, 3. / 8, 6. / 8, -1. / 8},
    {-1. / 8, 6. / 8, 3. / 8, 0},
    {3. / 8, -10. / 8, 15. / 8, 0},
    {0, -1. / 2, 3. / 2, 0},
    {0, 0, 1, 0}};
const double bm_line_weights[PLACES][4] = {{0, 1. / 2, 1. / 2, 0},
                                           {0, 1. / 2, 1. / 2, 0},
                                           {0, 1. / 2, 1. / 2, 0},
                                           {0, 1. / 2, 1. / 2, 0},
                                           {0, -1. / 2, 3. / 2, 0},
                                           {0, -1. / 2, 3. / 2, 0},
                                           {0, 0, 1, 0}};

/* The weights where the axes in 'missing' have no right neighbour. */
static void weigh(struct bm_shares *shares, int missing)
{
    double line[3];

    for (int i = 0; i < 3; i++)
        line[i] = shares->line[i];
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++)
            if (axis != i && (missing & 7 & ~(4 >> i)))
                line[axis] += shares->diagonal[i] / 2;
    for (int axis = 0; axis < 3 && missing; axis++)
        line[axis] += shares->corner / 3;
    shares->axes[missing] = 0;
    for (int axis = 0; axis < 3; axis++)
        if (shares->cubic[axis] != 0 || line[axis] != 0)
            shares->axes[missing] |= 4 >> axis;
    for (int axis = 0; axis < 3; axis++)
        for (int place = 0; place < PLACES && shares->axes[missing] & 4 >> axis;
             place++)
            for (int i = 0; i < 4; i++)
                shares->weight[missing][axis][place][i] =
                    shares->cubic[axis] * bm_cubic_weights[place][i] +
                    line[axis] * bm_line_weights[place][i];
}

static void shares_clear(struct bm_shares *shares)
{
    shares->fitted = 0;
    for (int i = 0; i < 3; i++)
        shares->cubic[i] = shares->line[i] = shares->diagonal[i] = 0;
    shares->corner = shares->bend[0] = shares->bend[1] = 0;
}

void bm_shares_of_axis(struct bm_shares *shares, int axis, double cubic,
                       double line)
{
    shares_clear(shares);
    shares->cubic[axis] = cubic;
    shares->line[axis] = line;
    weigh(shares, 0);
}

void bm_shares_of_choice(struct bm_shares *shares, int choice)
{
    int axes = (choice & 1) + (choice >> 1 & 1) + (choice >> 2 & 1);

    shares_clear(shares);
    for (int axis = 0; axis < 3; axis++)
        if (choice & (4 >> axis))
            (choice & LINEAR ? shares->line : shares->cubic)[axis] = 1. / axes;
    weigh(shares, 0);
}

static int odd_axes(int p)
{
    return (p & 1) + (p >> 1 & 1) + (p >> 2 & 1);
}

int bm_interp_other_axes(const struct bm_octants *o, int p)
{
    int others = 0;

    for (int axis = 0; axis < 3; axis++)
        others += !(p & (4 >> axis)) && o->n[axis] > 1;
    return others;
}

int bm_interp_weights(const struct bm_octants *o, int p)
{
    static const int weights[4] = {0, 1, 4, 9};

    return weights[odd_axes(p)] +
           (bm_is_odd_along_one(p) ? bm_interp_other_axes(o, p) : 0);
}

/* The shares that weights are for, in the order in which they are stored, but
 * for the first, which has none: cubics of the axes along which p is odd; lines;
 * diagonals, corners, and bends. */
static int list_shares(double **list, struct bm_shares *shares,
                       const struct bm_octants *o, int p)
{
    int n = 0;

    for (int axis = 0; axis < 3; axis++)
        if (p & (4 >> axis))
            list[n++] = &shares->cubic[axis];
    for (int axis = 0; axis < 3; axis++)
        if (p & (4 >> axis))
            list[n++] = &shares->line[axis];
    for (int i = 2; i >= 0; i--)
        if ((p | 4 >> i) == 7 && odd_axes(p & ~(4 >> i)) == 2)
            list[n++] = &shares->diagonal[i];
    if (p == 7)
        list[n++] = &shares->corner;
    for (int i = 0; bm_is_odd_along_one(p) && i < bm_interp_other_axes(o, p);
         i++)
        list[n++] = &shares->bend[i];
    return n;
}

static void weigh_all(struct bm_shares *shares, int p)
{
    shares->fitted = 1;
    for (int missing = 0; missing < BM_OCTANTS; missing++)
        if (!(missing & ~p))
            weigh(shares, missing);
}

/* Weights of cubics are less what all have alike. The first has what is missing
 * from 1 in all but bends. */
void bm_shares_of_weights(struct bm_shares *shares, const struct bm_octants *o,
                          int p, const int32_t *weights)
{
    double *list[MAX_WEIGHTS + 1];
    int n = list_shares(list, shares, o, p), axes = odd_axes(p);
    int32_t rest = WEIGHT_ONE;

    shares_clear(shares);
    for (int i = 1; i < n; i++) {
        int32_t w = weights[i - 1] + (i < axes ? WEIGHT_ONE / axes : 0);

        *list[i] = (double)w / WEIGHT_ONE;
        if (axes > 1 || i < 2)
            rest -= w;
    }
    *list[0] = (double)rest / WEIGHT_ONE;
    weigh_all(shares, p);
}

void bm_shares_of_term(struct bm_shares *shares, const struct bm_octants *o,
                       int p, int term)
{
    double *list[MAX_WEIGHTS + 1];

    list_shares(list, shares, o, p);
    shares_clear(shares);
    *list[term] = 1;
    weigh_all(shares, p);
}

int bm_interp_choice_terms(int p)
{
    return 2 * odd_axes(p);
}

/* ---- as bits ------------------------------------------------------------ */

int bm_shares_get(struct bm_shares *shares, struct bm_bit_reader *bits,
                  const struct bm_octants *o, int p)
{
    int choice = (int)bm_bits_get(bits, 4), m = bm_interp_weights(o, p);
    int32_t weights[MAX_WEIGHTS];

    if (choice != FITTED) {
        bm_shares_of_choice(shares, choice);
        return choice & 7 && !(choice & 7 & ~p);
    }
    for (int i = 0; i < m; i++) {
        uint32_t folded = bm_golomb_get(bits, WEIGHT_ORDER);

        if (folded > 2 * MAX_WEIGHT)
            return 0;
        weights[i] = bm_unfold(folded);
    }
    bm_shares_of_weights(shares, o, p, weights);
    return 1;
}

int bm_shares_skip(struct bm_bit_reader *bits, const struct bm_passes *p, int k)
{
    int ok = 1;

    for (int j = k < p->root ? k : p->count - 1; j >= k; j--)
        for (int i = 1; i < BM_OCTANTS && ok; i++) {
            const struct bm_octants *o = &p->octants[j];
            struct bm_shares shares;

            if (o->size[bm_octant_order[i]])
                ok = bm_shares_get(&shares, bits, o, bm_octant_order[i]);
        }
    return ok;
}

void bm_shares_put(struct bm_bit_writer *bits, const struct bm_buffer *choices)
{
    struct bm_cursor c = bm_cursor_of(choices->data, choices->size);

    while (bm_cursor_left(&c)) {
        bm_bits_put(bits, bm_get_u8(&c), 4);
        for (int m = bm_get_u8(&c); m > 0; m--)
            bm_golomb_put(bits, bm_get_u32(&c), WEIGHT_ORDER);
    }
}
