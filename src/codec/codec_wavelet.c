/* codec_wavelet.c -- each level as wavelet coefficients, which zfp cuts off.
 *
 * A level is made of the next coarser one, a smoothed version of it, and of the
 * details of wavelet.h; the root is stored as it is. zfp keeps the coefficients
 * to a tolerance. What that means for the samples depends on them, so the
 * encoder decodes what it made; where the bound is missed, it takes a smaller
 * tolerance, and at last the samples themselves. With 'nominal' the tolerance
 * is the bound, and nobody looks.
 *
 * What is not finite is kept apart, and replaced by its neighbour before all
 * this. Where it is put back into a level, the smooth value is lost, which the
 * next finer level is made from: so that one's piece has it, too.
 *
 * A piece:
 *
 *     u8   form
 *   FORM_EXACT, then all other pieces of the field are the same:
 *     the samples that the coarser level has not, as bm_zstd_pack() makes them
 *   FORM_COEFFICIENTS, FORM_HOLES:
 *     u16  eighths of zfp_blocks.h, as a signed number
 *   FORM_HOLES:
 *     u32  bytes, then a bit for each sample of the level that is not finite
 *     u32  bytes, then these samples
 *     u32  bytes, then the values that the coarser level should have where it
 *          is not finite; all three as bm_zstd_pack() makes them
 *   both:
 *     what bm_zfp_encode() makes of the bands
 */
#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/levels.h"
#include "codec/values.h"
#include "codec/wavelet.h"

enum { FORM_EXACT = 0, FORM_COEFFICIENTS = 1, FORM_HOLES = 2 };

/* Bytes of a piece beyond those of its samples: small levels may take them. */
#define MOST_EXTRA 48

/* The first tolerance of coefficients, as a multiple of the bound, and how many
 * eighths smaller it is at each coarser level, which have few of them but reach
 * far; by the number of axes. Of turbulence and of noise, nearly all patches
 * then keep the bound, with a largest error of 0.6 to 0.95 of it. */
static const struct {
    double share;
    int coarser;
} first_guess[4] = {{1, 0}, {1.42, 4}, {1.69, 8}, {2.6, 8}};
#define MOST_COARSER  32
#define MOST_ATTEMPTS 4

/* What decoding of level k, and of all coarser ones, needs. */
struct decoding {
    const struct bm_field *field;
    struct bm_levels levels;
    uint8_t *sorted; /* samples of the level, in octants */
    uint8_t *coarse; /* samples of the next coarser one, without holes */
    uint8_t *holes;  /* bits */
    uint8_t *values; /* of the holes */
};

static size_t bitmap_bytes(size_t samples)
{
    return (samples + 7) / 8;
}

static void lay_out(struct bm_carver *c, struct decoding *d, int k)
{
    const struct bm_levels *l = &d->levels;
    size_t n = bm_level_samples(l, k), size = d->field->size;
    size_t coarse = k < l->root ? bm_level_samples(l, k + 1) : 0;

    d->sorted = bm_carve(c, n * size);
    d->coarse = bm_carve(c, coarse * size);
    d->holes = bm_carve(c, bitmap_bytes(n));
    d->values = bm_carve(c, n * size);
}

static struct bm_zfp zfp_of(const struct bm_field *f, const struct bm_levels *l,
                            int k, int eighths)
{
    struct bm_zfp z = {.type = f->type, .eighths = eighths};

    memcpy(z.n, l->octants[k].n, sizeof(z.n));
    return z;
}

/* ---- holes -------------------------------------------------------------- */

static int is_hole(const uint8_t *holes, size_t i)
{
    return holes[i >> 3] >> (i & 7) & 1;
}

/* Go through the samples of a level that the next coarser one has, too: *i is
 * the index of each in the level. At first 'at' is all zero. Returns 0 behind
 * the last one. */
static int next_even(size_t *i, int64_t at[3], const int64_t n[3])
{
    if (at[0] >= n[0])
        return 0;
    *i = (size_t)((at[0] * n[1] + at[1]) * n[2] + at[2]);
    at[2] += 2;
    for (int d = 2; d > 0 && at[d] >= n[d]; d--) {
        at[d] = 0;
        at[d - 1] += 2;
    }
    return 1;
}

/* Put values where the holes of level k are. */
static void fill_holes(const struct decoding *d, int k, uint8_t *to,
                       const uint8_t *values)
{
    size_t size = d->field->size, count = 0;

    for (size_t i = 0; i < bm_level_samples(&d->levels, k); i++)
        if (is_hole(d->holes, i))
            memcpy(to + i * size, values + count++ * size, size);
}

static size_t count_holes(const struct decoding *d, int k)
{
    size_t count = 0;

    for (size_t i = 0; i < bm_level_samples(&d->levels, k); i++)
        count += (size_t)is_hole(d->holes, i);
    return count;
}

static size_t count_coarse_holes(const struct decoding *d, int k)
{
    int64_t at[3] = {0, 0, 0};
    size_t count = 0, i;

    while (next_even(&i, at, d->levels.octants[k].n))
        count += (size_t)is_hole(d->holes, i);
    return count;
}

static void fill_coarse_holes(const struct decoding *d, int k,
                              const uint8_t *values)
{
    int64_t at[3] = {0, 0, 0};
    size_t size = d->field->size, i;
    uint8_t *to = d->coarse;

    for (; next_even(&i, at, d->levels.octants[k].n); to += size)
        if (is_hole(d->holes, i)) {
            memcpy(to, values, size);
            values += size;
        }
}

/* ---- decoding ----------------------------------------------------------- */

static int unpack(struct bm_codec_state *state, struct bm_cursor *in,
                  void *values, size_t count, size_t size)
{
    size_t bytes = bm_get_u32(in);
    const uint8_t *data = bm_get_bytes(in, bytes);

    if (!data || (!count && bytes))
        return BOUMA_EFORMAT;
    return count ? bm_zstd_unpack(state, values, count, size, data, bytes)
                 : BOUMA_OK;
}

/* The holes of level k, their samples, and *coarse without holes. */
static int decode_holes(struct bm_codec_state *state, struct decoding *d, int k,
                        const void **coarse, struct bm_cursor *in)
{
    size_t n = bm_level_samples(&d->levels, k), size = d->field->size;
    uint8_t *lost = d->sorted; /* not used yet */
    int rc = unpack(state, in, d->holes, bitmap_bytes(n), 1);

    if (!rc)
        rc = unpack(state, in, d->values, count_holes(d, k), size);
    if (!rc && k < d->levels.root) {
        rc = unpack(state, in, lost, count_coarse_holes(d, k), size);
        if (!rc) {
            memcpy(d->coarse, *coarse,
                   bm_level_samples(&d->levels, k + 1) * size);
            fill_coarse_holes(d, k, lost);
            *coarse = d->coarse;
        }
    }
    return rc;
}

static int decode_level(struct bm_codec_state *state, struct decoding *d,
                        void *samples, const void *coarse,
                        const struct bm_coded_level *piece)
{
    const struct bm_levels *l = &d->levels;
    struct bm_cursor in = bm_cursor_of(piece->data, piece->bytes);
    struct bm_band bands[BM_MAX_BANDS];
    struct bm_zfp z;
    int k = piece->level, form, eighths, count, rc = BOUMA_OK;

    if (!bm_level_held(l, k)) {
        memcpy(samples, coarse, bm_level_samples(l, k) * l->size);
        return piece->bytes ? BOUMA_EFORMAT : BOUMA_OK;
    }
    form = bm_get_u8(&in);
    if (in.failed || form > FORM_HOLES)
        return BOUMA_EFORMAT;
    if (form == FORM_EXACT)
        return bm_level_unpack(
            state, samples, coarse, l, d->sorted,
            &(struct bm_coded_level){k, in.p, bm_cursor_left(&in)});
    eighths = (int16_t)bm_get_u16(&in);
    if (in.failed || eighths < BM_EIGHTHS_MIN || eighths > BM_EIGHTHS_MAX)
        return BOUMA_EFORMAT;
    if (form == FORM_HOLES)
        rc = decode_holes(state, d, k, &coarse, &in);
    if (rc)
        return rc;
    z = zfp_of(d->field, l, k, eighths);
    count = bm_level_bands(bands, l, k, k < l->root ? d->sorted : samples);
    rc = bm_zfp_decode(state, bands, count, &z, in.p, bm_cursor_left(&in));
    if (rc)
        return rc;
    if (k < l->root)
        bm_wavelet_inverse(d->field->type, &l->octants[k], samples, d->sorted,
                           coarse);
    if (form == FORM_HOLES)
        fill_holes(d, k, samples, d->values);
    return BOUMA_OK;
}

static int decode_field(struct bm_codec_state *state, void *samples,
                        const void *coarse, const struct bm_field *f,
                        const struct bm_coded_level *piece)
{
    struct bm_carver memory = {NULL, 0};
    struct decoding d = {.field = f};
    int k = piece->level;

    if (!bm_lattice_samples(&f->lattice[k]))
        return piece->bytes ? BOUMA_EFORMAT : BOUMA_OK;
    bm_levels_list(&d.levels, f);
    lay_out(&memory, &d, k);
    memory.at = bm_codec_work(state, memory.bytes);
    if (!memory.at)
        return BOUMA_ENOMEM;
    memory.bytes = 0;
    lay_out(&memory, &d, k);
    return decode_level(state, &d, samples, coarse, piece);
}

/* ---- encoding ----------------------------------------------------------- */

struct encoding {
    struct decoding d; /* its 'holes' and 'values' serve for encoding, too */
    const uint8_t *samples;
    uint8_t *dense;                       /* those of level 0, cleaned */
    uint8_t *coefficients[BM_MAX_LEVELS]; /* sorted; of the root, dense */
    uint8_t *decoded[2];                  /* of the even, of the odd levels */
    struct bm_buffer lost[BM_MAX_LEVELS]; /* smooth values of the holes of the
                                             coarser level */
    int with_holes;
};

static void lay_out_encoding(struct bm_carver *c, struct encoding *e)
{
    const struct bm_levels *l = &e->d.levels;
    size_t size = e->d.field->size;

    lay_out(c, &e->d, 0);
    e->dense = bm_carve(c, bm_level_samples(l, 0) * size);
    e->decoded[0] = bm_carve(c, bm_level_samples(l, 0) * size);
    e->decoded[1] = bm_carve(c, l->root ? bm_level_samples(l, 1) * size : 0);
    for (int k = 0; k <= l->root; k++)
        e->coefficients[k] = bm_carve(c, bm_level_samples(l, k) * size);
}

/* Find the holes of level k: d->holes and d->values. Returns how many. */
static size_t find_holes(struct encoding *e, int k)
{
    const int64_t *n = e->d.levels.octants[k].n;
    const int64_t *full = e->d.levels.octants[0].n;
    size_t size = e->d.field->size, count = 0, i = 0;

    memset(e->d.holes, 0, bitmap_bytes(bm_level_samples(&e->d.levels, k)));
    for (int64_t z = 0; z < n[0]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[2]; x++, i++) {
                size_t at = (size_t)(((z << k) * full[1] + (y << k)) * full[2] +
                                     (x << k));

                if (bm_value_finite(e->d.field->type, e->samples, at))
                    continue;
                e->d.holes[i >> 3] |= (uint8_t)(1 << (i & 7));
                memcpy(e->d.values + count++ * size, e->samples + at * size,
                       size);
            }
    return count;
}

/* Remember the smooth values of the coarser level, which are octant 0 of the
 * coefficients of level k, where that has holes. */
static void keep_lost(struct encoding *e, int k)
{
    int64_t at[3] = {0, 0, 0};
    size_t size = e->d.field->size, i;
    const uint8_t *value = e->coefficients[k];

    find_holes(e, k);
    for (; next_even(&i, at, e->d.levels.octants[k].n); value += size)
        if (is_hole(e->d.holes, i))
            bm_put_bytes(&e->lost[k], value, size);
}

/* All coefficients; spoils the dense samples. */
static int transform(struct encoding *e)
{
    const struct bm_levels *l = &e->d.levels;
    const struct bm_field *f = e->d.field;

    for (int k = 0; k < l->root; k++) {
        bm_wavelet_forward(f->type, &l->octants[k], e->coefficients[k],
                           k ? e->coefficients[k - 1] : e->dense);
        if (e->with_holes)
            keep_lost(e, k);
    }
    memcpy(e->coefficients[l->root],
           l->root ? e->coefficients[l->root - 1] : e->dense,
           bm_level_samples(l, l->root) * f->size);
    for (int k = 0; k < l->root; k++)
        if (e->lost[k].failed)
            return BOUMA_ENOMEM;
    return BOUMA_OK;
}

static int pack(struct bm_codec_state *state, struct bm_buffer *out,
                const void *values, size_t count, size_t size)
{
    size_t at = out->size;
    int rc = BOUMA_OK;

    bm_put_u32(out, 0);
    if (count)
        rc = bm_zstd_pack(state, out, values, count, size);
    if (rc || out->failed)
        return BOUMA_ENOMEM;
    bm_store_u32(out->data + at, (uint32_t)(out->size - at - 4));
    return BOUMA_OK;
}

static int encode_level(struct bm_codec_state *state, struct bm_buffer *out,
                        struct encoding *e, int k, int eighths)
{
    const struct bm_levels *l = &e->d.levels;
    size_t size = e->d.field->size, holes;
    struct bm_zfp z = zfp_of(e->d.field, l, k, eighths);
    struct bm_band bands[BM_MAX_BANDS];
    int count = bm_level_bands(bands, l, k, e->coefficients[k]), rc;

    holes = e->with_holes ? find_holes(e, k) : 0;
    bm_put_u8(out, holes ? FORM_HOLES : FORM_COEFFICIENTS);
    bm_put_u16(out, (uint16_t)eighths);
    if (holes) {
        rc = pack(state, out, e->d.holes, bitmap_bytes(bm_level_samples(l, k)),
                  1);
        if (!rc)
            rc = pack(state, out, e->d.values, holes, size);
        if (!rc && k < l->root)
            rc =
                pack(state, out, e->lost[k].data, e->lost[k].size / size, size);
        if (rc)
            return rc;
    }
    return bm_zfp_encode(state, out, &z, bands, count);
}

/* How many axes have more than one sample. */
static int axes_of(const struct bm_levels *l)
{
    const int64_t *n = l->octants[0].n;

    return (n[0] > 1) + (n[1] > 1) + (n[2] > 1);
}

/* All pieces of a field at one tolerance. */
struct attempt {
    int eighths;                   /* coefficients to about 2^(eighths / 8) */
    size_t begin;                  /* of the pieces in the buffer */
    uint32_t sizes[BM_MAX_LEVELS]; /* of them */
    int fits; /* none is much longer than its samples; if not, some may be
                 missing */
    struct bm_loss loss;
};

/* Append all levels, and set begin, sizes and fits. */
static int encode_levels(struct bm_codec_state *state, struct bm_buffer *out,
                         struct encoding *e, struct attempt *to)
{
    const struct bm_levels *l = &e->d.levels;
    int rc = BOUMA_OK;

    to->begin = out->size;
    to->fits = 1;
    for (int k = l->root; k >= 0 && !rc && to->fits; k--) {
        size_t begin = out->size, held = bm_level_held(l, k);
        int less = k * first_guess[axes_of(l)].coarser, now = to->eighths;

        if (!e->d.field->nominal)
            now -= less < MOST_COARSER ? less : MOST_COARSER;
        if (held)
            rc = encode_level(state, out, e, k,
                              now < BM_EIGHTHS_MIN ? BM_EIGHTHS_MIN : now);
        to->sizes[k] = (uint32_t)(out->size - begin);
        to->fits = to->sizes[k] <= held * e->d.field->size + MOST_EXTRA;
    }
    return rc;
}

/* What is lost, by decoding all of it. */
static int measure(struct bm_codec_state *state, const struct bm_buffer *out,
                   struct encoding *e, struct attempt *of)
{
    const struct bm_levels *l = &e->d.levels;
    struct bm_coded_level piece = {.data = out->data + of->begin};
    int rc = BOUMA_OK;

    for (int k = l->root; k >= 0 && !rc; k--) {
        piece.level = k;
        piece.bytes = of->sizes[k];
        rc = decode_level(state, &e->d, e->decoded[k & 1], e->decoded[!(k & 1)],
                          &piece);
        piece.data += piece.bytes;
    }
    if (!rc)
        of->loss = bm_values_loss(e->d.field->type, e->samples, e->decoded[0],
                                  bm_level_samples(l, 0));
    return rc;
}

static int encode_exactly(struct bm_codec_state *state, struct bm_buffer *out,
                          uint32_t *sizes, struct encoding *e)
{
    const struct bm_levels *l = &e->d.levels;
    uint8_t *sorted[BM_MAX_LEVELS];
    int rc = BOUMA_OK;

    /* The coefficients lie together, with gaps between them. */
    bm_levels_sort(sorted, l, e->coefficients[0], e->samples);
    for (int k = l->root; k >= 0 && !rc; k--) {
        size_t begin = out->size;

        if (bm_level_held(l, k)) {
            bm_put_u8(out, FORM_EXACT);
            rc = bm_level_pack(state, out, l, k, sorted[k]);
        }
        sizes[k] = (uint32_t)(out->size - begin);
    }
    return rc ? rc : out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* How many eighths smaller the tolerance should be after such an error. */
static int tighten(double largest, double bound)
{
    double much = largest / bound;

    return much < 0x1p40 ? (int)ceil(8 * log2(much)) + 2 : 8 * 40;
}

/* Make the dense samples. Whether numbers of such a size can be trusted. */
static int prepare(struct encoding *e)
{
    const struct bm_field *f = e->d.field;
    size_t n = bm_level_samples(&e->d.levels, 0);
    double far = f->type == BOUMA_TYPE_F32 ? 0x1p100 : 0x1p900;

    e->with_holes = !bm_values_finite(f->type, e->samples, n);
    if (e->with_holes)
        bm_values_clean(f->type, e->dense, e->samples, n);
    else
        memcpy(e->dense, e->samples, n * f->size);
    return f->bound > 1 / far && bm_values_largest(f->type, e->dense, n) < far;
}

/* Smooth samples take little time and often less than half of the bound: make
 * another attempt at a larger tolerance, and keep what is shorter. 'first' is
 * the last in 'out'. */
static int try_more(struct bm_codec_state *state, struct bm_buffer *out,
                    struct encoding *e, struct attempt *first)
{
    size_t plain = bm_level_samples(&e->d.levels, 0) * e->d.field->size;
    size_t end = out->size, bytes = end - first->begin;
    double bound = e->d.field->bound, largest = first->loss.largest;
    struct attempt other;
    int more, rc;

    if (bytes > plain / 16 || !(largest > 0))
        return BOUMA_OK;
    more = largest > 0.1 * bound ? (int)(8 * log2(0.8 * bound / largest)) : 24;
    other.eighths = first->eighths + more < BM_EIGHTHS_MAX
                        ? first->eighths + more
                        : BM_EIGHTHS_MAX;
    rc = encode_levels(state, out, e, &other);
    if (!rc && other.fits)
        rc = measure(state, out, e, &other);
    if (!rc && other.fits && out->size - end < bytes &&
        other.loss.largest <= bound * (1 - 0x1p-20)) {
        memmove(out->data + first->begin, out->data + end, out->size - end);
        end = first->begin + (out->size - end);
        other.begin = first->begin;
        *first = other;
    }
    out->size = end;
    return rc;
}

static void add_loss(struct bm_loss *loss, const struct bm_loss *more)
{
    loss->largest =
        more->largest > loss->largest ? more->largest : loss->largest;
    loss->squares += more->squares;
}

static int encode_within(struct bm_codec_state *state, struct bm_buffer *out,
                         uint32_t *sizes, struct bm_loss *loss,
                         struct encoding *e)
{
    const struct bm_field *f = e->d.field;
    size_t begin = out->size;
    double far = f->type == BOUMA_TYPE_F32 ? 0x1p100 : 0x1p900;
    double bound = f->bound < far ? f->bound : far;
    double share = f->nominal ? 1 : first_guess[axes_of(&e->d.levels)].share;
    struct attempt now = {.eighths = bm_zfp_eighths(bound * share), .fits = 1};
    int rc = transform(e);

    /* Differences are rounded, too. */
    bound *= f->type == BOUMA_TYPE_F32 ? 1 - 0x1p-22 : 1 - 0x1p-51;
    for (int i = 0; i < MOST_ATTEMPTS && now.fits && !rc; i++) {
        now.loss = (struct bm_loss){INFINITY, INFINITY};
        out->size = begin;
        rc = encode_levels(state, out, e, &now);
        if (rc || !now.fits)
            break;
        if (!f->nominal)
            rc = measure(state, out, e, &now);
        if (rc)
            break;
        if (f->nominal || now.loss.largest <= bound) {
            if (!f->nominal && i == 0 && 2 * now.loss.largest < bound)
                rc = try_more(state, out, e, &now);
            memcpy(sizes, now.sizes,
                   sizeof(*sizes) * (size_t)(e->d.levels.root + 1));
            add_loss(loss, &now.loss);
            return rc;
        }
        now.eighths -= tighten(now.loss.largest, bound);
        now.fits = now.eighths >= BM_EIGHTHS_MIN;
    }
    out->size = begin;
    return rc ? rc : encode_exactly(state, out, sizes, e);
}

static int encode_field(struct bm_codec_state *state, struct bm_buffer *out,
                        uint32_t *sizes, struct bm_loss *loss,
                        const struct bm_field *f, const void *samples)
{
    struct encoding e = {.d = {.field = f}, .samples = samples};
    struct bm_carver memory = {NULL, 0};
    int rc;

    memset(sizes, 0, sizeof(*sizes) * (size_t)f->levels);
    if (!bm_lattice_samples(&f->lattice[0]))
        return BOUMA_OK;
    bm_levels_list(&e.d.levels, f);
    lay_out_encoding(&memory, &e);
    memory.at = bm_codec_work(state, memory.bytes);
    if (!memory.at)
        return BOUMA_ENOMEM;
    memory.bytes = 0;
    lay_out_encoding(&memory, &e);
    for (int k = 0; k <= e.d.levels.root; k++)
        bm_buffer_init(&e.lost[k], state->a);
    rc = prepare(&e) ? encode_within(state, out, sizes, loss, &e)
                     : encode_exactly(state, out, sizes, &e);
    for (int k = 0; k <= e.d.levels.root; k++)
        bm_buffer_release(&e.lost[k]);
    return rc ? rc : out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

static size_t bound(size_t bytes)
{
    return bytes;
}

/* As many bytes as the samples have at most, or a few more where there are few;
 * for each of 256 components. */
static int plausible(size_t bytes, size_t stored)
{
    return bytes ? stored >= 2 && stored <= bytes + (MOST_EXTRA + 4) * 256
                 : stored == 0;
}

const struct bm_codec bm_codec_wavelet = {.name = "wavelet",
                                          .uses = BM_FOR_FIELDS,
                                          .lossy = 1,
                                          .nominal = 1,
                                          .averages = 1,
                                          .bound = bound,
                                          .plausible = plausible,
                                          .encode_field = encode_field,
                                          .decode_field = decode_field};
