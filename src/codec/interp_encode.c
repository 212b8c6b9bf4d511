/* interp_encode.c -- samples to pieces: see interp.h and codec_interp.c. */
#include <string.h>

#include "base/tiling.h"
#include "codec/clones.h"
#include "codec/interp.h"
#include "codec/values.h"

/* Bounds of coarse levels: up to a quarter of what is asked for, by half an
 * octave a level, where that pays. */
#define FINEST 8
#define SLOPE  2

/* Pieces of fewer samples are not divided into blocks. */
#define LEAST_DIVIDED 32768

/* Trials only count bytes; another one takes the same choices. */
enum trial { NO_TRIAL, TRIAL, AGAIN };

/* A block while its integers are gathered. */
struct block {
    size_t begin, put;      /* where its symbols are, and how many */
    struct bm_buffer extra; /* the bits beside them */
    struct bm_bit_writer writer;
    size_t kept;  /* samples that are kept as they are */
    size_t bytes; /* of its stream */
};

struct encoding {
    const struct bm_passes *passes;
    struct bm_interp_piece piece;
    struct bm_interp_space space;
    /* The samples of each pass, sorted; behind the last one, those of the
     * chunk, which begin with the one that is left. */
    const uint8_t *original[MAX_PASSES + 1];
    struct bm_fit fit;
    int slope; /* each level is finer by so many quarters of an octave */
    struct block *blocks;    /* [MOST_BLOCKS], those of the piece are in use */
    struct bm_buffer owners; /* u8: the blocks of samples that are kept */
    enum trial trial;
    size_t bytes[MAX_PASSES + 1]; /* of pieces in a trial, about */
    const size_t *expected;       /* of the pieces, if it is known */
    size_t coarser;               /* bytes of the piece before */
    int pass;
    uint8_t choices[MAX_PASSES][BM_OCTANTS];
    int now; /* space.dense[now] has the coarser samples, as decoded */
};

/* The symbols of integers, see entropy.h; not that of NO_CODE. */
BM_CLONES static void put_symbols(uint8_t *restrict symbols,
                                  const int32_t *restrict codes, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t q = -codes[i];
        uint32_t folded = (uint32_t)q << 1 ^ (uint32_t)(q >> 31), bits;
        /* A float has 24 bits; they tell the highest one and the next. */
        float f = (float)(int32_t)(folded & ~(folded >> 24));

        memcpy(&bits, &f, sizeof(bits));
        bits = (bits >> 22) - 2 * (127 + 5) + BM_DIRECT_SYMBOLS;
        symbols[i] = (uint8_t)(folded < BM_DIRECT_SYMBOLS ? folded : bits);
    }
}

/* A sample that is kept as it is. */
static void keep(struct encoding *e, size_t block, uint8_t *decoded,
                 const uint8_t *samples, int64_t i, size_t index)
{
    struct bm_interp_piece *w = &e->piece;
    const uint8_t *value = samples + (size_t)i * w->field->size;

    e->blocks[block].kept++;
    bm_put_u8(&e->owners, (uint8_t)block);
    bm_put_bytes(&w->exact, value, w->field->size);
    bm_put_u32(&w->where, (uint32_t)(index + (size_t)i));
    w->kernels->set_value(decoded, i, value);
}

/* What goes with the symbols of integers of a block that are large, or none. */
static void put_large(struct encoding *e, size_t block, uint8_t *decoded,
                      const uint8_t *samples, int64_t begin, int64_t end,
                      size_t index)
{
    struct bm_interp_piece *w = &e->piece;
    uint8_t *symbols = w->batch;

    for (int64_t i = begin; i < end; i++) {
        if (i + 8 <= end && bm_symbols_are_direct(symbols + i)) {
            i += 7;
        } else if (w->codes[i] == NO_CODE) {
            symbols[i] = BM_ESCAPE;
            keep(e, block, decoded, samples, i, index);
        } else {
            bm_symbol_put(&e->blocks[block].writer, bm_fold(w->codes[i]));
        }
    }
}

/* The integers of samples, predicted in w->row: what they become when decoded,
 * and their symbols. Returns whether some are large, or none. */
static int put_codes(struct bm_interp_piece *w, uint8_t *decoded,
                     const uint8_t *samples, int64_t n)
{
    uint32_t all = w->kernels->quantise(w->codes, decoded, samples, w->row, n,
                                        &w->quantum, &w->loss);

    w->done += (size_t)n;
    w->any |= all != 0;
    put_symbols(w->batch, w->codes, n);
    return all >= BM_DIRECT_SYMBOLS - 1;
}

static void put_rows(struct encoding *e, const struct bm_batch *b, int64_t n,
                     uint8_t *decoded, const uint8_t *samples, size_t index)
{
    const struct bm_blocks *blocks = &e->piece.contexts.blocks;
    int64_t next;

    if (!put_codes(&e->piece, decoded, samples, b->rows * n))
        return;
    for (int64_t y = 0; y < b->rows; y = next) {
        next = bm_block_end(blocks, 1, b->y + y) - b->y;
        next = next < b->rows ? next : b->rows;
        put_large(e, bm_block_at(blocks, b->z, b->y + y), decoded, samples,
                  y * n, next * n, index);
    }
}

/* Append symbols, whose contexts are there already. */
static void append(struct bm_interp_piece *w, struct block *block,
                   const uint8_t *symbols, int64_t n)
{
    memcpy(w->symbols + block->begin + block->put, symbols, (size_t)n);
    block->put += (size_t)n;
}

static int are_zero(const uint8_t *symbols, int64_t n)
{
    uint8_t all = 0;

    for (int64_t i = 0; i < n; i++)
        all |= symbols[i];
    return !all;
}

/* The symbols of the integers that were put last, with their contexts. */
static void put_batch(struct encoding *e, const struct bm_lookup *l,
                      const struct bm_batch *b, int bends, size_t index)
{
    struct bm_interp_piece *w = &e->piece;
    int64_t n = l->octants->count[b->p][2];
    const struct bm_contexts *c = &w->contexts;

    bm_interp_magnitudes(c->magnitudes + index, w->codes, b->rows * n);
    bm_contexts_begin(&w->contexts, l, b, bends, &w->quantum);
    bm_contexts_expect(c, l->octants, b, 0, b->rows);
    for (int64_t y = 0; y < b->rows; y++) {
        const uint8_t *symbols = w->batch + y * n;
        const uint16_t *expected = c->expected + y * n;
        struct block *block =
            &e->blocks[bm_block_at(&c->blocks, b->z, b->y + y)];

        if (w->row_symbols && n >= LONG_ROW &&
            bm_contexts_are_lowest(expected, n)) {
            uint8_t any = !are_zero(symbols, n);

            w->context[block->begin + block->put] = ROW_CONTEXT;
            append(w, block, &any, 1);
            if (!any)
                continue;
        }
        bm_contexts_look_up(c, w->context + block->begin + block->put, expected,
                            n);
        append(w, block, symbols, n);
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

    if (e->trial == AGAIN)
        bm_shares_of_choice(&shares, e->choices[e->pass][p]);
    else
        e->choices[e->pass][p] = (uint8_t)bm_interp_choose(
            w, &e->fit, e->trial ? BM_FIT_NONE : BM_FIT_BOUND, l, p, samples,
            &shares);
    for (int64_t z = 0, y = 0; z < count[0]; z += y == count[1]) {
        struct bm_batch b;
        int64_t n;
        int bends = 0;

        y %= count[1];
        b = bm_interp_batch(o, p, z, y, count[1]);
        n = b.rows * count[2];
        if (bm_is_odd_along_one(p) && !e->trial)
            bends = bm_interp_bend(l, &b);
        bm_interp_predict(l, w->row, &b, &shares);
        put_rows(e, &b, count[2], l->sorted + index * l->size, samples, index);
        if (e->trial)
            append(w, &e->blocks[0], w->batch, n);
        else
            put_batch(e, l, &b, bends, index);
        y += b.rows;
        index += (size_t)n;
        samples += (size_t)n * l->size;
    }
}

/* The single sample that is left at last. */
static void encode_root(struct encoding *e, uint8_t *decoded,
                        const uint8_t *sample)
{
    struct bm_interp_piece *w = &e->piece;

    memset(w->row, 0, w->field->size);
    w->context[0] = CONTEXTS - 1; /* nothing is known */
    put_rows(e, &(struct bm_batch){0, 0, 0, 1}, 1, decoded, sample, 0);
    append(w, &e->blocks[0], w->batch, 1);
    if (!w->exact.failed && !w->where.failed)
        bm_interp_restore(decoded, &w->where, w->exact.data, w->field->size);
    bm_buffer_clear(&w->where);
}

/* Bits of the Golomb code of order k of all integers, which are symbols still.
 */
static int put_golomb(struct bm_buffer *out, const struct encoding *e, int k,
                      size_t most)
{
    const struct bm_interp_piece *w = &e->piece;
    const struct bm_buffer *extra = &e->blocks[0].extra;
    struct bm_bit_reader in = bm_bit_reader_of(extra->data, extra->size);
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

/* The integers in blocks, to w->coded. */
static int put_blocks(struct encoding *e)
{
    struct bm_interp_piece *w = &e->piece;
    size_t count = bm_blocks_count(&w->contexts.blocks);
    struct bm_buffer *out = &w->coded;
    struct bm_rans_encoder rans;
    int rc = BOUMA_OK;

    memset(rans.counts, 0, sizeof(rans.counts));
    for (size_t i = 0; i < count; i++)
        bm_rans_count(&rans, w->symbols + e->blocks[i].begin,
                      w->context + e->blocks[i].begin, e->blocks[i].put);
    bm_rans_put_tables(&rans, out, BM_RANS_CONTEXTS);
    for (size_t i = 0; i < count && !rc; i++) {
        struct block *b = &e->blocks[i];
        size_t begin;

        bm_put_bytes(out, b->extra.data, b->extra.size);
        begin = out->size;
        rc = bm_rans_put_stream(out, &rans, w->symbols + b->begin,
                                w->context + b->begin, b->put, BLOCK_STATES);
        b->bytes = out->size - begin;
    }
    return rc;
}

/* The integers, in the shortest way, to w->coded. */
static int put_integers(struct encoding *e, struct way *way)
{
    struct bm_interp_piece *w = &e->piece;
    const struct block *block = &e->blocks[0];
    struct bm_buffer *out = &w->coded;
    size_t bytes;
    int rc;

    *way = (struct way){HOW_ZERO, 0};
    if (!w->any)
        return BOUMA_OK;
    if (bm_blocks_count(&w->contexts.blocks) > 1) {
        way->how = HOW_BLOCKS;
        return put_blocks(e);
    }
    way->how = HOW_RANS;
    bm_put_bytes(out, block->extra.data, block->extra.size);
    rc = bm_rans_encode(out, w->symbols, w->context, block->put,
                        BM_RANS_CONTEXTS, w->done);
    bytes = out->size;
    if (rc || w->done >= FEW_SAMPLES)
        return rc;
    for (int k = 0; k < 16 && !rc; k++) {
        size_t other = out->size;

        rc = put_golomb(out, e, k, bytes);
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

/* Bring samples that are kept into the order of blocks. BOUMA_OK or ENOMEM. */
static int sort_kept(struct encoding *e)
{
    struct bm_interp_piece *w = &e->piece;
    size_t at[MOST_BLOCKS], next = 0, size = w->field->size;
    struct bm_buffer sorted;
    uint8_t *to;

    bm_buffer_init(&sorted, w->exact.a);
    to = bm_buffer_extend(&sorted, w->exact.size);
    for (size_t i = 0; i < bm_blocks_count(&w->contexts.blocks); i++) {
        at[i] = next;
        next += e->blocks[i].kept;
    }
    for (size_t i = 0; i < e->owners.size && to; i++)
        memcpy(to + at[e->owners.data[i]]++ * size, w->exact.data + i * size,
               size);
    if (to)
        memcpy(w->exact.data, to, w->exact.size);
    bm_buffer_release(&sorted);
    return to ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Where the blocks are. */
static void put_block_sizes(struct bm_bit_writer *bits,
                            const struct encoding *e)
{
    const struct bm_blocks *b = &e->piece.contexts.blocks;

    for (int d = 0; d < 2; d++)
        bm_golomb_put(bits, (uint32_t)b->shift[d], 0);
    for (size_t i = 0; i < bm_blocks_count(b); i++) {
        const struct block *block = &e->blocks[i];

        if (e->owners.size)
            bm_golomb_put(bits, (uint32_t)block->kept, 0);
        bm_golomb_put(bits, (uint32_t)block->extra.size, EXTRA_ORDER);
        bm_golomb_put(bits, (uint32_t)block->bytes, STREAM_ORDER);
    }
}

/* What comes before the integers. */
static int put_header(struct bm_codec_state *state, struct bm_buffer *out,
                      struct encoding *e, struct way way)
{
    const struct bm_interp_piece *w = &e->piece;
    struct bm_bit_writer bits = {out, 0, 0};
    size_t at, count = w->exact.size / w->field->size;
    int rc;

    bm_put_u8(out, FORM_CODED);
    bm_bits_put(&bits, (uint32_t)way.how, 2);
    bm_golomb_put(&bits, (uint32_t)w->finer, 0);
    bm_golomb_put(&bits, (uint32_t)count, 0);
    bm_shares_put(&bits, &w->choices);
    if (way.how == HOW_GOLOMB)
        bm_bits_put(&bits, (uint32_t)way.order, 4);
    else if (way.how == HOW_RANS)
        bm_golomb_put(&bits, (uint32_t)e->blocks[0].extra.size, 0);
    else if (way.how == HOW_BLOCKS)
        put_block_sizes(&bits, e);
    bm_bits_end(&bits);
    if (!count)
        return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
    at = out->size;
    bm_put_u32(out, 0);
    rc = way.how == HOW_BLOCKS ? sort_kept(e) : BOUMA_OK;
    if (!rc)
        rc = bm_zstd_pack(state, out, w->exact.data, count, w->field->size);
    if (rc || out->failed)
        return BOUMA_ENOMEM;
    bm_store_u32(out->data + at, (uint32_t)(out->size - at - 4));
    return BOUMA_OK;
}

/* Append what was gathered; or, if that is not shorter, all samples exactly,
 * with *exact set. 'sorted' are those of the piece. */
static int put_piece(struct bm_codec_state *state, struct bm_buffer *out,
                     struct encoding *e, int *exact)
{
    struct bm_interp_piece *w = &e->piece;
    size_t begin = out->size, plain = w->done * w->field->size;
    int failed = w->choices.failed || w->exact.failed || w->where.failed ||
                 e->owners.failed;
    struct way way;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < bm_blocks_count(&w->contexts.blocks); i++) {
        bm_bits_end(&e->blocks[i].writer);
        failed |= e->blocks[i].extra.failed;
    }
    *exact = w->exact.size >= plain;
    if (failed)
        return BOUMA_ENOMEM;
    if (!*exact) {
        rc = put_integers(e, &way);
        if (!rc)
            rc = put_header(state, out, e, way);
        bm_put_bytes(out, w->coded.data, w->coded.size);
        *exact = !rc && out->size - begin > plain;
        if (*exact)
            out->size = begin;
    }
    return rc ? rc : out->failed || w->coded.failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* About how many bytes more a piece has in blocks. A state has three bytes more
 * than it holds, and a block three for its sizes; contexts lose a 32nd of a bit
 * for a sample of the first plane or row of a block. */
static size_t cost_of_blocks(const struct bm_blocks *b, size_t samples)
{
    return bm_blocks_count(b) * (3 * BLOCK_STATES + 3) +
           ((samples >> b->shift[0]) + (samples >> b->shift[1])) / 256;
}

/* About how many bytes the piece of level k will have: what a trial gives, or
 * less by as much as that was wrong for the next coarser one. */
static uint64_t expected_bytes(const struct encoding *e, int k)
{
    uint64_t bytes = e->expected[k];
    uint64_t coarser = k + 1 < e->passes->root ? e->expected[k + 1] : 0;

    return coarser > e->coarser ? bytes * e->coarser / coarser : bytes;
}

/* The smallest blocks that make a piece longer by less than a hundredth. */
static void choose_blocks(struct encoding *e, int k)
{
    static const int shifts[][2] = {{3, 3}, {4, 3}, {4, 4}, {5, 4}, {5, 5}};
    struct bm_blocks *blocks = &e->piece.contexts.blocks;
    size_t samples = bm_interp_piece_samples(e->passes, k);
    uint64_t bytes;

    *blocks = bm_blocks_undivided();
    if (!e->expected || k >= e->passes->root || samples < LEAST_DIVIDED)
        return;
    bytes = expected_bytes(e, k);
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        struct bm_blocks b;

        if (bm_blocks_init(&b, &e->passes->octants[k], shifts[i]) &&
            cost_of_blocks(&b, samples) < bytes / 100) {
            *blocks = b;
            return;
        }
    }
}

/* Room for the symbols of all blocks. */
static void begin_blocks(struct encoding *e, int k)
{
    const struct bm_blocks *b = &e->piece.contexts.blocks;
    size_t begin = 0;

    for (size_t i = 0; i < bm_blocks_count(b); i++) {
        struct block *block = &e->blocks[i];
        const struct bm_octants *o = &e->passes->octants[k];
        size_t rows;

        bm_buffer_clear(&block->extra);
        block->writer = (struct bm_bit_writer){&block->extra, 0, 0};
        block->begin = begin;
        block->put = block->kept = 0;
        if (bm_blocks_count(b) == 1)
            break;
        begin += bm_block_samples(b, o, i, &rows);
        begin += rows;
    }
}

/* The piece of level k. */
static void piece_begin(struct encoding *e, int k)
{
    struct bm_interp_piece *w = &e->piece;

    bm_buffer_clear(&w->choices);
    bm_buffer_clear(&w->exact);
    bm_buffer_clear(&w->where);
    bm_buffer_clear(&w->coded);
    bm_buffer_clear(&e->owners);
    choose_blocks(e, k);
    begin_blocks(e, k);
    w->done = 0;
    w->row_symbols = bm_interp_piece_samples(e->passes, k) >= FEW_SAMPLES;
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
    e->pass = j;
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

/* About how many bytes a piece has. */
static size_t bytes_of(const struct encoding *e)
{
    const struct bm_interp_piece *w = &e->piece;
    const struct block *b = &e->blocks[0];
    size_t plain = w->done * w->field->size, bytes = w->exact.size + 8;

    if (w->any)
        bytes += b->extra.size + bm_rans_estimate(w->symbols, b->put);
    return bytes < plain ? bytes : plain;
}

/* End the piece of level k, and bring the samples to what will be decoded. */
static int end_piece(struct bm_codec_state *state, struct bm_buffer *out,
                     struct encoding *e, int k, struct bm_loss *loss)
{
    const struct bm_loss *lost = &e->piece.loss;
    int exact = 0, rc = BOUMA_OK;

    if (e->trial)
        e->bytes[k] = bytes_of(e);
    else
        rc = put_piece(state, out, e, &exact);
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
    encode_root(e, s->dense[0], e->original[p->count]);
    for (int j = p->count; j >= 0 && !rc; j--) {
        size_t begin = out->size;

        if (j < p->root)
            piece_begin(e, j);
        if (j < p->count)
            encode_pass(e, j);
        if (j <= p->root) {
            rc = end_piece(state, out, e, j, loss);
            *size_of_piece(sizes, p, j) = (uint32_t)(out->size - begin);
            e->coarser = out->size - begin;
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
    e->fit.samples = bm_carve(c, FIT_ROOM * size);
    for (int i = 0; i <= MAX_WEIGHTS; i++)
        e->fit.term[i] = bm_carve(c, FIT_ROOM * size);
    e->blocks = bm_carve(c, MOST_BLOCKS * sizeof(*e->blocks));
}

/* All samples of a chunk, or of a part of it; which bounds the levels have, and
 * whether it is but a trial, is in *e. */
static int encode_block(struct bm_codec_state *state, struct bm_buffer *out,
                        uint32_t *sizes, struct bm_loss *loss,
                        const struct bm_field *f, struct encoding *e,
                        const void *samples)
{
    struct bm_quantum finest = bm_interp_quantum(f, e->slope ? FINEST : 0);
    const struct bm_passes *p = e->passes;
    struct bm_carver c = {NULL, 0};
    size_t all = 0;
    int rc;

    e->now = 0;
    memset(e->bytes, 0, sizeof(e->bytes));
    bm_interp_piece_init(&e->piece, f, state->a);
    for (int j = 0; j < p->count; j++)
        all += bm_interp_samples(p, j) * f->size;
    lay_out(&c, e, f->size);
    bm_carve(&c, all);
    c.at = bm_codec_work(state, c.bytes);
    if (!c.at)
        return BOUMA_ENOMEM;
    c.bytes = 0;
    lay_out(&c, e, f->size);
    bm_contexts_init(&e->piece.contexts, NULL);
    bm_buffer_init(&e->owners, state->a);
    for (int i = 0; i < MOST_BLOCKS; i++)
        bm_buffer_init(&e->blocks[i].extra, state->a);
    sort_all(e, bm_carve(&c, all), samples);
    rc = bm_interp_can_quantise(f, &finest)
             ? encode_integers(state, out, sizes, loss, e)
             : encode_exactly(state, out, sizes, e);
    bm_interp_piece_release(&e->piece);
    bm_buffer_release(&e->owners);
    for (int i = 0; i < MOST_BLOCKS; i++)
        bm_buffer_release(&e->blocks[i].extra);
    return rc;
}

/* What trials on a part of a chunk tell. */
struct trials {
    int slope; /* that pays */
    int exact; /* codec exact may be shorter */
    int known; /* 'bytes' are about those of the pieces */
    size_t bytes[MAX_PASSES + 1];
};

/* Whether finer bounds on coarse levels pay, by trying both on a part: with no
 * more bytes, or hardly more and smaller errors. And whether codec exact is to be
 * tried on all: it is unless it has more bytes. */
static int try_part(struct bm_codec_state *state, const struct bm_field *f,
                    const struct bm_passes *p, const void *samples,
                    struct trials *t)
{
    const int64_t *n = f->lattice[0].count;
    struct bm_loss loss[2] = {{0, 0}, {0, 0}};
    struct bm_quantum finest = bm_interp_quantum(f, FINEST);
    uint32_t sizes[MAX_PASSES + 1];
    struct bm_buffer none, part;
    size_t bytes[2] = {0, 0}, exact = 0;
    struct bm_passes passes;
    struct encoding e = {.passes = &passes};
    struct bm_middle m;
    int rc;

    *t = (struct trials){.exact = 1};
    if (!bm_middle_of(&m, n) || !bm_interp_can_quantise(f, &finest))
        return BOUMA_OK;
    bm_buffer_init(&part, state->a);
    bm_buffer_init(&none, state->a);
    bm_interp_passes_of(&passes, m.n,
                        p->coarsest < MAX_PASSES ? p->coarsest : MAX_PASSES);
    rc = bm_middle_take(&part, &m, n, samples, f->size);
    for (int i = 0; i < 2 && !rc; i++) {
        e.slope = i * SLOPE;
        e.trial = i ? AGAIN : TRIAL;
        rc = encode_block(state, &none, sizes, &loss[i], f, &e, part.data);
        for (int k = 0; k <= passes.root && !rc; k++)
            bytes[i] += e.bytes[k];
        for (int k = 0; k < passes.root && k < p->root && !i && !rc; k++)
            t->bytes[k] = (size_t)((double)e.bytes[k] *
                                   (double)bm_interp_piece_samples(p, k) /
                                   (double)bm_interp_piece_samples(&passes, k));
    }
    t->known = !rc;
    if (!rc &&
        (bytes[1] < bytes[0] || (bytes[1] <= bytes[0] + bytes[0] / 32 &&
                                 loss[1].squares < 0.8 * loss[0].squares)))
        t->slope = SLOPE;
    t->exact = !rc && bm_interp_may_be_exact(f, part.data, part.size / f->size,
                                             bytes[0]);
    if (t->exact) {
        rc = bm_interp_try_exact(state, f, &m, part.data, &exact);
        t->exact = exact < bytes[0] + bytes[0] / 8;
    }
    bm_buffer_release(&part);
    bm_buffer_release(&none);
    return rc;
}

int bm_interp_encode(struct bm_codec_state *state, struct bm_buffer *out,
                     uint32_t *sizes, struct bm_loss *loss,
                     const struct bm_field *f, const void *samples)
{
    struct bm_passes p;
    struct encoding e = {.passes = &p};
    struct bm_loss before = *loss;
    size_t begin = out->size;
    struct trials t;
    int rc, exact = 0;

    memset(sizes, 0, sizeof(*sizes) * (size_t)f->levels);
    if (!bm_lattice_samples(&f->lattice[0]))
        return BOUMA_OK;
    bm_interp_passes(&p, f);
    rc = try_part(state, f, &p, samples, &t);
    e.slope = t.slope;
    e.expected = t.known ? t.bytes : NULL;
    if (!rc)
        rc = encode_block(state, out, sizes, loss, f, &e, samples);
    if (!rc && t.exact &&
        bm_interp_may_be_exact(f, samples,
                               (size_t)bm_lattice_samples(&f->lattice[0]),
                               out->size - begin))
        rc = bm_interp_take_exact(state, out, begin, sizes, f, samples, &exact);
    if (exact)
        *loss = before;
    return rc;
}
