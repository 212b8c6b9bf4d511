/* fuzz_codec_quantise.c -- values of particles. The input is
 *
 *     f64 (1 bit), direction (1 bit), components - 1 (2 bits), count (4 bits)
 *     | count u8 | exponent of the bound, signed | bytes
 *
 * The bytes are decoded into 'count' values for each component; or they are
 * values, which are rounded, must be within the bound and stay when rounded
 * again, and are encoded and must come back. */
#include <math.h>

#include "codec/quantise.h"
#include "fuzz_help.h"

static void decode(struct bm_codec_state *state, const struct bm_list *list,
                   const uint8_t *data, size_t bytes)
{
    size_t room =
        list->count * (size_t)list->components * bouma_type_size(list->type);
    uint8_t *in = fuzz_copy(data, bytes);
    uint8_t *out = malloc(room ? room : 1);
    int rc;

    HOLDS(out);
    rc = bm_quantise_decode(state, out, list, in, bytes);
    HOLDS(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
    free(out);
    free(in);
}

static void come_back(struct bm_codec_state *state, const struct bm_list *list,
                      const uint8_t *values, size_t bytes)
{
    uint8_t *out = malloc(bytes + 1);
    struct bm_buffer middle;

    HOLDS(out);
    bm_buffer_init(&middle, state->a);
    HOLDS(!bm_quantise_encode(state, &middle, values, list));
    HOLDS(bm_quantise_plausible(bytes, middle.size));
    HOLDS(!bm_quantise_decode(state, out, list, middle.data, middle.size));
    HOLDS(!bytes || !memcmp(out, values, bytes));
    bm_buffer_release(&middle);
    free(out);
}

static void within(const struct bm_list *list, const uint8_t *was,
                   const uint8_t *is, size_t count)
{
    size_t size = bouma_type_size(list->type);

    for (size_t i = 0; i < count; i++) {
        double x, y;
        float a, b;

        if (list->type == BOUMA_TYPE_F32) {
            memcpy(&a, was + i * size, size);
            memcpy(&b, is + i * size, size);
            x = (double)a;
            y = (double)b;
        } else {
            memcpy(&x, was + i * size, size);
            memcpy(&y, is + i * size, size);
        }
        if (x - x == 0)
            HOLDS(fabsl((long double)x - (long double)y) <=
                  (long double)list->bound);
        else
            HOLDS(!memcmp(was + i * size, is + i * size, size));
    }
}

static void round_trip(struct bm_codec_state *state, struct bm_list *list,
                       const uint8_t *data, size_t bytes)
{
    size_t size = bouma_type_size(list->type), all;
    struct bm_loss loss = {0, 0}, none = {0, 0};
    uint8_t *once, *twice;

    list->count = bytes / size / (size_t)list->components;
    all = list->count * (size_t)list->components;
    once = fuzz_copy(data, all * size);
    come_back(state, list, once, all * size); /* what is not rounded, too */
    bm_quantise(list->type, once, all, list->bound, &loss);
    within(list, data, once, all);
    HOLDS(loss.largest <= list->bound);
    twice = fuzz_copy(once, all * size);
    bm_quantise(list->type, twice, all, list->bound, &none);
    HOLDS(!memcmp(once, twice, all * size) && !(none.largest > 0));
    come_back(state, list, once, all * size);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct bm_codec_state state;
    struct bm_list list = {0};

    if (bytes < 3)
        return 0;
    list.type = data[0] & 1 ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32;
    list.components = 1 + (data[0] >> 2 & 3);
    list.count = (size_t)(data[0] >> 4) << 8 | data[1];
    list.bound = ldexp(1.1, (int8_t)data[2]);
    bm_codec_state_init(&state, bm_allocator_default());
    if (data[0] & 2)
        round_trip(&state, &list, data + 3, bytes - 3);
    else
        decode(&state, &list, data + 3, bytes - 3);
    bm_codec_state_release(&state);
    return 0;
}
