/* The wavelet: what it takes apart comes back, lines have no details. Its
 * codec: no error is larger than the bound, and what is not finite stays. */
#include "codec/wavelet.h"
#include "codec/zfp_blocks.h"

#include "base/type.h"
#include "field_codec.h"

static const int64_t origin[3] = {0, 0, 0};

/* The largest error of one level forth and back. */
static double there_and_back(bouma_type type, const int64_t n[3],
                             uint64_t *random)
{
    struct bm_octants o;
    struct patch p;
    uint8_t *sorted, *dense, *back;
    double largest = 0;

    patch_init(&p, type, origin, n, 1, 1, 0);
    patch_fill(&p, NOISE, random);
    bm_octants_init(&o, n);
    sorted = malloc(p.bytes);
    dense = malloc(p.bytes);
    back = malloc(p.bytes);
    REQUIRE(sorted && dense && back);
    memcpy(dense, p.data, p.bytes);
    bm_wavelet_forward(type, &o, sorted, dense);
    bm_wavelet_inverse(type, &o, back, sorted, sorted);
    for (size_t i = 0; i < p.samples; i++) {
        double error =
            fabs(number_at(type, p.data, i) - number_at(type, back, i));

        if (!(error <= largest)) /* NaN, too */
            largest = error;
    }
    free(sorted);
    free(dense);
    free(back);
    patch_release(&p);
    return largest;
}

static void samples_come_back(void)
{
    uint64_t random = 50;
    int64_t n[3];

    for (n[0] = 1; n[0] <= 17; n[0]++)
        for (n[1] = 1; n[1] <= 17; n[1]++)
            for (n[2] = 1; n[2] <= 17; n[2]++) {
                CHECK(there_and_back(BOUMA_TYPE_F32, n, &random) < 1e-5);
                CHECK(there_and_back(BOUMA_TYPE_F64, n, &random) < 1e-13);
            }
}

/* Along every axis of three samples or more, or one. */
static void lines_have_no_details(void)
{
    static const int64_t edges[] = {1, 3, 4, 5, 8, 17, 32};
    double sorted[32 * 32], dense[32 * 32];
    struct bm_octants o;

    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 7; b++)
            for (int axis = 0; axis < 3; axis++) {
                int64_t n[3] = {edges[a], edges[b], edges[b]};

                n[axis] = 1;
                bm_octants_init(&o, n);
                for (int64_t z = 0, i = 0; z < n[0]; z++)
                    for (int64_t y = 0; y < n[1]; y++)
                        for (int64_t x = 0; x < n[2]; x++, i++)
                            dense[i] = (double)(3 + 2 * x - 5 * y + 7 * z);
                bm_wavelet_forward(BOUMA_TYPE_F64, &o, sorted, dense);
                for (int p = 1; p < BM_OCTANTS; p++)
                    for (size_t i = 0; i < o.size[p]; i++)
                        CHECK(sorted[o.at[p] + i] == 0);
                /* And the coarser samples are those of the line. */
                for (int64_t z = 0, i = 0; z < n[0]; z += 2)
                    for (int64_t y = 0; y < n[1]; y += 2)
                        for (int64_t x = 0; x < n[2]; x += 2, i++)
                            CHECK(sorted[i] ==
                                  (double)(3 + 2 * x - 5 * y + 7 * z));
            }
}

/* ---- the codec ----------------------------------------------------------- */

static void check_kept(const struct patch *p, const uint8_t *back,
                       const struct bm_loss *loss, double bound)
{
    size_t all = p->samples * (size_t)p->field.components;
    double largest = 0, squares = 0;
    int kept = 1;

    for (size_t i = 0; i < all; i++) {
        double x = number_at(p->field.type, p->data, i);
        double y = number_at(p->field.type, back, i);

        if (isfinite(x)) {
            largest = fmax(largest, fabs(x - y));
            squares += (x - y) * (x - y);
            kept &= isfinite(y);
        } else {
            kept &= !memcmp(p->data + i * p->field.size,
                            back + i * p->field.size, p->field.size);
        }
    }
    CHECK(kept);
    CHECK(largest <= bound);
    CHECK(fabs(largest - loss->largest) <= 1e-6 * largest);
    CHECK(squares == loss->squares ||
          fabs(squares - loss->squares) <= 1e-5 * squares + 1e-50);
}

static void the_bound_holds(void)
{
    static const int64_t shapes[][3] = {
        {1, 1, 1},   {1, 1, 2},    {1, 1, 37}, {1, 9, 1},   {1, 16, 16},
        {3, 17, 24}, {16, 16, 16}, {8, 5, 3},  {17, 1, 33}, {2, 2, 2}};
    static const double bounds[] = {1e-300, 1e-12, 1e-6, 1e-3,
                                    0.1,    100,   1e35, 1e300};
    struct bm_codec_state state;
    uint64_t random = 51;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int type = BOUMA_TYPE_F32; type <= BOUMA_TYPE_F64; type++)
        for (int s = 0; s < 10; s++)
            for (int kind = 0; kind < KINDS; kind++)
                for (int b = 0; b < 8; b++) {
                    int levels = 1 + (s + b) % 5;
                    int components = 1 + (kind + b) % 3;
                    struct bm_loss loss;
                    struct patch p;
                    size_t stored;
                    uint8_t *back;

                    patch_init(&p, (bouma_type)type, origin, shapes[s], levels,
                               components, bounds[b]);
                    patch_fill(&p, kind, &random);
                    back = round_trip(&bm_codec_wavelet, &state, &p, &loss,
                                      &stored);
                    REQUIRE(back);
                    check_kept(&p, back, &loss, bounds[b]);
                    free(back);
                    patch_release(&p);
                }
    bm_codec_state_release(&state);
}

/* A patch whose coarse levels have no samples, as its indices are odd there. */
static void levels_may_be_empty(void)
{
    static const int64_t lo[3] = {4, 8, 0}, n[3] = {4, 8, 16};
    struct bm_codec_state state;
    struct bm_loss loss;
    uint64_t random = 52;
    struct patch p;
    size_t stored;
    uint8_t *back;

    bm_codec_state_init(&state, bm_allocator_default());
    patch_init(&p, BOUMA_TYPE_F32, lo, n, 5, 2, 0.01);
    CHECK_EQ(bm_lattice_samples(&p.lattice[3]), 0);
    patch_fill(&p, SMOOTH, &random);
    back = round_trip(&bm_codec_wavelet, &state, &p, &loss, &stored);
    REQUIRE(back);
    check_kept(&p, back, &loss, 0.01);
    free(back);
    patch_release(&p);
    bm_codec_state_release(&state);
}

static size_t stored_size(struct bm_codec_state *state, int kind, double bound,
                          int nominal, double *largest)
{
    static const int64_t n[3] = {32, 32, 32};
    struct bm_loss loss;
    uint64_t random = 53;
    struct patch p;
    size_t stored;
    uint8_t *back;

    patch_init(&p, BOUMA_TYPE_F32, origin, n, 4, 1, bound);
    p.field.nominal = nominal;
    patch_fill(&p, kind, &random);
    back = round_trip(&bm_codec_wavelet, state, &p, &loss, &stored);
    REQUIRE(back);
    *largest = 0;
    for (size_t i = 0; i < p.samples; i++) {
        double x = number_at(BOUMA_TYPE_F32, p.data, i);
        double y = number_at(BOUMA_TYPE_F32, back, i);

        if (isfinite(x))
            *largest = fmax(*largest, fabs(x - y));
        else
            CHECK(!memcmp(p.data + 4 * i, back + 4 * i, 4));
    }
    CHECK(nominal ? isinf(loss.largest) : isfinite(loss.largest));
    free(back);
    patch_release(&p);
    return stored;
}

static void smooth_samples_shrink(void)
{
    struct bm_codec_state state;
    double largest;
    size_t plain = 4 * 32 * 32 * 32;

    bm_codec_state_init(&state, bm_allocator_default());
    CHECK(stored_size(&state, SMOOTH, 1e-3, 0, &largest) < plain / 30);
    CHECK(stored_size(&state, CONSTANT, 1e-3, 0, &largest) < 100);
    CHECK(stored_size(&state, ZERO, 1e-3, 0, &largest) < 50);
    CHECK(stored_size(&state, ALL_NAN, 1e-3, 0, &largest) < 400);
    CHECK(stored_size(&state, MASKED, 1e-3, 0, &largest) < plain / 10);
    CHECK(stored_size(&state, NOISE, 1e-3, 0, &largest) < plain / 2);
    /* The same whatever was encoded before. */
    CHECK_EQ(stored_size(&state, SMOOTH, 1e-3, 0, &largest),
             stored_size(&state, SMOOTH, 1e-3, 0, &largest));
    bm_codec_state_release(&state);
}

static void nominal_errors_are_of_the_size_of_the_tolerance(void)
{
    struct bm_codec_state state;
    double largest;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int kind = SMOOTH; kind <= MASKED; kind++) {
        stored_size(&state, kind, 1e-3, 1, &largest);
        CHECK(largest < 4e-3);
    }
    bm_codec_state_release(&state);
}

/* A coarse level is finite where the samples are, and has the NaN that lie on
 * it. */
static void holes_are_at_coarser_levels_too(void)
{
    static const int64_t n[3] = {8, 16, 16};
    struct bm_codec_state state;
    struct bm_loss loss = {0, 0};
    struct bm_buffer out;
    uint32_t sizes[4];
    uint64_t random = 54;
    struct patch p;
    float coarse[2 * 4 * 4], fine[4 * 8 * 8];
    size_t at;

    bm_codec_state_init(&state, bm_allocator_default());
    patch_init(&p, BOUMA_TYPE_F32, origin, n, 3, 1, 1e-3);
    patch_fill(&p, MASKED, &random);
    bm_buffer_init(&out, state.a);
    CHECK_EQ(bm_codec_wavelet.encode_field(&state, &out, sizes, &loss, &p.field,
                                           p.data),
             BOUMA_OK);
    CHECK_EQ(bm_codec_wavelet.decode_field(
                 &state, coarse, NULL, &p.field,
                 &(struct bm_coded_level){2, out.data, sizes[2]}),
             BOUMA_OK);
    at = sizes[2];
    CHECK_EQ(bm_codec_wavelet.decode_field(
                 &state, fine, coarse, &p.field,
                 &(struct bm_coded_level){1, out.data + at, sizes[1]}),
             BOUMA_OK);
    for (int i = 0; i < 2 * 4 * 4; i++)
        CHECK_EQ(isnan(coarse[i]) != 0, i % 4 * 4 + i / 4 % 4 * 4 < 9);
    for (int i = 0; i < 4 * 8 * 8; i++)
        CHECK_EQ(isnan(fine[i]) != 0, i % 8 * 2 + i / 8 % 8 * 2 < 9);
    bm_buffer_release(&out);
    patch_release(&p);
    bm_codec_state_release(&state);
}

static void damage_stays_inside(void)
{
    static const int64_t n[3] = {5, 12, 16};
    struct bm_codec_state state;
    uint64_t random = 55;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int tries = 0; tries < 3000; tries++) {
        struct bm_loss loss = {0, 0};
        struct bm_buffer out;
        uint32_t sizes[4];
        struct patch p;
        size_t at = 0;
        uint8_t *fine, *coarse;

        patch_init(&p, tries & 1 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64, origin, n,
                   3, 1, tries % 5 ? 1e-3 : 1e-14);
        patch_fill(&p, tries % KINDS, &random);
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_wavelet.encode_field(&state, &out, sizes, &loss,
                                               &p.field, p.data),
                 BOUMA_OK);
        fine = calloc(p.bytes, 1);
        coarse = calloc(p.bytes, 1);
        REQUIRE(fine && coarse);
        for (int k = 2; k >= 0; k--) {
            size_t less = (size_t)check_below(&random, sizes[k]);
            uint8_t *piece = malloc(sizes[k]), *shorter = malloc(less + 1);
            int rc;

            REQUIRE(piece && shorter);
            memcpy(piece, out.data + at, sizes[k]);
            memcpy(shorter, piece, less);
            CHECK(bm_codec_wavelet.decode_field(
                      &state, fine, coarse, &p.field,
                      &(struct bm_coded_level){k, shorter, less}) ==
                      BOUMA_EFORMAT ||
                  piece[0] == 0);
            for (int64_t i = check_below(&random, 4); i >= 0; i--)
                piece[check_below(&random, sizes[k])] ^=
                    (uint8_t)(1 << check_below(&random, 8));
            rc = bm_codec_wavelet.decode_field(
                &state, fine, coarse, &p.field,
                &(struct bm_coded_level){k, piece, sizes[k]});
            CHECK(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
            at += sizes[k];
            free(piece);
            free(shorter);
        }
        free(fine);
        free(coarse);
        bm_buffer_release(&out);
        patch_release(&p);
    }
    bm_codec_state_release(&state);
}

/* Levels of a patch that has fewer samples than levels: interp, too. */
static void small_patches_have_all_levels(void)
{
    static const struct bm_codec *const codecs[2] = {&bm_codec_wavelet,
                                                     &bm_codec_interp};
    struct bm_codec_state state;
    uint64_t random = 57;
    int64_t n[3];

    bm_codec_state_init(&state, bm_allocator_default());
    for (n[0] = 1; n[0] <= 3; n[0]++)
        for (n[1] = 1; n[1] <= 3; n[1]++)
            for (n[2] = 1; n[2] <= 9; n[2]++)
                for (int i = 0; i < 2 * 5 * 3; i++) {
                    double bound = i % 5 ? 1e-2 : 1e-300;
                    struct bm_loss loss;
                    struct patch p;
                    size_t stored;
                    uint8_t *back;

                    patch_init(&p, BOUMA_TYPE_F32, origin, n, 1 + i % 5,
                               1 + i % 3, bound);
                    patch_fill(&p, (int)(n[2] % KINDS), &random);
                    back =
                        round_trip(codecs[i % 2], &state, &p, &loss, &stored);
                    REQUIRE(back);
                    check_kept(&p, back, &loss, bound);
                    free(back);
                    patch_release(&p);
                }
    bm_codec_state_release(&state);
}

static void no_memory_is_told(void)
{
    static const int64_t n[3] = {8, 8, 8};
    uint64_t random = 56;

    for (int kind = 0; kind < KINDS; kind++) {
        struct patch p;

        patch_init(&p, BOUMA_TYPE_F32, origin, n, 3, 1 + kind % 2, 1e-3);
        patch_fill(&p, kind, &random);
        memory_can_be_short(&bm_codec_wavelet, &p);
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
    tolerances_are_found_from_below();
    samples_come_back();
    lines_have_no_details();
    the_bound_holds();
    levels_may_be_empty();
    smooth_samples_shrink();
    nominal_errors_are_of_the_size_of_the_tolerance();
    holes_are_at_coarser_levels_too();
    small_patches_have_all_levels();
    damage_stays_inside();
    no_memory_is_told();
    return check_result();
}
