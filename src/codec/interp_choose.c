/* interp_choose.c -- see interp.h: how an octant is predicted best, by some of
 * its rows. All that decides is integers, or sums in a fixed order. */
#include "codec/interp.h"

/* Some rows of an octant that stand for all: one of each 'every', at a place
 * that has nothing to do with axes. */
struct rows {
    int64_t count, every, all;
    int64_t length; /* of a row, as far as it counts */
};

#define CHOICE_SAMPLES 2048

static struct rows rows_of(const int64_t *count, int64_t samples)
{
    struct rows r = {.all = count[0] * count[1]};

    r.every = r.all * count[2] / samples + 1;
    r.count = (r.all + r.every - 1) / r.every;
    r.length = count[2] < samples ? count[2] : samples;
    return r;
}

/* A quarter of an octant is enough, if that is not too few. */
static int64_t fit_samples(const int64_t *count)
{
    int64_t some = count[0] * count[1] * count[2] / 4;

    some = some > CHOICE_SAMPLES ? some : CHOICE_SAMPLES;
    return some < FIT_SAMPLES ? some : FIT_SAMPLES;
}

static int64_t row_number(const struct rows *r, int64_t i)
{
    uint32_t hash = ((uint32_t)i + 1) * 2654435761u >> 7;
    int64_t row = i * r->every + hash % r->every;

    return row < r->all ? row : r->all - 1;
}

/* How far off a prediction is in rows with about so many samples. */
static uint64_t misses(const struct bm_interp_piece *w,
                       const struct bm_lookup *l, int p, const uint8_t *samples,
                       const struct bm_shares *shares, int64_t some)
{
    const int64_t *count = l->octants->count[p];
    struct rows rows = rows_of(count, some);
    uint64_t sum = 0;

    for (int64_t i = 0; i < rows.count; i++) {
        int64_t r = row_number(&rows, i);

        if (shares->bend[0] != 0 || shares->bend[1] != 0)
            bm_interp_bend(l, p, r / count[1], r % count[1]);
        bm_interp_predict(l, w->row, p, shares, r / count[1], r % count[1]);
        sum += w->kernels->miss(samples + (size_t)(r * count[2]) * l->size,
                                w->row, rows.length, 2 * w->quantum.inverse);
    }
    return sum;
}

/* The predictions of some rows, one after the other. */
static void predict_rows(const struct bm_interp_piece *w, double *to,
                         const struct bm_lookup *l, int p,
                         const struct bm_shares *shares)
{
    const int64_t *count = l->octants->count[p];
    struct rows rows = rows_of(count, fit_samples(count));

    for (int64_t i = 0; i < rows.count; i++, to += rows.length) {
        int64_t r = row_number(&rows, i);

        if (shares->bend[0] != 0 || shares->bend[1] != 0)
            bm_interp_bend(l, p, r / count[1], r % count[1]);
        bm_interp_predict(l, w->row, p, shares, r / count[1], r % count[1]);
        w->kernels->widen(to, w->row, rows.length);
    }
}

/* What each of m weights adds to the predictions of these rows, and what is to
 * be added to a prediction without them. */
static void gather(const struct bm_interp_piece *w, struct bm_fit *f,
                   const struct bm_lookup *l, int p, int m,
                   const uint8_t *samples)
{
    const int64_t *count = l->octants->count[p];
    struct rows rows = rows_of(count, fit_samples(count));
    int32_t unit[MAX_WEIGHTS] = {0};
    struct bm_shares shares;

    bm_shares_of_weights(&shares, l->octants, p, unit);
    predict_rows(w, f->missed, l, p, &shares);
    f->count = (size_t)(rows.count * rows.length);
    for (int64_t i = 0; i < rows.count; i++)
        w->kernels->widen(f->target + i * rows.length,
                          samples + (size_t)(row_number(&rows, i) * count[2]) *
                                        l->size,
                          rows.length);
    for (size_t i = 0; i < f->count; i++)
        f->target[i] -= f->missed[i];
    for (int k = 0; k < m; k++) {
        unit[k] = WEIGHT_ONE;
        bm_shares_of_change(&shares, l->octants, p, unit);
        predict_rows(w, f->part[k], l, p, &shares);
        unit[k] = 0;
    }
    bm_fit_clean(f, m);
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

/* Weights for octant p that are worth their bits, beside what else predicts it
 * best. */
static int fit(const struct bm_interp_piece *w, struct bm_fit *f,
               const struct bm_lookup *l, int p, const uint8_t *samples,
               const struct bm_shares *best, int32_t *weights)
{
    const struct bm_octants *o = l->octants;
    struct rows rows = rows_of(o->count[p], fit_samples(o->count[p]));
    uint64_t seen = (uint64_t)(rows.count * rows.length), all = o->size[p];
    int m = bm_interp_weights(o, p);
    struct bm_shares shares;
    uint64_t off, least;

    if (all < 256)
        return 0;
    least = misses(w, l, p, samples, best, fit_samples(o->count[p]));
    if (least / 16 * all / seen < 8 * (uint64_t)m)
        return 0; /* a weight has at least 8 bits */
    gather(w, f, l, p, m, samples);
    if (!bm_fit_solve(weights, f, m, w->quantum.bound))
        return 0;
    bm_shares_of_weights(&shares, o, p, weights);
    off = misses(w, l, p, samples, &shares, fit_samples(o->count[p]));
    return off < least && (least - off) * all / seen / 16 > bits_of(weights, m);
}

/* The best of all ways to predict octant p, by some of its rows. */
void bm_interp_choose(struct bm_interp_piece *w, struct bm_fit *f,
                      const struct bm_lookup *l, int p, const uint8_t *samples,
                      struct bm_shares *shares)
{
    int32_t weights[MAX_WEIGHTS];
    uint64_t least = UINT64_MAX;
    int best = p;

    for (int choice = 1; choice < 16; choice++) {
        uint64_t off;

        if (!(choice & 7) || (choice & 7 & ~p))
            continue;
        bm_shares_of_choice(shares, choice);
        off = misses(w, l, p, samples, shares, CHOICE_SAMPLES);
        if (off < least) {
            least = off;
            best = choice;
        }
    }
    bm_shares_of_choice(shares, best);
    if (f && fit(w, f, l, p, samples, shares, weights)) {
        int m = bm_interp_weights(l->octants, p);

        bm_put_u8(&w->choices, FITTED);
        bm_put_u8(&w->choices, (uint8_t)m);
        for (int i = 0; i < m; i++)
            bm_put_u32(&w->choices, bm_fold(weights[i]));
        bm_shares_of_weights(shares, l->octants, p, weights);
    } else {
        bm_put_u8(&w->choices, (uint8_t)best);
        bm_put_u8(&w->choices, 0);
    }
}
