/* interp_encode.c -- samples to pieces: see interp.h and codec_interp.c. */
#include <string.h>

#include "codec/clones.h"
#include "codec/interp.h"
#include "codec/values.h"

/* Bounds of coarse levels: up to a quarter of what is asked for, by half an
 * octave a level, where that pays. */
#define FINEST 8
#define SLOPE  2

struct encoding {
    const struct bm_passes *passes;
    struct bm_interp_piece piece;
    struct bm_interp_space space;
    /* The samples of each pass, sorted; behind the last one, those of the
     * chunk, which begin with the one that is left. */
    const uint8_t *original[MAX_PASSES + 1];
    int fits; /* predictions may be fitted */
    struct bm_fit fit;
    int slope; /* each level is finer by so many quarters of an octave */
    int now;   /* space.dense[now] has the coarser samples, as decoded */
};

/* Integers that have a symbol of their own. */
BM_CLONES static void put_small(uint8_t *restrict symbols,
                                const int32_t *restrict codes, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t q = codes[i];

        symbols[i] = (uint8_t)(q > 0 ? 2 * q - 1 : -2 * q);
    }
}

/* The integers of one row of samples, predicted in w->row: what they become
 * when decoded, and their symbols. */
static void put_row(struct bm_interp_piece *w, uint8_t *decoded,
                    const uint8_t *samples, int64_t n, size_t index)
{
    uint8_t *symbols = w->symbols + w->done;
    uint32_t all = w->kernels->quantise(w->codes, decoded, samples, w->row, n,
                                        &w->quantum, &w->loss);

    w->done += (size_t)n;
    w->any |= all != 0;
    if (all < BM_DIRECT_SYMBOLS - 1) {
        put_small(symbols, w->codes, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t q = w->codes[i];

        if (q == NO_CODE) {
            const uint8_t *value = samples + (size_t)i * w->field->size;

            symbols[i] = BM_ESCAPE;
            bm_put_bytes(&w->exact, value, w->field->size);
            bm_put_u32(&w->where, (uint32_t)(index + (size_t)i));
            w->kernels->set_value(decoded, i, value);
        } else {
            symbols[i] = bm_symbol_put(&w->writer, bm_fold(q));
        }
    }
}

static void encode_octant(struct encoding *e, const struct bm_lookup *l, int p,
                          const uint8_t *samples)
{
    struct bm_interp_piece *w = &e->piece;
    const struct bm_octants *o = l->octants;
    const int64_t *count = o->count[p];
    struct bm_shares shares;
    size_t index = o->at[p];

    bm_interp_choose(w, e->fits ? &e->fit : NULL, l, p, samples, &shares);
    for (int64_t z = 0; z < count[0]; z++)
        for (int64_t y = 0; y < count[1]; y++, index += (size_t)count[2]) {
            uint8_t *decoded = l->sorted + index * l->size;

            int bends = 0;

            if (bm_is_odd_along_one(p))
                bends = bm_interp_bend(l, p, z, y);
            bm_interp_contexts(&w->contexts, w->context + w->done, l, p, z, y,
                               bends, &w->quantum);
            bm_interp_predict(l, w->row, p, &shares, z, y);
            put_row(w, decoded, samples, count[2], index);
            bm_interp_magnitudes(w->contexts.magnitudes + index, w->codes,
                                 count[2]);
            samples += (size_t)count[2] * l->size;
        }
}

/* The single sample that is left at last. */
static void encode_root(struct bm_interp_piece *w, uint8_t *decoded,
                        const uint8_t *sample)
{
    memset(w->row, 0, w->field->size);
    w->context[w->done] = CONTEXTS - 1; /* nothing is known */
    put_row(w, decoded, sample, 1, 0);
    if (!w->exact.failed && !w->where.failed)
        bm_interp_restore(decoded, &w->where, w->exact.data, w->field->size);
    bm_buffer_clear(&w->where);
}

/* Bits of the Golomb code of order k of all integers, which are symbols still.
 */
static int put_golomb(struct bm_buffer *out, const struct bm_interp_piece *w,
                      int k, size_t most)
{
    struct bm_bit_reader in = bm_bit_reader_of(w->bits.data, w->bits.size);
    struct bm_bit_writer bits = {out, 0, 0};
    size_t begin = out->size;

    for (size_t i = 0; i < w->done && out->size - begin < most; i++) {
        uint8_t s = w->symbols[i];

        /* 0 stands for a sample that is kept. */
        bm_golomb_put(&bits, s == BM_ESCAPE ? 0 : bm_symbol_get(&in, s) + 1, k);
    }
    bm_bits_end(&bits);
    return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* How the integers are written. */
struct way {
    int how, order;
};

/* The integers, in the shortest way, to w->coded. */
static int put_integers(struct bm_interp_piece *w, struct way *way)
{
    struct bm_buffer *out = &w->coded;
    size_t bytes;
    int rc;

    *way = (struct way){HOW_ZERO, 0};
    if (!w->any)
        return BOUMA_OK;
    way->how = HOW_RANS;
    bm_put_bytes(out, w->bits.data, w->bits.size);
    rc = bm_rans_encode(out, w->symbols, w->context, w->done, CONTEXTS);
    bytes = out->size;
    if (rc || w->done >= FEW_SAMPLES)
        return rc;
    for (int k = 0; k < 16 && !rc; k++) {
        size_t other = out->size;

        rc = put_golomb(out, w, k, bytes);
        if (!rc && out->size - other < bytes) {
            bytes = out->size - other;
            *way = (struct way){HOW_GOLOMB, k};
            memmove(out->data, out->data + other, bytes);
        }
        if (!rc)
            out->size = bytes > other ? bytes : other;
    }
    if (!rc)
        out->size = bytes;
    return rc;
}

/* What comes before the integers. */
static int put_header(struct bm_codec_state *state, struct bm_buffer *out,
                      const struct bm_interp_piece *w, struct way way)
{
    struct bm_cursor choices = bm_cursor_of(w->choices.data, w->choices.size);
    struct bm_bit_writer bits = {out, 0, 0};
    size_t at, count = w->exact.size / w->field->size;
    int rc;

    bm_put_u8(out, FORM_CODED);
    bm_bits_put(&bits, (uint32_t)way.how, 2);
    bm_golomb_put(&bits, (uint32_t)w->finer, 0);
    bm_golomb_put(&bits, (uint32_t)count, 0);
    while (bm_cursor_left(&choices)) {
        bm_bits_put(&bits, bm_get_u8(&choices), 4);
        for (int m = bm_get_u8(&choices); m > 0; m--)
            bm_golomb_put(&bits, bm_get_u32(&choices), WEIGHT_ORDER);
    }
    if (way.how == HOW_GOLOMB)
        bm_bits_put(&bits, (uint32_t)way.order, 4);
    else if (way.how == HOW_RANS)
        bm_golomb_put(&bits, (uint32_t)w->bits.size, 0);
    bm_bits_end(&bits);
    if (!count)
        return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
    at = out->size;
    bm_put_u32(out, 0);
    rc = bm_zstd_pack(state, out, w->exact.data, count, w->field->size);
    if (rc || out->failed)
        return BOUMA_ENOMEM;
    bm_store_u32(out->data + at, (uint32_t)(out->size - at - 4));
    return BOUMA_OK;
}

/* Append what was gathered; or, if that is not shorter, all samples exactly,
 * with *exact set. 'sorted' are those of the piece. */
static int put_piece(struct bm_codec_state *state, struct bm_buffer *out,
                     struct bm_interp_piece *w, int *exact)
{
    size_t begin = out->size, plain = w->done * w->field->size;
    struct way way;
    int rc = BOUMA_OK;

    bm_bits_end(&w->writer);
    *exact = w->exact.size >= plain;
    if (w->choices.failed || w->exact.failed || w->bits.failed ||
        w->where.failed)
        return BOUMA_ENOMEM;
    if (!*exact) {
        rc = put_integers(w, &way);
        if (!rc)
            rc = put_header(state, out, w, way);
        bm_put_bytes(out, w->coded.data, w->coded.size);
        *exact = !rc && out->size - begin > plain;
        if (*exact)
            out->size = begin;
    }
    return rc ? rc : out->failed || w->coded.failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* The piece of level k. */
static void piece_begin(struct encoding *e, int k)
{
    struct bm_interp_piece *w = &e->piece;

    bm_buffer_clear(&w->choices);
    bm_buffer_clear(&w->exact);
    bm_buffer_clear(&w->bits);
    bm_buffer_clear(&w->where);
    bm_buffer_clear(&w->coded);
    w->writer = (struct bm_bit_writer){&w->bits, 0, 0};
    w->done = 0;
    w->any = 0;
    memset(&w->loss, 0, sizeof(w->loss));
    w->finer = e->slope * k < FINEST ? e->slope * k : FINEST;
    w->quantum = bm_interp_quantum(w->field, w->finer);
}

/* Sort the samples of all passes. */
static void sort_all(struct encoding *e, uint8_t *to, const void *samples)
{
    const struct bm_passes *p = e->passes;
    size_t size = e->piece.field->size;
    const void *dense = samples;

    for (int j = 0; j < p->count; j++) {
        e->original[j] = to;
        bm_octants_split(&p->octants[j], size, to, dense);
        dense = to;
        to += bm_interp_samples(p, j) * size;
    }
    e->original[p->count] = samples;
}

/* What the octants of pass j become. */
static void encode_pass(struct encoding *e, int j)
{
    const struct bm_octants *o = &e->passes->octants[j];
    const struct bm_interp_space *s = &e->space;
    struct bm_interp_piece *w = &e->piece;
    const uint8_t *coarse = s->dense[e->now];
    struct bm_lookup l = {o,      w->kernels, w->field->size,
                          coarse, s->sorted,  w->bends};

    if (!bm_values_finite(w->field->type, coarse, o->size[0])) {
        bm_values_clean(w->field->type, s->cleaned, coarse, o->size[0]);
        l.coarse = s->cleaned;
    }
    for (int i = 1; i < BM_OCTANTS; i++) {
        int octant = bm_octant_order[i];

        if (o->size[octant])
            encode_octant(e, &l, octant,
                          e->original[j] + o->at[octant] * l.size);
    }
    if (w->where.size && !w->exact.failed && !w->where.failed)
        bm_interp_restore(
            s->sorted, &w->where,
            w->exact.data + w->exact.size - w->where.size / 4 * l.size, l.size);
    bm_buffer_clear(&w->where);
}

/* Append the samples of level k that the coarser one has not, as they are. */
static int put_samples(struct bm_codec_state *state, struct bm_buffer *out,
                       const struct encoding *e, int k)
{
    const struct bm_passes *p = e->passes;
    size_t size = e->piece.field->size;
    size_t kept = k < p->root ? bm_interp_samples(p, k + 1) : 0;

    bm_put_u8(out, FORM_EXACT);
    return bm_zstd_pack(state, out, e->original[k] + kept * size,
                        bm_interp_piece_samples(p, k), size);
}

/* Bring the samples to what will be decoded of an exact piece of level k. */
static void take_original(struct encoding *e, int k)
{
    const struct bm_passes *p = e->passes;
    size_t size = e->piece.field->size;
    size_t kept = k < p->root ? bm_interp_samples(p, k + 1) : 0;

    if (k < p->count)
        memcpy(e->space.sorted + kept * size, e->original[k] + kept * size,
               bm_interp_piece_samples(p, k) * size);
    if (!kept) /* the first octant, too */
        memcpy(e->space.dense[e->now], e->original[k],
               k < p->count ? p->octants[k].size[0] * size : size);
}

/* End the piece of level k, and bring the samples to what will be decoded. */
static int end_piece(struct bm_codec_state *state, struct bm_buffer *out,
                     struct encoding *e, int k, struct bm_loss *loss)
{
    const struct bm_loss *lost = &e->piece.loss;
    int exact, rc = put_piece(state, out, &e->piece, &exact);

    if (rc)
        return rc;
    if (exact) {
        take_original(e, k);
        return put_samples(state, out, e, k);
    }
    if (lost->largest > loss->largest)
        loss->largest = lost->largest;
    loss->squares += lost->squares;
    return BOUMA_OK;
}

static uint32_t *size_of_piece(uint32_t *sizes, const struct bm_passes *p,
                               int k)
{
    return &sizes[k < p->root ? k : p->coarsest];
}

/* With pieces that hold nothing but exact samples. */
static int encode_exactly(struct bm_codec_state *state, struct bm_buffer *out,
                          uint32_t *sizes, const struct encoding *e)
{
    const struct bm_passes *p = e->passes;
    int rc = BOUMA_OK;

    for (int k = p->root; k >= 0 && !rc; k--) {
        size_t begin = out->size;

        rc = put_samples(state, out, e, k);
        *size_of_piece(sizes, p, k) = (uint32_t)(out->size - begin);
    }
    return rc;
}

/* With integers, as far as that is shorter. */
static int encode_integers(struct bm_codec_state *state, struct bm_buffer *out,
                           uint32_t *sizes, struct bm_loss *loss,
                           struct encoding *e)
{
    const struct bm_passes *p = e->passes;
    const struct bm_interp_space *s = &e->space;
    size_t size = e->piece.field->size;
    int rc = BOUMA_OK;

    piece_begin(e, p->root);
    encode_root(&e->piece, s->dense[0], e->original[p->count]);
    for (int j = p->count; j >= 0 && !rc; j--) {
        size_t begin = out->size;

        if (j < p->root)
            piece_begin(e, j);
        if (j < p->count)
            encode_pass(e, j);
        if (j <= p->root) {
            rc = end_piece(state, out, e, j, loss);
            *size_of_piece(sizes, p, j) = (uint32_t)(out->size - begin);
        }
        if (j > 0 && j < p->count) {
            bm_octants_merge_with(&p->octants[j], size, s->dense[!e->now],
                                  s->sorted, s->dense[e->now]);
            e->now = !e->now;
        }
    }
    return rc;
}

/* The memory for a chunk but for its sorted samples. */
static void lay_out(struct bm_carver *c, struct encoding *e, size_t size)
{
    size_t bytes = FIT_ROOM * sizeof(double);

    bm_interp_lay_out(c, &e->space, &e->piece, e->passes, 0, size);
    e->fit.target = bm_carve(c, bytes);
    e->fit.weight = bm_carve(c, bytes);
    e->fit.missed = bm_carve(c, bytes);
    for (int i = 0; i < MAX_WEIGHTS; i++)
        e->fit.part[i] = bm_carve(c, bytes);
}

/* With bounds that get finer, or not; with predictions that are fitted, or not.
 */
struct effort {
    int slope, fits;
};

/* All samples of a chunk, or of a part of it. */
static int encode_block(struct bm_codec_state *state, struct bm_buffer *out,
                        uint32_t *sizes, struct bm_loss *loss,
                        const struct bm_field *f, const struct bm_passes *p,
                        struct effort effort, const void *samples)
{
    int slope = effort.slope;
    struct bm_quantum finest = bm_interp_quantum(f, slope ? FINEST : 0);
    struct bm_carver c = {NULL, 0};
    struct encoding e;
    size_t all = 0;
    int rc;

    e.passes = p;
    e.now = 0;
    e.slope = slope;
    e.fits = effort.fits;
    bm_interp_piece_init(&e.piece, f, state->a);
    for (int j = 0; j < p->count; j++)
        all += bm_interp_samples(p, j) * f->size;
    lay_out(&c, &e, f->size);
    bm_carve(&c, all);
    c.at = bm_codec_work(state, c.bytes);
    if (!c.at)
        return BOUMA_ENOMEM;
    c.bytes = 0;
    lay_out(&c, &e, f->size);
    bm_contexts_init(&e.piece.contexts, NULL);
    sort_all(&e, bm_carve(&c, all), samples);
    rc = bm_interp_can_quantise(f, &finest)
             ? encode_integers(state, out, sizes, loss, &e)
             : encode_exactly(state, out, sizes, &e);
    bm_interp_piece_release(&e.piece);
    return rc;
}

/* A part in the middle of a patch, by which bounds are chosen. */
struct middle {
    int64_t begin[3], n[3];
};

#define MIDDLE_MOST  32768
#define MIDDLE_LEAST 4096

/* An eighth of all samples, or less; 0 if these are few. */
static int middle_of(struct middle *m, const int64_t n[3])
{
    int64_t all = n[0] * n[1] * n[2], most = all / 8;

    most = most < MIDDLE_MOST ? most : MIDDLE_MOST;
    if (most < MIDDLE_LEAST)
        return 0;
    for (int d = 0; d < 3; d++)
        m->n[d] = n[d];
    while (m->n[0] * m->n[1] * m->n[2] > most) {
        int longest = 0;

        for (int d = 1; d < 3; d++)
            if (m->n[d] > m->n[longest])
                longest = d;
        m->n[longest] = (m->n[longest] + 1) / 2;
    }
    for (int d = 0; d < 3; d++)
        m->begin[d] = (n[d] - m->n[d]) / 2;
    return 1;
}

/* Its samples, dense. */
static int take_middle(struct bm_buffer *out, const struct middle *m,
                       const int64_t n[3], const uint8_t *samples, size_t size)
{
    for (int64_t z = 0; z < m->n[0]; z++)
        for (int64_t y = 0; y < m->n[1]; y++) {
            int64_t row = (m->begin[0] + z) * n[1] + m->begin[1] + y;

            bm_put_bytes(out,
                         samples + (size_t)(row * n[2] + m->begin[2]) * size,
                         (size_t)m->n[2] * size);
        }
    return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* Whether finer bounds on coarse levels pay, by trying both on a part: with no
 * more bytes, or hardly more and smaller errors. */
static int choose_slope(struct bm_codec_state *state, const struct bm_field *f,
                        const struct bm_passes *p, const void *samples,
                        int *slope)
{
    const int64_t *n = f->lattice[0].count;
    struct bm_loss loss[2] = {{0, 0}, {0, 0}};
    struct bm_buffer out[2], part;
    uint32_t sizes[MAX_PASSES + 1];
    struct bm_passes passes;
    struct middle m;
    int rc;

    *slope = 0;
    if (!middle_of(&m, n))
        return BOUMA_OK;
    bm_buffer_init(&part, state->a);
    bm_buffer_init(&out[0], state->a);
    bm_buffer_init(&out[1], state->a);
    bm_interp_passes_of(&passes, m.n,
                        p->coarsest < MAX_PASSES ? p->coarsest : MAX_PASSES);
    rc = take_middle(&part, &m, n, samples, f->size);
    for (int i = 0; i < 2 && !rc; i++)
        rc = encode_block(state, &out[i], sizes, &loss[i], f, &passes,
                          (struct effort){i * SLOPE, 0}, part.data);
    if (!rc && (out[1].size < out[0].size ||
                (out[1].size <= out[0].size + out[0].size / 32 &&
                 loss[1].squares < 0.8 * loss[0].squares)))
        *slope = SLOPE;
    bm_buffer_release(&part);
    bm_buffer_release(&out[0]);
    bm_buffer_release(&out[1]);
    return rc;
}

int bm_interp_encode(struct bm_codec_state *state, struct bm_buffer *out,
                     uint32_t *sizes, struct bm_loss *loss,
                     const struct bm_field *f, const void *samples)
{
    struct bm_passes p;
    int slope, rc;

    memset(sizes, 0, sizeof(*sizes) * (size_t)f->levels);
    if (!bm_lattice_samples(&f->lattice[0]))
        return BOUMA_OK;
    bm_interp_passes(&p, f);
    rc = choose_slope(state, f, &p, samples, &slope);
    return rc ? rc
              : encode_block(state, out, sizes, loss, f, &p,
                             (struct effort){slope, 1}, samples);
}
