/* exact_predict.c -- see exact.h: all that encoder and decoder must do alike. */
#include "codec/clones.h"
#include "codec/exact.h"

#define REAL       float
#define NAME(x)    x##_f32
#define ABS        __builtin_fabsf
#define WORD       uint32_t
#define SIGNED     int32_t
#define BITS       32
#define FRACTION   23
#define BOUMA_TYPE BOUMA_TYPE_F32
#include "codec/exact_rows.h"
#undef REAL
#undef NAME
#undef ABS
#undef WORD
#undef SIGNED
#undef BITS
#undef FRACTION
#undef BOUMA_TYPE
#define REAL       double
#define NAME(x)    x##_f64
#define ABS        __builtin_fabs
#define WORD       uint64_t
#define SIGNED     int64_t
#define BITS       64
#define FRACTION   52
#define BOUMA_TYPE BOUMA_TYPE_F64
#include "codec/exact_rows.h"

/* ---- contexts ----------------------------------------------------------- */

BM_CLONES void bm_exact_lengths(uint8_t *restrict lengths,
                                const uint16_t *restrict expected, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        lengths[i] = (uint8_t)(expected[i] >> 2);
}

void bm_exact_contexts(uint8_t of[256], const struct bm_exact_ranges *r,
                       const uint8_t *table)
{
    for (int i = 0; i < 256; i++) {
        int c = i < r->low ? 0 : (i - r->low) / r->step;

        c = c < EXACT_CONTEXTS ? c : EXACT_CONTEXTS - 1;
        of[i] = table ? table[c] : (uint8_t)c;
    }
}

/* The sum of logarithms of bends, and how many they are. */
static int log_bends(struct bm_exact_piece *e, const struct bm_lookup *l,
                     const struct bm_batch *b, int bends)
{
    const struct bm_exact_kernels *k = e->view.kernels;
    struct bm_contexts *c = &e->w.contexts;
    int64_t n = b->rows * l->octants->count[b->p][2];
    int whole = e->view.kind != BM_EXACT_REALS;

    bm_interp_predict(l, c->along_row, b, &c->along[b->p >> 1]);
    k->logs(c->beside, e->w.row, c->along_row, n, whole, e->view.drop);
    if (bends)
        k->add_logs(c->beside, e->w.row, l->bends[0], l->bends[bends - 1], n,
                    whole, e->view.drop);
    return bends ? 3 : 2;
}

void bm_exact_predict(struct bm_exact_piece *e, const struct bm_lookup *l,
                      const struct bm_batch *b, const struct bm_shares *shares)
{
    int64_t n = b->rows * l->octants->count[b->p][2];
    int one = bm_is_odd_along_one(b->p), parts = 0;
    int bends = one ? bm_interp_bend(l, b) : 0;

    bm_interp_predict(l, e->w.row, b, shares);
    e->view.kernels->settle(e->w.row, n, e->view.kind != BM_EXACT_REALS);
    if (one)
        parts = log_bends(e, l, b, bends);
    bm_contexts_mix(&e->w.contexts, l->octants, b, parts);
}

/* ---- memory ------------------------------------------------------------- */

void bm_exact_piece_init(struct bm_exact_piece *e, const struct bm_field *f,
                         const struct bm_exact_view *view,
                         const bouma_allocator *a)
{
    e->view = *view;
    e->field = *f;
    e->field.type = view->kernels->type;
    e->field.size = view->kernels->size;
    bm_interp_piece_init(&e->w, &e->field, a);
}

void bm_exact_lay_out(struct bm_carver *c, struct bm_interp_space *s,
                      struct bm_exact_piece *e, const struct bm_passes *p,
                      int first)
{
    size_t row = first < p->count ? (size_t)p->octants[first].n[2] : 1;
    size_t rows = first < p->count ? (size_t)p->octants[first].n[1] : 1;
    size_t batch = row > BATCH ? row : BATCH;
    size_t plane = (rows / 2 + 2) * (row / 2 + 1);

    bm_interp_lay_out(c, s, &e->w, p, first, e->field.size);
    e->folded = bm_carve(c, batch * e->field.size);
    e->mended = bm_carve(c, row * e->field.size);
    e->missed = bm_carve(c, plane * e->field.size);
}
