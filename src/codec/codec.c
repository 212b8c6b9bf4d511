/* codec.c -- the table of codecs, and their memory. */
#include "codec/codec.h"

#include <string.h>
#include <zstd.h>

#define ENTRY(name, number) [BOUMA_CODEC_##number] = &bm_codec_##name,
static const struct bm_codec *const codecs[] = {BM_CODECS(ENTRY)};
#undef ENTRY

const struct bm_codec *bm_codec_find(int codec)
{
    return codec >= 0 && codec < (int)(sizeof(codecs) / sizeof(codecs[0]))
               ? codecs[codec]
               : NULL;
}

void bm_codec_state_init(struct bm_codec_state *state, const bouma_allocator *a)
{
    memset(state, 0, sizeof(*state));
    state->a = a;
}

void bm_codec_state_release(struct bm_codec_state *state)
{
    if (!state->a)
        return;
    bm_drop(state->a, state->scratch.data);
    bm_drop(state->a, state->work.data);
    ZSTD_freeCCtx(state->zstd_encoder);
    ZSTD_freeDCtx(state->zstd_decoder);
    memset(state, 0, sizeof(*state));
}

int bm_block_grow(const bouma_allocator *a, struct bm_block_of_memory *block,
                  size_t bytes)
{
    void *fresh;

    if (block->data && block->bytes >= bytes)
        return BOUMA_OK;
    fresh = bm_new_raw(a, bytes, 1);
    if (!fresh)
        return BOUMA_ENOMEM;
    bm_drop(a, block->data);
    block->data = fresh;
    block->bytes = bytes;
    return BOUMA_OK;
}

void *bm_codec_scratch(struct bm_codec_state *state, size_t bytes)
{
    return bm_block_grow(state->a, &state->scratch, bytes)
               ? NULL
               : state->scratch.data;
}

void *bm_codec_work(struct bm_codec_state *state, size_t bytes)
{
    return bm_block_grow(state->a, &state->work, bytes) ? NULL
                                                        : state->work.data;
}

/* ---- several components ------------------------------------------------- */

/* Put the levels of all components, which lie one component after the other in
 * 'parts', in the order of levels. */
static void interleave(struct bm_buffer *out, const struct bm_buffer *parts,
                       uint32_t *sizes, const uint32_t *each, int components,
                       int levels)
{
    memset(sizes, 0, sizeof(*sizes) * (size_t)levels);
    for (int k = levels - 1; k >= 0; k--) {
        size_t begin = out->size, at = 0;

        for (int c = 0; c < components && each[k]; c++)
            bm_put_u32(out, each[c * levels + k]);
        for (int c = 0; c < components; c++)
            for (int j = levels - 1; j >= 0; j--) {
                uint32_t bytes = each[c * levels + j];

                if (j == k)
                    bm_put_bytes(out, parts->data + at, bytes);
                at += bytes;
            }
        sizes[k] = (uint32_t)(out->size - begin);
    }
}

int bm_codec_encode_fields(struct bm_codec_state *state, struct bm_buffer *out,
                           uint32_t *sizes, struct bm_loss *loss,
                           const struct bm_field *field, const void *samples)
{
    const struct bm_codec *codec = field->codec;
    int components = field->components;
    size_t bytes = (size_t)bm_lattice_samples(&field->lattice[0]) * field->size;
    struct bm_buffer parts;
    uint32_t *each;
    int rc = BOUMA_OK;

    if (components == 1)
        return codec->encode_field(state, out, sizes, loss, field, samples);
    bm_buffer_init(&parts, state->a);
    each = bm_new(state->a, (size_t)components * (size_t)field->levels,
                  sizeof(*each));
    if (!each)
        rc = BOUMA_ENOMEM;
    for (int c = 0; c < components && !rc; c++)
        rc = codec->encode_field(state, &parts, each + c * field->levels, loss,
                                 field,
                                 (const uint8_t *)samples + (size_t)c * bytes);
    if (!rc)
        interleave(out, &parts, sizes, each, components, field->levels);
    bm_buffer_release(&parts);
    bm_drop(state->a, each);
    return !rc && out->failed ? BOUMA_ENOMEM : rc;
}

int bm_codec_decode_fields(struct bm_codec_state *state, void *samples,
                           const void *coarse, const struct bm_field *field,
                           const struct bm_coded_level *piece)
{
    int k = piece->level, components = field->components;
    size_t bytes = (size_t)bm_lattice_samples(&field->lattice[k]) * field->size;
    size_t coarse_bytes =
        k + 1 < field->levels
            ? (size_t)bm_lattice_samples(&field->lattice[k + 1]) * field->size
            : 0;
    struct bm_cursor sizes, c = bm_cursor_of(piece->data, piece->bytes);
    int rc = BOUMA_OK;

    if (components == 1 || !bytes)
        return field->codec->decode_field(state, samples, coarse, field, piece);
    sizes = c;
    if (piece->bytes) /* else the level adds nothing to the coarser one */
        bm_get_bytes(&c, 4 * (size_t)components);
    for (int i = 0; i < components && !rc; i++) {
        struct bm_coded_level part = {.level = k};

        part.bytes = piece->bytes ? bm_get_u32(&sizes) : 0;
        part.data = bm_get_bytes(&c, part.bytes);
        rc = !part.data
                 ? BOUMA_EFORMAT
                 : field->codec->decode_field(
                       state, (uint8_t *)samples + (size_t)i * bytes,
                       coarse
                           ? (const uint8_t *)coarse + (size_t)i * coarse_bytes
                           : NULL,
                       field, &part);
    }
    return !rc && (c.failed || bm_cursor_left(&c)) ? BOUMA_EFORMAT : rc;
}
