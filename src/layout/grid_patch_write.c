/* grid_patch_write.c -- patches to their pieces: samples are brought together,
 * dense or split into levels as the codec wants them, and encoded. */
#include <string.h>

#include "layout/grid_patch_inside.h"
#include "layout/patch.h"

struct encoding {
    struct bm_patch patch;
    const struct bm_codec *codec;
    uint8_t *samples;              /* of all levels, the coarsest first */
    uint8_t *level[BM_MAX_LEVELS]; /* in them, unless the codec wants all */
};

enum { STATE, SAMPLES, SCRATCH }; /* rooms of the coder */

int bm_grid_patch_encode_begin(struct bm_encoding *e)
{
    const struct bm_object *o = e->variable->object;
    struct bm_block_of_memory *room = e->coder->room;
    const bouma_allocator *a = e->coder->a;
    struct encoding *own;
    struct bm_patch *p;
    uint8_t *next;

    if (bm_block_grow(a, &room[STATE], sizeof(*own)))
        return BOUMA_ENOMEM;
    own = e->own = room[STATE].data;
    p = &own->patch;
    own->codec = bm_codec_find((int)e->variable->codec);
    bm_patch_init(p, e->variable, bm_tiling_find(bm_tiling_of(o), e->key));
    if (bm_block_grow(a, &room[SCRATCH], bm_patch_scratch_bytes(p)) ||
        (!e->room && bm_block_grow(a, &room[SAMPLES], bm_patch_bytes(p))))
        return BOUMA_ENOMEM;
    own->samples = next = e->room ? e->room : room[SAMPLES].data;
    for (int k = p->levels - 1; k >= 0; k--) {
        own->level[k] = next;
        next += bm_patch_level_bytes(p, k);
    }
    e->loss = (struct bm_loss){0, 0};
    return BOUMA_OK;
}

void bm_grid_patch_take(struct bm_encoding *e,
                        const struct bm_memory_part *from)
{
    struct encoding *own = e->own;
    struct bm_memory_box box = {.box = bm_footprint_bounds(&from->samples),
                                .array = from->array};

    if (own->codec->encode_field)
        bm_patch_take_dense(&own->patch, &box, own->samples);
    else
        bm_patch_take(&own->patch, &box, own->level,
                      e->coder->room[SCRATCH].data);
}

/* With a codec that wants all samples. */
static int encode_fields(struct bm_encoding *e, struct bm_buffer *out)
{
    struct encoding *own = e->own;
    const struct bm_patch *p = &own->patch;
    struct bm_field f = bm_patch_field(p, e->variable);

    bm_patch_dense_ranges(p, e->variable->type, own->samples, e->ranges);
    return bm_codec_encode_fields(&e->coder->codec, out, e->sizes, &e->loss, &f,
                                  own->samples);
}

/* What is there after a failure is of no use. */
static int encode_level(struct bm_encoding *e, int k, struct bm_buffer *out)
{
    struct encoding *own = e->own;
    const struct bm_codec *codec = own->codec;
    const struct bm_patch *p = &own->patch;
    struct bm_samples in = {
        own->level[k], (size_t)p->values[k] * (size_t)p->components, p->size};
    size_t room = e->room ? 0 : codec->bound(in.count * in.size), stored = 0;
    uint8_t *to = e->room ? own->level[k] : bm_buffer_extend(out, room);
    int rc = to || e->room ? codec->encode(&e->coder->codec, to, &stored, &in,
                                           e->variable->effort)
                           : BOUMA_ENOMEM;

    e->sizes[k] = (uint32_t)stored;
    if (!rc && !e->room)
        out->size -= room - stored;
    return rc;
}

int bm_grid_patch_encode(struct bm_encoding *e, struct bm_buffer *out)
{
    struct encoding *own = e->own;
    const struct bm_patch *p = &own->patch;
    int rc = BOUMA_OK;

    if (own->codec->encode_field)
        return encode_fields(e, out);
    bm_patch_fill_coarser(p, own->level, e->coder->room[SCRATCH].data);
    bm_patch_ranges(p, e->variable->type, own->level, e->ranges);
    for (int k = p->levels - 1; k >= 0 && !rc; k--)
        rc = encode_level(e, k, out);
    return rc;
}
