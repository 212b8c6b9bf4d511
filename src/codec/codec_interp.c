/* codec_interp.c -- each level predicted from the next coarser one by
 * interpolation, and what is missing rounded to multiples of a step.
 *
 * The samples of a level are sorted into octants (octants.h). Octant 0 is the
 * coarser level, already decoded. The others are predicted along the axes in
 * which they are odd, from octants that come before them:
 *
 *     0 1 0 1 0     1 from the 0 at its left and right
 *     2 3 2 3 2     2 from the 0 above and below
 *     0 1 0 1 0     3 from the 2 at its left and right, the 1 above and below
 *
 * by cubics through four samples, or lines through two; which of the axes are
 * used (their mean is taken) is chosen for each octant, or it has weights that
 * were fitted to its samples (interp_fit.c), which diagonal neighbours have,
 * too. The difference to the
 * sample is divided by twice the bound and rounded to an integer, so no error
 * is larger than the bound. What does not fit (NaN, far outliers, rounding) is
 * kept as it is. The integers go to the range coder, with tables by how large
 * they are likely to be (interp_context.c).
 *
 * The coarsest level goes on in the same way down to a single sample.
 *
 * Where codec exact is shorter, all pieces of a chunk are its: if values lie on a
 * lattice that is coarser than the bound, say. */
#include <string.h>

#include "codec/clones.h"
#include "codec/interp.h"
#include "codec/values.h"

/* The integers of symbols that have no further bits, and the logarithms of
 * their magnitudes. */
BM_CLONES static void get_small(int32_t *restrict codes,
                                uint8_t *restrict magnitudes,
                                const uint8_t *restrict symbols, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t half = (symbols[i] + 1) >> 1, sign = (symbols[i] & 1) - 1;

        codes[i] = (half ^ sign) - sign;
        magnitudes[i] = bm_interp_log((float)half);
    }
}

/* The integers of symbols; returns 1 if there are samples that are kept. */
static int get_symbols(struct bm_bit_reader *bits, int32_t *codes,
                       uint8_t *magnitudes, const uint8_t *symbols, int64_t n)
{
    int kept = 0;

    get_small(codes, magnitudes, symbols, n);
    for (int64_t i = 0; i < n; i++) {
        if (i + 8 <= n && bm_symbols_are_direct(symbols + i)) {
            i += 7;
            continue;
        }
        if (symbols[i] < BM_DIRECT_SYMBOLS)
            continue;
        if (symbols[i] == BM_ESCAPE) {
            codes[i] = NO_CODE;
            magnitudes[i] = bm_interp_log(MOST_MAGNITUDE);
            kept = 1;
        } else {
            uint32_t folded = bm_symbol_get(bits, symbols[i]);
            uint32_t q = (folded + 1) / 2;

            codes[i] = bm_unfold(folded);
            magnitudes[i] =
                bm_interp_log((float)(q < MOST_MAGNITUDE ? q : MOST_MAGNITUDE));
        }
    }
    return kept;
}

/* What is known of a piece while it is being read. */
struct reading {
    struct bm_interp_piece w;
    const struct bm_passes *passes;
    struct bm_interp_space space;
    int k; /* the level, or the pass that is the root */
    struct bm_rans_decoder *rans;
    int how, order;
    struct bm_bit_reader choices;
    uint8_t *exact; /* [exact_count] samples */
    size_t exact_count, exact_used;
    const struct bm_window *wanted; /* of the pass; NULL: all */
    int failed;
};

/* Integers without the range coder. Samples that are kept have NO_CODE. Returns
 * 1 if there are any. */
static int get_row(struct reading *r, int32_t *codes, int64_t n)
{
    struct bm_interp_piece *w = &r->w;
    int kept = 0;

    if (r->how == HOW_ZERO) {
        memset(codes, 0, (size_t)n * sizeof(*codes));
        return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        uint32_t value = bm_golomb_get(&w->reader, r->order);

        codes[i] = value > BM_FOLDED_LIMIT ? 0 : bm_unfold(value - 1);
        r->failed |= value > BM_FOLDED_LIMIT;
        if (!value)
            codes[i] = NO_CODE;
        kept |= !value;
    }
    return kept;
}

/* Samples that were kept: for now, what others are predicted from; nothing in
 * rows that do not matter. */
static void keep_rows(struct reading *r, uint8_t *decoded, int64_t n,
                      size_t index)
{
    struct bm_interp_piece *w = &r->w;
    size_t size = w->field->size;

    for (int64_t i = 0; i < n; i++) {
        if (w->codes[i] != NO_CODE)
            continue;
        if (r->exact_used == r->exact_count) {
            r->failed = 1;
            return;
        }
        if (decoded) {
            memcpy(decoded + (size_t)i * size, w->row + (size_t)i * size, size);
            w->kernels->set_value(decoded, i, r->exact + r->exact_used * size);
        }
        r->exact_used++;
        bm_put_u32(&w->where, (uint32_t)(index + (size_t)i));
    }
}

/* Which rows of plane z of octant p matter for what is wanted: a sample is
 * predicted from those up to 5 away, along one axis after the other. */
static void rows_that_matter(const struct reading *r, const int64_t *count,
                             int p, int64_t z, int64_t *begin, int64_t *end)
{
    const struct bm_window *w = r->wanted;
    int64_t at = 2 * z + (p >> 2 & 1), odd = p >> 1 & 1, low, high;

    *begin = 0;
    *end = count[1];
    if (!w)
        return;
    low = (w->lo[1] - 5 - odd + 1) / 2;
    high = (w->hi[1] + 5 - odd + 1) / 2;
    if (low > 0)
        *begin = low;
    if (high < count[1])
        *end = high;
    if (at < w->lo[0] - 5 || at >= w->hi[0] + 5 || *end < *begin)
        *end = *begin = 0;
}

/* Whether all integers of the next row are 0, if a symbol tells. */
static int row_is_zero(struct reading *r, int64_t n)
{
    uint8_t any;

    if (!r->w.row_symbols || n < LONG_ROW ||
        !bm_contexts_are_lowest(r->w.contexts.expected, n))
        return 0;
    bm_rans_next(r->rans, &any, &r->rans->table[ROW_CONTEXT], 1);
    r->failed |= any > 1;
    return !any;
}

/* The integers of a batch, its samples beginning at 'index'. Returns 1 if some
 * are kept. */
static int decode_codes(struct reading *r, const struct bm_lookup *l,
                        const struct bm_batch *b, int bends, size_t index)
{
    int64_t n = l->octants->count[b->p][2];
    struct bm_interp_piece *w = &r->w;
    int kept = 0;

    if (r->how != HOW_RANS)
        return get_row(r, w->codes, b->rows * n);
    bm_contexts_begin(&w->contexts, l, b, bends, &w->quantum);
    for (int64_t y = 0; y < b->rows; y++, index += (size_t)n) {
        bm_contexts_expect(&w->contexts, l->octants, b, y, 1);
        if (row_is_zero(r, n)) {
            memset(w->codes + y * n, 0, (size_t)n * sizeof(*w->codes));
            memset(w->contexts.magnitudes + index, 0, (size_t)n);
            continue;
        }
        bm_contexts_look_up(&w->contexts, w->context, w->contexts.expected, n);
        bm_rans_next(r->rans, w->symbols, w->context, (size_t)n);
        kept |= get_symbols(&w->reader, w->codes + y * n,
                            w->contexts.magnitudes + index, w->symbols, n);
    }
    return kept;
}

static void decode_octant(struct reading *r, const struct bm_lookup *l, int p)
{
    const struct bm_octants *o = l->octants;
    const int64_t *count = o->count[p];
    struct bm_interp_piece *w = &r->w;
    size_t index = o->at[p];
    struct bm_shares shares;

    if (!bm_shares_get(&shares, &r->choices, o, p)) {
        r->failed = 1;
        return;
    }
    for (int64_t z = 0, y = 0; z < count[0]; z += y == count[1]) {
        int64_t begin, end;
        struct bm_batch b;
        int bends = 0, kept;
        uint8_t *decoded = NULL;

        y %= count[1];
        rows_that_matter(r, count, p, z, &begin, &end);
        b = bm_interp_batch(o, p, z, y,
                            y < begin ? begin
                            : y < end ? end
                                      : count[1]);
        if (bm_is_odd_along_one(p))
            bends = bm_interp_bend(l, &b);
        kept = decode_codes(r, l, &b, bends, index);
        if (y >= begin && y < end) {
            decoded = l->sorted + index * l->size;
            bm_interp_predict(l, w->row, &b, &shares);
            w->kernels->rebuild(decoded, w->codes, w->row, b.rows * count[2],
                                &w->quantum);
        }
        if (kept)
            keep_rows(r, decoded, b.rows * count[2], index);
        y += b.rows;
        index += (size_t)(b.rows * count[2]);
    }
}

static void decode_pass(struct reading *r, int j, const uint8_t *coarse)
{
    const struct bm_interp_space *s = &r->space;
    const struct bm_octants *o = &r->passes->octants[j];
    struct bm_interp_piece *w = &r->w;
    struct bm_lookup l = {o,      w->kernels, w->field->size,
                          coarse, s->sorted,  w->bends};

    if (!bm_values_finite(w->field->type, coarse, o->size[0])) {
        bm_values_clean(w->field->type, s->cleaned, coarse, o->size[0]);
        l.coarse = s->cleaned;
    }
    bm_buffer_clear(&w->where);
    for (int i = 1; i < BM_OCTANTS && !r->failed; i++)
        if (o->size[bm_octant_order[i]])
            decode_octant(r, &l, bm_octant_order[i]);
    if (w->where.size && !w->where.failed && !r->failed)
        bm_interp_restore(
            s->sorted, &w->where,
            r->exact + (r->exact_used - w->where.size / 4) * l.size, l.size);
}

static void decode_root(struct reading *r, uint8_t *decoded)
{
    struct bm_interp_piece *w = &r->w;

    int kept;

    memset(w->row, 0, w->field->size);
    if (r->how == HOW_RANS) {
        bm_rans_next(r->rans, w->symbols, &r->rans->table[CONTEXTS - 1], 1);
        kept = get_symbols(&w->reader, w->codes, w->contexts.magnitudes,
                           w->symbols, 1);
    } else {
        kept = get_row(r, w->codes, 1);
    }
    if (kept) {
        keep_rows(r, decoded, 1, 0);
        if (!r->failed)
            memcpy(decoded, r->exact, w->field->size);
    } else {
        w->kernels->rebuild(decoded, w->codes, w->row, 1, &w->quantum);
    }
}

/* The bits before all else: gives the bytes beside the symbols. */
static size_t get_header(struct reading *r, struct bm_cursor *in)
{
    struct bm_bit_reader bits = bm_bit_reader_of(in->p, bm_cursor_left(in));
    size_t beside = 0;
    uint32_t finer;

    r->how = (int)bm_bits_get(&bits, 2);
    finer = bm_golomb_get(&bits, 0);
    if (finer > MAX_FINER)
        r->failed = 1;
    else
        r->w.quantum = bm_interp_quantum(r->w.field, (int)finer);
    r->failed |= !bm_interp_can_quantise(r->w.field, &r->w.quantum);
    r->exact_count = bm_golomb_get(&bits, 0);
    r->choices = bits;
    r->failed |= !bm_shares_skip(&bits, r->passes, r->k);
    if (r->how == HOW_GOLOMB)
        r->order = (int)bm_bits_get(&bits, 4);
    else if (r->how == HOW_RANS)
        beside = bm_golomb_get(&bits, 0);
    in->p = bits.p - bits.count / 8; /* whole bytes that were not needed */
    r->failed |= bits.failed;
    return beside;
}

/* Everything of a coded piece that comes before its integers. */
static int begin_reading(struct bm_codec_state *state, struct reading *r,
                         struct bm_cursor *in)
{
    struct bm_interp_piece *w = &r->w;
    size_t n = bm_interp_piece_samples(r->passes, r->k), bytes;
    size_t beside = get_header(r, in);
    const uint8_t *data;
    int rc = BOUMA_OK;

    if (r->failed || r->how > HOW_RANS || r->exact_count > n)
        return BOUMA_EFORMAT;
    if (r->exact_count) {
        bytes = bm_get_u32(in);
        data = bm_get_bytes(in, bytes);
        rc = data ? bm_zstd_unpack(state, r->exact, r->exact_count,
                                   w->field->size, data, bytes)
                  : BOUMA_EFORMAT;
    }
    if (rc)
        return rc;
    if (r->how == HOW_RANS) {
        data = bm_get_bytes(in, beside);
        if (!data)
            return BOUMA_EFORMAT;
        w->reader = bm_bit_reader_of(data, beside);
        rc = bm_rans_begin(r->rans, in->p, bm_cursor_left(in), n,
                           BM_RANS_CONTEXTS);
        w->row_symbols = n >= FEW_SAMPLES;
        if (!rc)
            bm_contexts_init(&w->contexts, r->rans->table);
        return rc;
    }
    w->reader = bm_bit_reader_of(in->p, bm_cursor_left(in));
    return BOUMA_OK;
}

/* Whether everything was used and nothing was missing. */
static int reading_ended(const struct reading *r)
{
    return !r->failed && bm_bits_used_up(&r->w.reader) &&
           r->exact_used == r->exact_count &&
           (r->how != HOW_RANS || bm_rans_ended(r->rans));
}

static int decode_coded(struct bm_codec_state *state, struct reading *r,
                        uint8_t *samples, const void *coarse,
                        struct bm_cursor *in)
{
    const struct bm_passes *p = r->passes;
    const struct bm_interp_space *s = &r->space;
    int k = r->k, last = k < p->root ? k : p->count - 1, now = 0, rc;
    size_t size = r->w.field->size;

    rc = begin_reading(state, r, in);
    if (rc)
        return rc;
    if (k == p->root) {
        decode_root(r, k < p->count ? s->dense[0] : samples);
        coarse = s->dense[0];
    }
    for (int j = last; j >= k && !r->failed; j--) {
        uint8_t *to = j > k ? s->dense[!now] : samples;

        r->wanted = j > k ? NULL : r->w.field->wanted;
        decode_pass(r, j, coarse);
        bm_octants_merge_with(&p->octants[j], size, to, s->sorted, coarse);
        coarse = to;
        now = !now;
    }
    if (r->w.where.failed)
        return BOUMA_ENOMEM;
    return reading_ended(r) ? BOUMA_OK : BOUMA_EFORMAT;
}

int bm_interp_unpack(struct bm_codec_state *state,
                     const struct bm_interp_space *space,
                     const struct bm_passes *p, int k, size_t size,
                     void *samples, const void *coarse,
                     const struct bm_cursor *in)
{
    size_t kept = k < p->root ? bm_interp_samples(p, k + 1) : 0;
    uint8_t *sorted = space->sorted;
    int rc = bm_zstd_unpack(state, sorted + kept * size,
                            bm_interp_piece_samples(p, k), size, in->p,
                            bm_cursor_left(in));

    if (!rc && k < p->count)
        bm_octants_merge_with(&p->octants[k], size, samples, sorted,
                              kept ? coarse : sorted);
    else if (!rc)
        memcpy(samples, sorted, size);
    return rc;
}

/* The memory for a piece. */
static void lay_out(struct bm_carver *c, struct reading *r)
{
    size_t size = r->w.field->size;

    c->bytes = 0;
    bm_interp_lay_out(c, &r->space, &r->w, r->passes, r->k, size);
    r->exact = bm_carve(c, bm_interp_piece_samples(r->passes, r->k) * size);
    r->rans = bm_carve(c, sizeof(*r->rans));
}

static int decode_field(struct bm_codec_state *state, void *samples,
                        const void *coarse, const struct bm_field *f,
                        const struct bm_coded_level *piece)
{
    struct bm_cursor c = bm_cursor_of(piece->data, piece->bytes);
    struct bm_carver memory = {NULL, 0};
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
    form = bm_get_u8(&c);
    if (form == FORM_PREDICTED)
        return bm_codec_exact.decode_field(
            state, samples, coarse, f,
            &(struct bm_coded_level){k, c.p, bm_cursor_left(&c)});
    memset(&r, 0, sizeof(r));
    r.passes = &p;
    r.k = k < p.root ? k : p.root;
    bm_interp_piece_init(&r.w, f, state->a);
    lay_out(&memory, &r); /* to count */
    memory.at = bm_codec_work(state, memory.bytes);
    if (!memory.at)
        return BOUMA_ENOMEM;
    lay_out(&memory, &r);
    if (form == FORM_EXACT)
        rc = bm_interp_unpack(state, &r.space, &p, r.k, f->size, samples,
                              coarse, &c);
    else if (form == FORM_CODED)
        rc = decode_coded(state, &r, samples, coarse, &c);
    else
        rc = BOUMA_EFORMAT;
    bm_interp_piece_release(&r.w);
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

const struct bm_codec bm_codec_interp = {.name = "interp",
                                         .uses = BM_FOR_FIELDS,
                                         .lossy = 1,
                                         .bound = bound,
                                         .plausible = plausible,
                                         .encode_field = bm_interp_encode,
                                         .decode_field = decode_field};
