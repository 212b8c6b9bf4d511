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

/* Where the reader is in a block. */
struct part {
    struct bm_rans_stream stream;
    struct bm_bit_reader bits; /* beside the symbols, or all */
    size_t used, kept; /* samples that are kept: up to the next part's */
};

/* Blocks along an axis that have samples that are wanted; and with those that
 * have samples from which these are predicted. */
struct reach {
    int64_t begin, end, first, last;
};

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
    size_t exact_count;
    const struct bm_window *wanted; /* of the pass; NULL: all */
    struct bm_blocks blocks;
    struct part *parts;    /* of the blocks */
    struct reach reach[2]; /* along the axes 0 and 1 */
    int failed;
};

/* Integers without the range coder. Samples that are kept have NO_CODE. Returns
 * 1 if there are any. */
static int get_row(struct reading *r, int32_t *codes, int64_t n)
{
    int kept = 0;

    if (r->how == HOW_ZERO) {
        memset(codes, 0, (size_t)n * sizeof(*codes));
        return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        uint32_t value = bm_golomb_get(&r->parts[0].bits, r->order);

        codes[i] = value > BM_FOLDED_LIMIT ? 0 : bm_unfold(value - 1);
        r->failed |= value > BM_FOLDED_LIMIT;
        if (!value)
            codes[i] = NO_CODE;
        kept |= !value;
    }
    return kept;
}

/* Samples of a part that were kept: for now, what others are predicted from;
 * nothing in rows that do not matter. */
static void keep_samples(struct reading *r, struct part *part, uint8_t *decoded,
                         int64_t begin, int64_t end, size_t index)
{
    struct bm_interp_piece *w = &r->w;
    size_t size = w->field->size;

    for (int64_t i = begin; i < end; i++) {
        const uint8_t *value = r->exact + part->used * size;

        if (w->codes[i] != NO_CODE)
            continue;
        if (part->used == part->kept) {
            r->failed = 1;
            return;
        }
        part->used++;
        if (!decoded)
            continue;
        memcpy(decoded + (size_t)i * size, w->row + (size_t)i * size, size);
        w->kernels->set_value(decoded, i, value);
        bm_put_u32(&w->where, (uint32_t)(index + (size_t)i));
        bm_put_bytes(&w->exact, value, size);
    }
}

static void keep_rows(struct reading *r, const struct bm_batch *b, int64_t n,
                      uint8_t *decoded, size_t index)
{
    for (int64_t y = 0; y < b->rows && !r->failed; y++)
        keep_samples(
            r, &r->parts[bm_block_at(&r->w.contexts.blocks, b->z, b->y + y)],
            decoded, y * n, (y + 1) * n, index);
}

/* ---- what is wanted ------------------------------------------------------ */

/* Samples along an axis that matter for what is wanted, of octants that are odd
 * along it, or of the others: a sample at an odd place is predicted from those
 * up to 3 away at even ones, the last one from those up to 5 away. */
static void samples_that_matter(const struct reading *r,
                                const struct bm_octants *o, int axis, int odd,
                                int64_t *begin, int64_t *end)
{
    int64_t n = o->n[axis];

    *begin = r->wanted ? r->wanted->lo[axis] : 0;
    *end = r->wanted ? r->wanted->hi[axis] : n;
    if (odd)
        return;
    *begin = *end == n && n - 6 < *begin - 3 ? n - 6 : *begin - 3;
    *end += 3;
    *begin = *begin > 0 ? *begin : 0;
    *end = *end < n ? *end : n;
}

/* Which rows of plane z of octant p that are. */
static void rows_that_matter(const struct reading *r,
                             const struct bm_octants *o, int p, int64_t z,
                             int64_t *begin, int64_t *end)
{
    int64_t at = 2 * z + (p >> 2 & 1), odd = p >> 1 & 1, low, high;

    samples_that_matter(r, o, 0, p >> 2 & 1, &low, &high);
    *begin = *end = 0;
    if (at < low || at >= high)
        return;
    samples_that_matter(r, o, 1, (int)odd, &low, &high);
    *begin = (low - odd + 1) / 2;
    *end = (high - odd + 1) / 2;
}

/* In blocks: those along the axes 0 and 1. */
static void find_reach(struct reading *r, const struct bm_octants *o)
{
    for (int axis = 0; axis < 2; axis++) {
        int shift = r->w.contexts.blocks.shift[axis] + 1;
        int64_t begin[2], end[2];

        for (int odd = 0; odd < 2; odd++)
            samples_that_matter(r, o, axis, odd, &begin[odd], &end[odd]);
        r->reach[axis] =
            (struct reach){begin[1] >> shift, ((end[1] - 1) >> shift) + 1,
                           begin[0] >> shift, ((end[0] - 1) >> shift) + 1};
    }
}

/* Which rows of plane z of an octant are to be decoded, those of a block in the
 * order of octants, up to the last one that matters there: where only octants
 * matter that are even along axis 0, that is octant 3 (the fourth); along axis
 * 1, octant 5 (the fifth); along both, octant 1 (the first). */
static void rows_to_decode(const struct reading *r, const struct bm_octants *o,
                           int number, int64_t z, int64_t *begin, int64_t *end)
{
    const struct bm_blocks *b = &r->w.contexts.blocks;
    int64_t rows = o->count[bm_octant_order[number]][1];
    int64_t at = z >> b->shift[0];
    const struct reach *planes = &r->reach[0], *own = &r->reach[1];
    int inside = at >= planes->begin && at < planes->end;
    int all = number <= (inside ? 5 : 1);

    *begin = 0;
    *end = rows;
    if (r->how != HOW_BLOCKS)
        return;
    *begin = (all ? own->first : own->begin) << b->shift[1];
    *end = (all ? own->last : own->end) << b->shift[1];
    *begin = *begin < rows ? *begin : rows;
    *end = *end < rows ? *end : rows;
    if (at < planes->first || at >= planes->last || (!inside && number > 4))
        *end = *begin;
}

/* ---- octants ------------------------------------------------------------- */

/* Whether all integers of the next row are 0, if a symbol tells. */
static int row_is_zero(struct reading *r, struct part *part, int64_t n)
{
    uint8_t any;

    if (!r->w.row_symbols || n < LONG_ROW ||
        !bm_contexts_are_lowest(r->w.contexts.expected, n))
        return 0;
    bm_rans_next_of(r->rans, &part->stream, &any, &r->rans->table[ROW_CONTEXT],
                    1);
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

    if (r->how < HOW_RANS)
        return get_row(r, w->codes, b->rows * n);
    bm_contexts_begin(&w->contexts, l, b, bends, &w->quantum);
    for (int64_t y = 0; y < b->rows; y++, index += (size_t)n) {
        struct part *part =
            &r->parts[bm_block_at(&w->contexts.blocks, b->z, b->y + y)];

        bm_contexts_expect(&w->contexts, l->octants, b, y, 1);
        if (row_is_zero(r, part, n)) {
            memset(w->codes + y * n, 0, (size_t)n * sizeof(*w->codes));
            memset(w->contexts.magnitudes + index, 0, (size_t)n);
            continue;
        }
        bm_contexts_look_up(&w->contexts, w->context, w->contexts.expected, n);
        bm_rans_next_of(r->rans, &part->stream, w->symbols, w->context,
                        (size_t)n);
        kept |= get_symbols(&part->bits, w->codes + y * n,
                            w->contexts.magnitudes + index, w->symbols, n);
    }
    return kept;
}

/* The rows of a batch; they are predicted only if they matter. */
static void decode_batch(struct reading *r, const struct bm_lookup *l,
                         const struct bm_batch *b, int matter,
                         const struct bm_shares *shares)
{
    const int64_t *count = l->octants->count[b->p];
    size_t index =
        l->octants->at[b->p] + (size_t)((b->z * count[1] + b->y) * count[2]);
    struct bm_interp_piece *w = &r->w;
    uint8_t *decoded = NULL;
    int bends = 0, kept;

    if (bm_is_odd_along_one(b->p))
        bends = bm_interp_bend(l, b);
    kept = decode_codes(r, l, b, bends, index);
    if (matter) {
        decoded = l->sorted + index * l->size;
        bm_interp_predict(l, w->row, b, shares);
        w->kernels->rebuild(decoded, w->codes, w->row, b->rows * count[2],
                            &w->quantum);
    }
    if (kept)
        keep_rows(r, b, count[2], decoded, index);
}

static void decode_octant(struct reading *r, const struct bm_lookup *l,
                          int number)
{
    const struct bm_octants *o = l->octants;
    int p = bm_octant_order[number];
    struct bm_shares shares;

    if (!bm_shares_get(&shares, &r->choices, o, p)) {
        r->failed = 1;
        return;
    }
    for (int64_t z = 0; z < o->count[p][0]; z++) {
        int64_t y, last, begin, end;
        struct bm_batch b;

        rows_to_decode(r, o, number, z, &y, &last);
        rows_that_matter(r, o, p, z, &begin, &end);
        for (; y < last; y += b.rows) {
            b = bm_interp_batch(o, p, z, y,
                                y < begin ? begin
                                : y < end ? end
                                          : last);
            decode_batch(r, l, &b, y >= begin && y < end, &shares);
        }
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
    bm_buffer_clear(&w->exact);
    find_reach(r, o);
    for (int i = 1; i < BM_OCTANTS && !r->failed; i++)
        if (o->size[bm_octant_order[i]])
            decode_octant(r, &l, i);
    if (w->where.size && !w->where.failed && !w->exact.failed && !r->failed)
        bm_interp_restore(s->sorted, &w->where, w->exact.data, l.size);
}

static void decode_root(struct reading *r, uint8_t *decoded)
{
    struct bm_interp_piece *w = &r->w;
    struct part *part = &r->parts[0];
    int kept;

    memset(w->row, 0, w->field->size);
    if (r->how == HOW_RANS) {
        bm_rans_next_of(r->rans, &part->stream, w->symbols,
                        &r->rans->table[CONTEXTS - 1], 1);
        kept = get_symbols(&part->bits, w->codes, w->contexts.magnitudes,
                           w->symbols, 1);
    } else {
        kept = get_row(r, w->codes, 1);
    }
    if (kept) {
        keep_samples(r, part, decoded, 0, 1, 0);
        if (!r->failed)
            memcpy(decoded, r->exact, w->field->size);
    } else {
        w->kernels->rebuild(decoded, w->codes, w->row, 1, &w->quantum);
    }
}

/* ---- pieces -------------------------------------------------------------- */

/* The bytes that blocks have: of the bits beside their symbols, and of their
 * streams. */
struct block_sizes {
    uint32_t beside[MOST_BLOCKS], stream[MOST_BLOCKS];
};

static void get_blocks(struct reading *r, struct bm_bit_reader *bits,
                       struct block_sizes *sizes)
{
    uint32_t shift[2] = {bm_golomb_get(bits, 0), bm_golomb_get(bits, 0)};
    struct bm_blocks *b = &r->blocks;
    uint64_t kept = 0;

    if (r->k >= r->passes->root || shift[0] > MOST_SHIFT ||
        shift[1] > MOST_SHIFT ||
        !bm_blocks_init(b, &r->passes->octants[r->k],
                        (int[2]){(int)shift[0], (int)shift[1]})) {
        r->failed = 1;
        return;
    }
    for (size_t i = 0; i < bm_blocks_count(b); i++) {
        r->parts[i].used = (size_t)kept;
        kept += r->exact_count ? bm_golomb_get(bits, 0) : 0;
        if (kept > r->exact_count)
            break;
        r->parts[i].kept = (size_t)kept;
        sizes->beside[i] = bm_golomb_get(bits, EXTRA_ORDER);
        sizes->stream[i] = bm_golomb_get(bits, STREAM_ORDER);
    }
    r->failed |= kept != r->exact_count;
}

/* The bits before all else. */
static void get_header(struct reading *r, struct bm_cursor *in,
                       struct block_sizes *sizes)
{
    struct bm_bit_reader bits = bm_bit_reader_of(in->p, bm_cursor_left(in));
    uint32_t finer;

    r->how = (int)bm_bits_get(&bits, 2);
    finer = bm_golomb_get(&bits, 0);
    if (finer > MAX_FINER)
        r->failed = 1;
    else
        r->w.quantum = bm_interp_quantum(r->w.field, (int)finer);
    r->failed |= !bm_interp_can_quantise(r->w.field, &r->w.quantum);
    r->exact_count = bm_golomb_get(&bits, 0);
    r->parts[0].used = 0;
    r->parts[0].kept = r->exact_count;
    r->choices = bits;
    r->failed |= !bm_shares_skip(&bits, r->passes, r->k);
    if (r->how == HOW_GOLOMB)
        r->order = (int)bm_bits_get(&bits, 4);
    else if (r->how == HOW_RANS)
        sizes->beside[0] = bm_golomb_get(&bits, 0);
    else if (r->how == HOW_BLOCKS && !r->failed)
        get_blocks(r, &bits, sizes);
    in->p = bits.p - bits.count / 8; /* whole bytes that were not needed */
    r->failed |= bits.failed;
}

/* The streams of symbols. */
static int begin_streams(struct reading *r, struct bm_cursor *in,
                         const struct block_sizes *sizes)
{
    size_t n = bm_interp_piece_samples(r->passes, r->k), rows;
    const uint8_t *beside, *stream;
    int rc = BOUMA_OK;

    if (r->how == HOW_RANS) {
        beside = bm_get_bytes(in, sizes->beside[0]);
        if (!beside)
            return BOUMA_EFORMAT;
        r->parts[0].bits = bm_bit_reader_of(beside, sizes->beside[0]);
        rc = bm_rans_begin(r->rans, in->p, bm_cursor_left(in), n,
                           BM_RANS_CONTEXTS);
        r->parts[0].stream = r->rans->stream;
        return rc;
    }
    rc = bm_rans_begin_tables(r->rans, in, BM_RANS_CONTEXTS);
    for (size_t i = 0; i < bm_blocks_count(&r->blocks) && !rc; i++) {
        beside = bm_get_bytes(in, sizes->beside[i]);
        stream = bm_get_bytes(in, sizes->stream[i]);
        if (!beside || !stream)
            return BOUMA_EFORMAT;
        r->parts[i].bits = bm_bit_reader_of(beside, sizes->beside[i]);
        rc = bm_rans_begin_stream(
            &r->parts[i].stream, stream, sizes->stream[i], BLOCK_STATES,
            bm_block_samples(&r->blocks, &r->passes->octants[r->k], i, &rows));
    }
    return rc || bm_cursor_left(in) ? BOUMA_EFORMAT : BOUMA_OK;
}

/* Everything of a coded piece that comes before its integers. */
static int begin_reading(struct bm_codec_state *state, struct reading *r,
                         struct bm_cursor *in)
{
    struct bm_interp_piece *w = &r->w;
    size_t n = bm_interp_piece_samples(r->passes, r->k), bytes;
    struct block_sizes sizes;
    const uint8_t *data;
    int rc = BOUMA_OK;

    get_header(r, in, &sizes);
    if (r->failed || r->exact_count > n)
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
    w->contexts.blocks = r->blocks;
    if (r->how < HOW_RANS) {
        r->parts[0].bits = bm_bit_reader_of(in->p, bm_cursor_left(in));
        return BOUMA_OK;
    }
    rc = begin_streams(r, in, &sizes);
    w->row_symbols = n >= FEW_SAMPLES;
    if (!rc) {
        bm_contexts_init(&w->contexts, r->rans->table);
        w->contexts.blocks = r->blocks;
    }
    return rc;
}

/* Whether everything was used and nothing was missing, in blocks that were
 * decoded whole. */
static int reading_ended(const struct reading *r)
{
    const struct bm_blocks *b = &r->blocks;
    int ended = !r->failed;

    for (int64_t z = 0; z < b->count[0]; z++)
        for (int64_t y = 0; y < b->count[1]; y++) {
            const struct part *part = &r->parts[z * b->count[1] + y];

            if (r->how == HOW_BLOCKS &&
                (z < r->reach[0].begin || z >= r->reach[0].end ||
                 y < r->reach[1].begin || y >= r->reach[1].end))
                continue;
            ended &= bm_bits_used_up(&part->bits) && part->used == part->kept &&
                     (r->how < HOW_RANS || bm_rans_ended_of(&part->stream));
        }
    return ended;
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
        bm_octants_merge_rows(&p->octants[j], size, to, s->sorted, coarse,
                              r->wanted ? r->wanted->lo
                                        : (const int64_t[2]){0, 0},
                              r->wanted ? r->wanted->hi : p->octants[j].n);
        coarse = to;
        now = !now;
    }
    if (r->w.where.failed || r->w.exact.failed)
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
    r->parts = bm_carve(c, MOST_BLOCKS * sizeof(*r->parts));
}

/* The large parts of *r are left as they are until they are needed. */
static void begin_piece(struct reading *r, const struct bm_field *f,
                        const struct bm_passes *p, int k,
                        const bouma_allocator *a)
{
    bm_interp_piece_init(&r->w, f, a);
    r->passes = p;
    r->k = k;
    r->how = HOW_ZERO;
    r->exact_count = 0;
    r->wanted = NULL;
    r->blocks = bm_blocks_undivided();
    r->failed = 0;
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
    begin_piece(&r, f, &p, k < p.root ? k : p.root, state->a);
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
