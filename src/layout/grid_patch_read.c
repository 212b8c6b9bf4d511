/* grid_patch_read.c -- patches from their pieces: their levels decoded one
 * after the other, samples given to whoever wants them. */
#include "layout/patch.h"

#include <string.h>

#include "layout/grid_patch_inside.h"

/* ---- decoding ------------------------------------------------------------ */

/* What is known of a patch while it is decoded. */
struct decoding {
    struct bm_patch patch;
    struct bm_patch_samples samples;
};

/* The coder's rooms: this struct; samples of two levels in turn; what these
 * add to the next coarser ones. */
enum { STATE, SAMPLES, DETAIL = SAMPLES + 2 };

int bm_grid_patch_begin(struct bm_decoding *d, const uint8_t *kept)
{
    const struct bm_object *o = d->variable->object;
    struct bm_coder *coder = d->coder;
    struct decoding *own;

    if (bm_block_grow(coder->a, &coder->room[STATE], sizeof(*own)))
        return BOUMA_ENOMEM;
    own = d->own = coder->room[STATE].data;
    bm_patch_init(&own->patch, d->variable,
                  bm_tiling_find(bm_tiling_of(o), d->key));
    own->samples = (struct bm_patch_samples){d->level, NULL, kept};
    if (!kept)
        d->level = o->levels;
    return BOUMA_OK;
}

/* The samples of the next coarser level that are wanted, in one array. */
static int join_coarse(struct bm_decoding *d, int turn, const uint8_t **coarse)
{
    struct decoding *own = d->own;
    const struct bm_patch_samples *s = &own->samples;
    struct bm_block_of_memory *room = &d->coder->room[SAMPLES + !turn];
    struct bm_window wanted;
    int some;

    *coarse = s->dense;
    if (!s->detail)
        return BOUMA_OK;
    if (s->level == own->patch.levels - 1) {
        *coarse = s->detail; /* which are all samples */
        return BOUMA_OK;
    }
    if (bm_block_grow(d->coder->a, room,
                      bm_patch_dense_bytes(&own->patch, s->level)))
        return BOUMA_ENOMEM;
    some = d->clip && bm_patch_window(&wanted, &own->patch, s->level, d->clip);
    bm_patch_merge(&own->patch, s, some ? &wanted : NULL, room->data);
    *coarse = room->data;
    return BOUMA_OK;
}

/* With a codec that makes a level from the next coarser one. */
static int decode_fields(struct bm_decoding *d, const uint8_t *data,
                         size_t bytes)
{
    struct decoding *own = d->own;
    struct bm_block_of_memory *room = &d->coder->room[SAMPLES + (d->level & 1)];
    struct bm_field f = bm_patch_field(&own->patch, d->variable);
    struct bm_window wanted;
    int rc = bm_block_grow(d->coder->a, room,
                           bm_patch_dense_bytes(&own->patch, d->level));

    if (d->level == d->fine && d->clip &&
        bm_patch_window(&wanted, &own->patch, d->level, d->clip))
        f.wanted = &wanted;
    if (!rc)
        rc = bm_codec_decode_fields(
            &d->coder->codec, room->data, own->samples.dense, &f,
            &(struct bm_coded_level){d->level, data, bytes});
    own->samples.dense = room->data;
    return rc;
}

/* With one that has what a level adds to the next coarser one. */
static int decode_detail(struct bm_decoding *d, const struct bm_codec *codec,
                         const uint8_t *data, size_t bytes)
{
    struct decoding *own = d->own;
    const struct bm_patch *p = &own->patch;
    struct bm_block_of_memory *room = &d->coder->room[DETAIL + (d->level & 1)];
    struct bm_samples out = {
        NULL, (size_t)p->values[d->level] * (size_t)p->components, p->size};
    int rc =
        bm_block_grow(d->coder->a, room, bm_patch_level_bytes(p, d->level));

    out.data = room->data;
    if (!rc)
        rc = codec->decode(&d->coder->codec, &out, data, bytes);
    own->samples.detail = room->data;
    return rc;
}

/* Pieces of a codec that stores values as they are can be used where they are.
 */
int bm_grid_patch_decode(struct bm_decoding *d, const uint8_t *data,
                         size_t bytes)
{
    const struct bm_codec *codec = bm_codec_find((int)d->variable->codec);
    struct decoding *own = d->own;
    const uint8_t *coarse;

    d->level--;
    if (join_coarse(d, d->level & 1, &coarse))
        return BOUMA_ENOMEM;
    own->samples = (struct bm_patch_samples){d->level, NULL, coarse};
    if (codec->sized && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        if (bytes != bm_patch_level_bytes(&own->patch, d->level))
            return BOUMA_EFORMAT;
        own->samples.detail = data;
        return BOUMA_OK;
    }
    return codec->decode_field ? decode_fields(d, data, bytes)
                               : decode_detail(d, codec, data, bytes);
}

size_t bm_grid_patch_sample_bytes(const struct bm_decoding *d, int level)
{
    const struct decoding *own = d->own;

    return bm_patch_dense_bytes(&own->patch, level);
}

void bm_grid_patch_keep(const struct bm_decoding *d, uint8_t *samples)
{
    const struct decoding *own = d->own;

    bm_patch_merge(&own->patch, &own->samples, NULL, samples);
}

void bm_grid_patch_give(const struct bm_decoding *d,
                        const struct bm_target *target)
{
    const struct decoding *own = d->own;
    struct bm_box clip = bm_footprint_bounds(&target->samples);
    struct bm_level_memory to = {.array = target->array};

    for (int i = 0; i < 3; i++)
        to.first[i] = target->samples.start[i] >> d->level;
    bm_patch_give(&own->patch, &own->samples, &clip, &to);
}

/* What level 0 adds, and what the coarser ones have; or all of them. */
void bm_grid_patch_ranges(const struct bm_decoding *d, struct bm_range *ranges)
{
    const struct decoding *own = d->own;
    const struct bm_patch *p = &own->patch;
    const struct bm_patch_samples *s = &own->samples;
    int from = s->detail ? 1 : 0;
    size_t added = (size_t)p->values[0];
    size_t others =
        from < p->levels ? (size_t)bm_lattice_samples(&p->lattice[from]) : 0;

    memset(ranges, 0, sizeof(*ranges) * (size_t)p->components);
    for (size_t c = 0; c < (size_t)p->components; c++) {
        if (s->detail)
            bm_range_add(&ranges[c], d->variable->type,
                         s->detail + c * added * p->size, added);
        if (others)
            bm_range_add(&ranges[c], d->variable->type,
                         s->dense + c * others * p->size, others);
    }
}
