/* Codecs: samples come back bit for bit, and damaged bytes give EFORMAT or
 * some samples, but never a step outside. */
#include "codec/codec.h"

#include <zstd.h>

#include "check.h"
#include "fault_alloc.h"
#include "native.h"

static const struct bm_codec *const codecs[2] = {&bm_codec_raw, &bm_codec_zstd};

/* Samples of several kinds: 0 noise, 1 smooth, 2 constant, 3 few values. */
static void fill(uint8_t *data, size_t count, size_t size, int kind,
                 uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t v = kind == 0   ? check_random(state)
                     : kind == 1 ? 1000000 + i * 3
                     : kind == 2 ? 42
                                 : (uint64_t)check_below(state, 3);

        store_integer(data + i * size, v, size);
    }
}

static void round_trip(const struct bm_codec *codec,
                       struct bm_codec_state *state, const uint8_t *data,
                       size_t count, size_t size, int effort)
{
    size_t bytes = count * size, room = codec->bound(bytes), stored = 99;
    uint8_t *in = malloc(bytes + 1), *out = malloc(room + 1);
    uint8_t *back = malloc(bytes + 1);
    struct bm_samples given = {in, count, size}, got = {back, count, size};

    REQUIRE(in && out && back);
    memcpy(in, data, bytes);
    out[room] = back[bytes] = 0x5a;
    CHECK_EQ(codec->encode(state, out, &stored, &given, effort), BOUMA_OK);
    CHECK(stored <= room);
    CHECK(stored <= bytes);
    CHECK(codec->plausible(bytes, stored));
    CHECK_EQ(out[room], 0x5a);
    CHECK(!memcmp(in, data, bytes)); /* the caller's samples are not changed */
    CHECK_EQ(codec->decode(state, &got, out, stored), BOUMA_OK);
    CHECK(!memcmp(back, data, bytes));
    CHECK_EQ(back[bytes], 0x5a);
    if (codec->sized)
        CHECK_EQ(stored, bytes);
    free(in);
    free(out);
    free(back);
}

static void samples_come_back_bit_for_bit(void)
{
    static const size_t counts[] = {0,  1,  2,   3,    7,    8,   15,
                                    64, 65, 511, 1000, 4096, 9999};
    uint8_t *data = malloc(9999 * 8);
    struct bm_codec_state state;
    uint64_t random = 30;

    REQUIRE(data);
    bm_codec_state_init(&state, bm_allocator_default());
    for (int c = 0; c < 2; c++)
        for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
            for (size_t size = 1; size <= 8; size *= 2)
                for (int kind = 0; kind < 4; kind++) {
                    fill(data, counts[n], size, kind, &random);
                    round_trip(codecs[c], &state, data, counts[n], size, 0);
                }
    for (int effort = 1; effort <= 22; effort++) {
        fill(data, 3000, 4, 3, &random);
        round_trip(&bm_codec_zstd, &state, data, 3000, 4, effort);
    }
    bm_codec_state_release(&state);
    bm_codec_state_release(&state);
    free(data);
}

static size_t encode_once(struct bm_codec_state *state, uint8_t *out,
                          uint8_t *data, size_t count, size_t size)
{
    struct bm_samples in = {data, count, size};
    size_t stored = 0;

    REQUIRE(!bm_codec_zstd.encode(state, out, &stored, &in, 0));
    return stored;
}

static void smooth_samples_shrink_and_noise_does_not_grow(void)
{
    uint8_t data[4096 * 8], out[70000];
    struct bm_codec_state state;
    uint64_t random = 31;

    bm_codec_state_init(&state, bm_allocator_default());
    fill(data, 4096, 8, 1, &random);
    CHECK(encode_once(&state, out, data, 4096, 8) < sizeof(data) / 8);
    fill(data, 4096, 8, 0, &random);
    CHECK_EQ(encode_once(&state, out, data, 4096, 8), sizeof(data));
    bm_swap_to_little(data, 4096, 8);
    CHECK(!memcmp(out, data, sizeof(data))); /* kept as it is */
    bm_codec_state_release(&state);
}

/* On blocks that are just as long as told, for a sanitizer to see. */
static int decode_exactly(const struct bm_codec *codec,
                          struct bm_codec_state *state, const uint8_t *encoded,
                          size_t stored, size_t count, size_t size)
{
    size_t bytes = count * size;
    uint8_t *in = malloc(stored ? stored : 1), *out = malloc(bytes ? bytes : 1);
    struct bm_samples samples = {out, count, size};
    int rc;

    REQUIRE(in && out);
    memcpy(in, encoded, stored);
    rc = codec->decode(state, &samples, in, stored);
    CHECK(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
    free(in);
    free(out);
    return rc;
}

static void every_truncation_is_refused(void)
{
    uint8_t data[600 * 8], out[10000];
    struct bm_codec_state state;
    uint64_t random = 32;

    bm_codec_state_init(&state, bm_allocator_default());
    for (size_t size = 1; size <= 8; size *= 2)
        for (int kind = 0; kind < 4; kind++) {
            size_t bytes = 600 * size, stored;

            fill(data, 600, size, kind, &random);
            stored = encode_once(&state, out, data, 600, size);
            for (size_t n = 0; n < stored; n++)
                CHECK_EQ(
                    decode_exactly(&bm_codec_zstd, &state, out, n, 600, size),
                    BOUMA_EFORMAT);
            for (size_t n = 0; n < bytes; n += 7)
                CHECK_EQ(
                    decode_exactly(&bm_codec_raw, &state, data, n, 600, size),
                    BOUMA_EFORMAT);
            /* And bytes too many. */
            CHECK_EQ(decode_exactly(&bm_codec_zstd, &state, out, stored + 1,
                                    600, size),
                     BOUMA_EFORMAT);
            CHECK_EQ(decode_exactly(&bm_codec_raw, &state, out, bytes + 1, 600,
                                    size),
                     BOUMA_EFORMAT);
        }
    bm_codec_state_release(&state);
}

/* zstd's own frame does not tell all damage; the checksums of chunks do. Here
 * it matters that nothing is read or written outside. */
static void random_damage_stays_inside(void)
{
    uint8_t data[2000 * 8], out[20000], hurt[20000];
    struct bm_codec_state state;
    uint64_t random = 33;
    int refused = 0, tried = 0;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int tries = 0; tries < 3000; tries++) {
        size_t size = (size_t)1 << tries % 4;
        size_t count = 1 + (size_t)check_below(&random, 2000), stored;

        fill(data, count, size, 1 + tries % 3, &random);
        stored = encode_once(&state, out, data, count, size);
        memcpy(hurt, out, stored);
        for (int64_t k = 1 + check_below(&random, 4); k > 0; k--)
            hurt[check_below(&random, (int64_t)stored)] ^=
                (uint8_t)(1 << check_below(&random, 8));
        tried++;
        refused += decode_exactly(&bm_codec_zstd, &state, hurt, stored, count,
                                  size) != BOUMA_OK;
        /* Asked for other numbers of samples than there are. */
        if (stored < count * size) {
            CHECK_EQ(decode_exactly(&bm_codec_zstd, &state, out, stored,
                                    count + 1, size),
                     BOUMA_EFORMAT);
            if (stored < (count - 1) * size)
                CHECK_EQ(decode_exactly(&bm_codec_zstd, &state, out, stored,
                                        count - 1, size),
                         BOUMA_EFORMAT);
        }
    }
    CHECK(refused > tried / 10);
    bm_codec_state_release(&state);
}

/* A frame that says it holds gigabytes must not be believed. */
static void a_frame_that_promises_more_is_refused(void)
{
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0x00, 0x00,
                                    0x00, 0x03, 0xff, 0xff, 0x00};
    struct bm_codec_state state;

    bm_codec_state_init(&state, bm_allocator_default());
    CHECK_EQ(
        decode_exactly(&bm_codec_zstd, &state, frame, sizeof(frame), 100, 4),
        BOUMA_EFORMAT);
    bm_codec_state_release(&state);
}

/* Samples that do not shrink are kept as they are: a frame that is longer than
 * they is not what an encoder makes. */
static void a_frame_longer_than_its_samples_is_refused(void)
{
    uint8_t data[100], frame[300];
    struct bm_codec_state state;
    uint64_t random = 39;
    size_t n;

    bm_codec_state_init(&state, bm_allocator_default());
    fill(data, 100, 1, 0, &random);
    n = ZSTD_compress(frame, sizeof(frame), data, sizeof(data), 1);
    REQUIRE(!ZSTD_isError(n) && n > sizeof(data));
    CHECK_EQ(decode_exactly(&bm_codec_zstd, &state, frame, n, 100, 1),
             BOUMA_EFORMAT);
    bm_codec_state_release(&state);
}

static void plausible_sizes_are_those_that_can_be(void)
{
    CHECK(bm_codec_raw.plausible(0, 0));
    CHECK(bm_codec_raw.plausible(10, 10));
    CHECK(!bm_codec_raw.plausible(10, 9));
    CHECK(!bm_codec_raw.plausible(10, 11));
    CHECK(bm_codec_zstd.plausible(0, 0));
    CHECK(bm_codec_zstd.plausible(10, 1));
    CHECK(bm_codec_zstd.plausible(10, 10));
    CHECK(!bm_codec_zstd.plausible(10, 0));
    CHECK(!bm_codec_zstd.plausible(10, 11));
    CHECK(!bm_codec_zstd.plausible(0, 1));
}

static void codecs_are_found_by_number(void)
{
    CHECK(bm_codec_find(BOUMA_CODEC_ZSTD) == &bm_codec_zstd);
    CHECK(bm_codec_find(BOUMA_CODEC_RAW) == &bm_codec_raw);
    CHECK(!bm_codec_find(0));
    CHECK(!bm_codec_find(-1));
    CHECK(!bm_codec_find(99));
    CHECK(!strcmp(bm_codec_zstd.name, "zstd"));
    CHECK(!strcmp(bm_codec_raw.name, "raw"));
}

/* Raw samples may be handed over where they already lie. */
static void raw_works_in_place(void)
{
    uint32_t data[5] = {1, 2, 3, 4, 5};
    struct bm_samples s = {data, 5, 4};
    size_t stored;

    CHECK_EQ(bm_codec_raw.encode(NULL, (uint8_t *)data, &stored, &s, 0),
             BOUMA_OK);
    CHECK_EQ(stored, 20);
    CHECK_EQ(bm_codec_raw.decode(NULL, &s, (uint8_t *)data, 20), BOUMA_OK);
    CHECK_EQ(data[4], 5);
}

static void no_memory_is_told(void)
{
    struct fault_alloc none;
    uint8_t data[400] = {0}, out[1000];
    struct bm_samples s = {data, 100, 4};
    struct bm_codec_state state, good;
    size_t stored;

    bm_codec_state_init(&good, bm_allocator_default());
    stored = encode_once(&good, out, data, 100, 4);
    fault_alloc_init(&none);
    fault_alloc_arm(&none, 1, 1);
    bm_codec_state_init(&state, &none.table);
    CHECK_EQ(bm_codec_zstd.decode(&state, &s, out, stored), BOUMA_ENOMEM);
    CHECK_EQ(bm_codec_zstd.encode(&state, out, &stored, &s, 0), BOUMA_ENOMEM);
    bm_codec_state_release(&state);
    bm_codec_state_release(&good);
}

int main(void)
{
    samples_come_back_bit_for_bit();
    smooth_samples_shrink_and_noise_does_not_grow();
    every_truncation_is_refused();
    random_damage_stays_inside();
    a_frame_that_promises_more_is_refused();
    a_frame_longer_than_its_samples_is_refused();
    plausible_sizes_are_those_that_can_be();
    codecs_are_found_by_number();
    raw_works_in_place();
    no_memory_is_told();
    return check_result();
}
