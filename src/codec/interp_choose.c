/* interp_choose.c -- see interp.h: how an octant is predicted best, by some of
 * its rows. All that decides is integers, or sums in a fixed order.
 *
 * A prediction is a sum of terms: what cubics and lines along each axis give,
 * the means of diagonal neighbours and of corners, and bends. Each has a share.
 * So the terms are made once for these rows; each choice and each set of
 * weights is a sum of them. */
#include "codec/interp.h"

/* Some rows of an octant that stand for all: one of each 'every', at a place
 * that has nothing to do with axes. */
struct rows {
    int64_t count, every, all;
    int64_t length; /* of a row, as far as it counts */
};

/* A quarter of an octant is enough, if that is not too few. */
static struct rows rows_of(const int64_t *count)
{
    struct rows r = {.all = count[0] * count[1]};
    int64_t samples = r.all * count[2] / 4;

    samples = samples > LEAST_SAMPLES ? samples : LEAST_SAMPLES;
    samples = samples < MOST_SAMPLES ? samples : MOST_SAMPLES;
    r.every = r.all * count[2] / samples + 1;
    r.count = (r.all + r.every - 1) / r.every;
    r.length = count[2] < samples ? count[2] : samples;
    return r;
}

/* The number of the i-th of them: every fourth comes first, so that these stand
 * for all, too. */
static int64_t row_number(const struct rows *r, int64_t i)
{
    int64_t fourth = 0, row;
    uint32_t hash;

    for (; i >= (r->count - fourth + 3) / 4; fourth++)
        i -= (r->count - fourth + 3) / 4;
    i = 4 * i + fourth;
    hash = ((uint32_t)i + 1) * 2654435761u >> 7;
    row = i * r->every + hash % r->every;
    return row < r->all ? row : r->all - 1;
}

static void gather_samples(struct bm_fit *f, const struct bm_lookup *l, int p,
                           const uint8_t *samples, const struct rows *rows)
{
    size_t bytes = (size_t)rows->length * l->size;
    size_t pitch = (size_t)l->octants->count[p][2] * l->size;

    f->count = (size_t)(rows->count * rows->length);
    for (int64_t i = 0; i < rows->count; i++)
        memcpy(f->samples + (size_t)i * bytes,
               samples + (size_t)row_number(rows, i) * pitch, bytes);
}

/* The terms that choices are made of: what cubics and lines give. */
static void gather_choices(const struct bm_interp_piece *w, struct bm_fit *f,
                           const struct bm_lookup *l, int p,
                           const struct rows *rows)
{
    size_t bytes = (size_t)rows->length * l->size;
    int64_t all = l->octants->count[p][1], n = l->octants->count[p][2];
    int odd = bm_interp_choice_terms(p) / 2;

    for (int64_t i = 0; i < rows->count; i++) {
        int64_t r = row_number(rows, i);

        for (int axis = 0, t = 0; axis < 3; axis++) {
            uint8_t *to[2];

            if (!(p & (4 >> axis)))
                continue;
            to[0] = n == rows->length ? f->term[t] + (size_t)i * bytes : w->row;
            to[1] = n == rows->length ? f->term[odd + t] + (size_t)i * bytes
                                      : w->bends[0];
            bm_interp_terms(l, to, p, axis, r / all, r % all);
            if (n > rows->length) { /* not all of it counts */
                memcpy(f->term[t] + (size_t)i * bytes, to[0], bytes);
                memcpy(f->term[odd + t] + (size_t)i * bytes, to[1], bytes);
            }
            t++;
        }
    }
}

/* What some terms give for these rows, each having all of the prediction. */
static void gather_terms(const struct bm_interp_piece *w, struct bm_fit *f,
                         const struct bm_lookup *l, int p, int first, int end,
                         const struct rows *rows)
{
    size_t bytes = (size_t)rows->length * l->size;
    int64_t all = l->octants->count[p][1];
    struct bm_shares shares;

    for (int t = first; t < end; t++) {
        bm_shares_of_term(&shares, l->octants, p, t);
        for (int64_t i = 0; i < rows->count; i++) {
            int64_t r = row_number(rows, i);
            struct bm_batch b = {p, r / all, r % all, 1};

            if (shares.bend[0] != 0 || shares.bend[1] != 0)
                bm_interp_bend(l, &b);
            bm_interp_predict(l, w->row, &b, &shares);
            memcpy(f->term[t] + (size_t)i * bytes, w->row, bytes);
        }
    }
}

/* How far off the mean of the axes in 'choice' is, in octant p. */
static uint64_t misses(const struct bm_interp_piece *w, const struct bm_fit *f,
                       int p, int choice)
{
    const void *term[3];
    int odd = 0, axes = 0;

    for (int axis = 0; axis < 3; axis++)
        odd += (p & (4 >> axis)) != 0;
    for (int axis = 0, t = choice & LINEAR ? odd : 0; axis < 3; axis++) {
        if (choice & (4 >> axis))
            term[axes++] = f->term[t];
        t += (p & (4 >> axis)) != 0;
    }
    for (int i = axes; i < 3; i++)
        term[i] = term[0];
    return w->kernels->miss(f->samples, term, axes, (int64_t)f->count,
                            2 * w->quantum.inverse);
}

/* Bits of the weights. */
static uint64_t bits_of(const int32_t *weights, int m)
{
    uint64_t bits = 0;

    for (int i = 0; i < m; i++) {
        uint32_t v = bm_fold(weights[i]) + (1u << WEIGHT_ORDER);

        bits += 2 * (uint64_t)(31 - __builtin_clz(v)) + 1 - WEIGHT_ORDER;
    }
    return bits;
}

/* Weights for octant p that are worth their bits, beside what else misses so
 * little. */
static int fit(const struct bm_interp_piece *w, struct bm_fit *f,
               enum bm_fitting how, const struct bm_lookup *l, int p,
               const struct rows *rows, uint64_t least, int32_t *weights)
{
    uint64_t seen = f->count, all = l->octants->size[p], off;
    int m = bm_interp_weights(l->octants, p);
    int choices = bm_interp_choice_terms(p);

    if (all < 256 || least / 16 * all / seen < 8 * (uint64_t)m)
        return 0; /* a weight has at least 8 bits */
    gather_terms(w, f, l, p, choices, m + 1, rows);
    bm_fit_gather(f, w->kernels, choices / 2, m, bm_is_odd_along_one(p));
    if (!bm_fit_solve(weights, f, m, w->quantum.bound, how))
        return 0;
    off = bm_fit_misses(f, weights, m, 2 * w->quantum.inverse);
    return off < least && (least - off) * all / seen / 16 > bits_of(weights, m);
}

/* The best of all ways to predict octant p, by some of its rows. */
int bm_interp_choose(struct bm_interp_piece *w, struct bm_fit *f,
                     enum bm_fitting how, const struct bm_lookup *l, int p,
                     const uint8_t *samples, struct bm_shares *shares)
{
    struct rows rows = rows_of(l->octants->count[p]);
    int32_t weights[MAX_WEIGHTS];
    uint64_t least = UINT64_MAX;
    int best = p;

    gather_samples(f, l, p, samples, &rows);
    gather_choices(w, f, l, p, &rows);
    for (int choice = 1; choice < 16; choice++) {
        uint64_t off;

        if (!(choice & 7) || (choice & 7 & ~p))
            continue;
        off = misses(w, f, p, choice);
        if (off < least) {
            least = off;
            best = choice;
        }
    }
    if (how && fit(w, f, how, l, p, &rows, least, weights)) {
        int m = bm_interp_weights(l->octants, p);

        bm_put_u8(&w->choices, FITTED);
        bm_put_u8(&w->choices, (uint8_t)m);
        for (int i = 0; i < m; i++)
            bm_put_u32(&w->choices, bm_fold(weights[i]));
        bm_shares_of_weights(shares, l->octants, p, weights);
    } else {
        bm_put_u8(&w->choices, (uint8_t)best);
        bm_put_u8(&w->choices, 0);
        bm_shares_of_choice(shares, best);
    }
    return best;
}
