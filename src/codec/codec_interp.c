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
 * used (their mean is taken) is chosen for each octant. The difference to the
 * sample is divided by twice the bound and rounded to an integer, so no error
 * is larger than the bound. What does not fit (NaN, far outliers, rounding) is
 * kept as it is. The integers go to the range coder; with two or more odd
 * indices, the magnitudes of those of the neighbours choose the table.
 *
 * The coarsest level goes on in the same way down to a single sample. */
#include <math.h>
#include <string.h>

#include "codec/clones.h"
#include "codec/codec.h"
#include "codec/entropy.h"
#include "codec/octants.h"
#include "codec/values.h"

#define NO_CODE    INT32_MAX
#define CODE_LIMIT 16000000 /* folded: below BM_FOLDED_LIMIT */

#define MAX_PASSES 40

/* Magnitudes are cut to this where they choose a table: six of them still fit
 * into a byte. */
#define MOST_MAGNITUDE 40

/* Tables: one for each octant with one odd index, then one for each range of
 * magnitudes. With few samples they cost more than they gain: one for all. */
#define OCTANT_TABLES  3
#define CONTEXT_TABLES 7
#define TABLES         (OCTANT_TABLES + CONTEXT_TABLES)
#define FEW_SAMPLES    2048

/* Sums that bytes of the file depend on are kept in so many parts. */
#define LANES 8

struct quantum {
    double bound, step, inverse; /* exact in the type of the samples */
};

struct kernels {
    void (*blend)(void *out, const void *const row[4], const double weight[4],
                  int64_t n, int more);
    uint32_t (*quantise)(int32_t *code, void *decoded, const void *samples,
                         const void *predicted, int64_t n,
                         const struct quantum *quantum, struct bm_loss *loss);
    void (*rebuild)(void *decoded, const int32_t *code, const void *predicted,
                    int64_t n, const struct quantum *quantum);
    double (*miss)(const void *samples, const void *predicted, int64_t n,
                   double most);
    void (*settle)(void *row, int64_t i, const void *value);
};

#define REAL    float
#define NAME(x) x##_f32
#define ABS     __builtin_fabsf
#define SIGN    __builtin_copysignf
#include "codec/interp_rows.h"
#undef REAL
#undef NAME
#undef ABS
#undef SIGN
#define REAL    double
#define NAME(x) x##_f64
#define ABS     __builtin_fabs
#define SIGN    __builtin_copysign
#include "codec/interp_rows.h"
#undef REAL
#undef NAME
#undef ABS
#undef SIGN

/* ---- the passes of a chunk ---------------------------------------------- */

/* Pass j goes from the samples of pass j + 1 to eight times as many. Those from
 * 'root' on belong to one piece, that of the coarsest level with samples; it
 * begins with the one sample left. Levels between have no samples but its. */
struct passes {
    struct bm_octants octants[MAX_PASSES];
    int count, root;
    int coarsest; /* level */
};

static void list_passes(struct passes *p, const struct bm_field *f)
{
    int64_t n[3];
    int k = 0;

    for (int d = 0; d < 3; d++)
        n[d] = f->lattice[0].count[d];
    for (p->count = 0; n[0] > 1 || n[1] > 1 || n[2] > 1; p->count++) {
        bm_octants_init(&p->octants[p->count], n);
        for (int d = 0; d < 3; d++)
            n[d] = (n[d] + 1) / 2;
    }
    while (k + 1 < f->levels && bm_lattice_samples(&f->lattice[k + 1]))
        k++;
    p->coarsest = k;
    p->root = k < p->count ? k : p->count;
}

static size_t samples_of(const struct passes *p, int j)
{
    const int64_t *n = p->octants[j].n;

    return j < p->count ? (size_t)(n[0] * n[1] * n[2]) : 1;
}

/* Samples that the piece of level k holds. */
static size_t piece_samples(const struct passes *p, int k)
{
    return k < p->root ? samples_of(p, k) - samples_of(p, k + 1)
                       : samples_of(p, k);
}

/* The bound, and a step a little below twice of it, so that rounding to the
 * sample's type rarely counts. */
static struct quantum quantum_of(const struct bm_field *f)
{
    struct quantum q;

    if (f->type == BOUMA_F32) {
        q.bound = (double)(float)(f->bound * (1 - 0x1p-22));
        q.step = (double)(float)(q.bound * (2 - 0x1p-9));
        q.inverse = (double)(float)(1 / q.step);
    } else {
        q.bound = f->bound * (1 - 0x1p-51);
        q.step = q.bound * (2 - 0x1p-9);
        q.inverse = 1 / q.step;
    }
    return q;
}

/* Whether numbers as small can be trusted. */
static int can_quantise(const struct bm_field *f, const struct quantum *q)
{
    double smallest = f->type == BOUMA_F32 ? 0x1p-100 : 0x1p-900;

    return q->bound > smallest && q->bound < 1 / smallest;
}

/* ---- prediction --------------------------------------------------------- */

/* Where the coarse samples of a pass are, and those of the other octants. */
struct lookup {
    const struct bm_octants *octants;
    const struct kernels *kernels;
    size_t size;
    const uint8_t *coarse;
    uint8_t *sorted;
};

static const uint8_t *octant_data(const struct lookup *l, int p)
{
    return p ? l->sorted + l->octants->at[p] * l->size : l->coarse;
}

/* Sample 2j + 1 of a line from its even samples: which four, and by what
 * weights. There are 'evens' of them. */
struct taps {
    int64_t at[4];
    const double *weight;
};

/* Weights of four samples, as many times smaller as there are axes. */
#define SHARES(a, b, c, d)                                                     \
    {                                                                          \
        {a / 1., b / 1., c / 1., d / 1.}, {a / 2., b / 2., c / 2., d / 2.},    \
        {                                                                      \
            a / 3., b / 3., c / 3., d / 3.                                     \
        }                                                                      \
    }
enum { MIDDLE, LINE, FIRST, LAST, BEYOND_2, BEYOND_1, CONSTANT };
static const double weights[7][3][4] = {
    SHARES(-1. / 16, 9. / 16, 9. / 16, -1. / 16),
    SHARES(0, 1. / 2, 1. / 2, 0),
    SHARES(0, 3. / 8, 6. / 8, -1. / 8),
    SHARES(-1. / 8, 6. / 8, 3. / 8, 0),
    SHARES(3. / 8, -10. / 8, 15. / 8, 0),
    SHARES(0, -1. / 2, 3. / 2, 0),
    SHARES(0, 0, 1, 0)};

static inline struct taps taps_at(int64_t j, int64_t evens, int linear,
                                  int axes)
{
    int64_t from = j - 1;
    int kind = LINE;
    struct taps t;

    if (j + 1 >= evens) { /* no right neighbour: at[2] is the left one */
        from = j - 2;
        kind = j >= 2 && !linear ? BEYOND_2 : j >= 1 ? BEYOND_1 : CONSTANT;
    } else if (!linear) {
        int left = j >= 1, right = j + 2 < evens;

        kind = left && right ? MIDDLE : right ? FIRST : left ? LAST : LINE;
    }
    for (int i = 0; i < 4; i++) {
        int64_t at = from + i;

        t.at[i] = at < 0 ? 0 : at >= evens ? evens - 1 : at;
    }
    t.weight = weights[kind][axes - 1];
    return t;
}

/* How an octant is predicted: a bit for each axis as in its number, and
 * LINEAR. */
#define LINEAR 8

/* Axis 2: along the row itself. */
static void predict_along(const struct lookup *l, uint8_t *row,
                          const uint8_t *source, int64_t n, int64_t evens,
                          int linear, int axes, int more)
{
    int64_t begin = linear ? 0 : 1, end = evens - (linear ? 1 : 2), j = 0;
    int64_t size = (int64_t)l->size;

    while (j < n) {
        struct taps t = taps_at(j, evens, linear, axes);
        int64_t length = j == begin && begin < end ? end - begin : 1;
        const void *rows[4];

        for (int i = 0; i < 4; i++)
            rows[i] = source + t.at[i] * size;
        /* Lines have weight 0 for the outer samples, wherever they are. */
        if (linear && length > 1)
            rows[0] = rows[1], rows[3] = rows[2];
        l->kernels->blend(row + j * size, rows, t.weight, length, more);
        j += length;
    }
}

/* Axis 0 or 1: across rows. */
static void predict_across(const struct lookup *l, uint8_t *row,
                           const uint8_t *source, int64_t pitch, int64_t j,
                           int64_t n, int64_t evens, int linear, int axes,
                           int more)
{
    struct taps t = taps_at(j, evens, linear, axes);
    const void *rows[4];

    for (int i = 0; i < 4; i++)
        rows[i] = source + t.at[i] * pitch;
    l->kernels->blend(row, rows, t.weight, n, more);
}

/* The predictions for row (z, y) of octant p. */
static void predict_row(const struct lookup *l, uint8_t *row, int p, int choice,
                        int64_t z, int64_t y)
{
    const struct bm_octants *o = l->octants;
    int64_t n = o->count[p][2], size = (int64_t)l->size;
    int linear = (choice & LINEAR) != 0, more = 0;
    int axes = (choice & 1) + (choice >> 1 & 1) + (choice >> 2 & 1);

    for (int axis = 0; axis < 3; axis++) {
        int bit = 4 >> axis, from = p ^ bit;
        const int64_t *count = o->count[from];
        const uint8_t *source = octant_data(l, from);
        int64_t pitch = count[2] * size, plane = count[1] * pitch;

        if (!(choice & bit))
            continue;
        if (axis == 0)
            predict_across(l, row, source + y * pitch, plane, z, n, count[0],
                           linear, axes, more);
        else if (axis == 1)
            predict_across(l, row, source + z * plane, pitch, y, n, count[1],
                           linear, axes, more);
        else
            predict_along(l, row, source + z * plane + y * pitch, n, count[2],
                          linear, axes, more);
        more = 1;
    }
}

/* ---- tables ------------------------------------------------------------- */

/* Table for each sample of octant p. 'magnitudes' are sorted as samples are,
 * those of octant 0 not being used. */
static void choose_tables(uint8_t *restrict table, const struct bm_octants *o,
                          int p, const uint8_t *magnitudes)
{
    /* Sums of four magnitudes (two odd indices) or six, and up to which. */
    static const uint8_t up_to[2][CONTEXT_TABLES - 1] = {{0, 1, 3, 9, 23, 59},
                                                         {0, 2, 5, 14, 35, 89}};
    const uint8_t *limit = up_to[p == 7];
    int64_t n = o->count[p][2];

    if (p == 1 || p == 2 || p == 4) {
        memset(table, p >> 1, o->size[p]); /* 0, 1, 2 */
        return;
    }
    for (int64_t z = 0; z < o->count[p][0]; z++)
        for (int64_t y = 0; y < o->count[p][1]; y++, table += n) {
            int first = 1;

            for (int axis = 0; axis < 3; axis++) {
                int from = p ^ (4 >> axis);
                const int64_t *count = o->count[from];
                int64_t j[3] = {z, y, 0}, step[3] = {0, 0, 0};
                const uint8_t *a, *b;

                if (!(p & (4 >> axis)))
                    continue;
                step[0] = count[1] * count[2];
                step[1] = count[2];
                step[2] = 1;
                a = magnitudes + o->at[from] + z * step[0] + y * step[1];
                /* The last one may have no right neighbour. */
                b = axis == 2 || j[axis] + 1 < count[axis] ? a + step[axis] : a;
                if (axis == 2 && count[2] <= n) {
                    for (int64_t i = 0; i + 1 < n; i++)
                        table[i] =
                            (uint8_t)((first ? 0 : table[i]) + a[i] + b[i]);
                    table[n - 1] =
                        (uint8_t)((first ? 0 : table[n - 1]) + 2 * a[n - 1]);
                } else if (first) {
                    for (int64_t i = 0; i < n; i++)
                        table[i] = (uint8_t)(a[i] + b[i]);
                } else {
                    for (int64_t i = 0; i < n; i++)
                        table[i] = (uint8_t)(table[i] + a[i] + b[i]);
                }
                first = 0;
            }
            for (int64_t i = 0; i < n; i++) {
                uint8_t sum = table[i];

                table[i] = (uint8_t)(OCTANT_TABLES + (sum > limit[0]) +
                                     (sum > limit[1]) + (sum > limit[2]) +
                                     (sum > limit[3]) + (sum > limit[4]) +
                                     (sum > limit[5]));
            }
        }
}

/* ---- a piece being made ------------------------------------------------- */

/* A piece:
 *
 *     u8   form: as below
 *   FORM_EXACT:
 *     the samples, sorted, as bm_zstd_pack() makes them
 *   FORM_CODED:
 *     u8   how: 0 all integers are 0, 1 Golomb, 2 range coder
 *     u8   how each octant is predicted: [passes][octants that are not empty]
 *     u32  samples that are kept as they are, then (if there are any)
 *          u32 bytes, and they, as bm_zstd_pack() makes them
 *   Golomb:
 *     u8   order, then bits
 *   range coder:
 *     u32  bytes of the bits beside the symbols, they, then what
 *          bm_rans_encode() makes
 */
enum { FORM_EXACT = 0, FORM_CODED = 1 };
enum { HOW_ZERO = 0, HOW_GOLOMB = 1, HOW_RANS = 2 };

struct piece {
    const struct bm_field *field;
    const struct kernels *kernels;
    struct quantum quantum;
    struct bm_buffer choices, exact, bits, where;
    uint8_t *symbols, *table; /* [samples of the piece] */
    uint8_t *magnitudes;      /* [samples of the pass] */
    uint8_t *row;             /* predictions of one row */
    int32_t *codes;           /* of one row */
    size_t done;              /* samples so far */
    int any;                  /* an integer is not 0 */
    struct bm_bit_writer writer;
    struct bm_bit_reader reader;
    struct bm_loss loss;
};

/* Integers that have a symbol of their own. */
BM_CLONES static void put_small(uint8_t *restrict symbols,
                                uint8_t *restrict magnitudes,
                                const int32_t *restrict codes, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t q = codes[i];

        symbols[i] = (uint8_t)(q > 0 ? 2 * q - 1 : -2 * q);
        magnitudes[i] = (uint8_t)(q < 0 ? -q : q);
    }
}

BM_CLONES static void get_small(int32_t *restrict codes,
                                uint8_t *restrict magnitudes,
                                const uint8_t *restrict symbols, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t half = (symbols[i] + 1) >> 1, sign = (symbols[i] & 1) - 1;

        magnitudes[i] = (uint8_t)half;
        codes[i] = (half ^ sign) - sign;
    }
}

/* The integers of one row of samples, predicted in w->row: what they become
 * when decoded, their symbols, and their magnitudes. */
static void put_row(struct piece *w, uint8_t *decoded, const uint8_t *samples,
                    int64_t n, uint8_t *magnitudes, size_t index)
{
    uint8_t *symbols = w->symbols + w->done;
    uint32_t all = w->kernels->quantise(w->codes, decoded, samples, w->row, n,
                                        &w->quantum, &w->loss);

    w->done += (size_t)n;
    w->any |= all != 0;
    if (all < BM_DIRECT_SYMBOLS - 1) {
        put_small(symbols, magnitudes, w->codes, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t q = w->codes[i];
        int32_t magnitude = q < 0 ? -q : q;

        magnitudes[i] =
            (uint8_t)(magnitude < MOST_MAGNITUDE ? magnitude : MOST_MAGNITUDE);
        if (q == NO_CODE) {
            const uint8_t *value = samples + (size_t)i * w->field->size;

            symbols[i] = BM_ESCAPE;
            bm_put_bytes(&w->exact, value, w->field->size);
            bm_put_u32(&w->where, (uint32_t)(index + (size_t)i));
            w->kernels->settle(decoded, i, value);
        } else {
            symbols[i] = bm_symbol_put(&w->writer, bm_fold(q));
        }
    }
}

/* Put the samples that are kept as they are where they belong: until now, what
 * others are predicted from was there. */
static void restore(uint8_t *sorted, const struct bm_buffer *where,
                    const uint8_t *exact, size_t size)
{
    for (size_t i = 0; i < where->size / 4; i++) {
        uint32_t at;

        memcpy(&at, where->data + 4 * i, 4);
        memcpy(sorted + at * size, exact + i * size, size);
    }
}

/* The best of all ways to predict octant p, by some of its rows. */
static int choose(const struct piece *w, const struct lookup *l, int p,
                  const uint8_t *samples)
{
    const int64_t *count = l->octants->count[p];
    int64_t rows = count[0] * count[1];
    int64_t every = rows * count[2] / 2048 + 1;
    double least = 0;
    int best = p;

    for (int choice = 1; choice < 16; choice++) {
        double sum = 0;

        if (!(choice & 7) || (choice & 7 & ~p))
            continue;
        for (int64_t r = every / 2; r < rows; r += every) {
            predict_row(l, w->row, p, choice, r / count[1], r % count[1]);
            sum += w->kernels->miss(samples + (size_t)(r * count[2]) * l->size,
                                    w->row, count[2], 32 * w->quantum.bound);
        }
        if (choice == 1 || !(sum >= least) || (choice == (p & -p))) {
            least = sum;
            best = choice;
        }
    }
    return best;
}

static void encode_octant(struct piece *w, const struct lookup *l, int p,
                          const uint8_t *samples)
{
    const struct bm_octants *o = l->octants;
    const int64_t *count = o->count[p];
    int choice = choose(w, l, p, samples);
    size_t index = o->at[p];

    bm_put_u8(&w->choices, (uint8_t)choice);
    choose_tables(w->table + w->done, o, p, w->magnitudes);
    for (int64_t z = 0; z < count[0]; z++)
        for (int64_t y = 0; y < count[1]; y++, index += (size_t)count[2]) {
            uint8_t *decoded = l->sorted + index * l->size;

            predict_row(l, w->row, p, choice, z, y);
            put_row(w, decoded, samples, count[2], w->magnitudes + index,
                    index);
            samples += (size_t)count[2] * l->size;
        }
}

/* The single sample that is left at last. */
static void encode_root(struct piece *w, uint8_t *decoded,
                        const uint8_t *sample)
{
    uint8_t magnitude;

    memset(w->row, 0, w->field->size);
    w->table[w->done] = 0;
    put_row(w, decoded, sample, 1, &magnitude, 0);
    restore(decoded, &w->where, w->exact.data, w->field->size);
    bm_buffer_clear(&w->where);
}

/* Bits of the Golomb code of order k of all integers, which are symbols still.
 */
static int put_golomb(struct bm_buffer *out, const struct piece *w, int k,
                      size_t most)
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

static int put_rans(struct bm_buffer *out, struct piece *w)
{
    int few = w->done < FEW_SAMPLES;

    if (few)
        memset(w->table, 0, w->done);
    bm_put_u32(out, (uint32_t)w->bits.size);
    bm_put_bytes(out, w->bits.data, w->bits.size);
    return bm_rans_encode(out, w->symbols, w->table, w->done, few ? 1 : TABLES);
}

/* The integers, in the shortest way. 'at' is where 'how' goes. */
static int put_integers(struct bm_buffer *out, struct piece *w, size_t at)
{
    size_t begin = out->size, bytes;
    int rc;

    out->data[at] = HOW_ZERO;
    if (!w->any)
        return BOUMA_OK;
    out->data[at] = HOW_RANS;
    rc = put_rans(out, w);
    bytes = out->size - begin;
    if (rc || w->done >= FEW_SAMPLES)
        return rc;
    for (int k = 0; k < 16 && !rc; k++) {
        size_t other = out->size;

        bm_put_u8(out, (uint8_t)k);
        rc = put_golomb(out, w, k, bytes);
        if (!rc && out->size - other < bytes) {
            bytes = out->size - other;
            out->data[at] = HOW_GOLOMB;
            memmove(out->data + begin, out->data + other, bytes);
        }
        if (!rc)
            out->size = begin + bytes > other ? begin + bytes : other;
    }
    if (!rc)
        out->size = begin + bytes;
    return rc;
}

static int put_exact(struct bm_codec_state *state, struct bm_buffer *out,
                     const struct piece *w)
{
    size_t at, count = w->exact.size / w->field->size;
    int rc;

    bm_put_u32(out, (uint32_t)count);
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
                     struct piece *w, int *exact)
{
    size_t begin = out->size, plain = w->done * w->field->size;
    int rc = BOUMA_OK;

    bm_bits_end(&w->writer);
    *exact = w->exact.size >= plain;
    if (!*exact) {
        bm_put_u8(out, FORM_CODED);
        bm_put_u8(out, 0);
        bm_put_bytes(out, w->choices.data, w->choices.size);
        rc = put_exact(state, out, w);
        if (!rc)
            rc = put_integers(out, w, begin + 1);
        *exact = !rc && out->size - begin > plain;
        if (*exact)
            out->size = begin;
    }
    if (w->choices.failed || w->exact.failed || w->bits.failed ||
        w->where.failed)
        rc = BOUMA_ENOMEM;
    return rc ? rc : out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

static void piece_begin(struct piece *w)
{
    bm_buffer_clear(&w->choices);
    bm_buffer_clear(&w->exact);
    bm_buffer_clear(&w->bits);
    bm_buffer_clear(&w->where);
    w->writer = (struct bm_bit_writer){&w->bits, 0, 0};
    w->done = 0;
    w->any = 0;
    memset(&w->loss, 0, sizeof(w->loss));
}

/* ---- memory ------------------------------------------------------------- */

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Parts of one block, one after the other; with NULL it only counts. */
struct carver {
    uint8_t *at;
    size_t bytes;
};

static void *carve(struct carver *c, size_t bytes)
{
    void *part = c->at ? c->at + c->bytes : NULL;

    c->bytes += aligned(bytes);
    return part;
}

struct space {
    uint8_t *original; /* sorted samples of all passes */
    uint8_t *sorted;   /* of one pass, as decoded */
    uint8_t *dense[2]; /* coarser samples, as decoded, and the next */
    uint8_t *cleaned;
};

static void lay_out(struct carver *c, struct space *s, struct piece *w,
                    const struct passes *p, int first, size_t size)
{
    size_t n = samples_of(p, first);
    size_t coarse = first < p->count ? samples_of(p, first + 1) : 1;
    size_t row = first < p->count ? (size_t)p->octants[first].n[2] : 1;

    s->sorted = carve(c, n * size);
    s->dense[0] = carve(c, coarse * size);
    s->dense[1] = carve(c, coarse * size);
    s->cleaned = carve(c, coarse * size);
    w->symbols = carve(c, n);
    w->table = carve(c, n);
    w->magnitudes = carve(c, n + 64);
    w->row = carve(c, row * size);
    w->codes = carve(c, row * sizeof(int32_t));
}

static void piece_init(struct piece *w, const struct bm_field *f,
                       const bouma_allocator *a)
{
    memset(w, 0, sizeof(*w));
    w->field = f;
    w->kernels = f->type == BOUMA_F32 ? &kernels_f32 : &kernels_f64;
    w->quantum = quantum_of(f);
    bm_buffer_init(&w->choices, a);
    bm_buffer_init(&w->exact, a);
    bm_buffer_init(&w->bits, a);
    bm_buffer_init(&w->where, a);
}

static void piece_release(struct piece *w)
{
    bm_buffer_release(&w->choices);
    bm_buffer_release(&w->exact);
    bm_buffer_release(&w->bits);
    bm_buffer_release(&w->where);
}

/* ---- encoding ----------------------------------------------------------- */

/* The original samples of all passes, sorted; original[j] points to pass j's.
 */
static void sort_all(uint8_t *original[], uint8_t *to, const struct passes *p,
                     size_t size, const void *samples)
{
    const void *dense = samples;

    for (int j = 0; j < p->count; j++) {
        original[j] = to;
        bm_octants_split(&p->octants[j], size, to, dense);
        dense = to;
        to += samples_of(p, j) * size;
    }
}

/* What the octants of pass j become; *coarse are the samples decoded so far. */
static void encode_pass(struct piece *w, const struct space *s,
                        const struct passes *p, int j, const uint8_t *coarse,
                        const uint8_t *original)
{
    const struct bm_octants *o = &p->octants[j];
    struct lookup l = {o, w->kernels, w->field->size, coarse, s->sorted};

    if (!bm_values_finite(w->field->type, coarse, o->size[0])) {
        bm_values_clean(w->field->type, s->cleaned, coarse, o->size[0]);
        l.coarse = s->cleaned;
    }
    for (int i = 1; i < BM_OCTANTS; i++) {
        int octant = bm_octant_order[i];

        if (o->size[octant])
            encode_octant(w, &l, octant, original + o->at[octant] * l.size);
    }
    if (w->where.size && !w->exact.failed && !w->where.failed)
        restore(s->sorted, &w->where,
                w->exact.data + w->exact.size - w->where.size / 4 * l.size,
                l.size);
    bm_buffer_clear(&w->where);
}

/* End the piece of level k, and bring the samples to what will be decoded. */
static int end_piece(struct bm_codec_state *state, struct bm_buffer *out,
                     struct piece *w, const struct space *s,
                     const struct passes *p, int k, uint8_t *coarse,
                     const uint8_t *original, struct bm_loss *loss)
{
    size_t size = w->field->size, kept = k < p->root ? samples_of(p, k + 1) : 0;
    size_t n = piece_samples(p, k);
    int exact, rc = put_piece(state, out, w, &exact);

    if (rc)
        return rc;
    if (exact) {
        if (k < p->count) {
            const struct bm_octants *o = &p->octants[k];

            memcpy(s->sorted + kept * size, original + kept * size, n * size);
            if (!kept) /* the first octant, too */
                memcpy(coarse, original, o->size[0] * size);
        } else {
            memcpy(coarse, original, size);
        }
        bm_put_u8(out, FORM_EXACT);
        return bm_zstd_pack(state, out, original + kept * size, n, size);
    }
    if (w->loss.largest > loss->largest)
        loss->largest = w->loss.largest;
    loss->squares += w->loss.squares;
    return BOUMA_OK;
}

/* With pieces that hold nothing but exact samples. */
static int encode_exactly(struct bm_codec_state *state, struct bm_buffer *out,
                          uint32_t *sizes, const struct passes *p,
                          uint8_t *const original[], const void *samples,
                          size_t size)
{
    int rc = BOUMA_OK;

    for (int k = p->root; k >= 0 && !rc; k--) {
        size_t kept = k < p->root ? samples_of(p, k + 1) : 0;
        size_t begin = out->size;
        const uint8_t *from = k < p->count ? original[k] : samples;

        bm_put_u8(out, FORM_EXACT);
        rc = bm_zstd_pack(state, out, from + kept * size, piece_samples(p, k),
                          size);
        sizes[k < p->root ? k : p->coarsest] = (uint32_t)(out->size - begin);
    }
    return rc;
}

static int encode_field(struct bm_codec_state *state, struct bm_buffer *out,
                        uint32_t *sizes, struct bm_loss *loss,
                        const struct bm_field *f, const void *samples)
{
    uint8_t *original[MAX_PASSES + 1] = {NULL};
    struct passes p;
    struct piece w;
    struct space s;
    struct carver c = {NULL, 0};
    size_t all = 0;
    int rc = BOUMA_OK, now = 0;

    memset(sizes, 0, sizeof(*sizes) * (size_t)f->levels);
    if (!bm_lattice_samples(&f->lattice[0]))
        return BOUMA_OK;
    list_passes(&p, f);
    piece_init(&w, f, state->a);
    for (int j = 0; j < p.count; j++)
        all += samples_of(&p, j) * f->size;
    lay_out(&c, &s, &w, &p, 0, f->size);
    carve(&c, all);
    c.at = bm_codec_work(state, c.bytes);
    if (!c.at)
        return BOUMA_ENOMEM;
    c.bytes = 0;
    lay_out(&c, &s, &w, &p, 0, f->size);
    sort_all(original, carve(&c, all), &p, f->size, samples);
    if (!can_quantise(f, &w.quantum)) {
        rc = encode_exactly(state, out, sizes, &p, original, samples, f->size);
        piece_release(&w);
        return rc;
    }
    piece_begin(&w);
    encode_root(&w, s.dense[0],
                p.count ? original[p.count - 1] : (const uint8_t *)samples);
    for (int j = p.count; j >= 0 && !rc; j--) {
        size_t begin = out->size;
        const uint8_t *from = j < p.count ? original[j] : samples;

        if (j < p.root)
            piece_begin(&w);
        if (j < p.count)
            encode_pass(&w, &s, &p, j, s.dense[now], from);
        if (j <= p.root) {
            rc = end_piece(state, out, &w, &s, &p, j, s.dense[now], from, loss);
            sizes[j < p.root ? j : p.coarsest] = (uint32_t)(out->size - begin);
        }
        if (j > 0 && j < p.count) {
            bm_octants_merge_with(&p.octants[j], f->size, s.dense[!now],
                                  s.sorted, s.dense[now]);
            now = !now;
        }
    }
    piece_release(&w);
    return rc;
}

/* ---- decoding ----------------------------------------------------------- */

/* What is known of a piece while it is being read. */
struct reading {
    struct piece w;
    struct bm_rans_decoder *rans;
    int how, order;
    int few;
    const uint8_t *choices;
    size_t choice_count, choice;
    const uint8_t *exact; /* [exact_count] samples */
    size_t exact_count, exact_used;
    int failed;
};

/* The integers of one row. Samples that are kept have NO_CODE. Returns 1 if
 * there are any. */
static int get_row(struct reading *r, const uint8_t *symbols, int64_t n,
                   uint8_t *magnitudes)
{
    struct piece *w = &r->w;
    uint8_t most = 0;
    int kept = 0;

    if (r->how == HOW_ZERO) {
        memset(w->codes, 0, (size_t)n * sizeof(*w->codes));
        memset(magnitudes, 0, (size_t)n);
        return 0;
    }
    for (int64_t i = 0; i < n && r->how == HOW_RANS; i++)
        most = symbols[i] > most ? symbols[i] : most;
    if (r->how == HOW_RANS && most < BM_DIRECT_SYMBOLS) {
        get_small(w->codes, magnitudes, symbols, n);
        return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        uint32_t folded;
        int32_t q, magnitude;

        if (r->how == HOW_GOLOMB) {
            uint32_t value = bm_golomb_get(&w->reader, r->order);

            q = value > BM_FOLDED_LIMIT ? 0 : bm_unfold(value - 1);
            r->failed |= value > BM_FOLDED_LIMIT;
            if (!value)
                q = NO_CODE;
        } else if (symbols[i] == BM_ESCAPE) {
            q = NO_CODE;
        } else {
            folded = bm_symbol_get(&w->reader, symbols[i]);
            q = bm_unfold(folded);
        }
        kept |= q == NO_CODE;
        magnitude = q < 0 ? -q : q;
        magnitudes[i] =
            (uint8_t)(magnitude < MOST_MAGNITUDE ? magnitude : MOST_MAGNITUDE);
        w->codes[i] = q;
    }
    return kept;
}

/* Samples of a row that were kept: for now, what others are predicted from. */
static void keep_row(struct reading *r, uint8_t *decoded, int64_t n,
                     size_t index)
{
    struct piece *w = &r->w;
    size_t size = w->field->size;

    for (int64_t i = 0; i < n; i++) {
        if (w->codes[i] != NO_CODE)
            continue;
        if (r->exact_used == r->exact_count) {
            r->failed = 1;
            return;
        }
        memcpy(decoded + (size_t)i * size, w->row + (size_t)i * size, size);
        w->kernels->settle(decoded, i, r->exact + r->exact_used++ * size);
        bm_put_u32(&w->where, (uint32_t)(index + (size_t)i));
    }
}

static void decode_octant(struct reading *r, const struct lookup *l, int p)
{
    const struct bm_octants *o = l->octants;
    const int64_t *count = o->count[p];
    struct piece *w = &r->w;
    size_t index = o->at[p];
    const uint8_t *symbols = w->symbols;
    int choice = r->choices[r->choice++];

    if (!(choice & 7) || choice > 15 || (choice & 7 & ~p)) {
        r->failed = 1;
        return;
    }
    if (r->how == HOW_RANS) {
        if (r->few)
            memset(w->table, 0, o->size[p]);
        else
            choose_tables(w->table, o, p, w->magnitudes);
        bm_rans_next(r->rans, w->symbols, w->table, o->size[p]);
    }
    for (int64_t z = 0; z < count[0]; z++)
        for (int64_t y = 0; y < count[1]; y++, index += (size_t)count[2]) {
            uint8_t *decoded = l->sorted + index * l->size;

            predict_row(l, w->row, p, choice, z, y);
            if (get_row(r, symbols, count[2], w->magnitudes + index)) {
                w->kernels->rebuild(decoded, w->codes, w->row, count[2],
                                    &w->quantum);
                keep_row(r, decoded, count[2], index);
            } else {
                w->kernels->rebuild(decoded, w->codes, w->row, count[2],
                                    &w->quantum);
            }
            symbols += count[2];
        }
}

static void decode_pass(struct reading *r, const struct space *s,
                        const struct passes *p, int j, const uint8_t *coarse)
{
    const struct bm_octants *o = &p->octants[j];
    struct piece *w = &r->w;
    struct lookup l = {o, w->kernels, w->field->size, coarse, s->sorted};

    if (!bm_values_finite(w->field->type, coarse, o->size[0])) {
        bm_values_clean(w->field->type, s->cleaned, coarse, o->size[0]);
        l.coarse = s->cleaned;
    }
    bm_buffer_clear(&w->where);
    for (int i = 1; i < BM_OCTANTS && !r->failed; i++)
        if (o->size[bm_octant_order[i]])
            decode_octant(r, &l, bm_octant_order[i]);
    if (w->where.size && !w->where.failed && !r->failed)
        restore(s->sorted, &w->where,
                r->exact + (r->exact_used - w->where.size / 4) * l.size,
                l.size);
}

static void decode_root(struct reading *r, uint8_t *decoded)
{
    struct piece *w = &r->w;
    uint8_t magnitude;

    memset(w->row, 0, w->field->size);
    w->table[0] = 0;
    if (r->how == HOW_RANS)
        bm_rans_next(r->rans, w->symbols, w->table, 1);
    if (get_row(r, w->symbols, 1, &magnitude)) {
        keep_row(r, decoded, 1, 0);
        if (!r->failed)
            memcpy(decoded, r->exact, w->field->size);
    } else {
        w->kernels->rebuild(decoded, w->codes, w->row, 1, &w->quantum);
    }
}

/* Everything of a coded piece that comes before its integers. */
static int begin_reading(struct bm_codec_state *state, struct reading *r,
                         struct bm_cursor *in, uint8_t *exact, size_t n)
{
    struct piece *w = &r->w;
    size_t bytes;
    const uint8_t *data;
    int rc = BOUMA_OK;

    r->how = bm_get_u8(in);
    r->few = n < FEW_SAMPLES;
    r->choices = bm_get_bytes(in, r->choice_count);
    r->exact_count = bm_get_u32(in);
    r->exact = exact;
    if (in->failed || r->how > HOW_RANS || r->exact_count > n)
        return BOUMA_EFORMAT;
    if (r->exact_count) {
        bytes = bm_get_u32(in);
        data = bm_get_bytes(in, bytes);
        rc = data ? bm_zstd_unpack(state, exact, r->exact_count, w->field->size,
                                   data, bytes)
                  : BOUMA_EFORMAT;
    }
    if (rc)
        return rc;
    if (r->how == HOW_RANS) {
        bytes = bm_get_u32(in);
        data = bm_get_bytes(in, bytes);
        if (!data)
            return BOUMA_EFORMAT;
        w->reader = bm_bit_reader_of(data, bytes);
        return bm_rans_begin(r->rans, in->p, bm_cursor_left(in),
                             r->few ? 1 : TABLES);
    }
    r->order = r->how == HOW_GOLOMB ? bm_get_u8(in) : 0;
    w->reader = bm_bit_reader_of(in->p, bm_cursor_left(in));
    return in->failed || r->order > 16 ? BOUMA_EFORMAT : BOUMA_OK;
}

/* Whether everything was used and nothing was missing. */
static int reading_ended(const struct reading *r)
{
    return !r->failed && bm_bits_used_up(&r->w.reader) &&
           r->exact_used == r->exact_count &&
           (r->how != HOW_RANS || bm_rans_ended(r->rans));
}

static size_t octants_of(const struct passes *p, int fine, int coarse)
{
    size_t n = 0;

    for (int j = fine; j <= coarse; j++)
        for (int i = 1; i < BM_OCTANTS; i++)
            n += p->octants[j].size[i] > 0;
    return n;
}

static int decode_coded(struct bm_codec_state *state, struct reading *r,
                        const struct space *s, const struct passes *p, int k,
                        uint8_t *samples, const void *coarse,
                        struct bm_cursor *in, uint8_t *exact)
{
    int last = k < p->root ? k : p->count - 1, now = 0, rc;
    size_t size = r->w.field->size;

    r->choice_count = octants_of(p, k, last);
    rc = begin_reading(state, r, in, exact, piece_samples(p, k));
    if (rc)
        return rc;
    if (k == p->root) {
        decode_root(r, k < p->count ? s->dense[0] : samples);
        coarse = s->dense[0];
    }
    for (int j = last; j >= k && !r->failed; j--) {
        uint8_t *to = j > k ? s->dense[!now] : samples;

        decode_pass(r, s, p, j, coarse);
        bm_octants_merge_with(&p->octants[j], size, to, s->sorted, coarse);
        coarse = to;
        now = !now;
    }
    if (r->w.where.failed)
        return BOUMA_ENOMEM;
    return reading_ended(r) ? BOUMA_OK : BOUMA_EFORMAT;
}

static int decode_field(struct bm_codec_state *state, void *samples,
                        const void *coarse, const struct bm_field *f, int k,
                        const uint8_t *in, size_t stored)
{
    struct bm_cursor c = bm_cursor_of(in, stored);
    struct carver memory = {NULL, 0};
    struct passes p;
    struct reading r;
    struct space s;
    size_t n, kept;
    uint8_t *exact;
    int form, rc;

    if (!bm_lattice_samples(&f->lattice[k]))
        return stored ? BOUMA_EFORMAT : BOUMA_OK;
    memset(&r, 0, sizeof(r));
    list_passes(&p, f);
    if (k >= p.root && k < p.coarsest) {
        memcpy(samples, coarse, f->size);
        return stored ? BOUMA_EFORMAT : BOUMA_OK;
    }
    k = k < p.root ? k : p.root;
    piece_init(&r.w, f, state->a);
    n = piece_samples(&p, k);
    kept = k < p.root ? samples_of(&p, k + 1) : 0;
    for (int i = 0; i < 2; i++) { /* count, then lay out */
        memory.bytes = 0;
        lay_out(&memory, &s, &r.w, &p, k, f->size);
        exact = carve(&memory, n * f->size);
        r.rans = carve(&memory, sizeof(*r.rans));
        if (i == 0) {
            memory.at = bm_codec_work(state, memory.bytes);
            if (!memory.at)
                return BOUMA_ENOMEM;
        }
    }
    form = bm_get_u8(&c);
    if (form == FORM_EXACT) {
        rc = bm_zstd_unpack(state, s.sorted + kept * f->size, n, f->size, c.p,
                            bm_cursor_left(&c));
        if (!rc && k < p.count)
            bm_octants_merge_with(&p.octants[k], f->size, samples, s.sorted,
                                  kept ? coarse : s.sorted);
        else if (!rc)
            memcpy(samples, s.sorted, f->size);
    } else if (form == FORM_CODED && can_quantise(f, &r.w.quantum)) {
        rc = decode_coded(state, &r, &s, &p, k, samples, coarse, &c, exact);
    } else {
        rc = BOUMA_EFORMAT;
    }
    piece_release(&r.w);
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
                                         .lossy = 1,
                                         .bound = bound,
                                         .plausible = plausible,
                                         .encode_field = encode_field,
                                         .decode_field = decode_field};
