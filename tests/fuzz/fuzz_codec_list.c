/* fuzz_codec_list.c -- values of particles of codecs `exact` and `zstd`. The input
 * is
 *
 *     type (4 bits), direction (1 bit), codec (1 bit), components - 1 (2 bits)
 *     | count u16 | bytes
 *
 * The bytes are decoded into 'count' values for each component; or they are
 * values, which are encoded and must come back. */
#include "codec/codec.h"
#include "fuzz_help.h"

static int decode(struct bm_codec_state *state, const struct bm_codec *codec,
                  const struct bm_list *list, uint8_t *out, const uint8_t *in,
                  size_t bytes)
{
    size_t count = list->count * (size_t)list->components;
    struct bm_samples samples = {out, count, bouma_type_size(list->type)};

    return codec->decode_list ? codec->decode_list(state, out, list, in, bytes)
                              : codec->decode(state, &samples, in, bytes);
}

static void hostile(struct bm_codec_state *state, const struct bm_codec *codec,
                    const struct bm_list *list, const uint8_t *data,
                    size_t bytes)
{
    size_t room =
        list->count * (size_t)list->components * bouma_type_size(list->type);
    uint8_t *in = fuzz_copy(data, bytes);
    uint8_t *out = malloc(room ? room : 1);
    int rc;

    HOLDS(out);
    rc = decode(state, codec, list, out, in, bytes);
    HOLDS(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
    free(out);
    free(in);
}

static void round_trip(struct bm_codec_state *state,
                       const struct bm_codec *codec, struct bm_list *list,
                       const uint8_t *data, size_t bytes)
{
    size_t each = bouma_type_size(list->type) * (size_t)list->components;
    uint8_t *values, *stored, *back;
    struct bm_buffer out;

    list->count = bytes / each;
    bytes = list->count * each;
    values = fuzz_copy(data, bytes);
    back = malloc(bytes ? bytes : 1);
    bm_buffer_init(&out, state->a);
    HOLDS(back && !codec->encode_list(state, &out, values, list));
    HOLDS(codec->plausible(bytes, out.size));
    stored = fuzz_copy(out.data, out.size);
    HOLDS(!decode(state, codec, list, back, stored, out.size));
    HOLDS(!bytes || !memcmp(back, data, bytes));
    bm_buffer_release(&out);
    free(stored);
    free(back);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const bouma_type types[10] = {
        BOUMA_TYPE_F32, BOUMA_TYPE_F64, BOUMA_TYPE_I32, BOUMA_TYPE_I64,
        BOUMA_TYPE_U32, BOUMA_TYPE_U64, BOUMA_TYPE_I8,  BOUMA_TYPE_U8,
        BOUMA_TYPE_I16, BOUMA_TYPE_U16};
    const struct bm_codec *codec;
    struct bm_codec_state state;
    struct bm_list list = {0};

    if (bytes < 3)
        return 0;
    codec = data[0] & 32 ? &bm_codec_zstd : &bm_codec_exact;
    list.type = types[(data[0] & 15) % 10];
    list.components = 1 + (data[0] >> 6);
    list.count = (size_t)data[1] | (size_t)data[2] << 8;
    bm_codec_state_init(&state, bm_allocator_default());
    if (data[0] & 16)
        round_trip(&state, codec, &list, data + 3, bytes - 3);
    else
        hostile(&state, codec, &list, data + 3, bytes - 3);
    bm_codec_state_release(&state);
    return 0;
}
