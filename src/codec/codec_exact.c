/* codec_exact.c -- each level predicted from the next coarser one, as codec
 * interp does it, and every bit kept.
 *
 * Samples are seen as f32 or f64: floating-point numbers as they are, whole
 * numbers of up to two bytes as f32, longer ones as f64. If floating-point
 * numbers are all whole numbers of some step, these take their place
 * (exact_views.c). What is predicted becomes such a number, too, and may be mended
 * by what was missed before (exact_mend.c). A number has a
 * word, so that larger numbers have larger words; the difference between the
 * words of sample and prediction is folded and becomes a symbol, with bits that
 * are kept as they are:
 *
 *     f32    0 ... 15   one each          16-23  24-31  32-47 ...  two an octave
 *     f64    0 ...  7   one each           8-15  16-31  32-63 ...  one an octave
 *
 * Symbols go to the range coder. Their contexts are how long a difference is
 * likely to be: what is expected of its magnitude, as interp_context.c has it,
 * over what the last bit of the prediction counts. So near 0, where words are
 * dense, long ones are expected.
 *
 * Numbers that are not finite are kept as they are; so is -0 among whole numbers
 * of steps. So is what would not be shorter, by zstd. Values of particles are
 * coded otherwise (exact_list.c). */
#include "codec/exact.h"
#include "codec/values.h"

/* What is known of a piece while it is being read. */
struct reading {
    struct bm_exact_piece piece;
    const struct bm_passes *passes;
    struct bm_interp_space space;
    int k; /* the level, or the pass that is the root */
    struct bm_rans_decoder *rans;
    struct bm_bit_reader choices;
    struct bm_exact_reader bits;
    uint8_t of[256]; /* tables of lengths */
    uint8_t *views;  /* of the level; where they are not the samples */
    uint8_t *exact;  /* [exact_count] samples */
    size_t exact_count, exact_used;
    int failed;
};

/* Samples that were kept: for now, their predictions. */
static void keep_some(struct reading *r, uint8_t *views, const uint8_t *row,
                      const uint8_t *symbols, int64_t n, size_t index)
{
    struct bm_exact_piece *w = &r->piece;
    size_t size = w->field.size;

    for (int64_t i = 0; i < n; i++) {
        if (symbols[i] != BM_ESCAPE)
            continue;
        memcpy(views + (size_t)i * size, row + (size_t)i * size, size);
        w->w.contexts.magnitudes[index + (size_t)i] = 255;
        bm_put_u32(&w->w.where, (uint32_t)(index + (size_t)i));
        r->exact_used++;
    }
}

/* Samples that are predicted in 'row', their symbols being known. */
static void get_samples(struct reading *r, uint8_t *views, const uint8_t *row,
                        int64_t n, size_t index)
{
    struct bm_exact_piece *w = &r->piece;
    const struct bm_exact_kernels *k = w->view.kernels;
    const uint8_t *symbols = w->w.symbols;

    k->get(w->folded, &r->bits, symbols, n);
    k->rebuild(views, w->w.contexts.magnitudes + index, w->folded, row, n,
               w->view.kind != BM_EXACT_REALS, w->view.drop);
    if (memchr(symbols, BM_ESCAPE, (size_t)n))
        keep_some(r, views, row, symbols, n, index);
}

static void decode_batch(struct reading *r, const struct bm_lookup *l,
                         const struct bm_batch *b,
                         const struct bm_exact_way *way, size_t index)
{
    struct bm_exact_piece *w = &r->piece;
    const struct bm_contexts *c = &w->w.contexts;
    int64_t n = l->octants->count[b->p][2];

    for (int64_t y = 0; y < b->rows; y++, index += (size_t)n) {
        uint8_t *context = w->w.context, *views = l->sorted + index * l->size;

        bm_contexts_expect(c, l->octants, b, y, 1);
        bm_exact_lengths(context, c->expected, n);
        for (int64_t i = 0; i < n; i++)
            context[i] = r->of[context[i]];
        bm_rans_next(r->rans, w->w.symbols, context, (size_t)n);
        get_samples(r, views, bm_exact_mend(w, l->octants, b, y, way), n,
                    index);
        bm_exact_missed(w, l->octants, b, y, way, views);
    }
}

static void decode_octant(struct reading *r, const struct bm_lookup *l, int p)
{
    const struct bm_octants *o = l->octants;
    const int64_t *count = o->count[p];
    struct bm_exact_piece *w = &r->piece;
    const struct bm_exact_kernels *k = w->view.kernels;
    size_t index = o->at[p];
    struct bm_exact_way way;

    if (!bm_exact_way_get(&way, &r->choices, o, p)) {
        r->failed = 1;
        return;
    }
    bm_exact_mend_begin(w, o, p, &way);
    for (int64_t z = 0, y = 0; z < count[0]; z += y == count[1]) {
        struct bm_batch b;

        y %= count[1];
        b = bm_interp_batch(o, p, z, y, count[1]);
        bm_exact_predict(w, l, &b, &way.shares);
        decode_batch(r, l, &b, &way, index);
        y += b.rows;
        index += (size_t)(b.rows * count[2]);
    }
    if (w->view.kind != BM_EXACT_REALS)
        r->failed |= !k->are_whole(l->sorted + o->at[p] * l->size, o->size[p]);
    else
        r->failed |= !bm_values_finite(k->type, l->sorted + o->at[p] * l->size,
                                       o->size[p]);
}

static void decode_pass(struct reading *r, int j, const uint8_t *coarse)
{
    const struct bm_interp_space *s = &r->space;
    const struct bm_octants *o = &r->passes->octants[j];
    struct bm_exact_piece *w = &r->piece;
    struct bm_lookup l = {
        o,         w->view.kernels->interp, w->field.size, coarse, s->sorted,
        w->w.bends};

    if (!bm_values_finite(w->field.type, coarse, o->size[0])) {
        bm_values_clean(w->field.type, s->cleaned, coarse, o->size[0]);
        l.coarse = s->cleaned;
    }
    bm_buffer_clear(&w->w.where);
    for (int i = 1; i < BM_OCTANTS && !r->failed; i++)
        if (o->size[bm_octant_order[i]])
            decode_octant(r, &l, bm_octant_order[i]);
    r->failed |= r->exact_used > r->exact_count;
    if (w->w.where.size && !w->w.where.failed && !r->failed)
        bm_interp_restore(
            s->sorted, &w->w.where,
            r->exact + (r->exact_used - w->w.where.size / 4) * l.size, l.size);
}

static void decode_root(struct reading *r, uint8_t *view)
{
    struct bm_exact_piece *w = &r->piece;

    memset(w->w.row, 0, w->field.size);
    bm_rans_next(r->rans, w->w.symbols, &r->of[255], 1);
    get_samples(r, view, w->w.row, 1, 0);
    r->failed |= r->exact_used > r->exact_count;
    if (r->exact_used && !r->failed)
        memcpy(view, r->exact, w->field.size);
    else if (w->view.kind != BM_EXACT_REALS)
        r->failed |= !w->view.kernels->are_whole(view, 1);
    else
        r->failed |= !bm_values_finite(w->field.type, view, 1);
}

/* ---- pieces ------------------------------------------------------------- */

/* Everything of a coded piece that comes before its symbols. */
static int begin_reading(struct bm_codec_state *state, struct reading *r,
                         struct bm_cursor *in)
{
    struct bm_exact_piece *w = &r->piece;
    size_t n = bm_interp_piece_samples(r->passes, r->k), bytes;
    struct bm_bit_reader bits;
    const uint8_t *data;
    int rc = BOUMA_OK, ok;

    w->ranges.low = bm_get_u8(in);
    w->ranges.step = bm_get_u8(in);
    if (in->failed || w->ranges.step < 1 || w->ranges.step > EXACT_MOST_STEP)
        return BOUMA_EFORMAT;
    bits = bm_bit_reader_of(in->p, bm_cursor_left(in));
    r->exact_count = bm_golomb_get(&bits, 0);
    r->choices = bits;
    ok = bm_exact_ways_skip(&bits, r->passes, r->k);
    bytes = bm_golomb_get(&bits, 0);
    in->p = bits.p - bits.count / 8; /* whole bytes that were not needed */
    if (bits.failed || !ok || r->exact_count > n ||
        (r->exact_count && w->view.kind == BM_EXACT_WHOLE))
        return BOUMA_EFORMAT;
    if (r->exact_count) {
        size_t packed = bm_get_u32(in);

        data = bm_get_bytes(in, packed);
        rc = data ? bm_zstd_unpack(state, r->exact, r->exact_count,
                                   w->field.size, data, packed)
                  : BOUMA_EFORMAT;
        if (!rc && w->view.kind == BM_EXACT_STEPS &&
            !w->view.kernels->are_whole(r->exact, r->exact_count))
            rc = BOUMA_EFORMAT;
    }
    data = rc ? NULL : bm_get_bytes(in, bytes);
    if (!data)
        return rc ? rc : BOUMA_EFORMAT;
    r->bits = (struct bm_exact_reader){data, bytes, 0};
    rc = bm_rans_begin(r->rans, in->p, bm_cursor_left(in), n, EXACT_CONTEXTS);
    if (!rc) {
        bm_contexts_init(&w->w.contexts, NULL);
        bm_exact_contexts(r->of, &w->ranges, r->rans->table);
    }
    return rc;
}

/* Whether everything was used and nothing was missing. */
static int reading_ended(const struct reading *r)
{
    return !r->failed && (r->bits.at + 7) / 8 == r->bits.bytes &&
           r->exact_used == r->exact_count && bm_rans_ended(r->rans);
}

/* To the views of the level, which may be its samples. */
static int decode_views(struct bm_codec_state *state, struct reading *r,
                        uint8_t *views, const void *coarse,
                        struct bm_cursor *in)
{
    const struct bm_passes *p = r->passes;
    const struct bm_interp_space *s = &r->space;
    int k = r->k, last = k < p->root ? k : p->count - 1, now = 0;
    size_t size = r->piece.field.size;
    int rc = begin_reading(state, r, in);

    if (rc)
        return rc;
    if (k == p->root) {
        decode_root(r, k < p->count ? s->dense[0] : views);
        coarse = s->dense[0];
    }
    for (int j = last; j >= k && !r->failed; j--) {
        uint8_t *to = j > k ? s->dense[!now] : views;

        decode_pass(r, j, coarse);
        bm_octants_merge_with(&p->octants[j], size, to, s->sorted, coarse);
        coarse = to;
        now = !now;
    }
    if (r->piece.w.where.failed)
        return BOUMA_ENOMEM;
    return reading_ended(r) ? BOUMA_OK : BOUMA_EFORMAT;
}

static int decode_coded(struct bm_codec_state *state, struct reading *r,
                        void *samples, const void *coarse, struct bm_cursor *in)
{
    const struct bm_exact_view *v = &r->piece.view;
    const struct bm_passes *p = r->passes;
    int rc;

    if (v->kind == BM_EXACT_REALS)
        return decode_views(state, r, samples, coarse, in);
    if (r->k < p->root) {
        if (!bm_exact_to_views(v, r->space.dense[0], coarse,
                               bm_interp_samples(p, r->k + 1)))
            return BOUMA_EFORMAT;
        coarse = r->space.dense[0];
    }
    rc = decode_views(state, r, r->views, coarse, in);
    if (!rc)
        bm_exact_from_views(v, samples, r->views, bm_interp_samples(p, r->k));
    return rc;
}

static void lay_out(struct bm_carver *c, struct reading *r)
{
    size_t size = r->piece.field.size;

    c->bytes = 0;
    bm_exact_lay_out(c, &r->space, &r->piece, r->passes, r->k);
    r->exact = bm_carve(c, bm_interp_piece_samples(r->passes, r->k) * size);
    r->views = r->piece.view.kind == BM_EXACT_REALS
                   ? NULL
                   : bm_carve(c, bm_interp_samples(r->passes, r->k) * size);
    r->rans = bm_carve(c, sizeof(*r->rans));
}

/* The form, and what samples are by it. */
static int get_view(struct bm_exact_view *v, bouma_type type,
                    struct bm_cursor *c, int *form)
{
    *v = bm_exact_view_of(type);
    *form = bm_get_u8(c);
    if (*form == EXACT_STEPS) {
        if (v->kind != BM_EXACT_REALS)
            return BOUMA_EFORMAT;
        v->kind = BM_EXACT_STEPS;
        v->step = bm_get_f64(c);
        if (!(v->step > 0x1p-100 && v->step < 0x1p100))
            return BOUMA_EFORMAT;
    } else if (*form == EXACT_CODED) {
        v->drop = bm_get_u8(c);
        if (v->drop > v->kernels->fraction ||
            (v->drop && v->kind != BM_EXACT_REALS))
            return BOUMA_EFORMAT;
    }
    return c->failed || *form > EXACT_STEPS ? BOUMA_EFORMAT : BOUMA_OK;
}

static int decode_field(struct bm_codec_state *state, void *samples,
                        const void *coarse, const struct bm_field *f,
                        const struct bm_coded_level *piece)
{
    struct bm_cursor c = bm_cursor_of(piece->data, piece->bytes);
    struct bm_carver memory = {NULL, 0};
    struct bm_exact_view view;
    struct bm_passes p;
    struct reading r;
    int k = piece->level, form, rc;

    if (!bm_lattice_samples(&f->lattice[k]))
        return piece->bytes ? BOUMA_EFORMAT : BOUMA_OK;
    bm_interp_passes(&p, f);
    if (k >= p.root && k < p.coarsest) {
        memcpy(samples, coarse, f->size);
        return piece->bytes ? BOUMA_EFORMAT : BOUMA_OK;
    }
    rc = get_view(&view, f->type, &c, &form);
    if (rc)
        return rc;
    memset(&r, 0, sizeof(r));
    r.passes = &p;
    r.k = k < p.root ? k : p.root;
    bm_exact_piece_init(&r.piece, f, &view, state->a);
    lay_out(&memory, &r); /* to count */
    memory.at = bm_codec_work(state, memory.bytes);
    if (!memory.at)
        return BOUMA_ENOMEM;
    lay_out(&memory, &r);
    rc = form == EXACT_PACKED ? bm_interp_unpack(state, &r.space, &p, r.k,
                                                 f->size, samples, coarse, &c)
                              : decode_coded(state, &r, samples, coarse, &c);
    bm_interp_piece_release(&r.piece.w);
    return rc;
}

static size_t bound(size_t bytes)
{
    return bytes;
}

/* A byte for the form, and as many bytes as the samples have at most; for each
 * of 256 components. */
static int plausible(size_t bytes, size_t stored)
{
    return bytes ? stored >= 2 && stored <= bytes + 5 * 256 : stored == 0;
}

const struct bm_codec bm_codec_exact = {.name = "exact",
                                        .uses = BM_FOR_FIELDS | BM_FOR_LISTS,
                                        .bound = bound,
                                        .plausible = plausible,
                                        .encode_field = bm_exact_encode,
                                        .decode_field = decode_field,
                                        .encode_list = bm_exact_encode_list,
                                        .decode_list = bm_exact_decode_list};
