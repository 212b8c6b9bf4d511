/* Codec exact: every bit comes back, of every kind of number. */
#include "base/type.h"
#include "codec/exact.h"
#include "field_codec.h"

static const int64_t origin[3] = {0, 0, 0};
#define TYPES 10
static const bouma_type types[TYPES] = {
    BOUMA_TYPE_I32, BOUMA_TYPE_I64, BOUMA_TYPE_F32, BOUMA_TYPE_F64,
    BOUMA_TYPE_I8,  BOUMA_TYPE_U8,  BOUMA_TYPE_I16, BOUMA_TYPE_U16,
    BOUMA_TYPE_U32, BOUMA_TYPE_U64};

static void same_bytes(struct bm_codec_state *state, struct patch *p)
{
    struct bm_loss loss;
    size_t stored;
    uint8_t *back = round_trip(&bm_codec_exact, state, p, &loss, &stored);

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
    for (int t = 0; t < TYPES; t++)
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
    for (int t = 0; t < TYPES; t++)
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
    for (int t = 0; t < TYPES; t++) {
        struct bm_loss loss;
        struct patch p;
        size_t stored;

        patch_init(&p, types[t], origin, n, 4, 1, 0);
        patch_fill(&p, SMOOTH, &random);
        free(round_trip(&bm_codec_exact, &state, &p, &loss, &stored));
        CHECK(stored < p.bytes * 3 / 4);
        patch_release(&p);
    }
    bm_codec_state_release(&state);
}

/* A field of values at multiples of a step, some of them -0. */
static void fill_steps(struct patch *p, double step)
{
    const int64_t *n = p->lattice[0].count;

    for (size_t i = 0; i < p->samples; i++) {
        double x = (double)((int64_t)i % n[2]);
        double y = (double)((int64_t)i / n[2] % n[1]);
        double z = (double)((int64_t)i / (n[2] * n[1]));
        double k = rint(40 * sin(0.1 * x) * cos(0.13 * y + 0.05 * z) + 9);

        patch_put(p, i, k == 0 && i % 2 ? -0.0 : k * step);
    }
}

static void steps_are_found(void)
{
    static const int64_t n[3] = {32, 32, 32};
    static const double steps[] = {1, 0.5, 25, 0.01, 0.1, 0x1p-10, 1e-6, 3e5};
    struct bm_codec_state state;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int t = 2; t < 4; t++)
        for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
            struct bm_loss loss;
            struct patch p;
            size_t stored;
            uint8_t *back;

            patch_init(&p, types[t], origin, n, 4, 1, 0);
            fill_steps(&p, steps[s]);
            CHECK(fabs(bm_exact_step(types[t], p.data, p.samples) - steps[s]) <
                  1e-6 * steps[s]);
            back = round_trip(&bm_codec_exact, &state, &p, &loss, &stored);
            REQUIRE(back);
            CHECK(!memcmp(back, p.data, p.bytes));
            CHECK(stored < p.samples / 2);
            free(back);
            /* One value beside the lattice. */
            patch_put(&p, p.samples / 2, steps[s] * 0.7312345);
            CHECK(bm_exact_step(types[t], p.data, p.samples) == 0);
            same_bytes(&state, &p);
            patch_release(&p);
        }
    bm_codec_state_release(&state);
}

/* f64 that were f32 have no more bytes than these, about. */
static void unused_bits_are_dropped(void)
{
    static const int64_t n[3] = {32, 32, 32};
    struct bm_codec_state state;
    size_t stored[2];
    uint64_t random = 65;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int wide = 0; wide < 2; wide++) {
        struct bm_loss loss;
        struct patch p;

        patch_init(&p, wide ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32, origin, n, 4, 1,
                   0);
        patch_fill(&p, SMOOTH, &random);
        for (size_t i = 0; i < p.samples && wide; i++)
            patch_put(&p, i, (double)(float)number_at(p.field.type, p.data, i));
        free(round_trip(&bm_codec_exact, &state, &p, &loss, &stored[wide]));
        same_bytes(&state, &p);
        patch_release(&p);
    }
    CHECK(stored[1] < stored[0] + stored[0] / 4);
    bm_codec_state_release(&state);
}

/* Waves that the weights of an octant cannot follow: what is missed in one row
 * is missed in the next. */
static void fill_waves(struct patch *p)
{
    const int64_t *n = p->lattice[0].count;

    for (size_t i = 0; i < p->samples; i++) {
        double x = (double)((int64_t)i % n[2]);
        double y = (double)((int64_t)i / n[2] % n[1]);
        double z = (double)((int64_t)i / (n[2] * n[1]));

        patch_put(p, i,
                  9e4 * sin(0.9 * x + 0.002 * x * x) *
                      (1 + 0.3 * cos(0.11 * y) + 0.2 * sin(0.17 * z)));
    }
}

/* With some that are no numbers, too: rows below go on with what stands for
 * them. */
static void misses_mend_what_follows(void)
{
    static const int64_t n[3] = {28, 30, 33};
    /* Without, these are 16692, 16692, 41920, 140871. */
    static const size_t most[4] = {14000, 14000, 38000, 136000};
    struct bm_codec_state state;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int t = 0; t < 4; t++)
        for (int kept = 0; kept < 2; kept++) {
            struct bm_loss loss;
            struct patch p;
            size_t stored;
            uint8_t *back;

            patch_init(&p, types[t], origin, n, 3, 1, 0);
            fill_waves(&p);
            for (size_t i = 7; i < p.samples && kept && t > 1; i += 97)
                patch_put(&p, i, i % 2 ? (double)NAN : -0.0);
            back = round_trip(&bm_codec_exact, &state, &p, &loss, &stored);
            REQUIRE(back);
            CHECK(!memcmp(back, p.data, p.bytes));
            CHECK(kept || stored < most[t]);
            free(back);
            patch_release(&p);
        }
    bm_codec_state_release(&state);
}

/* More samples than need eight states, of every type; and integers at the ends
 * of what can be predicted. */
static void large_patches_come_back(void)
{
    static const int64_t n[3] = {40, 44, 48};
    struct bm_codec_state state;
    uint64_t random = 66;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int t = 0; t < TYPES; t++)
        for (int far = 0; far < 2; far++) {
            struct patch p;

            patch_init(&p, types[t], origin, n, 3, 1, 0);
            for (size_t i = 0; i < p.bytes; i++)
                p.data[i] = (uint8_t)(i / 64 % 7);
            for (size_t i = 0; i + 8 <= p.bytes && far; i += 8) {
                uint64_t v = check_random(&random) >> (i / 8 % 64);

                memcpy(p.data + i, &v, 8);
            }
            same_bytes(&state, &p);
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

        patch_init(&p, types[tries % TYPES], origin, n, 3, 1, 0);
        patch_fill(&p, tries % KINDS, &random);
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_exact.encode_field(&state, &out, sizes, &loss,
                                             &p.field, p.data),
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
            rc = bm_codec_exact.decode_field(
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

/* Values of particles: near each other, the same ones again, of any bits, with
 * zeros at their ends, or 0 all of them. */
enum { NEAR_VALUES, AGAIN, ANY, NARROW, ZEROS, LIST_KINDS };

static uint64_t float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static uint64_t double_bits(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static void fill_list(uint8_t *values, const struct bm_list *list, int kind,
                      uint64_t *random)
{
    size_t size = bouma_type_size(list->type);
    size_t all = list->count * (size_t)list->components;

    for (size_t i = 0; i < all; i++) {
        double x = sin((double)i * 0.003) * 1000 + 0.01 * (double)(i % 7);
        uint64_t bits = check_random(random);
        float f = (float)x;

        if (kind == ZEROS || kind == AGAIN)
            bits = kind == ZEROS ? 0 : i % 5 + 1000;
        else if (kind != ANY && list->type == BOUMA_TYPE_F32)
            bits = float_bits(f);
        else if (kind == NEAR_VALUES && list->type == BOUMA_TYPE_F64)
            bits = double_bits(x);
        else if (kind == NARROW && list->type == BOUMA_TYPE_F64)
            bits = double_bits((double)f);
        else if (kind != ANY)
            bits = (uint64_t)(int64_t)x << (kind == NARROW ? 3 : 0);
        for (size_t b = 0; b < size; b++) /* the last bytes of integers */
            values[i * size + b] = (uint8_t)(bits >> 8 * b);
        bm_swap_to_little(values + i * size, 1, size);
    }
}

/* Returns the bytes that the values became. */
static size_t list_comes_back(struct bm_codec_state *state,
                              const struct bm_list *list, int kind,
                              uint64_t *random)
{
    size_t bytes =
        list->count * (size_t)list->components * bouma_type_size(list->type);
    uint8_t *values = malloc(bytes + 1), *back = malloc(bytes + 1), *stored;
    struct bm_buffer out;
    size_t size;

    REQUIRE(values && back);
    fill_list(values, list, kind, random);
    bm_buffer_init(&out, state->a);
    CHECK_EQ(bm_codec_exact.encode_list(state, &out, values, list), BOUMA_OK);
    size = out.size;
    CHECK(bm_codec_exact.plausible(bytes, size));
    stored = malloc(size + 1); /* so that nothing is read behind it */
    REQUIRE(stored);
    stored = realloc(stored, size ? size : 1);
    REQUIRE(stored);
    if (size)
        memcpy(stored, out.data, size);
    CHECK_EQ(bm_codec_exact.decode_list(state, back, list, stored, size),
             BOUMA_OK);
    CHECK(!memcmp(values, back, bytes));
    for (size_t cut = 0; cut < size && cut < 70; cut++)
        CHECK_EQ(bm_codec_exact.decode_list(state, back, list, stored, cut),
                 BOUMA_EFORMAT);
    for (int tries = 0; tries < 20 && size; tries++) {
        size_t at = (size_t)check_below(random, (int64_t)size);
        uint8_t bit = (uint8_t)(1 << check_below(random, 8));
        int rc;

        stored[at] ^= bit;
        rc = bm_codec_exact.decode_list(state, back, list, stored, size);
        CHECK(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
        stored[at] ^= bit;
    }
    bm_buffer_release(&out);
    free(stored);
    free(values);
    free(back);
    return size;
}

static void values_of_particles_come_back(void)
{
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, 64, 100, 1000, 3001};
    struct bm_codec_state state;
    uint64_t random = 67;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int t = 0; t < TYPES; t++)
        for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
            for (int kind = 0; kind < LIST_KINDS; kind++) {
                struct bm_list list = {types[t], counts[n], 1 + kind % 3, 0, 0};
                size_t bytes = list.count * (size_t)list.components *
                               bouma_type_size(list.type);
                size_t size = list_comes_back(&state, &list, kind, &random);

                CHECK(size <= bytes + 1);
                if (kind == NEAR_VALUES && bouma_type_size(list.type) == 4 &&
                    list.count == 3001)
                    CHECK(size < bytes * 3 / 4);
                if (kind == NARROW && types[t] == BOUMA_TYPE_F64 &&
                    list.count == 3001)
                    CHECK(size < bytes / 2);
            }
    bm_codec_state_release(&state);
}

static void no_memory_is_told(void)
{
    static const int64_t n[3] = {8, 8, 8};
    uint64_t random = 64;

    for (int kind = 0; kind < KINDS; kind++) {
        struct patch p;

        patch_init(&p, types[kind % TYPES], origin, n, 3, 1 + kind % 2, 0);
        patch_fill(&p, kind, &random);
        memory_can_be_short(&bm_codec_exact, &p);
        patch_release(&p);
    }
}

int main(void)
{
    every_bit_comes_back();
    random_bits_come_back();
    smooth_samples_shrink();
    steps_are_found();
    unused_bits_are_dropped();
    misses_mend_what_follows();
    large_patches_come_back();
    damage_stays_inside();
    values_of_particles_come_back();
    no_memory_is_told();
    return check_result();
}
