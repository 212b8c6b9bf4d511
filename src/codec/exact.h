/* exact.h -- what encoder and decoder of codec exact share: views of samples,
 * the inner loops, and pieces. codec_exact.c says how it works. */
#ifndef BM_EXACT_H
#define BM_EXACT_H

#include "codec/interp.h"

/* What samples are: floating-point numbers, of any bits; whole numbers; or
 * floating-point numbers that are whole numbers of steps. */
enum bm_exact_kind { BM_EXACT_REALS, BM_EXACT_WHOLE, BM_EXACT_STEPS };

/* Samples are predicted from their views, which are f32 or f64: the samples
 * themselves, or whole numbers up to a limit. */
struct bm_exact_view {
    enum bm_exact_kind kind;
    bouma_type type; /* of samples */
    double step;     /* of BM_EXACT_STEPS */
    int drop;        /* of BM_EXACT_REALS: last bits that are 0 in all */
    const struct bm_exact_kernels *kernels;
};

/* The view of samples of a type. */
struct bm_exact_view bm_exact_view_of(bouma_type type);
/* The step of which all samples are whole numbers, with few enough of them: 0 if
 * there is none. */
double bm_exact_step(bouma_type type, const void *samples, size_t n);
/* To views, and back. The first gives 0 if a sample is beyond the limit. */
int bm_exact_to_views(const struct bm_exact_view *v, void *views,
                      const void *samples, size_t n);
void bm_exact_from_views(const struct bm_exact_view *v, void *samples,
                         const void *views, size_t n);

/* Bits beside the symbols: as in entropy.h, but many at once. The writer's
 * memory has room; behind what is read come zeros. */
struct bm_exact_writer {
    uint8_t *p;
    uint64_t held;
    int count; /* less than 8 */
};
struct bm_exact_reader {
    const uint8_t *data;
    size_t bytes;
    uint64_t at; /* bits */
};

/* The inner loops for one type of view. Logarithms are in quarters of an
 * octave, 0 to 255. */
struct bm_exact_kernels {
    const struct bm_interp_kernels *interp;
    bouma_type type; /* of views */
    size_t size;
    int fraction; /* its bits */
    double limit; /* of whole numbers */
    /* Predictions to what views can be. */
    void (*settle)(void *predicted, int64_t n, int whole);
    /* Predictions with shares of what two others missed; what is missed. */
    void (*mend)(void *out, const void *predicted, const void *const missed[2],
                 const double weight[2], int64_t n);
    void (*miss)(void *out, const void *views, const void *predicted,
                 int64_t n);
    /* Logarithms of how far words are from those of predictions: twice, of a
     * more than these; and once more, of (|a| + |b|) / 2 more. */
    void (*logs)(uint16_t *out, const void *predicted, const void *a, int64_t n,
                 int whole, int drop);
    void (*add_logs)(uint16_t *out, const void *predicted, const void *a,
                     const void *b, int64_t n, int whole, int drop);
    /* Folded differences between the words of samples and of predictions, and
     * the logarithms of their magnitudes; and back. */
    void (*code)(void *folded, uint8_t *magnitudes, const void *views,
                 const void *predicted, int64_t n, int whole, int drop);
    void (*rebuild)(void *views, uint8_t *magnitudes, const void *folded,
                    const void *predicted, int64_t n, int whole, int drop);
    /* The symbols of folded differences, with the bits beside them; and back.
     * BM_ESCAPE gives 0. */
    void (*put)(uint8_t *symbols, struct bm_exact_writer *bits,
                const void *folded, int64_t n);
    void (*get)(void *folded, struct bm_exact_reader *bits,
                const uint8_t *symbols, int64_t n);
    /* Whether all are whole numbers up to the limit. */
    int (*are_whole)(const void *views, size_t n);
    /* Whether view i has no word and is kept as it is; whether there is any. */
    int (*is_kept)(const void *views, size_t i, int whole);
    int (*any_kept)(const void *views, size_t n, int whole);
    /* How many of the last bits are 0 in all, up to those of a fraction. */
    int (*unused_bits)(const void *views, size_t n);
};

extern const struct bm_exact_kernels bm_exact_f32, bm_exact_f64;

/* See 'put' and 'get'. */
void bm_exact_put_f32(uint8_t *symbols, struct bm_exact_writer *bits,
                      const void *folded, int64_t n);
void bm_exact_put_f64(uint8_t *symbols, struct bm_exact_writer *bits,
                      const void *folded, int64_t n);
void bm_exact_get_f32(void *folded, struct bm_exact_reader *bits,
                      const uint8_t *symbols, int64_t n);
void bm_exact_get_f64(void *folded, struct bm_exact_reader *bits,
                      const uint8_t *symbols, int64_t n);

/* ---- contexts ----------------------------------------------------------- */

/* How long a difference is likely to be, in quarters of an octave, 0 to 255. */
void bm_exact_lengths(uint8_t *lengths, const uint16_t *expected, int64_t n);

/* Lengths have contexts of 'step' quarters each, from 'low' on. */
#define EXACT_CONTEXTS  22
#define EXACT_MOST_STEP 15
struct bm_exact_ranges {
    int low, step;
};
void bm_exact_contexts(uint8_t of[256], const struct bm_exact_ranges *r,
                       const uint8_t *table);

/* ---- pieces ------------------------------------------------------------- */

/* A piece:
 *
 *     u8   form: as below
 *   EXACT_PACKED:
 *     the samples, sorted, as bm_zstd_pack() makes them
 *   EXACT_CODED, EXACT_STEPS:
 *     EXACT_STEPS: f64 step; EXACT_CODED: u8 last bits that are dropped
 *     u8 low, u8 step of contexts
 *     bits: Golomb number: samples that are kept as they are
 *           the predictions, as in interp.h
 *           Golomb number: bytes of the bits beside the symbols
 *     if samples are kept: u32 bytes, and their views, as bm_zstd_pack() makes them
 *     the bits beside the symbols, then what bm_rans_encode() makes
 */
enum { EXACT_PACKED = 0, EXACT_CODED = 1, EXACT_STEPS = 2 };

struct bm_exact_piece {
    struct bm_exact_view view;
    struct bm_interp_piece w; /* of a field of views */
    struct bm_field field;
    struct bm_exact_ranges ranges;
    uint8_t *folded; /* of a batch: words */
    uint8_t *mended; /* of a row: predictions */
    uint8_t *missed; /* a row of zeros, then rows of a plane of an octant */
};

/* How an octant is predicted: as interp does it; if it is mended, with shares of
 * what was missed in the row above and in the plane before. */
#define EXACT_MENDED 8 /* before a choice: two weights follow */
struct bm_exact_way {
    struct bm_shares shares;
    int mended;
    double weight[2];
};

/* From bits, 0 if there is no such way; over all of the piece of level k, 0 if
 * one has none. */
int bm_exact_way_get(struct bm_exact_way *way, struct bm_bit_reader *bits,
                     const struct bm_octants *o, int p);
int bm_exact_ways_skip(struct bm_bit_reader *bits, const struct bm_passes *p,
                       int k);

/* The best way, by some rows. It is added to w.choices. */
void bm_exact_choose(struct bm_exact_piece *e, struct bm_fit *f,
                     const struct bm_lookup *l, int p, const uint8_t *samples,
                     struct bm_exact_way *way);

void bm_exact_piece_init(struct bm_exact_piece *e, const struct bm_field *f,
                         const struct bm_exact_view *view,
                         const bouma_allocator *a);
void bm_exact_lay_out(struct bm_carver *c, struct bm_interp_space *s,
                      struct bm_exact_piece *e, const struct bm_passes *p,
                      int first);

/* The predictions of a batch to w.row, and all that contexts depend
 * on but the magnitudes of these rows. */
void bm_exact_predict(struct bm_exact_piece *e, const struct bm_lookup *l,
                      const struct bm_batch *b, const struct bm_shares *shares);

/* Before octant p. Then, for one row after the other, its predictions, which are
 * those of the batch if it is not mended; and, once its views are known, what
 * was missed. */
void bm_exact_mend_begin(struct bm_exact_piece *e, const struct bm_octants *o,
                         int p, const struct bm_exact_way *way);
const uint8_t *bm_exact_mend(struct bm_exact_piece *e,
                             const struct bm_octants *o,
                             const struct bm_batch *b, int64_t row,
                             const struct bm_exact_way *way);
void bm_exact_missed(struct bm_exact_piece *e, const struct bm_octants *o,
                     const struct bm_batch *b, int64_t row,
                     const struct bm_exact_way *way, const uint8_t *views);

/* See struct bm_codec. Where a sample of a level lies does not matter to the
 * codec 'interp', either: it has these pieces, too. */
int bm_exact_encode(struct bm_codec_state *state, struct bm_buffer *out,
                    uint32_t *sizes, struct bm_loss *loss,
                    const struct bm_field *f, const void *samples);

/* Whether more than one of so many values comes again, by some of all n, of 4 or 8
 * bytes each. */
int bm_exact_come_again(const void *values, size_t n, size_t size, size_t of);

/* Values of particles: see struct bm_codec.
 *
 *     u8   form: as below
 *   LIST_ZSTD:
 *     the values, as bm_zstd_pack() makes them
 *   LIST_PACKED, for each component:
 *     u8 last bits that are left out, as they are 0 in all
 *     u8 for each 32 values: the bits that a difference has
 *     the differences; bits, the lowest of a byte first, up to a whole byte
 */
enum { LIST_ZSTD = 0, LIST_PACKED = 1 };
int bm_exact_encode_list(struct bm_codec_state *state, struct bm_buffer *out,
                         const void *values, const struct bm_list *list);
int bm_exact_decode_list(struct bm_codec_state *state, void *values,
                         const struct bm_list *list, const uint8_t *in,
                         size_t stored);

#endif
