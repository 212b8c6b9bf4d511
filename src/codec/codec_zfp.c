/* codec_zfp.c -- codec "zfp-reversible": the octants of each level by zfp, with
 * every bit kept. zfp does not promise that for all NaN, so what does not come
 * back is left to zstd.
 *
 * A piece:
 *
 *     u8   form
 *   FORM_ZSTD:
 *     the samples that the coarser level has not, as bm_zstd_pack() makes them
 *   FORM_ZFP:
 *     what bm_zfp_encode() makes of them
 */
#include <string.h>

#include "codec/codec.h"
#include "codec/levels.h"

enum { FORM_ZSTD = 0, FORM_ZFP = 1 };

static struct bm_zfp zfp_of(const struct bm_field *f, const struct bm_levels *l,
                            int k)
{
    struct bm_zfp z = {.type = f->type, .reversible = 1};

    memcpy(z.n, l->octants[k].n, sizeof(z.n));
    return z;
}

struct encoding {
    const struct bm_field *field;
    struct bm_levels levels;
    uint8_t *sorted[BM_MAX_LEVELS]; /* the samples of each level */
    uint8_t *back;                  /* room for one of them, decoded */
};

/* Append what zfp makes of level k; *same if it decodes to the same bytes, and
 * is shorter than the samples. */
static int encode_by_zfp(struct bm_codec_state *state, struct bm_buffer *out,
                         struct encoding *e, int k, int *same)
{
    const struct bm_levels *l = &e->levels;
    size_t begin = out->size, held = bm_level_held(l, k) * l->size;
    size_t kept = bm_level_samples(l, k) * l->size - held;
    struct bm_zfp z = zfp_of(e->field, l, k);
    struct bm_band bands[BM_MAX_BANDS];
    int count = bm_level_bands(bands, l, k, e->sorted[k]), rc;

    rc = bm_zfp_encode(state, out, &z, bands, count);
    *same = !rc && out->size - begin < held;
    if (!*same)
        return rc;
    bm_level_bands(bands, l, k, e->back);
    rc = bm_zfp_decode(state, bands, count, &z, out->data + begin,
                       out->size - begin);
    *same = !rc && !memcmp(e->sorted[k] + kept, e->back + kept, held);
    return rc;
}

static int encode_level(struct bm_codec_state *state, struct bm_buffer *out,
                        struct encoding *e, int k)
{
    size_t begin = out->size;
    int same, rc;

    bm_put_u8(out, FORM_ZFP);
    rc = encode_by_zfp(state, out, e, k, &same);
    if (rc || same)
        return rc;
    out->size = begin;
    bm_put_u8(out, FORM_ZSTD);
    return bm_level_pack(state, out, &e->levels, k, e->sorted[k]);
}

static int encode_field(struct bm_codec_state *state, struct bm_buffer *out,
                        uint32_t *sizes, struct bm_loss *loss,
                        const struct bm_field *f, const void *samples)
{
    struct encoding e;
    const struct bm_levels *l = &e.levels;
    size_t all, first;
    int rc = BOUMA_OK;

    (void)loss;
    memset(sizes, 0, sizeof(*sizes) * (size_t)f->levels);
    if (!bm_lattice_samples(&f->lattice[0]))
        return BOUMA_OK;
    e.field = f;
    bm_levels_list(&e.levels, f);
    all = bm_levels_samples(l) * f->size;
    first = bm_level_samples(l, 0) * f->size;
    e.back = bm_codec_work(state, all + first);
    if (!e.back)
        return BOUMA_ENOMEM;
    bm_levels_sort(e.sorted, l, e.back + first, samples);
    for (int k = l->root; k >= 0 && !rc; k--) {
        size_t begin = out->size;

        if (bm_level_held(l, k))
            rc = encode_level(state, out, &e, k);
        sizes[k] = (uint32_t)(out->size - begin);
    }
    return rc ? rc : out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

static int decode_field(struct bm_codec_state *state, void *samples,
                        const void *coarse, const struct bm_field *f,
                        const struct bm_coded_level *piece)
{
    struct bm_cursor c = bm_cursor_of(piece->data, piece->bytes);
    struct bm_band bands[BM_MAX_BANDS];
    struct bm_levels l;
    struct bm_zfp z;
    uint8_t *sorted;
    int k = piece->level, form, count, rc;

    if (!bm_lattice_samples(&f->lattice[k]))
        return piece->bytes ? BOUMA_EFORMAT : BOUMA_OK;
    bm_levels_list(&l, f);
    if (!bm_level_held(&l, k)) {
        memcpy(samples, coarse, bm_level_samples(&l, k) * f->size);
        return piece->bytes ? BOUMA_EFORMAT : BOUMA_OK;
    }
    sorted = bm_codec_work(state, bm_level_samples(&l, k) * f->size);
    if (!sorted)
        return BOUMA_ENOMEM;
    form = bm_get_u8(&c);
    if (c.failed || form > FORM_ZFP)
        return BOUMA_EFORMAT;
    if (form == FORM_ZSTD)
        return bm_level_unpack(
            state, samples, coarse, &l, sorted,
            &(struct bm_coded_level){k, c.p, bm_cursor_left(&c)});
    z = zfp_of(f, &l, k);
    count = bm_level_bands(bands, &l, k, k < l.root ? sorted : samples);
    rc = bm_zfp_decode(state, bands, count, &z, c.p, bm_cursor_left(&c));
    if (!rc && k < l.root)
        bm_octants_merge_with(&l.octants[k], f->size, samples, sorted, coarse);
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

const struct bm_codec bm_codec_zfp_reversible = {
    .name = "zfp-reversible",
    .uses = BM_FOR_FIELDS,
    .types = 1u << BOUMA_TYPE_F32 | 1u << BOUMA_TYPE_F64 |
             1u << BOUMA_TYPE_I32 | 1u << BOUMA_TYPE_I64,
    .bound = bound,
    .plausible = plausible,
    .encode_field = encode_field,
    .decode_field = decode_field};
