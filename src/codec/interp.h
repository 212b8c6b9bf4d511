/* interp.h -- what encoder and decoder of codec interp share: the passes of a
 * chunk, predictions, tables, and memory. codec_interp.c says how it works. */
#ifndef BM_INTERP_H
#define BM_INTERP_H

#include <string.h>

#include "codec/codec.h"
#include "codec/entropy.h"
#include "codec/octants.h"

#define NO_CODE    INT32_MAX
#define CODE_LIMIT 16000000 /* folded: below BM_FOLDED_LIMIT */

#define MAX_PASSES 40

/* Larger ones count as this where they choose a context. */
#define MOST_MAGNITUDE 60000

/* Contexts: ranges of the magnitude that is expected, which is a mean of
 * logarithms in units of 1/64 octave. And one for a symbol before a row of which
 * all are in the lowest: whether an integer is not 0, else they are left out. In
 * short rows, and in pieces with few samples, there is none. */
#define CONTEXTS    22
#define ROW_CONTEXT CONTEXTS
#define LOWEST      1 /* expectation */
#define LONG_ROW    16
#define EXPECTATION 1024 /* all are less */

/* From so many samples on, Golomb codes are never shorter. */
#define FEW_SAMPLES 2048

/* Sums that bytes of the file depend on are kept in so many parts. */
#define LANES 8

/* 16 log2(1 + x) for 0 <= x <= MOST_MAGNITUDE, each octave being taken to be
 * straight. */
static inline uint8_t bm_interp_log(float x)
{
    float f = x + 1;
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return (uint8_t)((bits >> 19) - (127 << 4));
}

/* How an octant is predicted: a bit for each axis as in its number, and LINEAR;
 * or FITTED, by weights that are stored, in units of 1 / WEIGHT_ONE. */
#define LINEAR       8
#define FITTED       0
#define WEIGHT_ONE   1024
#define MAX_WEIGHT   32767
#define MAX_WEIGHTS  9
#define WEIGHT_ORDER 7 /* of their Golomb codes */

struct bm_quantum {
    double bound, step, inverse; /* exact in the type of the samples */
};

/* Rows of n samples each, and how far apart they are where they come from and
 * where they go, in samples. */
struct bm_strip {
    int64_t rows, n, in, out;
};

/* The inner loops for one type of sample. */
struct bm_interp_kernels {
    void (*blend)(void *out, const void *const row[4], const double weight[4],
                  const struct bm_strip *strip, int more);
    void (*blend_both)(void *const out[2], const void *const row[4],
                       const double *const weight[2], int64_t n);
    void (*bend)(void *out, const void *const row[6],
                 const struct bm_strip *strip);
    void (*add_bends)(void *out, const void *const bend[2],
                      const double weight[2], int64_t n);
    void (*logs)(uint16_t *out, const void *row, double unit, int64_t n);
    void (*add_logs)(uint16_t *out, const void *first, const void *second,
                     double unit, int64_t n);
    uint32_t (*quantise)(int32_t *code, void *decoded, const void *samples,
                         const void *predicted, int64_t n,
                         const struct bm_quantum *quantum,
                         struct bm_loss *loss);
    void (*rebuild)(void *decoded, const int32_t *code, const void *predicted,
                    int64_t n, const struct bm_quantum *quantum);
    uint64_t (*miss)(const void *samples, const void *const term[3], int terms,
                     int64_t n, double unit);
    void (*less)(double *out, const void *a, const void *b, int64_t n);
    void (*set_value)(void *row, int64_t i, const void *value);
};

extern const struct bm_interp_kernels bm_interp_f32, bm_interp_f64;

/* ---- the passes of a chunk ---------------------------------------------- */

/* Pass j goes from the samples of pass j + 1 to eight times as many. Those from
 * 'root' on belong to one piece, that of the coarsest level with samples; it
 * begins with the one sample left. Levels between have no samples but its. */
struct bm_passes {
    struct bm_octants octants[MAX_PASSES];
    int count, root;
    int coarsest; /* level */
};

void bm_interp_passes(struct bm_passes *p, const struct bm_field *f);
/* Of n[0] x n[1] x n[2] samples, at least 1 each. */
void bm_interp_passes_of(struct bm_passes *p, const int64_t n[3], int coarsest);
/* Samples after pass j; samples that the piece of level k holds. */
size_t bm_interp_samples(const struct bm_passes *p, int j);
size_t bm_interp_piece_samples(const struct bm_passes *p, int k);

/* Pieces of coarser levels may have a smaller bound, by so many quarters of an
 * octave: what is predicted from them is the better for it. */
#define MAX_FINER 15

/* The bound, and a step a little below twice of it, so that rounding to the
 * sample's type rarely counts; and whether numbers as small can be trusted. */
struct bm_quantum bm_interp_quantum(const struct bm_field *f, int finer);
int bm_interp_can_quantise(const struct bm_field *f,
                           const struct bm_quantum *q);

/* ---- prediction --------------------------------------------------------- */

/* Where the coarse samples of a pass are, and those of the other octants. */
struct bm_lookup {
    const struct bm_octants *octants;
    const struct bm_interp_kernels *kernels;
    size_t size;
    const uint8_t *coarse;
    uint8_t *sorted;
    uint8_t **bends; /* rows: see bm_interp_bend() */
};

/* What each axis has of a prediction, by cubics and by lines; what the means of
 * the four neighbours have that differ along two axes (all but axis i), and of
 * the eight along three; what bends beside a sample have. And the weights of
 * four samples along each axis that follow, for each kind of place in a line:
 * these depend on the axes along which there is no right neighbour (as bits),
 * as lines take the place of the means. */
#define PLACES 7
enum {
    PLACE_MIDDLE,
    PLACE_FEW,
    PLACE_FIRST,
    PLACE_LAST,
    PLACE_BEYOND_2,
    PLACE_BEYOND_1,
    PLACE_CONSTANT
};
/* Sample 2j + 1 of a line from four of its even samples. */
extern const double bm_cubic_weights[PLACES][4], bm_line_weights[PLACES][4];
struct bm_shares {
    int fitted;
    int axes[BM_OCTANTS]; /* that have a share, as bits */
    double cubic[3], line[3], diagonal[3], corner, bend[2];
    double weight[BM_OCTANTS][3][PLACES][4];
};

void bm_shares_of_choice(struct bm_shares *shares, int choice);
/* How many weights octant p has, and what they give; or what one of the terms
 * alone gives. Term 0 is the one without a weight; those that choices need come
 * first: cubics, then lines. */
int bm_interp_weights(const struct bm_octants *o, int p);
void bm_shares_of_weights(struct bm_shares *shares, const struct bm_octants *o,
                          int p, const int32_t *weights);
void bm_shares_of_term(struct bm_shares *shares, const struct bm_octants *o,
                       int p, int term);
int bm_interp_choice_terms(int p);
/* Axes along which octant p is even and that have more than one sample. */
int bm_interp_other_axes(const struct bm_octants *o, int p);
/* How octant p is predicted, from bits; 0 if there is no such way. Go over all
 * octants of the piece of level k, 0 if one has no such way. And to bits, all
 * that bm_interp_choose() added to 'choices'. */
int bm_shares_get(struct bm_shares *shares, struct bm_bit_reader *bits,
                  const struct bm_octants *o, int p);
int bm_shares_skip(struct bm_bit_reader *bits, const struct bm_passes *p,
                   int k);
void bm_shares_put(struct bm_bit_writer *bits, const struct bm_buffer *choices);
/* Only along one axis. */
void bm_shares_of_axis(struct bm_shares *shares, int axis, double cubic,
                       double line);

/* Rows of octant p, one after the other in plane z, that are handled at once.
 * Work memory is for BATCH samples, or one row if that is longer. */
#define BATCH 4096
struct bm_batch {
    int p;
    int64_t z, y, rows;
};

/* The next rows of plane z, from y up to 'end'. */
struct bm_batch bm_interp_batch(const struct bm_octants *o, int p, int64_t z,
                                int64_t y, int64_t end);

/* How much coarser samples bend beside rows of an octant that is odd along one
 * axis: along each of the other axes that has samples, to l->bends[0] and [1].
 * Returns how many there are. */
int bm_interp_bend(const struct bm_lookup *l, const struct bm_batch *b);

/* The predictions for rows, one after the other; after bm_interp_bend() if
 * weights for bends are stored. */
void bm_interp_predict(const struct bm_lookup *l, uint8_t *to,
                       const struct bm_batch *b,
                       const struct bm_shares *shares);

/* What cubics and lines along one of the odd axes give for row (z, y) of octant
 * p: to[0] and to[1]. */
void bm_interp_terms(const struct bm_lookup *l, uint8_t *const to[2], int p,
                     int axis, int64_t z, int64_t y);

/* Some samples of an octant, and the terms that predict them; then what is to be
 * predicted, and what each weight adds to a prediction. */
#define LEAST_SAMPLES 1024
#define MOST_SAMPLES  2048
#define FIT_ROOM      (2 * MOST_SAMPLES)
struct bm_fit {
    uint8_t *samples, *term[MAX_WEIGHTS + 1]; /* [FIT_ROOM], as samples are */
    double *target, *part[MAX_WEIGHTS];       /* [FIT_ROOM] */
    double *weight, *missed;                  /* to work with */
    size_t count;
};

/* From the terms, of which the first are 'axes' cubics. Bends, of an octant that
 * is odd along one axis, are beside the others. Samples that are no numbers
 * count for nothing. */
void bm_fit_gather(struct bm_fit *f, const struct bm_interp_kernels *kernels,
                   int axes, int m, int bends);
/* Samples that are no numbers become 0; so do those behind the end, up to a
 * multiple of LANES. bm_fit_gather() did this. */
void bm_fit_clean(struct bm_fit *f, int m);
/* What counts as a good fit: nothing, as no weights are wanted; few bits beyond
 * the bound; or few bits beside those of samples around. */
enum bm_fitting { BM_FIT_NONE, BM_FIT_BOUND, BM_FIT_NEAR };
/* The m weights that fit best, rounded. 0 if there are none. */
int bm_fit_solve(int32_t *weights, const struct bm_fit *f, int m, double bound,
                 enum bm_fitting how);
/* How far off predictions with weights are, as kernels->miss tells. */
uint64_t bm_fit_misses(const struct bm_fit *f, const int32_t *weights, int m,
                       double unit);

static inline int bm_is_odd_along_one(int p)
{
    return p == 1 || p == 2 || p == 4;
}

/* ---- blocks ------------------------------------------------------------- */

/* The integers of a large pass may be divided into blocks of planes and rows,
 * each with a stream of its own, so that a part of the pass is decoded without
 * the others. Blocks have 2^shift[0] planes and 2^shift[1] rows of each octant;
 * they have the same tables, and no contexts look over their edges, but
 * predictions do. */
#define MOST_BLOCKS  256
#define MOST_SHIFT   30
#define BLOCK_STATES 4 /* of the range coder */
struct bm_blocks {
    int shift[2];
    int64_t count[2]; /* along the axes 0 and 1 */
};

struct bm_blocks bm_blocks_undivided(void);
/* 0 if these are more than MOST_BLOCKS, or only one. */
int bm_blocks_init(struct bm_blocks *b, const struct bm_octants *o,
                   const int shift[2]);
/* Samples of a block in octants other than 0, and their rows that are long
 * enough to have a symbol of their own. */
size_t bm_block_samples(const struct bm_blocks *b, const struct bm_octants *o,
                        size_t block, size_t *rows);

static inline size_t bm_blocks_count(const struct bm_blocks *b)
{
    return (size_t)(b->count[0] * b->count[1]);
}

/* Of row y of plane z of an octant. */
static inline size_t bm_block_at(const struct bm_blocks *b, int64_t z,
                                 int64_t y)
{
    return (size_t)((z >> b->shift[0]) * b->count[1] + (y >> b->shift[1]));
}

/* The first index behind those that are in a block with i. */
static inline int64_t bm_block_end(const struct bm_blocks *b, int axis,
                                   int64_t i)
{
    return ((i >> b->shift[axis]) + 1) << b->shift[axis];
}

/* ---- contexts ----------------------------------------------------------- */

/* How much sums count, in units that suit their size. */
struct bm_mix {
    uint32_t beside, before;
};

/* How large an integer is likely to be tell those around it that are known
 * already, and how much the coarser samples bend. The work memory is for a
 * batch. */
struct bm_contexts {
    uint8_t *magnitudes; /* logarithms, [samples of the pass], sorted */
    uint8_t *along_row;  /* in the type of the samples */
    uint16_t *beside;    /* sums of what other octants tell */
    uint16_t *before;    /* sums of magnitudes in the plane before */
    uint16_t *expected;
    struct bm_mix top, other; /* for the first row of a plane, and for others */
    uint8_t of[EXPECTATION];  /* the context, or its table */
    struct bm_shares along[3]; /* cubics less lines: octants 1, 2, 4 */
    struct bm_blocks blocks;
};

/* 'of' is the number of the context, or what 'table' has for it. There is one
 * block. */
void bm_contexts_init(struct bm_contexts *c, const uint8_t *table);

/* All that the contexts of rows depend on but the magnitudes of these rows; if
 * the octant is odd along one axis, after c->beside was made the sum of 'parts'
 * logarithms that bends give. */
void bm_contexts_mix(struct bm_contexts *c, const struct bm_octants *o,
                     const struct bm_batch *b, int parts);

/* The same, c->beside being made here,
 * after bm_interp_bend() gave 'bends' if the octant is odd along one axis. Of
 * samples, only those of octant 0 count. */
void bm_contexts_begin(struct bm_contexts *c, const struct bm_lookup *l,
                       const struct bm_batch *b, int bends,
                       const struct bm_quantum *quantum);

/* What is expected in 'rows' rows of the batch from row 'first' on, to
 * c->expected. The magnitudes of all rows before the last of them are known. */
void bm_contexts_expect(const struct bm_contexts *c, const struct bm_octants *o,
                        const struct bm_batch *b, int64_t first, int64_t rows);
/* Whether all contexts of a row are the lowest; the contexts. */
int bm_contexts_all_lowest(const uint16_t *expected, int64_t n);
static inline int bm_contexts_are_lowest(const uint16_t *expected, int64_t n)
{
    return expected[0] <= LOWEST && expected[n / 2] <= LOWEST &&
           bm_contexts_all_lowest(expected, n);
}
void bm_contexts_look_up(const struct bm_contexts *c, uint8_t *context,
                         const uint16_t *expected, int64_t n);

/* Logarithms of the magnitudes of integers. */
void bm_interp_magnitudes(uint8_t *magnitudes, const int32_t *codes, int64_t n);

/* ---- pieces ------------------------------------------------------------- */

/* A piece:
 *
 *     u8   form: as below
 *   FORM_EXACT:
 *     the samples, sorted, as bm_zstd_pack() makes them
 *   FORM_PREDICTED:
 *     a piece of codec exact
 *   FORM_CODED:
 *     bits: 2, how: 0 all integers are 0, 1 Golomb, 2 range coder, 3 range
 *           coder in blocks
 *           Golomb number: by how much the bound is finer
 *           Golomb number: samples that are kept as they are
 *           4 for each octant that is not empty, of each pass: its prediction,
 *           and if that is FITTED, its weights: Golomb numbers of order 7
 *           Golomb: 4, order; range coder: a Golomb number, bytes of the bits
 *           beside the symbols; blocks: two Golomb numbers, shifts, and for
 *           each block: if samples are kept, how many, bytes of the bits beside
 *           the symbols, and of the stream, Golomb numbers of order 0, 4 and 8
 *     if samples are kept: u32 bytes, and they, as bm_zstd_pack() makes them
 *   Golomb:
 *     bits
 *   range coder:
 *     the bits beside the symbols, then what bm_rans_encode() makes
 *   range coder in blocks:
 *     tables; for each block the bits beside the symbols, and the stream
 */
enum { FORM_EXACT = 0, FORM_CODED = 2, FORM_PREDICTED = 3 };
enum { HOW_ZERO = 0, HOW_GOLOMB = 1, HOW_RANS = 2, HOW_BLOCKS = 3 };
#define EXTRA_ORDER  4
#define STREAM_ORDER 8

struct bm_interp_piece {
    const struct bm_field *field;
    const struct bm_interp_kernels *kernels;
    struct bm_quantum quantum;
    int finer;
    /* 'coded' are the integers, in one of the ways */
    struct bm_buffer choices, exact, where, coded;
    uint8_t *symbols, *context; /* [samples of the piece, and rows] */
    uint8_t *batch;             /* symbols of a batch */
    uint8_t *row;               /* predictions of a batch */
    uint8_t *bends[2];          /* of coarser samples beside it */
    int32_t *codes;             /* of a batch */
    size_t done;                /* samples so far */
    int row_symbols;            /* there may be one before a row */
    int any;                    /* an integer is not 0 */
    struct bm_loss loss;
    struct bm_contexts contexts; /* bm_contexts_init() is for them */
};

/* The best way to predict octant p, with its samples as they are; by weights
 * as 'how' says. It is added to w->choices: u8 choice, u8 number of weights,
 * u32 each, folded. Returns the best one without weights. */
int bm_interp_choose(struct bm_interp_piece *w, struct bm_fit *f,
                     enum bm_fitting how, const struct bm_lookup *l, int p,
                     const uint8_t *samples, struct bm_shares *shares);

void bm_interp_piece_init(struct bm_interp_piece *w, const struct bm_field *f,
                          const bouma_allocator *a);
void bm_interp_piece_release(struct bm_interp_piece *w);

/* Put the samples that are kept as they are where they belong: until now, what
 * others are predicted from was there. */
void bm_interp_restore(uint8_t *sorted, const struct bm_buffer *where,
                       const uint8_t *exact, size_t size);

/* ---- memory ------------------------------------------------------------- */

struct bm_interp_space {
    uint8_t *sorted;   /* of one pass, as decoded */
    uint8_t *dense[2]; /* coarser samples, as decoded, and the next */
    uint8_t *cleaned;
};

void bm_interp_lay_out(struct bm_carver *c, struct bm_interp_space *s,
                       struct bm_interp_piece *w, const struct bm_passes *p,
                       int first, size_t size);

/* A piece of level k that bm_zstd_pack() made of sorted samples: the samples of
 * the level, with those of the coarser one. BOUMA_OK, EFORMAT or ENOMEM. */
int bm_interp_unpack(struct bm_codec_state *state,
                     const struct bm_interp_space *space,
                     const struct bm_passes *p, int k, size_t size,
                     void *samples, const void *coarse,
                     const struct bm_cursor *in);

/* A part in the middle of a patch, by trying which all is chosen: an eighth of
 * all samples, or less; 0 if these are few. And its samples, dense, of a patch
 * of n, appended. */
struct bm_middle {
    int64_t begin[3], n[3];
};
int bm_middle_of(struct bm_middle *m, const int64_t n[3]);
int bm_middle_take(struct bm_buffer *out, const struct bm_middle *m,
                   const int64_t n[3], const uint8_t *samples, size_t size);

/* Whether codec exact can have fewer bytes than so many (interp_exact.c). */
int bm_interp_may_be_exact(const struct bm_field *f, const void *samples,
                           size_t count, size_t bytes);
/* The bytes of the samples of a part, as codec exact has them. BOUMA_OK or
 * ENOMEM. */
int bm_interp_try_exact(struct bm_codec_state *state, const struct bm_field *f,
                        const struct bm_middle *m, const void *samples,
                        size_t *bytes);
/* If codec exact has fewer bytes than those from 'begin' on, they take their
 * place, and *exact is set. The same. */
int bm_interp_take_exact(struct bm_codec_state *state, struct bm_buffer *out,
                         size_t begin, uint32_t *sizes,
                         const struct bm_field *f, const void *samples,
                         int *exact);

/* See struct bm_codec. */
int bm_interp_encode(struct bm_codec_state *state, struct bm_buffer *out,
                     uint32_t *sizes, struct bm_loss *loss,
                     const struct bm_field *f, const void *samples);

#endif
