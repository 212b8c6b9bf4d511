/* exact_mend.c -- see exact.h: predictions mended by what was missed before.
 *
 * What is missed in a row is often like what was missed in the row above it, and
 * at the same place in the plane before, of the same octant: both are known when
 * a row is decoded. So shares of them are added, by two weights that are stored,
 * in units of 1 / WEIGHT_ONE. Where there is no such row, nothing was missed. */
#include "codec/exact.h"

static int whole(const struct bm_exact_piece *e)
{
    return e->view.kind != BM_EXACT_REALS;
}

void bm_exact_mend_begin(struct bm_exact_piece *e, const struct bm_octants *o,
                         int p, const struct bm_exact_way *way)
{
    if (way->mended)
        memset(e->missed, 0,
               (size_t)((o->count[p][1] + 1) * o->count[p][2]) * e->field.size);
}

/* Those of row y; -1 is the one before all. */
static uint8_t *missed_at(const struct bm_exact_piece *e, int64_t n, int64_t y)
{
    return e->missed + (size_t)((y + 1) * n) * e->field.size;
}

const uint8_t *bm_exact_mend(struct bm_exact_piece *e,
                             const struct bm_octants *o,
                             const struct bm_batch *b, int64_t row,
                             const struct bm_exact_way *way)
{
    int64_t n = o->count[b->p][2], y = b->y + row;
    const uint8_t *predicted = e->w.row + (size_t)(row * n) * e->field.size;
    const void *const missed[2] = {missed_at(e, n, y - 1), missed_at(e, n, y)};

    if (!way->mended)
        return predicted;
    e->view.kernels->mend(e->mended, predicted, missed, way->weight, n);
    e->view.kernels->settle(e->mended, n, whole(e));
    return e->mended;
}

void bm_exact_missed(struct bm_exact_piece *e, const struct bm_octants *o,
                     const struct bm_batch *b, int64_t row,
                     const struct bm_exact_way *way, const uint8_t *views)
{
    int64_t n = o->count[b->p][2];

    if (way->mended)
        e->view.kernels->miss(missed_at(e, n, b->y + row), views,
                              e->w.row + (size_t)(row * n) * e->field.size, n);
}

/* ---- as bits ------------------------------------------------------------ */

int bm_exact_way_get(struct bm_exact_way *way, struct bm_bit_reader *bits,
                     const struct bm_octants *o, int p)
{
    struct bm_bit_reader ahead = *bits;

    way->mended = bm_bits_get(&ahead, 4) == EXACT_MENDED;
    for (int i = 0; i < 2 && way->mended; i++) {
        uint32_t folded = bm_golomb_get(&ahead, WEIGHT_ORDER);

        if (folded > 2 * MAX_WEIGHT)
            return 0;
        way->weight[i] = (double)bm_unfold(folded) / WEIGHT_ONE;
    }
    if (way->mended)
        *bits = ahead;
    return bm_shares_get(&way->shares, bits, o, p);
}

int bm_exact_ways_skip(struct bm_bit_reader *bits, const struct bm_passes *p,
                       int k)
{
    struct bm_exact_way way;
    int ok = 1;

    for (int j = k < p->root ? k : p->count - 1; j >= k; j--)
        for (int i = 1; i < BM_OCTANTS && ok; i++)
            if (p->octants[j].size[bm_octant_order[i]])
                ok = bm_exact_way_get(&way, bits, &p->octants[j],
                                      bm_octant_order[i]);
    return ok;
}

/* ---- the best way ------------------------------------------------------- */

/* From so many samples of an octant on; and how many of them decide. */
#define MEND_LEAST   512
#define MEND_SAMPLES 1024
#define FEW_ROWS     4
/* Bits that must be saved; bytes among the choices. */
#define MEND_BITS  64
#define MEND_BYTES 10

/* Predictions of rows of octant p that follow each other in a plane, and what is
 * missed; 0 if they are before the first ones. */
static void miss_rows(struct bm_exact_piece *e, uint8_t *missed,
                      const struct bm_lookup *l, const struct bm_batch *b,
                      const struct bm_shares *shares, const uint8_t *samples)
{
    const int64_t *count = l->octants->count[b->p];
    int64_t n = b->rows * count[2];

    if (b->z < 0) {
        memset(missed, 0, (size_t)n * l->size);
        return;
    }
    if (shares->bend[0] != 0 || shares->bend[1] != 0)
        bm_interp_bend(l, b);
    bm_interp_predict(l, e->w.row, b, shares);
    e->view.kernels->settle(e->w.row, n, whole(e));
    e->view.kernels->miss(missed, samples, e->w.row, n);
}

/* Some rows, a few after each other: the samples, their predictions (term 0),
 * and what was missed in these rows (1), above them (2) and before them (3). */
static void gather(struct bm_exact_piece *e, struct bm_fit *f,
                   const struct bm_lookup *l, int p, const uint8_t *samples,
                   const struct bm_shares *shares)
{
    const int64_t *count = l->octants->count[p];
    int64_t n = count[2], few = count[1] > FEW_ROWS ? FEW_ROWS : count[1] - 1;
    int64_t blocks = (count[1] - 1) / few, places = count[0] * blocks;
    int64_t every = places * few * n / MEND_SAMPLES + 1;
    size_t row = (size_t)n * l->size, bytes = (size_t)few * row, done = 0;

    f->count = 0;
    for (int64_t i = 0; i * every < places; i++, done += bytes) {
        uint32_t hash = ((uint32_t)i + 1) * 2654435761u >> 7;
        int64_t at = i * every + hash % every;
        struct bm_batch b;
        const uint8_t *from;

        at = at < places ? at : places - 1;
        b = (struct bm_batch){p, at / blocks, at % blocks * few, few + 1};
        from = samples + (size_t)(b.z * count[1] + b.y) * row;
        if (f->count + (size_t)((few + 1) * n) > FIT_ROOM - LANES)
            break;
        miss_rows(e, f->term[2] + done, l, &b, shares, from);
        memcpy(f->samples + done, from + row, bytes);
        memcpy(f->term[0] + done, e->w.row + row, bytes);
        memcpy(f->term[1] + done, f->term[2] + done + row, bytes);
        b = (struct bm_batch){p, b.z - 1, b.y + 1, few};
        miss_rows(e, f->term[3] + done, l, &b, shares,
                  from + row - (b.z < 0 ? 0 : (size_t)count[1] * row));
        f->count += (size_t)(few * n);
    }
    l->kernels->less(f->target, f->term[1], NULL, (int64_t)f->count);
    l->kernels->less(f->part[0], f->term[2], NULL, (int64_t)f->count);
    l->kernels->less(f->part[1], f->term[3], NULL, (int64_t)f->count);
    bm_fit_clean(f, 2);
}

/* The lengths of differences, in quarters of bits. */
static uint64_t lengths(struct bm_exact_piece *e, const struct bm_fit *f,
                        const uint8_t *predicted)
{
    uint8_t *logs = e->w.symbols + e->w.done; /* not yet used */
    uint64_t sum = 0;

    e->view.kernels->code(e->folded, logs, f->samples, predicted,
                          (int64_t)f->count, whole(e), e->view.drop);
    for (size_t i = 0; i < f->count; i++)
        sum += logs[i];
    return sum;
}

/* Whether these weights are worth their bits. */
static int is_better(struct bm_exact_piece *e, const struct bm_fit *f,
                     const double weight[2], size_t all)
{
    const void *const missed[2] = {f->term[2], f->term[3]};
    uint64_t before = lengths(e, f, f->term[0]), after;

    e->view.kernels->mend(f->term[1], f->term[0], missed, weight,
                          (int64_t)f->count);
    e->view.kernels->settle(f->term[1], (int64_t)f->count, whole(e));
    after = lengths(e, f, f->term[1]);
    return after + before / 128 < before &&
           (before - after) * all / f->count / 4 > MEND_BITS;
}

/* Put the weights before the choice that begins at 'at'. */
static void put_before(struct bm_buffer *choices, size_t at,
                       const int32_t *weights)
{
    size_t bytes = choices->size - at;
    uint8_t *to = bm_buffer_extend(choices, MEND_BYTES);

    if (!to)
        return;
    to = choices->data + at;
    memmove(to + MEND_BYTES, to, bytes);
    to[0] = EXACT_MENDED;
    to[1] = 2;
    for (int i = 0; i < 2; i++)
        bm_store_u32(to + 2 + 4 * i, bm_fold(weights[i]));
}

void bm_exact_choose(struct bm_exact_piece *e, struct bm_fit *f,
                     const struct bm_lookup *l, int p, const uint8_t *samples,
                     struct bm_exact_way *way)
{
    struct bm_buffer *choices = &e->w.choices;
    size_t all = l->octants->size[p], at = choices->size;
    const int64_t *count = l->octants->count[p];
    int32_t weights[2];

    way->mended = 0;
    bm_interp_choose(&e->w, f, BM_FIT_NEAR, l, p, samples, &way->shares);
    if (all < MEND_LEAST || count[1] < 2 || (FEW_ROWS + 1) * count[2] > BATCH)
        return;
    gather(e, f, l, p, samples, &way->shares);
    if (!bm_fit_solve(weights, f, 2, e->w.quantum.bound, BM_FIT_NEAR))
        return;
    for (int i = 0; i < 2; i++)
        way->weight[i] = (double)weights[i] / WEIGHT_ONE;
    way->mended = is_better(e, f, way->weight, all);
    if (way->mended)
        put_before(choices, at, weights);
}
