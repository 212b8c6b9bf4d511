/* Codec zfp-reversible: every bit comes back, of every kind of number. */
#include "base/type.h"
#include "codec/zfp_blocks.h"
#include "field_codec.h"

static const int64_t origin[3] = {0, 0, 0};
static const bouma_type types[4] = {BOUMA_TYPE_I32, BOUMA_TYPE_I64,
                                    BOUMA_TYPE_F32, BOUMA_TYPE_F64};

static void same_bytes(struct bm_codec_state *state, struct patch *p)
{
    struct bm_loss loss;
    size_t stored;
    uint8_t *back =
        round_trip(&bm_codec_zfp_reversible, state, p, &loss, &stored);

    REQUIRE(back);
    CHECK(!memcmp(back, p->data, p->bytes));
    CHECK(loss.largest == 0 && loss.squares == 0);
    free(back);
}

static void every_bit_comes_back(void)
{
    struct bm_codec_state state;
    uint64_t random = 60;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int t = 0; t < 4; t++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int tries = 0; tries < 25; tries++) {
                int64_t n[3] = {1 + check_below(&random, tries % 3 ? 1 : 17),
                                1 + check_below(&random, tries % 2 ? 1 : 17),
                                1 + check_below(&random, 17)};
                struct patch p;

                patch_init(&p, types[t], origin, n, 1 + tries % 5,
                           1 + tries % 3, 0);
                patch_fill(&p, kind, &random);
                same_bytes(&state, &p);
                patch_release(&p);
            }
    bm_codec_state_release(&state);
}

/* Random bits are NaN with odd payloads, and integers of any size. */
static void random_bits_come_back(void)
{
    static const int64_t n[3] = {8, 8, 16};
    struct bm_codec_state state;
    uint64_t random = 61;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int t = 0; t < 4; t++)
        for (int tries = 0; tries < 50; tries++) {
            struct patch p;

            patch_init(&p, types[t], origin, n, 3, 1, 0);
            if (tries % 2)
                patch_fill(&p, SMOOTH, &random);
            for (size_t i = 0; i + 8 <= p.bytes; i += tries % 2 ? 808 : 8) {
                uint64_t v = check_random(&random);

                if (tries % 5 == 4 && types[t] == BOUMA_TYPE_F32)
                    v |= 0x7f8000017f800001; /* signalling NaN */
                if (tries % 5 == 4 && types[t] == BOUMA_TYPE_F64)
                    v = (v & ~((uint64_t)1 << 51)) | 0x7ff0000000000001;
                memcpy(p.data + i, &v, 8);
            }
            same_bytes(&state, &p);
            patch_release(&p);
        }
    bm_codec_state_release(&state);
}

static void smooth_samples_shrink(void)
{
    static const int64_t n[3] = {32, 32, 32};
    struct bm_codec_state state;
    uint64_t random = 62;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int t = 0; t < 4; t++) {
        struct bm_loss loss;
        struct patch p;
        size_t stored;

        patch_init(&p, types[t], origin, n, 4, 1, 0);
        patch_fill(&p, SMOOTH, &random);
        free(round_trip(&bm_codec_zfp_reversible, &state, &p, &loss, &stored));
        CHECK(stored < p.bytes * 9 / 10);
        patch_release(&p);
    }
    bm_codec_state_release(&state);
}

static void damage_stays_inside(void)
{
    static const int64_t n[3] = {5, 12, 16};
    struct bm_codec_state state;
    uint64_t random = 63;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int tries = 0; tries < 2000; tries++) {
        struct bm_loss loss = {0, 0};
        struct bm_buffer out;
        uint32_t sizes[3];
        struct patch p;
        size_t at = 0;
        uint8_t *fine, *coarse;

        patch_init(&p, types[tries % 4], origin, n, 3, 1, 0);
        patch_fill(&p, tries % KINDS, &random);
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_zfp_reversible.encode_field(&state, &out, sizes,
                                                      &loss, &p.field, p.data),
                 BOUMA_OK);
        fine = malloc(p.bytes);
        coarse = calloc(p.bytes, 1);
        REQUIRE(fine && coarse);
        for (int k = 2; k >= 0; k--) {
            uint8_t *piece = malloc(sizes[k]);
            int rc;

            REQUIRE(piece);
            memcpy(piece, out.data + at, sizes[k]);
            for (int64_t i = check_below(&random, 4); i >= 0; i--)
                piece[check_below(&random, sizes[k])] ^=
                    (uint8_t)(1 << check_below(&random, 8));
            rc = bm_codec_zfp_reversible.decode_field(
                &state, fine, coarse, &p.field,
                &(struct bm_coded_level){k, piece, sizes[k]});
            CHECK(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
            at += sizes[k];
            free(piece);
        }
        free(fine);
        free(coarse);
        bm_buffer_release(&out);
        patch_release(&p);
    }
    bm_codec_state_release(&state);
}

static void no_memory_is_told(void)
{
    static const int64_t n[3] = {8, 8, 8};
    uint64_t random = 64;

    for (int kind = 0; kind < KINDS; kind++) {
        struct patch p;

        patch_init(&p, types[kind % 4], origin, n, 3, 1 + kind % 2, 0);
        patch_fill(&p, kind, &random);
        memory_can_be_short(&bm_codec_zfp_reversible, &p);
        patch_release(&p);
    }
}

static void tolerances_are_found_from_below(void)
{
    CHECK_EQ(bm_zfp_eighths(1), 0);
    CHECK_EQ(bm_zfp_eighths(0.999), -1);
    CHECK_EQ(bm_zfp_eighths(2), 8);
    CHECK_EQ(bm_zfp_eighths(1.42), 4);
    CHECK_EQ(bm_zfp_eighths(1.41), 3);
    CHECK_EQ(bm_zfp_eighths(0x1p-900), -7200);
    CHECK_EQ(bm_zfp_eighths(0x1p-1074), BM_EIGHTHS_MIN);
}

int main(void)
{
    every_bit_comes_back();
    random_bits_come_back();
    smooth_samples_shrink();
    damage_stays_inside();
    no_memory_is_told();
    tolerances_are_found_from_below();
    return check_result();
}
