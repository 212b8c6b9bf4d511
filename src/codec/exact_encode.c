/* exact_encode.c -- samples to pieces: see exact.h and codec_exact.c. */
#include "codec/exact.h"
#include "codec/values.h"

struct encoding {
    const struct bm_passes *passes;
    struct bm_exact_piece piece;
    struct bm_interp_space space;
    struct bm_fit fit;
    /* Views of each pass, sorted, the first octant being those of the next; of
     * the last one, the single sample. */
    const uint8_t *original[MAX_PASSES + 1];
    int kept;       /* some samples have no words */
    double largest; /* magnitude of a view */
    uint8_t *bits;  /* room for those beside the symbols */
    uint8_t *plain; /* room for samples of a piece */
    struct bm_exact_writer writer;
};

/* ---- octants ------------------------------------------------------------ */

/* What counts as small when predictions are compared: 1/4096 of how much
 * neighbours differ, but no less than what can be coded. */
static void choose_unit(struct encoding *e, int j)
{
    struct bm_exact_piece *w = &e->piece;
    int wide = e->piece.field.size == 8;
    size_t n = bm_interp_samples(e->passes, j), every = n / 2048 + 1, count = 0;
    double sum = 0, least, bound;

    for (size_t i = 0; i + 1 < n; i += every) {
        const uint8_t *at = e->original[j] + i * w->field.size;
        double x[2];

        for (int k = 0; k < 2; k++)
            x[k] = wide ? ((const double *)(const void *)at)[k]
                        : (double)((const float *)(const void *)at)[k];
        if (x[0] - x[0] == 0 && x[1] - x[1] == 0) {
            sum += __builtin_fabs(x[0] - x[1]);
            count++;
        }
    }
    least = w->view.kind == BM_EXACT_REALS
                ? e->largest * (wide ? 0x1p-56 : 0x1p-27)
                : 0.25;
    bound = count ? sum / (double)count * 0x1p-13 : 0;
    bound = bound > least ? bound : least;
    bound = bound > 0x1p-100 ? bound : 0x1p-100; /* of a f32, too */
    bound = bound < 0x1p100 ? bound : 0x1p100;
    w->w.quantum.bound = bound;
    w->w.quantum.step = 2 * bound;
    w->w.quantum.inverse = 1 / (2 * bound);
}

/* Samples without words are kept; others are predicted from their
 * predictions. Returns how many of 'n' there are. */
static int keep_some(struct encoding *e, uint8_t *view, uint8_t *magnitudes,
                     const uint8_t *predicted, const uint8_t *samples,
                     int64_t n)
{
    struct bm_exact_piece *w = &e->piece;
    size_t size = w->field.size;
    int kept = 0, whole = w->view.kind != BM_EXACT_REALS;

    memcpy(view, samples, (size_t)n * size);
    for (int64_t i = 0; i < n; i++) {
        size_t at = (size_t)i * size;

        if (!w->view.kernels->is_kept(samples, (size_t)i, whole))
            continue;
        bm_put_bytes(&w->w.exact, samples + at, size);
        memcpy(view + at, predicted + at, size);
        memset(w->folded + at, 0, size);
        magnitudes[i] = 255;
        kept++;
    }
    return kept;
}

/* Append the symbols of samples. */
static void put_samples(struct encoding *e, uint8_t *view, size_t index,
                        const uint8_t *predicted, const uint8_t *samples,
                        int64_t n)
{
    struct bm_exact_piece *w = &e->piece;
    const struct bm_exact_kernels *k = w->view.kernels;
    uint8_t *magnitudes = w->w.contexts.magnitudes + index;
    uint8_t *symbols = w->w.symbols + w->w.done;
    int kept = 0, whole = w->view.kind != BM_EXACT_REALS;

    k->code(w->folded, magnitudes, samples, predicted, n, whole, w->view.drop);
    if (e->kept)
        kept = keep_some(e, view, magnitudes, predicted, samples, n);
    k->put(symbols, &e->writer, w->folded, n);
    for (int64_t i = 0; i < n && kept; i++)
        if (k->is_kept(samples, (size_t)i, whole))
            symbols[i] = BM_ESCAPE;
    w->w.done += (size_t)n;
}

/* Those of a batch, row by row if predictions are mended. */
static void put_batch(struct encoding *e, const struct bm_lookup *l,
                      const struct bm_batch *b, const struct bm_exact_way *way,
                      size_t index, const uint8_t *samples)
{
    struct bm_exact_piece *w = &e->piece;
    int64_t rows = way->mended ? b->rows : 1;
    int64_t n = b->rows * l->octants->count[b->p][2] / rows;

    for (int64_t y = 0; y < rows; y++, index += (size_t)n) {
        uint8_t *view = l->sorted + index * l->size;

        put_samples(e, view, index, bm_exact_mend(w, l->octants, b, y, way),
                    samples + (size_t)(y * n) * l->size, n);
        bm_exact_missed(w, l->octants, b, y, way, view);
    }
}

static void encode_octant(struct encoding *e, const struct bm_lookup *l, int p,
                          const uint8_t *samples)
{
    struct bm_exact_piece *w = &e->piece;
    const struct bm_octants *o = l->octants;
    const int64_t *count = o->count[p];
    size_t index = o->at[p];
    struct bm_exact_way way;

    bm_exact_choose(w, &e->fit, l, p, samples, &way);
    bm_exact_mend_begin(w, o, p, &way);
    for (int64_t z = 0, y = 0; z < count[0]; z += y == count[1]) {
        struct bm_batch b;
        uint8_t *context = w->w.context + w->w.done;
        int64_t n;

        y %= count[1];
        b = bm_interp_batch(o, p, z, y, count[1]);
        n = b.rows * count[2];
        bm_exact_predict(w, l, &b, &way.shares);
        put_batch(e, l, &b, &way, index, samples);
        bm_contexts_expect(&w->w.contexts, o, &b, 0, b.rows);
        bm_exact_lengths(context, w->w.contexts.expected, n);
        y += b.rows;
        index += (size_t)n;
        samples += (size_t)n * l->size;
    }
}

static void encode_pass(struct encoding *e, int j)
{
    const struct bm_octants *o = &e->passes->octants[j];
    struct bm_exact_piece *w = &e->piece;
    const uint8_t *all = e->original[j];
    struct bm_lookup l = {o,
                          w->view.kernels->interp,
                          w->field.size,
                          all,
                          e->kept ? e->space.sorted : (uint8_t *)(uintptr_t)all,
                          w->w.bends};

    if (e->kept && !bm_values_finite(w->field.type, all, o->size[0])) {
        bm_values_clean(w->field.type, e->space.cleaned, all, o->size[0]);
        l.coarse = e->space.cleaned;
    }
    choose_unit(e, j);
    for (int i = 1; i < BM_OCTANTS; i++) {
        int p = bm_octant_order[i];

        if (o->size[p])
            encode_octant(e, &l, p, all + o->at[p] * l.size);
    }
}

/* The single sample that is left at last. */
static void encode_root(struct encoding *e)
{
    struct bm_exact_piece *w = &e->piece;

    memset(w->w.row, 0, w->field.size);
    put_samples(e, e->space.sorted, 0, w->w.row, e->original[e->passes->count],
                1);
    w->w.context[0] = 255;
}

/* ---- pieces ------------------------------------------------------------- */

/* Contexts for lengths: all but a few of them are in ranges of their own. */
static struct bm_exact_ranges choose_ranges(const uint8_t *lengths, size_t n)
{
    size_t counts[256] = {0}, few = n / 64, seen = 0;
    int low = 0, high = 255;
    struct bm_exact_ranges r;

    for (size_t i = 0; i < n; i++)
        counts[lengths[i]]++;
    for (seen = counts[low]; low < 255 && seen <= few; seen += counts[low])
        low++;
    for (seen = counts[high]; high > low && seen <= few; seen += counts[high])
        high--;
    r.low = low;
    r.step = (high - low) / EXACT_CONTEXTS + 1;
    return r;
}

static void piece_begin(struct encoding *e)
{
    struct bm_exact_piece *w = &e->piece;

    bm_buffer_clear(&w->w.choices);
    bm_buffer_clear(&w->w.exact);
    bm_buffer_clear(&w->w.coded);
    e->writer = (struct bm_exact_writer){e->bits, 0, 0};
    w->w.done = 0;
}

static int put_header(struct bm_codec_state *state, struct bm_buffer *out,
                      const struct bm_exact_piece *w, size_t beside)
{
    size_t count = w->w.exact.size / w->field.size, at;
    struct bm_bit_writer bits = {out, 0, 0};
    int rc;

    bm_put_u8(out, w->view.kind == BM_EXACT_STEPS ? EXACT_STEPS : EXACT_CODED);
    if (w->view.kind == BM_EXACT_STEPS)
        bm_put_f64(out, w->view.step);
    else
        bm_put_u8(out, (uint8_t)w->view.drop);
    bm_put_u8(out, (uint8_t)w->ranges.low);
    bm_put_u8(out, (uint8_t)w->ranges.step);
    bm_golomb_put(&bits, (uint32_t)count, 0);
    bm_shares_put(&bits, &w->w.choices);
    bm_golomb_put(&bits, (uint32_t)beside, 0);
    bm_bits_end(&bits);
    if (!count)
        return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
    at = out->size;
    bm_put_u32(out, 0);
    rc = bm_zstd_pack(state, out, w->w.exact.data, count, w->field.size);
    if (rc || out->failed)
        return BOUMA_ENOMEM;
    bm_store_u32(out->data + at, (uint32_t)(out->size - at - 4));
    return BOUMA_OK;
}

/* Append what was gathered. */
static int put_coded(struct bm_codec_state *state, struct bm_buffer *out,
                     struct encoding *e)
{
    struct bm_exact_piece *w = &e->piece;
    size_t beside = (size_t)(e->writer.p - e->bits) + (e->writer.count > 0);
    uint8_t of[256];
    int rc;

    if (w->w.choices.failed || w->w.exact.failed)
        return BOUMA_ENOMEM;
    w->ranges = choose_ranges(w->w.context, w->w.done);
    bm_exact_contexts(of, &w->ranges, NULL);
    for (size_t i = 0; i < w->w.done; i++)
        w->w.context[i] = of[w->w.context[i]];
    rc = put_header(state, out, w, beside);
    bm_put_bytes(out, e->bits, beside);
    if (rc || out->failed)
        return BOUMA_ENOMEM;
    return bm_rans_encode(out, w->w.symbols, w->w.context, w->w.done,
                          EXACT_CONTEXTS, w->w.done);
}

/* Views of the samples that the piece of level k holds. */
static const uint8_t *views_of(const struct encoding *e, int k)
{
    const struct bm_passes *p = e->passes;
    size_t kept = k < p->root ? bm_interp_samples(p, k + 1) : 0;

    return e->original[k] + kept * e->piece.field.size;
}

static int put_packed(struct bm_codec_state *state, struct bm_buffer *out,
                      struct encoding *e, const struct bm_field *f, int k)
{
    const struct bm_passes *p = e->passes;
    const struct bm_exact_view *v = &e->piece.view;
    size_t n = bm_interp_piece_samples(p, k);
    const uint8_t *from = views_of(e, k);

    if (v->kind != BM_EXACT_REALS) {
        bm_exact_from_views(v, e->plain, from, n);
        from = e->plain;
    }
    bm_put_u8(out, EXACT_PACKED);
    return bm_zstd_pack(state, out, from, n, f->size);
}

/* Whether zstd may be shorter: where values come again and again, where they have
 * nothing to do with each other, or where there are few of them. */
static int may_repeat(const struct encoding *e, size_t coded, size_t plain,
                      int k)
{
    size_t n = e->piece.w.done;

    return e->piece.view.kind == BM_EXACT_WHOLE || coded > plain / 4 * 3 ||
           n < FEW_SAMPLES ||
           (coded < plain / 2 &&
            bm_exact_come_again(views_of(e, k), n, e->piece.field.size, 16));
}

/* End the piece of level k: in the shortest way. */
static int end_piece(struct bm_codec_state *state, struct bm_buffer *out,
                     struct encoding *e, const struct bm_field *f, int k)
{
    size_t begin = out->size, plain = e->piece.w.done * f->size, coded;
    int rc = put_coded(state, out, e);

    coded = out->size - begin;
    if (rc || (coded <= plain && !may_repeat(e, coded, plain, k)))
        return rc;
    rc = put_packed(state, out, e, f, k);
    if (rc || out->failed)
        return BOUMA_ENOMEM;
    if (out->size - begin - coded < coded) {
        memmove(out->data + begin, out->data + begin + coded,
                out->size - begin - coded);
        out->size -= coded;
    } else {
        out->size = begin + coded;
    }
    return BOUMA_OK;
}

static uint32_t *size_of_piece(uint32_t *sizes, const struct bm_passes *p,
                               int k)
{
    return &sizes[k < p->root ? k : p->coarsest];
}

static int encode_pieces(struct bm_codec_state *state, struct bm_buffer *out,
                         uint32_t *sizes, const struct bm_field *f,
                         struct encoding *e)
{
    const struct bm_passes *p = e->passes;
    int rc = BOUMA_OK;

    piece_begin(e);
    encode_root(e);
    for (int j = p->count; j >= 0 && !rc; j--) {
        size_t begin = out->size;

        if (j < p->root)
            piece_begin(e);
        if (j < p->count)
            encode_pass(e, j);
        if (j <= p->root) {
            rc = end_piece(state, out, e, f, j);
            *size_of_piece(sizes, p, j) = (uint32_t)(out->size - begin);
        }
    }
    return rc;
}

/* ---- chunks ------------------------------------------------------------- */

static void sort_all(struct encoding *e, uint8_t *to, const void *dense,
                     size_t size)
{
    const struct bm_passes *p = e->passes;

    for (int j = 0; j < p->count; j++) {
        e->original[j] = to;
        bm_octants_split(&p->octants[j], size, to, dense);
        dense = to;
        to += bm_interp_samples(p, j) * size;
    }
    e->original[p->count] = dense;
}

/* Whole numbers that are too large are not predicted. */
static int pack_all(struct bm_codec_state *state, struct bm_buffer *out,
                    uint32_t *sizes, const struct bm_field *f,
                    struct encoding *e)
{
    const struct bm_passes *p = e->passes;
    int rc = BOUMA_OK;

    e->piece.view.kind = BM_EXACT_REALS; /* as they are */
    for (int k = p->root; k >= 0 && !rc; k--) {
        size_t begin = out->size;

        rc = put_packed(state, out, e, f, k);
        *size_of_piece(sizes, p, k) = (uint32_t)(out->size - begin);
    }
    return rc;
}

struct memory {
    uint8_t *sorted, *views;
};

static void lay_out(struct bm_carver *c, struct encoding *e, struct memory *m)
{
    size_t size = e->piece.field.size, fit = FIT_ROOM * sizeof(double);
    size_t n = bm_interp_samples(e->passes, 0), all = 0;

    for (int j = 0; j < e->passes->count; j++)
        all += bm_interp_samples(e->passes, j) * size;
    bm_exact_lay_out(c, &e->space, &e->piece, e->passes, 0);
    e->fit.target = bm_carve(c, fit);
    e->fit.weight = bm_carve(c, fit);
    e->fit.missed = bm_carve(c, fit);
    for (int i = 0; i < MAX_WEIGHTS; i++)
        e->fit.part[i] = bm_carve(c, fit);
    e->fit.samples = bm_carve(c, FIT_ROOM * size);
    for (int i = 0; i <= MAX_WEIGHTS; i++)
        e->fit.term[i] = bm_carve(c, FIT_ROOM * size);
    e->bits = bm_carve(c, n * size + 16);
    e->plain = bm_carve(c, n * size);
    m->views = bm_carve(c, n * size);
    m->sorted = bm_carve(c, all);
}

int bm_exact_encode(struct bm_codec_state *state, struct bm_buffer *out,
                    uint32_t *sizes, struct bm_loss *loss,
                    const struct bm_field *f, const void *samples)
{
    size_t n = (size_t)bm_lattice_samples(&f->lattice[0]);
    struct bm_exact_view view = bm_exact_view_of(f->type);
    struct bm_carver c = {NULL, 0};
    const void *views = samples;
    struct bm_passes p;
    struct encoding e = {.passes = &p};
    struct memory m;
    int rc, good = 1;

    (void)loss;
    memset(sizes, 0, sizeof(*sizes) * (size_t)f->levels);
    if (!n)
        return BOUMA_OK;
    bm_interp_passes(&p, f);
    if (view.kind == BM_EXACT_REALS) {
        view.step = bm_exact_step(f->type, samples, n);
        if (view.step > 0)
            view.kind = BM_EXACT_STEPS;
        else
            view.drop = view.kernels->unused_bits(samples, n);
    }
    bm_exact_piece_init(&e.piece, f, &view, state->a);
    lay_out(&c, &e, &m);
    c.at = bm_codec_work(state, c.bytes);
    if (!c.at)
        return BOUMA_ENOMEM;
    c.bytes = 0;
    lay_out(&c, &e, &m);
    bm_contexts_init(&e.piece.w.contexts, NULL);
    if (view.kind != BM_EXACT_REALS) {
        good = bm_exact_to_views(&view, m.views, samples, n);
        views = good ? m.views : samples;
    }
    e.kept =
        good && view.kernels->any_kept(views, n, view.kind != BM_EXACT_REALS);
    sort_all(&e, m.sorted, views, good ? e.piece.field.size : f->size);
    if (good) {
        if (e.kept && view.kind == BM_EXACT_REALS) {
            bm_values_clean(f->type, m.views, samples, n);
            views = m.views;
        }
        e.largest = bm_values_largest(e.piece.field.type, views, n);
        rc = encode_pieces(state, out, sizes, f, &e);
    } else {
        rc = pack_all(state, out, sizes, f, &e);
    }
    bm_interp_piece_release(&e.piece.w);
    return rc ? rc : out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}
